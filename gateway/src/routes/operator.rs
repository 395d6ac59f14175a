//! Commands and reads of operators. The command of a route says which roles may send it.

use foretell_model::CommandKind::{
    ActivateMarket, AddOperator, ArchiveMarket, BindWallet, ChangeSettings, ClaimWithdrawal,
    ClearPolicy, CloseMarket, Deposit, DescribeEvent, DescribeMarket, DescribeWallet, Dispute,
    FailWithdrawal, Finalise, ListWallet, OpenWithdrawals, PauseMarket, PayRebates, PayWithdrawal,
    Propose, RegisterEvent, RegisterMarket, ResolveMarket, ResumeMarket, RevokeKey, RevokeOperator,
    SetClosedOnly, SetFee, SetMinimumSize, SetMode, SetPayments, SetPolicy, SetTerms, SetTick,
    UnbindWallet, Withdraw, WithdrawFees, WithdrawProposal,
};
use foretell_model::{CommandKind, RoleSet};
use foretell_wire::ErrorCode::{
    self, AccountNotFound, AlreadyProposed, BalanceLimit, BookNotEmpty, ChallengeOpen,
    ClockContradicts, ClosesInPast, EndsInPast, EventDiffers, EventFrozen, EventFull,
    EventNotActive, EventNotFound, HalfInNegRisk, InsufficientBalance, InvalidFee,
    InvalidMinimumSize, InvalidPolicy, InvalidQuestionIndex, InvalidSettings, InvalidTerms,
    InvalidTick, InvalidTransition, InvalidWindow, KeyNotFound, LastAdmin, ListFull, MarketDiffers,
    MarketNotFound, NewOperator, NoPolicy, NoProposal, NoWouldLeaveNone, NotAnOwner, NotFound,
    NotPermitted, NothingAccrued, OperatorNameTaken, OperatorNotFound, OperatorTokenTaken,
    OutsideNotLast, ProposalDisputed, RebatesInProgress, ReferenceReused, SamePerson,
    SecondPersonRequired, SlugTaken, SnapshotFailed, SnapshotTimeout, SnapshotsOff, TokenTaken,
    TooManyOperators, TooManyWithdrawals, UpstreamOwned, WalletHasLiveOrders, WalletKindTaken,
    WalletNotBindable, WalletNotBound, WithdrawalClaimed, WithdrawalNotClaimed, WithdrawalNotFound,
    WithdrawalReleased, WithdrawalsShut,
};
use foretell_wire::limits::OPERATOR_BODY_BYTES;
use foretell_wire::operator::{OperatorCommand, SNAPSHOT_PATH};

use crate::http::endpoint::Endpoint;
use crate::http::route::{Route, get, post, read};
use crate::openapi::served;
use crate::resources::accounts::rebates;
use crate::resources::data::{positions, trades, v2};
use crate::resources::market_data::market_info;
use crate::resources::operator::market_life::{
    market_figures, market_list, markets, own_markets, resolution,
};
use crate::resources::operator::site::{admin, probes, status, system};
use crate::resources::operator::{accounts, acts, keys, oracle, people, withdrawals};
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
        // Its adapter signs the body and has no token.
        post("/oracle/proposals", None, oracle::propose).errors(PROPOSE),
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

fn commands() -> Vec<Route> {
    vec![
        command(Deposit, accounts::deposit).errors(&[REFERENCE, &[BalanceLimit]]),
        command(Withdraw, accounts::withdraw).errors(&[
            WITHDRAWAL,
            &[AccountNotFound, TooManyWithdrawals, WithdrawalReleased],
        ]),
        command(BindWallet, accounts::bind)
            .errors(&[WALLET, &[WalletKindTaken, WalletNotBindable, NotAnOwner]]),
        command(UnbindWallet, accounts::unbind)
            .errors(&[WALLET, &[AccountNotFound, WalletNotBound]]),
        command(SetClosedOnly, accounts::closed_only),
        command(DescribeWallet, accounts::describe_wallet),
        command(WithdrawFees, accounts::withdraw_fees).errors(&[WITHDRAWAL]),
        command(ClaimWithdrawal, withdrawals::claim).errors(&[WAITING, &[WithdrawalClaimed]]),
        command(PayWithdrawal, withdrawals::pay).errors(&[
            REFERENCE,
            WAITING,
            &[WithdrawalNotClaimed],
            TWO_PERSONS,
        ]),
        command(FailWithdrawal, withdrawals::fail).errors(&[WAITING]),
        command(OpenWithdrawals, withdrawals::open),
        command(PayRebates, accounts::pay_rebates).errors(&[&[RebatesInProgress, NothingAccrued]]),
        command(AddOperator, people::add).errors(&[&[
            OperatorNameTaken,
            OperatorTokenTaken,
            TooManyOperators,
        ]]),
        command(RevokeOperator, people::revoke).errors(&[&[OperatorNotFound, LastAdmin]]),
        command(SetPolicy, resolution::set_policy).errors(&[MARKET, &[InvalidPolicy]]),
        command(ClearPolicy, resolution::clear_policy).errors(&[&[MarketNotFound, NoPolicy]]),
        command(ListWallet, resolution::list_wallet).errors(&[&[
            MarketNotFound,
            NoPolicy,
            ListFull,
        ]]),
        command(RevokeKey, keys::revoke).errors(&[&[KeyNotFound]]),
        command(RegisterEvent, own_markets::register_event)
            .body(OPERATOR_BODY_BYTES)
            .errors(&[&[MarketDiffers, EventDiffers]]),
        command(DescribeEvent, own_markets::describe_event)
            .body(OPERATOR_BODY_BYTES)
            .errors(&[&[EventNotFound, UpstreamOwned]]),
        command(RegisterMarket, own_markets::register)
            .body(OPERATOR_BODY_BYTES)
            .errors(&[MARKET, TERMS, REGISTRATION]),
        command(DescribeMarket, own_markets::describe)
            .body(OPERATOR_BODY_BYTES)
            .errors(&[&[MarketNotFound, UpstreamOwned, SlugTaken]]),
        command(SetTerms, markets::terms).errors(&[MARKET, TERMS]),
        command(Propose, resolution::propose).errors(PROPOSE),
        command(Dispute, resolution::dispute).errors(&[PROPOSAL, &[MarketNotFound, NoProposal]]),
        command(WithdrawProposal, resolution::withdraw)
            .errors(&[PROPOSAL, &[MarketNotFound, NoProposal, SamePerson]]),
        command(Finalise, resolution::finalise).errors(&[
            MARKET,
            PAYOUT,
            &[NoProposal, ProposalDisputed, ChallengeOpen],
            TWO_PERSONS,
        ]),
        command(ActivateMarket, markets::activate).errors(&[MARKET]),
        command(PauseMarket, markets::pause).errors(&[MARKET]),
        command(ResumeMarket, markets::resume).errors(&[MARKET]),
        command(CloseMarket, markets::close).errors(&[MARKET]),
        command(ResolveMarket, markets::resolve).errors(&[
            MARKET,
            PAYOUT,
            &[
                BookNotEmpty,
                NoProposal,
                ProposalDisputed,
                SamePerson,
                AlreadyProposed,
                SecondPersonRequired,
                InvalidWindow,
            ],
        ]),
        command(ArchiveMarket, markets::archive).errors(&[&[MarketNotFound]]),
        command(SetTick, markets::tick).errors(&[MARKET, &[InvalidTick]]),
        command(SetMinimumSize, markets::minimum).errors(&[MARKET, &[InvalidMinimumSize]]),
        command(SetFee, markets::fee).errors(&[MARKET, &[InvalidFee]]),
        command(SetMode, system::mode),
        command(ChangeSettings, system::settings).errors(&[&[InvalidSettings]]),
        command(SetPayments, system::payments).errors(&[&[InvalidSettings]]),
    ]
}

/// Of commands with a reference.
const REFERENCE: &[ErrorCode] = &[ReferenceReused];
const WITHDRAWAL: &[ErrorCode] = &[ReferenceReused, InsufficientBalance, WithdrawalsShut];
/// Of a withdrawal that waits.
const WAITING: &[ErrorCode] = &[WithdrawalNotFound, WithdrawalsShut];
const WALLET: &[ErrorCode] = &[WalletHasLiveOrders];
const MARKET: &[ErrorCode] = &[MarketNotFound, InvalidTransition];
/// Of a market's clock, delay and rebate.
const TERMS: &[ErrorCode] = &[InvalidTerms, ClockContradicts, ClosesInPast];
const REGISTRATION: &[ErrorCode] = &[
    EndsInPast,
    SlugTaken,
    MarketDiffers,
    TokenTaken,
    InvalidFee,
    InvalidMinimumSize,
    EventNotFound,
    EventFrozen,
    EventFull,
    InvalidQuestionIndex,
];
/// Of who proposes, disputes or withdraws.
const PROPOSAL: &[ErrorCode] = &[AccountNotFound, NotPermitted, ProposalDisputed];
const PROPOSE: &[&[ErrorCode]] = &[
    REFERENCE,
    MARKET,
    PAYOUT,
    PROPOSAL,
    &[InvalidWindow, AlreadyProposed, NoProposal, SamePerson],
];
/// Of what a second person confirms.
const TWO_PERSONS: &[ErrorCode] = &[SamePerson, NewOperator];
/// Of payouts in neg-risk event groups.
const PAYOUT: &[ErrorCode] = &[
    EventNotActive,
    HalfInNegRisk,
    NoWouldLeaveNone,
    OutsideNotLast,
];

/// A command of operators.
fn command<Parts>(kind: CommandKind, endpoint: impl Endpoint<Parts>) -> Route {
    let path = OperatorCommand::path_of(kind).expect("a command of operators");
    post(path, None, endpoint).operators(kind.senders().operators)
}

/// A read for operators of any role.
fn list<Parts>(path: &'static str, endpoint: impl Endpoint<Parts>) -> Route {
    read(path, None, endpoint).operators(RoleSet::ALL)
}
