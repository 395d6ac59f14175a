//! Every endpoint with each of its parameters, compared with the plain fold.

use std::cmp::Ordering;

use foretell_gateway::Compatibility;
use serde_json::{Value, json};

use crate::naive::{Extent, Leg, Naive, Trade};
use crate::properties::data_agrees::asset_forms::in_tokens;
use crate::properties::data_agrees::pages::{agree, is};
use crate::properties::data_agrees::rows::{PositionRow, number, rounded};
use crate::properties::data_agrees::site::Site;

type SortKey = fn(&PositionRow, &PositionRow) -> Ordering;

const OPEN_SORTS: [(&str, SortKey); 9] = [
    ("CURRENT", |a, b| a.current.cmp(&b.current)),
    ("INITIAL", |a, b| a.initial.cmp(&b.initial)),
    ("TOKENS", |a, b| a.size.cmp(&b.size)),
    ("CASHPNL", |a, b| a.cash.cmp(&b.cash)),
    ("PERCENTPNL", |a, b| a.percent.cmp(&b.percent)),
    ("TITLE", |a, b| a.title.cmp(&b.title)),
    ("RESOLVING", |a, b| a.end.cmp(&b.end)),
    ("PRICE", |a, b| a.price.cmp(&b.price)),
    ("AVGPRICE", |a, b| a.average.cmp(&b.average)),
];

const CLOSED_SORTS: [(&str, SortKey); 5] = [
    ("REALIZEDPNL", |a, b| a.realized.cmp(&b.realized)),
    ("TITLE", |a, b| a.title.cmp(&b.title)),
    ("PRICE", |a, b| a.price.cmp(&b.price)),
    ("AVGPRICE", |a, b| a.average.cmp(&b.average)),
    ("TIMESTAMP", |a, b| a.second.cmp(&b.second)),
];

/// Queries every endpoint.
pub(crate) fn ask(name: &str, site: &Site, plain: &Naive) {
    let fills = match site.compatibility {
        Compatibility::Interface => plain.fills.clone(),
        Compatibility::Polymarket => whole_trades(&plain.fills),
    };
    let rows = |trade| [0, 1].map(|side| plain.traded(site, trade, side));
    let asked = Asked {
        name,
        site,
        plain,
        rows: fills.iter().map(rows).collect(),
        fills,
    };
    for account in 0..plain.wallets.len() {
        asked.open(account);
        asked.closed(account);
        asked.activity(account);
        asked.sums(account);
    }
    asked.trades();
    asked.every_filter();
    asked.family();
    asked.markets();
    asked.nobody();
}

/// Queries about one journal.
pub(crate) struct Asked<'a> {
    name: &'a str,
    pub(crate) site: &'a Site,
    pub(crate) plain: &'a Naive,
    /// The fills as the site lists them.
    fills: Vec<Trade>,
    /// The rows of each fill: the taker's, the maker's.
    rows: Vec<[Value; 2]>,
}

/// The fills, of which the first of a trade has the row of its taker.
fn whole_trades(fills: &[Trade]) -> Vec<Trade> {
    let mut shown = fills.to_vec();
    for trade in shown.chunk_by_mut(|one, next| one.sequence == next.sequence) {
        let (first, others) = trade.split_first_mut().expect("a fill");
        let taker = &mut first.legs[0];
        taker.extent = Extent::Trade;
        for other in others.iter_mut().map(|fill| &mut fill.legs[0]) {
            taker.lots += other.lots;
            taker.value += other.value;
            taker.fee += other.fee;
            other.extent = Extent::Nothing;
        }
    }
    shown
}

/// An activity of a wallet.
pub(crate) struct Done {
    /// Sequence, and index among its trades.
    at: (u64, usize),
    second: u64,
    pub(crate) market: usize,
    kind: &'static str,
    /// Of a trade: whether the wallet bought.
    buys: Option<bool>,
    pub(crate) lots: i128,
    /// Micros.
    pub(crate) cash: i128,
    pub(crate) row: Value,
}

/// Sorted by a key in a direction; ties by asset, then by closing.
fn sorted(mut rows: Vec<PositionRow>, key: SortKey, descending: bool) -> Vec<Value> {
    rows.sort_by(|a, b| a.asset.cmp(&b.asset));
    rows.sort_by(|a, b| if descending { key(b, a) } else { key(a, b) });
    rows.into_iter().map(|row| row.json).collect()
}

impl Asked<'_> {
    pub(crate) fn agree(&self, path: &str, expected: &[Value]) {
        let expected: Vec<_> = expected.iter().map(|row| self.in_its_form(row)).collect();
        agree(self.name, self.site, path, &expected);
    }

    pub(crate) fn is(&self, path: &str, expected: &Value) {
        is(self.name, self.site, path, &self.in_its_form(expected));
    }

    /// An answer of the default form in the form of the site.
    pub(crate) fn in_its_form(&self, answer: &Value) -> Value {
        match self.site.compatibility {
            Compatibility::Interface => answer.clone(),
            Compatibility::Polymarket => in_tokens(self.plain, answer),
        }
    }

    /// Every other market, and one that does not exist, as a parameter.
    pub(crate) fn some_markets(&self) -> (String, impl Fn(usize) -> bool + use<>) {
        let markets = self.plain.shown().filter(|(market, _)| market % 2 == 0);
        let mut named: Vec<&str> = markets
            .map(|(_, market)| market.condition.as_str())
            .collect();
        let nowhere = format!("0x{}", "5a".repeat(32));
        named.push(&nowhere);
        (format!("market={}", named.join(",")), |market| {
            market % 2 == 0
        })
    }

    fn open(&self, account: usize) {
        let plain = self.plain;
        let user = &plain.wallets[account];
        let held = plain.positions.open.iter();
        let held = held.filter(|(key, _)| key.0 == account);
        let rows = held.map(|(key, held)| (key.1, plain.position(*key, held, None)));
        let rows: Vec<(usize, PositionRow)> = rows.collect();
        let of = |wanted: &dyn Fn(usize, &PositionRow) -> bool| -> Vec<PositionRow> {
            let rows = rows.iter().filter(|(market, row)| wanted(*market, row));
            rows.map(|(_, row)| row.clone()).collect()
        };
        let all = format!("/positions?user={user}&sizeThreshold=0");
        for (sort, key) in OPEN_SORTS {
            for (direction, descending) in [("ASC", false), ("DESC", true)] {
                let path = format!("{all}&sortBy={sort}&sortDirection={direction}");
                self.agree(&path, &sorted(of(&|_, _| true), key, descending));
            }
        }
        let by_size = |rows| sorted(rows, OPEN_SORTS[2].1, true);
        let (markets, named) = self.some_markets();
        let flag = |row: &PositionRow, name: &str| row.json[name] == true;
        for (path, rows) in [
            (
                format!("/positions?user={user}"),
                of(&|_, row| row.size >= 1_000_000),
            ),
            (
                format!("/positions?user={user}&sizeThreshold=12.3456"),
                of(&|_, row| row.size >= 12_345_600),
            ),
            (
                format!("{all}&redeemable=true"),
                of(&|_, row| flag(row, "redeemable")),
            ),
            (
                format!("{all}&mergeable=1"),
                of(&|_, row| flag(row, "mergeable")),
            ),
            (
                format!("{all}&mergeable=0&redeemable=false"),
                of(&|_, _| true),
            ),
            (
                format!("{all}&title=%C3%BCBER%201"),
                of(&|market, _| market % 2 == 1),
            ),
            (format!("{all}&title=absent"), Vec::new()),
            (format!("{all}&{markets}"), of(&|market, _| named(market))),
        ] {
            self.agree(&path, &by_size(rows));
        }
        self.is(&format!("{all}&limit=0"), &json!([]));
    }

    fn closed(&self, account: usize) {
        let plain = self.plain;
        let user = &plain.wallets[account];
        let closed = plain.closed.iter();
        let closed = closed.filter(|closed| closed.key.0 == account);
        let rows = closed.map(|closed| {
            let row = plain.position(closed.key, &closed.held, Some(closed.sequence));
            (closed.key.1, row)
        });
        let rows: Vec<(usize, PositionRow)> = rows.collect();
        let of = |wanted: &dyn Fn(usize) -> bool| -> Vec<PositionRow> {
            let rows = rows.iter().filter(|(market, _)| wanted(*market));
            rows.map(|(_, row)| row.clone()).collect()
        };
        let all = format!("/closed-positions?user={user}");
        for (sort, key) in CLOSED_SORTS {
            for (direction, descending) in [("ASC", false), ("DESC", true)] {
                let path = format!("{all}&sortBy={sort}&sortDirection={direction}");
                self.agree(&path, &sorted(of(&|_| true), key, descending));
            }
        }
        let by_profit = |rows| sorted(rows, CLOSED_SORTS[0].1, true);
        let (markets, named) = self.some_markets();
        self.agree(&all, &by_profit(of(&|_| true)));
        self.agree(&format!("{all}&{markets}"), &by_profit(of(&named)));
        let odd = format!("{all}&title=ber%201");
        self.agree(&odd, &by_profit(of(&|market| market % 2 == 1)));
    }

    /// Rows of the sides that match, newest first, the taker's before the maker's.
    pub(crate) fn fills(&self, wanted: &dyn Fn(&Trade, &Leg, bool) -> bool) -> Vec<Value> {
        let newest_first = self.fills.iter().zip(&self.rows).rev();
        let rows = newest_first.flat_map(|(trade, rows)| {
            let sides = trade.legs.iter().enumerate();
            let sides = sides.filter(|(_, leg)| leg.extent != Extent::Nothing);
            let sides = sides.filter(|(side, leg)| wanted(trade, leg, *side == 0));
            let sides = sides.map(|(side, _)| side);
            sides.map(|side| rows[side].clone())
        });
        rows.collect()
    }

    fn trades(&self) {
        self.agree("/trades?takerOnly=true", &self.fills(&|_, _, takes| takes));
        self.agree("/trades?takerOnly=0", &self.fills(&|_, _, _| true));
        let (markets, named) = self.some_markets();
        let of_markets = self.fills(&|trade, _, takes| takes && named(trade.market));
        self.agree(&format!("/trades?{markets}"), &of_markets);
        let sells = self.fills(&|_, leg, _| !leg.buys);
        self.agree("/trades?takerOnly=false&side=SELL", &sells);
        let cash = self.fills(&|_, leg, takes| takes && leg.value >= 2_500_000);
        self.agree("/trades?filterType=CASH&filterAmount=2.5", &cash);
        for dollars in [20, 1_000_000] {
            let cash = self.fills(&|_, leg, _| leg.value >= dollars * 1_000_000);
            let path = format!("/trades?takerOnly=false&filterType=CASH&filterAmount={dollars}");
            self.agree(&path, &cash);
        }
        let tokens = self.fills(&|_, leg, takes| takes && leg.lots >= 600);
        self.agree("/trades?filterType=TOKENS&filterAmount=6", &tokens);
        for (account, user) in self.plain.wallets.iter().enumerate() {
            let is_own = |leg: &Leg| leg.account == account;
            let taken = self.fills(&|_, leg, takes| takes && is_own(leg));
            self.agree(&format!("/trades?user={user}"), &taken);
            let all = self.fills(&|_, leg, _| is_own(leg));
            self.agree(&format!("/trades?user={user}&takerOnly=false"), &all);
            let bought =
                self.fills(&|trade, leg, _| is_own(leg) && leg.buys && named(trade.market));
            let path = format!("/trades?user={user}&takerOnly=0&side=BUY&{markets}");
            self.agree(&path, &bought);
            self.large_and_sold(account, user);
        }
    }

    /// A filter that few fills match, so that most of a list is skipped.
    fn large_and_sold(&self, account: usize, user: &str) {
        let own = |wanted: &dyn Fn(&Trade, &Leg, bool) -> bool| {
            self.fills(&|trade, leg, takes| leg.account == account && wanted(trade, leg, takes))
        };
        let all = format!("/trades?user={user}&takerOnly=false");
        let sold = own(&|_, leg, takes| takes && !leg.buys);
        self.agree(&format!("/trades?user={user}&side=SELL"), &sold);
        for dollars in [1, 5, 30, 1_000_000] {
            let cash = own(&|_, leg, _| leg.value >= dollars * 1_000_000);
            self.agree(
                &format!("{all}&filterType=CASH&filterAmount={dollars}"),
                &cash,
            );
            let tokens = own(&|_, leg, _| leg.lots >= dollars * 100 && leg.buys);
            let path = format!("{all}&filterType=TOKENS&filterAmount={dollars}&side=BUY");
            self.agree(&path, &tokens);
        }
        for (market, of) in self.plain.shown() {
            let only = format!("market={}", of.condition);
            let there = own(&|trade, _, _| trade.market == market);
            self.agree(&format!("{all}&{only}"), &there);
            let taken = own(&|trade, _, takes| takes && trade.market == market);
            self.agree(&format!("/trades?user={user}&{only}"), &taken);
        }
    }

    /// Activities of a wallet, oldest first.
    pub(crate) fn done(&self, account: usize) -> Vec<Done> {
        let plain = self.plain;
        let mut done = Vec::new();
        for (place, trade) in self.fills.iter().enumerate() {
            for (side, leg) in trade.legs.iter().enumerate() {
                if leg.account == account && leg.extent != Extent::Nothing {
                    let mut row = self.rows[place][side].clone();
                    row["type"] = "TRADE".into();
                    done.push(Done {
                        at: (trade.sequence, place),
                        second: trade.second,
                        market: trade.market,
                        kind: "TRADE",
                        buys: Some(leg.buys),
                        lots: leg.lots,
                        cash: leg.value,
                        row,
                    });
                }
            }
        }
        let actions = plain.actions.iter();
        done.extend(actions.filter(|it| it.account == account).map(|it| Done {
            at: (it.sequence, it.outcome.unwrap_or(0)),
            second: it.second,
            market: it.market,
            kind: it.kind,
            buys: None,
            lots: it.lots,
            cash: it.collateral,
            row: plain.acted(self.site, it),
        }));
        done.sort_by_key(|done| done.at);
        done
    }

    fn activity(&self, account: usize) {
        let done = self.done(account);
        let of = |wanted: &dyn Fn(&Done) -> bool| -> Vec<Value> {
            let done = done.iter().filter(|done| wanted(done));
            done.map(|done| done.row.clone()).collect()
        };
        let newest = |mut rows: Vec<Value>| {
            rows.reverse();
            rows
        };
        let all = format!("/activity?user={}", self.plain.wallets[account]);
        self.agree(&all, &newest(of(&|_| true)));
        self.agree(&format!("{all}&sortDirection=ASC"), &of(&|_| true));
        let (markets, named) = self.some_markets();
        let of_markets = newest(of(&|done| named(done.market)));
        self.agree(&format!("{all}&{markets}"), &of_markets);
        let kinds = newest(of(&|done| done.kind != "TRADE" && done.kind != "MERGE"));
        self.agree(
            &format!("{all}&type=SPLIT,REDEEM,CONVERSION,MAKER_REBATE"),
            &kinds,
        );
        let sold = of(&|done| done.buys == Some(false));
        let ascending = format!("{all}&side=SELL&sortDirection=ASC");
        self.agree(&ascending, &sold);
        self.offsets(&ascending, &sold, true);
        let sold = newest(sold);
        self.offsets(&format!("{all}&side=SELL"), &sold, true);
        self.agree(&format!("{all}&side=SELL"), &sold);
        let traded = newest(of(&|done| done.kind == "TRADE"));
        self.agree(&format!("{all}&type=TRADE"), &traded);
        for (market, of_market) in self.plain.markets.iter().enumerate() {
            let path = format!("{all}&market={}", of_market.condition);
            self.agree(&path, &newest(of(&|done| done.market == market)));
        }
        if let Some(middle) = done.get(done.len() / 2).map(|done| done.second) {
            let (start, end) = (middle - 3, middle + 9);
            let within = of(&|done| (start..=end).contains(&done.second));
            let path = format!("{all}&start={start}&end={end}");
            self.agree(&path, &newest(within.clone()));
            self.agree(&format!("{path}&sortDirection=ASC"), &within);
        }
    }

    fn sums(&self, account: usize) {
        let plain = self.plain;
        let user = &plain.wallets[account];
        let value = |wanted: &dyn Fn(usize) -> bool| {
            let held = plain.positions.open.iter();
            let held = held.filter(|(key, _)| key.0 == account && wanted(key.1));
            let worth = held.map(|(key, held)| held.lots * plain.price(key.1, key.2));
            json!([{ "user": user, "value": number(rounded(worth.sum(), 2)) }])
        };
        self.is(&format!("/value?user={user}"), &value(&|_| true));
        let (markets, named) = self.some_markets();
        self.is(&format!("/value?user={user}&{markets}"), &value(&named));
        let mut traded: Vec<usize> = (plain.fills.iter())
            .filter(|trade| trade.legs.iter().any(|leg| leg.account == account))
            .map(|trade| trade.market)
            .collect();
        traded.sort_unstable();
        traded.dedup();
        let expected = json!({ "user": user, "traded": traded.len() });
        self.is(&format!("/traded?user={user}"), &expected);
    }

    fn markets(&self) {
        let plain = self.plain;
        let (parameter, named) = self.some_markets();
        let markets = plain.shown();
        let markets: Vec<_> = markets.filter(|(market, _)| named(*market)).collect();
        let mut groups = Vec::new();
        let (mut locked, mut volumes, mut total) = (Vec::new(), Vec::new(), 0);
        for (market, of) in markets {
            for outcome in 0..2 {
                groups.push(self.group(market, outcome, 0, usize::MAX));
            }
            let [yes, no] = of.supply;
            // A lot at a price unit is a micro.
            let value = match of.pays {
                Some(pays) => yes * pays[0] + no * pays[1],
                None => no * 10_000,
            };
            locked.push(json!({ "market": of.condition, "value": number(value) }));
            volumes.push(json!({ "market": of.condition, "value": number(of.volume) }));
            total += of.volume;
        }
        self.is(
            &format!("/holders?{parameter}&minBalance=0&limit=500"),
            &groups.into(),
        );
        self.is(&format!("/oi?{parameter}"), &locked.into());
        let volumes = json!([{ "total": number(total), "markets": volumes }]);
        self.is(&format!("/live-volume?{parameter}"), &volumes);
        for (market, of) in plain.shown() {
            let groups = |least, limit| {
                let of_each = [0, 1].map(|outcome| self.group(market, outcome, least, limit));
                Value::from(of_each.to_vec())
            };
            let path = format!("/holders?market={}", of.condition);
            self.is(&path, &groups(100, 100));
            self.is(&format!("{path}&limit=2&minBalance=0.5"), &groups(50, 2));
            self.is(&format!("{path}&limit=0"), &groups(0, 0));
        }
    }

    /// The holders of at least `least` lots of a token, largest first, ties by account.
    fn group(&self, market: usize, outcome: usize, least: i128, limit: usize) -> Value {
        let plain = self.plain;
        let asset = format!("{}:{outcome}", plain.markets[market].condition);
        let held = plain.positions.open.iter();
        let held = held.filter(|(key, _)| (key.1, key.2) == (market, outcome));
        let mut held: Vec<_> = held
            .map(|(key, held)| (-held.lots, key.0))
            .filter(|(lots, _)| -lots >= least)
            .collect();
        held.sort();
        let holders = held.into_iter().take(limit);
        let holders = holders.map(|(lots, account)| plain.holder(account, &asset, -lots, outcome));
        json!({ "token": asset, "holders": holders.collect::<Vec<_>>() })
    }

    /// An unknown wallet, an unknown market.
    fn nobody(&self) {
        let user = format!("0x{}", "ee".repeat(20));
        let nowhere = format!("0x{}", "5a".repeat(32));
        for path in [
            format!("/trades?user={user}"),
            format!("/trades?market={nowhere}"),
            format!("/positions?user={user}"),
            format!("/closed-positions?user={user}"),
            format!("/activity?user={user}"),
            format!("/holders?market={nowhere}"),
            format!("/oi?market={nowhere}"),
        ] {
            self.is(&path, &json!([]));
        }
        self.is(
            &format!("/traded?user={user}"),
            &json!({ "user": user, "traded": 0 }),
        );
        self.is(
            &format!("/value?user={user}"),
            &json!([{ "user": user, "value": 0 }]),
        );
    }
}
