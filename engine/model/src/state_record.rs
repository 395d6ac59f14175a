//! The state of the exchange as a canonical list of records.
//!
//! Every implementation (the core, the reference, an auditor) lists the variants in the order
//! below, each variant sorted as its doc comment states. Equal states give equal lists, whatever
//! the layout in memory. The records are the whole state: nothing else may influence a later
//! command.

use crate::id::{
    AccountNumber, ApiKey, ConditionId, DomainNumber, EventId, EventNumber, KeyNumber,
    MarketNumber, OperatorNumber, OrderId, OrderNumber, Reference, Sequence, TokenId,
    WalletAddress,
};
use crate::market::{
    FeeSchedule, MarketState, MarketTerms, Payout, QuestionSet, ResolutionPolicy, SystemMode,
    WalletKind,
};
use crate::operator::{OperatorName, OperatorRole};
use crate::quantity::{Lots, Micros, Price, Tick};
use crate::rejection::RejectionReason;
use crate::settings::{PaymentSettings, Settings};
use crate::side::{CloseReason, OrderType, Outcome, Side};
use crate::time::{TimeMs, TimeNs, TimeSeconds};

/// State of a remembered order id.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OrderIdState {
    /// The order rests.
    Live,
    /// The order ended.
    Done,
    /// The book killed the order.
    Killed {
        /// The reason.
        reason: RejectionReason,
        /// The marketable minimum that the order was below; 0 for other reasons.
        minimum: Micros,
    },
}

/// Work that continues in `Continue` commands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PendingWork {
    /// Cancel the orders of an owner's wallets, wallets in order of kind, orders by number.
    CancelOwner {
        /// The owner.
        owner: AccountNumber,
        /// Only in this market, if any.
        market: Option<MarketNumber>,
        /// Only of this outcome, if any.
        outcome: Option<Outcome>,
        /// Reason of the cancels.
        reason: CloseReason,
        /// The first command of the work.
        first: Sequence,
    },
    /// Cancel a closed market's orders: bids, then asks, each by best price, then by arrival.
    CloseMarket {
        /// The market.
        market: MarketNumber,
    },
    /// Cancel the BUYs of an account that became closed-only, by order number.
    ClosedOnly {
        /// The account.
        account: AccountNumber,
    },
    /// Cancel a cleared market's orders, in the order of `CloseMarket`; both
    /// end with the delayed orders, by number (docs/verify/rules.md §21).
    ClearMarket {
        /// The market.
        market: MarketNumber,
    },
}

/// Work that `Step` commands do (docs/verify/rules.md §23, §25).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BackgroundWork {
    /// Pay the holders of a resolved market.
    Settlement {
        /// The market.
        market: MarketNumber,
    },
    /// Pay accrued rebates; at most one in the queue.
    Rebates,
}

/// One record of the state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StateRecord {
    /// One record, first in the list.
    System {
        /// Rules in force.
        rules: u32,
        /// Sequence of the last applied command; 0 before the first.
        sequence: Sequence,
        /// Time of the last applied command.
        time: TimeNs,
        /// The mode.
        mode: SystemMode,
        /// The settings.
        settings: Settings,
        /// Orders with an earlier signed timestamp are rejected, whatever the window. A change of
        /// settings raises it to (time − old `timestamp_past_ms`); it never falls. So a wider
        /// window cannot readmit an evicted id.
        timestamp_floor: TimeMs,
        /// All deposits minus all withdrawals (withdrawn fees included).
        collateral: Micros,
        /// Balance of the fee account.
        fees: Micros,
        /// Work to continue.
        pending: Option<PendingWork>,
    },
    /// Sorted by number.
    Domain {
        /// Number.
        domain: DomainNumber,
        /// Separator.
        separator: [u8; 32],
    },
    /// Sorted by number.
    Account {
        /// Number.
        account: AccountNumber,
        /// Address.
        wallet: WalletAddress,
        /// The owner; the account itself when not bound.
        owner: AccountNumber,
        /// Wallet kind in relation to the owner; `Eoa` when not bound.
        kind: WalletKind,
        /// Only reducing orders are accepted.
        closed_only: bool,
        /// A heartbeat chain is running.
        heartbeat: bool,
        /// Free collateral.
        free: Micros,
        /// Collateral reserved by live BUYs.
        reserved: Micros,
        /// Number of live orders.
        live_orders: u32,
    },
    /// Sorted by number.
    Key {
        /// Number.
        key: KeyNumber,
        /// Text.
        api_key: ApiKey,
        /// Owner.
        owner: AccountNumber,
        /// Nonce.
        nonce: [u8; 32],
        /// Whether the key may only read.
        read_only: bool,
        /// Whether the key is not revoked.
        live: bool,
    },
    /// Sorted by number.
    Event {
        /// Number.
        event: EventNumber,
        /// Catalog id.
        id: EventId,
        /// Whether the question list is final.
        frozen: bool,
        /// Number of questions.
        questions: u32,
        /// `c`, the lots ever converted: every convert of n lots adds n. For every unresolved
        /// question supply(Yes) − supply(No) = c (docs/verify/rules.md §11).
        converted: Lots,
    },
    /// Sorted by number.
    Market {
        /// Number.
        market: MarketNumber,
        /// Condition id.
        condition: ConditionId,
        /// Tokens.
        tokens: [TokenId; 2],
        /// Tick.
        tick: Tick,
        /// Whether the tick may refine.
        tick_refines: bool,
        /// Minimum size.
        minimum_size: Lots,
        /// Fee.
        fee: FeeSchedule,
        /// Event group and index in its question list.
        question: Option<(EventNumber, u32)>,
        /// State.
        state: MarketState,
        /// Payout, once resolved.
        payout: Option<Payout>,
        /// Whether the market is hidden.
        archived: bool,
        /// Shares in existence, of `[Yes, No]`.
        supply: [Lots; 2],
    },
    /// Sorted by account, then market; only positions with shares.
    Position {
        /// The account.
        account: AccountNumber,
        /// The market.
        market: MarketNumber,
        /// Free shares of `[Yes, No]`.
        free: [Lots; 2],
        /// Shares of `[Yes, No]` reserved by live SELLs.
        reserved: [Lots; 2],
    },
    /// Sorted by market; bids then asks of its ladder, best price first, then arrival.
    Order {
        /// Number.
        order: OrderNumber,
        /// Id.
        id: OrderId,
        /// Account.
        account: AccountNumber,
        /// Market.
        market: MarketNumber,
        /// Outcome of the token.
        outcome: Outcome,
        /// Side in the order's token.
        side: Side,
        /// Limit in the price of the order's token.
        price: Price,
        /// Unfilled lots.
        lots: Lots,
        /// Signed expiration of a GTD order; 0 otherwise.
        expiration: TimeSeconds,
    },
    /// Sorted by number. An id is remembered from its placement. Its *second* is timestamp / 1000.
    /// Ids wait in an expiry queue ordered by (second, number). An id is *due* when the time of the
    /// command in ms exceeds (second + 1) · 1000 + `timestamp_past_ms`. An applied placement first
    /// removes up to `EVICTED_PER_COMMAND` due ids from the front of the expiry queue: an id that is
    /// not live is evicted, a live one is evicted when its order ends. A placement is `Busy` when
    /// the expiry queue holds `remembered_order_ids` or more ids and its front is not due.
    ///
    /// An owner's *share* is max(1, `remembered_order_ids` / `ORDER_ID_SHARES`), and it
    /// *holds* the ids of the expiry queue with its own keys. A placement is not `Busy` while its owner
    /// holds fewer than its share and fewer than `RESERVED_ORDER_IDS`. Checked next: it is
    /// `TooManyOrderIds` when its owner holds its share or more and the front is not due.
    RememberedOrder {
        /// Number.
        order: OrderNumber,
        /// Id.
        id: OrderId,
        /// Signed timestamp.
        timestamp: TimeMs,
        /// State of the id.
        state: OrderIdState,
        /// Whether the id is in the expiry queue.
        in_expiry_queue: bool,
        /// Order type: a term that a repeat must share, as are the next three.
        order_type: OrderType,
        /// Expiration.
        expiration: TimeSeconds,
        /// Post-only flag.
        post_only: bool,
        /// Key.
        key: KeyNumber,
    },
    /// Sorted by sequence. An applied account action (split, merge, redeem, convert) first evicts
    /// up to `EVICTED_PER_COMMAND` account references, oldest first, whose time +
    /// `REFERENCE_MEMORY_NS` is below its own time. Operators' references are kept. A repeat has
    /// the same content: command kind, account, market or event group, amount, questions.
    ///
    /// Each account is bounded. An applied action first evicts as above, but while
    /// `MAX_REMEMBERED_REFERENCES` or more are remembered it also evicts those whose time +
    /// `REQUEST_MEMORY_NS` is below its own. Then it evicts up to `EVICTED_PER_COMMAND`
    /// references of its own account, oldest first, while the account holds
    /// `REFERENCES_PER_ACCOUNT` or more. A merge or redeem is never rejected for memory. A split or
    /// convert with a new reference is `TooManyReferences` when its account holds
    /// `REFERENCES_PER_ACCOUNT` or more and the time of the account's oldest + `REQUEST_MEMORY_NS`
    /// is not below the time of the command.
    ///
    /// Proposals have a scope of their own, stored as `None` with the code of the command.
    /// The account is the proposing wallet (0 for an operator), the object the market, the amount
    /// (0 without a window, else window + 1) × 4 + payout code, the
    /// questions the first 16 bytes of the evidence hash. A held withdrawal's is that of the withdrawal.
    RememberedReference {
        /// Sequence of the command.
        sequence: Sequence,
        /// Time of the command.
        time: TimeNs,
        /// Scope: an account, or `None` for operators' deposits and withdrawals.
        scope: Option<AccountNumber>,
        /// The reference.
        reference: Reference,
        /// [`crate::Command::code`] of the command.
        code: u16,
        /// The account of the action, also for deposits and withdrawals; 0 for fees.
        account: AccountNumber,
        /// Market or event group number; 0 without.
        object: u32,
        /// Micros or lots; 0 for redeem.
        amount: u64,
        /// Questions of a convert.
        questions: QuestionSet,
        /// Collateral of the outcome; 0 when the outcome has none.
        collateral: Micros,
    },
    /// One record.
    Site {
        /// Settings of payments.
        payments: PaymentSettings,
        /// Resolution policy of the site.
        policy: ResolutionPolicy,
        /// Since when rebates are accrued: the time of the command that made the sum of all
        /// `Accrued` positive, or ended a payment with a rest. 0 while the sum is 0. With
        /// `rebates_daily` and no payment in the queue, the next is due at the first 00:00 UTC after
        /// it (docs/verify/rules.md §23).
        rebates_since: TimeNs,
    },
    /// Sorted by number; the first admin (name `admin`, token zero) is listed, too.
    Operator {
        /// Number, from 1.
        operator: OperatorNumber,
        /// Name.
        name: OperatorName,
        /// Role.
        role: OperatorRole,
        /// SHA-256 of the token.
        token: [u8; 32],
        /// Whether the operator is not revoked.
        live: bool,
    },
    /// Sorted by market; only terms that are not all zero.
    Terms {
        /// The market.
        market: MarketNumber,
        /// The terms.
        terms: MarketTerms,
        /// Whether the clear is armed (docs/verify/rules.md §21).
        clear_armed: bool,
    },
    /// Sorted by market; only markets with a policy of their own.
    Policy {
        /// The market.
        market: MarketNumber,
        /// Its policy.
        policy: ResolutionPolicy,
    },
    /// Sorted by market, the site first, then account; at least one flag is set.
    ListedWallet {
        /// The market; `None` = the site.
        market: Option<MarketNumber>,
        /// The wallet's account.
        account: AccountNumber,
        /// Whether it may propose.
        propose: bool,
        /// Whether it may dispute.
        dispute: bool,
    },
    /// Sorted by market.
    Proposal {
        /// The market.
        market: MarketNumber,
        /// Sequence of the proposal's command.
        proposal: Sequence,
        /// Time of that command.
        time: TimeNs,
        /// The payout.
        payout: Payout,
        /// Its operator; 0 for a wallet.
        operator: OperatorNumber,
        /// Its wallet.
        by: Option<AccountNumber>,
        /// Challenge window in seconds.
        window_seconds: u32,
        /// SHA-256 of the evidence.
        evidence: [u8; 32],
        /// Whether time finalises it.
        by_time: bool,
        /// Whether another operator finalises it.
        second_person: bool,
        /// Whether it is disputed.
        disputed: bool,
        /// The disputer's payout.
        counter: Option<Payout>,
    },
    /// Sorted by account; only amounts above 0.
    Accrued {
        /// The account.
        account: AccountNumber,
        /// Accrued rebates.
        amount: Micros,
    },
    /// Sorted by number. An order that waits out a market's delay (docs/verify/rules.md §22). Its
    /// reservation is part of the account's or position's `reserved`, and it counts as live.
    DelayedOrder {
        /// Number.
        order: OrderNumber,
        /// Id.
        id: OrderId,
        /// Account.
        account: AccountNumber,
        /// Market.
        market: MarketNumber,
        /// Outcome of the token.
        outcome: Outcome,
        /// Side in the order's token.
        side: Side,
        /// Order type.
        order_type: OrderType,
        /// Limit in the price of the order's token.
        price: Price,
        /// Lots; 0 for a budget BUY.
        lots: Lots,
        /// makerAmount of a budget BUY; 0 otherwise.
        budget: Micros,
        /// takerAmount of a FOK BUY rounded down to a lot; 0 otherwise.
        minimum_lots: Lots,
        /// Signed expiration of a GTD order; 0 otherwise.
        expiration: TimeSeconds,
        /// When it meets the book.
        due: TimeNs,
        /// Fee schedule at admission.
        fee: FeeSchedule,
        /// Maker's share of the fee at admission.
        rebate_ppm: u32,
        /// Reserved: micros of a BUY, lots of a SELL.
        reserved: u64,
        /// Reason of the first cancel that asked for it.
        cancel: Option<CloseReason>,
    },
    /// Sorted by sequence. The amount is part of the account's `reserved`.
    HeldWithdrawal {
        /// Sequence of the withdrawal's command.
        sequence: Sequence,
        /// Its operator.
        operator: OperatorNumber,
        /// The account.
        account: AccountNumber,
        /// The amount.
        amount: Micros,
        /// The reference.
        reference: Reference,
    },
    /// Sorted by `first`: the queue. `Step` does the first entry's work.
    Background {
        /// The command that started it.
        first: Sequence,
        /// The work.
        work: BackgroundWork,
        /// The next account to look at.
        next: AccountNumber,
        /// The account after the last one.
        end: AccountNumber,
        /// Paid so far by steps.
        paid: Micros,
    },
}
