//! One naive read model: a fold of frames into plain maps and lists, with its own arithmetic
//! (docs/verify/rules.md §10, §11, §18) in signed integers. Rows of the data surface, messages of the
//! streams and the history of views are written from it; it shares no code with what it checks.

mod actions;
pub(crate) mod book;
mod orders;
pub(crate) mod positions;
mod registry;

use std::collections::BTreeMap;

use foretell_model::command::RegisterMarket;
use foretell_model::{
    CloseReason, Event, EventId, MarketNumber, MarketState, MarketTerms, OrderId, OrderNumber,
    Outcome, PlaceOrder, Sequence, TimeNs,
};
use serde_json::Value;

use crate::properties::journal::{Frame, Journal};
use book::Ladder;
use positions::{Closed, Positions};

/// An order, live or being placed.
#[derive(Clone)]
pub(crate) struct Order {
    pub(crate) placed: PlaceOrder,
    pub(crate) builder: u64,
    /// In units of 0.0001 of its own token.
    pub(crate) price: i128,
    /// Lots in the book.
    pub(crate) left: i128,
    pub(crate) matched: i128,
    /// Lots that its owner took off.
    pub(crate) taken_off: i128,
    pub(crate) created: TimeNs,
    /// Ids, oldest first.
    pub(crate) trades: Vec<String>,
}

/// A market.
pub(crate) struct Market {
    pub(crate) rules: RegisterMarket,
    pub(crate) condition: String,
    /// Decimal token ids.
    pub(crate) tokens: [String; 2],
    pub(crate) event: Option<usize>,
    /// Whether it is the outside question of an event.
    outside: bool,
    pub(crate) terms: MarketTerms,
    /// Its words; an outside question has none until it is described.
    pub(crate) description: Value,
    /// The frame that last told something of its book, and its time.
    pub(crate) changed: (Sequence, TimeNs),
    pub(crate) state: MarketState,
    /// Yes price and time.
    pub(crate) last_trade: Option<(i128, TimeNs)>,
    /// Price units of `[Yes, No]`, once resolved.
    pub(crate) pays: Option<[i128; 2]>,
    pub(crate) supply: [i128; 2],
    pub(crate) volume: i128,
}

impl Market {
    /// Whether answers show it: an outside question only when it won.
    pub(crate) fn is_shown(&self) -> bool {
        !self.outside || self.pays == Some([10_000, 0])
    }

    pub(crate) fn is_described(&self) -> bool {
        !self.description.is_null()
    }

    pub(crate) fn label(&self, outcome: usize) -> String {
        let label = &self.description["outcomes"][outcome];
        label.as_str().unwrap_or(["Yes", "No"][outcome]).to_owned()
    }

    /// A word of its description; empty without it.
    pub(crate) fn word(&self, name: &str) -> String {
        self.description[name].as_str().unwrap_or("").to_owned()
    }
}

/// An event group.
pub(crate) struct Group {
    pub(crate) id: EventId,
    pub(crate) words: Value,
    questions: Vec<usize>,
    outside: usize,
}

/// What the row of a leg shows.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extent {
    Fill,
    /// The whole trade, of the taker.
    Trade,
    /// It has none: another fill shows the trade.
    Nothing,
}

/// One side of a fill.
#[derive(Clone, Copy)]
pub(crate) struct Leg {
    pub(crate) order: PlaceOrder,
    pub(crate) account: usize,
    pub(crate) outcome: usize,
    pub(crate) buys: bool,
    pub(crate) price: i128,
    pub(crate) lots: i128,
    /// Micros.
    pub(crate) value: i128,
    /// Of the taker, in micros; 0 of the maker.
    pub(crate) fee: i128,
    pub(crate) extent: Extent,
    pub(crate) builder: u64,
}

/// One fill of a trade.
#[derive(Clone)]
pub(crate) struct Trade {
    /// Of all fills of its order at once.
    pub(crate) id: String,
    pub(crate) index: u32,
    pub(crate) market: usize,
    pub(crate) yes_price: i128,
    pub(crate) lots: i128,
    pub(crate) second: u64,
    pub(crate) sequence: u64,
    /// Taker, maker.
    pub(crate) legs: [Leg; 2],
}

/// The market of an action without one; it is odd, as markets are that no query names.
pub(crate) const NO_MARKET: usize = usize::MAX;

/// An account action.
#[derive(Clone, Copy)]
pub(crate) struct Action {
    pub(crate) kind: &'static str,
    pub(crate) account: usize,
    pub(crate) market: usize,
    /// Of a redeem.
    pub(crate) outcome: Option<usize>,
    /// Whole lots of the amount for a rebate, by which lists sort it.
    pub(crate) lots: i128,
    pub(crate) collateral: i128,
    pub(crate) second: u64,
    pub(crate) sequence: u64,
}

/// A withdrawal after a change.
#[derive(Clone)]
pub(crate) struct Withdrawal {
    pub(crate) number: u64,
    pub(crate) account: usize,
    pub(crate) amount: u64,
    pub(crate) status: &'static str,
    pub(crate) asked: TimeNs,
    pub(crate) changed: TimeNs,
}

/// What a frame did to one market's book.
pub(crate) struct BookStory {
    pub(crate) market: MarketNumber,
    pub(crate) before: Ladder,
    pub(crate) previous: (Sequence, TimeNs),
    pub(crate) last_trade_before: Option<TimeNs>,
    pub(crate) ticks: Vec<(u16, u16)>,
    /// Levels in the order in which orders touched them: whether bids, Yes price, and the outcome of the order.
    touched: Vec<(bool, i128, Outcome)>,
}

/// A step that users hear of.
pub(crate) enum Told {
    /// After the step; `type`, `state`.
    Order(Order, &'static str, &'static str),
    Trade(Box<Trade>),
    Withdrawal(Withdrawal),
}

/// What a frame did.
#[derive(Default)]
pub(crate) struct Story {
    pub(crate) books: Vec<BookStory>,
    pub(crate) told: Vec<Told>,
    /// Events that subscribers of markets hear of.
    pub(crate) notices: Vec<Event>,
    /// The frame's order, placed or released, or its quotes.
    pub(crate) own: Vec<PlaceOrder>,
}

/// All data of a journal.
#[derive(Default)]
pub(crate) struct Naive {
    /// Of the last restore, or of the journal.
    pub(crate) genesis: [u8; 32],
    pub(crate) now: TimeNs,
    pub(crate) last: Sequence,
    pub(crate) wallets: Vec<String>,
    /// Owner of each account.
    pub(crate) owners: Vec<usize>,
    /// Text and owner.
    pub(crate) keys: Vec<([u8; 16], usize)>,
    pub(crate) markets: Vec<Market>,
    pub(crate) groups: Vec<Group>,
    /// Orders in books.
    pub(crate) orders: BTreeMap<OrderNumber, Order>,
    /// Orders that wait, in no book.
    delayed: BTreeMap<OrderNumber, Order>,
    /// Orders that ended with an unfilled rest.
    pub(crate) ended: Vec<(Sequence, OrderId, CloseReason)>,
    pub(crate) fills: Vec<Trade>,
    pub(crate) positions: Positions,
    pub(crate) closed: Vec<Closed>,
    pub(crate) actions: Vec<Action>,
    /// Account, second and amount of every profit, negative for a loss.
    pub(crate) profits: Vec<(usize, u64, i128)>,
    /// Lots of outside questions by market and account, and when they last grew: positions once it won.
    outside: BTreeMap<(usize, usize), (i128, u64)>,
    /// Those that wait, by number.
    withdrawals: BTreeMap<u64, Withdrawal>,
}

impl Naive {
    pub(crate) fn new(genesis: [u8; 32]) -> Self {
        Self {
            genesis,
            ..Self::default()
        }
    }

    /// A whole journal.
    pub(crate) fn of(journal: &Journal) -> Self {
        Self::written(journal, [0; 32])
    }

    /// After a journal that begins with these random bytes, which name its trades.
    pub(crate) fn written(journal: &Journal, genesis: [u8; 32]) -> Self {
        let mut naive = Self::new(genesis);
        for frame in &journal.frames {
            naive.fold(frame);
        }
        naive
    }

    pub(crate) fn fold(&mut self, frame: &Frame) -> Story {
        self.now = self.now.max(frame.stamp.time);
        self.last = frame.sequence;
        let mut story = Story::default();
        let mut placing = self.begin(frame, &mut story);
        for event in &frame.events {
            self.fold_order(frame, event, &mut placing, &mut story);
            self.fold_registry(frame, event, &mut story);
            self.fold_withdrawals(frame, event, &mut story);
            self.fold_action(event);
        }
        let second = self.second();
        for (account, profit) in std::mem::take(&mut self.positions.earned) {
            self.profits.push((account, second, profit));
        }
        let closed = self.positions.take_closed(self.last.0);
        self.closed.extend(closed);
        story
    }

    pub(crate) fn is_outside(&self, market: MarketNumber) -> bool {
        self.markets[market.0 as usize].outside
    }

    fn second(&self) -> u64 {
        self.now.0 / 1_000_000_000
    }

    /// The markets that answers show, with their numbers.
    pub(crate) fn shown(&self) -> impl Iterator<Item = (usize, &Market)> {
        let numbered = self.markets.iter().enumerate();
        numbered.filter(|(_, market)| market.is_shown())
    }

    /// The event of a market or of an outside question.
    pub(crate) fn group_of(&self, market: usize) -> Option<usize> {
        let of_outside = || self.groups.iter().position(|group| group.outside == market);
        self.markets[market].event.or_else(of_outside)
    }
}
