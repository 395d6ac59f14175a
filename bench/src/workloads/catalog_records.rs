//! Synthetic upstream records: events of four markets, deterministic, with few distinct words, so
//! that searches match many of them.

use serde_json::{Value, json};

/// Increment when the records change: cached catalogs of another generation are made again.
pub(crate) const GENERATION: u32 = 1;
/// Markets per event.
pub(crate) const MARKETS: u64 = 4;
/// Number of wallets that create markets.
const CREATORS: u64 = 50;
/// Number of series.
const SERIES: u64 = 200;

const WORDS: [&str; 17] = [
    "election",
    "president",
    "bitcoin",
    "price",
    "above",
    "march",
    "team",
    "points",
    "league",
    "championship",
    "rate",
    "inflation",
    "senate",
    "record",
    "temperature",
    "album",
    "movie",
];

/// A pseudorandom, deterministic number.
pub(crate) fn mixed(number: u64) -> u64 {
    let mut mixed = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed ^= mixed >> 29;
    mixed.wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 8
}

/// Condition id of a market.
pub(crate) fn condition(market: u64) -> String {
    format!("0x{market:064x}")
}

/// Wallet of a market creator.
pub(crate) fn creator(number: u64) -> String {
    format!("0x{number:040x}")
}

fn sentence(number: u64) -> String {
    let word = |place: u64| {
        let index = usize::try_from(mixed(number * 8 + place)).unwrap_or_default();
        WORDS[index % WORDS.len()]
    };
    let [a, b, c, d] = [0, 1, 2, 3].map(word);
    format!("Will the {a} {b} the {c} {d} in {number}?")
}

fn day(number: u64) -> String {
    let (month, day) = (number % 12 + 1, number % 28 + 1);
    format!("2026-{month:02}-{day:02}T00:00:00Z")
}

fn market(id: u64, updated: &str) -> Value {
    json!({
        "id": id.to_string(), "question": sentence(id), "conditionId": condition(id),
        "slug": format!("will-{id}-happen"), "resolutionSource": "https://example.com/source",
        "startDate": "2026-01-01T00:00:00Z", "endDate": day(mixed(id)),
        "image": "https://example.com/image.png", "icon": "https://example.com/icon.png",
        "description": "This market will resolve to Yes if it does. ".repeat(25),
        "outcomes": "[\"Yes\", \"No\"]",
        "clobTokenIds": format!("[\"{}\", \"{}\"]", id * 2, id * 2 + 1),
        "active": true, "closed": mixed(id).is_multiple_of(3), "archived": false,
        "createdAt": "2025-12-01T00:00:00.5Z", "updatedAt": updated, "questionID": "0xabc",
        "volume": mixed(id) % 1_000_000, "liquidity": 7, "creator": creator(id % CREATORS),
    })
}

fn tag(id: u64) -> Value {
    json!({
        "id": id.to_string(), "label": format!("Tag {id}"), "slug": format!("tag-{id}"),
        "createdAt": "2024-01-01T00:00:00Z", "updatedAt": "2024-01-02T00:00:00Z",
        "requiresTranslation": false,
    })
}

fn series(id: u64) -> Value {
    json!({
        "id": id.to_string(), "ticker": format!("series-{id}"), "slug": format!("series-{id}"),
        "title": format!("Series {id}"), "seriesType": "single", "recurrence": "daily",
        "active": true, "closed": false, "createdAt": "2024-01-01T00:00:00Z",
        "updatedAt": "2024-01-02T00:00:00Z",
    })
}

/// An event with its markets as of `updated`. One tag is on all events, others are on a fifth, a
/// hundredth and a thousandth.
pub(crate) fn event(id: u64, updated: &str) -> Value {
    let markets = id * MARKETS..(id + 1) * MARKETS;
    let tags = [1, 10 + id % 5, 100 + id % 100, 1_000 + id % 1_000];
    json!({
        "id": id.to_string(), "ticker": format!("event-{id}"), "slug": format!("event-{id}"),
        "title": sentence(id * MARKETS), "description": "This event is about it. ".repeat(25),
        "startDate": "2026-01-01T00:00:00Z", "creationDate": "2025-12-31T00:00:00Z",
        "endDate": "2026-02-01T00:00:00Z", "image": "https://example.com/event.png",
        "icon": "https://example.com/event-icon.png", "active": true,
        "closed": mixed(id).is_multiple_of(3), "archived": false,
        "createdAt": "2025-12-01T00:00:00Z", "updatedAt": updated,
        "volume": mixed(id) % 1_000_000, "eventMetadata": {"context": "more"},
        "tags": tags.map(tag), "series": [series(id % SERIES + 1)],
        "markets": markets.map(|id| market(id, updated)).collect::<Vec<_>>(),
    })
}
