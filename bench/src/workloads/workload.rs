//! Converts a stream's commands to exchange commands with accounts and order ids.

use std::collections::BTreeMap;

use foretell_matching::{Capacity, Exchange};
use foretell_model::command::CancelOrder;
use foretell_model::limits::MAX_EVENTS;
use foretell_model::{
    AccountNumber, Command, Lots, MarketNumber, OrderId, Outcome, Side, TimeNs, Verdict,
};

use super::random::{Ranks, random_bytes, seeded};
use super::stream::{Action, Entry, Stream};
use super::venue::{self, Account, FEE_PPM, LimitOrder, START_NS, Venue, opening_time};
use crate::baselines::array_book::ArrayBook;
use crate::error::MeasureError;

/// Accounts per side of a realistic stream.
const ACCOUNTS_PER_SIDE: u32 = 5_000;
/// Interval between commands: 100,000 a second.
pub(crate) const STEP_NS: u64 = 10_000;
/// Fixed key of the hash tables, for reproducible runs.
pub(crate) const INDEX_KEY: u64 = 0x5EED;
/// Maximum fee per lot: a fee of 2% with exponent 1 is at most 50 micros; plus rounding.
const HIGHEST_FEE_PER_LOT: u64 = 51;
const SEED: u64 = 2;

/// How stream commands become exchange commands. Buyers have even account numbers and sellers odd
/// ones, so taker and maker always differ.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum WorkloadKind {
    /// Two accounts, sequential ids, no fee.
    Plain,
    /// 10,000 accounts with Zipf-distributed activity, random 32-byte ids, a 2% fee.
    Realistic,
}

/// A stream with the account of every command.
pub(crate) struct Workload<'a> {
    pub(crate) stream: &'a Stream,
    kind: WorkloadKind,
    accounts: Vec<u32>,
}

impl<'a> Workload<'a> {
    pub(crate) fn new(stream: &'a Stream, kind: WorkloadKind) -> Self {
        let (ranks, mut random) = (Ranks::new(accounts_per_side(kind)), seeded(SEED));
        let mut of_order = vec![0; stream.orders() as usize + 1];
        let accounts = stream.entries().iter().map(|entry| {
            let account = &mut of_order[entry.id as usize];
            if entry.action != Action::Cancel {
                let side = u32::from(entry.action == Action::Sell);
                *account = ranks.draw(&mut random) * 2 + side;
            }
            *account
        });
        Self {
            stream,
            kind,
            accounts: accounts.collect(),
        }
    }

    /// Every command of the stream with its account.
    fn entries(&self) -> impl Iterator<Item = (&Entry, u32)> {
        self.stream
            .entries()
            .iter()
            .zip(self.accounts.iter().copied())
    }

    /// The command at an index of the stream.
    pub(crate) fn command(&self, at: usize) -> Command {
        let (entry, account) = (&self.stream.entries()[at], self.accounts[at]);
        let order = self.order_id(entry.id);
        let side = match entry.action {
            Action::Buy => Side::Buy,
            Action::Sell => Side::Sell,
            Action::Cancel => {
                let owner = AccountNumber(account);
                return Command::CancelOrder(CancelOrder { owner, order });
            }
        };
        let limit = LimitOrder {
            account,
            market: entry.book,
            outcome: Outcome::Yes,
            side,
            lots: entry.quantity.into(),
            cents: entry.price.into(),
        };
        Command::PlaceOrder(limit.placement(order, time(at).millis()))
    }

    fn order_id(&self, id: u32) -> OrderId {
        OrderId(match self.kind {
            WorkloadKind::Plain => venue::name(id, 0),
            WorkloadKind::Realistic => random_bytes(id.into()),
        })
    }

    /// Markets and accounts with funds that suffice however the orders trade.
    pub(crate) fn venue(&self) -> Venue {
        let mut collateral = vec![0; 2 * accounts_per_side(self.kind) as usize];
        let mut shares = BTreeMap::<_, u64>::new();
        for (entry, account) in self.entries() {
            let lots = u64::from(entry.quantity);
            let collateral = &mut collateral[account as usize];
            match entry.action {
                Action::Cancel => {}
                Action::Buy => {
                    let value = u64::from(entry.price) * venue::UNITS_PER_CENT;
                    *collateral += lots * (value + HIGHEST_FEE_PER_LOT);
                }
                Action::Sell => {
                    let key = (AccountNumber(account), MarketNumber(entry.book));
                    *shares.entry(key).or_default() += lots;
                    *collateral += Lots(lots).full_value().0;
                }
            }
        }
        let accounts = (0..).zip(collateral);
        Venue {
            settings: Venue::open_settings(self.stream.orders()),
            markets: self.stream.markets(),
            fee_ppm: match self.kind {
                WorkloadKind::Plain => 0,
                WorkloadKind::Realistic => FEE_PPM,
            },
            accounts: accounts
                .map(|(number, collateral)| Account::new(venue::wallet(number), collateral))
                .collect(),
            shares,
        }
    }

    /// Capacity for the stream, so that nothing has to grow.
    pub(crate) fn capacity(&self, venue: &Venue) -> Capacity {
        let bought = self
            .entries()
            .filter(|(entry, _)| entry.action == Action::Buy);
        let mut bought: Vec<_> = bought
            .map(|(entry, account)| (account, entry.book))
            .collect();
        bought.sort_unstable();
        bought.dedup();
        let accounts = venue.accounts.len();
        Capacity {
            accounts,
            keys: accounts,
            markets: venue.markets as usize,
            events: 0,
            orders: self.peak_orders(),
            expiring_orders: 0,
            delayed_orders: 0,
            positions: venue.shares.len() + bought.len() + 1,
            order_ids: self.stream.orders() as usize,
            timestamp_seconds: 1 << 10,
            references: venue.shares.len() + accounts,
        }
    }

    /// Maximum number of simultaneously resting orders.
    fn peak_orders(&self) -> usize {
        let mut book = ArrayBook::of(self.stream);
        let live = self.stream.entries().iter().map(|entry| {
            book.apply(entry);
            book.live()
        });
        live.max().unwrap_or(0)
    }
}

const fn accounts_per_side(kind: WorkloadKind) -> u32 {
    match kind {
        WorkloadKind::Plain => 1,
        WorkloadKind::Realistic => ACCOUNTS_PER_SIDE,
    }
}

/// An exchange with all markets of a venue open and all accounts funded.
pub(crate) fn open(venue: &Venue, capacity: Capacity) -> Result<Exchange, MeasureError> {
    let mut exchange = Exchange::new(capacity, INDEX_KEY);
    let mut events = Vec::with_capacity(MAX_EVENTS);
    let left = (1..=venue.commands().count() as u64).rev();
    for (command, left) in venue.commands().zip(left) {
        events.clear();
        match exchange.apply(&command, opening_time(left), &mut events) {
            Verdict::Applied(_) => {}
            verdict => return Err(MeasureError::Wrong(format!("{command:?}: {verdict:?}"))),
        }
    }
    Ok(exchange)
}

/// Time of the command at an index.
pub(crate) const fn time(at: usize) -> TimeNs {
    TimeNs(START_NS + at as u64 * STEP_NS)
}

#[cfg(test)]
mod tests {
    use foretell_model::limits::REFERENCES_PER_ACCOUNT;

    use super::*;

    /// The seller of such a stream splits in every market.
    #[test]
    fn an_account_splits_in_more_markets_than_it_has_references_at_once() {
        let sales = (0..=REFERENCES_PER_ACCOUNT).map(|book| Entry {
            action: Action::Sell,
            price: 50,
            quantity: 1,
            book,
            id: book + 1,
        });
        let stream = Stream::new(sales.collect());
        let workload = Workload::new(&stream, WorkloadKind::Plain);
        let venue = workload.venue();
        let exchange = open(&venue, workload.capacity(&venue)).unwrap();
        assert_eq!(exchange.sequence().0, venue.commands().count() as u64);
    }
}
