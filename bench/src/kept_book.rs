//! The array book with the least an exchange must keep beside it: which ids were used, so that none is
//! executed twice and cancels can name one, and whose money and shares are free, reserved and traded,
//! fees included. Nothing else: no order is checked, no account has a list of its orders, nothing expires or is
//! forgotten, there is one token, and no state that could be restored.
//!
//! It says what two good hash maps and four sums beside a book cost, not what they must cost.

use std::collections::HashMap;
use std::hash::Hash;
use std::hint::black_box;

use foldhash::fast::RandomState;
use foretell_model::OrderId;

use crate::array_book::{ArrayBook, Keeper};
use crate::dress::Dressed;
use crate::latency::processor_nanos;
use crate::step::BURST;
use crate::stream::{Action, Entry};
use crate::totals::Totals;
use crate::venue::Needs;

/// Commands that are looked at together before their turn: so their waits for memory overlap, as the
/// core's do.
const AHEAD: usize = 16;
/// Micros of a lot at a cent.
const MICROS_PER_CENT: u64 = 100;
const CENTS_PER_SHARE: u64 = 100;
/// The fee is 2% of a price times its complement: of cents, and in micros a lot, a fiftieth.
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

/// A command, by whom, and about which order.
struct Asked {
    entry: Entry,
    account: u32,
    id: OrderId,
}

/// Whose order it is.
#[derive(Clone, Copy)]
struct Owner {
    account: u32,
    market: u32,
    buys: bool,
}

/// One lap over a dressed stream, with room for as many `positions`: nanoseconds of processor time, and what
/// happened; `None` when somebody had less than an order needs, an id came twice, a cancel named no order of its
/// own, or money came from nowhere.
pub(crate) fn lap(dressed: &Dressed<'_>, needs: &Needs, positions: usize) -> Option<(u64, Totals)> {
    let (mut book, mut totals) = (ArrayBook::new(dressed.stream), Totals::default());
    let mut accounts = Accounts::new(dressed, needs, positions);
    let before = accounts.all_money();
    let commands: Vec<_> = dressed.entries().collect();
    let mut burst = Vec::with_capacity(BURST);
    let mut nanos = 0;
    for chunk in commands.chunks(BURST) {
        burst.clear();
        burst.extend(chunk.iter().map(|(entry, account)| Asked {
            entry: **entry,
            account: account.0,
            id: dressed.order_id(entry.id),
        }));
        let begun = processor_nanos();
        for some in burst.chunks(AHEAD) {
            some.iter().for_each(|asked| accounts.foresee(asked));
            for asked in some {
                accounts.admit(asked)?;
                book.apply_kept(&asked.entry, &mut totals, &mut accounts);
            }
        }
        nanos += processor_nanos() - begun;
    }
    let is_sound = !accounts.is_short && accounts.all_money() == before;
    is_sound.then_some((nanos, totals))
}

/// Everybody's money and shares, and every id that was used.
struct Accounts {
    /// The number of each order by its id.
    ids: HashMap<OrderId, u32, RandomState>,
    money: Vec<Balance>,
    /// By account and market.
    shares: HashMap<(u32, u32), Balance, RandomState>,
    /// Of each order, by number.
    owners: Vec<Owner>,
    fees: u64,
    /// Somebody had less than was taken.
    is_short: bool,
}

impl Accounts {
    /// All memory there will be is touched beforehand, as the core's is.
    fn new(dressed: &Dressed<'_>, needs: &Needs, positions: usize) -> Self {
        let orders = dressed.stream.orders();
        let mut ids = with_room((0..=orders).map(|number| dressed.order_id(number)), 0_u32);
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
        let shares = needs.shares.iter();
        for ((account, market), lots) in shares {
            shares_of.insert((account.0, market.0), Balance::of(*lots));
        }
        let money = needs.collateral.iter();
        Self {
            ids,
            money: money.map(|micros| Balance::of(*micros)).collect(),
            shares: shares_of,
            owners: vec![nobody; orders as usize + 1],
            fees: 0,
            is_short: false,
        }
    }

    /// Free, reserved, and taken as fees.
    fn all_money(&self) -> u64 {
        let held = self.money.iter().map(|money| money.free + money.reserved);
        held.sum::<u64>() + self.fees
    }

    fn foresee(&self, asked: &Asked) {
        let shares = self.shares.contains_key(&(asked.account, asked.entry.book));
        black_box((self.ids.contains_key(&asked.id), shares));
    }

    /// An order's id is new; a cancel names an order of its owner.
    fn admit(&mut self, Asked { entry, account, id }: &Asked) -> Option<()> {
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

    /// Where an order's needs are, and how much so many lots at a price need.
    fn needs(&mut self, owner: Owner, price: u8, quantity: u32) -> (&mut Balance, u64) {
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

impl Keeper for Accounts {
    fn takes(&mut self, order: &Entry, maker: u32, price: u8, quantity: u32) {
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

    fn rests(&mut self, order: &Entry, quantity: u32) {
        let owner = self.owners[order.id as usize];
        let (balance, amount) = self.needs(owner, order.price, quantity);
        balance.reserved += amount;
        self.subtract(amount, |own| &mut own.needs(owner, order.price, 0).0.free);
    }

    fn ends(&mut self, id: u32, price: u8, quantity: u32) {
        let owner = self.owners[id as usize];
        let (balance, amount) = self.needs(owner, price, quantity);
        balance.free += amount;
        self.subtract(amount, |own| &mut own.needs(owner, price, 0).0.reserved);
    }
}

fn room(positions: usize) -> u32 {
    u32::try_from(positions).unwrap_or(u32::MAX)
}

/// A map that had all these keys.
fn with_room<K: Eq + Hash, V: Copy>(
    keys: impl Iterator<Item = K>,
    value: V,
) -> HashMap<K, V, RandomState> {
    keys.map(|key| (key, value)).collect()
}

/// Micros of so many lots.
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
    use crate::dress::Dress;

    #[test]
    fn it_does_the_work_of_the_bare_book_and_loses_no_money() {
        let stream = crate::generate(3, 20_000, 300).unwrap();
        let dressed = Dressed::new(&stream, Dress::Dressed);
        let (_, found) = lap(&dressed, &Needs::of(&dressed), 1_000).unwrap();
        let (mut book, mut totals) = (ArrayBook::new(&stream), Totals::default());
        for entry in stream.entries() {
            book.apply(entry, &mut totals);
        }
        assert_eq!(found, totals);
    }

    #[test]
    fn an_order_beyond_what_its_account_has_is_seen() {
        let stream = crate::generate(3, 2_000, 300).unwrap();
        let dressed = Dressed::new(&stream, Dress::Dressed);
        let mut needs = Needs::of(&dressed);
        needs.collateral.fill(0);
        assert!(lap(&dressed, &needs, 1_000).is_none());
    }
}
