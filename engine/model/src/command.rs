//! All commands of the exchange: the table of their pinned codes, names, senders and rejections.
//!
//! A command with more than one field is a struct of its own, with units and evidence. The codes are stored in journals. Commands carry dense numbers, which the
//! gateway resolves from addresses and tokens; the exchange checks each of them. An operator
//! command that may name an unknown account carries the address instead and opens the account. The
//! number of the operator is in the [`crate::CommandStamp`].

#![allow(
    missing_docs,
    reason = "rkyv derives undocumented twins of documented variants; a struct documents its variant"
)]

mod accounts;
mod markets;
mod money;
mod orders;
mod quotes;
mod resolution;
mod senders;
mod shares;
mod system;

pub use accounts::{BindWallet, RegisterKey, RevokeKey, SetClosedOnly};
pub use markets::{
    ArchiveMarket, DescribeMarket, MarketDetails, PauseMarket, RegisterMarket, ResumeMarket,
    SetFee, SetMinimumSize, SetTerms, SetTick,
};
pub use money::{
    CancelWithdrawal, Deposit, PayWithdrawal, RequestWithdrawal, Withdraw, WithdrawFees,
};
pub use orders::{
    CancelAll, CancelMarketOrders, CancelOrder, DecreaseOrder, PlaceOrder, SetHeartbeat,
};
pub use quotes::{QuoteLists, RenewQuotes, SetQuoteLimits, SetQuotes};
pub use resolution::{
    Dispute, Finalise, ListWallet, Propose, ResolveMarket, SetPolicy, WithdrawProposal,
};
pub use senders::Senders;
pub use shares::{Convert, Merge, Redeem, Split};
pub use system::{AddOperator, AttestState, Begin, MoveClock, RegisterDomain};

use rkyv::{Archive, Deserialize, Serialize};

use crate::id::{
    Branch, EventId, EventNumber, MarketNumber, OperatorNumber, Sequence, WalletAddress,
};
use crate::market::SystemMode;
use crate::rejection::RejectionReason;
use crate::table::table;
use crate::time::TimeNs;
use crate::update::{PaymentsUpdate, SettingsUpdate};
use senders::{
    ADMIN, CASHIER, CLIENTS, CLIENTS_AND_ADMIN, CLIENTS_AND_SUPPORT, ENGINE, MARKETS, OPERATORS,
    RESOLVER, RESOLVER_AND_SYNC, SUPPORT,
};

/// The table of commands: code, name, fields, who may send it, and what it may be rejected for, in the order of the checks.
macro_rules! commands {
    ($($(#[$doc:meta])* $code:literal $name:ident $(($content:ident))? $({ $field:ident: $type:ty })? by $senders:ident $(fails [$($reason:ident),+ $(,)?])?;)+) => {
        table! {
            /// A command.
            #[derive(Clone, Copy, PartialEq, Eq, Debug, Archive, Serialize, Deserialize, serde::Serialize)]
            Command, CommandKind;
            $($(#[$doc])* $code $name $(($content))? $({ $field: $type })?;)+
        }

        impl CommandKind {
            /// Who may send it.
            #[must_use]
            pub const fn senders(self) -> Senders {
                match self {
                    $(Self::$name => $senders,)+
                }
            }

            /// What a well-formed command of this kind may be rejected for, beside what any may be: its sender
            /// (`OperatorRequired`, `OperatorRole`, `UnknownOperator`), and what must come first (`Busy`, `TimeDue`,
            /// `WorkPending`). The documents of a route list them.
            #[must_use]
            pub const fn rejections(self) -> &'static [RejectionReason] {
                match self {
                    $($(Self::$name => &[$(RejectionReason::$reason),+],)?)+
                    _ => &[],
                }
            }
        }
    };
}

commands! {
    1 PlaceOrder(PlaceOrder) by CLIENTS_AND_ADMIN fails [
        UnknownMarket, UnknownAccount, UnknownKey, KeyOfAnotherOwner, Duplicate, TimestampOutOfWindow,
        TooManyOrderIds, SystemPaused, CancelOnly, PostOnlyMode, MarketNotReady, MarketPaused, MarketClosed,
        ClosedOnlyAccount, PostOnlyNeedsResting, InvalidExpiration, AmountZero, AmountTooLarge, SizeNotLots,
        PriceOffTick, SizeBelowMinimum, MarketableBelowMinimum, TooManyLiveOrders, NotEnoughCollateral,
        NotEnoughShares, CrossesBook, FokNotFilled, FakNoMatch
    ];
    2 CancelOrder(CancelOrder) by CLIENTS;
    3 CancelAll(CancelAll) by CLIENTS;
    4 CancelMarketOrders(CancelMarketOrders) by CLIENTS;
    5 DecreaseOrder(DecreaseOrder) by CLIENTS fails [
        OrderNotFound, OrderOfAnotherOwner, OrderNotResting
    ];
    6 SetQuotes(SetQuotes) by CLIENTS;
    7 RenewQuotes(RenewQuotes) by CLIENTS fails [NoLiveQuotes, RevisionOutOfRange];
    8 SetQuoteLimits(SetQuoteLimits) by CLIENTS fails [InvalidQuoteLimits];
    10 Deposit(Deposit) by CASHIER fails [ReferenceReused, BalanceLimit];
    11 Withdraw(Withdraw) by CASHIER fails [
        ReferenceReused, WithdrawalsShut, UnknownAccount, NotEnoughCollateral, TooManyWithdrawals
    ];
    12 WithdrawFees(WithdrawFees) by ADMIN fails [
        ReferenceReused, WithdrawalsShut, NotEnoughCollateral
    ];
    13 BindWallet(BindWallet) by ADMIN fails [
        WalletKindTaken, WalletNotBindable, NotAnOwner, WalletHasLiveOrders
    ];
    /// Undo a binding; the wallet must have no live orders.
    14 UnbindWallet { wallet: WalletAddress } by ADMIN fails [
        UnknownAccount, WalletNotBound, WalletHasLiveOrders
    ];
    15 SetClosedOnly(SetClosedOnly) by SUPPORT;
    16 RegisterKey(RegisterKey) by CLIENTS fails [NotAnOwner, NonceRevoked, KeyTaken, TooManyKeys];
    17 RevokeKey(RevokeKey) by CLIENTS_AND_SUPPORT fails [UnknownKey];
    18 SetHeartbeat(SetHeartbeat) by ENGINE;
    19 Split(Split) by CLIENTS fails [
        ReferenceReused, TooManyReferences, UnknownMarket, AmountZero, AmountTooLarge, SystemPaused, CancelOnly,
        MarketNotReady, MarketPaused, MarketClosed, ClosedOnlyAccount, NotEnoughCollateral
    ];
    20 Merge(Merge) by CLIENTS fails [
        ReferenceReused, UnknownMarket, AmountZero, AmountTooLarge, MarketNotReady, MarketClosed,
        NotEnoughShares
    ];
    21 Redeem(Redeem) by CLIENTS fails [
        ReferenceReused, UnknownMarket, NotResolved, NothingToRedeem
    ];
    22 Convert(Convert) by CLIENTS fails [
        ReferenceReused, TooManyReferences, UnknownEvent, AmountZero, AmountTooLarge, CancelOnly, SystemPaused,
        InvalidQuestions, EventNotActive, ClosedOnlyAccount, NotEnoughShares
    ];
    23 PayWithdrawal(PayWithdrawal) by CASHIER fails [
        ReferenceReused, WithdrawalsShut, UnknownWithdrawal, WithdrawalNotClaimed, SamePerson, NewOperator
    ];
    /// Give up a withdrawal that waits; its amount is free again (docs/verify/rules.md §30).
    24 FailWithdrawal { withdrawal: Sequence } by CASHIER fails [
        WithdrawalsShut, UnknownWithdrawal
    ];
    /// Start to pay all accrued rebates; `Step` commands pay (docs/verify/rules.md §23).
    25 PayRebates by CASHIER fails [RebatesInProgress, NothingAccrued];
    26 RequestWithdrawal(RequestWithdrawal) by CLIENTS fails [
        ReferenceReused, TooManyReferences, KeyOfAnotherOwner, WithdrawalsShut, ValidityOutOfRange,
        NotEnoughCollateral, TooManyWithdrawals
    ];
    27 CancelWithdrawal(CancelWithdrawal) by CLIENTS fails [
        WithdrawalsShut, UnknownWithdrawal, WithdrawalClaimed
    ];
    /// A cashier takes a requested withdrawal on, in order to pay it: its user no longer cancels it.
    /// Claimed by the same is `Repeated` (docs/verify/rules.md §30).
    28 ClaimWithdrawal { withdrawal: Sequence } by CASHIER fails [
        WithdrawalsShut, UnknownWithdrawal, WithdrawalClaimed
    ];
    /// Register an event group. Evidence: its description. The same id again is `Repeated`.
    30 RegisterEvent { event: EventId } by MARKETS;
    31 RegisterMarket(RegisterMarket) by MARKETS fails [
        MarketDiffers, TokenTaken, InvalidFee, InvalidMinimumSize, UnknownEvent, EventFrozen, EventFull,
        InvalidQuestionIndex, InvalidTransition, InvalidTerms, ClockContradicts, ClosesInPast, SlugTaken
    ];
    /// Registered → active; freezes the question list of its event group.
    32 ActivateMarket { market: MarketNumber } by MARKETS fails [UnknownMarket, InvalidTransition];
    33 PauseMarket(PauseMarket) by MARKETS fails [UnknownMarket, InvalidTransition];
    34 ResumeMarket(ResumeMarket) by MARKETS fails [UnknownMarket, InvalidTransition];
    /// Active or paused → closed; cancels its orders in bounded steps. A registered market can
    /// be closed too and then never trades.
    35 CloseMarket { market: MarketNumber } by MARKETS fails [UnknownMarket, InvalidTransition];
    36 ResolveMarket(ResolveMarket) by RESOLVER_AND_SYNC fails [
        UnknownMarket, InvalidTransition, BookNotEmpty, EventNotActive, HalfInNegRisk, NoWouldLeaveNone,
        OutsideNotLast, NoProposal, ProposalDisputed, SamePerson, AlreadyProposed, SecondPersonRequired,
        InvalidWindow
    ];
    37 ArchiveMarket(ArchiveMarket) by MARKETS fails [UnknownMarket];
    38 SetTick(SetTick) by MARKETS fails [UnknownMarket, InvalidTransition, InvalidTick];
    39 SetMinimumSize(SetMinimumSize) by MARKETS fails [
        UnknownMarket, InvalidTransition, InvalidMinimumSize
    ];
    40 SetFee(SetFee) by MARKETS fails [UnknownMarket, InvalidTransition, InvalidFee];
    41 SetTerms(SetTerms) by MARKETS fails [
        UnknownMarket, InvalidTransition, InvalidTerms, ClockContradicts, ClosesInPast
    ];
    42 Propose(Propose) by OPERATORS fails [
        ReferenceReused, UnknownAccount, UnknownMarket, InvalidTransition, EventNotActive, HalfInNegRisk,
        NoWouldLeaveNone, OutsideNotLast, NotPermitted, InvalidWindow, AlreadyProposed, ProposalDisputed,
        NoProposal, SamePerson
    ];
    43 Dispute(Dispute) by OPERATORS fails [
        UnknownAccount, UnknownMarket, NoProposal, NotPermitted, ProposalDisputed
    ];
    44 WithdrawProposal(WithdrawProposal) by OPERATORS fails [
        UnknownAccount, UnknownMarket, NoProposal, NotPermitted, ProposalDisputed, SamePerson
    ];
    45 Finalise(Finalise) by RESOLVER fails [
        UnknownMarket, NoProposal, ProposalDisputed, ChallengeOpen, SamePerson, NewOperator, InvalidTransition,
        EventNotActive, HalfInNegRisk, NoWouldLeaveNone, OutsideNotLast
    ];
    46 SetPolicy(SetPolicy) by ADMIN fails [UnknownMarket, InvalidTransition, InvalidPolicy];
    /// Remove a market's own policy and its list of wallets; the site's apply again
    /// (docs/verify/rules.md §24).
    47 ClearPolicy { market: MarketNumber } by ADMIN fails [UnknownMarket, NoPolicy];
    48 ListWallet(ListWallet) by ADMIN fails [UnknownMarket, NoPolicy, ListFull];
    /// Set the system mode.
    50 SetMode { mode: SystemMode } by MARKETS;
    /// Change the named settings of the core. A result out of bounds is `InvalidSettings`; an operator
    /// who names `new_operator_hours` is `OperatorRole`.
    51 ChangeSettings { settings: SettingsUpdate } by ADMIN fails [InvalidSettings];
    /// Switch to a rules number from the next command on.
    /// `rules`: at least the rules in force, at most [`crate::limits::NEWEST_RULES`].
    52 SwitchRules { rules: u32 } by ADMIN;
    /// An operator accepts that re-execution differs from the record at a sequence.
    53 AcceptDivergence { sequence: Sequence } by ENGINE;
    54 RegisterDomain(RegisterDomain) by ADMIN;
    /// Do the first thing that is due (docs/verify/rules.md §21). Rejected: `NothingDue`.
    55 AdvanceTime by ENGINE;
    /// Do the next bounded step of the pending work.
    56 Continue by ENGINE;
    57 AttestState(AttestState) by ENGINE;
    /// One step of the first work in the background: a settlement or a payment of
    /// rebates. The engine issues it. Rejected: `NothingPending` (docs/verify/rules.md §25).
    58 Step by ENGINE;
    /// Change settings of payments. The same is `Repeated`.
    /// `payments`: the new settings; those that it does not name stay.
    59 SetPayments { payments: PaymentsUpdate } by ADMIN fails [InvalidSettings];
    60 AddOperator(AddOperator) by ADMIN fails [
        OperatorNameTaken, OperatorTokenTaken, TooManyOperators
    ];
    /// Revoke an operator for ever. Rejected in this order: `OperatorRequired`,
    /// `UnknownOperator` (never added), `LastAdmin`. A revoked one is `Repeated`
    /// (docs/verify/rules.md §27).
    61 RevokeOperator { operator: OperatorNumber } by ADMIN fails [LastAdmin];
    /// Change words of an event group; the edit ([`crate::words`]) is the evidence.
    /// (docs/verify/rules.md §26).
    62 DescribeEvent { event: EventNumber } by MARKETS fails [UnknownEvent];
    63 DescribeMarket(DescribeMarket) by MARKETS fails [UnknownMarket, SlugTaken];
    /// Change the profile of a wallet, with an account or without; the edit is the
    /// evidence (docs/verify/rules.md §26).
    64 DescribeWallet { wallet: WalletAddress } by SUPPORT;
    65 Begin(Begin) by ENGINE;
    /// Say that the journal before is a copy that may lack acknowledged commands: the first command
    /// after a restore. Withdrawals are shut from here on (docs/verify/rules.md §31). The same branch
    /// again is `Repeated`. `branch`: random, not zero.
    66 Restore { branch: Branch } by ENGINE;
    /// An operator has compared the restored journal with what was paid: withdrawals go on. Rejected:
    /// `OperatorRequired`. When they are not shut it is `Repeated` (docs/verify/rules.md §31).
    67 OpenWithdrawals by ADMIN;
    /// No engine ran until a time, so nobody could dispute: windows of proposals end later. The engine
    /// sends it at a start. `at`: the time of the start; `Repeated` when no window may have to end later
    /// (docs/verify/rules.md §24).
    68 Reopen { at: TimeNs } by ENGINE;
    69 MoveClock(MoveClock) by ADMIN fails [NotSandbox, ClockInPast, ClockTooFar];
}

impl Command {
    /// Whether the bytes beside it begin with a tail ([`crate::tail`]).
    #[must_use]
    pub const fn has_tail(&self) -> bool {
        match self {
            Self::SetQuotes(_) => true,
            Self::RegisterMarket(market) => market.has_details,
            _ => false,
        }
    }

    /// The evidence in the bytes beside it: what follows its tail. Empty when those end before.
    #[must_use]
    pub fn evidence<'a>(&self, beside: &'a [u8]) -> &'a [u8] {
        match self {
            Self::SetQuotes(set) => set.lists(beside).map_or(&[], |lists| lists.evidence),
            Self::RegisterMarket(market) => market.details(beside).map_or(&[], |(_, rest)| rest),
            _ => beside,
        }
    }

    /// Whether this only cancels orders: such commands have reserved space in the ring.
    #[must_use]
    pub const fn is_cancel(&self) -> bool {
        match self {
            Self::CancelOrder(_) | Self::CancelAll(_) | Self::CancelMarketOrders(_) => true,
            Self::SetQuotes(set) => set.quotes == 0,
            _ => false,
        }
    }
}
