//! A naive fold of a journal with its own arithmetic (docs/verify/rules.md §10, §11, §18): signed
//! integers, one map of positions, lists of all events.

use foretell_model::outside::outside_names;
use std::collections::BTreeMap;

use foretell_model::event::{
    AccountOpened, Converted, EventRegistered, MarketResolved, Merged, OrderClosed, OrderDecreased,
    OrderReleased, OrderRested, RebatePaid, Redeemed, Split,
};
use foretell_model::{
    Command, ConditionId, Event, Fill, MatchKind, OrderNumber, Outcome, Payout, PlaceOrder, Side,
    TokenId,
};

use crate::properties::data_agrees::positions::{Closed, Key, Positions, floor_parts};
use crate::properties::journal::{Frame, Journal};
use crate::properties::quoted::order_of;

/// A market.
#[derive(Clone)]
pub(crate) struct Market {
    pub(crate) condition: String,
    /// Decimal token ids.
    pub(crate) tokens: [String; 2],
    pub(crate) event: Option<usize>,
    /// Whether it is the outside question of an event.
    outside: bool,
    /// Whether it has words of its own: an outside question only once it is described.
    pub(crate) is_described: bool,
    /// Price units of `[Yes, No]`, once resolved.
    pub(crate) pays: Option<[i128; 2]>,
    pub(crate) supply: [i128; 2],
    pub(crate) volume: i128,
    last_yes: Option<i128>,
}

impl Market {
    /// Whether answers show it: an outside question only when it won.
    pub(crate) fn is_shown(&self) -> bool {
        !self.outside || self.pays == Some([10_000, 0])
    }
}

/// One side of a trade.
#[derive(Clone, Copy)]
pub(crate) struct Leg {
    pub(crate) account: usize,
    pub(crate) outcome: usize,
    pub(crate) buys: bool,
    pub(crate) price: i128,
    /// Of the taker, in micros; 0 of the maker.
    pub(crate) fee: i128,
    pub(crate) builder: u64,
}

/// A trade.
#[derive(Clone, Copy)]
pub(crate) struct Trade {
    pub(crate) market: usize,
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

/// The order of a frame, or one that waits.
#[derive(Clone, Copy)]
struct Own {
    number: OrderNumber,
    order: PlaceOrder,
    builder: u64,
}

#[derive(Clone, Copy)]
struct Resting {
    order: PlaceOrder,
    lots: i128,
    builder: u64,
}

/// All data of a journal.
#[derive(Default)]
pub(crate) struct Plain {
    pub(crate) wallets: Vec<String>,
    pub(crate) markets: Vec<Market>,
    /// Questions of each event, and the lots ever converted.
    pub(crate) events: Vec<(Vec<usize>, i128)>,
    pub(crate) positions: Positions,
    pub(crate) closed: Vec<Closed>,
    pub(crate) fills: Vec<Trade>,
    pub(crate) actions: Vec<Action>,
    /// Account, second and amount of every profit, negative for a loss.
    pub(crate) profits: Vec<(usize, u64, i128)>,
    /// Catalog ids of the events.
    pub(crate) event_ids: Vec<u64>,
    /// Lots of outside questions by market and account, and when they last grew: positions once it won.
    outside: BTreeMap<(usize, usize), (i128, u64)>,
    /// The outside question of each event.
    outside_of: Vec<usize>,
    resting: BTreeMap<OrderNumber, Resting>,
    delayed: BTreeMap<OrderNumber, Own>,
    own: Option<Own>,
    now: u64,
    pub(crate) last: u64,
}

impl Plain {
    /// A whole journal.
    pub(crate) fn of(journal: &Journal) -> Self {
        let mut plain = Self::default();
        journal.frames.iter().for_each(|frame| plain.fold(frame));
        plain
    }

    /// The markets that answers show, with their numbers.
    pub(crate) fn shown(&self) -> impl Iterator<Item = (usize, &Market)> {
        let numbered = self.markets.iter().enumerate();
        numbered.filter(|(_, market)| market.is_shown())
    }

    pub(crate) fn fold(&mut self, frame: &Frame) {
        self.now = self.now.max(frame.stamp.time.0);
        self.last = frame.sequence.0;
        self.own = match frame.command {
            Command::PlaceOrder(order) => Some(Own {
                number: OrderNumber::of(frame.sequence, 0),
                order,
                builder: frame.builder(),
            }),
            _ => None,
        };
        for event in &frame.events {
            self.event(frame, event);
        }
        let second = self.second();
        for (account, profit) in std::mem::take(&mut self.positions.earned) {
            self.profits.push((account, second, profit));
        }
        let closed = self.positions.take_closed(self.last);
        self.closed.extend(closed);
    }

    /// The event of a market or of an outside question.
    pub(crate) fn group_of(&self, market: usize) -> Option<usize> {
        let of_outside = || {
            self.outside_of
                .iter()
                .position(|outside| *outside == market)
        };
        self.markets[market].event.or_else(of_outside)
    }

    fn second(&self) -> u64 {
        self.now / 1_000_000_000
    }

    fn event(&mut self, frame: &Frame, event: &Event) {
        match *event {
            Event::AccountOpened(AccountOpened { wallet, .. }) => {
                self.wallets.push(format!("0x{}", hex::encode(wallet.0)));
            }
            Event::EventRegistered(EventRegistered { id, outside, .. }) => {
                self.events.push((Vec::new(), 0));
                self.event_ids.push(id.0);
                self.outside_of.push(outside.0 as usize);
                let (condition, tokens) = outside_names(id);
                self.list(condition, tokens, None, true);
            }
            Event::MarketRegistered(_) => self.register(frame),
            Event::MarketDescribed { market } => {
                self.markets[market.0 as usize].is_described = true;
            }
            Event::MarketResolved(MarketResolved { market, payout }) => {
                self.markets[market.0 as usize].pays = Some(match payout {
                    Payout::Yes => [10_000, 0],
                    Payout::No | Payout::Outside => [0, 10_000],
                    Payout::Half => [5_000, 5_000],
                });
                let resolved = market.0 as usize;
                if self.markets[resolved].outside && payout == Payout::Yes {
                    let won = self.outside.range((resolved, 0)..(resolved + 1, 0));
                    for (&(market, account), &(lots, second)) in won {
                        self.positions
                            .buy((account, market, 0), lots, (0, 0), second);
                    }
                }
            }
            Event::OrderRested(OrderRested { lots, .. }) => {
                let own = self.own.expect("an order");
                let resting = Resting {
                    order: own.order,
                    lots: i128::from(lots.0),
                    builder: own.builder,
                };
                self.resting.insert(own.number, resting);
            }
            Event::QuotePlaced(placed) => {
                let resting = Resting {
                    order: order_of(&frame.command, &frame.evidence, &placed),
                    lots: i128::from(placed.lots.0),
                    builder: frame.builder(),
                };
                self.resting.insert(placed.order, resting);
            }
            Event::OrderDelayed(_) => {
                let own = self.own.expect("an order");
                self.delayed.insert(own.number, own);
            }
            Event::OrderReleased(OrderReleased { order, .. }) => {
                self.own = self.delayed.remove(&order)
            }
            Event::OrderDecreased(OrderDecreased { order, lots, .. }) => {
                self.resting.get_mut(&order).expect("it rests").lots = i128::from(lots.0);
            }
            Event::OrderClosed(OrderClosed { order, .. }) => {
                self.resting.remove(&order);
                self.delayed.remove(&order);
            }
            Event::Fill(fill) => self.fill(frame, &fill),
            _ => self.action(event),
        }
    }

    fn register(&mut self, frame: &Frame) {
        let Command::RegisterMarket(rules) = frame.command else {
            panic!("{:?}", frame.command);
        };
        let event = rules.event.map(|event| event.0 as usize);
        if let Some(event) = event {
            self.events[event].0.push(self.markets.len());
        }
        self.list(rules.condition, rules.tokens, event, false);
    }

    fn list(
        &mut self,
        condition: ConditionId,
        tokens: [TokenId; 2],
        event: Option<usize>,
        outside: bool,
    ) {
        self.markets.push(Market {
            condition: format!("0x{}", hex::encode(condition.0)),
            tokens: tokens.map(|token| foretell_wire::text::ids::token_text(&token)),
            event,
            outside,
            is_described: !outside,
            pays: None,
            supply: [0; 2],
            volume: 0,
            last_yes: None,
        });
    }

    fn fill(&mut self, frame: &Frame, fill: &Fill) {
        let Own {
            order: taker,
            builder,
            ..
        } = self.own.expect("a taker");
        let lots = i128::from(fill.lots.0);
        let yes = i128::from(fill.yes_price.0);
        let resting = self.resting[&fill.maker_order];
        let leg = |order: &PlaceOrder, builder: u64, fee: u64| Leg {
            builder,
            fee: i128::from(fee),
            account: order.account.0 as usize,
            outcome: order.outcome.index(),
            buys: order.side == Side::Buy,
            price: if order.outcome == Outcome::Yes {
                yes
            } else {
                10_000 - yes
            },
        };
        let legs = [
            leg(&taker, builder, fill.fee.0),
            leg(&resting.order, resting.builder, 0),
        ];
        let market = taker.market.0 as usize;
        let second = self.second();
        for leg in legs {
            let (key, value) = ((leg.account, market, leg.outcome), lots * leg.price);
            if leg.buys {
                self.positions.buy(key, lots, (value, leg.fee), second);
            } else {
                self.positions.sell(key, lots, value - leg.fee, second);
            }
        }
        let change = match fill.kind {
            MatchKind::Complementary => 0,
            MatchKind::Mint => lots,
            MatchKind::Merge => -lots,
        };
        let traded = &mut self.markets[market];
        traded.supply = traded.supply.map(|supply| supply + change);
        traded.volume += lots * legs[0].price;
        traded.last_yes = Some(yes);
        self.fills.push(Trade {
            market,
            lots,
            second,
            sequence: frame.sequence.0,
            legs,
        });
        let left = self.resting.get_mut(&fill.maker_order).expect("it rests");
        left.lots -= lots;
        if left.lots == 0 {
            self.resting.remove(&fill.maker_order);
        }
    }

    fn action(&mut self, event: &Event) {
        let second = self.second();
        let (kind, account, market, lots, collateral) = match *event {
            Event::Split(Split {
                account,
                market,
                lots,
            }) => {
                let (account, market) = (account.0 as usize, market.0 as usize);
                let lots = i128::from(lots.0);
                for outcome in 0..2 {
                    let cost = (lots * 5_000, 0);
                    self.positions
                        .buy((account, market, outcome), lots, cost, second);
                    self.markets[market].supply[outcome] += lots;
                }
                ("SPLIT", account, market, lots, lots * 10_000)
            }
            Event::Merged(Merged {
                account,
                market,
                lots,
            }) => {
                let (account, market) = (account.0 as usize, market.0 as usize);
                let lots = i128::from(lots.0);
                for outcome in 0..2 {
                    self.positions
                        .sell((account, market, outcome), lots, lots * 5_000, second);
                    self.markets[market].supply[outcome] -= lots;
                }
                ("MERGE", account, market, lots, lots * 10_000)
            }
            Event::Redeemed(Redeemed {
                account,
                market,
                lots,
                ..
            }) => {
                let (account, market) = (account.0 as usize, market.0 as usize);
                if !self.markets[market].is_shown() {
                    return;
                }
                let pays = self.markets[market].pays.expect("it is resolved");
                for outcome in 0..2 {
                    let lots = i128::from(lots[outcome].0);
                    let proceeds = lots * pays[outcome];
                    self.positions
                        .sell((account, market, outcome), lots, proceeds, second);
                    self.markets[market].supply[outcome] -= lots;
                    if lots > 0 {
                        self.actions.push(Action {
                            kind: "REDEEM",
                            account,
                            market,
                            outcome: Some(outcome),
                            lots,
                            collateral: proceeds,
                            second,
                            sequence: self.last,
                        });
                    }
                }
                return;
            }
            Event::Converted(Converted {
                account,
                event,
                questions,
                lots,
                ..
            }) => {
                let (account, event) = (account.0 as usize, event.0 as usize);
                let lots = i128::from(lots.0);
                let all = self.events[event].0.clone();
                let is_given =
                    |place: usize| questions.contains(u32::try_from(place).expect("few questions"));
                let given = (0..all.len()).filter(|place| is_given(*place));
                let given: Vec<usize> = given.map(|place| all[place]).collect();
                let is_open = |place: usize| self.markets[all[place]].pays.is_none();
                let others = (0..all.len()).filter(|place| !is_given(*place) && is_open(*place));
                let others: Vec<usize> = others.map(|place| all[place]).collect();
                let collateral = lots * 10_000 * (i128::try_from(given.len()).expect("few") - 1);
                self.convert(account, &given, &others, (lots, collateral));
                self.events[event].1 += lots;
                let outside = self.outside_of[event];
                self.markets[outside].supply[0] += lots;
                let held = self.outside.entry((outside, account)).or_default();
                *held = (held.0 + lots, second);
                ("CONVERSION", account, given[0], lots, collateral)
            }
            Event::RebatePaid(RebatePaid { account, amount }) => {
                let amount = i128::from(amount.0);
                (
                    "MAKER_REBATE",
                    account.0 as usize,
                    NO_MARKET,
                    amount / 10_000,
                    amount,
                )
            }
            _ => return,
        };
        let sequence = self.last;
        self.actions.push(Action {
            kind,
            account,
            market,
            outcome: None,
            lots,
            collateral,
            second,
            sequence,
        });
    }

    fn convert(
        &mut self,
        account: usize,
        given: &[usize],
        others: &[usize],
        (lots, collateral): (i128, i128),
    ) {
        let second = self.second();
        let no = |market: usize| -> Key { (account, market, 1) };
        let (mut cost, mut fees) = (0, 0);
        for &market in given {
            let (of_cost, of_fees) = self.positions.give(no(market), lots, second);
            (cost, fees) = (cost + of_cost, fees + of_fees);
            self.markets[market].supply[1] -= lots;
        }
        if others.is_empty() {
            let parts = floor_parts(collateral - cost - fees, given.len());
            for (&market, part) in given.iter().zip(parts) {
                self.positions.earn(no(market), part);
            }
        } else {
            let costs = floor_parts(cost - collateral, others.len());
            let parts = costs.into_iter().zip(floor_parts(fees, others.len()));
            for (&market, part) in others.iter().zip(parts) {
                self.positions.buy((account, market, 0), lots, part, second);
                self.markets[market].supply[0] += lots;
            }
        }
    }

    /// The current price of a token in half units of 0.00005.
    pub(crate) fn price(&self, market: usize, outcome: usize) -> i128 {
        let of = &self.markets[market];
        if let Some(pays) = of.pays {
            return pays[outcome] * 2;
        }
        let (mut bid, mut ask) = (None, None);
        for resting in self.resting.values() {
            let order = &resting.order;
            if order.market.0 as usize != market {
                continue;
            }
            let (shares, value) = match order.side {
                Side::Buy => (order.taker_amount, order.maker_amount),
                Side::Sell => (order.maker_amount, order.taker_amount),
            };
            let own = i128::from(value) * 10_000 / i128::from(shares);
            let is_yes = order.outcome == Outcome::Yes;
            let yes = if is_yes { own } else { 10_000 - own };
            if is_yes == (order.side == Side::Buy) {
                bid = bid.max(Some(yes));
            } else {
                ask = Some(ask.map_or(yes, |ask: i128| ask.min(yes)));
            }
        }
        let yes = match (bid, ask, of.last_yes) {
            (Some(bid), Some(ask), _) if ask - bid <= 1_000 => bid + ask,
            (_, _, Some(last)) => 2 * last,
            (Some(bid), Some(ask), None) => bid + ask,
            _ => 10_000,
        };
        if outcome == 0 { yes } else { 20_000 - yes }
    }
}
