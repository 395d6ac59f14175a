//! The state of the exchange as a canonical list of records, and its digest.
//!
//! Whoever holds the state (the core, its naive twin, an auditor) lists it in the order of the
//! variants below, each kind in the order its variant names; equal states give equal lists and so
//! equal digests, whatever the layout in memory. What the records hold *is* the state: nothing
//! else may influence a later command.

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
    Killed(RefusalReason),
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
    /// front is not due.
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

/// Collects records into the digest of the state.
pub struct StateDigest {
    hasher: blake3::Hasher,
    scratch: Vec<u8>,
}

impl Default for StateDigest {
    fn default() -> Self {
        Self {
            hasher: blake3::Hasher::new_derive_key("foretell state digest v1"),
            scratch: Vec::with_capacity(256),
        }
    }
}

impl StateDigest {
    /// Adds the next record.
    pub fn push(&mut self, record: &StateRecord) {
        self.scratch.clear();
        encode(record, &mut Writer(&mut self.scratch));
        self.hasher.update(&self.scratch);
    }

    /// The digest of all records pushed.
    #[must_use]
    pub fn finish(&self) -> [u8; 32] {
        *self.hasher.finalize().as_bytes()
    }
}

struct Writer<'a>(&'a mut Vec<u8>);

impl Writer<'_> {
    fn u8(&mut self, value: u8) -> &mut Self {
        self.0.push(value);
        self
    }
    fn u16(&mut self, value: u16) -> &mut Self {
        self.bytes(&value.to_le_bytes())
    }
    fn u32(&mut self, value: u32) -> &mut Self {
        self.bytes(&value.to_le_bytes())
    }
    fn u64(&mut self, value: u64) -> &mut Self {
        self.bytes(&value.to_le_bytes())
    }
    fn flag(&mut self, value: bool) -> &mut Self {
        self.u8(u8::from(value))
    }
    fn bytes(&mut self, value: &[u8]) -> &mut Self {
        self.0.extend_from_slice(value);
        self
    }
    fn pair(&mut self, value: [Lots; 2]) -> &mut Self {
        self.u64(value[0].0).u64(value[1].0)
    }
    fn optional_u32(&mut self, value: Option<u32>) -> &mut Self {
        self.flag(value.is_some()).u32(value.unwrap_or(0))
    }
}

/// Each record starts with a tag of its own, and has a fixed layout after it.
#[allow(clippy::too_many_lines)] // one arm a record: cutting it up would hide the layout
fn encode(record: &StateRecord, out: &mut Writer<'_>) {
    match *record {
        StateRecord::System {
            rules,
            sequence,
            time,
            mode,
            settings,
            timestamp_floor,
            collateral,
            fees,
            pending,
        } => {
            out.u8(1)
                .u32(rules)
                .u64(sequence.0)
                .u64(time.0)
                .u8(mode.code());
            out.u64(settings.timestamp_past_ms)
                .u64(settings.timestamp_future_ms);
            out.u64(settings.marketable_minimum.0)
                .u64(settings.gtd_safety_seconds);
            out.u32(settings.live_orders_per_account)
                .u32(settings.remembered_order_ids);
            out.u64(timestamp_floor.0).u64(collateral.0).u64(fees.0);
            encode_pending(pending, out);
        }
        StateRecord::Domain { domain, separator } => {
            out.u8(2).u8(domain.0).bytes(&separator);
        }
        StateRecord::Account {
            account,
            wallet,
            owner,
            kind,
            closed_only,
            heartbeat,
            free,
            reserved,
            live_orders,
        } => {
            out.u8(3)
                .u32(account.0)
                .bytes(&wallet.0)
                .u32(owner.0)
                .u8(kind.code());
            out.flag(closed_only)
                .flag(heartbeat)
                .u64(free.0)
                .u64(reserved.0)
                .u32(live_orders);
        }
        StateRecord::Key {
            key,
            api_key,
            owner,
            nonce,
            read_only,
            live,
        } => {
            out.u8(4)
                .u32(key.0)
                .bytes(&api_key.0)
                .u32(owner.0)
                .bytes(&nonce);
            out.flag(read_only).flag(live);
        }
        StateRecord::Event {
            event,
            id,
            frozen,
            questions,
            converted,
        } => {
            out.u8(5)
                .u32(event.0)
                .u64(id.0)
                .flag(frozen)
                .u32(questions)
                .u64(converted.0);
        }
        StateRecord::Market {
            market,
            condition,
            tokens,
            tick,
            tick_refines,
            minimum_size,
            fee,
            question,
            state,
            payout,
            archived,
            supply,
        } => {
            out.u8(6)
                .u32(market.0)
                .bytes(&condition.0)
                .bytes(&tokens[0].0)
                .bytes(&tokens[1].0);
            out.u8(tick as u8).flag(tick_refines).u64(minimum_size.0);
            out.u32(fee.rate_ppm).u8(fee.exponent);
            out.optional_u32(question.map(|(event, _)| event.0));
            out.u32(question.map_or(0, |(_, index)| index))
                .u8(state.code());
            out.u8(payout.map_or(u8::MAX, Payout::code))
                .flag(archived)
                .pair(supply);
        }
        StateRecord::Position {
            account,
            market,
            free,
            reserved,
        } => {
            out.u8(7)
                .u32(account.0)
                .u32(market.0)
                .pair(free)
                .pair(reserved);
        }
        StateRecord::Order {
            order,
            id,
            account,
            market,
            outcome,
            side,
            price,
            lots,
            expiration,
        } => {
            out.u8(8)
                .u64(order.0)
                .bytes(&id.0)
                .u32(account.0)
                .u32(market.0)
                .u8(outcome.code());
            out.u8(side.code())
                .u16(price.0)
                .u64(lots.0)
                .u64(expiration.0);
        }
        StateRecord::RememberedOrder {
            order,
            id,
            timestamp,
            fate,
            in_timeline,
            order_type,
            expiration,
            post_only,
            key,
        } => {
            out.u8(9).u64(order.0).bytes(&id.0).u64(timestamp.0);
            match fate {
                Fate::Live => out.u8(0).u16(0),
                Fate::Done => out.u8(1).u16(0),
                Fate::Killed(reason) => out.u8(2).u16(reason.code()),
            };
            out.flag(in_timeline)
                .u8(order_type.code())
                .u64(expiration.0)
                .flag(post_only)
                .u32(key.0);
        }
        StateRecord::RememberedReference {
            sequence,
            time,
            scope,
            reference,
            code,
            account,
            object,
            amount,
            questions,
            collateral,
        } => {
            out.u8(10)
                .u64(sequence.0)
                .u64(time.0)
                .optional_u32(scope.map(|account| account.0));
            out.bytes(&reference.0)
                .u16(code)
                .u32(account.0)
                .u32(object)
                .u64(amount);
            out.u64(questions.low).u64(questions.high).u64(collateral.0);
        }
        StateRecord::RememberedRequest {
            sequence,
            time,
            owner,
            request,
            last,
            cancelled,
        } => {
            out.u8(11)
                .u64(sequence.0)
                .u64(time.0)
                .u32(owner.0)
                .bytes(&request.0);
            out.u64(last.0).u32(cancelled);
        }
    }
}

fn encode_pending(pending: Option<PendingWork>, out: &mut Writer<'_>) {
    match pending {
        None => out.u8(0),
        Some(PendingWork::CancelOwner {
            owner,
            market,
            outcome,
            reason,
            first,
            request,
        }) => out
            .u8(1)
            .u32(owner.0)
            .optional_u32(market.map(|market| market.0))
            .u8(outcome.map_or(u8::MAX, Outcome::code))
            .u8(reason.code())
            .u64(first.0)
            .bytes(&request.0),
        Some(PendingWork::CloseMarket { market }) => out.u8(2).u32(market.0),
        Some(PendingWork::ClosedOnly { account }) => out.u8(3).u32(account.0),
    };
}
