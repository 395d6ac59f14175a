//! Generates a stream; the same arguments give the same bytes.
//!
//! First resting orders, until `live` of them rest. Then about 45% resting orders, 10% trading
//! orders, 40% cancels of live orders and 5% of ended orders, steered towards `live` resting
//! orders. Markets are drawn by Zipf's law; each has a drifting fair price around which orders
//! rest.

use std::collections::VecDeque;

use crate::workloads::stream::{Action, Entry, HIGHEST_PRICE, Stream, StreamError};

const SEED: u64 = 0x9E37_79B9_7F4A_7C15;
/// Half of the cancels of ended orders name one of this many that ended last.
const LATEST_DEAD: u64 = 1_000;

/// Generates `commands` commands over `markets` markets with about `live` orders resting.
///
/// # Errors
/// Invalid arguments: no market, no command, or no resting order.
pub fn generate(markets: u32, commands: usize, live: u32) -> Result<Stream, StreamError> {
    if markets == 0 || commands == 0 || live == 0 {
        return Err(StreamError::Length);
    }
    let mut maker = Maker::new(markets, live);
    let mut entries = Vec::with_capacity(commands);
    while entries.len() < commands {
        if let Some(entry) = maker.next() {
            maker.shadow.apply(&entry);
            entries.push(entry);
        }
    }
    Stream::new(entries)
}

struct Maker {
    random: Random,
    shadow: Shadow,
    /// Cumulative Zipf weights of the markets.
    weights: Vec<f64>,
    /// Fair price of each market in cents.
    fair: Vec<f64>,
    target: f64,
    warming_up: bool,
}

impl Maker {
    fn new(markets: u32, live: u32) -> Self {
        let mut random = Random(SEED);
        let weights = (1..=markets).scan(0.0, |sum, rank| {
            *sum += 1.0 / f64::from(rank);
            Some(*sum)
        });
        Self {
            shadow: Shadow::new(markets),
            weights: weights.collect(),
            fair: (0..markets)
                .map(|_| 20.0 + 60.0 * random.fraction())
                .collect(),
            random,
            target: f64::from(live),
            warming_up: true,
        }
    }

    /// The next command, or `None` if the drawn kind is impossible now.
    fn next(&mut self) -> Option<Entry> {
        let live = f64::from(number(self.shadow.live.len()));
        self.warming_up &= live < self.target;
        let steering = ((self.target - live) / self.target * 20.0).clamp(-6.0, 6.0);
        let kind = if self.warming_up {
            0.0
        } else {
            self.random.fraction() * 100.0
        };
        let book = self.draw_market();
        if kind < 45.0 + steering {
            self.resting(book)
        } else if kind < 55.0 + steering {
            self.trading(book)
        } else if kind < 95.0 {
            self.cancel_of_live()
        } else {
            self.cancel_of_dead()
        }
    }

    fn draw_market(&mut self) -> usize {
        let total = self.weights.last().copied().unwrap_or_default();
        let point = self.random.fraction() * total;
        let book = self.weights.partition_point(|end| *end < point);
        let book = book.min(self.weights.len() - 1);
        let fair = &mut self.fair[book];
        *fair = (*fair + (self.random.fraction() - 0.5) * 0.06).clamp(4.0, 96.0);
        book
    }

    /// An order a few cents from the fair price that does not cross.
    fn resting(&mut self, book: usize) -> Option<Entry> {
        let (bid, ask) = self.shadow.books[book].best();
        let fair = self.fair[book];
        let is_buy = self.random.coin();
        let distance = 1.0 - (1.0 - self.random.fraction()).ln() * 4.0;
        let price = if is_buy {
            (fair - distance).round().min(f64::from(ask) - 1.0)
        } else {
            (fair + distance).round().max(f64::from(bid) + 1.0)
        };
        let price = cents(price);
        let crosses = if is_buy { price >= ask } else { price <= bid };
        (!crosses).then(|| self.order(book, is_buy, price))
    }

    /// An order that crosses, mostly towards the fair price.
    fn trading(&mut self, book: usize) -> Option<Entry> {
        let (bid, ask) = self.shadow.books[book].best();
        if bid < 1 || ask > HIGHEST_PRICE {
            return None;
        }
        let middle = f64::from(bid + ask) / 2.0;
        let is_buy = if self.random.fraction() < 0.8 {
            self.fair[book] > middle
        } else {
            self.random.coin()
        };
        let through = u8::try_from(self.random.below(3)).expect("below 3");
        let price = if is_buy {
            (ask + through).min(HIGHEST_PRICE)
        } else {
            bid.saturating_sub(through).max(1)
        };
        Some(self.order(book, is_buy, price))
    }

    fn cancel_of_live(&mut self) -> Option<Entry> {
        if self.shadow.live.is_empty() {
            return None;
        }
        let at = self.random.index(self.shadow.live.len());
        Some(self.cancel(self.shadow.live[at]))
    }

    fn cancel_of_dead(&mut self) -> Option<Entry> {
        let dead = self.shadow.dead.len();
        if dead as u64 > LATEST_DEAD && self.random.coin() {
            let back = self.random.below(LATEST_DEAD);
            let at = dead - 1 - usize::try_from(back).expect("below 1,000");
            return Some(self.cancel(self.shadow.dead[at]));
        }
        let last = self.shadow.orders.len() - 1;
        if last < 10 {
            return None;
        }
        for _ in 0..50 {
            let id = 1 + self.random.index(last);
            if self.shadow.orders[id].left == 0 {
                return Some(self.cancel(number(id)));
            }
        }
        None
    }

    fn order(&mut self, book: usize, is_buy: bool, price: u8) -> Entry {
        let quantity = 1 + u32::try_from(self.random.below(1_000)).expect("below 1,000");
        Entry {
            action: if is_buy { Action::Buy } else { Action::Sell },
            price,
            quantity,
            book: number(book),
            id: number(self.shadow.orders.len()),
        }
    }

    fn cancel(&self, id: u32) -> Entry {
        Entry {
            action: Action::Cancel,
            price: 0,
            quantity: 0,
            book: self.shadow.orders[id as usize].book,
            id,
        }
    }
}

/// State of the books, as far as the generator needs it.
struct Shadow {
    books: Vec<Book>,
    /// By id; index 0 is unused.
    orders: Vec<ShadowOrder>,
    /// Ids of resting orders, unordered.
    live: Vec<u32>,
    /// Ids of ended orders, the latest last.
    dead: Vec<u32>,
}

#[derive(Clone, Copy, Default)]
struct ShadowOrder {
    book: u32,
    side: usize,
    price: u8,
    left: u32,
    /// Index in `live`.
    place: usize,
}

/// Queues of `[bids, asks]` by price; ended orders are removed at the front.
struct Book {
    queues: [Vec<VecDeque<u32>>; 2],
    resting: [[u32; HIGHEST_PRICE as usize + 1]; 2],
}

impl Book {
    fn new() -> Self {
        let queues = || vec![VecDeque::new(); usize::from(HIGHEST_PRICE) + 1];
        Self {
            queues: [queues(), queues()],
            resting: [[0; HIGHEST_PRICE as usize + 1]; 2],
        }
    }

    /// Best bid and ask; 0 and 100 if there is none.
    fn best(&self) -> (u8, u8) {
        let [bids, asks] = &self.resting;
        let bid = bids.iter().rposition(|resting| *resting > 0);
        let ask = asks.iter().position(|resting| *resting > 0);
        let price = |level: usize| u8::try_from(level).expect("a level is a price");
        (bid.map_or(0, price), ask.map_or(HIGHEST_PRICE + 1, price))
    }
}

impl Shadow {
    fn new(markets: u32) -> Self {
        Self {
            books: (0..markets).map(|_| Book::new()).collect(),
            orders: vec![ShadowOrder::default()],
            live: Vec::new(),
            dead: Vec::new(),
        }
    }

    fn apply(&mut self, entry: &Entry) {
        let side = match entry.action {
            Action::Cancel => {
                if self.orders[entry.id as usize].left > 0 {
                    self.end(entry.id);
                }
                return;
            }
            Action::Buy => 0,
            Action::Sell => 1,
        };
        self.orders.push(ShadowOrder {
            book: entry.book,
            side,
            price: entry.price,
            left: 0,
            place: 0,
        });
        let left = self.trade(entry, side);
        if left > 0 {
            let order = &mut self.orders[entry.id as usize];
            order.left = left;
            order.place = self.live.len();
            self.live.push(entry.id);
            let book = &mut self.books[entry.book as usize];
            book.resting[side][usize::from(entry.price)] += 1;
            book.queues[side][usize::from(entry.price)].push_back(entry.id);
        }
    }

    /// Trades an order against the other side; returns the remainder.
    fn trade(&mut self, entry: &Entry, side: usize) -> u32 {
        let mut left = entry.quantity;
        while left > 0 {
            let (bid, ask) = self.books[entry.book as usize].best();
            let (price, reaches) = if side == 0 {
                (ask, ask <= entry.price)
            } else {
                (bid, bid >= entry.price)
            };
            if !reaches {
                break;
            }
            let queue = &mut self.books[entry.book as usize].queues[side ^ 1][usize::from(price)];
            let Some(first) = queue.front().copied() else {
                break;
            };
            let maker = &mut self.orders[first as usize];
            let traded = left.min(maker.left);
            left -= traded;
            if maker.left == traded {
                queue.pop_front();
                if traded > 0 {
                    self.end(first);
                }
            } else {
                maker.left -= traded;
            }
        }
        left
    }

    fn end(&mut self, id: u32) {
        let order = &mut self.orders[id as usize];
        order.left = 0;
        let (book, place) = (order.book as usize, order.place);
        self.books[book].resting[order.side][usize::from(order.price)] -= 1;
        self.live.swap_remove(place);
        if let Some(moved) = self.live.get(place) {
            self.orders[*moved as usize].place = place;
        }
        self.dead.push(id);
    }
}

/// xorshift64*.
struct Random(u64);

impl Random {
    fn bits(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    /// A random number below `end`.
    fn below(&mut self, end: u64) -> u64 {
        let wide = u128::from(self.bits()) * u128::from(end);
        u64::try_from(wide >> 64).expect("64 bits are left")
    }

    fn index(&mut self, length: usize) -> usize {
        usize::try_from(self.below(length as u64)).expect("below a length")
    }

    fn coin(&mut self) -> bool {
        self.bits() & 1 == 0
    }

    /// A random fraction of 53 bits in [0, 1).
    fn fraction(&mut self) -> f64 {
        #[allow(clippy::cast_precision_loss, reason = "53 bits are exact")]
        let bits = (self.bits() >> 11) as f64;
        bits / 9_007_199_254_740_992.0
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
    u32::try_from(index).expect("a stream has fewer than 2^32 orders and markets")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pins the bytes of two small streams: the same arguments must give the same stream
    /// everywhere.
    #[test]
    fn streams_keep_their_bytes() {
        let rows = [
            (
                1,
                20_000,
                100,
                "e10488a2942616bd2719df3c27a138946be0183454b25a7ab49f64ea6b84fd8e",
            ),
            (
                40,
                20_000,
                1_500,
                "813473da26e0714cc1d0d1c6a859a7df54d6f262e2c0bda20317aeb2463c1945",
            ),
        ];
        for (markets, commands, live, expected) in rows {
            let stream = generate(markets, commands, live).unwrap();
            let hash = blake3::hash(&stream.to_bytes());
            assert_eq!(hash.to_hex().as_str(), expected, "{markets} markets");
        }
    }

    #[test]
    fn the_mix_is_as_described() {
        let stream = generate(1, 40_000, 500).unwrap();
        let cancels = stream.entries().iter();
        let cancels = cancels
            .filter(|entry| entry.action == Action::Cancel)
            .count();
        assert!((16_000..20_000).contains(&cancels), "{cancels}");
        assert!(generate(0, 1, 1).is_err());
    }
}
