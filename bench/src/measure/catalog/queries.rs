//! Queries of the catalog surface: every kind of list, record and search, as paths.

use super::records::{MARKETS, condition, creator, mixed};

/// Kinds of answers; each kind has its own time limit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum AnswerKind {
    /// A page of a list.
    List,
    Record,
    Search,
    /// An unknown path: the cost of machine and HTTP without the catalog.
    Baseline,
}

impl AnswerKind {
    /// Expected status.
    pub(super) const fn status(self) -> u16 {
        match self {
            Self::List | Self::Record | Self::Search => 200,
            Self::Baseline => 404,
        }
    }
}

pub(super) struct CatalogQuery {
    pub(super) kind: AnswerKind,
    /// Path; `#` stands for an id that changes with every request.
    pub(super) path: String,
}

const LISTS: &[&str] = &[
    "/markets",
    "/markets?limit=500",
    "/markets?limit=500&closed=false&order=volume",
    "/markets?archived=true&order=endDate",
    "/markets?active=false&order=slug",
    "/markets?offset=19000",
    "/markets?offset=190000&order=volume",
    "/markets?tag=tag-1",
    "/markets?tag=tag-1&archived=true",
    "/markets?tag=tag-11&order=volume&closed=true",
    "/markets?tag=tag-1&order=endDate&offset=15000",
    "/markets?tag_id=105",
    "/markets?tag_id=1005&order=endDate",
    "/markets?tag_id=11&closed=true&order=slug&offset=13000",
    "/markets?tag_id=11&tag=tag-103&order=question&ascending=true",
    "/markets?order=liquidity,volume&offset=100000&limit=500",
    "/markets?order=liquidity,startDate,createdAt,endDate,slug&ascending=true&offset=120000",
    "/markets?order=updatedAt,liquidity,question&closed=true",
    "/markets?event_id=77",
    "/markets?slug=will-308-happen",
    "/markets?clob_token_ids=616,624",
    "/markets?id=#ids",
    "/markets?condition_ids=#conditions",
    "/markets?clob_token_ids=#tokens",
    "/events",
    "/events?limit=500",
    "/events?limit=500&closed=false&order=volume",
    "/events?archived=true&order=title",
    "/events?order=endDate,volume&offset=20000&limit=500",
    "/events?order=startDate,createdAt,slug&ascending=true&closed=true&offset=10000",
    "/events?offset=40000",
    "/events?tag=tag-1&limit=500",
    "/events?tag_id=105&order=endDate",
    "/events?series_slug=series-5",
    "/series",
    "/series?limit=500",
    "/tags",
    "/tags?limit=500",
];

/// Markets named in one list query: about as many as fit into a request target.
const NAMED: u64 = 100;

const SEARCHES: &[&str] = &[
    "will",
    "Will the",
    "bitcoin",
    "election president",
    "price of march",
    "will the election president the bitcoin",
    "the in bitcoin",
    "in 1234",
    "in 1234?",
    "zzz",
    "w",
    "th",
    "a",
    "?",
    "event",
    "bitcoin&page=40",
    "bitcoin&limit_per_type=500",
];

pub(super) fn all() -> Vec<CatalogQuery> {
    let whose = creator(7);
    let nobody = creator(u64::MAX);
    let lists = LISTS.iter().map(|path| (*path).to_owned()).chain([
        format!("/markets?creator={whose}"),
        format!("/markets?creator={whose}&order=volume"),
        format!("/markets?creator={whose}&tag_id=11&order=endDate,volume&offset=300"),
        format!("/events?creator={whose}"),
        format!("/series?creator={whose}"),
        format!("/tags?creator={whose}"),
        format!("/tags?creator={nobody}"),
    ]);
    let of_creator = format!("/tags/1?creator={whose}");
    let records = [
        of_creator.as_str(),
        "/markets/#market",
        "/markets/#condition",
        "/markets/slug/will-#market-happen",
        "/events/#event",
        "/events/slug/event-#event",
        "/tags/1",
        "/tags/slug/tag-1",
    ];
    let searches = SEARCHES
        .iter()
        .map(|term| term.replace(' ', "%20").replace('?', "%3F"));
    let searches = searches.map(|term| format!("/public-search?q={term}"));
    let searches = searches
        .chain(["bitcoin", "tag"].map(|term| format!("/public-search?q={term}&creator={whose}")));
    let kinds = [
        (AnswerKind::List, lists.collect::<Vec<_>>()),
        (AnswerKind::Record, records.map(str::to_owned).to_vec()),
        (AnswerKind::Search, searches.collect()),
        (AnswerKind::Baseline, vec!["/nowhere".to_owned()]),
    ];
    let of = |(kind, paths): (AnswerKind, Vec<String>)| {
        paths
            .into_iter()
            .map(move |path| CatalogQuery { kind, path })
    };
    kinds.into_iter().flat_map(of).collect()
}

impl CatalogQuery {
    /// The request of a round, on a catalog of `events` events.
    pub(super) fn request(&self, events: u64, round: u64) -> Vec<u8> {
        let event = mixed(round) % events + 1;
        let market = event * MARKETS;
        let some = |name: fn(u64) -> String| -> String {
            let markets = (0..NAMED).map(|place| mixed(round + place) % events * MARKETS);
            markets.map(name).collect::<Vec<_>>().join(",")
        };
        let path = self
            .path
            .replace("#ids", &some(|market| market.to_string()))
            .replace("#conditions", &some(condition))
            .replace("#tokens", &some(|market| (market * 2).to_string()))
            .replace("#market", &market.to_string())
            .replace("#event", &event.to_string())
            .replace("#condition", &condition(market));
        format!("GET {path} HTTP/1.1\r\nHost: x\r\n\r\n").into_bytes()
    }
}
