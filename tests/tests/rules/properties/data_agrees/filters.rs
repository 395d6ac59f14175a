//! `GET /trades` and `/activity` with every combination of filters, from every offset: the rows are
//! those of the plain sequence, filtered one by one.

use serde_json::Value;

use crate::naive::{Leg, Trade};
use crate::properties::data_agrees::questions::Asked;

/// Rows of a page.
const LIMIT: usize = 3;
/// One in N combinations is queried from every offset, the others from some.
const STRIDE: usize = 24;

/// Predicate on a trade, one of its sides, and whether that side is the taker's.
type Admits = Box<dyn Fn(&Trade, &Leg, bool) -> bool>;

/// A filter of one kind: parameters and predicate.
struct Filter {
    text: String,
    admits: Admits,
}

impl Filter {
    fn new(text: String, admits: impl Fn(&Trade, &Leg, bool) -> bool + 'static) -> Self {
        let admits = Box::new(admits);
        Self { text, admits }
    }

    fn none() -> Self {
        Self::new(String::new(), |_, _, _| true)
    }
}

impl Asked<'_> {
    /// Queries all combinations.
    pub(crate) fn every_filter(&self) {
        let kinds = [
            self.users(),
            self.markets_named(),
            sides(),
            takers(),
            least(),
        ];
        let count: usize = kinds.iter().map(Vec::len).product();
        let first = self.plain.fills.len() % STRIDE;
        for number in 0..count {
            let mut rest = number;
            let mixture: Vec<&Filter> = kinds
                .iter()
                .map(|kind| {
                    let filter = &kind[rest % kind.len()];
                    rest /= kind.len();
                    filter
                })
                .collect();
            let texts = mixture.iter().map(|filter| filter.text.as_str());
            let texts: String = texts.collect();
            let path = format!("/trades?{}", texts.trim_start_matches('&'));
            let expected = self.fills(&|trade, leg, takes| {
                let mut filters = mixture.iter();
                filters.all(|filter| (filter.admits)(trade, leg, takes))
            });
            self.offsets(&path, &expected, number % STRIDE == first);
        }
    }

    /// Compares pages of a list from each offset, or from some.
    pub(crate) fn offsets(&self, path: &str, expected: &[Value], from_each: bool) {
        let end = expected.len();
        let some = [0, end / 3, end.saturating_sub(1), end + 1];
        let each = (0..=end).filter(|offset| from_each || some.contains(offset));
        for offset in each.chain([end + 1]) {
            let page = expected.iter().skip(offset).take(LIMIT).cloned();
            let path = format!("{path}&limit={LIMIT}&offset={offset}");
            self.is(&path, &page.collect());
        }
    }

    fn users(&self) -> Vec<Filter> {
        let users = self.plain.wallets.iter().enumerate();
        let users = users.map(|(account, user)| {
            Filter::new(format!("&user={user}"), move |_, leg, _| {
                leg.account == account
            })
        });
        users.chain([Filter::none()]).collect()
    }

    fn markets_named(&self) -> Vec<Filter> {
        let (some, named) = self.some_markets();
        let (first, only) = self.plain.shown().next().expect("a market");
        let only = &only.condition;
        vec![
            Filter::none(),
            Filter::new(format!("&market={only}"), move |trade, _, _| {
                trade.market == first
            }),
            Filter::new(format!("&{some}"), move |trade, _, _| named(trade.market)),
        ]
    }
}

fn sides() -> Vec<Filter> {
    vec![
        Filter::none(),
        Filter::new("&side=BUY".to_owned(), |_, leg, _| leg.buys),
        Filter::new("&side=SELL".to_owned(), |_, leg, _| !leg.buys),
    ]
}

fn takers() -> Vec<Filter> {
    vec![
        Filter::new("&takerOnly=true".to_owned(), |_, _, takes| takes),
        Filter::new("&takerOnly=false".to_owned(), |_, _, _| true),
    ]
}

fn least() -> Vec<Filter> {
    vec![
        Filter::none(),
        Filter::new("&filterType=CASH&filterAmount=3".to_owned(), |_, leg, _| {
            leg.value >= 3_000_000
        }),
        Filter::new(
            "&filterType=TOKENS&filterAmount=6.5".to_owned(),
            |_, leg, _| leg.lots >= 650,
        ),
    ]
}
