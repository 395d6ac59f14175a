//! Rebuilds an exchange from the canonical list of its records.
//!
//! Each record is checked as far as later code relies on it: numbers refer to existing items,
//! amounts stay within bounds, prices are on their ladders. Checks that need the whole state, such
//! as conservation, run at the end as invariants.

mod holdings;
mod idempotency;
mod market_life;
mod records;
mod registry;
mod waiting;

use std::collections::VecDeque;

use foretell_model::quantity::PRICE_ONE;
use foretell_model::state::{self, StateRecord};
use foretell_model::{AccountNumber, MarketNumber, OrderId, OrderNumber, Outcome, TimeNs};

use crate::capacity::Capacity;
use crate::exchange::Exchange;
use crate::image::RestoreError;
use crate::operators::Operators;
use crate::order_pool::BookSide;

/// Err: why a record is invalid.
type Checked = Result<(), &'static str>;

fn check(condition: bool, what: &'static str) -> Checked {
    if condition { Ok(()) } else { Err(what) }
}

/// Sort key of a record in the list: its kind, then the fields that its kind is sorted by.
type SortKey = (u8, [u64; 4]);

const ACCOUNTS: u8 = 3;
const ORDERS: u8 = 8;
/// Kind number after every kind.
const BACKGROUND: u8 = 20;
const END: u8 = u8::MAX;

/// The exchange so far, and counts that later records must confirm.
pub(crate) struct Restorer {
    exchange: Exchange,
    /// Records read.
    count: u64,
    /// Sort key of the last record.
    last: SortKey,
    /// By account: stated number of live orders.
    live_orders: Vec<u32>,
    /// By event group: stated number of questions.
    questions: Vec<u32>,
    /// Resting orders whose id records are still to come, with the stated ids. Once all orders are
    /// read, they are sorted so that the lowest number is last.
    awaiting_id: Vec<(OrderNumber, u32, OrderId)>,
    /// Ids of delayed orders whose records are still to come, as number and slot. By number.
    awaiting_delayed: VecDeque<(OrderNumber, u32)>,
    /// All live orders with their slots, for the lists of accounts.
    live: Vec<(OrderNumber, u32)>,
    /// Whether the site's record was read.
    has_site: bool,
}

impl Restorer {
    pub(crate) fn new(capacity: Capacity, index_key: u64) -> Self {
        let mut exchange = Exchange::new(capacity, index_key);
        exchange.operators = Operators::none();
        Self {
            exchange,
            count: 0,
            last: (0, [0; 4]),
            live_orders: Vec::new(),
            questions: Vec::new(),
            awaiting_id: Vec::new(),
            awaiting_delayed: VecDeque::new(),
            live: Vec::new(),
            has_site: false,
        }
    }

    /// Number of records read.
    pub(crate) const fn count(&self) -> u64 {
        self.count
    }

    /// Adds the next record.
    pub(crate) fn take(&mut self, record: &StateRecord) -> Result<(), RestoreError> {
        let taken = self.check_order(record).and_then(|()| self.put(record));
        self.at_record(taken)?;
        self.count += 1;
        Ok(())
    }

    /// Returns the exchange after all checks at the end of the list.
    pub(crate) fn finish(mut self) -> Result<Exchange, RestoreError> {
        let whole = self.end();
        self.at_record(whole)?;
        let exchange = self.exchange;
        exchange
            .check_invariants()
            .map_err(RestoreError::Contradiction)?;
        Ok(exchange)
    }

    /// Rejects a list that ends too early.
    fn end(&mut self) -> Checked {
        check(self.count > 0, "the list is empty")?;
        self.complete(END)?;
        check(
            self.awaiting_id.is_empty(),
            "a resting order has no remembered id",
        )?;
        check(self.awaiting_delayed.is_empty(), "a live id has no order")?;
        self.check_site()?;
        self.link_account_orders()?;
        self.check_stated_counts()?;
        self.check_pending()?;
        self.start_clock();
        Ok(())
    }

    fn check_account(&self, account: AccountNumber) -> Checked {
        check(
            self.exchange.accounts.get(account).is_some(),
            "unknown account",
        )
    }

    fn check_pair(&self, account: AccountNumber, market: MarketNumber) -> Checked {
        self.check_account(account)?;
        check(
            self.exchange.markets.get_any(market).is_some(),
            "unknown market",
        )
    }

    fn check_sequence(&self, sequence: u64) -> Checked {
        check(
            (1..=self.exchange.system.sequence.0).contains(&sequence),
            "its sequence is 0 or after the last command",
        )
    }

    fn check_time(&self, time: TimeNs) -> Checked {
        check(
            time <= self.exchange.system.time,
            "its time is after the last command's",
        )
    }

    fn at_record(&self, checked: Checked) -> Result<(), RestoreError> {
        let record = self.count;
        checked.map_err(|what| RestoreError::Impossible { record, what })
    }

    /// Checks the position of a record in the list: kinds in order, records of a kind in order and
    /// without duplicates, and the `System` record first.
    fn check_order(&mut self, record: &StateRecord) -> Checked {
        let key = sort_key(record);
        check(
            (key.0 == 1) == (self.count == 0),
            "only the first record is the system record",
        )?;
        // Released orders of one price may have any numbers, and one command may start two settlements;
        // other duplicates are found later.
        let is_arrival = key.0 == ORDERS && key.1[..3] == self.last.1[..3]
            || key.0 == BACKGROUND && key == self.last;
        check(
            key > self.last || (key.0 == self.last.0 && is_arrival),
            "records are out of order",
        )?;
        self.complete(key.0)?;
        self.last = key;
        Ok(())
    }

    /// Links that need all records of a kind.
    fn complete(&mut self, next: u8) -> Checked {
        let ends = |kind: u8| self.last.0 <= kind && kind < next;
        let (accounts_end, orders_end) = (ends(ACCOUNTS), ends(ORDERS));
        if accounts_end {
            self.bind_wallets()?;
        }
        if orders_end {
            self.sort_awaiting()?;
        }
        Ok(())
    }
}

/// The sort key of a record.
fn sort_key(record: &StateRecord) -> SortKey {
    match *record {
        StateRecord::System(_) => (1, [0; 4]),
        StateRecord::Domain(state::Domain { domain, .. }) => (2, [domain.0.into(), 0, 0, 0]),
        StateRecord::Account(state::Account { account, .. }) => {
            (ACCOUNTS, [account.0.into(), 0, 0, 0])
        }
        StateRecord::Key(state::Key { key, .. }) => (4, [key.0.into(), 0, 0, 0]),
        StateRecord::Event(state::Event { event, .. }) => (5, [event.0.into(), 0, 0, 0]),
        StateRecord::Market(state::Market { market, .. }) => (6, [market.0.into(), 0, 0, 0]),
        StateRecord::Position(state::Position {
            account, market, ..
        }) => (7, [account.0.into(), market.0.into(), 0, 0]),
        StateRecord::Order(state::Order {
            order,
            market,
            outcome,
            side,
            price,
            ..
        }) => {
            let side = BookSide::of(outcome, side);
            // Saturating, because the price is not checked yet.
            let yes_price = match outcome {
                Outcome::Yes => price.0,
                Outcome::No => PRICE_ONE.saturating_sub(price.0),
            };
            let rank = match side {
                BookSide::Bid => u16::MAX - yes_price,
                BookSide::Ask => yes_price,
            };
            (ORDERS, [market.0.into(), side as u64, rank.into(), order.0])
        }
        StateRecord::RememberedOrder(state::RememberedOrder { order, .. }) => {
            (9, [order.0, 0, 0, 0])
        }
        StateRecord::RememberedReference(state::RememberedReference { sequence, .. }) => {
            (10, [sequence.0, 0, 0, 0])
        }
        StateRecord::Site(_) => (11, [0; 4]),
        StateRecord::Operator(state::Operator { operator, .. }) => {
            (12, [operator.0.into(), 0, 0, 0])
        }
        StateRecord::Terms(state::Terms { market, .. }) => (13, [market.0.into(), 0, 0, 0]),
        StateRecord::Policy(state::Policy { market, .. }) => (14, [market.0.into(), 0, 0, 0]),
        StateRecord::ListedWallet(state::ListedWallet {
            market, account, ..
        }) => {
            let list = market.map_or(0, |market| u64::from(market.0) + 1);
            (15, [list, account.0.into(), 0, 0])
        }
        StateRecord::Proposal(state::Proposal { market, .. }) => (16, [market.0.into(), 0, 0, 0]),
        StateRecord::Accrued(state::Accrued { account, .. }) => (17, [account.0.into(), 0, 0, 0]),
        StateRecord::DelayedOrder(state::DelayedOrder { order, .. }) => (18, [order.0, 0, 0, 0]),
        StateRecord::HeldWithdrawal(state::HeldWithdrawal { sequence, .. }) => {
            (19, [sequence.0, 0, 0, 0])
        }
        StateRecord::Background(state::Background { first, .. }) => {
            (BACKGROUND, [first.0, 0, 0, 0])
        }
    }
}
