//! Lists compared with a naive filter and sort of the same records, while records change.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

use super::common::{
    Shelf, address, condition, event, ids, json_of, market, parameters, series, tag, with,
};
use foretell_catalog::query::{EventsQuery, MarketsQuery};
use foretell_catalog::{Catalog, Sites};
use foretell_wire::read::query::parameters::Parameters as _;
use proptest::prelude::*;
use serde_json::{Value, json};

/// Every name of every column.
const COLUMNS: [&str; 11] = [
    "id",
    "slug",
    "title",
    "question",
    "startDate",
    "endDate",
    "createdAt",
    "updatedAt",
    "creationDate",
    "volume",
    "liquidity",
];

/// A market or event in the naive model. Each field has few values, so that many rows are equal.
#[derive(Clone, Debug)]
struct Row {
    id: u64,
    /// Markets only.
    event: u64,
    flags: [bool; 3],
    days: [Option<u32>; 4],
    amounts: [Option<i8>; 2],
    creator: Option<u64>,
    title: u8,
}

fn row() -> impl Strategy<Value = Row> {
    (
        1_u64..60,
        1_u64..8,
        any::<[bool; 3]>(),
        prop::array::uniform4(prop::option::of(0_u32..4)),
        prop::array::uniform2(prop::option::of(-2_i8..3)),
        prop::option::of(1_u64..4),
        0_u8..4,
    )
        .prop_map(|(id, event, flags, days, amounts, creator, title)| Row {
            id,
            event,
            flags,
            days,
            amounts,
            creator,
            title,
        })
}

/// Records and their later replacements.
fn changes() -> impl Strategy<Value = Vec<Vec<Row>>> {
    let round = prop::collection::vec(row(), 0..40);
    prop::collection::vec(round, 1..4)
}

impl Row {
    fn fields(&self) -> Value {
        let [start, end, created, creation] = self
            .days
            .map(|day| day.map(|day| format!("2026-03-0{}T00:00:00Z", day + 1)));
        let [volume, liquidity] = self
            .amounts
            .map(|amount| amount.map(|it| f64::from(it) / 4.0));
        json!({
            "active": self.flags[0], "closed": self.flags[1], "archived": self.flags[2],
            "startDate": start, "endDate": end, "createdAt": created, "creationDate": creation,
            "volume": volume, "liquidity": liquidity, "creator": self.creator.map(address),
            "question": format!("Q{}", self.title), "title": format!("Q{}", self.title),
            "slug": self.slug(),
        })
    }

    /// Repeating slugs.
    fn slug(&self) -> String {
        format!("s{}", self.id % 5)
    }

    fn tags(event: u64) -> Vec<u64> {
        (1..4).filter(|tag| event.is_multiple_of(tag + 1)).collect()
    }

    /// The sort key as text with the same order; missing values first.
    fn key(&self, column: &str, is_event: bool) -> String {
        let [start, end, created, creation] = self
            .days
            .map(|day| day.map_or_else(String::new, |day| format!("{day}")));
        let [volume, liquidity] = self
            .amounts
            .map(|amount| amount.map_or_else(String::new, |amount| format!("{}", amount + 5)));
        match column {
            "slug" => self.slug(),
            "title" | "question" => format!("{}", self.title),
            "startDate" => start,
            "endDate" => end,
            "creationDate" if is_event => creation,
            "createdAt" | "creationDate" => created,
            "volume" => volume,
            "liquidity" => liquidity,
            // All records were changed at once.
            _ => String::new(),
        }
    }
}

/// A list request for the naive filter.
#[derive(Clone, Debug)]
struct Asked {
    flags: [Option<bool>; 3],
    /// Of the event, by id and by slug.
    tags: [Option<u64>; 2],
    /// Of markets: by id and by slug.
    events: [Option<u64>; 2],
    /// By id, condition and token.
    named: [Option<Vec<u64>>; 3],
    slug: Option<u64>,
    series: Option<u64>,
    creator: Option<u64>,
    order: Vec<&'static str>,
    ascending: bool,
    limit: usize,
    offset: usize,
}

fn asked() -> impl Strategy<Value = Asked> {
    let seldom = |numbers| prop::option::weighted(0.15, numbers);
    let few = || prop::option::weighted(0.1, prop::collection::vec(1_u64..60, 1..20));
    (
        any::<[Option<bool>; 3]>(),
        prop::array::uniform2(prop::option::weighted(0.25, 1_u64..5)),
        (
            prop::array::uniform2(seldom(1_u64..9)),
            [few(), few(), few()],
        ),
        (seldom(0_u64..6), seldom(1_u64..4), seldom(1_u64..5)),
        prop::sample::subsequence(COLUMNS.to_vec(), 0..=4).prop_shuffle(),
        any::<bool>(),
        1_usize..30,
        prop_oneof![0_usize..3, 0_usize..40],
    )
        .prop_map(
            |(
                flags,
                tags,
                (events, named),
                (slug, series, creator),
                order,
                ascending,
                limit,
                offset,
            )| Asked {
                flags,
                tags,
                events,
                named,
                slug,
                series,
                creator,
                order,
                ascending,
                limit,
                offset,
            },
        )
}

impl Asked {
    /// The filters that both lists have.
    fn parameters(&self) -> String {
        let mut text = format!(
            "limit={}&offset={}&ascending={}&order={}",
            self.limit,
            self.offset,
            self.ascending,
            self.order.join(",")
        );
        let mut add = |name: &str, value: Option<String>| {
            if let Some(value) = value {
                text.push_str(&format!("&{name}={value}"));
            }
        };
        for (name, flag) in ["active", "closed", "archived"].iter().zip(self.flags) {
            add(name, flag.map(|flag| flag.to_string()));
        }
        let [tag_id, tag] = self.tags;
        add("tag_id", tag_id.map(|tag| tag.to_string()));
        add("tag", tag.map(|tag| format!("tag-{tag}")));
        add("slug", self.slug.map(|slug| format!("s{slug}")));
        add("creator", self.creator.map(address));
        text
    }

    fn of_markets(&self) -> String {
        let mut text = self.parameters();
        let [id, slug] = self.events;
        if let Some(id) = id {
            text.push_str(&format!("&event_id={id}"));
        }
        if let Some(slug) = slug {
            text.push_str(&format!("&event_slug=event-{slug}"));
        }
        let name: [fn(u64) -> String; 3] =
            [|id| id.to_string(), condition, |id| (id * 2).to_string()];
        let parameters = ["id", "condition_ids", "clob_token_ids"];
        for ((parameter, named), name) in parameters.iter().zip(&self.named).zip(name) {
            if let Some(named) = named {
                let named: Vec<String> = named.iter().copied().map(name).collect();
                text.push_str(&format!("&{parameter}={}", named.join(",")));
            }
        }
        text
    }

    fn of_events(&self) -> String {
        let mut text = self.parameters();
        if let Some(series) = self.series {
            text.push_str(&format!("&series_slug=series-{series}"));
        }
        text
    }

    /// The filters that both lists have; `event` has the tags.
    fn holds(&self, row: &Row, event: u64) -> bool {
        let is_set = |(wanted, flag): (&Option<bool>, bool)| wanted.is_none_or(|it| it == flag);
        self.flags.iter().zip(row.flags).all(is_set)
            && (self.tags.iter().flatten()).all(|tag| Row::tags(event).contains(tag))
            && self.slug.is_none_or(|slug| slug == row.id % 5)
            && self
                .creator
                .is_none_or(|creator| Some(creator) == row.creator)
    }

    fn holds_market(&self, row: &Row) -> bool {
        self.holds(row, row.event)
            && self
                .events
                .iter()
                .flatten()
                .all(|event| *event == row.event)
            && self
                .named
                .iter()
                .flatten()
                .all(|named| named.contains(&row.id))
    }

    fn holds_event(&self, row: &Row) -> bool {
        self.holds(row, row.id) && self.series.is_none_or(|series| series == row.id % 2 + 1)
    }

    fn page<'r>(&self, rows: impl Iterator<Item = &'r Row>, is_event: bool) -> Vec<u64> {
        let columns = self.order.iter().take_while(|column| **column != "id");
        let columns: Vec<_> = columns.collect();
        let key = |row: &Row| -> Vec<String> {
            columns
                .iter()
                .map(|column| row.key(column, is_event))
                .collect()
        };
        let mut rows: Vec<&Row> = rows.collect();
        rows.sort_by_key(|row| (key(row), row.id));
        if !self.ascending {
            rows.reverse();
        }
        let page = rows.iter().skip(self.offset).take(self.limit);
        page.map(|row| row.id).collect()
    }
}

/// Puts the markets of a round with their events. Each is a record of its own, which replaces all
/// fields of the stored one.
fn put_markets(shelf: &mut Shelf, rows: &BTreeMap<u64, Row>) {
    let of_row = |row: &Row| {
        let tags: Vec<Value> = Row::tags(row.event).into_iter().map(tag).collect();
        let event = with(event(row.event, &[]), &json!({"tags": tags}));
        let market = with(market(row.id), &row.fields());
        with(market, &json!({"events": [event]}))
    };
    shelf.put(&rows.values().map(of_row).collect::<Vec<_>>());
}

fn put_events(shelf: &mut Shelf, rows: &BTreeMap<u64, Row>) {
    let record = |row: &Row| {
        let tags: Vec<Value> = Row::tags(row.id).into_iter().map(tag).collect();
        let links = json!({"question": null, "tags": tags, "series": [series(row.id % 2 + 1)]});
        with(with(event(row.id, &[]), &row.fields()), &links)
    };
    let records: Vec<Value> = rows.values().map(record).collect();
    shelf.put(&records);
}

fn by_id(rows: Vec<Row>) -> BTreeMap<u64, Row> {
    rows.into_iter().map(|row| (row.id, row)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    #[test]
    fn markets_agree_with_a_naive_filter(
        rounds in changes(),
        questions in prop::collection::vec(asked(), 40),
    ) {
        let mut shelf = Shelf::new(&[]);
        let mut known = BTreeMap::new();
        for rows in rounds {
            let rows = by_id(rows);
            put_markets(&mut shelf, &rows);
            known.extend(rows);
            for asked in &questions {
                let text = asked.of_markets();
                let query = MarketsQuery::read(&parameters(&text)).unwrap();
                let found = json_of(shelf.catalog.markets(&query));
                let rows = known.values().filter(|row| asked.holds_market(row));
                prop_assert_eq!(ids(&found), asked.page(rows, false), "{}", text);
            }
        }
    }

    #[test]
    fn events_agree_with_a_naive_filter(
        rounds in changes(),
        questions in prop::collection::vec(asked(), 40),
    ) {
        let mut shelf = Shelf::new(&[]);
        let mut known = BTreeMap::new();
        for rows in rounds {
            let rows = by_id(rows);
            put_events(&mut shelf, &rows);
            known.extend(rows);
            for asked in &questions {
                let text = asked.of_events();
                let query = EventsQuery::read(&parameters(&text)).unwrap();
                let found = json_of(shelf.catalog.events(&query));
                let rows = known.values().filter(|row| asked.holds_event(row));
                prop_assert_eq!(ids(&found), asked.page(rows, true), "{}", text);
            }
        }
    }
}

/// Each round changes all markets at once, so a list of one database snapshot has all or none.
#[test]
fn a_list_and_its_records_are_of_one_state() {
    const EVENTS: u64 = 4;
    const ROUNDS: u64 = 40;
    let record = |id: u64, round: u64| {
        let of_round = json!({"closed": round.is_multiple_of(2), "volume": round});
        let markets = [id * 10, id * 10 + 1].map(|id| with(market(id), &of_round));
        with(event(id, &markets), &of_round)
    };
    let state = |round| {
        (1..=EVENTS)
            .map(move |id| record(id, round))
            .collect::<Vec<_>>()
    };
    let mut shelf = Shelf::new(&state(0));
    let path = shelf.directory.path().join("catalog.db");
    let catalog = Catalog::open(&path, Sites::new()).unwrap();
    let ended = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let read = || {
            while !ended.load(Ordering::Acquire) {
                let query = parameters("closed=true&order=volume,slug");
                let markets = json_of(catalog.markets(&MarketsQuery::read(&query).unwrap()));
                let events = json_of(catalog.events(&EventsQuery::read(&query).unwrap()));
                for (list, all) in [(markets, EVENTS * 2), (events, EVENTS)] {
                    let list = list.as_array().unwrap();
                    assert!(list.is_empty() || list.len() as u64 == all);
                    assert!(list.iter().all(|record| record["closed"] == true));
                }
            }
        };
        let readers = [scope.spawn(read), scope.spawn(read)];
        for round in 1..=ROUNDS {
            shelf.put(&state(round));
        }
        ended.store(true, Ordering::Release);
        for reader in readers {
            reader.join().unwrap();
        }
    });
}
