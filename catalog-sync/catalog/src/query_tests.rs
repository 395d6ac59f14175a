use super::*;
use foretell_wire::read::path::PathParameter as _;
use foretell_wire::read::query::Query;
use foretell_wire::read::query::parameters::Parameters;
use foretell_wire::{ApiError, Compatibility, ErrorCode};
use rstest::rstest;

const HASH: &str = "0x00000000000000000000000000000000000000000000000000000000000000aa";

/// Reads a query string that is not encoded.
fn read<T: Parameters>(text: &str) -> Result<T, ApiError> {
    let pairs = text.split('&').filter(|pair| !pair.is_empty());
    let pairs = pairs.map(|pair| pair.split_once('=').unwrap_or((pair, "")));
    T::read(&pairs.collect::<Query<'_>>())
}

fn refusal<T: std::fmt::Debug>(result: Result<T, ApiError>) -> String {
    let error = result.unwrap_err();
    assert_eq!(error.code(), ErrorCode::InvalidCatalogParameter);
    error.text()
}

#[test]
fn defaults_are_those_of_the_interface() {
    let markets = read::<MarketsQuery>("").unwrap();
    assert_eq!(markets, MarketsQuery::default());
    assert_eq!(
        markets.page,
        Page {
            limit: 100,
            offset: 0
        }
    );
    assert!(!markets.filter.order.ascending);
    assert_eq!(read::<EventsQuery>("").unwrap(), EventsQuery::default());
    let search = read::<SearchQuery>("q=Rain").unwrap();
    assert_eq!((search.limit, search.page, search.tags), (25, 1, true));
    assert_eq!(search.term, "rain");
}

#[rstest]
#[case("limit=0", r#"limit is "0", allowed: 1 to 500"#)]
#[case("limit=501", r#"limit is "501", allowed: 1 to 500"#)]
#[case("limit=ten", r#"limit is "ten", allowed: 1 to 500"#)]
#[case("limit=1e2", r#"limit is "1e2", allowed: 1 to 500"#)]
#[case("limit=+5", r#"limit is "+5", allowed: 1 to 500"#)]
#[case(
    "limit=99999999999999999999",
    r#"limit is "99999999999999999999", allowed: 1 to 500"#
)]
#[case("offset=-1", r#"offset is "-1", allowed: 0 to 4294967295"#)]
#[case(
    "offset=4294967296",
    r#"offset is "4294967296", allowed: 0 to 4294967295"#
)]
#[case("limit=1&limit=2", "limit is given more than once, allowed: once")]
#[case(
    "tag=a&tag_slug=a",
    "tag_slug or tag is given more than once, allowed: once"
)]
#[case("active=maybe", r#"active is "maybe", allowed: true, false, 1, 0"#)]
#[case(
    "ascending=maybe",
    r#"ascending is "maybe", allowed: true, false, 1, 0"#
)]
#[case("tag_id=x", r#"tag_id is "x", allowed: a whole number"#)]
#[case("tag_id=1;drop", r#"tag_id is "1;drop", allowed: a whole number"#)]
fn bad_values_are_named(#[case] text: &str, #[case] expected: &str) {
    assert_eq!(refusal(read::<MarketsQuery>(text)), expected);
    assert_eq!(refusal(read::<EventsQuery>(text)), expected);
}

#[rstest]
#[case("order=evil;drop", "order is \"evil;drop\"")]
#[case("order=volume,conditionId", "order is \"conditionId\"")]
#[case("order=ID", "order is \"ID\"")]
#[case("event_id=1.5", "event_id is \"1.5\"")]
#[case("id=1,x", "id is \"x\"")]
#[case(
    "closedd=true",
    "\"closedd\" is no parameter here, allowed: limit, offset, active, closed"
)]
#[case("\u{202e}evil=1", "\"\\u{202e}evil\" is no parameter here")]
fn bad_filters_of_markets_are_named(#[case] text: &str, #[case] expected: &str) {
    let refusal = refusal(read::<MarketsQuery>(text));
    assert!(refusal.starts_with(expected), "{refusal}");
}

#[test]
fn lists_are_bounded() {
    let many = format!("id={}", "1,".repeat(501));
    let expected = "id has 501 entries, allowed: up to 500";
    assert_eq!(refusal(read::<MarketsQuery>(&many)), expected);
}

#[rstest]
#[case("tag=a", "tag_slug=a")]
#[case("eventSlug=a", "event_slug=a")]
#[case("order=question", "order=title")]
#[case("id=1&id=2", "id=1,2")]
#[case("closed=1&active=0", "closed=true&active=false")]
#[case("limit=&tag=&order=", "")]
#[case(
    &*format!("condition_id={HASH}"),
    &*format!("conditionId={HASH}")
)]
fn aliases_and_empty_values(#[case] one: &str, #[case] other: &str) {
    let of = |text| read::<MarketsQuery>(text).unwrap();
    assert_eq!(of(one), of(other));
}

#[rstest]
#[case("", "q is required")]
#[case("q=", "q is required")]
#[case("q=%20", "")]
#[case("q= ", "q is required")]
#[case("q=\u{200b}\u{a0}", "q is required")]
#[case("page=1", "q is required")]
#[case("q=a&page=0", r#"page is "0", allowed: 1 to 1000000"#)]
#[case(
    "q=a&limit_per_type=501",
    r#"limit_per_type is "501", allowed: 1 to 500"#
)]
#[case(
    "q=a&search_profiles=x",
    r#"search_profiles is "x", allowed: true, false, 1, 0"#
)]
#[case("q=a&search_profiles=true", "")]
fn search_terms(#[case] text: &str, #[case] expected: &str) {
    match read::<SearchQuery>(text) {
        Ok(_) => assert_eq!(expected, ""),
        Err(error) => assert_eq!(error.text(), expected),
    }
}

#[test]
fn a_long_term_is_refused_and_cut_in_the_answer() {
    let refusal = refusal(read::<SearchQuery>(&format!("q={}", "x".repeat(10_240))));
    assert!(
        refusal.len() < 120 && refusal.ends_with("allowed: 1 to 256 characters"),
        "{refusal}"
    );
}

#[test]
fn ids_in_paths_are_numbers() {
    assert_eq!(RecordId::read("42"), Ok(RecordId(42)));
    for bad in ["", "x", "-1", "1.0", "9223372036854775808", "0x1", "1'--"] {
        assert!(refusal(RecordId::read(bad)).starts_with("id is "), "{bad}");
    }
}

#[rstest]
#[case("start_date_min=soon", "start_date_min is \"soon\", allowed: a date")]
#[case(
    "end_date_max=2026-13-01",
    "end_date_max is \"2026-13-01\", allowed: a date"
)]
#[case(
    "volume_num_min=NaN",
    "volume_num_min is \"NaN\", allowed: a decimal number"
)]
#[case(
    "liquidity_max=1e999",
    "liquidity_max is \"1e999\", allowed: a decimal number"
)]
#[case(
    "volume_min=1&volume_num_min=2",
    "volume_min or volume_num_min is given more"
)]
#[case(
    "related_tags=true",
    "related_tags is \"true\", allowed: only with tag_id or tag_slug"
)]
#[case("tag_match=all", "tag_match is \"all\", allowed: only with tag_id")]
#[case("id=,", "id is \",\", allowed: a list")]
#[case("slug= ,", "slug is")]
#[case(
    "exclude_tag_id=&exclude_tag_id=,,",
    "exclude_tag_id is \",,\", allowed: a list"
)]
#[case("order=,", "order is \",\", allowed: a list")]
#[case("tag_match=some", "tag_match is \"some\", allowed: any, all")]
#[case("exclude_tag_id=x", "exclude_tag_id is \"x\", allowed: a whole number")]
#[case("cyom=2", "cyom is \"2\", allowed: true, false, 1, 0")]
#[case("locale=fr", "locale is \"fr\", allowed: en")]
#[case("title_search=a", "\"title_search\" is no parameter here")]
fn options_that_cannot_be_honoured_are_named(#[case] text: &str, #[case] expected: &str) {
    let markets = refusal(read::<MarketsQuery>(text));
    assert!(markets.starts_with(expected), "{markets}");
    let events = refusal(read::<EventsQuery>(text));
    assert!(events.starts_with(expected), "{events}");
}

#[rstest]
#[case(
    "condition_ids=0x12",
    "condition_ids is \"0x12\", allowed: a condition id, 0x and 64 hex digits"
)]
#[case(
    "conditionId=[1]",
    "conditionId is \"[1]\", allowed: a condition id, 0x and 64 hex digits"
)]
#[case(
    "question_ids=7",
    "question_ids is \"7\", allowed: 0x and 64 hex digits"
)]
#[case(
    "clob_token_ids=0x7",
    "clob_token_ids is \"0x7\", allowed: a decimal token id"
)]
#[case(
    "market_maker_address=0x7",
    "market_maker_address is \"0x7\", allowed: 0x and 40 hex digits"
)]
fn an_id_that_no_market_can_have_is_refused(#[case] text: &str, #[case] expected: &str) {
    assert_eq!(refusal(read::<MarketsQuery>(text)), expected);
}

#[rstest]
#[case("order=volume24hr,startDate", "order=volume_24hr&order=start_date")]
#[case("order=volumeNum", "order=volume_num")]
#[case("slug=a,b", "slug=a&slug=b")]
#[case("tag_id=1,2", "tag_id=1&tag_id=2")]
#[case("volume_min=5", "volume_num_min=5.0")]
#[case("start_date_min=2026-01-01", "start_date_min=2026-01-01T00:00:00Z")]
#[case("end_date_min=2026-01-01T00:00:00 00:00", "end_date_min=2026-01-01")]
#[case("end_date_max=2026-01-01T23:59:59.999999Z", "end_date_max=2026-01-01")]
#[case("end_date_max=2026-01-01T12:00:00Z", "end_date_max=2026-01-01T12")]
#[case(
    "start_date_max=9999-12-31T23:59:59Z",
    "start_date_max=9999-12-31T00:00:00Z"
)]
fn both_spellings_mean_the_same(#[case] one: &str, #[case] other: &str) {
    let of = |text| read::<MarketsQuery>(text).unwrap();
    assert_eq!(of(one), of(other));
}

#[test]
fn cursors_are_those_of_earlier_pages() {
    let of = |text: &str| read::<MarketsKeysetQuery>(text);
    let order = |text: &str| of(text).unwrap().filter.order;
    let by_slug = Cursor::new(&order("order=slug"), vec![SortValue::Text("ä".into())], 5);
    let text = by_slug.text();
    let next = of(&format!("order=slug,id&after_cursor={text}")).unwrap();
    assert_eq!(
        (next.page.after_cursor, of("").unwrap().page.after_cursor),
        (Some(by_slug), None)
    );
    // Of another order, of another kind of value, and of nothing.
    let number = Cursor::new(&order("order=slug"), vec![SortValue::Number(1)], 5).text();
    for wrong in [
        format!("order=title&after_cursor={text}"),
        format!("order=slug&ascending=true&after_cursor={text}"),
        format!("after_cursor={text}"),
        format!("order=slug&after_cursor={number}"),
        "after_cursor=o7".to_owned(),
        "after_cursor=%%%".to_owned(),
    ] {
        let refusal = refusal(of(&wrong));
        assert!(
            refusal.starts_with("after_cursor is \""),
            "{wrong}: {refusal}"
        );
        assert!(
            refusal.ends_with(
                "allowed: next_cursor of an earlier page with the same order and ascending"
            ),
            "{refusal}"
        );
    }
    assert!(refusal(of("offset=1")).starts_with("\"offset\" is no parameter here"));
}

#[rstest]
#[case("q=a&sort=closed_time", "sort is \"closed_time\", allowed: volume")]
#[case("q=a&ascending=true", "ascending needs sort")]
#[case(
    "q=a&keep_closed_markets=1",
    "keep_closed_markets is \"1\", allowed: 0"
)]
#[case("q=a&optimized=false", "optimized is \"false\", allowed: true, 1")]
#[case(
    "q=a&events_status=open",
    "events_status is \"open\", allowed: active, closed, all"
)]
fn search_options_that_cannot_be_honoured_are_named(#[case] text: &str, #[case] expected: &str) {
    let refusal = refusal(read::<SearchQuery>(text));
    assert!(refusal.starts_with(expected), "{refusal}");
}

#[test]
fn the_family_lists_open_records_and_ignores_what_it_does_not_know() {
    let read = |compatibility| {
        let query = EventsQuery::read_in(Some("colour=red&limit=1000"), compatibility);
        query.map(|query| (query.filter.flags.closed, query.page.limit))
    };
    assert!(read(Compatibility::Interface).is_err());
    assert_eq!(read(Compatibility::Polymarket), Ok((Some(false), 500)));
    let closed = |text, compatibility| {
        let query = EventsQuery::read_in(Some(text), compatibility);
        query.map(|query| query.filter.flags.closed)
    };
    let (interface, family) = (Compatibility::Interface, Compatibility::Polymarket);
    assert_eq!(closed("closed=true", family), Ok(Some(true)));
    assert_eq!(closed("closed=any", family), Ok(None));
    assert!(closed("closed=any", interface).is_err());
    assert_eq!(closed("", interface), Ok(None));
}
