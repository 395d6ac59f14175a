//! The array book plus the minimum state of an exchange: used order ids, so that none executes
//! twice and cancels can name one, and free, reserved and traded money and shares, fees included.
//! Nothing else: no order checks, no per-account order lists, no expiry, one token, no restorable
//! state.
//!
//! It shows the cost of two good hash maps and four sums next to a book, not a lower bound.

use std::collections::HashMap;
use std::hash::Hash;
use std::hint::black_box;

use foldhash::fast::RandomState;
use foretell_model::OrderId;

use crate::baselines::array_book::{ArrayBook, BookObserver};
use crate::harness::latency::processor_nanos;
use crate::measure::step::BURST;
use crate::workloads::stream::{Action, Entry};
use crate::workloads::totals::Totals;
use crate::workloads::venue::Funding;
use crate::workloads::workload::Workload;

/// Commands prefetched together, so that their cache misses overlap as in the core.
const AHEAD: usize = 16;
/// Micros per lot at one cent.
const MICROS_PER_CENT: u64 = 100;
const CENTS_PER_SHARE: u64 = 100;
/// The fee is 2% of price times complement: in cents, and per lot in micros, a fiftieth.
const FEE_PART: u64 = 50;

/// Micros or lots.
#[derive(Clone, Copy, Default)]
struct Balance {
    free: u64,
    reserved: u64,
}

impl Balance {
    const fn of(free: u64) -> Self {
        Self { free, reserved: 0 }
    }
}

/// A command with its account and order id.
struct AccountCommand {
    entry: Entry,
    account: u32,
    id: OrderId,
}

#[derive(Clone, Copy)]
struct Owner {
    account: u32,
    market: u32,
    buys: bool,
}

/// One lap over a realistic stream with room for `positions`: CPU time in nanoseconds, and the
/// totals. `None` if funds were short, an id was used twice, a cancel named no order of its
/// account, or money was created.
pub(crate) fn lap(
    workload: &Workload<'_>,
    funding: &Funding,
    positions: usize,
) -> Option<(u64, Totals)> {
    let (mut book, mut totals) = (ArrayBook::new(workload.stream), Totals::default());
    let mut accounts = Accounts::new(workload, funding, positions);
    let before = accounts.all_money();
    let commands: Vec<_> = workload.entries().collect();
    let mut burst = Vec::with_capacity(BURST);
    let mut nanos = 0;
    for chunk in commands.chunks(BURST) {
        burst.clear();
        burst.extend(chunk.iter().map(|(entry, account)| AccountCommand {
            entry: **entry,
            account: account.0,
            id: workload.order_id(entry.id),
        }));
        let begun = processor_nanos();
        for some in burst.chunks(AHEAD) {
            some.iter().for_each(|command| accounts.prefetch(command));
            for command in some {
                accounts.admit(command)?;
                book.apply_observed(&command.entry, &mut totals, &mut accounts);
            }
        }
        nanos += processor_nanos() - begun;
    }
    let is_sound = !accounts.is_short && accounts.all_money() == before;
    is_sound.then_some((nanos, totals))
}

/// Money and shares of all accounts, and all used ids.
struct Accounts {
    /// Number of each order by id.
    ids: HashMap<OrderId, u32, RandomState>,
    money: Vec<Balance>,
    /// By account and market.
    shares: HashMap<(u32, u32), Balance, RandomState>,
    /// Owner of each order, by number.
    owners: Vec<Owner>,
    fees: u64,
    /// Set if an account had less than was taken.
    is_short: bool,
}

impl Accounts {
    /// Touches all memory in advance, as the core does.
    fn new(workload: &Workload<'_>, funding: &Funding, positions: usize) -> Self {
        let orders = workload.stream.orders();
        let mut ids = with_room((0..=orders).map(|number| workload.order_id(number)), 0_u32);
        ids.clear();
        let mut shares_of = with_room(
            (0..room(positions)).map(|key| (key, key)),
            Balance::default(),
        );
        shares_of.clear();
        let nobody = Owner {
            account: 0,
            market: 0,
            buys: false,
        };
        let shares = funding.shares.iter();
        for ((account, market), lots) in shares {
            shares_of.insert((account.0, market.0), Balance::of(*lots));
        }
        let money = funding.collateral.iter();
        Self {
            ids,
            money: money.map(|micros| Balance::of(*micros)).collect(),
            shares: shares_of,
            owners: vec![nobody; orders as usize + 1],
            fees: 0,
            is_short: false,
        }
    }

    /// Free, reserved, and collected as fees.
    fn all_money(&self) -> u64 {
        let held = self.money.iter().map(|money| money.free + money.reserved);
        held.sum::<u64>() + self.fees
    }

    fn prefetch(&self, command: &AccountCommand) {
        let shares = self
            .shares
            .contains_key(&(command.account, command.entry.book));
        black_box((self.ids.contains_key(&command.id), shares));
    }

    /// Checks that an order's id is new, or that a cancel names an order of its owner.
    fn admit(&mut self, AccountCommand { entry, account, id }: &AccountCommand) -> Option<()> {
        if entry.action == Action::Cancel {
            let number = *self.ids.get(id)?;
            let is_own = self.owners[number as usize].account == *account;
            return (is_own && number == entry.id).then_some(());
        }
        self.owners[entry.id as usize] = Owner {
            account: *account,
            market: entry.book,
            buys: entry.action == Action::Buy,
        };
        self.ids.insert(*id, entry.id).is_none().then_some(())
    }

    fn money_of(&mut self, owner: Owner) -> &mut Balance {
        &mut self.money[owner.account as usize]
    }

    fn shares_of(&mut self, owner: Owner) -> &mut Balance {
        let key = (owner.account, owner.market);
        self.shares.entry(key).or_default()
    }

    /// The balance that an order reserves from, and the amount for `quantity` lots at a price.
    fn reservation(&mut self, owner: Owner, price: u8, quantity: u32) -> (&mut Balance, u64) {
        match owner.buys {
            true => (self.money_of(owner), value(price, quantity)),
            false => (self.shares_of(owner), quantity.into()),
        }
    }

    fn subtract(&mut self, amount: u64, from: impl FnOnce(&mut Self) -> &mut u64) {
        let from = from(self);
        match from.checked_sub(amount) {
            Some(left) => *from = left,
            None => self.is_short = true,
        }
    }
}

impl BookObserver for Accounts {
    fn on_trade(&mut self, order: &Entry, maker: u32, price: u8, quantity: u32) {
        let (taker, maker) = (self.owners[order.id as usize], self.owners[maker as usize]);
        let (value, fee) = (value(price, quantity), fee(price, quantity));
        let lots = u64::from(quantity);
        if taker.buys {
            self.subtract(value + fee, |own| &mut own.money_of(taker).free);
            self.shares_of(taker).free += lots;
            self.subtract(lots, |own| &mut own.shares_of(maker).reserved);
            self.money_of(maker).free += value;
        } else {
            self.subtract(lots, |own| &mut own.shares_of(taker).free);
            self.money_of(taker).free += value - fee;
            self.subtract(value, |own| &mut own.money_of(maker).reserved);
            self.shares_of(maker).free += lots;
        }
        self.fees += fee;
    }

    fn on_rest(&mut self, order: &Entry, quantity: u32) {
        let owner = self.owners[order.id as usize];
        let (balance, amount) = self.reservation(owner, order.price, quantity);
        balance.reserved += amount;
        self.subtract(amount, |own| {
            &mut own.reservation(owner, order.price, 0).0.free
        });
    }

    fn on_cancel(&mut self, id: u32, price: u8, quantity: u32) {
        let owner = self.owners[id as usize];
        let (balance, amount) = self.reservation(owner, price, quantity);
        balance.free += amount;
        self.subtract(amount, |own| {
            &mut own.reservation(owner, price, 0).0.reserved
        });
    }
}

fn room(positions: usize) -> u32 {
    u32::try_from(positions).unwrap_or(u32::MAX)
}

/// A map that has held all these keys.
fn with_room<K: Eq + Hash, V: Copy>(
    keys: impl Iterator<Item = K>,
    value: V,
) -> HashMap<K, V, RandomState> {
    keys.map(|key| (key, value)).collect()
}

/// Micros of `quantity` lots.
fn value(price: u8, quantity: u32) -> u64 {
    u64::from(price) * MICROS_PER_CENT * u64::from(quantity)
}

fn fee(price: u8, quantity: u32) -> u64 {
    let price = u64::from(price);
    (price * (CENTS_PER_SHARE - price) * u64::from(quantity)).div_ceil(FEE_PART)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workloads::workload::WorkloadKind;

    #[test]
    fn it_matches_the_bare_book_and_conserves_money() {
        let stream = crate::generate(3, 20_000, 300).unwrap();
        let workload = Workload::new(&stream, WorkloadKind::Realistic);
        let (_, found) = lap(&workload, &Funding::of(&workload), 1_000).unwrap();
        let (mut book, mut totals) = (ArrayBook::new(&stream), Totals::default());
        for entry in stream.entries() {
            book.apply(entry, &mut totals);
        }
        assert_eq!(found, totals);
    }

    #[test]
    fn insufficient_funds_are_detected() {
        let stream = crate::generate(3, 2_000, 300).unwrap();
        let workload = Workload::new(&stream, WorkloadKind::Realistic);
        let mut funding = Funding::of(&workload);
        funding.collateral.fill(0);
        assert!(lap(&workload, &funding, 1_000).is_none());
    }
}
