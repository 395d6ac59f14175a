//! Every kind of query answers on a generated catalog, and how long it takes: small as a test, at the
//! stated size as a measurement,
//! `EVENTS=50000 cargo test -p foretell-catalog --release --test catalog how_long -- --nocapture`.

use std::io::{self, Read};
use std::time::{Duration, Instant};

use super::common::{Shelf, address, condition, event, market, parameters, series, tag, with};
use foretell_catalog::import::import;
use foretell_catalog::query::{EventsQuery, MarketsQuery, OneQuery, SearchQuery, SeriesQuery};
use foretell_catalog::{Catalog, CatalogError, Sites};
use serde_json::{Value, json};

/// How many events, each with four markets. The goal of the catalog is stated for 50,000.
fn events() -> u64 {
    std::env::var("EVENTS")
        .ok()
        .and_then(|count| count.parse().ok())
        .unwrap_or(50)
}

const WORDS: &[&str] = &[
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

/// A small generator of the same numbers every time.
fn mixed(number: u64) -> u64 {
    let mut mixed = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed ^= mixed >> 29;
    mixed.wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 8
}

fn sentence(number: u64) -> String {
    let word = |place: u64| {
        let length = u64::try_from(WORDS.len()).unwrap();
        WORDS[usize::try_from(mixed(number * 8 + place) % length).unwrap()]
    };
    format!(
        "Will the {} {} the {} {} in {number}?",
        word(0),
        word(1),
        word(2),
        word(3)
    )
}

fn record(id: u64) -> Value {
    let day = |number: u64| {
        format!(
            "2026-{:02}-{:02}T00:00:00Z",
            number % 12 + 1,
            number % 28 + 1
        )
    };
    let markets: Vec<Value> = (0..4)
        .map(|place| id * 4 + place)
        .map(|id| {
            with(market(id), &json!({
                "question": sentence(id), "conditionId": condition(id), "endDate": day(mixed(id)),
                "volume": mixed(id) % 1_000_000, "closed": mixed(id).is_multiple_of(3), "creator": address(id % 50),
                "description": "This market will resolve to Yes if it does. ".repeat(25),
            }))
        })
        .collect();
    let tags = [1, 10 + id % 5, 100 + id % 100, 1_000 + id % 1_000];
    with(
        event(id, &markets),
        &json!({
            "title": sentence(id * 4), "tags": tags.map(tag), "series": [series(id % 200 + 1)],
            "closed": mixed(id).is_multiple_of(3), "volume": mixed(id) % 1_000_000,
            "description": "This event is about it. ".repeat(25),
        }),
    )
}

/// JSON lines that are made as they are read.
struct Generated {
    next: u64,
    line: io::Cursor<Vec<u8>>,
}

impl Read for Generated {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.line.read(buffer)?;
        if count > 0 || self.next > events() {
            return Ok(count);
        }
        self.line = io::Cursor::new(format!("{}\n", record(self.next)).into_bytes());
        self.next += 1;
        self.line.read(buffer)
    }
}

/// Processor time of this thread: what an answer costs, whatever else the machine does.
fn spent() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(
        time.tv_sec.try_into().unwrap(),
        time.tv_nsec.try_into().unwrap(),
    )
}

fn measure(
    catalog: &Catalog,
    name: &str,
    ask: impl Fn(&Catalog, u64) -> Result<String, CatalogError>,
) {
    let timed = |round| {
        let (start, before) = (Instant::now(), spent());
        assert!(!ask(catalog, round).unwrap().is_empty());
        (start.elapsed().as_micros(), (spent() - before).as_micros())
    };
    let (mut wall, mut cpu): (Vec<u128>, Vec<u128>) = (0..100).map(timed).unzip();
    wall.sort_unstable();
    cpu.sort_unstable();
    let name: String = name.chars().take(56).collect();
    println!(
        "{name:56} cpu p50 {:>6} p99 {:>6} µs   wall p50 {:>6} p99 {:>6} µs",
        cpu[50], cpu[98], wall[50], wall[98]
    );
}

#[test]
fn how_long_answers_take() {
    // A catalog that was made before is measured again without the import.
    let known = std::env::var("CATALOG").ok();
    let mut shelf = Shelf::new(&[]);
    match &known {
        Some(path) => shelf.catalog = Catalog::open(path.as_ref(), Sites::new()).unwrap(),
        None => {
            let (start, before) = (Instant::now(), spent());
            let generated = Generated {
                next: 1,
                line: io::Cursor::default(),
            };
            import(&mut shelf.writer, generated, |_| {}).unwrap();
            let cpu = spent() - before;
            println!(
                "import of {} events: {:?}, cpu {cpu:?}",
                events(),
                start.elapsed()
            );
        }
    }
    let (start, before) = (Instant::now(), spent());
    shelf.catalog.refresh_lookup().unwrap();
    let cpu = spent() - before;
    if known.is_none() {
        assert_eq!(shelf.catalog.lookup().len() as u64, events() * 4);
    }
    println!(
        "words of {} markets: {:?}, cpu {cpu:?}",
        shelf.catalog.lookup().len(),
        start.elapsed()
    );

    let catalog = &shelf.catalog;
    for text in [
        "",
        "limit=500",
        "limit=500&closed=false&order=volume",
        "archived=true&order=endDate",
        "active=false&order=slug",
        "offset=19000",
        "offset=190000&order=volume",
        "tag=tag-1",
        "tag=tag-1&archived=true",
        "tag=tag-11&order=volume&closed=true",
        "tag=tag-1&order=endDate&offset=15000",
        "tag_id=105",
        "tag_id=1005&order=endDate",
        "event_id=77",
        "slug=will-300-happen",
        "creator=0x0000000000000000000000000000000000000007",
        "creator=0x0000000000000000000000000000000000000007&order=volume",
        "clob_token_ids=600,700",
    ] {
        measure(catalog, &format!("/markets?{text}"), |catalog, _| {
            catalog.markets(&MarketsQuery::of(&parameters(text)).unwrap())
        });
    }
    for text in [
        "",
        "limit=500",
        "limit=500&closed=false&order=volume",
        "archived=true&order=title",
        "offset=4000",
        "tag=tag-1&limit=500",
        "tag_id=105&order=endDate",
        "series_slug=series-5",
        "creator=0x0000000000000000000000000000000000000007",
    ] {
        measure(catalog, &format!("/events?{text}"), |catalog, _| {
            catalog.events(&EventsQuery::of(&parameters(text)).unwrap())
        });
    }
    for limit in ["", "limit=500"] {
        measure(catalog, &format!("/series?{limit}"), |catalog, _| {
            catalog.series(&SeriesQuery::of(&parameters(limit)).unwrap())
        });
    }
    let some = |round: u64| mixed(round) % events() + 1;
    let one = OneQuery::default();
    measure(catalog, "/markets/{id}", |catalog, round| {
        catalog.market(&(some(round) * 4).to_string(), &one)
    });
    measure(catalog, "/markets/{condition}", |catalog, round| {
        catalog.market(&condition(some(round) * 4), &one)
    });
    measure(catalog, "/events/{id}", |catalog, round| {
        catalog.event(some(round), &one)
    });
    measure(catalog, "/events/slug/{slug}", |catalog, round| {
        catalog.event_by_slug(&format!("event-{}", some(round)), &one)
    });
    for term in [
        "will",
        "Will the",
        "bitcoin",
        "election president",
        "price of march",
        "in 1234",
        "w",
        "th",
        "a",
        "zzz",
        "event",
        "will the election president the bitcoin",
        "the in bitcoin",
        "?",
    ] {
        measure(
            catalog,
            &format!("/public-search?q={term}"),
            |catalog, _| {
                catalog.search(&SearchQuery::of(&[("q", term)].into_iter().collect()).unwrap())
            },
        );
    }
    measure(catalog, "/public-search?q=bitcoin&page=40", |catalog, _| {
        let terms = [("q", "bitcoin"), ("page", "40")].into_iter().collect();
        catalog.search(&SearchQuery::of(&terms).unwrap())
    });
}
