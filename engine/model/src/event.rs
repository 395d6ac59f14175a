//! All events of the exchange. A view that folds events (and reads the fields of placing and
//! registering commands) needs no rules of the exchange.
//!
//! A frame is one command and the events it caused, in order. The frame of a placed order ends with
//! exactly one of `OrderRested`, `OrderCompleted`, `OrderClosed` for its own number, `OrderDelayed`;
//! only a `TickSet` may follow. A delayed order ends the same way in the frame of its release. When the book kills the order, `OrderKilled` is the only event.

#![allow(missing_docs, reason = "a struct documents its variant")]

mod accounts;
mod markets;
mod money;
mod orders;
mod quotes;
mod resolution;
mod shares;

pub use accounts::{
    AccountOpened, ClosedOnlySet, HeartbeatSet, KeyRegistered, WalletBound, WalletUnbound,
};
pub use markets::{
    EventRegistered, FeeSet, MarketArchived, MarketRegistered, MarketResolved, MarketStateSet,
    MinimumSizeSet, TermsSet, TickSet,
};
pub use money::{Deposited, RebatePaid, WithdrawalReleased, WithdrawalRequested, Withdrawn};
pub use orders::{
    CancelRequested, Fill, OrderClosed, OrderDecreased, OrderDelayed, OrderKilled, OrderReleased,
    OrderRested,
};
pub use quotes::{
    QuoteLimitsSet, QuotePlaced, QuoteRefused, QuotesFrozen, QuotesRenewed, QuotesSet,
};
pub use resolution::{
    Disputed, MarketSettled, PolicySet, Proposed, SettlementStarted, WalletListed,
};
pub use shares::{Converted, Merged, Redeemed, Split};

use rkyv::{Archive, Deserialize, Serialize};

use crate::id::{
    Branch, DomainNumber, EventNumber, KeyNumber, MarketNumber, OperatorNumber, Sequence,
    WalletAddress,
};
use crate::market::SystemMode;
use crate::quantity::Micros;
use crate::settings::PaymentSettings;
use crate::table::table;
use crate::time::{SandboxClock, TimeNs};

table! {
    /// One event.
    #[derive(Clone, Copy, PartialEq, Eq, Debug, Archive, Serialize, Deserialize, serde::Serialize)]
    Event, EventKind;
    1 Fill(Fill);
    2 OrderRested(OrderRested);
    /// The frame's order is filled, or is a budget BUY that is full (docs/verify/rules.md §4).
    3 OrderCompleted;
    4 OrderClosed(OrderClosed);
    5 OrderKilled(OrderKilled);
    6 OrderDelayed(OrderDelayed);
    7 OrderReleased(OrderReleased);
    8 CancelRequested(CancelRequested);
    9 OrderDecreased(OrderDecreased);
    10 AccountOpened(AccountOpened);
    11 Deposited(Deposited);
    12 Withdrawn(Withdrawn);
    /// Fees were withdrawn.
    13 FeesWithdrawn { amount: Micros };
    14 WalletBound(WalletBound);
    15 WalletUnbound(WalletUnbound);
    16 ClosedOnlySet(ClosedOnlySet);
    17 KeyRegistered(KeyRegistered);
    /// A key was revoked.
    18 KeyRevoked { key: KeyNumber };
    19 HeartbeatSet(HeartbeatSet);
    20 Split(Split);
    21 Merged(Merged);
    22 Redeemed(Redeemed);
    23 Converted(Converted);
    24 WithdrawalRequested(WithdrawalRequested);
    25 WithdrawalReleased(WithdrawalReleased);
    /// A payment of rebates started, to the accounts below `accounts`.
    26 RebatePaymentStarted { accounts: u32 };
    27 RebatePaid(RebatePaid);
    /// A payment of rebates ended.
    28 RebatePaymentEnded { paid: Micros };
    /// A cashier claimed a withdrawal.
    29 WithdrawalClaimed { withdrawal: Sequence };
    30 EventRegistered(EventRegistered);
    /// The question list of an event group is final.
    31 EventFrozen { event: EventNumber };
    32 MarketRegistered(MarketRegistered);
    33 MarketStateSet(MarketStateSet);
    34 MarketResolved(MarketResolved);
    35 MarketArchived(MarketArchived);
    36 TickSet(TickSet);
    37 MinimumSizeSet(MinimumSizeSet);
    38 FeeSet(FeeSet);
    39 TermsSet(TermsSet);
    /// A market's book is cleared; its orders end in this frame and in `Continue`.
    40 MarketCleared { market: MarketNumber };
    41 Proposed(Proposed);
    42 Disputed(Disputed);
    /// The proposal of a market was withdrawn.
    43 ProposalWithdrawn { market: MarketNumber };
    44 SettlementStarted(SettlementStarted);
    45 MarketSettled(MarketSettled);
    46 PolicySet(PolicySet);
    /// A market's own policy and list were removed.
    47 PolicyCleared { market: MarketNumber };
    48 WalletListed(WalletListed);
    /// The system's mode changed.
    50 ModeSet { mode: SystemMode };
    /// The settings were replaced by those of the command.
    51 SettingsChanged;
    /// Other rules apply from the next command on.
    52 RulesSwitched { rules: u32 };
    /// A divergence was accepted; its sequence is in the command.
    53 DivergenceAccepted;
    /// A signing domain was registered; its text is evidence of the frame.
    54 DomainRegistered { domain: DomainNumber };
    /// More of this command's work follows in `Continue` commands.
    55 WorkPending;
    /// The journal attests a snapshot; its hash is in the command.
    56 StateAttested;
    /// The settings of payments changed.
    57 PaymentsSet { payments: PaymentSettings };
    /// An operator was added; name, role and token hash are in the command.
    58 OperatorAdded { operator: OperatorNumber };
    /// An operator was revoked.
    59 OperatorRevoked { operator: OperatorNumber };
    /// Words of an event group changed; the edit is evidence of the frame.
    60 EventDescribed { event: EventNumber };
    /// Words of a market changed; the edit is evidence of the frame.
    61 MarketDescribed { market: MarketNumber };
    /// The profile of a wallet changed; the edit is evidence of the frame.
    62 WalletDescribed { wallet: WalletAddress };
    /// The journal begins as the command says.
    63 Begun;
    /// The journal goes on after a restore; withdrawals are shut.
    64 Restored { branch: Branch };
    /// Withdrawals go on.
    65 WithdrawalsOpened;
    66 QuotesSet(QuotesSet);
    67 QuotePlaced(QuotePlaced);
    68 QuoteRefused(QuoteRefused);
    69 QuotesRenewed(QuotesRenewed);
    70 QuoteLimitsSet(QuoteLimitsSet);
    71 QuotesFrozen(QuotesFrozen);
    /// Somebody can dispute again since a time: windows of proposals end some time after it at the
    /// earliest.
    72 Reopened { at: TimeNs };
    /// The clock of the sandbox was moved, stopped or started.
    73 ClockMoved { clock: SandboxClock };
}
