use super::*;
use rstest::rstest;

const CONDITION: &str = "0xddea699c0004ffeacce1649fd42f52746dda5f61ca868900a522233aa10e9669";

fn one(text: &str) -> Result<StreamRequest, RequestError> {
    let mut requests = read_requests(text);
    assert_eq!(requests.len(), 1, "{text}");
    requests.remove(0)
}

/// The first frames of the clients of the family.
#[rstest]
#[case(r#"{"type":"market","assets_ids":["1","2"],"custom_feature_enabled":true}"#)]
#[case(r#"{"type":"Market","operation":"SUBSCRIBE","markets":[],"assets_ids":["1","2"],"initial_dump":true,"custom_feature_enabled":true}"#)]
#[case(
    r#"[{"asset_ids":["1","2"],"type":"market","custom_feature_enabled":true,"level":2,"x":[{}]}]"#
)]
#[case(r#"{"asset_id":"1","assets_ids":null,"asset_ids":["2"],"type":"MARKET","markets":null,"custom_feature_enabled":true}"#)]
fn forms_of_the_market_channel(#[case] text: &str) {
    let request = one(text).unwrap();
    assert_eq!(request.channel, Some(Channel::Market));
    assert_eq!(request.operation, Operation::Subscribe);
    let mut tokens: Vec<_> = request.tokens.iter().map(ToString::to_string).collect();
    tokens.sort();
    assert_eq!(tokens, ["1", "2"]);
    assert!(request.markets.is_empty() && request.malformed.is_empty());
    assert_eq!((request.custom, request.opts_in()), (Some(true), false));
}

#[rstest]
#[case(
    r#"{"type":"user","auth":{"apiKey":"k","secret":"s","passphrase":"p"}}"#,
    0
)]
#[case(
    r#"{"type":"user","auth":{"apikey":"k","secret":"s","passphrase":"p"},"markets":[]}"#,
    0
)]
#[case(r#"{"auth":{"api_key":"k","secret":"s","passphrase":"p"},"markets":["CONDITION"],"type":"user","assets_ids":[]}"#, 1)]
#[case(r#"{"auth":{"key":"k","secret":"s","passphrase":"p","more":1},"markets":["CONDITION","0x1"],"type":"USER"}"#, 1)]
fn forms_of_the_user_channel(#[case] text: &str, #[case] markets: usize) {
    let request = one(&text.replace("CONDITION", CONDITION)).unwrap();
    assert_eq!(request.channel, Some(Channel::User));
    let auth = request.auth.unwrap();
    let trio = [auth.api_key.as_str(), &auth.secret, &auth.passphrase];
    assert_eq!(trio, ["k", "s", "p"]);
    assert_eq!(request.markets.len(), markets);
    assert_eq!(request.malformed.len(), usize::from(text.contains("0x1")));
    assert_eq!(format!("{auth:?}"), "Credentials(secret)");
}

#[test]
fn the_extension_is_asked_for_by_any_of_its_fields() {
    let text = r#"{"resume_from":"103","stream_id":"fa55","heartbeat_ms":1000,"conflate_ms":0}"#;
    let request = one(text).unwrap();
    assert_eq!(request.resume_from, Some(Sequence(103)));
    assert_eq!(request.stream_id.as_deref(), Some("fa55"));
    assert_eq!(request.heartbeat_ms, Some(1_000));
    for text in [
        r#"{"resume_from":0}"#,
        r#"{"heartbeat_ms":"0"}"#,
        r#"{"conflate_ms":0}"#,
        r#"{"acks":true}"#,
        r#"{"cancel_on_disconnect":false}"#,
    ] {
        assert!(one(text).unwrap().opts_in(), "{text}");
    }
    for text in ["{}", r#"{"acks":false,"stream_id":"x"}"#] {
        assert!(!one(text).unwrap().opts_in(), "{text}");
    }
}

#[test]
fn both_forms_of_a_token_are_one_token_and_others_are_told() {
    let hex = format!("0x{}a", "0".repeat(63));
    let text = format!(r#"{{"assets_ids":["10","{hex}","{CONDITION}:1","0xzz","","-1"]}}"#);
    let request = one(&text).unwrap();
    assert_eq!(request.tokens.len(), 3);
    assert_eq!(request.tokens[0], request.tokens[1]);
    assert_eq!(request.malformed, ["0xzz", "", "-1"]);
    let many = vec![r#""?""#; 1_000].join(",");
    let request = one(&format!(r#"{{"assets_ids":[{many}]}}"#)).unwrap();
    assert_eq!(request.malformed.len(), MAX_UNKNOWN_IDS);
}

#[rstest]
#[case("", "bad_json")]
#[case("garbage", "bad_json")]
#[case("NO NEW ASSETS", "bad_json")]
#[case("1", "bad_json")]
#[case("null", "bad_json")]
#[case("\"subscribe\"", "bad_json")]
#[case("[1]", "bad_json")]
#[case("[[{}]]", "bad_json")]
#[case("{", "bad_json")]
#[case(r#"{"type":"market","type":"user"}"#, "bad_json")]
#[case(r#"{"type":1}"#, "bad_field")]
#[case(r#"{"type":"orders"}"#, "bad_field")]
#[case(r#"{"operation":true}"#, "bad_field")]
#[case(r#"{"operation":"replace"}"#, "unknown_operation")]
#[case(r#"{"assets_ids":[1]}"#, "bad_field")]
#[case(r#"{"assets_ids":{"0":"1"}}"#, "bad_field")]
#[case(r#"{"assets_ids":[["1"]]}"#, "bad_field")]
#[case(r#"{"markets":[null]}"#, "bad_field")]
#[case(r#"{"auth":"secret words"}"#, "bad_field")]
#[case(
    r#"{"auth":{"apiKey":"secret words","secret":1,"passphrase":"p"}}"#,
    "bad_field"
)]
#[case(r#"{"initial_dump":"yes"}"#, "bad_field")]
#[case(r#"{"custom_feature_enabled":1}"#, "bad_field")]
#[case(r#"{"level":4}"#, "bad_field")]
#[case(r#"{"resume_from":-1}"#, "bad_field")]
#[case(r#"{"resume_from":1.5}"#, "bad_field")]
#[case(r#"{"resume_from":"1e3"}"#, "bad_field")]
#[case(r#"{"resume_from":"18446744073709551616"}"#, "bad_field")]
#[case(r#"{"heartbeat_ms":[]}"#, "bad_field")]
fn bad_requests_are_told_apart(#[case] text: &str, #[case] code: &str) {
    let error = one(text).unwrap_err();
    assert_eq!(error.code.name(), code, "{error:?}");
    assert!(!error.message.contains("secret words"), "{error:?}");
    assert!(error.message.contains("allowed: "), "{error:?}");
}

#[test]
fn elements_of_an_array_stand_alone() {
    let requests = read_requests(r#"[{"asset_id":"1"},{"level":9},{"asset_id":"2"}]"#);
    let found: Vec<bool> = requests.iter().map(Result::is_ok).collect();
    assert_eq!(found, [true, false, true]);
    assert!(read_requests("[]").is_empty());
    let many = format!("[{}]", vec!["{}"; MAX_STREAM_REQUESTS + 1].join(","));
    assert_eq!(read_requests(&many).len(), 1);
}

#[test]
fn deep_nesting_is_an_error() {
    let text = "[".repeat(100_000);
    assert_eq!(one(&text).unwrap_err().code, RequestErrorCode::BadJson);
}
