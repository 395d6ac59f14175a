//! Every query of a view, sent to two views.

use std::fmt::Debug;

use foretell_model::{AccountNumber, Outcome, Sequence, TimeNs, WalletKind};
use foretell_view::{Order, Summary, TokenBook, TradeList, TradeSlot, View};

use crate::properties::journal::Names;
use crate::properties::rng::Rng;

/// Sends the same queries to both.
pub(crate) fn same_answers(one: &View, other: &View, names: &Names, rng: &mut Rng) {
    let same = Same { one, other };
    same.of(|view| (*view.genesis(), view.sequence(), view.system().clone()));
    same.accounts();
    same.keys();
    same.registry();
    same.books();
    same.orders(names);
    same.trades(names);
    same.parts_of_lists(rng);
    same.positions();
}

/// Two views that must be equal.
struct Same<'a> {
    one: &'a View,
    other: &'a View,
}

impl Same<'_> {
    fn of<T: PartialEq + Debug>(&self, ask: impl Fn(&View) -> T) {
        assert_eq!(ask(self.one), ask(self.other));
    }

    fn accounts(&self) {
        self.of(|view| view.accounts().count());
        for (number, account) in self.one.accounts().iter() {
            let wallet = &account.wallet;
            self.of(|view| view.accounts().get(number).cloned());
            self.of(|view| view.accounts().number_of(wallet));
            self.of(|view| view.accounts().by_wallet(wallet).map(|found| found.0));
            self.of(|view| view.accounts().wallets_of(number).collect::<Vec<_>>());
            for &kind in WalletKind::ALL {
                self.of(|view| view.accounts().wallet_of_kind(number, kind));
            }
            self.of(|view| {
                view.keys()
                    .of_owner(number)
                    .map(|key| key.0)
                    .collect::<Vec<_>>()
            });
        }
    }

    fn keys(&self) {
        self.of(|view| view.keys().count());
        for (number, key) in self.one.keys().iter() {
            self.of(|view| view.keys().get(number).copied());
            self.of(|view| view.keys().by_text(&key.api_key).map(|found| found.0));
        }
    }

    fn registry(&self) {
        self.of(|view| (view.events().count(), view.markets().end()));
        for (number, event) in self.one.events().iter() {
            self.of(|view| view.events().get(number).cloned());
            self.of(|view| view.events().by_id(event.id).map(|found| found.0));
        }
        for (number, market) in self.one.markets().iter() {
            self.of(|view| view.markets().get(number).cloned());
            self.of(|view| view.accepting_orders(number));
            self.of(|view| {
                view.markets()
                    .by_condition(&market.condition)
                    .map(|found| found.0)
            });
            for &outcome in Outcome::ALL {
                self.of(|view| view.markets().by_token(&market.token(outcome)));
            }
        }
    }

    fn books(&self) {
        for (market, _) in self.one.markets().iter() {
            self.of(|view| {
                view.books()
                    .get(market)
                    .map(|book| (book.changed(), book.time()))
            });
            for &outcome in Outcome::ALL {
                let levels = |book: TokenBook<'_>| {
                    let (bids, asks) = (book.bids().collect(), book.asks().collect());
                    let best = (book.best_bid(), book.best_ask(), book.last_trade());
                    let both: [Vec<_>; 2] = [bids, asks];
                    (both, best)
                };
                self.of(|view| {
                    view.books()
                        .get(market)
                        .map(|book| levels(book.of(outcome)))
                });
            }
            self.of(|view| view.orders().live_count_in(market));
        }
    }

    fn orders(&self, names: &Names) {
        self.of(|view| (view.orders().count(), view.orders().live_count()));
        for id in &names.orders {
            self.of(|view| view.orders().by_id(id));
            let Some(order) = self.one.orders().by_id(id) else {
                continue;
            };
            self.of(|view| view.orders().live(order.number).cloned());
            self.of(|view| view.builder_of(&order).copied());
            self.of(|view| view.fills_taken_by(&order).collect::<Vec<_>>());
            for limit in [0, 1, 3, usize::MAX] {
                self.of(|view| view.trades_of_order(&order, limit));
            }
        }
        for (number, _) in self.one.accounts().iter() {
            let cloned = |orders: Vec<&Order>| orders.into_iter().cloned().collect::<Vec<_>>();
            self.of(|view| cloned(view.orders().live_of(number).collect()));
            self.of(|view| cloned(view.live_orders_of_owner(number)));
            self.of(|view| view.orders().live_count_of(number));
        }
        for at in (0..names.last.0 + 2).map(Sequence) {
            self.of(|view| view.orders().ended_between(at, at).collect::<Vec<_>>());
        }
    }

    fn trades(&self, names: &Names) {
        self.of(|view| view.trades().count());
        for slot in self.one.trades().slots() {
            self.of(|view| view.trade(slot));
            self.of(|view| (view.trade_id(slot), view.trade_time(slot)));
            self.of(|view| view.fills_of_trade(slot).collect::<Vec<_>>());
            let fill = self.one.trade(slot).expect("it is listed");
            let first = TradeSlot::at(slot.place() - u64::from(fill.index.0));
            assert_eq!(self.other.trade_by_id(fill.id), Some(first));
            assert_eq!(self.one.trade_by_id(fill.id), Some(first));
        }
        self.list(|view| view.trades().filterable());
        self.list(|view| view.trades().with_builder());
        for builder in &names.builders {
            self.list(|view| view.trades_of_builder(builder));
        }
        for (market, _) in self.one.markets().iter() {
            self.list(|view| view.trades().of_market(market));
        }
        for (account, _) in self.one.accounts().iter() {
            self.list(|view| view.trades().of_account(account));
        }
    }

    fn positions(&self) {
        for (account, _) in self.one.accounts().iter() {
            self.of(|view| {
                let tokens = view.holdings().tokens_of(account, None);
                let open = tokens.filter(|(_, _, open)| open.is_some());
                open.collect::<Vec<_>>()
            });
            self.of(|view| {
                let count = view.positions().closed_count(account);
                let closed: Vec<_> = view.positions().closed(account, count).collect();
                assert_eq!(closed.len(), count);
                closed
            });
            self.of(|view| {
                let count = view.actions().count_of(account);
                let newest: Vec<_> = view.actions().newest_first(account, count).collect();
                let by_place = (0..count).rev().map(|at| view.actions().get(account, at));
                assert!(by_place.eq(newest.iter().copied().map(Some)));
                newest
            });
            self.of(|view| view.holdings().traded_markets(account));
            for (market, _) in self.one.markets().iter() {
                self.list(|view| view.trades_of_account_in(account, market));
            }
        }
        for (market, _) in self.one.markets().iter() {
            self.of(|view| view.volume().value_in(market));
            for &outcome in Outcome::ALL {
                self.of(|view| {
                    view.positions()
                        .holders(market, outcome)
                        .collect::<Vec<_>>()
                });
                self.of(|view| view.current_price(market, outcome));
            }
        }
    }

    fn list<S: Summary>(&self, list: impl Fn(&View) -> TradeList<'_, S>) {
        self.of(|view| {
            let slots = list(view);
            let by_place: Vec<_> = (0..slots.len() + 1).map(|at| slots.get(at)).collect();
            let newest_first: Vec<_> = slots.newest_first().collect();
            (slots.len(), slots.is_empty(), by_place, newest_first)
        });
    }

    /// Random parts of the lists, which one view has in its tail and another in its chunks; each
    /// compared with the same part of the whole list.
    fn parts_of_lists(&self, rng: &mut Rng) {
        let all: Vec<TradeSlot> = self.one.trades().slots().collect();
        if all.is_empty() {
            return;
        }
        let times: Vec<TimeNs> = all
            .iter()
            .filter_map(|&slot| self.one.trade_time(slot))
            .collect();
        for (account, _) in self.one.accounts().iter() {
            let moment = |rng: &mut Rng| match rng.below(4) {
                0 => TimeNs(0),
                1 => TimeNs(u64::MAX),
                _ => TimeNs(rng.pick(&times).0.saturating_add(rng.below(2))),
            };
            let (from, before) = (moment(rng), moment(rng));
            let bound = rng.percent(50).then(|| rng.pick(&all));
            self.part(account, from, before, bound, rng.index(4));
        }
    }

    fn part(
        &self,
        account: AccountNumber,
        from: TimeNs,
        before: TimeNs,
        bound: Option<TradeSlot>,
        oldest: usize,
    ) {
        let within = |view: &View, slot: &TradeSlot| {
            let time = view.trade_time(*slot).expect("it is listed");
            let is_early = time < before || before == TimeNs(u64::MAX);
            from <= time && is_early && bound.is_none_or(|bound| *slot < bound)
        };
        for view in [self.one, self.other] {
            let list = view.trades().of_account(account);
            let older = bound.map_or(list, |bound| list.older_than(bound));
            let part = view.trades_within(older, from, before).oldest(oldest);
            let mut slots: Vec<_> = list
                .newest_first()
                .filter(|slot| within(view, slot))
                .collect();
            slots.reverse();
            slots.truncate(oldest);
            slots.reverse();
            assert_eq!(part.newest_first().collect::<Vec<_>>(), slots);
            assert_eq!(part.get(0), slots.last().copied());

            let mut of_wallets: Vec<_> = view
                .accounts()
                .wallets_of(account)
                .flat_map(|wallet| view.trades().of_account(wallet).newest_first())
                .filter(|slot| within(view, slot))
                .collect();
            of_wallets.sort_unstable_by(|one, next| next.cmp(one));
            of_wallets.dedup();
            let of_owner = view.trades_of_owner(account, from..before, bound);
            assert_eq!(of_owner.collect::<Vec<_>>(), of_wallets);
        }
    }
}
