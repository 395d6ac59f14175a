use foretell_model::{Outcome, Price, Side};
use proptest::prelude::*;
use rstest::rstest;
use serde_json::{Value as Json, json};

use super::*;
use crate::json_text;
use crate::read::RequestBody as _;
use crate::read::json::tests::damage;

const QUOTE: Quote = Quote {
    condition: 1,
    outcome: Outcome::No,
    side: Side::Sell,
    price: Price(5_600),
    lots: Lots(10_000),
    grow_tail: true,
};

fn hash(byte: u8) -> String {
    format!("0x{}", hex::encode([byte; 32]))
}

fn word(quote: Quote) -> String {
    format!("0x{}", hex::encode(quote.word().0))
}

/// A word whose bytes at a place are others.
fn with_bytes(at: usize, bytes: &[u8]) -> Json {
    let mut word = QUOTE.word().0;
    word[at..at + bytes.len()].copy_from_slice(bytes);
    format!("0x{}", hex::encode(word)).into()
}

fn body(change: impl FnOnce(&mut Json)) -> Vec<u8> {
    let mut body = json!({
        "set": {
            "maker": "0x1111111111111111111111111111111111111111",
            "signer": "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266",
            "signatureType": 3,
            "group": 15,
            "revision": "1710000000000000",
            "seen": "18446744073709551615",
            "timestamp": 1_710_000_000_000_u64,
            "validUntil": "1710000060000",
            "builder": hash(0x33),
            "conditions": [hash(0x22), hash(0xc4)],
            "quotes": [word(QUOTE), word(Quote { side: Side::Buy, condition: 0, grow_tail: false, ..QUOTE })],
        },
        "signature": "0xabcd",
    });
    change(&mut body);
    body.to_string().into_bytes()
}

fn refused(change: impl FnOnce(&mut Json)) -> String {
    QuoteSubmission::read(&body(change)).unwrap_err().text()
}

#[test]
fn a_set_is_read_as_it_was_signed() {
    let read = QuoteSubmission::read(&body(|_| {})).unwrap();
    let set = &read.set;
    assert_eq!(set.maker, WalletAddress([0x11; 20]));
    assert_eq!((set.kind, set.group), (WalletKind::Deposit, 15));
    assert_eq!((set.revision, set.seen), (1_710_000_000_000_000, u64::MAX));
    assert_eq!(set.timestamp, TimeMs(1_710_000_000_000));
    assert_eq!(set.valid_until, TimeMs(1_710_000_060_000));
    assert_eq!(set.builder, [0x33; 32]);
    assert_eq!(
        set.conditions,
        [0x22, 0xc4].map(|byte| ConditionId([byte; 32]))
    );
    assert_eq!(read.quotes[0], QUOTE);
    assert_eq!(read.quotes[1].side, Side::Buy);
    assert_eq!(read.words[0], QUOTE.word());
    assert_eq!(read.signature, [0xab, 0xcd]);
}

#[test]
fn the_builder_and_nothing_else_may_be_absent() {
    let read = QuoteSubmission::read(&body(|body| body["set"]["builder"] = Json::Null)).unwrap();
    assert_eq!(read.set.builder, [0; 32]);
    for (field, allowed) in [
        ("maker", "an address, 0x and 40 hex digits"),
        ("signer", "an address, 0x and 40 hex digits"),
        ("signatureType", "a number, 0 to 3"),
        ("group", "a number, 0 to 15"),
        (
            "revision",
            "a number or text of digits, 0 to 18446744073709551615",
        ),
        (
            "seen",
            "a number or text of digits, 0 to 18446744073709551615",
        ),
        ("timestamp", "digits, unix milliseconds"),
        ("validUntil", "digits, unix milliseconds"),
        ("conditions", "an array"),
        ("quotes", "an array"),
    ] {
        let expected = format!("{field} is missing, allowed: {allowed}");
        let remove = |body: &mut Json| drop(body["set"].as_object_mut().unwrap().remove(field));
        assert_eq!(refused(remove), expected);
    }
    let remove = |field: &'static str| {
        move |body: &mut Json| drop(body.as_object_mut().unwrap().remove(field))
    };
    assert_eq!(refused(remove("set")), "set is missing, allowed: an object");
    assert_eq!(
        refused(remove("signature")),
        "signature is missing, allowed: 0x and 130 hex digits"
    );
}

#[rstest]
#[case("maker", json!("0x11"), "maker is '0x11', allowed: an address, 0x and 40 hex digits")]
#[case("signer", json!(7), "signer is 7, allowed: an address, 0x and 40 hex digits")]
#[case("signatureType", json!(4), "signatureType is 4, allowed: a number, 0 to 3")]
#[case("group", json!(16), "group is 16, allowed: a number, 0 to 15")]
#[case("group", json!("0"), "group is '0', allowed: a number, 0 to 15")]
#[case("revision", json!("18446744073709551616"), "revision is '18446744073709551616', allowed: a number or text of digits, 0 to 18446744073709551615")]
#[case("revision", json!(-1), "revision is -1, allowed: a number or text of digits, 0 to 18446744073709551615")]
#[case("seen", json!("0x1"), "seen is '0x1', allowed: a number or text of digits, 0 to 18446744073709551615")]
#[case("timestamp", json!(1.5), "timestamp is 1.5, allowed: digits, unix milliseconds")]
#[case("validUntil", json!(true), "validUntil is true, allowed: digits, unix milliseconds")]
#[case("builder", json!("0x00"), "builder is '0x00', allowed: 0x and 64 hex digits")]
#[case("conditions", json!({}), "conditions is an object, allowed: an array")]
#[case("conditions", json!(["0x22"]), "conditions is '0x22', allowed: a condition id, 0x and 64 hex digits")]
#[case("conditions", json!([]), "conditions has 0 entries, allowed: 1 to 64 condition ids")]
#[case("quotes", json!("0x"), "quotes is '0x', allowed: an array")]
#[case("quotes", json!([7]), "quotes is 7, allowed: texts of 0x and 64 hex digits")]
fn a_wrong_field_is_named_with_its_value_and_what_is_allowed(
    #[case] field: &str,
    #[case] value: Json,
    #[case] text: &str,
) {
    assert_eq!(refused(|body| body["set"][field] = value), text);
}

#[rstest]
#[case(json!("abcd"), "signature is 'abcd', allowed: 0x and 130 hex digits")]
#[case(json!(1), "signature is 1, allowed: 0x and 130 hex digits")]
fn a_wrong_signature_is_named(#[case] value: Json, #[case] text: &str) {
    assert_eq!(refused(|body| body["signature"] = value), text);
}

/// The second of two quotes, or of three markets.
#[rstest]
#[case(json!("0x12"), "quotes[1] is another text, allowed: 0x and 64 hex digits")]
#[case(with_bytes(0, &[0, 2]), "quotes[1].condition is 2, allowed: 0 to 1")]
#[case(with_bytes(0, &[255, 255]), "quotes[1].condition is 65535, allowed: 0 to 1")]
#[case(with_bytes(2, &[2]), "quotes[1].outcome is 2, allowed: 0 (Yes) or 1 (No)")]
#[case(with_bytes(3, &[255]), "quotes[1].side is 255, allowed: 0 (BUY) or 1 (SELL)")]
#[case(with_bytes(5, &[1]), "quotes[1].price is 71136, allowed: a price below 1, in 0.0001")]
#[case(with_bytes(16, &[2]), "quotes[1].flags is 2, allowed: 0, or 1 (grow_tail)")]
#[case(with_bytes(17, &[1]), "quotes[1].padding is 010000000000000000000000000000, allowed: 15 bytes of zero")]
#[case(with_bytes(31, &[7]), "quotes[1].padding is 000000000000000000000000000007, allowed: 15 bytes of zero")]
fn a_wrong_word_is_named_by_its_index_and_field(#[case] word: Json, #[case] text: &str) {
    let error = QuoteSubmission::read(&body(|body| body["set"]["quotes"][1] = word)).unwrap_err();
    assert_eq!(
        (error.text().as_str(), error.code()),
        (text, ErrorCode::InvalidQuote)
    );
    assert_eq!(error.status(), 400);
}

#[rstest]
#[case([0x22, 0x22, 0x33], 1, 0x22)]
#[case([0x22, 0x33, 0x33], 2, 0x33)]
#[case([0x33, 0x22, 0x44], 1, 0x22)]
fn conditions_ascend_and_stand_once(#[case] ids: [u8; 3], #[case] at: usize, #[case] id: u8) {
    let conditions = ids.map(hash);
    assert_eq!(
        refused(|body| body["set"]["conditions"] = json!(conditions)),
        format!(
            "conditions[{at}] is {}, allowed: ids in ascending order, each once",
            hash(id)
        )
    );
}

#[test]
fn a_set_holds_64_markets_and_64_quotes() {
    let with = |markets: u8, quotes: usize| {
        body(|body| {
            let words = vec![
                word(Quote {
                    condition: 0,
                    ..QUOTE
                });
                quotes
            ];
            body["set"]["conditions"] = (0..markets).map(hash).collect();
            body["set"]["quotes"] = json!(words);
        })
    };
    let read = QuoteSubmission::read(&with(64, 64)).unwrap();
    assert_eq!((read.set.conditions.len(), read.words.len()), (64, 64));
    assert!(with(64, 64).len() <= crate::limits::QUOTES_BODY_BYTES);
    assert!(
        QuoteSubmission::read(&with(1, 0))
            .unwrap()
            .quotes
            .is_empty()
    );
    let text = |body: &[u8]| QuoteSubmission::read(body).unwrap_err().text();
    assert_eq!(
        text(&with(65, 1)),
        "conditions has 65 entries, allowed: 1 to 64 condition ids"
    );
    assert_eq!(
        text(&with(1, 65)),
        "quotes has 65 entries, allowed: up to 64 words"
    );
}

#[rstest]
#[case(json!({"group": 3, "revision": 7}), Ok((None, 3, 7)))]
#[case(json!({"wallet": "0x1111111111111111111111111111111111111111", "group": 0, "revision": "8"}), Ok((Some(WalletAddress([0x11; 20])), 0, 8)))]
#[case(json!({"revision": 7}), Err("group is missing, allowed: a number, 0 to 15"))]
#[case(json!({"group": 0}), Err("revision is missing, allowed: a number or text of digits, 0 to 18446744073709551615"))]
#[case(json!({"wallet": 1, "group": 0, "revision": 7}), Err("wallet is 1, allowed: an address, 0x and 40 hex digits"))]
fn a_heartbeat_names_a_group_and_its_revision(
    #[case] body: Json,
    #[case] expected: Result<(Option<WalletAddress>, u8, u64), &str>,
) {
    let read = QuotesHeartbeat::read(body.to_string().as_bytes());
    let read = read.map(|beat| (beat.wallet, beat.group, beat.revision));
    let expected = expected.map_err(str::to_owned);
    assert_eq!(read.map_err(|error| error.text()), expected);
}

#[test]
fn limits_are_0_by_default() {
    let read = QuoteLimitsBody::read(b"{}").unwrap();
    assert_eq!((read.limits(), read.reset), (QuoteLimits::default(), false));
    let body = json!({
        "lease_ms": 5_000, "window_ms": 1_000, "shares": "12.5", "value": "3.000001",
        "net_shares": "7", "reset": true,
    });
    let read = QuoteLimitsBody::read(body.to_string().as_bytes()).unwrap();
    let limits = QuoteLimits {
        lease_ms: 5_000,
        window_ms: 1_000,
        lots: Lots(1_250),
        value: Micros(3_000_001),
        net_lots: Lots(700),
    };
    assert_eq!((read.limits(), read.reset), (limits, true));
}

#[rstest]
#[case("lease_ms", json!("5"), "lease_ms is '5', allowed: a number of milliseconds")]
#[case("window_ms", json!(4_294_967_296_u64), "window_ms is 4294967296, allowed: a number of milliseconds")]
#[case("shares", json!(1), "shares is 1, allowed: a text, shares with up to two decimals")]
#[case("net_shares", json!("0.001"), "net_shares is '0.001', allowed: a text, shares with up to two decimals")]
#[case("value", json!("1.0000001"), "value is '1.0000001', allowed: a text, whole units with up to six decimals")]
#[case("reset", json!(1), "reset is 1, allowed: true or false")]
fn a_wrong_limit_is_named(#[case] field: &str, #[case] value: Json, #[case] text: &str) {
    let body = json!({ field: value }).to_string();
    let error = QuoteLimitsBody::read(body.as_bytes()).unwrap_err();
    assert_eq!(error.text(), text);
}

#[test]
fn a_group_in_a_path_has_no_sign_and_is_at_most_15() {
    for group in 0..QUOTE_GROUPS {
        assert_eq!(QuoteGroup::read(&group.to_string()).unwrap().0, group);
    }
    for wrong in ["16", "+1", "-1", "", "x", "256", "1.0"] {
        assert_eq!(
            QuoteGroup::read(wrong).unwrap_err().text(),
            format!("n is '{wrong}', allowed: a group, 0 to 15")
        );
    }
}

const fn done(refused: Vec<RefusedQuote>, orders: Vec<Option<String>>) -> QuotesDone {
    QuotesDone {
        kept: 1,
        reduced: 2,
        placed: 1,
        ended: 4,
        refused,
        orders,
    }
}

#[test]
fn an_answer_says_what_became_of_each_quote() {
    let answer = QuotesAnswer {
        set: OrderId([0xab; 32]),
        revision: 7,
        sequence: 42,
        duplicate: false,
        done: Some(done(
            vec![RefusedQuote::new(1, RejectionReason::CrossesBook)],
            vec![Some(hash(0xab)), None],
        )),
    };
    insta::assert_snapshot!(serde_json::to_string_pretty(&answer).unwrap());
    let repeated = QuotesAnswer {
        duplicate: true,
        done: None,
        ..answer
    };
    insta::assert_snapshot!(serde_json::to_string_pretty(&repeated).unwrap());
}

#[test]
fn each_reason_of_a_quote_has_its_code_and_text() {
    let refused = foretell_model::quote::QuotesResult::REASONS.iter().zip(0..);
    let refused: Vec<_> = refused
        .map(|(reason, quote)| RefusedQuote::new(quote, *reason))
        .collect();
    insta::assert_snapshot!(serde_json::to_string_pretty(&refused).unwrap());
}

#[test]
fn lease_and_limits_are_answered() {
    let lease = QuotesLease {
        group: 3,
        revision: 7,
        live: 12,
        until: 1_710_000_005_000,
    };
    assert_eq!(
        json_text(&lease),
        r#"{"group":3,"revision":7,"live":12,"until":1710000005000}"#
    );
    let limits = QuoteLimitsAnswer {
        group: 3,
        lease_ms: 5_000,
        window_ms: 1_000,
        shares: Lots(1_250),
        value: Micros(3_000_001),
        net_shares: Lots(0),
    };
    assert_eq!(
        json_text(&limits),
        r#"{"group":3,"lease_ms":5000,"window_ms":1000,"shares":"12.5","value":"3.000001","net_shares":"0"}"#
    );
}

proptest! {
    #[test]
    fn any_word_is_read_back_or_refused(bytes: [u8; 32]) {
        let text = format!("0x{}", hex::encode(bytes));
        let read = QuoteSubmission::read(&body(|body| body["set"]["quotes"] = json!([text])));
        match QuoteWord(bytes).read() {
            Ok(quote) if quote.condition < 2 => {
                prop_assert_eq!(quote.word(), QuoteWord(bytes));
                prop_assert_eq!(read.unwrap().quotes, [quote]);
            }
            _ => prop_assert_eq!(read.unwrap_err().code(), ErrorCode::InvalidQuote),
        }
    }
    #[test]
    fn a_damaged_body_is_read_or_refused(at: prop::sample::Index, byte in damage()) {
        let mut body = body(|_| {});
        let at = at.index(body.len());
        body[at] = byte;
        let _ = QuoteSubmission::read(&body);
    }
}
