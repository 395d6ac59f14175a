//! Baseline: a bare array order book over a stream. No accounts, fees, self-trade rule or journal;
//! a level array and a 128-bit occupancy mask per side, orders in a slab linked by index, a dense
//! id table, and a 32-byte event per order, trade, cancel and rejection.

use crate::workloads::stream::{Action, Entry, HIGHEST_PRICE, Stream, Totals};

/// Null index.
const NONE: u32 = u32::MAX;
/// Levels per side: prices 1 to 99, rounded up so that indexing needs no bounds check.
const LEVELS: usize = 128;
/// Capacity of the event ring buffer.
const EVENT_CAPACITY: usize = 1 << 12;

#[derive(Clone, Copy)]
struct SlabOrder {
    previous: u32,
    next: u32,
    quantity: u32,
    id: u32,
    book: u32,
    side: u8,
    price: u8,
}

#[derive(Clone, Copy)]
struct Level {
    first: u32,
    last: u32,
}

/// Levels and occupancy masks of `[bids, asks]`.
struct Book {
    levels: [[Level; LEVELS]; 2],
    occupied: [u128; 2],
}

impl Book {
    const EMPTY: Self = Self {
        levels: [[Level {
            first: NONE,
            last: NONE,
        }; LEVELS]; 2],
        occupied: [0; 2],
    };

    fn level(&mut self, side: u8, price: u8) -> &mut Level {
        &mut self.levels[usize::from(side & 1)][usize::from(price) % LEVELS]
    }

    fn clear(&mut self, side: u8, price: u8) {
        self.occupied[usize::from(side & 1)] &= !bit(price);
    }
}

#[derive(Clone, Copy)]
enum EventKind {
    Accepted,
    Trade,
    Cancelled,
    Refused,
}

/// An event as an outbound queue would hold it: stores happen, no reader exists.
#[derive(Clone, Copy)]
#[allow(dead_code, reason = "written for its cost, as a queue would take it")]
struct Event {
    sequence: u64,
    kind: EventKind,
    price: u8,
    book: u32,
    maker: u32,
    taker: u32,
    quantity: u32,
}

const _: () = assert!(size_of::<Event>() == 32);

struct Events {
    kept: Box<[Event; EVENT_CAPACITY]>,
    sequence: u64,
}

impl Events {
    fn put(&mut self, mut event: Event) {
        event.sequence = self.sequence;
        // The index is taken modulo the length, so only its low bits count.
        #[allow(clippy::cast_possible_truncation)]
        let at = self.sequence as usize % EVENT_CAPACITY;
        self.kept[at] = event;
        self.sequence += 1;
    }
}

/// The books of all markets.
pub(crate) struct ArrayBook {
    books: Vec<Book>,
    orders: Vec<SlabOrder>,
    /// First free slot of `orders`; free slots are linked by `next`.
    free: u32,
    /// Slot of each live order by id.
    places: Vec<u32>,
    events: Events,
    live: usize,
    pub(crate) totals: Totals,
}

impl ArrayBook {
    /// An empty book for a stream.
    pub(crate) fn of(stream: &Stream) -> Self {
        Self::new(stream.markets(), stream.orders())
    }

    /// `orders` is the highest order id.
    pub(crate) fn new(markets: u32, orders: u32) -> Self {
        let nothing = Event {
            sequence: 0,
            kind: EventKind::Accepted,
            price: 0,
            book: 0,
            maker: 0,
            taker: 0,
            quantity: 0,
        };
        Self {
            books: (0..markets).map(|_| Book::EMPTY).collect(),
            orders: Vec::with_capacity(1 << 20),
            free: NONE,
            places: vec![NONE; orders as usize + 1],
            events: Events {
                kept: Box::new([nothing; EVENT_CAPACITY]),
                sequence: 0,
            },
            live: 0,
            totals: Totals::default(),
        }
    }

    /// Whether an order rests.
    pub(crate) fn is_live(&self, id: u32) -> bool {
        self.places[id as usize] != NONE
    }

    /// Best bid and ask of a market in cents; 0 and 100 if there is none.
    pub(crate) fn best(&self, market: u32) -> (u8, u8) {
        let [bids, asks] = self.books[market as usize].occupied;
        let bid = if bids == 0 { 0 } else { highest(bids) };
        let ask = if asks == 0 {
            HIGHEST_PRICE + 1
        } else {
            lowest(asks)
        };
        (bid, ask)
    }

    /// Number of resting orders.
    pub(crate) const fn live(&self) -> usize {
        self.live
    }

    /// Applies one command; its order ids and markets must be within the bounds of [`Self::new`].
    #[inline]
    pub(crate) fn apply(&mut self, entry: &Entry) {
        match entry.action {
            Action::Cancel => self.cancel(entry),
            Action::Buy => self.place::<0>(entry),
            Action::Sell => self.place::<1>(entry),
        }
    }

    #[inline]
    fn cancel(&mut self, entry: &Entry) {
        let place = std::mem::replace(&mut self.places[entry.id as usize], NONE);
        let mut event = Event {
            sequence: 0,
            kind: EventKind::Refused,
            price: 0,
            book: entry.book,
            maker: entry.id,
            taker: 0,
            quantity: 0,
        };
        if place == NONE {
            self.totals.refused += 1;
            self.events.put(event);
            return;
        }
        let order = self.orders[place as usize];
        let book = &mut self.books[order.book as usize];
        let level = book.level(order.side, order.price);
        if order.previous == NONE {
            level.first = order.next;
        } else {
            self.orders[order.previous as usize].next = order.next;
        }
        if order.next == NONE {
            level.last = order.previous;
        } else {
            self.orders[order.next as usize].previous = order.previous;
        }
        if level.first == NONE {
            book.clear(order.side, order.price);
        }
        self.release(place);
        self.totals.cancelled += 1;
        event.kind = EventKind::Cancelled;
        event.price = order.price;
        event.quantity = order.quantity;
        self.events.put(event);
    }

    /// Places an order of `SIDE` (0 buy, 1 sell): it trades where it crosses and rests the
    /// remainder.
    #[inline]
    fn place<const SIDE: u8>(&mut self, entry: &Entry) {
        self.events.put(Event {
            sequence: 0,
            kind: EventKind::Accepted,
            price: entry.price,
            book: entry.book,
            maker: 0,
            taker: entry.id,
            quantity: entry.quantity,
        });
        let left = self.trade::<SIDE>(entry);
        if left > 0 {
            self.rest::<SIDE>(entry, left);
        }
    }

    #[inline]
    fn trade<const SIDE: u8>(&mut self, entry: &Entry) -> u32 {
        let makers = SIDE ^ 1;
        let reach = if SIDE == 0 {
            bit(entry.price) | (bit(entry.price) - 1)
        } else {
            !(bit(entry.price) - 1)
        };
        let mut left = entry.quantity;
        let book = &mut self.books[entry.book as usize];
        while left > 0 {
            let reached = book.occupied[usize::from(makers)] & reach;
            if reached == 0 {
                break;
            }
            let price = if SIDE == 0 {
                lowest(reached)
            } else {
                highest(reached)
            };
            let level = book.level(makers, price);
            let place = level.first;
            let maker = &mut self.orders[place as usize];
            let quantity = left.min(maker.quantity);
            maker.quantity -= quantity;
            left -= quantity;
            self.totals.trade(price.into(), quantity.into());
            self.events.put(Event {
                sequence: 0,
                kind: EventKind::Trade,
                price,
                book: entry.book,
                maker: maker.id,
                taker: entry.id,
                quantity,
            });
            if maker.quantity == 0 {
                let next = maker.next;
                self.places[maker.id as usize] = NONE;
                maker.next = self.free;
                self.free = place;
                self.live -= 1;
                level.first = next;
                if next == NONE {
                    level.last = NONE;
                    book.clear(makers, price);
                } else {
                    self.orders[next as usize].previous = NONE;
                }
            }
        }
        left
    }

    #[inline]
    fn rest<const SIDE: u8>(&mut self, entry: &Entry, quantity: u32) {
        let book = &mut self.books[entry.book as usize];
        book.occupied[usize::from(SIDE)] |= bit(entry.price);
        let level = book.level(SIDE, entry.price);
        let order = SlabOrder {
            previous: level.last,
            next: NONE,
            quantity,
            id: entry.id,
            book: entry.book,
            side: SIDE,
            price: entry.price,
        };
        let place = if self.free == NONE {
            self.orders.push(order);
            u32::try_from(self.orders.len() - 1).expect("ids are 32 bits")
        } else {
            let place = self.free;
            self.free = self.orders[place as usize].next;
            self.orders[place as usize] = order;
            place
        };
        if order.previous == NONE {
            level.first = place;
        } else {
            self.orders[order.previous as usize].next = place;
        }
        level.last = place;
        self.places[entry.id as usize] = place;
        self.live += 1;
    }

    fn release(&mut self, place: u32) {
        self.orders[place as usize].next = self.free;
        self.free = place;
        self.live -= 1;
    }
}

const fn bit(price: u8) -> u128 {
    1_u128.wrapping_shl(price as u32)
}

#[allow(clippy::cast_possible_truncation, reason = "a bit number is below 128")]
const fn lowest(mask: u128) -> u8 {
    mask.trailing_zeros() as u8
}

#[allow(clippy::cast_possible_truncation, reason = "a bit number is below 128")]
const fn highest(mask: u128) -> u8 {
    127_u32.wrapping_sub(mask.leading_zeros()) as u8
}
