use foretell_model::{FeeSchedule, Lots, Tick, TimeMs, TokenId};
use proptest::prelude::*;
use rstest::rstest;
use serde_json::{Value as Json, json};

use super::*;

fn body(change: Json) -> Vec<u8> {
    let mut body = json!({
        "condition_id": "0x0202020202020202020202020202020202020202020202020202020202020202",
        "token_ids": ["12", "13"],
        "question": "Will it rain?",
        "slug": "will-it-rain",
    });
    for (key, value) in change.as_object().unwrap() {
        body[key] = value.clone();
    }
    body.to_string().into_bytes()
}

#[test]
fn a_market_has_defaults() {
    let market = MarketRegistration::read(&body(json!({}))).unwrap();
    assert_eq!(market.terms.condition_id, ConditionId([2; 32]));
    assert_eq!(market.terms.token_ids.map(|token| token.0[31]), [12, 13]);
    let terms = market.terms;
    assert_eq!((terms.tick(), terms.tick_refines), (Tick::Hundredth, None));
    assert_eq!(
        (terms.minimum(), terms.fee, terms.event_id),
        (Lots(500), None, None)
    );
    assert_eq!(market.description.outcomes, ["Yes", "No"]);
    assert_eq!(market.description.question, "Will it rain?");
}

#[test]
fn a_market_takes_every_field() {
    let market = MarketRegistration::read(&body(json!({
        "tick_size": "0.001", "tick_refines": false, "minimum_order_size": "2.5",
        "fee": {"rate_ppm": 40_000, "exponent": 1}, "event_id": 42, "description": "D",
        "outcomes": ["Up", "Down"], "icon": "i", "image": "m", "category": "c", "tags": ["a", "b"],
        "end_date": "2026-07-01T00:00:00Z", "game_start_time": "", "resolution_source": "s",
        "question_id": "q", "market_id": 7, "neg_risk_market_id": "n", "neg_risk_request_id": "r",
        "event": {"id": 42, "slug": "s", "title": "t", "ticker": "k", "description": "d"},
        "raw_metadata": {"deep": {"er": {"still": [{"x": 1}]}}},
    })))
    .unwrap();
    assert_eq!(
        (market.terms.tick_size, market.terms.tick_refines),
        (Some(Tick::Thousandth), Some(false))
    );
    assert_eq!(market.terms.minimum_order_size, Some(Lots(250)));
    assert_eq!(
        market.terms.fee,
        Some(FeeSchedule {
            rate_ppm: 40_000,
            exponent: 1
        })
    );
    assert_eq!(market.terms.event_id, Some(42));
    assert_eq!(
        market.description.raw_metadata["deep"]["er"]["still"][0]["x"],
        json!(1)
    );
    assert_eq!(market.description.game_start_time, None);
    insta::assert_snapshot!(String::from_utf8(market.description.to_evidence().unwrap()).unwrap());
}

#[rstest]
#[case(json!({"token_ids": ["12"]}), "token_ids is an array, allowed: an array of two token ids, texts of 1 to 78 digits")]
#[case(json!({"token_ids": ["12", "x"]}), "token_ids is an array, allowed: an array of two token ids, texts of 1 to 78 digits")]
#[case(json!({"token_ids": ["1", "2", "3"]}), "token_ids is an array, allowed: an array of two token ids, texts of 1 to 78 digits")]
#[case(json!({"closes_at": "tomorrow"}), "closes_at is 'tomorrow', allowed: an ISO 8601 time such as 2026-07-01T12:00:00Z, or an empty text for none")]
#[case(json!({"taker_delay_ms": "3"}), "taker_delay_ms is '3', allowed: a number of milliseconds, 0 to 60000")]
#[case(json!({"question": ""}), "question is '', allowed: a text of 1 to 2048 bytes without hidden characters")]
#[case(json!({"outcomes": ["Yes", ""]}), "outcomes is an array, allowed: an array of two labels without hidden characters")]
#[case(json!({"tags": [1]}), "tags is an array, allowed: an array of up to 64 labels without hidden characters")]
#[case(json!({"tick_size": 0.01}), "tick_size is 0.01, allowed: a text: 0.1, 0.01, 0.005, 0.0025, 0.001 or 0.0001")]
#[case(json!({"fee": {"rate_ppm": 1}}), "exponent is missing, allowed: a number, 0 to 2")]
#[case(json!({"raw_metadata": []}), "raw_metadata is an array, allowed: an object")]
fn a_market_is_strict(#[case] change: Json, #[case] text: &str) {
    assert_eq!(
        MarketRegistration::read(&body(change)).unwrap_err().text(),
        text
    );
}

#[rstest]
#[case(json!({"tick": "0.01"}), "the field 'tick' is unknown")]
#[case(json!({"fee": {"rate": 1}}), "the field 'rate' is unknown, allowed: rate_ppm, exponent")]
#[case(json!({"event": {"name": "x"}}), "the field 'name' is unknown")]
fn a_misspelt_field_is_named(#[case] change: Json, #[case] start: &str) {
    let text = MarketRegistration::read(&body(change)).unwrap_err().text();
    assert!(text.starts_with(start), "{text}");
}

#[test]
fn ids_may_be_left_out_and_a_reason_may_be_given() {
    let body = br#"{"question":"Q?","slug":"q","reason":"idea"}"#;
    let market = MarketRegistration::read(body).unwrap();
    assert_eq!(market.terms.condition_id, ConditionId::ZERO);
    assert_eq!(market.terms.token_ids, [TokenId::ZERO; 2]);
    assert_eq!(crate::operator::read_reason(body), Ok("idea".to_owned()));
    assert!(crate::operator::read_reason(br#"{"reason":"two\nlines"}"#).is_err());
    assert!(crate::operator::read_reason(br#"{"reason":1}"#).is_err());
    assert_eq!(crate::operator::read_reason(b"{}"), Ok(String::new()));
    assert!(
        MarketRegistration::read(br#"{"question":"Q?","slug":"q","event":{"reason":"x"}}"#)
            .is_err()
    );
}

#[test]
fn a_slug_needs_no_escape_in_a_url() {
    let market = |slug: &str| {
        let body = json!({ "question": "Q?", "slug": slug, "event": { "slug": slug } });
        MarketRegistration::read(body.to_string().as_bytes())
    };
    assert!(market("Will-it_rain.2027~a").is_ok());
    for slug in ["A b", "a/b", "a?b", "a%20b", "\u{e9}", ""] {
        let refused = market(slug).unwrap_err().text();
        let allowed = "allowed: a text of 1 to 2048 of A-Z, a-z, 0-9, -, _, . and ~";
        assert!(
            refused.starts_with("slug is ") && refused.contains(allowed),
            "{refused}"
        );
    }
    let event = EventRegistration::read(br#"{"event_id":42,"title":"Rain","slug":"A b"}"#);
    assert!(
        event
            .unwrap_err()
            .text()
            .contains("slug is 'A b', allowed: ")
    );
}

#[test]
fn a_clock_is_that_of_the_fields() {
    let market = MarketRegistration::read(&body(json!({
        "opens_at": "2027-01-01T00:00:00Z", "closes_at": "", "game_start_time": "2027-01-02T00:00:00Z",
        "clear_book_on_start": true, "taker_delay_ms": 400, "rebate_ppm": 250_000,
    })))
    .unwrap();
    let start = market.description.game_start_time.as_deref();
    let clock = market
        .terms
        .clock(start)
        .applied_to(foretell_model::MarketTerms::default());
    assert_eq!(clock.opens_at, TimeMs(1_798_761_600_000));
    assert_eq!(clock.closes_at, TimeMs(0));
    assert_eq!(clock.game_start_time, TimeMs(1_798_848_000_000));
    assert!(clock.clear_book_on_start);
    assert_eq!((clock.taker_delay_ms, clock.rebate_ppm), (400, 250_000));
}

#[test]
fn an_event_needs_a_title() {
    let event =
        EventRegistration::read(br#"{"event_id":42,"title":"Rain","slug":"rain"}"#).unwrap();
    assert_eq!(event.event_id, 42);
    let description = event.into_description();
    let evidence = description.to_evidence().unwrap();
    assert_eq!(EventDescription::from_words(&evidence), Some(description));
    assert!(EventRegistration::read(br#"{"event_id":42}"#).is_err());
    assert!(EventRegistration::read(br#"{"event_id":"42","title":"x"}"#).is_err());
}

proptest! {
    #[test]
    fn arbitrary_bytes_never_panic(body: Vec<u8>) {
        let _ = (MarketRegistration::read(&body), EventRegistration::read(&body));
    }
}
