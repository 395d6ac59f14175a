//! Queries of the data surface: every endpoint for the busiest wallets and markets, every sort in
//! both directions, deep offsets, and filters that match few rows or none.

use crate::workloads::history::{MAKERS, Shape};
use crate::workloads::venue;

#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct DataQuery {
    /// Subject, without ids.
    pub(super) about: &'static str,
    pub(super) query: String,
}

impl DataQuery {
    pub(super) fn path(&self) -> &str {
        self.query
            .split_once('?')
            .map_or(&self.query, |(path, _)| path)
    }

    /// Name in the report: path and parameters, with market numbers instead of long ids.
    pub(super) fn name(&self) -> String {
        let path = self.path();
        let parameters = self.query[path.len()..].trim_start_matches('?');
        let short = parameters.split('&').filter_map(|text| {
            let ids = text.strip_prefix("market=");
            let markets = ids.map(|ids| format!("{} markets", ids.split(',').count()));
            markets.or_else(|| (text.len() < 40).then(|| text.to_owned()))
        });
        let short: Vec<_> = short.collect();
        format!("{path} {} {}", self.about, short.join("&"))
            .trim_end()
            .to_owned()
    }
}

const POSITION_SORTS: [&str; 9] = [
    "CURRENT",
    "INITIAL",
    "TOKENS",
    "CASHPNL",
    "PERCENTPNL",
    "TITLE",
    "RESOLVING",
    "PRICE",
    "AVGPRICE",
];
const CLOSED_SORTS: [&str; 5] = ["REALIZEDPNL", "TITLE", "PRICE", "AVGPRICE", "TIMESTAMP"];
const DIRECTIONS: [&str; 2] = ["ASC", "DESC"];
/// As many markets as fit into an 8 KiB query with the other parameters.
const MARKETS: u32 = 115;
/// Filters of `/trades`, for every wallet: one fill in 20 has 4.8 shares, one in 200 has 4.98.
const TRADE_FILTERS: [&str; 18] = [
    "",
    "takerOnly=false",
    "limit=1000",
    "limit=10000&takerOnly=false",
    "offset=10000",
    "offset=10000&takerOnly=false",
    "side=SELL",
    "side=SELL&takerOnly=false&offset=10000",
    "filterType=CASH&filterAmount=4.5",
    "filterType=CASH&filterAmount=1000000&takerOnly=false",
    "filterType=TOKENS&filterAmount=20",
    "filterType=TOKENS&filterAmount=1000000&takerOnly=false",
    "filterType=TOKENS&filterAmount=4.8&takerOnly=false&offset=10000",
    "filterType=TOKENS&filterAmount=4.98&takerOnly=false&offset=10000",
    "filterType=CASH&filterAmount=4.5&takerOnly=false&offset=10000",
    "side=SELL&filterType=CASH&filterAmount=2&takerOnly=false&offset=10000",
    "side=SELL&filterType=TOKENS&filterAmount=4.98&offset=10000",
    "side=BUY&filterType=TOKENS&filterAmount=20&takerOnly=false&offset=10000",
];
/// Filters of `/trades` and `/activity`, combined with markets.
const IN_MARKETS: [&str; 4] = [
    "offset=10000",
    "takerOnly=false&offset=10000",
    "side=SELL&takerOnly=false&offset=10000",
    "filterType=TOKENS&filterAmount=4.98&takerOnly=false&offset=10000",
];
const ACTIVITY_IN_MARKETS: [&str; 3] = [
    "offset=10000",
    "type=TRADE&side=SELL&offset=10000",
    "type=TRADE&side=SELL&offset=10000&sortDirection=ASC",
];
/// Filters of `/activity`, for every wallet.
const ACTIVITY_FILTERS: [&str; 12] = [
    "",
    "sortBy=TOKENS",
    "sortBy=CASH&sortDirection=ASC",
    "sortBy=CASH&limit=500&offset=10000",
    "sortDirection=ASC",
    "limit=500&offset=10000",
    "side=SELL",
    "type=TRADE&side=SELL&offset=10000",
    "type=TRADE&side=SELL&offset=10000&sortDirection=ASC",
    "type=MERGE",
    "type=REDEEM&sortDirection=ASC",
    "type=SPLIT,CONVERSION",
];

/// The busiest market maker, and of the crowd the busiest, a median and the least busy wallet.
pub(super) fn wallets(shape: &Shape) -> [(&'static str, u32); 4] {
    let last = shape.crowd.saturating_sub(1);
    [
        ("busiest maker", 0),
        ("busiest buyer", MAKERS),
        ("middle", MAKERS + last / 100),
        ("least busy", MAKERS + last),
    ]
}

/// Filters of version 2 of a wallet's positions.
const V2_POSITIONS: [&str; 4] = [
    "",
    "limit=1000",
    "status=CLOSED&sort_by=TIMESTAMP&limit=1000",
    "status=CLOSED&limit=100",
];

/// All queries for a history.
pub(super) fn all(shape: &Shape) -> Vec<DataQuery> {
    let mut questions = DataQueries {
        all: Vec::new(),
        about: "",
    };
    for (about, account) in wallets(shape) {
        questions.about = about;
        questions.of_wallet(&format!("user={}", venue::wallet(account)), shape);
    }
    questions.about = "all";
    for filter in TRADE_FILTERS {
        questions.ask("/trades", "", filter);
    }
    questions.of_markets(shape);
    questions.about = "all";
    questions.leaderboards();
    questions.all
}

struct DataQueries {
    all: Vec<DataQuery>,
    about: &'static str,
}

impl DataQueries {
    fn ask(&mut self, path: &str, subject: &str, more: &str) {
        let parameters = [subject, more].into_iter().filter(|text| !text.is_empty());
        let parameters: Vec<_> = parameters.collect();
        let mark = if parameters.is_empty() { "" } else { "?" };
        self.all.push(DataQuery {
            about: self.about,
            query: format!("{path}{mark}{}", parameters.join("&")),
        });
    }

    fn of_wallet(&mut self, user: &str, shape: &Shape) {
        for filter in TRADE_FILTERS {
            self.ask("/trades", user, filter);
        }
        for market in [0, 1, shape.markets - 1] {
            let market = markets(market, 1);
            self.ask("/trades", user, &market);
            self.ask("/trades", user, &format!("{market}&takerOnly=false"));
            self.ask("/closed-positions", user, &market);
        }
        self.ask("/positions", user, "");
        self.ask("/positions", user, "limit=500&sizeThreshold=0");
        for filter in ["redeemable=true", "mergeable=true", "title=DISTRICT%2077"] {
            self.ask("/positions", user, filter);
        }
        self.ask("/closed-positions", user, "title=district%204999");
        for direction in DIRECTIONS {
            for sort in POSITION_SORTS {
                let sort = format!("sortBy={sort}&sortDirection={direction}");
                self.ask("/positions", user, &format!("{sort}&offset=5000"));
            }
            for sort in CLOSED_SORTS {
                let sort = format!("sortBy={sort}&sortDirection={direction}");
                self.ask("/closed-positions", user, &sort);
                let deep = format!("{sort}&limit=50&offset=30000");
                self.ask("/closed-positions", user, &deep);
            }
        }
        for filter in ACTIVITY_FILTERS {
            self.ask("/activity", user, filter);
        }
        self.ask("/value", user, "");
        self.ask("/traded", user, "");
        for filter in ["timePeriod=ALL", "timePeriod=MONTH&orderBy=VOL"] {
            self.ask("/v1/leaderboard", user, filter);
        }
        for filter in V2_POSITIONS {
            self.ask("/v2/positions", user, filter);
        }
        for markets in [markets(0, 1), markets(1, 1), most_markets(shape)] {
            self.in_markets(&format!("{user}&{markets}"));
        }
    }

    /// Queries of a wallet in some markets.
    fn in_markets(&mut self, both: &str) {
        for filter in IN_MARKETS {
            self.ask("/trades", both, filter);
        }
        for filter in ACTIVITY_IN_MARKETS {
            self.ask("/activity", both, filter);
        }
        self.ask("/positions", both, "limit=500&sizeThreshold=0");
        self.ask("/closed-positions", both, "limit=50&offset=30000");
        self.ask("/value", both, "");
    }

    /// Queries over all accounts, builders and markets.
    fn leaderboards(&mut self) {
        for period in ["DAY", "WEEK", "MONTH", "ALL"] {
            let period = format!("timePeriod={period}");
            for order in ["PNL", "VOL"] {
                let best = format!("{period}&orderBy={order}");
                self.ask("/v1/leaderboard", "", &best);
                let deep = format!("{best}&limit=50&offset=1000");
                self.ask("/v1/leaderboard", "", &deep);
            }
            self.ask("/v1/builders/leaderboard", "", &period);
            self.ask("/v1/builders/volume", "", &period);
        }
        self.ask("/oi", "", "");
        for event in ["1", "999999999"] {
            self.ask("/trades", "", &format!("eventId={event}"));
            self.ask("/live-volume", "", &format!("id={event}"));
        }
        self.ask("/trades", "", "start=1&takerOnly=false&offset=10000");
    }

    fn of_markets(&mut self, shape: &Shape) {
        self.about = "busiest market";
        let busiest = markets(0, 1);
        for filter in TRADE_FILTERS {
            self.ask("/trades", &busiest, filter);
        }
        for filter in ["", "limit=500&minBalance=0"] {
            self.ask("/holders", &busiest, filter);
        }
        let condition = busiest.replace("market=", "condition_id=");
        for filter in ["", "sort_by=TOTAL_PNL", "limit=1000"] {
            self.ask("/v2/positions", &condition, filter);
        }
        for filter in ["limit=1000", "include_pnl=true"] {
            self.ask("/v2/holders", &condition, filter);
        }
        let token = format!("token_id={}:0", venue::condition(0));
        for range in ["interval=1w", "interval=max", "as_of=1"] {
            self.ask("/v2/prices-history", &token, range);
        }
        self.about = "all of";
        let many = most_markets(shape);
        for path in ["/oi", "/live-volume", "/holders", "/trades"] {
            self.ask(path, &many, "");
        }
        self.ask("/trades", &many, "limit=10000&takerOnly=false");
        for filter in IN_MARKETS {
            self.ask("/trades", &many, filter);
        }
    }
}

/// `count` markets from `first` on, as a parameter; market 0 is the busiest.
fn markets(first: u32, count: u32) -> String {
    let ids = (first..first + count).map(|market| venue::condition(market).to_string());
    format!("market={}", ids.collect::<Vec<_>>().join(","))
}

/// The busiest markets, as many as a query can name.
fn most_markets(shape: &Shape) -> String {
    markets(0, shape.markets.min(MARKETS))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn queries_are_distinct_and_have_short_names() {
        let shape = Shape {
            trades: 1,
            live_orders: 0,
            crowd: 200,
            markets: 200,
            lived: true,
        };
        let all = all(&shape);
        let distinct: HashSet<_> = all.iter().map(|question| &question.query).collect();
        assert_eq!(distinct.len(), all.len());
        for question in &all {
            assert!(question.name().len() < 120, "{}", question.name());
            assert!(question.query.len() < 8 << 10, "{}", question.query.len());
        }
        assert_eq!(all[0].name(), "/trades busiest maker");
    }
}
