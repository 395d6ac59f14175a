//! A naive fold of history: every trade and every ended order in one list, searched from end to end
//! for every query.

use std::collections::HashMap;

use foretell_model::event::{OrderClosed, OrderReleased};
use foretell_model::{
    AccountNumber, CloseReason, Command, Event, OrderId, OrderNumber, PlaceOrder, Sequence,
    TradeIndex,
};
use foretell_view::{Builder, Summary, TradeId, TradeList, TradeSlot, View};

use crate::properties::journal::{Frame, Names, builder_code};
use crate::properties::quoted::order_of;
use crate::properties::view_images::GENESIS;

struct Side {
    order: PlaceOrder,
    builder: Option<Builder>,
}

struct Trade {
    id: TradeId,
    taker: Side,
    maker: Side,
}

/// The lists.
#[derive(Default)]
pub(crate) struct Plain {
    placed: HashMap<OrderNumber, (PlaceOrder, Option<Builder>)>,
    trades: Vec<Trade>,
    /// Orders that ended with an unfilled rest.
    ended: Vec<(Sequence, OrderId, CloseReason)>,
    /// Of the last restore.
    branch: Option<[u8; 32]>,
}

impl Plain {
    pub(crate) fn trades(&self) -> usize {
        self.trades.len()
    }

    pub(crate) fn fold(&mut self, frame: &Frame) {
        let mut own = OrderNumber::of(frame.sequence, 0);
        let builder = Some(frame.builder()).filter(|it| *it > 0).map(builder_code);
        if let Command::PlaceOrder(order) = frame.command {
            self.placed.insert(own, (order, builder));
        }
        let mut index = 0;
        for event in &frame.events {
            match *event {
                Event::Fill(fill) => {
                    self.trades.push(Trade {
                        id: TradeId::new(
                            self.branch.as_ref().unwrap_or(&GENESIS),
                            frame.sequence,
                            TradeIndex(index),
                        ),
                        taker: self.side(own),
                        maker: self.side(fill.maker_order),
                    });
                    index += 1;
                }
                Event::OrderReleased(OrderReleased { order, .. }) => own = order,
                Event::QuotePlaced(placed) => {
                    let order = order_of(&frame.command, &frame.evidence, &placed);
                    self.placed.insert(placed.order, (order, builder));
                }
                Event::Restored { branch } => self.branch = Some(branch.0),
                Event::OrderClosed(OrderClosed { order, reason, .. }) => {
                    let id = self.placed[&order].0.order;
                    self.ended.push((frame.sequence, id, reason));
                }
                _ => {}
            }
        }
    }

    fn side(&self, number: OrderNumber) -> Side {
        let (order, builder) = self.placed[&number];
        Side { order, builder }
    }

    /// Compares all history of a view.
    pub(crate) fn compare(&self, view: &View, names: &Names) {
        let trades = view.trades();
        let ids: Vec<_> = trades.slots().map(|slot| id(view, slot)).collect();
        assert_eq!(ids, self.ids(|_| true));
        for (account, _) in view.accounts().iter() {
            let of = |side: &Side| side.order.account == account;
            self.same(view, trades.of_account(account), of);
        }
        self.same(view, trades.of_account(AccountNumber(u32::MAX)), |_| false);
        for (market, _) in view.markets().iter() {
            self.same(view, trades.of_market(market), |side| {
                side.order.market == market
            });
        }
        self.same(view, trades.with_builder(), |side| side.builder.is_some());
        for builder in &names.builders {
            let of = |side: &Side| side.builder == Some(*builder);
            self.same(view, view.trades_of_builder(builder), of);
        }
        for order in &names.orders {
            let known = view.orders().by_id(order);
            let known = known.map(|order| view.trades_of_order(&order, usize::MAX));
            let known = known.unwrap_or_default();
            let known: Vec<_> = known.into_iter().map(|slot| id(view, slot)).collect();
            // An order is the taker on arrival and a maker afterwards.
            assert_eq!(known, self.ids(|side| side.order.order == *order));
        }
        let ended = view.orders().ended_between(Sequence(0), names.last);
        let ended: Vec<_> = ended
            .map(|ended| (ended.sequence, ended.order.id, ended.reason))
            .collect();
        assert_eq!(ended, self.ended);
    }

    fn same<S: Summary>(&self, view: &View, slots: TradeList<'_, S>, of: impl Fn(&Side) -> bool) {
        let mut ids: Vec<_> = slots.newest_first().map(|slot| id(view, slot)).collect();
        ids.reverse();
        assert_eq!(ids, self.ids(of));
    }

    /// The trades with a matching side.
    fn ids(&self, of: impl Fn(&Side) -> bool) -> Vec<TradeId> {
        let meant = |trade: &&Trade| of(&trade.taker) || of(&trade.maker);
        self.trades
            .iter()
            .filter(meant)
            .map(|trade| trade.id)
            .collect()
    }
}

fn id(view: &View, slot: TradeSlot) -> TradeId {
    view.trade_id(slot).expect("it is listed")
}
