//! Commands and reads of operators. The command of a route says which roles may send it.

use foretell_model::CommandKind::{
    ActivateMarket, AddOperator, ClaimWithdrawal, CloseMarket, DescribeEvent, DescribeMarket,
    DescribeWallet, Dispute, FailWithdrawal, Finalise, MoveClock, PauseMarket, PayWithdrawal,
    PlaceOrder, Propose, RegisterEvent, RegisterKey, RegisterMarket, ResolveMarket, ResumeMarket,
    RevokeKey, RevokeOperator, SetPolicy, Withdraw, WithdrawProposal,
};
use foretell_model::{CommandKind, RoleSet};
use foretell_wire::ErrorCode::{
    AccountNotFound, AmountTooLarge, BalanceLimit, EndsInPast, EventDiffers, InvalidTokenId,
    MarketDiffers, MarketNotFound, NoAccount, NotFound, NotSandbox, OperatorNotFound,
    OrderNotFound, SnapshotFailed, SnapshotTimeout, SnapshotsOff, UnknownOrderToken, UpstreamOwned,
    WithdrawalEnded, WithdrawalReleased,
};
use foretell_wire::limits::OPERATOR_BODY_BYTES;
use foretell_wire::operator::{Act, EachAct, OperatorCommand, SNAPSHOT_PATH, each_act};
use foretell_wire::orders::result::OrderAnswer;

use crate::http::endpoint::Endpoint;
use crate::http::route::{Route, get, post, read};
use crate::openapi::served;
use crate::resources::accounts::rebates;
use crate::resources::data::{positions, trades, v2};
use crate::resources::market_data::market_info;
use crate::resources::operator::market_life::{
    market_figures, market_list, markets, own_markets, resolution,
};
use crate::resources::operator::sandbox::{clock, explain, orders, wallets};
use crate::resources::operator::site::{admin, probes, status, system};
use crate::resources::operator::{self, accounts, acts, keys, oracle, people, withdrawals};
use crate::resources::orders::my_orders;
use crate::resources::page::site;

pub(super) fn routes() -> Vec<Route> {
    let mut routes = commands();
    routes.extend(super::probes());
    routes.extend([
        get("/metrics", None, probes::metrics),
        get("/openapi.json", None, served::show),
        get("/status", None, status::show).operators(RoleSet::ALL),
        list("/accounts", accounts::list),
        list("/accounts/{wallet}", accounts::show).errors(&[&[AccountNotFound]]),
        list("/accounts/{wallet}/orders", my_orders::of_wallet).errors(&[&[AccountNotFound]]),
        list("/positions", positions::list),
        list("/trades", trades::list).large(),
        list("/v2/activity", v2::activity).large(),
        list("/withdrawals", withdrawals::list),
        list("/rebates", rebates::totals),
        get("/site", None, site::show).errors(&[&[NotFound]]),
        get("/admin", None, admin::root),
        get("/admin/", None, admin::file),
        get("/admin/{*file}", None, admin::file),
        list("/acts", acts::list).errors(&[&[MarketNotFound]]),
        get("/me", None, people::me).operators(RoleSet::ALL),
        list("/operators", people::list),
        list("/review", resolution::review),
        post("/sandbox/wallets", None, wallets::create)
            .operators(RoleSet::ADMIN)
            .sends(RegisterKey)
            .errors(&[&[NotSandbox, BalanceLimit]]),
        list("/sandbox/orders/{order_id}", explain::explain)
            .errors(&[&[NotSandbox, OrderNotFound]]),
        list("/sandbox/rejections", explain::rejections).errors(&[&[NotSandbox]]),
        list("/sandbox/clock", clock::show).errors(&[&[NotSandbox]]),
        // Its adapter signs the body and has no token.
        post("/oracle/proposals", None, oracle::propose).sends(Propose),
        list("/keys", keys::list).errors(&[&[AccountNotFound]]),
        list("/events", own_markets::list_events),
        list("/markets", market_list::list),
        list("/markets/figures", market_figures::list),
        list("/markets/{condition_id}", market_info::detail),
        post(SNAPSHOT_PATH, None, system::snapshot)
            .operators(RoleSet::ADMIN)
            .errors(&[&[SnapshotFailed, SnapshotsOff, SnapshotTimeout]]),
    ]);
    routes
}

/// Commands of operators.
struct Commands(Vec<Route>);

impl EachAct for Commands {
    fn act<A: Act>(&mut self) {
        self.0.push(command(A::KIND, operator::act::<A>));
    }
}

/// All of them, in the order of their table.
fn commands() -> Vec<Route> {
    let mut commands = Commands(with_handlers());
    each_act(&mut commands);
    let place = |route: &Route| {
        let mut paths = OperatorCommand::PATHS.iter();
        paths.position(|(_, path)| *path == route.path)
    };
    commands.0.sort_by_key(place);
    commands.0
}

/// Those whose body says less than the command, or whose answer says more.
fn with_handlers() -> Vec<Route> {
    vec![
        command(DescribeWallet, accounts::describe_wallet),
        command(AddOperator, people::add),
        command(RevokeOperator, people::revoke).errors(&[&[OperatorNotFound]]),
        command(SetPolicy, resolution::set_policy),
        command(RevokeKey, keys::revoke),
        command(RegisterEvent, own_markets::register_event)
            .body(OPERATOR_BODY_BYTES)
            .errors(&[&[MarketDiffers, EventDiffers]]),
        command(DescribeEvent, own_markets::describe_event)
            .body(OPERATOR_BODY_BYTES)
            .errors(&[&[UpstreamOwned]]),
        command(RegisterMarket, own_markets::register)
            .body(OPERATOR_BODY_BYTES)
            .errors(&[&[MarketNotFound, EndsInPast]]),
        command(DescribeMarket, own_markets::describe)
            .body(OPERATOR_BODY_BYTES)
            .errors(&[&[UpstreamOwned, EndsInPast]]),
        command(Propose, resolution::propose),
        command(Dispute, resolution::dispute),
        command(WithdrawProposal, resolution::withdraw),
        command(Finalise, resolution::finalise),
        command(ActivateMarket, markets::activate),
        command(PauseMarket, markets::pause),
        command(ResumeMarket, markets::resume),
        command(CloseMarket, markets::close),
        command(ResolveMarket, markets::resolve),
        command(PlaceOrder, orders::create)
            .errors(&[&[
                NotSandbox,
                AmountTooLarge,
                InvalidTokenId,
                UnknownOrderToken,
                NoAccount,
            ]])
            .fails_with::<OrderAnswer>(&[400, 404, 409, 425, 500, 503]),
        command(MoveClock, clock::change),
    ]
}

/// A command of operators.
fn command<Parts>(kind: CommandKind, endpoint: impl Endpoint<Parts>) -> Route {
    let path = OperatorCommand::path_of(kind).expect("a command of operators");
    let route = post(path, None, endpoint).operators(kind.senders().operators);
    let route = route.sends(kind);
    match kind {
        // The error of a withdrawal's repeat after it was given up.
        Withdraw => route.errors(&[&[WithdrawalReleased]]),
        ClaimWithdrawal | PayWithdrawal | FailWithdrawal => route.errors(&[&[WithdrawalEnded]]),
        _ => route,
    }
}

/// A read for operators of any role.
fn list<Parts>(path: &'static str, endpoint: impl Endpoint<Parts>) -> Route {
    read(path, None, endpoint).operators(RoleSet::ALL)
}
