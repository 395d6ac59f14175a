//! Version 2 of the lists shows the rows of version 1 under other names.

use serde_json::{Map, Value, json};

use crate::properties::data_agrees::questions::Asked;
use crate::properties::data_agrees::rows::number;

/// Rows of a page.
const LIMIT: usize = 9;

const NAMES: [(&str, &str); 12] = [
    ("proxyWallet", "proxy_wallet"),
    ("conditionId", "condition_id"),
    ("usdcSize", "usdc_size"),
    ("feeUsdc", "fee_usdc"),
    ("eventSlug", "event_slug"),
    ("outcomeIndex", "outcome_index"),
    ("profileImage", "profile_image"),
    ("profileImageOptimized", "profile_image_optimized"),
    ("transactionHash", "transaction_hash"),
    ("asset", "token_id"),
    ("userName", "user_name"),
    ("xUsername", "x_username"),
];

impl Asked<'_> {
    pub(crate) fn version_two(&self) {
        let fills = self.fills(&|_, _, takes| takes);
        self.pages("/v2/trades?", &self.in_two(fills, false));
        let (markets, named) = self.some_markets();
        let fills = self.fills(&|trade, leg, _| leg.buys && named(trade.market));
        let path = format!("/v2/trades?taker_only=false&side=BUY&{markets}&")
            .replace("market=", "condition_id=");
        self.pages(&path, &self.in_two(fills, false));
        for (account, user) in self.plain.wallets.iter().enumerate() {
            let mut done = self.done(account);
            done.reverse();
            let done = done.into_iter().map(|done| done.row).collect();
            let path = format!("/v2/activity?user={user}&");
            self.pages(&path, &self.in_two(done, true));
            let value = &self.site.get(&format!("/value?user={user}"))[0]["value"];
            let expected = json!({ "data": { "proxy_wallet": user, "value": value } });
            self.is(&format!("/v2/value?user={user}"), &expected);
        }
        self.ranks();
        self.positions_two();
    }

    /// Rows of version 2.
    fn in_two(&self, rows: Vec<Value>, has_kind: bool) -> Vec<Value> {
        let rows = rows.into_iter().map(|row| {
            let Value::Object(fields) = row else {
                panic!("{row}");
            };
            let mut renamed = Map::new();
            for (name, value) in fields {
                let found = NAMES.iter().find(|(first, _)| *first == name);
                let second = found.map_or(name.as_str(), |(_, second)| second);
                let value = match value.as_str().and_then(|text| text.split_once(':')) {
                    Some((condition, outcome)) if name == "asset" => {
                        let mut markets = self.plain.markets.iter();
                        let market = markets.find(|market| market.condition == condition);
                        let outcome: usize = outcome.parse().expect("an index");
                        json!(market.expect("a market").tokens[outcome])
                    }
                    _ => value,
                };
                renamed.insert(second.to_owned(), value);
            }
            if has_kind {
                renamed.insert("is_combo".to_owned(), false.into());
            }
            Value::Object(renamed)
        });
        rows.collect()
    }

    /// Reads a list page by page.
    pub(crate) fn pages(&self, path: &str, expected: &[Value]) {
        let (mut rows, mut cursor) = (Vec::new(), String::new());
        loop {
            let page = self.site.get(&format!("{path}limit={LIMIT}{cursor}"));
            let pagination = &page["pagination"];
            assert_eq!(pagination["offset"], rows.len(), "{path}");
            rows.extend(page["data"].as_array().expect("rows").iter().cloned());
            let next = pagination["next_cursor"].as_str();
            assert_eq!(pagination["has_more"], next.is_some(), "{path}");
            assert_eq!(pagination["limit"], LIMIT, "{path}");
            match next {
                Some(next) => cursor = format!("&cursor={next}"),
                None => break,
            }
        }
        assert_eq!(rows, expected, "{path}");
    }

    /// Ranks by profit and by shares, of all time.
    fn ranks(&self) {
        let plain = self.plain;
        let mut sums = vec![(0, 0); plain.wallets.len()];
        for trade in &plain.fills {
            for leg in trade.legs {
                sums[leg.account].1 += trade.lots;
            }
        }
        for (account, _, profit) in &plain.profits {
            sums[*account].0 += profit;
        }
        let rank = |account: usize, key: &dyn Fn(&(i128, i128)) -> i128| {
            let ahead = sums.iter().enumerate().filter(|(other, of)| {
                let (theirs, own) = (key(of), key(&sums[account]));
                **of != (0, 0) && (theirs > own || (theirs == own && *other < account))
            });
            ahead.count() + 1
        };
        for (account, user) in plain.wallets.iter().enumerate() {
            let path = format!("/v2/leaderboard?time_period=all&user={user}");
            let (profit, lots) = sums[account];
            let expected = match sums[account] {
                (0, 0) => Value::Null,
                _ => json!({
                    "rank_pnl": rank(account, &|of| of.0), "rank_volume": rank(account, &|of| of.1),
                    "user_id": user, "pnl": number(profit), "volume": number(lots * 10_000),
                    "user_name": "", "profile_image": "", "x_username": "", "verified": false,
                }),
            };
            self.is(&path, &json!({ "data": expected }));
        }
    }
}
