use foretell_model::DomainNumber;
use foretell_model::evidence::OrderEvidence;
use proptest::prelude::*;
use rstest::rstest;
use serde_json::{Value as Json, json};

use super::*;
use crate::read::json;
use crate::read::json::tests::damage;
use crate::text::words::order_type_text;

const CONDITION: &str = "0x0202020202020202020202020202020202020202020202020202020202020202";

/// The stock Python client's body of a GTC BUY of 100 at 0.62.
const STOCK: &str = r#"{"order":{"salt":479249096354,"maker":"0x1111111111111111111111111111111111111111","signer":"0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266","tokenId":"1234","makerAmount":"62000000","takerAmount":"100000000","side":"BUY","expiration":"0","signatureType":3,"timestamp":"1710000000000","metadata":"0x0000000000000000000000000000000000000000000000000000000000000000","builder":"0x0000000000000000000000000000000000000000000000000000000000000000","signature":"0xabcd"},"owner":"7d444840-9dc0-41d1-b245-5ffdce74fad2","orderType":"GTC","deferExec":false,"postOnly":false}"#;

/// The stock order with some fields replaced; the reader treats `null` as absent.
fn with(order: Json, item: Json) -> String {
    let mut body: Json = serde_json::from_str(STOCK).unwrap();
    for (key, value) in order.as_object().unwrap() {
        body["order"][key] = value.clone();
    }
    for (key, value) in item.as_object().unwrap() {
        body[key] = value.clone();
    }
    body.to_string()
}

fn read(order: Json) -> Result<OrderSubmission, ApiError> {
    OrderSubmission::read(with(order, json!({})).as_bytes())
}

#[test]
fn a_stock_order_is_read() {
    let order = OrderSubmission::read(STOCK.as_bytes()).unwrap();
    let mut salt = [0; 32];
    salt[24..].copy_from_slice(&479_249_096_354_u64.to_be_bytes());
    let signed = SignedOrder {
        salt,
        maker: WalletAddress([0x11; 20]),
        signer: ids::address("0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266").unwrap(),
        token: TokenRef::parse("1234").unwrap(),
        maker_amount: 62_000_000,
        taker_amount: 100_000_000,
        side: Side::Buy,
        kind: WalletKind::Deposit,
        timestamp: TimeMs(1_710_000_000_000),
        metadata: [0; 32],
        builder: [0; 32],
        signature: vec![0xab, 0xcd],
        condition: None,
        expiration: TimeSeconds(0),
    };
    let expected = OrderSubmission {
        order: signed,
        owner: ids::api_key("7d444840-9dc0-41d1-b245-5ffdce74fad2").unwrap(),
        order_type: OrderType::Gtc,
        post_only: false,
        defer_exec: false,
    };
    assert_eq!(order, expected);
}

#[test]
fn only_the_required_fields_are_required() {
    let body = with(
        json!({"metadata": null, "builder": null, "expiration": null}),
        json!({"orderType": null, "deferExec": null, "postOnly": null, "new": {"a": [1]}}),
    );
    assert_eq!(
        OrderSubmission::read(body.as_bytes()),
        OrderSubmission::read(STOCK.as_bytes())
    );
    for field in [
        "salt",
        "maker",
        "signer",
        "tokenId",
        "makerAmount",
        "takerAmount",
        "side",
        "signatureType",
        "timestamp",
        "signature",
    ] {
        let text = read(json!({ field: null })).unwrap_err().text();
        let start = format!("invalid order payload: {field} is missing, allowed: ");
        assert!(text.starts_with(&start), "{text}");
    }
    for field in ["owner", "order"] {
        let body = with(json!({}), json!({ field: null }));
        let text = OrderSubmission::read(body.as_bytes()).unwrap_err().text();
        let start = format!("invalid order payload: {field} is missing, allowed: ");
        assert!(text.starts_with(&start), "{text}");
    }
}

#[test]
fn the_optional_fields_are_read() {
    let word = |byte: &str| format!("0x{}", byte.repeat(32));
    let body = with(
        json!({"metadata": word("0a"), "builder": word("0B"), "expiration": "1800000000",
               "conditionId": CONDITION, "side": "SELL", "signatureType": 0}),
        json!({"orderType": "GTD", "postOnly": true, "deferExec": true}),
    );
    let submission = OrderSubmission::read(body.as_bytes()).unwrap();
    let order = submission.order;
    assert_eq!((order.metadata, order.builder), ([0x0a; 32], [0x0b; 32]));
    assert_eq!(order.expiration, TimeSeconds(1_800_000_000));
    assert_eq!(order.condition, Some(ConditionId([2; 32])));
    assert_eq!((order.side, order.kind), (Side::Sell, WalletKind::Eoa));
    assert_eq!(submission.order_type, OrderType::Gtd);
    assert!(submission.post_only && submission.defer_exec);
}

#[rstest]
#[case("0")]
#[case("-1")]
#[case("+1")]
#[case("1.0")]
#[case("1e6")]
#[case("0x10")]
#[case(" 1")]
#[case("")]
#[case("\u{0661}")]
#[case("18446744073709551616")] // 2^64
#[case("340282366920938463463374607431768211456")] // 2^128
#[case("115792089237316195423570985008687907853269984665640564039457584007913129639935")] // 2^256 - 1
#[case("115792089237316195423570985008687907853269984665640564039457584007913129639936")] // 2^256
#[case(
    "1111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111"
)]
#[case("1000000000000001")]
#[case("9223372036854775808")]
fn amounts_are_digits_above_0_up_to_the_largest(#[case] amount: &str) {
    for field in ["makerAmount", "takerAmount"] {
        let text = read(json!({ field: amount })).unwrap_err().text();
        let start = format!("invalid order payload: {field} is ");
        assert!(text.starts_with(&start), "{text}");
        assert!(
            text.ends_with(", allowed: a text of digits, 1 to 1000000000000000"),
            "{text}"
        );
        assert!(text.len() < 200, "{text}");
    }
}

#[test]
fn the_largest_amount_is_taken() {
    let order = read(json!({"makerAmount": "1000000000000000"})).unwrap();
    assert_eq!(order.order.maker_amount, 1_000_000_000_000_000);
}

#[rstest]
#[case("makerAmount", json!(62_000_000), "makerAmount is 62000000, allowed: a text of digits, 1 to 1000000000000000")]
#[case("makerAmount", json!(1.5), "makerAmount is 1.5, allowed: a text of digits, 1 to 1000000000000000")]
#[case("makerAmount", json!([1]), "makerAmount is an array, allowed: a text of digits, 1 to 1000000000000000")]
#[case("tokenId", json!(1234), "tokenId is 1234, allowed: a text of 1 to 78 digits, or <condition_id>:<0 or 1>")]
#[case("side", json!("buy"), "side is 'buy', allowed: BUY or SELL")]
#[case("side", json!(0), "side is 0, allowed: BUY or SELL")]
#[case("signatureType", json!(-1), "signatureType is -1, allowed: a number, 0 to 3")]
#[case("signatureType", json!(4), "signatureType is 4, allowed: a number, 0 to 3")]
#[case("signatureType", json!(2_147_483_648_u64), "signatureType is 2147483648, allowed: a number, 0 to 3")]
#[case("signatureType", json!("0"), "signatureType is '0', allowed: a number, 0 to 3")]
#[case("maker", json!("0x11"), "maker is '0x11', allowed: an address, 0x and 40 hex digits")]
#[case("salt", json!(-1), "salt is -1, allowed: a number or text of digits, 0 to 2^256 - 1")]
#[case("salt", json!(1e18), "salt is 1e+18, allowed: a number or text of digits, 0 to 2^256 - 1")]
#[case("salt", json!(1.5), "salt is 1.5, allowed: a number or text of digits, 0 to 2^256 - 1")]
#[case("salt", json!("0x1"), "salt is '0x1', allowed: a number or text of digits, 0 to 2^256 - 1")]
#[case("timestamp", json!("1e3"), "timestamp is '1e3', allowed: digits, unix milliseconds")]
#[case("expiration", json!("-1"), "expiration is '-1', allowed: unix seconds, 0 to 253402300799, not milliseconds")]
#[case("expiration", json!("1790000000000"), "expiration is '1790000000000', allowed: unix seconds, 0 to 253402300799, not milliseconds")]
#[case("metadata", json!(""), "metadata is '', allowed: 0x and 64 hex digits")]
#[case("builder", json!("0x00"), "builder is '0x00', allowed: 0x and 64 hex digits")]
#[case("signature", json!("abcd"), "signature is 'abcd', allowed: 0x and an even number of hex digits, up to 2048")]
#[case("signature", json!("0xabc"), "signature is '0xabc', allowed: 0x and an even number of hex digits, up to 2048")]
#[case("conditionId", json!("1"), "conditionId is '1', allowed: a condition id, 0x and 64 hex digits")]
fn a_wrong_field_is_named_with_its_value_and_what_is_allowed(
    #[case] field: &str,
    #[case] value: Json,
    #[case] text: &str,
) {
    let error = read(json!({ field: value })).unwrap_err();
    assert_eq!(error.text(), format!("invalid order payload: {text}"));
    assert_eq!(error.status(), 400);
}

#[rstest]
#[case(json!({"orderType": "IOC"}), "invalid order payload: orderType is 'IOC', allowed: GTC, GTD, FOK or FAK")]
#[case(json!({"orderType": 1}), "invalid order payload: orderType is 1, allowed: GTC, GTD, FOK or FAK")]
#[case(json!({"postOnly": "true"}), "invalid order payload: postOnly is 'true', allowed: true or false")]
#[case(json!({"deferExec": 1}), "invalid order payload: deferExec is 1, allowed: true or false")]
#[case(json!({"owner": 5}), "invalid order payload: owner is 5, allowed: the API key")]
#[case(json!({"owner": "somebody"}), "the order owner has to be the owner of the API KEY")]
#[case(json!({"owner": ""}), "the order owner has to be the owner of the API KEY")]
#[case(json!({"order": "x"}), "invalid order payload: order is 'x', allowed: an object")]
fn a_wrong_field_beside_the_order_is_refused(#[case] item: Json, #[case] text: &str) {
    let error = OrderSubmission::read(with(json!({}), item).as_bytes()).unwrap_err();
    assert_eq!(error.text(), text);
}

#[test]
fn every_order_type_is_read_by_its_text() {
    for order_type in OrderType::ALL {
        let body = with(
            json!({}),
            json!({"orderType": order_type_text(*order_type)}),
        );
        assert_eq!(
            OrderSubmission::read(body.as_bytes()).unwrap().order_type,
            *order_type
        );
    }
}

#[rstest]
#[case("9007199254740993", "9007199254740993")] // 2^53 + 1
#[case("18446744073709551615", "18446744073709551615")]
#[case("18446744073709551616", "18446744073709551616")]
#[case(
    "115792089237316195423570985008687907853269984665640564039457584007913129639935",
    "115792089237316195423570985008687907853269984665640564039457584007913129639935"
)]
fn a_salt_is_exact_as_number_and_as_text(#[case] number: &str, #[case] expected: &str) {
    for salt in [number.to_owned(), format!("\"{number}\"")] {
        let body = STOCK.replace("479249096354", &salt);
        let mut order = OrderSubmission::read(body.as_bytes()).unwrap();
        assert_eq!(decimal::uint256_text(&order.order.salt), expected);
        // The other fields are equal, whichever parser was used.
        let stock = OrderSubmission::read(STOCK.as_bytes()).unwrap();
        order.order.salt = stock.order.salt;
        assert_eq!(order, stock);
    }
    let too_large = STOCK.replace("479249096354", &format!("1{}", "0".repeat(78)));
    let error = OrderSubmission::read(too_large.as_bytes()).unwrap_err();
    assert_eq!(error.code(), ErrorCode::InvalidOrderField);
}

#[rstest]
#[case("1e3")]
#[case("479249096354.0")]
#[case("47924909635e1")]
#[case("1e77")]
#[case("-0")]
#[case("-1")]
fn a_number_with_point_exponent_or_sign_is_no_salt_and_no_time(#[case] number: &str) {
    for (digits, field) in [
        ("479249096354", "salt"),
        ("\"1710000000000\"", "timestamp"),
        ("\"0\"", "expiration"),
    ] {
        let body = STOCK.replacen(digits, number, 1);
        let text = OrderSubmission::read(body.as_bytes()).unwrap_err().text();
        assert!(
            text.starts_with(&format!("invalid order payload: {field} is ")),
            "{text}"
        );
    }
}

#[test]
fn a_key_that_stands_twice_is_refused_at_both_levels() {
    let inside = STOCK.replace(r#""side""#, r#""makerAmount":"1","side""#);
    let beside = STOCK.replace(r#""deferExec""#, r#""owner":"x","deferExec""#);
    let unknown = STOCK.replace(r#""deferExec""#, r#""x":1,"x":2,"deferExec""#);
    let escaped = STOCK.replace(r#""side""#, r#""maker\u0041mount":"1","side""#);
    for (body, key) in [
        (inside, "makerAmount"),
        (beside, "owner"),
        (unknown, "x"),
        (escaped, "makerAmount"),
    ] {
        assert_eq!(
            OrderSubmission::read(body.as_bytes()).unwrap_err().text(),
            format!("invalid order payload: the key '{key}' is repeated, allowed: once")
        );
    }
}

#[rstest]
#[case("taker")]
#[case("nonce")]
#[case("feeRateBps")]
fn the_old_version_is_told_so(#[case] field: &str) {
    let old = read(json!({field: "0", "timestamp": null, "metadata": null}));
    assert_eq!(old, Err(ErrorCode::OrderVersionMismatch.into()));
    // With a timestamp it is an unknown field and is ignored.
    assert!(read(json!({field: "0"})).is_ok());
}

#[rstest]
#[case("")]
#[case("{")]
#[case("[]")]
#[case("null")]
#[case("1")]
#[case("{\"order\":{}} x")]
fn what_is_no_order_is_refused_by_the_fixed_text(#[case] body: &str) {
    assert_eq!(
        OrderSubmission::read(body.as_bytes()),
        Err(ErrorCode::InvalidOrderPayload.into())
    );
}

#[test]
fn bodies_are_bounded_in_depth() {
    let deep = |levels: usize| {
        let nested = format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        STOCK.replace(r#""deferExec""#, &format!(r#""x":{nested},"deferExec""#))
    };
    assert!(OrderSubmission::read(deep(20).as_bytes()).is_ok());
    assert_eq!(
        OrderSubmission::read(deep(1_000).as_bytes()),
        Err(ErrorCode::InvalidOrderPayload.into())
    );
    assert_eq!(
        OrderBatch::read("[".repeat(100_000).as_bytes()),
        Err(ErrorCode::InvalidOrderPayload.into())
    );
}

#[test]
fn a_batch_has_one_result_per_order_in_input_order() {
    let sell = with(json!({"side": "SELL"}), json!({}));
    let twice = STOCK.replace(r#""side""#, r#""salt":1,"side""#);
    let body = format!("[{STOCK},{{}},{sell},7,{twice},null]");
    let OrderBatch(results) = OrderBatch::read(body.as_bytes()).unwrap();
    assert_eq!(results.len(), 6);
    assert_eq!(results[0], OrderSubmission::read(STOCK.as_bytes()));
    assert_eq!(
        results[1].as_ref().unwrap_err().text(),
        "invalid order payload: order is missing, allowed: an object"
    );
    assert_eq!(results[2].as_ref().unwrap().order.side, Side::Sell);
    assert_eq!(results[3], Err(ErrorCode::InvalidOrderPayload.into()));
    assert_eq!(
        results[4],
        Err(ErrorCode::RepeatedOrderField.with([&"'salt'"]))
    );
    assert_eq!(results[5], Err(ErrorCode::InvalidOrderPayload.into()));
}

#[test]
fn a_batch_is_refused_whole_when_it_is_none() {
    for body in ["[]", "{}", STOCK, "null", "[", ""] {
        assert_eq!(
            OrderBatch::read(body.as_bytes()),
            Err(ErrorCode::InvalidOrderPayload.into()),
            "{body}"
        );
    }
    let many = |count| format!("[{}]", vec![STOCK; count].join(","));
    assert_eq!(OrderBatch::read(many(15).as_bytes()).unwrap().0.len(), 15);
    assert_eq!(
        OrderBatch::read(many(16).as_bytes()).unwrap_err().text(),
        "Too many orders in payload: 16, max allowed: 15"
    );
    let tiny = format!("[{}]", vec!["{}"; 10_000].join(","));
    assert_eq!(
        OrderBatch::read(tiny.as_bytes()),
        Err(ErrorCode::TooManyOrders.with([&10_000]))
    );
}

#[test]
fn the_words_are_those_of_the_type_in_its_order() {
    let order = OrderSubmission::read(STOCK.as_bytes()).unwrap().order;
    let token = TokenId([7; 32]);
    let words = order.words(&token);
    let evidence = OrderEvidence {
        words: &words,
        domain: DomainNumber(0),
        signature: &order.signature,
    };
    assert_eq!(evidence.word(0), &order.salt);
    assert_eq!(evidence.maker(), order.maker);
    assert_eq!(evidence.signer(), order.signer);
    assert_eq!(evidence.token(), token);
    let number = |index| decimal::uint256_text(evidence.word(index));
    assert_eq!(
        [4, 5, 6, 7, 8].map(number),
        ["62000000", "100000000", "0", "3", "1710000000000"]
    );
    assert_eq!(evidence.word(9), &order.metadata);
    assert_eq!(evidence.builder(), &order.builder);
}

proptest! {
    /// For the same bytes, damaged in one place, both parsers give the same order or error.
    #[test]
    fn simd_json_and_serde_json_agree_on_orders(at in 0..STOCK.len(), byte in damage(), insert: bool) {
        let mut body = STOCK.as_bytes().to_vec();
        if insert {
            body.insert(at, byte);
        } else {
            body[at] = byte;
        }
        let fast = OrderSubmission::read(&body);
        let exact = json::read_exactly(&body)
            .map_err(|_| ErrorCode::InvalidOrderPayload.into())
            .and_then(|value| submission(&value));
        prop_assert_eq!(fast, exact);
    }

    #[test]
    fn arbitrary_bytes_never_panic(body: Vec<u8>) {
        let _ = (OrderSubmission::read(&body), OrderBatch::read(&body));
    }

    /// Any value in any field is accepted or rejected, and the answer stays short.
    #[test]
    fn arbitrary_values_never_panic(field in 0..14_usize, text: String, number: i64) {
        let fields = ["salt", "maker", "signer", "tokenId", "makerAmount", "takerAmount", "side", "expiration",
            "signatureType", "timestamp", "metadata", "builder", "signature", "conditionId"];
        for value in [json!(text), json!(number), json!([text]), json!({"a": number})] {
            if let Err(error) = read(json!({ fields[field]: value })) {
                prop_assert!(error.text().len() < 800);
            }
        }
    }
}

#[rstest]
#[case("FOK", "9980000", "10183600", true)]
#[case("FOK", "9980000", "10131970", false)]
#[case("FAK", "1999422", "2019600", false)]
#[case("FAK", "9990000", "100", true)]
#[case("GTC", "1999422", "2019601", true)]
#[case("GTD", "1999422", "2019601", true)]
fn amounts_of_market_orders_in_the_family(
    #[case] order_type: &str,
    #[case] maker: &str,
    #[case] taker: &str,
    #[case] fine: bool,
) {
    let body = with(
        json!({"makerAmount": maker, "takerAmount": taker}),
        json!({"orderType": order_type}),
    );
    let order = OrderSubmission::read(body.as_bytes()).unwrap();
    let error = order.check_family_amounts().map_err(|error| error.text());
    let expected = "invalid amounts, the market buy orders maker amount supports a max accuracy of 2 decimals, taker amount a max of 4 decimals";
    assert_eq!(
        error,
        if fine {
            Ok(())
        } else {
            Err(expected.to_owned())
        }
    );
}
