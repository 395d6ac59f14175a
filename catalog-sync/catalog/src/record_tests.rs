use super::*;
use proptest::prelude::*;
use rstest::rstest;
use serde_json::json;

fn read_one(record: &Value) -> Result<ParsedRecord, Skip> {
    read(None, record.to_string().as_bytes())
}

fn market(record: &Value) -> (MarketRecord, Vec<Warning>) {
    let read = read_one(record).unwrap();
    match read.record {
        Record::Market(market) => (*market, read.warnings),
        other => panic!("{other:?} is no market"),
    }
}

/// The parser would read such an object as a number, or refuse it as something it is not.
#[rstest]
#[case(r#"{"id": 1, "slug": "a", "question": "Q", "raw": {"$serde_json::private::Number": "5"}}"#)]
#[case(r#"{"id": 1, "slug": "a", "question": "Q", "$serde_json::private::RawValue": "[]"}"#)]
fn a_member_named_like_the_parsers_own_is_a_reason_of_its_own(#[case] json: &str) {
    let skip = read(None, json.as_bytes()).expect_err("it cannot pass as it is");
    assert_eq!(skip.reason, SkipReason::ReservedName);
}

#[rstest]
#[case(json!({"id": "1", "slug": "a", "question": "Q"}), RecordKind::Market)]
#[case(json!({"id": 1, "slug": "a", "conditionId": "", "title": "T"}), RecordKind::Market)]
#[case(json!({"id": "1", "slug": "a", "title": "T", "ticker": "a"}), RecordKind::Event)]
#[case(json!({"id": "1", "slug": "a", "title": "T", "seriesType": "single"}), RecordKind::Series)]
#[case(json!({"id": "1", "slug": "a", "label": "L"}), RecordKind::Tag)]
fn kinds_are_told_by_their_fields(#[case] record: Value, #[case] kind: RecordKind) {
    assert_eq!(read_one(&record).unwrap().record.kind(), kind);
}

#[rstest]
#[case(json!({"slug": "a", "question": "Q"}), SkipReason::BadId(String::new()))]
#[case(json!({"id": "x", "slug": "a", "question": "Q"}), SkipReason::BadId("\"x\"".into()))]
#[case(json!({"id": 0, "slug": "a", "question": "Q"}), SkipReason::BadId("\"0\"".into()))]
#[case(json!({"id": -1, "slug": "a", "question": "Q"}), SkipReason::BadId("\"-1\"".into()))]
#[case(json!({"id": 1.5, "slug": "a", "question": "Q"}), SkipReason::BadId("\"1.5\"".into()))]
#[case(json!({"id": "9223372036854775808", "slug": "a", "question": "Q"}),
       SkipReason::BadId("\"9223372036854775808\"".into()))]
#[case(json!({"id": [1], "slug": "a", "question": "Q"}), SkipReason::BadId("an array".into()))]
#[case(json!({"id": "1", "slug": " ", "question": "Q"}), SkipReason::NoSlug)]
#[case(json!({"id": "1", "question": "Q"}), SkipReason::NoSlug)]
#[case(json!({"id": "1", "slug": "a"}), SkipReason::UnknownKind)]
#[case(json!({"id": "1", "slug": "a", "title": "T", "tags": vec![1; MAX_ENTRIES + 1]}),
       SkipReason::TooManyEntries("tags"))]
#[case(json!([]), SkipReason::NotAnObject)]
#[case(json!(null), SkipReason::NotAnObject)]
fn a_record_without_what_identifies_it_is_left_out(
    #[case] record: Value,
    #[case] reason: SkipReason,
) {
    assert_eq!(read_one(&record).unwrap_err().reason, reason);
}

#[test]
fn what_is_too_long_too_deep_or_broken_is_left_out() {
    let long = format!(
        r#"{{"id":"1","slug":"a","question":"{}"}}"#,
        "x".repeat(10 << 20)
    );
    assert_eq!(
        read(None, long.as_bytes()).unwrap_err().reason,
        SkipReason::TooLong
    );
    let deep = format!(
        r#"{{"id":"1","slug":"a","question":{}{}}}"#,
        "[".repeat(10_000),
        "]".repeat(10_000)
    );
    for broken in [
        deep.as_str(),
        r#"{"id":"1""#,
        "",
        "<html>",
        "{\"id\":\"\u{0}\"}",
    ] {
        let reason = read(None, broken.as_bytes()).unwrap_err().reason;
        assert!(matches!(reason, SkipReason::NotJson(_)), "{reason}");
    }
    assert!(read(None, b"{\"id\":\"1\",\"slug\":\"\xff\"}").is_err());
}

#[test]
fn dirty_fields_are_read_and_what_cannot_be_is_named() {
    let (market, warnings) = market(&json!({
        "id": 12, "slug": "Slug-Upper", "question": " It\u{200b}s \u{a0}on ", "conditionId": " 0xAb ",
        "resolutionSource": null, "startDate": "2026-01-23 20:56:36+00", "endDate": "April 11, 2022",
        "createdAt": "", "updatedAt": 5, "volume": "1.5", "liquidity": "much",
        "outcomes": ["A", "B"], "clobTokenIds": "[\"1\", \"2\"]", "active": "true", "closed": 0,
        "archived": "perhaps", "description": 7, "image": {"a": 1}, "never heard of": [1, {"x": 2}],
    }));
    assert_eq!((market.id, market.slug.as_str()), (12, "Slug-Upper"));
    assert_eq!(
        market.question, " Its \u{a0}on ",
        "texts are kept to the letter, without hidden characters"
    );
    assert_eq!(market.condition_id, "0xAb");
    assert_eq!(
        market.start_date.unwrap().to_string(),
        "2026-01-23T20:56:36Z"
    );
    assert_eq!(
        (market.end_date, market.created_at, market.updated_at),
        (None, None, None)
    );
    assert_eq!((market.volume, market.liquidity), (Some(1.5), None));
    assert_eq!(market.outcomes, r#"["A","B"]"#);
    assert_eq!(
        market.clob_token_ids, r#"["1", "2"]"#,
        "the upstream's own text is kept"
    );
    assert_eq!(
        market.flags,
        Flags {
            active: true,
            closed: false,
            archived: false
        }
    );
    assert_eq!(market.description, "7");
    let mut warned: Vec<&str> = warnings.iter().map(|warning| warning.field).collect();
    warned.sort_unstable();
    assert_eq!(
        warned,
        ["archived", "endDate", "image", "liquidity", "updatedAt"]
    );
    assert!(market.raw.contains("never heard of"));
}

#[test]
fn records_inside_records_are_read_once_deep() {
    let market = json!({"id": "5", "slug": "m", "question": "Q", "conditionId": "",
        "events": [{"id": "2", "slug": "other", "title": "T"}]});
    let event = json!({"id": "1", "slug": "e", "title": "E", "markets": [market, 7, {"slug": "no id"}],
        "tags": [{"id": "3", "slug": "t", "label": "L"}], "series": null});
    let read = read_one(&event).unwrap();
    let Record::Event(event) = read.record else {
        panic!("no event")
    };
    assert_eq!(event.markets.len(), 1);
    assert_eq!(
        event.markets[0].event, None,
        "a market inside an event is that event's"
    );
    assert!(!event.markets[0].raw.contains("events"));
    assert_eq!(event.tags.as_ref().map(Vec::len), Some(1));
    assert_eq!(event.series, None);
    assert_eq!(event.raw, r#"{"id":"1","slug":"e","title":"E"}"#);
    let reasons: Vec<_> = read
        .skipped
        .iter()
        .map(|skip| skip.reason.clone())
        .collect();
    assert_eq!(
        reasons,
        [SkipReason::NotAnObject, SkipReason::BadId(String::new())]
    );
}

#[test]
fn a_market_stays_with_its_first_event() {
    let record = json!({"id": "5", "slug": "m", "question": "Q", "events": [
        {"id": "2", "slug": "e", "title": "T", "markets": [{"id": "9", "slug": "x", "question": "Q"}]},
        {"id": "3", "slug": "f", "title": "T"}]});
    let read = read_one(&record).unwrap();
    let Record::Market(market) = &read.record else {
        panic!("no market")
    };
    let event = market.event.as_ref().unwrap();
    assert_eq!((event.id, event.markets.len()), (2, 0));
    assert_eq!(read.skipped[0].reason, SkipReason::SecondEvent(5));
}

/// Any JSON, often with the field names of records.
fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(|number| json!(number)),
        "\\PC{0,20}".prop_map(Value::from),
        Just(json!("[\"Yes\", \"No\"]")),
        Just(json!("2026-01-01")),
    ];
    let name = prop_oneof![
        "\\PC{0,8}",
        prop::sample::select(vec![
            "id",
            "slug",
            "question",
            "title",
            "label",
            "conditionId",
            "clobTokenIds",
            "outcomes",
            "events",
            "markets",
            "tags",
            "series",
            "endDate",
            "active",
            "orderMinSize",
            "orderPriceMinTickSize",
            "feeSchedule",
            "outcomePrices",
            "eventMetadata",
            "seriesType",
        ])
        .prop_map(str::to_owned),
    ];
    leaf.prop_recursive(4, 64, 8, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec((name.clone(), inner), 0..12)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn no_json_panics(mut record in any_json(), id in 1_u32.., kind in 0..5) {
        if let Value::Object(map) = &mut record {
            map.insert("id".into(), json!(id));
            map.insert("slug".into(), json!("s"));
        }
        let kinds = [None, Some(RecordKind::Event), Some(RecordKind::Market), Some(RecordKind::Series), Some(RecordKind::Tag)];
        let kind = kinds[usize::try_from(kind).unwrap()];
        if let Ok(first) = read(kind, record.to_string().as_bytes()) {
            prop_assert_eq!(first.record.id(), u64::from(id));
            // The stored JSON parses to the same record.
            let raw = match &first.record {
                Record::Event(event) => &event.raw,
                Record::Market(market) => &market.raw,
                Record::Series(series) => &series.raw,
                Record::Tag(tag) => &tag.raw,
            };
            let again = read(Some(first.record.kind()), raw.as_bytes()).unwrap();
            prop_assert_eq!(again.record.id(), first.record.id());
            prop_assert_eq!(again.record.updated_at(), first.record.updated_at());
        }
    }
}

/// Steering, zero-width and control characters go where a record enters: from its texts, from texts
/// that contain JSON, and from the record as it is served.
#[test]
fn hidden_characters_do_not_enter() {
    let record = json!({
        "id": "7", "slug": "a\u{200b}b", "question": "\u{202e}Will\u{2066} it\u{0}?\n\u{feff}",
        "outcomes": "[\"\\u202eYes\", \"N\u{200d}o\"]", "groupItemTitle": "\u{61c}x",
        "description": "می\u{200c}خواهم 👩\u{200d}🌾",
        "events": [{ "id": "8", "slug": "e", "title": "T\u{202d}", "tags": [{ "id": "9", "slug": "t", "label": "L\u{200f}" }] }],
    });
    let (market, _) = market(&record);
    assert_eq!(market.slug, "ab");
    assert_eq!(market.question, "Will it?\n");
    assert_eq!(market.description, "می\u{200c}خواهم 👩\u{200d}🌾");
    let shown = format!("{market:?}");
    for hidden in [
        "202e", "202d", "2066", "200b", "feff", "61c}", "200f", "\\0",
    ] {
        assert!(!shown.contains(hidden), "{hidden}: {shown}");
    }
    let outcomes: Vec<String> = serde_json::from_str(&market.outcomes).unwrap();
    assert_eq!(outcomes, ["Yes", "No"]);
}
