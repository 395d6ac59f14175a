//! Bad input on all endpoints except orders: one table per kind of endpoint, each row a request
//! with its status and text. No request changes the state. Orders are in `bad_input`; price history
//! and account actions have their own tests.

mod batches;
mod own;
mod public;
mod writes;

use foretell_tests::demo::{Demo, MARKET, plain_markets};
use serde_json::{Value, json};

/// A token, an order, a condition that do not exist.
const NOBODY: &str = "0x1111111111111111111111111111111111111111111111111111111111111111";

/// An exchange with a trade, and an order of each of two visitors.
async fn traded() -> Demo {
    let site = Demo::start().await;
    // Yes at 0.6 meets No at 0.4; the rest of the first rests, and an ask of the other.
    site.buy(&site.trader, 0, 2_000, 6_000).await;
    site.buy(&site.other, 1, 1_000, 4_000).await;
    site.buy(&site.other, 1, 1_000, 2_000).await;
    site
}

/// A token without orders.
fn quiet() -> String {
    let mut markets = plain_markets().into_iter();
    let quiet = markets.find(|market| market.slug != MARKET);
    let [yes, _] = quiet.expect("another market").token_ids();
    yes
}

/// Stops an exchange whose sequence is still `before`.
async fn finish(site: Demo, before: u64) {
    assert_eq!(site.sequence().await, before);
    assert!(site.exchange.stop().success());
}

/// The expected response.
#[derive(Clone, Copy)]
enum Must<'t> {
    /// 200 with this many rows, entries or bytes of an order.
    Rows(usize),
    /// This status, and an error that contains the text.
    Fail(u16, &'t str),
}

fn check(what: &str, (status, answer): (u16, Value), must: Must<'_>) {
    match must {
        Must::Rows(rows) => {
            assert_eq!(status, 200, "{what}: {answer}");
            let listed = answer.get("data").unwrap_or(&answer);
            let found = match listed {
                Value::Array(rows) => rows.len(),
                Value::Object(entries) => entries.len(),
                _ => 1,
            };
            assert_eq!(found, rows, "{what}: {answer}");
        }
        Must::Fail(expected, text) => {
            assert_eq!(status, expected, "{what}: {answer}");
            let error = answer["error"].as_str().unwrap_or_default();
            assert!(error.contains(text), "{what}: {answer} should say {text:?}");
            assert!(error.len() < 400, "{what}: {error}");
            assert!(answer.get("data").is_none(), "{what}: {answer}");
        }
    }
}

/// Invalid cursors, and the result of a valid one past the end.
const CURSORS: &[(&str, Must<'static>)] = &[
    ("MA", Must::Fail(400, "invalid next_cursor")),
    ("!!!!", Must::Fail(400, "invalid next_cursor")),
    ("LTE%3D", Must::Fail(400, "invalid next_cursor")),
    ("LTEwMA%3D%3D", Must::Fail(400, "invalid next_cursor")),
    ("KzE%3D", Must::Fail(400, "invalid next_cursor")),
    ("MS41", Must::Fail(400, "invalid next_cursor")),
    ("eHl6", Must::Fail(400, "invalid next_cursor")),
    // 10^18 + 1.
    (
        "MTAwMDAwMDAwMDAwMDAwMDAwMQ%3D%3D",
        Must::Fail(400, "invalid next_cursor"),
    ),
    (
        "MA%3D%3D&next_cursor=MA%3D%3D",
        Must::Fail(400, "next_cursor is repeated, allowed: once"),
    ),
    ("MTAwMDAw", Must::Rows(0)),
];

/// A text longer than any parameter, but within the limit of a query.
fn long() -> String {
    "9".repeat(5_000)
}

/// Bodies that are not JSON, and the expected errors.
fn broken_bodies() -> Vec<(&'static str, Vec<u8>, Must<'static>)> {
    vec![
        ("nothing", Vec::new(), Must::Fail(400, "invalid body")),
        ("half", b"[".to_vec(), Must::Fail(400, "invalid body")),
        ("two", b"[] []".to_vec(), Must::Fail(400, "invalid body")),
        ("NaN", b"[NaN]".to_vec(), Must::Fail(400, "invalid body")),
        (
            "no UTF-8",
            vec![b'[', b'"', 0xff, b'"', b']'],
            Must::Fail(400, "invalid body"),
        ),
        (
            "nested",
            vec![b'['; 100_000],
            Must::Fail(400, "invalid body"),
        ),
        (
            "huge",
            vec![b' '; 300_000],
            Must::Fail(413, "the body is too large"),
        ),
    ]
}

/// JSON values that are neither object nor array.
fn scalars() -> impl Iterator<Item = Value> {
    [json!(null), json!(true), json!(7), json!(""), json!("x")].into_iter()
}
