//! Lists against a naive filter over the same records in memory.

use super::common::{
    Shelf, address, condition, event, ids, json_of, market, parameters, series, tag, with,
};
use foretell_catalog::Sites;
use foretell_catalog::query::{EventsQuery, MarketsQuery, OneQuery, SeriesQuery, TagsQuery};
use foretell_model::WalletAddress;
use proptest::prelude::*;
use serde_json::{Value, json};

/// What the naive filter knows of a market.
#[derive(Clone, Debug)]
struct Row {
    id: u64,
    event: u64,
    flags: [bool; 3],
    end: Option<u32>,
    volume: Option<u32>,
    creator: Option<u64>,
    title: u8,
}

fn row() -> impl Strategy<Value = Row> {
    (
        1_u64..60,
        1_u64..8,
        any::<[bool; 3]>(),
        prop::option::of(0_u32..5),
        prop::option::of(0_u32..4),
        prop::option::of(1_u64..4),
        0_u8..4,
    )
        .prop_map(|(id, event, flags, end, volume, creator, title)| Row {
            id,
            event,
            flags,
            end,
            volume,
            creator,
            title,
        })
}

impl Row {
    fn record(&self) -> Value {
        let end = self
            .end
            .map(|day| format!("2026-03-0{}T00:00:00Z", day + 1));
        with(
            market(self.id),
            &json!({
                "active": self.flags[0], "closed": self.flags[1], "archived": self.flags[2],
                "endDate": end, "volume": self.volume, "question": format!("Q{}", self.title),
                "creator": self.creator.map(address),
            }),
        )
    }

    fn tags(event: u64) -> Vec<u64> {
        (1..4).filter(|tag| event.is_multiple_of(tag + 1)).collect()
    }
}

/// A question in the words of the naive filter.
#[derive(Clone, Debug)]
struct Asked {
    flags: [Option<bool>; 3],
    tag: Option<u64>,
    event: Option<u64>,
    id: Option<u64>,
    creator: Option<u64>,
    order: Vec<&'static str>,
    ascending: bool,
    limit: usize,
    offset: usize,
}

fn asked() -> impl Strategy<Value = Asked> {
    let columns = vec!["id", "endDate", "volume", "title", "slug"];
    (
        any::<[Option<bool>; 3]>(),
        prop::option::of(1_u64..5),
        prop::option::of(1_u64..9),
        prop::option::weighted(0.1, 1_u64..60),
        prop::option::of(1_u64..5),
        prop::sample::subsequence(columns, 0..=3),
        any::<bool>(),
        1_usize..30,
        0_usize..10,
    )
        .prop_map(
            |(flags, tag, event, id, creator, order, ascending, limit, offset)| Asked {
                flags,
                tag,
                event,
                id,
                creator,
                order,
                ascending,
                limit,
                offset,
            },
        )
}

impl Asked {
    fn parameters(&self) -> String {
        let mut text = format!(
            "limit={}&offset={}&ascending={}",
            self.limit, self.offset, self.ascending
        );
        for (name, flag) in ["active", "closed", "archived"].iter().zip(self.flags) {
            if let Some(flag) = flag {
                text.push_str(&format!("&{name}={flag}"));
            }
        }
        if let Some(tag) = self.tag {
            text.push_str(&format!("&tag=tag-{tag}"));
        }
        if let Some(event) = self.event {
            text.push_str(&format!("&event_slug=event-{event}"));
        }
        if let Some(id) = self.id {
            text.push_str(&format!("&id={id}"));
        }
        if let Some(creator) = self.creator {
            text.push_str(&format!("&creator={}", address(creator)));
        }
        if !self.order.is_empty() {
            text.push_str(&format!("&order={}", self.order.join(",")));
        }
        text
    }

    fn holds(&self, row: &Row) -> bool {
        self.flags
            .iter()
            .zip(row.flags)
            .all(|(wanted, flag)| wanted.is_none_or(|wanted| wanted == flag))
            && self
                .tag
                .is_none_or(|tag| Row::tags(row.event).contains(&tag))
            && self.event.is_none_or(|event| event == row.event)
            && self.id.is_none_or(|id| id == row.id)
            && self
                .creator
                .is_none_or(|creator| Some(creator) == row.creator)
    }

    fn answer(&self, rows: &[Row]) -> Vec<u64> {
        let mut rows: Vec<&Row> = rows.iter().filter(|row| self.holds(row)).collect();
        rows.sort_by(|a, b| {
            let mut order = std::cmp::Ordering::Equal;
            for column in &self.order {
                order = order.then_with(|| match *column {
                    "endDate" => a.end.cmp(&b.end),
                    "volume" => a.volume.cmp(&b.volume),
                    "title" => a.title.cmp(&b.title),
                    "slug" => format!("will-{}-", a.id).cmp(&format!("will-{}-", b.id)),
                    _ => a.id.cmp(&b.id),
                });
            }
            let order = order.then(a.id.cmp(&b.id));
            if self.ascending {
                order
            } else {
                order.reverse()
            }
        });
        rows.iter()
            .map(|row| row.id)
            .skip(self.offset)
            .take(self.limit)
            .collect()
    }
}

fn shelf_of(rows: &[Row]) -> Shelf {
    let records: Vec<Value> = (1..8)
        .filter(|event| rows.iter().any(|row| row.event == *event))
        .map(|id| {
            let markets: Vec<Value> = rows
                .iter()
                .filter(|row| row.event == id)
                .map(Row::record)
                .collect();
            let tags: Vec<Value> = Row::tags(id).into_iter().map(tag).collect();
            with(event(id, &markets), &json!({"tags": tags}))
        })
        .collect();
    Shelf::new(&records)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn markets_agree_with_a_naive_filter(
        rows in prop::collection::vec(row(), 0..60),
        questions in prop::collection::vec(asked(), 40),
    ) {
        let mut known = std::collections::BTreeMap::new();
        for row in rows {
            known.entry(row.id).or_insert(row);
        }
        let rows: Vec<Row> = known.into_values().collect();
        let shelf = shelf_of(&rows);
        for asked in questions {
            let query = MarketsQuery::of(&parameters(&asked.parameters())).unwrap();
            let found = json_of(shelf.catalog.markets(&query));
            prop_assert_eq!(ids(&found), asked.answer(&rows), "{}", asked.parameters());
        }
    }

    #[test]
    fn events_agree_with_a_naive_filter(
        events in prop::collection::btree_map(1_u64..40, (any::<[bool; 3]>(), 0_u32..4), 0..40),
        questions in prop::collection::vec((any::<[Option<bool>; 3]>(), prop::option::of(1_u64..5),
            any::<bool>(), any::<bool>(), 1_usize..20, 0_usize..10), 30),
    ) {
        let records: Vec<Value> = events.iter().map(|(id, (flags, volume))| with(
            event(*id, &[]),
            &json!({"active": flags[0], "closed": flags[1], "archived": flags[2], "volume": volume,
                "tags": Row::tags(*id).into_iter().map(tag).collect::<Vec<_>>()}),
        )).collect();
        let shelf = Shelf::new(&records);
        for (flags, tag, by_volume, ascending, limit, offset) in questions {
            let mut text = format!("limit={limit}&offset={offset}&ascending={ascending}");
            for (name, flag) in ["active", "closed", "archived"].iter().zip(flags) {
                if let Some(flag) = flag {
                    text.push_str(&format!("&{name}={flag}"));
                }
            }
            if let Some(tag) = tag {
                text.push_str(&format!("&tag_id={tag}"));
            }
            if by_volume {
                text.push_str("&order=volume");
            }
            let mut expected: Vec<(u32, u64)> = events
                .iter()
                .filter(|(id, (has, _))| {
                    flags.iter().zip(has).all(|(wanted, flag)| wanted.is_none_or(|wanted| wanted == *flag))
                        && tag.is_none_or(|tag| Row::tags(**id).contains(&tag))
                })
                .map(|(id, (_, volume))| (if by_volume { *volume } else { 0 }, *id))
                .collect();
            expected.sort_unstable();
            if !ascending {
                expected.reverse();
            }
            let expected: Vec<u64> = expected.iter().map(|(_, id)| *id).skip(offset).take(limit).collect();
            let found = json_of(shelf.catalog.events(&EventsQuery::of(&parameters(&text)).unwrap()));
            prop_assert_eq!(ids(&found), expected, "{}", text);
        }
    }
}

fn markets(shelf: &Shelf, text: &str) -> Vec<u64> {
    ids(&json_of(
        shelf
            .catalog
            .markets(&MarketsQuery::of(&parameters(text)).unwrap()),
    ))
}

fn events(shelf: &Shelf, text: &str) -> Vec<u64> {
    ids(&json_of(
        shelf
            .catalog
            .events(&EventsQuery::of(&parameters(text)).unwrap()),
    ))
}

#[test]
fn every_filter_by_name_finds_what_has_it() {
    let lone = with(market(30), &json!({"slug": "Alone-Upper"}));
    let records = [
        event(1, &[market(10), market(11)]),
        with(
            event(2, &[market(20)]),
            &json!({
        "tags": [tag(2)], "series": [series(2)]}),
        ),
        lone,
    ];
    let shelf = Shelf::new(&records);
    assert_eq!(markets(&shelf, ""), [30, 20, 11, 10]);
    assert_eq!(
        markets(&shelf, &format!("conditionId={}", condition(11))),
        [11]
    );
    assert_eq!(
        markets(
            &shelf,
            &format!(
                "conditionId={}",
                condition(11).to_uppercase().replace("0X", "0x")
            )
        ),
        [11]
    );
    assert_eq!(
        markets(
            &shelf,
            &format!("condition_ids={},{}", condition(11), condition(20))
        ),
        [20, 11]
    );
    assert_eq!(markets(&shelf, "clob_token_ids=21,40,999"), [20, 10]);
    assert_eq!(markets(&shelf, "id=10,30&id=999"), [30, 10]);
    assert_eq!(markets(&shelf, "slug=will-11-happen"), [11]);
    assert_eq!(markets(&shelf, "slug=Alone-Upper"), [30]);
    assert_eq!(markets(&shelf, "event_id=1"), [11, 10]);
    assert_eq!(markets(&shelf, "eventSlug=event-2"), [20]);
    assert_eq!(markets(&shelf, "tag_id=1&event_id=2"), [0_u64; 0]);
    assert_eq!(markets(&shelf, "tag=tag-2"), [20]);
    assert_eq!(markets(&shelf, "conditionId=nonsense"), [0_u64; 0]);
    assert_eq!(events(&shelf, "series_slug=series-2"), [2]);
    assert_eq!(events(&shelf, "slug=event-1"), [1]);
    assert_eq!(events(&shelf, "tag_slug=nothing"), [0_u64; 0]);
    assert_eq!(
        json_of(shelf.catalog.market(&condition(20), &OneQuery::default()))["id"],
        "20"
    );
    assert_eq!(
        json_of(shelf.catalog.market("30", &OneQuery::default()))["events"],
        json!([])
    );
}

#[test]
fn every_column_sorts_both_lists_both_ways() {
    let numbered = |id: u64| {
        let day = |month: u64| format!("2026-{month:02}-0{id}T00:00:00Z");
        json!({
            "title": format!("T{id}"), "question": format!("T{id}"), "slug": format!("s{id}"), "startDate": day(1),
            "endDate": day(2), "createdAt": day(3), "updatedAt": day(4), "creationDate": day(5),
            "volume": id, "liquidity": id, "conditionId": null, "markets": null, "tags": null,
        })
    };
    let event = |id| {
        with(
            with(event(id, &[]), &numbered(id)),
            &json!({"question": null}),
        )
    };
    let market = |id| with(market(id), &numbered(id));
    // Ids run against everything else.
    let shelf = Shelf::new(&[
        with(event(1), &json!({"id": "9"})),
        event(2),
        with(market(1), &json!({"id": "9"})),
        market(2),
    ]);
    for column in [
        "slug",
        "startDate",
        "endDate",
        "createdAt",
        "updatedAt",
        "creationDate",
        "title",
        "question",
        "volume",
        "liquidity",
    ] {
        for (ascending, expected) in [(true, [9, 2]), (false, [2, 9])] {
            // Few rows are found another way than many.
            for more in ["", "&slug=nothing"] {
                let text = format!("order={column}&ascending={ascending}{more}");
                let expected: &[u64] = if more.is_empty() { &expected } else { &[] };
                assert_eq!(markets(&shelf, &text), expected, "{text}");
                assert_eq!(events(&shelf, &text), expected, "{text}");
            }
        }
    }
}

#[test]
fn creators_are_addresses_and_sites() {
    let of = |id, creator: u64| with(market(id), &json!({"creator": address(creator)}));
    let submitted = with(
        market(12),
        &json!({"submitted_by": address(0xaa), "creator": ""}),
    );
    let records = [
        event(1, &[of(10, 0xaa), market(11), submitted]),
        with(
            event(2, &[of(20, 0xbb), market(21)]),
            &json!({"creator": address(0xcc),
            "tags": [tag(2)], "series": [series(2)]}),
        ),
    ];
    let wallet = |last| {
        let mut bytes = [0; 20];
        bytes[19] = last;
        WalletAddress(bytes)
    };
    let sites = Sites::from([
        ("site".into(), vec![wallet(0xaa), wallet(0xcc)]),
        ("empty".into(), vec![]),
    ]);
    let shelf = Shelf::with_sites(&records, sites);
    let by = |creator: &str| format!("creator={creator}");
    assert_eq!(markets(&shelf, &by(&address(0xaa))), [12, 10]);
    assert_eq!(
        markets(
            &shelf,
            &by(&address(0xAA).to_uppercase().replace("0X", "0x"))
        ),
        [12, 10]
    );
    assert_eq!(
        markets(&shelf, &by("site")),
        [21, 12, 10],
        "without a creator, the event's counts"
    );
    assert_eq!(markets(&shelf, &format!("{}&event_id=2", by("site"))), [21]);
    assert_eq!(events(&shelf, &by(&address(0xbb))), [2]);
    assert_eq!(events(&shelf, &by("site")), [2, 1]);
    for nobody in ["unknown", "empty", "0x12", "' OR 1=1 --"] {
        assert_eq!(markets(&shelf, &by(nobody)), [0_u64; 0]);
        assert_eq!(events(&shelf, &by(nobody)), [0_u64; 0]);
    }
    let query = TagsQuery::of(&parameters(&by(&address(0xbb)))).unwrap();
    assert_eq!(ids(&json_of(shelf.catalog.tags(&query))), [2]);
    let query = SeriesQuery::of(&parameters(&by(&address(0xaa)))).unwrap();
    assert_eq!(ids(&json_of(shelf.catalog.series(&query))), [1]);
    let one = OneQuery::of(&parameters(&by(&address(0xaa)))).unwrap();
    assert!(shelf.catalog.market("10", &one).is_ok());
    for (answer, text) in [
        (shelf.catalog.market("20", &one), "id not found"),
        (shelf.catalog.event(2, &one), "id not found"),
        (
            shelf.catalog.event_by_slug("event-2", &one),
            "slug not found",
        ),
        (shelf.catalog.tag(2, &one), "id not found"),
        (shelf.catalog.tag_by_slug("tag-2", &one), "slug not found"),
    ] {
        assert_eq!(answer.unwrap_err().to_string(), text);
    }
}

#[test]
fn a_series_shows_its_twenty_newest_events() {
    let records: Vec<Value> = (1..=23).map(|id| event(id, &[])).collect();
    let shelf = Shelf::new(&records);
    let series = json_of(shelf.catalog.series(&SeriesQuery::default()));
    let shown = ids(&series[0]["events"]);
    assert_eq!((shown.len(), shown[0], shown[19]), (20, 23, 4));
    assert_eq!(events(&shelf, "series_slug=series-1&limit=500").len(), 23);
}

#[test]
fn of_several_with_one_slug_the_newest_is_answered() {
    let same = |id| with(market(id), &json!({"slug": "same"}));
    let shelf = Shelf::new(&[same(5), same(7), same(6)]);
    let one = OneQuery::default();
    assert_eq!(
        json_of(shelf.catalog.market_by_slug("same", &one))["id"],
        "7"
    );
    assert_eq!(markets(&shelf, "slug=same"), [7, 6, 5]);
}
