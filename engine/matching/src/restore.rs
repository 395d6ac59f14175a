//! An exchange being rebuilt from the canonical list of its records.
//!
//! Each record is checked as far as later code relies on it without looking: numbers name things
//! that are there, amounts stay within their bounds, prices lie on their ladders. What takes the
//! whole state to see, such as conservation, the invariants check at the end.

mod holdings;
mod memory;
mod records;
mod registry;

use foretell_model::digest::StateRecord;
use foretell_model::quantity::PRICE_ONE;
use foretell_model::{AccountNumber, MarketNumber, OrderId, OrderNumber, Outcome, TimeNs};

use crate::capacity::Capacity;
use crate::exchange::Exchange;
use crate::image::RestoreError;
use crate::order_pool::BookSide;

/// Why a record cannot be, if it cannot.
type Checked = Result<(), &'static str>;

fn check(condition: bool, what: &'static str) -> Checked {
    if condition { Ok(()) } else { Err(what) }
}

/// Place of a record in the list: its kind, then what its kind is ordered by.
type Place = (u8, [u64; 4]);

const ACCOUNTS: u8 = 3;
const ORDERS: u8 = 8;
/// Past every kind.
const END: u8 = u8::MAX;

/// The exchange so far, and what later records must make good.
pub(crate) struct Restoring {
    exchange: Exchange,
    /// Records taken.
    count: u64,
    /// Place of the last one.
    last: Place,
    /// Live orders each account says it has.
    live_orders: Vec<u32>,
    /// Questions each event says it has.
    questions: Vec<u32>,
    /// Resting orders whose remembered ids are still to come, with the ids they stated; once all
    /// orders are in, the order with the lowest number is the last.
    unremembered: Vec<(OrderNumber, u32, OrderId)>,
}

impl Restoring {
    pub(crate) fn new(capacity: Capacity, index_key: u64) -> Self {
        Self {
            exchange: Exchange::new(capacity, index_key),
            count: 0,
            last: (0, [0; 4]),
            live_orders: Vec::new(),
            questions: Vec::new(),
            unremembered: Vec::new(),
        }
    }

    /// How many records were taken.
    pub(crate) const fn count(&self) -> u64 {
        self.count
    }

    /// Takes the next record in.
    pub(crate) fn take(&mut self, record: &StateRecord) -> Result<(), RestoreError> {
        let taken = self.turn_to(record).and_then(|()| self.put(record));
        self.because(taken)?;
        self.count += 1;
        Ok(())
    }

    /// The exchange, once nothing is missing and everything agrees.
    pub(crate) fn finish(mut self) -> Result<Exchange, RestoreError> {
        let whole = self.end();
        self.because(whole)?;
        let exchange = self.exchange;
        exchange
            .check_invariants()
            .map_err(RestoreError::Contradiction)?;
        Ok(exchange)
    }

    /// Passes when nothing is missing.
    fn end(&mut self) -> Checked {
        check(self.count > 0, "it is missing: there are no records")?;
        self.complete(END)?;
        check(
            self.unremembered.is_empty(),
            "it is missing: an order rests whose id is not remembered",
        )?;
        self.check_promises()?;
        self.check_pending()
    }

    fn check_account(&self, account: AccountNumber) -> Checked {
        check(
            self.exchange.accounts.get(account).is_some(),
            "its account is not known",
        )
    }

    fn check_pair(&self, account: AccountNumber, market: MarketNumber) -> Checked {
        self.check_account(account)?;
        check(
            self.exchange.markets.get(market).is_ok(),
            "its market is not known",
        )
    }

    fn check_sequence(&self, sequence: u64) -> Checked {
        check(
            (1..=self.exchange.system.sequence.0).contains(&sequence),
            "it comes from a command that was not",
        )
    }

    fn check_time(&self, time: TimeNs) -> Checked {
        check(
            time <= self.exchange.system.time,
            "it comes from a time that was not",
        )
    }

    fn because(&self, checked: Checked) -> Result<(), RestoreError> {
        let record = self.count;
        checked.map_err(|what| RestoreError::Impossible { record, what })
    }

    /// Passes a record that may come now: each kind after the one before it, in its order, each
    /// record once, and the exchange as a whole first.
    fn turn_to(&mut self, record: &StateRecord) -> Checked {
        let place = place_of(record);
        check((place.0 == 1) == (self.count == 0), "it is not the first")?;
        check(place > self.last, "it is not in its place of the list")?;
        self.complete(place.0)?;
        self.last = place;
        Ok(())
    }

    /// What can be linked only when the last record of a kind is in.
    fn complete(&mut self, next: u8) -> Checked {
        let ends = |kind: u8| self.last.0 <= kind && kind < next;
        let (accounts_end, orders_end) = (ends(ACCOUNTS), ends(ORDERS));
        if accounts_end {
            self.bind_wallets()?;
        }
        if orders_end {
            self.list_orders_of_accounts()?;
        }
        Ok(())
    }
}

/// Where a record stands in the list.
fn place_of(record: &StateRecord) -> Place {
    match *record {
        StateRecord::System { .. } => (1, [0; 4]),
        StateRecord::Domain { domain, .. } => (2, [domain.0.into(), 0, 0, 0]),
        StateRecord::Account { account, .. } => (ACCOUNTS, [account.0.into(), 0, 0, 0]),
        StateRecord::Key { key, .. } => (4, [key.0.into(), 0, 0, 0]),
        StateRecord::Event { event, .. } => (5, [event.0.into(), 0, 0, 0]),
        StateRecord::Market { market, .. } => (6, [market.0.into(), 0, 0, 0]),
        StateRecord::Position {
            account, market, ..
        } => (7, [account.0.into(), market.0.into(), 0, 0]),
        StateRecord::Order {
            order,
            market,
            outcome,
            side,
            price,
            ..
        } => {
            let side = BookSide::of(outcome, side);
            // Saturating, because nobody has looked at the price yet.
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
        StateRecord::RememberedOrder { order, .. } => (9, [order.0, 0, 0, 0]),
        StateRecord::RememberedReference { sequence, .. } => (10, [sequence.0, 0, 0, 0]),
        StateRecord::RememberedRequest { sequence, .. } => (11, [sequence.0, 0, 0, 0]),
    }
}
