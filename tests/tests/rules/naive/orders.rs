//! Orders, quotes and trades.

use foretell_model::event::{OrderClosed, OrderDecreased, OrderReleased, OrderRested};
use foretell_model::{
    CloseReason, Command, Event, Fill, MatchKind, OrderNumber, OrderType, PlaceOrder, Side,
};

use crate::naive::book::of_token;
use crate::naive::{Extent, Leg, Naive, Order, Story, Told, Trade};
use crate::properties::journal::Frame;
use crate::properties::quoted::order_of;
use crate::properties::text::uuid;

/// The order of a frame on its way through the frame's events.
pub(crate) struct Placing {
    own: Option<Order>,
    number: OrderNumber,
    is_released: bool,
    fills: u32,
}

impl Naive {
    /// The order that a frame places.
    pub(crate) fn begin(&self, frame: &Frame, story: &mut Story) -> Placing {
        let own = match &frame.command {
            Command::PlaceOrder(placed) => Some(self.placed(frame, placed)),
            _ => None,
        };
        story.own.extend(own.as_ref().map(|own| own.placed));
        let has = |of: fn(&Event) -> bool| frame.events.iter().any(of);
        if let Some(own) = &own
            && !has(|event| matches!(event, Event::OrderKilled(_)))
        {
            let status = match has(|event| matches!(event, Event::OrderDelayed(_))) {
                true => "DELAYED",
                false => "LIVE",
            };
            let told = Told::Order(own.clone(), "PLACEMENT", status);
            story.told.push(told);
        }
        Placing {
            own,
            number: OrderNumber::of(frame.sequence, 0),
            is_released: false,
            fills: 0,
        }
    }

    pub(crate) fn fold_order(
        &mut self,
        frame: &Frame,
        event: &Event,
        placing: &mut Placing,
        story: &mut Story,
    ) {
        let told = match *event {
            Event::Fill(fill) => {
                self.fill(&fill, placing, story);
                return;
            }
            Event::QuotePlaced(placed) => {
                let order = order_of(&frame.command, &frame.evidence, &placed);
                story.own.push(order);
                let mut quote = self.placed(frame, &order);
                self.touch(story, &quote);
                quote.left = placed.lots.0.into();
                self.orders.insert(placed.order, quote.clone());
                Told::Order(quote, "PLACEMENT", "LIVE")
            }
            Event::OrderRested(OrderRested { lots, price }) => {
                let mut own = placing.own.take().expect("an order");
                assert_eq!(own.price, i128::from(price.0));
                self.touch(story, &own);
                own.left = lots.0.into();
                self.orders.insert(placing.number, own.clone());
                if own.matched == 0 && !placing.is_released {
                    return;
                }
                Told::Order(own, "UPDATE", "LIVE")
            }
            Event::OrderDelayed(_) => {
                let own = placing.own.take().expect("an order");
                self.delayed.insert(placing.number, own);
                return;
            }
            Event::OrderReleased(OrderReleased { order, .. }) => {
                placing.number = order;
                placing.is_released = true;
                placing.own = self.delayed.remove(&order);
                story.own.extend(placing.own.as_ref().map(|own| own.placed));
                return;
            }
            Event::OrderCompleted => {
                let own = placing.own.take().expect("an order");
                Told::Order(own, "UPDATE", "MATCHED")
            }
            Event::OrderKilled(_) => {
                let own = placing.own.take().expect("an order");
                Told::Order(own, "CANCELLATION", "UNMATCHED")
            }
            Event::OrderClosed(closed) => self.close(&closed, placing, story),
            Event::OrderDecreased(OrderDecreased { order, lots, .. }) => {
                let mut smaller = self.orders[&order].clone();
                self.touch(story, &smaller);
                smaller.taken_off += smaller.left - i128::from(lots.0);
                smaller.left = lots.0.into();
                self.orders.insert(order, smaller.clone());
                Told::Order(smaller, "UPDATE", "LIVE")
            }
            _ => return,
        };
        story.told.push(told);
    }

    /// Ends an order with an unfilled rest, wherever it is.
    fn close(&mut self, closed: &OrderClosed, placing: &mut Placing, story: &mut Story) -> Told {
        let number = closed.order;
        let order = if let Some(waiting) = self.delayed.remove(&number) {
            waiting
        } else if let Some(live) = self.orders.get(&number).cloned() {
            self.touch(story, &live);
            self.orders.remove(&number);
            live
        } else {
            placing.own.take().expect("an order")
        };
        let id = order.placed.order;
        self.ended.push((self.last, id, closed.reason));
        let status = match closed.reason {
            CloseReason::MarketClosed => "CANCELED_MARKET_RESOLVED",
            CloseReason::FokNotFilled => "UNMATCHED",
            _ => "CANCELED",
        };
        Told::Order(order, "CANCELLATION", status)
    }

    fn fill(&mut self, fill: &Fill, placing: &mut Placing, story: &mut Story) {
        let own = placing.own.as_mut().expect("a taker");
        let mut maker = self.orders[&fill.maker_order].clone();
        self.touch(story, &maker);
        let id = (self.trade_id(), placing.fills);
        placing.fills += 1;
        let lots = i128::from(fill.lots.0);
        for side in [&mut *own, &mut maker] {
            side.matched += lots;
            if side.trades.last() != Some(&id.0) {
                side.trades.push(id.0.clone());
            }
        }
        maker.left -= lots;
        let trade = self.settle(fill, id, [own, &maker]);
        story.told.push(Told::Trade(Box::new(trade.clone())));
        self.fills.push(trade);
        let status = if maker.left == 0 { "MATCHED" } else { "LIVE" };
        let told = Told::Order(maker.clone(), "UPDATE", status);
        story.told.push(told);
        match maker.left {
            0 => self.orders.remove(&fill.maker_order),
            _ => self.orders.insert(fill.maker_order, maker),
        };
    }

    /// What a fill does to positions and to its market; returns the trade.
    fn settle(&mut self, fill: &Fill, id: (String, u32), sides: [&Order; 2]) -> Trade {
        let (lots, yes_price) = (i128::from(fill.lots.0), i128::from(fill.yes_price.0));
        let fees = [i128::from(fill.fee.0), 0];
        let leg = |side: usize| {
            let order = sides[side].placed;
            let price = of_token(order.outcome, yes_price);
            Leg {
                order,
                account: order.account.0 as usize,
                outcome: order.outcome.index(),
                buys: order.side == Side::Buy,
                price,
                lots,
                value: lots * price,
                fee: fees[side],
                extent: Extent::Fill,
                builder: sides[side].builder,
            }
        };
        let legs = [leg(0), leg(1)];
        let market = sides[0].placed.market.0 as usize;
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
        traded.last_trade = Some((yes_price, self.now));
        let (id, index) = id;
        Trade {
            id,
            index,
            market,
            yes_price,
            lots,
            second,
            sequence: self.last.0,
            legs,
        }
    }

    /// An order before its first fill, with the price that its amounts make.
    fn placed(&self, frame: &Frame, placed: &PlaceOrder) -> Order {
        let tick = i128::from(self.markets[placed.market.0 as usize].rules.tick.units());
        let (collateral, shares) = match placed.side {
            Side::Buy => (placed.maker_amount, placed.taker_amount),
            Side::Sell => (placed.taker_amount, placed.maker_amount),
        };
        let (value, shares) = (i128::from(collateral) * 10_000, i128::from(shares));
        let is_exact = matches!(placed.order_type, OrderType::Gtc | OrderType::Gtd);
        let up = |value: i128, unit: i128| (value + unit - 1) / unit;
        let price = match (is_exact, placed.side) {
            (true, _) => value / shares,
            (false, Side::Buy) => value / shares / tick * tick,
            (false, Side::Sell) => up(up(value, shares), tick) * tick,
        };
        Order {
            placed: *placed,
            builder: frame.builder(),
            price,
            left: 0,
            matched: 0,
            taken_off: 0,
            created: self.now,
            trades: Vec::new(),
        }
    }

    fn trade_id(&self) -> String {
        let mut bytes = self.genesis.to_vec();
        bytes.extend(self.last.0.to_le_bytes());
        let hash = blake3::hash(&bytes);
        uuid(hash.as_bytes()[..16].try_into().expect("16 bytes"))
    }
}
