//! What other members of the family offer beside the interface: filters by event and time, sorted
//! activity, sums over all markets, leaderboards.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::naive::Leg;
use crate::properties::data_agrees::busy::today;
use crate::properties::data_agrees::questions::Asked;
use crate::properties::data_agrees::rows::number;
use crate::properties::journal::{BUILDERS, builder_code, event_id};

/// Names of periods, and their days; the last one is all time.
const PERIODS: [(&str, u64); 4] = [("DAY", 1), ("WEEK", 7), ("month", 30), ("ALL", 0)];

/// Volume and profit of an account.
#[derive(Clone, Copy, Default, PartialEq)]
struct Sums {
    volume: i128,
    profit: i128,
    has_traded: bool,
}

impl Asked<'_> {
    pub(crate) fn family(&self) {
        self.by_event();
        self.by_time();
        self.sorted_activity();
        self.all_markets();
        self.version_two();
        for (period, days) in PERIODS {
            // At midnight the day may change between the comparison's and the gateway's look.
            let day = today();
            let first = if days == 0 { 0 } else { day + 1 - days };
            let checks = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                self.leaderboard(period, first);
                self.builders(period, first);
            }));
            if let Err(failed) = checks
                && day == today()
            {
                std::panic::resume_unwind(failed);
            }
        }
    }

    /// Ids of events, and the markets of those: by the names of markets, and by neg-risk group.
    fn events(&self) -> Vec<(String, BTreeSet<usize>)> {
        let plain = self.plain;
        let named = |ids: &[u64]| -> BTreeSet<usize> {
            let markets = plain.shown();
            let of_group = |group: usize| ids.contains(&plain.groups[group].id.0);
            let markets = markets.filter(|(market, of)| {
                let is_named = of.is_described() && ids.contains(&event_id(*market));
                is_named || plain.group_of(*market).is_some_and(of_group)
            });
            markets.map(|(market, _)| market).collect()
        };
        let mut lists = vec![
            vec![event_id(0)],
            vec![event_id(1), 5, event_id(2)],
            vec![5_000_000],
        ];
        lists.extend(plain.groups.first().map(|group| vec![group.id.0]));
        let text = |ids: &[u64]| {
            let ids: Vec<String> = ids.iter().map(u64::to_string).collect();
            ids.join(",")
        };
        lists.iter().map(|ids| (text(ids), named(ids))).collect()
    }

    fn by_event(&self) {
        let plain = self.plain;
        for (ids, markets) in self.events() {
            let fills = self.fills(&|trade, _, takes| takes && markets.contains(&trade.market));
            self.agree(&format!("/trades?eventId={ids}"), &fills);
            let conditions = markets.iter().map(|market| &plain.markets[*market]);
            let volumes = conditions
                .clone()
                .map(|of| json!({ "market": of.condition, "value": number(of.volume) }));
            let total = conditions.map(|of| of.volume).sum();
            let volumes: Vec<Value> = volumes.collect();
            let expected = json!([{ "total": number(total), "markets": volumes }]);
            self.is(&format!("/live-volume?id={ids}"), &expected);
            for (account, user) in plain.wallets.iter().enumerate() {
                let done = self.done(account).into_iter().rev();
                let done = done.filter(|done| markets.contains(&done.market));
                let done: Vec<Value> = done.map(|done| done.row).collect();
                self.agree(&format!("/activity?user={user}&eventId={ids}"), &done);
                let fills = self.fills(&|trade, leg, _| {
                    leg.account == account && markets.contains(&trade.market)
                });
                let path = format!("/trades?user={user}&takerOnly=false&eventId={ids}");
                self.agree(&path, &fills);
                self.positions_by_event(user, account, &ids, &markets);
            }
        }
    }

    /// The positions in the markets of events are those of a filter by these markets.
    fn positions_by_event(&self, user: &str, account: usize, ids: &str, markets: &BTreeSet<usize>) {
        let plain = self.plain;
        let open = plain.positions.open.keys();
        let open = open.filter(|key| key.0 == account && markets.contains(&key.1));
        let closed = plain.closed.iter().map(|closed| closed.key);
        let closed = closed.filter(|key| key.0 == account && markets.contains(&key.1));
        let assets = |rows: &Value| {
            let rows = rows.as_array().expect("rows").iter();
            let mut assets: Vec<String> = rows.map(|row| row["asset"].to_string()).collect();
            assets.sort();
            assets
        };
        let asset = |market: usize, outcome: usize| {
            let asset = format!("{}:{outcome}", plain.markets[market].condition);
            self.in_its_form(&json!({ "asset": asset }))["asset"].to_string()
        };
        let open: Vec<_> = open.map(|key| asset(key.1, key.2)).collect();
        let closed: Vec<_> = closed.map(|key| asset(key.1, key.2)).collect();
        for (path, page, mut expected) in [
            (
                format!("/positions?user={user}&sizeThreshold=0&limit=500&eventId={ids}"),
                500,
                open,
            ),
            (
                format!("/closed-positions?user={user}&limit=50&eventId={ids}"),
                50,
                closed,
            ),
        ] {
            expected.sort();
            let found = assets(&self.site.get(&path));
            match expected.len() <= page {
                true => assert_eq!(found, expected, "{path}"),
                false => assert_eq!(found.len(), page, "{path}"),
            }
        }
    }

    fn by_time(&self) {
        let fills = &self.plain.fills;
        let Some(middle) = fills.get(fills.len() / 2).map(|trade| trade.second) else {
            return;
        };
        let (start, end) = (middle - 2, middle + 90_000);
        let within = |second: u64| (start..=end).contains(&second);
        let found = self.fills(&|trade, _, _| within(trade.second));
        let path = format!("/trades?takerOnly=false&start={start}&end={end}");
        self.agree(&path, &found);
        let sold = |leg: &Leg| !leg.buys;
        let after = self.fills(&|trade, leg, takes| takes && sold(leg) && trade.second >= start);
        self.agree(&format!("/trades?side=SELL&start={start}"), &after);
        let large =
            self.fills(&|trade, leg, takes| takes && leg.lots >= 600 && trade.second <= end);
        let path = format!("/trades?filterType=TOKENS&filterAmount=6&end={end}");
        self.agree(&path, &large);
    }

    fn sorted_activity(&self) {
        let (markets, named) = self.some_markets();
        for (account, user) in self.plain.wallets.iter().enumerate() {
            for (sort, is_cash) in [("TOKENS", false), ("CASH", true)] {
                for (direction, sign) in [("ASC", 1), ("DESC", -1)] {
                    let path =
                        format!("/activity?user={user}&sortBy={sort}&sortDirection={direction}");
                    // Ties are ordered from new to old.
                    let mut done = self.done(account);
                    done.reverse();
                    done.sort_by_key(|done| sign * if is_cash { done.cash } else { done.lots });
                    let rows: Vec<Value> = done.iter().map(|done| done.row.clone()).collect();
                    self.agree(&path, &rows);
                    let of_markets = done.iter().filter(|done| named(done.market));
                    let rows: Vec<Value> = of_markets.map(|done| done.row.clone()).collect();
                    self.agree(&format!("{path}&{markets}"), &rows);
                    let trades = done.iter().filter(|done| done.row["type"] == "TRADE");
                    let rows: Vec<Value> = trades.map(|done| done.row.clone()).collect();
                    self.agree(&format!("{path}&type=TRADE"), &rows);
                }
            }
        }
    }

    fn all_markets(&self) {
        let rows = self.site.get("/oi");
        let rows = rows.as_array().expect("rows");
        let conditions = self.plain.shown().map(|(_, of)| &of.condition);
        let mut sum = 0.0;
        assert_eq!(rows[0]["market"], "GLOBAL");
        assert_eq!(rows.len(), self.plain.shown().count() + 1);
        for (row, condition) in rows[1..].iter().zip(conditions) {
            let one = self.site.get(&format!("/oi?market={condition}"));
            assert_eq!(*row, one[0], "/oi");
            sum += row["value"].as_f64().expect("a number");
        }
        let global = rows[0]["value"].as_f64().expect("a number");
        assert!((global - sum).abs() < 1e-5, "{global} is not {sum}");
    }

    /// Volume and profit of every account from a day on.
    fn sums_since(&self, first: u64) -> Vec<Sums> {
        let plain = self.plain;
        let mut sums = vec![Sums::default(); plain.wallets.len()];
        for trade in plain
            .fills
            .iter()
            .filter(|trade| trade.second / 86_400 >= first)
        {
            for leg in trade.legs {
                sums[leg.account].volume += trade.lots * leg.price;
                sums[leg.account].has_traded = true;
            }
        }
        for (account, second, profit) in &plain.profits {
            if second / 86_400 >= first {
                sums[*account].profit += profit;
            }
        }
        sums
    }

    fn leaderboard(&self, period: &str, first: u64) {
        let plain = self.plain;
        let sums = self.sums_since(first);
        for (order, by_volume) in [("PNL", false), ("VOL", true)] {
            let mut ranked: Vec<(usize, Sums)> = sums.iter().copied().enumerate().collect();
            ranked.retain(|(_, sums)| sums.has_traded || sums.profit != 0);
            let key = |sums: &Sums| if by_volume { sums.volume } else { sums.profit };
            ranked.sort_by_key(|(account, sums)| (Reverse(key(sums)), *account));
            let rows = ranked.iter().zip(1..).map(|((account, sums), rank)| {
                json!({
                    "rank": rank.to_string(), "proxyWallet": plain.wallets[*account],
                    "userName": "", "vol": number(sums.volume), "pnl": number(sums.profit),
                    "profileImage": "", "xUsername": "", "verifiedBadge": false,
                })
            });
            let rows: Vec<Value> = rows.collect();
            for path in ["/v1/leaderboard", "/leaderboard"] {
                let path = format!("{path}?timePeriod={period}&orderBy={order}");
                self.agree(&path, &rows);
                for user in &plain.wallets {
                    let own = rows.iter().filter(|row| row["proxyWallet"] == *user);
                    let own: Value = own.cloned().collect();
                    self.is(&format!("{path}&user={user}"), &own);
                }
                self.is(&format!("{path}&userName=nobody"), &json!([]));
            }
        }
    }

    fn builders(&self, period: &str, first: u64) {
        let fills = self.plain.fills.iter();
        let fills = fills.filter(|trade| trade.second / 86_400 >= first);
        let mut builders: BTreeMap<u64, (i128, BTreeSet<usize>)> = BTreeMap::new();
        let mut days: BTreeMap<(Reverse<u64>, u64), (i128, BTreeSet<usize>)> = BTreeMap::new();
        for trade in fills {
            for leg in trade.legs.iter().filter(|leg| leg.builder > 0) {
                let of_builder = builders.entry(leg.builder).or_default();
                let day = Reverse(trade.second / 86_400);
                let of_day = days.entry((day, leg.builder)).or_default();
                for sums in [of_builder, of_day] {
                    sums.0 += trade.lots * leg.price;
                    sums.1.insert(leg.account);
                }
            }
        }
        let row = |builder: u64, sums: &(i128, BTreeSet<usize>), rank: usize| {
            let code = format!("0x{}", hex::encode(builder_code(builder)));
            json!({
                "rank": rank.to_string(), "builder": code, "builderCode": code,
                "volume": number(sums.0), "activeUsers": sums.1.len(), "verified": false,
                "builderLogo": "",
            })
        };
        let rank = |list: &mut Vec<(u64, (i128, BTreeSet<usize>))>| {
            list.sort_by_key(|(_, sums)| Reverse(sums.0));
        };
        let mut ranked: Vec<_> = builders.into_iter().collect();
        rank(&mut ranked);
        assert!((ranked.len() as u64) < BUILDERS);
        let rows = ranked.iter().zip(1..);
        let rows: Vec<Value> = rows
            .map(|((code, sums), nth)| row(*code, sums, nth))
            .collect();
        self.agree(
            &format!("/v1/builders/leaderboard?timePeriod={period}"),
            &rows,
        );
        let mut of_days: BTreeMap<Reverse<u64>, Vec<_>> = BTreeMap::new();
        for ((day, builder), sums) in days {
            // Wide journals are older than the days that are listed.
            if day.0 + 92 > today() {
                of_days.entry(day).or_default().push((builder, sums));
            }
        }
        let mut rows = Vec::new();
        for (Reverse(day), mut of_day) in of_days {
            rank(&mut of_day);
            for ((builder, sums), nth) in of_day.iter().zip(1..) {
                let mut row = row(*builder, sums, nth);
                let date = civil_date(day);
                row["dt"] = format!("{date}T00:00:00Z").into();
                rows.push(row);
            }
        }
        self.is(
            &format!("/v1/builders/volume?timePeriod={period}"),
            &rows.into(),
        );
    }
}

/// The civil date of a day since 1970-01-01, by counting.
fn civil_date(day: u64) -> String {
    let (mut year, mut left) = (1970, day);
    let is_leap = |year: u64| {
        year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
    };
    while left >= 365 + u64::from(is_leap(year)) {
        left -= 365 + u64::from(is_leap(year));
        year += 1;
    }
    let february = 28 + u64::from(is_leap(year));
    let mut month = 1;
    for length in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] {
        if left < length {
            break;
        }
        left -= length;
        month += 1;
    }
    format!("{year:04}-{month:02}-{:02}", left + 1)
}
