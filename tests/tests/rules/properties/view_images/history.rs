//! Compares all history of a view with the naive model: every trade and every ended order in one list,
//! searched from end to end for every query.

use foretell_model::{AccountNumber, Sequence};
use foretell_view::{Summary, TradeList, TradeSlot, View};

use crate::naive::{Leg, Naive};
use crate::properties::journal::{Names, builder_code};

pub(crate) fn compare(naive: &Naive, view: &View, names: &Names) {
    let same = Same { naive, view };
    let trades = view.trades();
    let ids: Vec<_> = trades.slots().map(|slot| same.id(slot)).collect();
    assert_eq!(ids, same.ids(|_| true));
    for (account, _) in view.accounts().iter() {
        same.list(trades.of_account(account), |leg| {
            leg.order.account == account
        });
    }
    same.list(trades.of_account(AccountNumber(u32::MAX)), |_| false);
    for (market, _) in view.markets().iter() {
        same.list(trades.of_market(market), |leg| leg.order.market == market);
    }
    same.list(trades.with_builder(), |leg| leg.builder > 0);
    for builder in &names.builders {
        let is_builders = |leg: &Leg| leg.builder > 0 && builder_code(leg.builder) == *builder;
        same.list(view.trades_of_builder(builder), is_builders);
    }
    for order in &names.orders {
        let known = view.orders().by_id(order);
        let known = known.map(|order| view.trades_of_order(&order, usize::MAX));
        let known = known.unwrap_or_default().into_iter();
        let known: Vec<_> = known.map(|slot| same.id(slot)).collect();
        // An order is the taker on arrival, of one trade, and a maker afterwards.
        let mut expected = same.ids(|leg| leg.order.order == *order);
        expected.dedup();
        assert_eq!(known, expected);
    }
    let ended = view.orders().ended_between(Sequence(0), names.last);
    let ended = ended.map(|ended| (ended.sequence, ended.order.id, ended.reason));
    assert_eq!(ended.collect::<Vec<_>>(), naive.ended);
}

struct Same<'a> {
    naive: &'a Naive,
    view: &'a View,
}

impl Same<'_> {
    fn list<S: Summary>(&self, slots: TradeList<'_, S>, is_listed: impl Fn(&Leg) -> bool) {
        let mut ids: Vec<_> = slots.newest_first().map(|slot| self.id(slot)).collect();
        ids.reverse();
        assert_eq!(ids, self.ids(is_listed));
    }

    /// The trades with a matching side.
    fn ids(&self, is_listed: impl Fn(&Leg) -> bool) -> Vec<String> {
        let fills = self.naive.fills.iter();
        let listed = fills.filter(|trade| trade.legs.iter().any(&is_listed));
        listed.map(|trade| trade.id.clone()).collect()
    }

    fn id(&self, slot: TradeSlot) -> String {
        let id = self.view.trade_id(slot).expect("it is listed");
        id.to_string()
    }
}
