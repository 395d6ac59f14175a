//! The state of the exchange as a canonical list of records.
//!
//! Whoever holds the state (the core, its naive twin, an auditor) lists it in the order of the
//! variants below, each kind in the order its variant names; equal states give equal lists,
//! whatever the layout in memory. What the records hold *is* the state: nothing else may influence
//! a later command.

use crate::id::{
    AccountNumber, ApiKey, ConditionId, Digest16, DomainNumber, EventId, EventNumber, KeyNumber,
    MarketNumber, OrderId, OrderNumber, Reference, Sequence, TokenId, WalletAddress,
};
use crate::market::{FeeSchedule, MarketState, Payout, QuestionSet, SystemMode, WalletKind};
use crate::quantity::{Lots, Micros, Price, Tick};
use crate::refusal::RefusalReason;
use crate::settings::Settings;
use crate::side::{CloseReason, OrderType, Outcome, Side};
use crate::time::{TimeMs, TimeNs, TimeSeconds};

/// What became of a remembered order id.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fate {
    /// It rests.
    Live,
    /// It is over.
    Done,
    /// The book refused it.
    Killed {
        /// Why.
        reason: RefusalReason,
        /// The marketable minimum it was below; 0 for other reasons, and under rules 1.
        minimum: Micros,
    },
}

/// Work that goes on in `Continue` commands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PendingWork {
    /// Cancel the orders of an owner's wallets, wallets in order of kind, orders by number.
    CancelOwner {
        /// Whose.
        owner: AccountNumber,
        /// Only in this market.
        market: Option<MarketNumber>,
        /// Only of this outcome.
        outcome: Option<Outcome>,
        /// Why.
        reason: CloseReason,
        /// The first command of this work.
        first: Sequence,
        /// The remembered request it belongs to; zero = none.
        request: Digest16,
    },
    /// Cancel a closed market's orders: bids, then asks, each best price first, then by arrival.
    CloseMarket {
        /// Which.
        market: MarketNumber,
    },
    /// Cancel the BUYs of an account that became closed-only, by number.
    ClosedOnly {
        /// Whose.
        account: AccountNumber,
    },
}

/// One record of the state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StateRecord {
    /// Once, first.
    System {
        /// Rules in force.
        rules: u32,
        /// Sequence of the last applied command; 0 before the first.
        sequence: Sequence,
        /// Its time.
        time: TimeNs,
        /// The mode.
        mode: SystemMode,
        /// The settings.
        settings: Settings,
        /// No order with an earlier signed timestamp is taken, whatever the window says: set to
        /// (time − old `timestamp_past_ms`) when the settings change, and never lowered. So a
        /// wider window cannot let a forgotten id in again.
        timestamp_floor: TimeMs,
        /// All deposits less all withdrawals (fees withdrawn included).
        collateral: Micros,
        /// The fee account.
        fees: Micros,
        /// What must be continued.
        pending: Option<PendingWork>,
    },
    /// By number.
    Domain {
        /// Number.
        domain: DomainNumber,
        /// Separator.
        separator: [u8; 32],
    },
    /// By number.
    Account {
        /// Number.
        account: AccountNumber,
        /// Address.
        wallet: WalletAddress,
        /// Its owner; itself when bound to nobody.
        owner: AccountNumber,
        /// What it is to its owner; `Eoa` when its own.
        kind: WalletKind,
        /// May only reduce.
        closed_only: bool,
        /// A heartbeat chain runs.
        heartbeat: bool,
        /// Collateral not reserved.
        free: Micros,
        /// Collateral reserved by live BUYs.
        reserved: Micros,
        /// Live orders.
        live_orders: u32,
    },
    /// By number.
    Key {
        /// Number.
        key: KeyNumber,
        /// Text.
        api_key: ApiKey,
        /// Owner.
        owner: AccountNumber,
        /// Nonce.
        nonce: [u8; 32],
        /// Reads only.
        read_only: bool,
        /// Not revoked.
        live: bool,
    },
    /// By number.
    Event {
        /// Number.
        event: EventNumber,
        /// Catalog id.
        id: EventId,
        /// The list is final.
        frozen: bool,
        /// How many questions it has.
        questions: u32,
        /// `c`, the total ever converted: every convert of n lots adds n, so that for every
        /// unresolved question supply(Yes) − supply(No) = c (protocol 5).
        converted: Lots,
    },
    /// By number.
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
        /// Event and place in its list.
        question: Option<(EventNumber, u32)>,
        /// State.
        state: MarketState,
        /// Payout, once resolved.
        payout: Option<Payout>,
        /// Hidden.
        archived: bool,
        /// Shares in existence, of `[Yes, No]`.
        supply: [Lots; 2],
    },
    /// By account, then market; only those that hold something.
    Position {
        /// Whose.
        account: AccountNumber,
        /// Of which market.
        market: MarketNumber,
        /// Not reserved, of `[Yes, No]`.
        free: [Lots; 2],
        /// Reserved by live SELLs, of `[Yes, No]`.
        reserved: [Lots; 2],
    },
    /// By market; bids then asks of its ladder, best price first, then arrival.
    Order {
        /// Number.
        order: OrderNumber,
        /// Id.
        id: OrderId,
        /// Account.
        account: AccountNumber,
        /// Market.
        market: MarketNumber,
        /// Token.
        outcome: Outcome,
        /// Side in its token.
        side: Side,
        /// Limit in its token.
        price: Price,
        /// What is left.
        lots: Lots,
        /// GTD: its signed-at expiration; 0 otherwise.
        expiration: TimeSeconds,
    },
    /// By number. An id is remembered from its placement on. Its *second* is timestamp / 1000.
    /// Ids stand in a timeline ordered by (second, number). One is *due* when
    /// (second + 1) · 1000 + `timestamp_past_ms` is below the time of the command in ms. An applied
    /// placement first takes up to `FORGOTTEN_PER_COMMAND` due ids off the front of the timeline: one
    /// that is not live is forgotten, one that is live leaves the timeline and is forgotten when it
    /// ends. A placement is `Busy` when the timeline holds `remembered_order_ids` or more ids and its
    /// front is not due. Under rules 2 an owner's *share* is max(1,
    /// `remembered_order_ids` / `ORDER_ID_SHARES`), and it *holds* the ids of the timeline whose keys are
    /// its own. A placement is not `Busy` while its owner holds fewer than its share and fewer than
    /// `RESERVED_ORDER_IDS`. It is `TooManyOrderIds`, judged right after that, when its owner holds its
    /// share or more and the front is not due.
    RememberedOrder {
        /// Number.
        order: OrderNumber,
        /// Id.
        id: OrderId,
        /// Signed timestamp.
        timestamp: TimeMs,
        /// What became of it.
        fate: Fate,
        /// Whether it still stands in the timeline.
        in_timeline: bool,
        /// Terms a repeat must share: its type.
        order_type: OrderType,
        /// Its expiration.
        expiration: TimeSeconds,
        /// Its post-only mark.
        post_only: bool,
        /// Its key.
        key: KeyNumber,
    },
    /// By sequence. An applied account action (split, merge, redeem, convert) first forgets up to
    /// `FORGOTTEN_PER_COMMAND` account references, oldest first, whose time + `REFERENCE_MEMORY_NS`
    /// is below its own time. Operators' references stay. Content compares whole: command kind,
    /// account, market or event, amount, questions. As long as the oldest account reference is not
    /// that old, an action with a new reference is `TooManyReferences` when its account holds
    /// `MAX_REFERENCES_PER_ACCOUNT` or more, and `Busy` when all accounts together hold
    /// `MAX_REMEMBERED_REFERENCES` or more. This is judged right after the reference was looked up.
    ///
    /// Rules 2 bound accounts one by one. An applied action first forgets as above, but while
    /// `MAX_REMEMBERED_REFERENCES` or more are remembered it also forgets those whose time +
    /// `REQUEST_MEMORY_NS` is below its own; then it forgets up to
    /// `FORGOTTEN_PER_COMMAND` references of its own account, oldest first, while the account holds
    /// `REFERENCES_PER_ACCOUNT` or more. A merge or redeem is never refused for memory. A split or
    /// convert with a new reference is `TooManyReferences` when its account holds
    /// `REFERENCES_PER_ACCOUNT` or more and the time of the account's oldest + `REQUEST_MEMORY_NS` is
    /// not below the time of the command.
    RememberedReference {
        /// Which command used it.
        sequence: Sequence,
        /// Its time.
        time: TimeNs,
        /// Scope: an account, or `None` for deposits and withdrawals.
        scope: Option<AccountNumber>,
        /// The reference.
        reference: Reference,
        /// [`crate::Command::code`] of the command.
        code: u16,
        /// Account acted on (deposits, withdrawals too; 0 for fees).
        account: AccountNumber,
        /// Market or event number; 0 without.
        object: u32,
        /// Micros or lots; 0 for redeem.
        amount: u64,
        /// Questions of a convert.
        questions: QuestionSet,
        /// Collateral of the outcome, where it has one.
        collateral: Micros,
    },
    /// By sequence. An applied cancel with a request first forgets up to `FORGOTTEN_PER_COMMAND`
    /// requests, oldest first, whose time + `REQUEST_MEMORY_NS` is below its own; and then one more, the
    /// oldest, if `MAX_REMEMBERED_REQUESTS` are still there. A request is looked up by (owner, digest).
    /// Rules 2 remember none: the switch to them forgets all.
    RememberedRequest {
        /// Its command.
        sequence: Sequence,
        /// Its time.
        time: TimeNs,
        /// Whose.
        owner: AccountNumber,
        /// Digest.
        request: Digest16,
        /// The last command of its work so far.
        last: Sequence,
        /// Orders ended so far.
        cancelled: u32,
    },
}
