//! Commands and reads of operators. The command of a route says which roles may send it.

use foretell_model::CommandKind::{
    ActivateMarket, AddOperator, ArchiveMarket, BindWallet, ChangeSettings, ClearPolicy,
    CloseMarket, ConfirmWithdrawal, Deposit, DescribeEvent, DescribeMarket, DescribeWallet,
    Dispute, Finalise, ListWallet, PauseMarket, PayRebates, Propose, RegisterEvent, RegisterMarket,
    ReleaseWithdrawal, ResolveMarket, ResumeMarket, RevokeKey, RevokeOperator, SetClosedOnly,
    SetFee, SetMinimumSize, SetMode, SetPayments, SetPolicy, SetTerms, SetTick, UnbindWallet,
    Withdraw, WithdrawFees, WithdrawProposal,
};
use foretell_model::{CommandKind, RoleSet};
use foretell_wire::limits::OPERATOR_BODY_BYTES;
use foretell_wire::operator::{OperatorCommand, SNAPSHOT_PATH};

use crate::http::endpoint::Endpoint;
use crate::http::route::{Route, get, post, read};
use crate::openapi::served;
use crate::resources::accounts::rebates;
use crate::resources::market_data::market_info;
use crate::resources::operator::market_life::{market_list, markets, own_markets, resolution};
use crate::resources::operator::site::{admin, probes, status, system};
use crate::resources::operator::{accounts, acts, keys, oracle, people};

pub(super) fn routes() -> Vec<Route> {
    let mut routes = commands();
    routes.extend(super::probes());
    routes.extend([
        get("/metrics", None, probes::metrics),
        get("/openapi.json", None, served::show),
        get("/status", None, status::show).operators(RoleSet::ALL),
        list("/accounts/{wallet}", accounts::show),
        list("/withdrawals", accounts::held),
        list("/rebates", rebates::totals),
        get("/admin", None, admin::root),
        get("/admin/", None, admin::file),
        get("/admin/{*path}", None, admin::file),
        get("/acts", None, acts::list).operators(RoleSet::ALL),
        get("/me", None, people::me).operators(RoleSet::ALL),
        list("/operators", people::list),
        list("/review", resolution::review),
        // Its adapter signs the body and has no token.
        post("/oracle/proposals", None, oracle::propose),
        list("/keys", keys::list),
        list("/events", own_markets::list_events),
        list("/markets", market_list::list),
        list("/markets/{condition}", market_info::detail),
        post(SNAPSHOT_PATH, None, system::snapshot).operators(RoleSet::ADMIN),
    ]);
    routes
}

fn commands() -> Vec<Route> {
    vec![
        command(Deposit, accounts::deposit),
        command(Withdraw, accounts::withdraw),
        command(BindWallet, accounts::bind),
        command(UnbindWallet, accounts::unbind),
        command(SetClosedOnly, accounts::closed_only),
        command(DescribeWallet, accounts::describe_wallet),
        command(WithdrawFees, accounts::withdraw_fees),
        command(ConfirmWithdrawal, accounts::confirm),
        command(ReleaseWithdrawal, accounts::release),
        command(PayRebates, accounts::pay_rebates),
        command(AddOperator, people::add),
        command(RevokeOperator, people::revoke),
        command(SetPolicy, resolution::set_policy),
        command(ClearPolicy, resolution::clear_policy),
        command(ListWallet, resolution::list_wallet),
        command(RevokeKey, keys::revoke),
        command(RegisterEvent, own_markets::register_event).body(OPERATOR_BODY_BYTES),
        command(DescribeEvent, own_markets::describe_event).body(OPERATOR_BODY_BYTES),
        command(RegisterMarket, own_markets::register).body(OPERATOR_BODY_BYTES),
        command(DescribeMarket, own_markets::describe).body(OPERATOR_BODY_BYTES),
        command(SetTerms, markets::terms),
        command(Propose, resolution::propose),
        command(Dispute, resolution::dispute),
        command(WithdrawProposal, resolution::withdraw),
        command(Finalise, resolution::finalise),
        command(ActivateMarket, markets::activate),
        command(PauseMarket, markets::pause),
        command(ResumeMarket, markets::resume),
        command(CloseMarket, markets::close),
        command(ResolveMarket, markets::resolve),
        command(ArchiveMarket, markets::archive),
        command(SetTick, markets::tick),
        command(SetMinimumSize, markets::minimum),
        command(SetFee, markets::fee),
        command(SetMode, system::mode),
        command(ChangeSettings, system::settings),
        command(SetPayments, system::payments),
    ]
}

/// A command of operators.
fn command<Parts>(kind: CommandKind, endpoint: impl Endpoint<Parts>) -> Route {
    let path = OperatorCommand::path_of(kind).expect("a command of operators");
    post(path, None, endpoint).operators(kind.senders().operators)
}

/// A read for operators of any role.
fn list<Parts>(path: &'static str, endpoint: impl Endpoint<Parts>) -> Route {
    read(path, None, endpoint).operators(RoleSet::ALL)
}
