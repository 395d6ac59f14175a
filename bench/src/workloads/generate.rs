//! Generates a stream; the same arguments give the same commands.
//!
//! First resting orders, until `live` of them rest. Then about 45% resting orders, 10% trading
//! orders, 40% cancels of live orders and 5% of ended orders, steered towards `live` resting
//! orders. Markets are drawn by Zipf's law; each has a drifting fair price around which orders
//! rest.

use rand::RngExt as _;
use rand_distr::{Distribution as _, Exp1};

use super::random::{Random, Ranks, seeded};
use super::stream::{Action, Entry, HIGHEST_PRICE, Stream};
use crate::baselines::array_book::ArrayBook;

/// Ids are 32 bits and count from 1.
pub(crate) const MOST_COMMANDS: i64 = u32::MAX as i64 - 1;
const SEED: u64 = 1;
/// Half of the cancels of ended orders name one of this many that were cancelled last.
const LATEST_CANCELLED: usize = 1_000;
/// Mean distance of a resting order from the fair price, beyond the first cent.
const MEAN_DISTANCE_CENTS: f64 = 4.0;
/// Attempts to find an ended order.
const ATTEMPTS: u32 = 50;

/// Generates `commands` commands over `markets` markets with about `live` orders resting: at least
/// one of each, and at most [`MOST_COMMANDS`].
pub(crate) fn generate(markets: u32, commands: u32, live: u32) -> Stream {
    let (markets, live) = (markets.max(1), live.max(1));
    let mut generator = Generator::new(markets, commands, live);
    let mut entries = Vec::with_capacity(commands as usize);
    while entries.len() < commands as usize {
        if let Some(entry) = generator.next() {
            generator.record(&entry);
            entries.push(entry);
        }
    }
    Stream::new(entries)
}

struct Generator {
    random: Random,
    book: ArrayBook,
    popularity: Ranks,
    /// Fair price of each market in cents.
    fair: Vec<f64>,
    /// Market of each order by id; index 0 is unused.
    market_of: Vec<u32>,
    /// Orders that rested and were not cancelled, unordered; some have been filled.
    rested: Vec<u32>,
    /// Cancelled orders, the latest last.
    cancelled: Vec<u32>,
    target: f64,
    warming_up: bool,
}

impl Generator {
    fn new(markets: u32, commands: u32, live: u32) -> Self {
        let mut random = seeded(SEED);
        Self {
            book: ArrayBook::new(markets, commands),
            popularity: Ranks::new(markets),
            fair: (0..markets)
                .map(|_| random.random_range(20.0..80.0))
                .collect(),
            random,
            market_of: vec![0],
            rested: Vec::new(),
            cancelled: Vec::new(),
            target: f64::from(live),
            warming_up: true,
        }
    }

    /// The next command, or `None` if the drawn kind is impossible now.
    fn next(&mut self) -> Option<Entry> {
        let live = f64::from(number(self.book.live()));
        self.warming_up &= live < self.target;
        let steering = ((self.target - live) / self.target * 20.0).clamp(-6.0, 6.0);
        let kind = match self.warming_up {
            true => 0.0,
            false => self.random.random_range(0.0..100.0),
        };
        let market = self.popularity.draw(&mut self.random);
        let fair = &mut self.fair[market as usize];
        *fair = (*fair + self.random.random_range(-0.03..0.03)).clamp(4.0, 96.0);
        if kind < 45.0 + steering {
            self.resting(market)
        } else if kind < 55.0 + steering {
            self.trading(market)
        } else if kind < 95.0 {
            self.cancel_of_live()
        } else {
            self.cancel_of_ended()
        }
    }

    /// Applies a command to the book.
    fn record(&mut self, entry: &Entry) {
        self.book.apply(entry);
        if entry.action == Action::Cancel {
            self.cancelled.push(entry.id);
            return;
        }
        self.market_of.push(entry.book);
        if self.book.is_live(entry.id) {
            self.rested.push(entry.id);
        }
    }

    /// An order a few cents from the fair price that does not cross.
    fn resting(&mut self, market: u32) -> Option<Entry> {
        let (bid, ask) = self.book.best(market);
        let fair = self.fair[market as usize];
        let is_buy = self.random.random();
        let beyond: f64 = Exp1.sample(&mut self.random);
        let distance = 1.0 + beyond * MEAN_DISTANCE_CENTS;
        let price = cents(match is_buy {
            true => (fair - distance).round().min(f64::from(ask) - 1.0),
            false => (fair + distance).round().max(f64::from(bid) + 1.0),
        });
        let crosses = if is_buy { price >= ask } else { price <= bid };
        (!crosses).then(|| self.order(market, is_buy, price))
    }

    /// An order that crosses, mostly towards the fair price.
    fn trading(&mut self, market: u32) -> Option<Entry> {
        let (bid, ask) = self.book.best(market);
        if bid < 1 || ask > HIGHEST_PRICE {
            return None;
        }
        let middle = f64::from(bid + ask) / 2.0;
        let is_buy = match self.random.random_bool(0.8) {
            true => self.fair[market as usize] > middle,
            false => self.random.random(),
        };
        let through = self.random.random_range(0..3);
        let price = match is_buy {
            true => (ask + through).min(HIGHEST_PRICE),
            false => bid.saturating_sub(through).max(1),
        };
        Some(self.order(market, is_buy, price))
    }

    fn cancel_of_live(&mut self) -> Option<Entry> {
        while !self.rested.is_empty() {
            let at = self.random.random_range(0..self.rested.len());
            let id = self.rested.swap_remove(at);
            if self.book.is_live(id) {
                return Some(self.cancel(id));
            }
        }
        None
    }

    fn cancel_of_ended(&mut self) -> Option<Entry> {
        if self.cancelled.len() > LATEST_CANCELLED && self.random.random() {
            let back = self.random.random_range(1..=LATEST_CANCELLED);
            return Some(self.cancel(self.cancelled[self.cancelled.len() - back]));
        }
        let last = number(self.market_of.len() - 1);
        let id = (0..ATTEMPTS.min(last)).find_map(|_| {
            let id = self.random.random_range(1..=last);
            (!self.book.is_live(id)).then_some(id)
        });
        id.map(|id| self.cancel(id))
    }

    fn order(&mut self, book: u32, is_buy: bool, price: u8) -> Entry {
        Entry {
            action: if is_buy { Action::Buy } else { Action::Sell },
            price,
            quantity: self.random.random_range(1..=1_000),
            book,
            id: number(self.market_of.len()),
        }
    }

    fn cancel(&self, id: u32) -> Entry {
        Entry {
            action: Action::Cancel,
            price: 0,
            quantity: 0,
            book: self.market_of[id as usize],
            id,
        }
    }
}

/// A rounded price in cents, 1 to 99.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "clamped to 1 to 99 and rounded before"
)]
fn cents(price: f64) -> u8 {
    price.clamp(1.0, f64::from(HIGHEST_PRICE)) as u8
}

fn number(index: usize) -> u32 {
    u32::try_from(index).expect("a stream has fewer than 2^32 commands")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pins two small streams: the same arguments must give the same stream everywhere.
    #[test]
    fn streams_keep_their_commands() {
        let hashes = [(1, 20_000, 100), (40, 20_000, 1_500)].map(|(markets, commands, live)| {
            let mut hasher = blake3::Hasher::new();
            for entry in generate(markets, commands, live).entries() {
                let (kind, side) = match entry.action {
                    Action::Buy => (0, 0),
                    Action::Sell => (0, 1),
                    Action::Cancel => (1, 0),
                };
                hasher.update(&[kind, side, entry.price, 0]);
                for field in [entry.quantity, entry.book, entry.id] {
                    hasher.update(&field.to_le_bytes());
                }
            }
            hasher.finalize().to_hex().to_string()
        });
        let expected = [
            "ec665b591ceeeafb65629443987f98dc9f3a6875b022df7e5aa98577b945c302",
            "ec4dd9df43997a4f8881cf5a70fd24ccbf8a1146a71434fb4276c19a78114378",
        ];
        assert_eq!(hashes, expected);
    }

    #[test]
    fn the_mix_is_as_described() {
        let stream = generate(1, 40_000, 500);
        let mut book = ArrayBook::of(&stream);
        stream.entries().iter().for_each(|entry| book.apply(entry));
        let totals = book.totals;
        assert!((14_500..17_500).contains(&totals.cancelled), "{totals:?}");
        assert!((1_500..2_500).contains(&totals.refused), "{totals:?}");
        assert!((2_000..12_000).contains(&totals.trades), "{totals:?}");
        assert!((400..600).contains(&book.live()), "{}", book.live());
        // Order books index by id and price.
        let orders = stream
            .entries()
            .iter()
            .filter(|entry| entry.action != Action::Cancel);
        let ids = orders.clone().map(|entry| entry.id);
        assert!(ids.eq(1..=stream.orders()));
        for order in orders {
            let has_price = (1..=HIGHEST_PRICE).contains(&order.price);
            assert!(has_price && order.quantity > 0, "{order:?}");
        }
    }
}
