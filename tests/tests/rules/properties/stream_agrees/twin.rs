//! The twin: plain maps of orders, and what each frame does to them.

use std::collections::BTreeMap;

use foretell_gateway::{StreamFold, StreamMessage};
use foretell_model::command::{RegisterKey, RegisterMarket};
use foretell_model::event::{
    AccountOpened, EventRegistered, FeeSet, KeyRegistered, MarketResolved, MarketSettled,
    MarketStateSet, MinimumSizeSet, OrderClosed, OrderDecreased, OrderReleased, OrderRested,
    TermsSet, TickSet, WalletBound, WalletUnbound,
};
use foretell_model::{
    Command, ConditionId, Event, EventId, FeeSchedule, Lots, MarketNumber, MarketState,
    MarketTerms, OrderType, Outcome, PlaceOrder, Price, Sequence, Side, Tick, TimeMs, TimeNs,
    TokenId, words,
};
use serde_json::Value;

use crate::properties::journal::Frame;
use crate::properties::quoted::order_of;
use crate::properties::stream_agrees::text::uuid;

/// One order, live or being placed.
#[derive(Clone)]
pub(crate) struct TwinOrder {
    pub(crate) placed: PlaceOrder,
    /// In its own token.
    pub(crate) price: u64,
    pub(crate) left: u64,
    pub(crate) matched: u64,
    /// Lots that its owner took off.
    pub(crate) taken_off: u64,
    pub(crate) created: TimeNs,
    /// Ids, oldest first.
    pub(crate) trades: Vec<String>,
}

impl TwinOrder {
    /// On the bid side of Yes?
    fn is_bid(&self) -> bool {
        (self.placed.side == Side::Buy) == (self.placed.outcome == Outcome::Yes)
    }

    fn yes_price(&self) -> u64 {
        match self.placed.outcome {
            Outcome::Yes => self.price,
            Outcome::No => 10_000 - self.price,
        }
    }
}

/// A market.
pub(crate) struct TwinMarket {
    pub(crate) rules: RegisterMarket,
    pub(crate) terms: MarketTerms,
    pub(crate) description: Value,
    /// The frame that last told something of its book, and its time.
    pub(crate) changed: (Sequence, TimeNs),
    /// Its word on `market_status`.
    pub(crate) state: MarketState,
    /// Yes price and time.
    pub(crate) last_trade: Option<(u64, TimeNs)>,
}

/// Changes the words of a market or event group.
fn edit(description: &mut Value, edit: &[u8]) {
    for (name, value) in words::parts(edit).1 {
        let name = str::from_utf8(name).expect("a name");
        description[name] = serde_json::from_slice(value).expect("JSON");
    }
}

impl TwinMarket {
    pub(crate) fn label(&self, outcome: Outcome) -> String {
        let label = &self.description["outcomes"][outcome.index()];
        let plain = ["Yes", "No"][outcome.index()];
        label.as_str().unwrap_or(plain).to_owned()
    }
}

/// One side's levels by Yes price.
pub(crate) type SideLevels = BTreeMap<u64, u64>;

/// The levels of a market's bids and asks.
#[derive(Clone, Default, PartialEq, Debug)]
pub(crate) struct Ladder {
    pub(crate) bids: SideLevels,
    pub(crate) asks: SideLevels,
}

/// A level that differs after a frame.
pub(crate) struct Changed {
    pub(crate) is_bid: bool,
    pub(crate) yes_price: u64,
    pub(crate) before: u64,
    pub(crate) after: u64,
    /// The outcome of the order that touched it first.
    pub(crate) first: Outcome,
}

/// What a frame did to one market's book.
pub(crate) struct BookStory {
    pub(crate) market: MarketNumber,
    pub(crate) before: Ladder,
    pub(crate) previous: (Sequence, TimeNs),
    pub(crate) last_trade_before: Option<TimeNs>,
    pub(crate) ticks: Vec<(u16, u16)>,
    /// Levels in the order in which orders touched them.
    touched: Vec<(bool, u64, Outcome)>,
}

/// A step of the user channel.
pub(crate) enum Step {
    /// Its account, `type`, `state`.
    Order(TwinOrder, &'static str, &'static str),
    Trade(TwinTrade),
    Withdrawal(TwinWithdrawal),
}

/// A withdrawal after a change.
#[derive(Clone)]
pub(crate) struct TwinWithdrawal {
    pub(crate) number: u64,
    pub(crate) account: u32,
    pub(crate) amount: u64,
    pub(crate) status: &'static str,
    pub(crate) asked: TimeNs,
    pub(crate) changed: TimeNs,
}

/// A trade.
#[derive(Clone)]
pub(crate) struct TwinTrade {
    pub(crate) id: String,
    pub(crate) taker: PlaceOrder,
    pub(crate) maker: PlaceOrder,
    pub(crate) yes_price: u64,
    pub(crate) lots: u64,
    pub(crate) fee: u64,
}

/// What a frame did.
#[derive(Default)]
pub(crate) struct Story {
    pub(crate) books: Vec<BookStory>,
    pub(crate) steps: Vec<Step>,
    pub(crate) notices: Vec<Event>,
    /// The frame's order, placed or released, or its quotes.
    pub(crate) own: Vec<PlaceOrder>,
}

/// The exchange as streams need it.
pub(crate) struct Twin {
    pub(crate) genesis: [u8; 32],
    pub(crate) limits: (usize, usize),
    pub(crate) now: TimeNs,
    pub(crate) orders: BTreeMap<u64, TwinOrder>,
    /// Orders that wait, in no book.
    delayed: BTreeMap<u64, TwinOrder>,
    pub(crate) markets: Vec<TwinMarket>,
    /// The outside questions among them.
    outside: std::collections::BTreeSet<MarketNumber>,
    /// Event groups and their words.
    pub(crate) groups: Vec<(EventId, Value)>,
    /// Wallet and owner.
    pub(crate) accounts: Vec<([u8; 20], u32)>,
    /// Text and owner.
    pub(crate) keys: Vec<([u8; 16], u32)>,
    /// Those that wait, by number.
    withdrawals: BTreeMap<u64, TwinWithdrawal>,
}

impl Twin {
    pub(crate) fn new(genesis: [u8; 32], limits: (usize, usize)) -> Self {
        Self {
            genesis,
            limits,
            now: TimeNs(0),
            orders: BTreeMap::new(),
            delayed: BTreeMap::new(),
            markets: Vec::new(),
            outside: Default::default(),
            groups: Vec::new(),
            accounts: Vec::new(),
            keys: Vec::new(),
            withdrawals: BTreeMap::new(),
        }
    }

    /// The messages of the next frame.
    pub(crate) fn frame(
        &mut self,
        frame: &Frame,
        receipt: [u8; 32],
        written: TimeMs,
    ) -> Vec<StreamMessage> {
        self.now = self.now.max(frame.stamp.time);
        let story = self.story(frame);
        self.messages(frame, &story, receipt, written)
    }

    pub(crate) fn ladder(&self, market: MarketNumber) -> Ladder {
        let mut ladder = Ladder::default();
        for order in self.orders.values() {
            if order.placed.market == market {
                let side = match order.is_bid() {
                    true => &mut ladder.bids,
                    false => &mut ladder.asks,
                };
                *side.entry(order.yes_price()).or_default() += order.left;
            }
        }
        ladder
    }

    /// After the frame.
    pub(crate) fn changed(&self, book: &BookStory) -> Vec<Changed> {
        let after = self.ladder(book.market);
        let mut changed: Vec<Changed> = Vec::new();
        for &(is_bid, yes_price, first) in &book.touched {
            let total = |ladder: &Ladder| {
                let side = if is_bid { &ladder.bids } else { &ladder.asks };
                side.get(&yes_price).copied().unwrap_or(0)
            };
            let (before, after) = (total(&book.before), total(&after));
            let known = |it: &Changed| (it.is_bid, it.yes_price) == (is_bid, yes_price);
            if before != after && !changed.iter().any(known) {
                changed.push(Changed {
                    is_bid,
                    yes_price,
                    before,
                    after,
                    first,
                });
            }
        }
        changed
    }

    fn story(&mut self, frame: &Frame) -> Story {
        let mut story = Story::default();
        let mut own = match &frame.command {
            Command::PlaceOrder(placed) => Some(self.placed(placed)),
            _ => None,
        };
        story.own.extend(own.as_ref().map(|own| own.placed));
        let is_killed = |event: &Event| matches!(event, Event::OrderKilled(_));
        if let Some(own) = &own
            && !frame.events.iter().any(is_killed)
        {
            let waits = |event: &Event| matches!(event, Event::OrderDelayed(_));
            let status = match frame.events.iter().any(waits) {
                true => "DELAYED",
                false => "LIVE",
            };
            let step = Step::Order(own.clone(), "PLACEMENT", status);
            story.steps.push(step);
        }
        let mut number = frame.sequence.0;
        let mut is_released = false;
        let mut fills = 0;
        for event in &frame.events {
            match *event {
                Event::Fill(fill) => {
                    let own = own.as_mut().expect("a taker");
                    let id = self.trade_id(frame.sequence, fills);
                    fills += 1;
                    let mut maker = self.orders[&fill.maker_order.0].clone();
                    self.touch(&mut story, &maker, frame.sequence);
                    own.matched += fill.lots.0;
                    own.trades.push(id.clone());
                    maker.matched += fill.lots.0;
                    maker.left -= fill.lots.0;
                    maker.trades.push(id.clone());
                    story.steps.push(Step::Trade(TwinTrade {
                        id,
                        taker: own.placed,
                        maker: maker.placed,
                        yes_price: fill.yes_price.0.into(),
                        lots: fill.lots.0,
                        fee: fill.fee.0,
                    }));
                    let status = if maker.left == 0 { "MATCHED" } else { "LIVE" };
                    story
                        .steps
                        .push(Step::Order(maker.clone(), "UPDATE", status));
                    let market = &mut self.markets[maker.placed.market.0 as usize];
                    market.last_trade = Some((fill.yes_price.0.into(), self.now));
                    match maker.left {
                        0 => self.orders.remove(&fill.maker_order.0),
                        _ => self.orders.insert(fill.maker_order.0, maker),
                    };
                }
                Event::QuotePlaced(placed) => {
                    let order = order_of(&frame.command, &frame.evidence, &placed);
                    story.own.push(order);
                    let mut quote = self.placed(&order);
                    self.touch(&mut story, &quote, frame.sequence);
                    quote.left = placed.lots.0;
                    (story.steps).push(Step::Order(quote.clone(), "PLACEMENT", "LIVE"));
                    self.orders.insert(placed.order.0, quote);
                }
                Event::OrderRested(OrderRested { lots, price }) => {
                    let mut own = own.take().expect("an order");
                    assert_eq!(Price(u16::try_from(own.price).expect("a price")), price);
                    self.touch(&mut story, &own, frame.sequence);
                    own.left = lots.0;
                    if own.matched > 0 || is_released {
                        story.steps.push(Step::Order(own.clone(), "UPDATE", "LIVE"));
                    }
                    self.orders.insert(number, own);
                }
                Event::OrderDelayed(_) => {
                    let own = own.take().expect("an order");
                    self.delayed.insert(number, own);
                }
                Event::OrderReleased(OrderReleased { order, .. }) => {
                    number = order.0;
                    is_released = true;
                    own = self.delayed.remove(&number);
                    story.own.extend(own.as_ref().map(|own| own.placed));
                }
                Event::OrderCompleted => {
                    let own = own.take().expect("an order");
                    story.steps.push(Step::Order(own, "UPDATE", "MATCHED"));
                }
                Event::OrderKilled(_) => {
                    let own = own.take().expect("an order");
                    let step = Step::Order(own, "CANCELLATION", "UNMATCHED");
                    story.steps.push(step);
                }
                Event::OrderClosed(OrderClosed { order, reason, .. }) => {
                    let waiting = self.delayed.remove(&order.0);
                    let closed = match (order.0 == number, waiting) {
                        (_, Some(waiting)) => waiting,
                        (true, None) => own.take().expect("an order"),
                        (false, None) => {
                            let order = self.orders[&order.0].clone();
                            self.touch(&mut story, &order, frame.sequence);
                            order
                        }
                    };
                    self.orders.remove(&order.0);
                    let status = match reason {
                        foretell_model::CloseReason::MarketClosed => "CANCELED_MARKET_RESOLVED",
                        foretell_model::CloseReason::FokNotFilled => "UNMATCHED",
                        _ => "CANCELED",
                    };
                    story
                        .steps
                        .push(Step::Order(closed, "CANCELLATION", status));
                }
                Event::OrderDecreased(OrderDecreased { order, lots, .. }) => {
                    let mut smaller = self.orders[&order.0].clone();
                    self.touch(&mut story, &smaller, frame.sequence);
                    smaller.taken_off += smaller.left - lots.0;
                    smaller.left = lots.0;
                    (story.steps).push(Step::Order(smaller.clone(), "UPDATE", "LIVE"));
                    self.orders.insert(order.0, smaller);
                }
                ref event => self.other(frame, event, &mut story),
            }
        }
        story
    }

    /// Events that are not about orders.
    fn other(&mut self, frame: &Frame, event: &Event, story: &mut Story) {
        match *event {
            Event::Restored { branch } => self.genesis = branch.0,
            Event::WithdrawalRequested(asked) => {
                let waits = TwinWithdrawal {
                    number: frame.sequence.0,
                    account: asked.account.0,
                    amount: asked.amount.0,
                    status: match frame.command {
                        Command::Withdraw(_) => "claimed",
                        _ => "requested",
                    },
                    asked: self.now,
                    changed: self.now,
                };
                story.steps.push(Step::Withdrawal(waits.clone()));
                self.withdrawals.insert(waits.number, waits);
            }
            Event::WithdrawalClaimed { withdrawal } => {
                let waits = self.withdrawals.get_mut(&withdrawal.0);
                let waits = waits.expect("it waits");
                (waits.status, waits.changed) = ("claimed", self.now);
                story.steps.push(Step::Withdrawal(waits.clone()));
            }
            Event::WithdrawalReleased(ended) => {
                let waited = self.withdrawals.remove(&ended.asked.0);
                story.steps.push(Step::Withdrawal(TwinWithdrawal {
                    status: match frame.command {
                        Command::PayWithdrawal(_) => "paid",
                        Command::FailWithdrawal { .. } => "failed",
                        _ => "cancelled",
                    },
                    changed: self.now,
                    ..waited.expect("it waited")
                }));
            }
            Event::TickSet(TickSet { market, tick }) => {
                let book = self.touch_book(story, market, frame.sequence);
                let rules = &mut self.markets[market.0 as usize].rules;
                story.books[book]
                    .ticks
                    .push((rules.tick.units(), tick.units()));
                rules.tick = tick;
            }
            Event::MinimumSizeSet(MinimumSizeSet {
                market,
                minimum_size,
            }) => {
                self.touch_book(story, market, frame.sequence);
                self.markets[market.0 as usize].rules.minimum_size = minimum_size;
            }
            Event::AccountOpened(AccountOpened { account, wallet }) => {
                self.accounts.push((wallet.0, account.0));
            }
            Event::WalletBound(WalletBound { owner, wallet, .. }) => {
                self.accounts[wallet.0 as usize].1 = owner.0;
            }
            Event::WalletUnbound(WalletUnbound { wallet, .. }) => {
                self.accounts[wallet.0 as usize].1 = wallet.0;
            }
            Event::KeyRegistered(KeyRegistered { owner, .. }) => {
                if let Command::RegisterKey(RegisterKey { api_key, .. }) = frame.command {
                    self.keys.push((api_key.0, owner.0));
                }
            }
            Event::MarketRegistered(_) => {
                if let Command::RegisterMarket(rules) = frame.command {
                    let description = serde_json::from_slice(frame.own_evidence());
                    let description = description.unwrap_or_default();
                    self.list(rules, description, frame.sequence);
                }
                story.notices.push(*event);
            }
            Event::EventRegistered(EventRegistered { id, outside, .. }) => {
                let words = serde_json::from_slice(frame.own_evidence()).unwrap_or_default();
                self.groups.push((id, words));
                let rules = RegisterMarket {
                    condition: ConditionId::ZERO,
                    tokens: [TokenId::ZERO; 2],
                    tick: Tick::Tenth,
                    tick_refines: false,
                    minimum_size: Lots(1),
                    fee: FeeSchedule::default(),
                    event: None,
                    index: None,
                };
                self.list(rules, Default::default(), frame.sequence);
                self.outside.insert(outside);
            }
            // Nobody hears of an outside question.
            Event::MarketResolved(MarketResolved { market, .. })
            | Event::MarketSettled(MarketSettled { market, .. })
                if self.outside.contains(&market) => {}
            Event::MarketDescribed { market } => {
                edit(
                    &mut self.markets[market.0 as usize].description,
                    frame.own_evidence(),
                );
            }
            Event::EventDescribed { event } => {
                edit(&mut self.groups[event.0 as usize].1, frame.own_evidence());
            }
            Event::TermsSet(TermsSet { market, terms, .. }) => {
                self.markets[market.0 as usize].terms = terms;
                story.notices.push(*event);
            }
            Event::FeeSet(FeeSet { market, fee }) => {
                self.markets[market.0 as usize].rules.fee = fee;
                story.notices.push(*event);
            }
            Event::MarketStateSet(MarketStateSet { market, state, .. }) => {
                self.markets[market.0 as usize].state = state;
                story.notices.push(*event);
            }
            Event::MarketResolved(_)
            | Event::MarketCleared { .. }
            | Event::Proposed(_)
            | Event::Disputed(_)
            | Event::ProposalWithdrawn { .. }
            | Event::MarketSettled(_)
            | Event::ModeSet { .. } => story.notices.push(*event),
            _ => {}
        }
    }

    fn list(&mut self, rules: RegisterMarket, description: Value, sequence: Sequence) {
        self.markets.push(TwinMarket {
            rules,
            terms: MarketTerms::default(),
            description,
            changed: (sequence, self.now),
            state: MarketState::Registered,
            last_trade: None,
        });
    }

    fn touch(&mut self, story: &mut Story, order: &TwinOrder, sequence: Sequence) {
        let book = self.touch_book(story, order.placed.market, sequence);
        let level = (order.is_bid(), order.yes_price(), order.placed.outcome);
        story.books[book].touched.push(level);
    }

    fn touch_book(&mut self, story: &mut Story, market: MarketNumber, at: Sequence) -> usize {
        let known = story.books.iter().position(|book| book.market == market);
        if let Some(known) = known {
            return known;
        }
        let before = self.ladder(market);
        let touched = &mut self.markets[market.0 as usize];
        story.books.push(BookStory {
            market,
            before,
            previous: touched.changed,
            last_trade_before: touched.last_trade.map(|(_, time)| time),
            ticks: Vec::new(),
            touched: Vec::new(),
        });
        touched.changed = (at, self.now);
        story.books.len() - 1
    }

    fn placed(&self, placed: &PlaceOrder) -> TwinOrder {
        let tick = u128::from(self.markets[placed.market.0 as usize].rules.tick.units());
        let (collateral, shares) = match placed.side {
            Side::Buy => (placed.maker_amount, placed.taker_amount),
            Side::Sell => (placed.taker_amount, placed.maker_amount),
        };
        let (value, shares) = (u128::from(collateral) * 10_000, u128::from(shares));
        let is_exact = matches!(placed.order_type, OrderType::Gtc | OrderType::Gtd);
        let price = match (is_exact, placed.side) {
            (true, _) => value / shares,
            (false, Side::Buy) => value / shares / tick * tick,
            (false, Side::Sell) => value.div_ceil(shares).div_ceil(tick) * tick,
        };
        TwinOrder {
            placed: *placed,
            price: u64::try_from(price).expect("a price"),
            left: 0,
            matched: 0,
            taken_off: 0,
            created: self.now,
            trades: Vec::new(),
        }
    }

    fn trade_id(&self, sequence: Sequence, index: u32) -> String {
        let mut bytes = self.genesis.to_vec();
        bytes.extend(sequence.0.to_le_bytes());
        bytes.extend(index.to_le_bytes());
        let hash = blake3::hash(&bytes);
        uuid(hash.as_bytes()[..16].try_into().expect("16 bytes"))
    }

    /// The books that are asked for at the end are the twin's as well.
    pub(crate) fn is_whole(&self, fold: &StreamFold) {
        for (number, _) in self.markets.iter().enumerate() {
            let market = MarketNumber(u32::try_from(number).expect("few markets"));
            if self.outside.contains(&market) {
                continue;
            }
            for outcome in [Outcome::Yes, Outcome::No] {
                let book = fold.book(market, outcome).expect("a market");
                let (json, _) = self.book(market, outcome);
                let fields = &json[1..json.len() - 1];
                assert!(book.contains(fields), "{book}\nis not\n{json}");
            }
        }
    }
}
