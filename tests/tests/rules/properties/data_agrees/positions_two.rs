//! Version 2 of positions and holders, computed anew.

use std::cmp::Reverse;

use serde_json::{Value, json};

use crate::naive::positions::{Held, Key};
use crate::properties::data_agrees::questions::Asked;
use crate::properties::data_agrees::rows::{PositionRow, number};
use crate::properties::journal::event_id;

/// Names of fields of version 2, and of the same in version 1.
const SAME: [(&str, &str); 22] = [
    ("proxy_wallet", "proxyWallet"),
    ("condition_id", "conditionId"),
    ("current_size", "size"),
    ("avg_price", "avgPrice"),
    ("entry_cost_usdc", "initialValue"),
    ("entry_fees_usdc", "entryFeesUsdc"),
    ("current_value", "currentValue"),
    ("percent_pnl", "percentPnl"),
    ("total_size", "totalBought"),
    ("realized_pnl", "realizedPnl"),
    ("percent_realized_pnl", "percentRealizedPnl"),
    ("current_price", "curPrice"),
    ("redeemable", "redeemable"),
    ("mergeable", "mergeable"),
    ("title", "title"),
    ("slug", "slug"),
    ("icon", "icon"),
    ("event_slug", "eventSlug"),
    ("outcome", "outcome"),
    ("opposite_outcome", "oppositeOutcome"),
    ("outcome_index", "outcomeIndex"),
    ("last_event_at", "timestamp"),
];

type Sort = fn(&Found) -> i128;

const SORTS: [(&str, Sort); 7] = [
    ("CURRENT_VALUE", |found| found.row.current),
    ("PRICE", |found| found.row.price),
    ("TOKENS", |found| found.row.size),
    ("UNREALIZED_PNL", Found::unrealized),
    ("REALIZED_PNL", |found| found.row.realized),
    ("TOTAL_PNL", |found| found.row.realized + found.unrealized()),
    ("TIMESTAMP", |found| found.row.second.into()),
];

/// A position of the plain computation.
#[derive(Clone)]
struct Found {
    key: Key,
    wallet: String,
    /// The sequence that closed it.
    closed: Option<u64>,
    row: PositionRow,
    spent: i128,
    resolved: bool,
}

impl Found {
    fn unrealized(&self) -> i128 {
        match self.closed {
            Some(_) => 0,
            None => self.row.cash,
        }
    }

    fn flag(&self, name: &str) -> bool {
        self.row.json[name] == true
    }
}

impl Asked<'_> {
    pub(crate) fn positions_two(&self) {
        let plain = self.plain;
        for (account, user) in plain.wallets.iter().enumerate() {
            self.of_wallet(&format!("/v2/positions?user={user}&"), &|found| {
                found.key.0 == account
            });
        }
        for (market, of) in plain.shown() {
            let path = format!("/v2/positions?condition_id={}&", of.condition);
            let open = self.found(&|found| found.key.1 == market && found.closed.is_none());
            for (name, sort) in SORTS {
                self.two(&format!("{path}sort_by={name}&"), open.clone(), sort, true);
            }
            self.two(&path, open.clone(), SORTS[0].1, true);
            let (least, path) = (open.len() / 2, format!("{path}status=REDEEMABLE&"));
            let resolved = open
                .iter()
                .filter(|found| found.resolved)
                .cloned()
                .collect();
            self.two(&path, resolved, SORTS[0].1, true);
            self.holders_two(market, least);
        }
    }

    fn of_wallet(&self, path: &str, own: &dyn Fn(&Found) -> bool) {
        let open = |wanted: &dyn Fn(&Found) -> bool| {
            self.found(&|found| own(found) && found.closed.is_none() && wanted(found))
        };
        let closed = |wanted: &dyn Fn(&Found) -> bool| {
            self.found(&|found| own(found) && found.closed.is_some() && wanted(found))
        };
        for (name, sort) in SORTS {
            for (direction, descending) in [("ASC", false), ("DESC", true)] {
                let path = format!("{path}sort_by={name}&sort_direction={direction}&");
                self.two(&path, open(&|_| true), sort, descending);
                let path = format!("{path}status=CLOSED&");
                self.two(&path, closed(&|_| true), sort, descending);
            }
        }
        let (value, tokens, profit) = (SORTS[0].1, SORTS[2].1, SORTS[4].1);
        let (markets, named) = self.some_markets();
        let markets = markets.replace("market=", "condition_id=");
        let lost = |found: &Found| found.resolved && found.row.price == 0;
        let pairs = |found: &Found| found.flag("mergeable") && !found.resolved;
        let mut seconds: Vec<u64> = open(&|_| true)
            .iter()
            .map(|found| found.row.second)
            .collect();
        seconds.sort_unstable();
        let middle = seconds.get(seconds.len() / 2).copied().unwrap_or(5);
        for (filter, rows, sort) in [
            ("status=OPEN&".to_owned(), open(&|_| true), value),
            (
                "status=REDEEMABLE&".to_owned(),
                open(&|found| found.resolved),
                value,
            ),
            ("status=REDEEMABLE_LOST&".to_owned(), open(&lost), value),
            ("status=MERGEABLE&".to_owned(), open(&pairs), tokens),
            ("status=CLOSED&".to_owned(), closed(&|_| true), profit),
            (
                format!("{markets}&"),
                open(&|found| named(found.key.1)),
                value,
            ),
            (
                format!("{markets}&status=CLOSED&"),
                closed(&|found| named(found.key.1)),
                profit,
            ),
            (
                "title=%C3%BCBER%201&".to_owned(),
                open(&|found| found.key.1 % 2 == 1),
                value,
            ),
            ("include_archived=true&".to_owned(), open(&|_| true), value),
            (
                "filter_type=CASH&filter_amount=2.5&".to_owned(),
                open(&|found| found.row.current >= 2_500_000),
                value,
            ),
            (
                "filter_type=TOKENS&filter_amount=6&".to_owned(),
                open(&|found| found.row.size >= 6_000_000),
                value,
            ),
            (
                format!("start={middle}&"),
                open(&|found| found.row.second >= middle),
                value,
            ),
            (
                format!("end={middle}&"),
                open(&|found| found.row.second <= middle),
                value,
            ),
        ] {
            self.two(&format!("{path}{filter}"), rows, sort, true);
        }
    }

    /// All positions, open and closed, that are wanted.
    fn found(&self, wanted: &dyn Fn(&Found) -> bool) -> Vec<Found> {
        let plain = self.plain;
        let found = |key: Key, held: &Held, closed| Found {
            key,
            wallet: plain.wallets[key.0].clone(),
            closed,
            row: plain.position(key, held, closed),
            spent: held.spent,
            resolved: plain.markets[key.1].pays.is_some(),
        };
        let open = plain.positions.open.iter();
        let open = open.map(|(key, held)| found(*key, held, None));
        let closed = plain.closed.iter();
        let closed = closed.map(|closed| found(closed.key, &closed.held, Some(closed.sequence)));
        open.chain(closed).filter(|found| wanted(found)).collect()
    }

    /// Reads a list, whose ties are ordered by market, outcome, account, the newest closed first.
    fn two(&self, path: &str, mut found: Vec<Found>, sort: Sort, descending: bool) {
        let tie = |of: &Found| (of.key.1, of.key.2, of.key.0, Reverse(of.closed));
        found.sort_by_key(tie);
        found.sort_by(|a, b| match descending {
            true => sort(b).cmp(&sort(a)),
            false => sort(a).cmp(&sort(b)),
        });
        let rows: Vec<Value> = found.iter().map(|found| self.position_two(found)).collect();
        self.pages(path, &rows);
    }

    fn position_two(&self, found: &Found) -> Value {
        let (_, market, outcome) = found.key;
        let of = &self.plain.markets[market];
        let first = &found.row.json;
        let mut row = json!({
            "token_id": of.tokens[outcome], "opposite_token_id": of.tokens[1 - outcome],
            "total_cost_usdc": number(found.spent),
            "unrealized_pnl": number(found.unrealized()),
            "total_pnl": number(found.row.realized + found.unrealized()),
            "status": match (found.closed, found.resolved) {
                (Some(_), _) => "CLOSED",
                (None, true) => "REDEEMABLE",
                (None, false) => "OPEN",
            },
            "negative_risk": self.plain.group_of(market).is_some(), "archived": false, "verified": false,
            "event_id": of.is_described().then(|| event_id(market).to_string()), "name": "", "profile_image": "",
            "end_date": found.row.end.split('T').next(),
        });
        for (second, name) in SAME {
            row[second] = first[name].clone();
        }
        row
    }

    /// Holders page by page: as nothing changes, every page has the same ranks of both tokens.
    fn holders_two(&self, market: usize, limit: usize) {
        let plain = self.plain;
        let condition = &plain.markets[market].condition;
        let limit = limit.clamp(1, 100);
        let ranked = [0, 1].map(|outcome| {
            let of = |found: &Found| (found.key.1, found.key.2) == (market, outcome);
            let mut held = self.found(&|found| found.closed.is_none() && of(found));
            held.sort_by_key(|found| (-found.row.size, found.key.0));
            held
        });
        for profit in [false, true] {
            let mut cursor = String::new();
            for offset in (0..=ranked[0].len().max(ranked[1].len())).step_by(limit) {
                let groups = ranked
                    .iter()
                    .enumerate()
                    .filter(|(_, held)| held.len() > offset);
                let groups: Vec<Value> = groups
                    .map(|(outcome, held)| {
                        let token = &plain.markets[market].tokens[outcome];
                        let page = held.iter().skip(offset).take(limit);
                        let rows = page.map(|found| self.holder_two(found, token, profit));
                        json!({ "token_id": token, "holders": rows.collect::<Vec<_>>() })
                    })
                    .collect();
                let path = format!(
                    "/v2/holders?condition_id={condition}&include_pnl={profit}&limit={limit}{cursor}"
                );
                let page = self.site.get(&path);
                assert_eq!(page["data"], json!(groups), "{path}");
                let has_more = ranked.iter().any(|held| held.len() > offset + limit);
                let next = page["pagination"]["next_cursor"].as_str();
                assert_eq!(page["pagination"]["has_more"], has_more, "{path}");
                assert_eq!(next.is_some(), has_more, "{path}");
                match next {
                    Some(next) => cursor = format!("&cursor={next}"),
                    None => break,
                }
            }
        }
        let least = ranked[0].first().map_or(5, |found| found.row.size);
        let kept = |held: &[Found]| held.iter().filter(|found| found.row.size >= least).count();
        let path = format!(
            "/v2/holders?condition_id={condition}&min_balance={}",
            number(least)
        );
        let shown = self.site.get(&path);
        let counts: usize = shown["data"]
            .as_array()
            .expect("groups")
            .iter()
            .map(|group| group["holders"].as_array().expect("holders").len())
            .sum();
        assert_eq!(counts, kept(&ranked[0]) + kept(&ranked[1]), "{path}");
    }

    fn holder_two(&self, found: &Found, token: &str, profit: bool) -> Value {
        let (account, _, outcome) = found.key;
        let first = self.plain.holder(account, token, 0, outcome);
        let mut row = json!({
            "proxy_wallet": found.wallet, "token_id": token, "outcome_index": outcome,
            "amount": number(found.row.size), "display_username_public": false, "verified": false,
            "pseudonym": first["pseudonym"],
        });
        for name in ["name", "bio", "profile_image", "profile_image_optimized"] {
            row[name] = "".into();
        }
        if profit {
            let fields = [
                ("avg_price", found.row.average),
                ("entry_cost_usdc", found.row.initial),
                ("current_price", found.row.price * 50),
                ("current_value", found.row.current),
                ("realized_pnl", found.row.realized),
                ("unrealized_pnl", found.row.cash),
                ("total_pnl", found.row.realized + found.row.cash),
            ];
            for (name, value) in fields {
                row[name] = number(value);
            }
        }
        row
    }
}
