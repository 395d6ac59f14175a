//! Reads of many tokens at once.

use foretell_tests::demo::send;
use reqwest::Method;
use serde_json::{Value, json};

use crate::end_to_end::bad_reads::Must::{self, Fail, Rows};
use crate::end_to_end::bad_reads::{broken_bodies, check, finish, scalars, traded};

const PATHS: [&str; 5] = [
    "/books",
    "/prices",
    "/midpoints",
    "/spreads",
    "/last-trades-prices",
];

/// One entry, and the expected response to a batch of it.
fn entries() -> Vec<(Value, Must<'static>)> {
    let invalid = Fail(400, "Invalid token id");
    vec![
        (json!(7), Fail(400, "an entry is 7, allowed: an object")),
        (json!("1"), Fail(400, "an entry is '1', allowed: an object")),
        (json!([]), Fail(400, "allowed: an object")),
        (json!(null), Fail(400, "allowed: an object")),
        (json!({}), invalid),
        (json!({ "token_id": null }), invalid),
        (json!({ "token_id": 1 }), invalid),
        (json!({ "token_id": "" }), invalid),
        (json!({ "token_id": "x" }), invalid),
        (json!({ "token_id": " 1" }), invalid),
        (json!({ "token_id": "-1" }), invalid),
        (json!({ "token_id": "9".repeat(78) }), invalid),
        (json!({ "token_id": "9".repeat(50_000) }), invalid),
        (json!({ "token_id": ["1"] }), invalid),
        (
            json!({ "token_id": "1", "side": "HOLD" }),
            Fail(400, "Invalid side"),
        ),
        (
            json!({ "token_id": "1", "side": 0 }),
            Fail(400, "Invalid side"),
        ),
        (
            json!({ "token_id": "1", "side": {} }),
            Fail(400, "Invalid side"),
        ),
        // An unknown token is omitted.
        (json!({ "token_id": "1" }), Rows(0)),
        (
            json!({ "token_id": "1", "side": null, "more": [1] }),
            Rows(0),
        ),
    ]
}

#[tokio::test]
async fn batches_are_refused_whole_and_unknown_tokens_left_out() {
    let site = traded().await;
    let before = site.sequence().await;
    let known = json!({ "token_id": site.tokens[0] });
    for path in PATHS {
        let post = |body: Vec<u8>| {
            let request = site.request(Method::POST, path);
            let request = request.header("content-type", "application/json");
            send(request.body(body))
        };
        for (what, body, must) in broken_bodies() {
            check(&format!("{path} {what}"), post(body).await, must);
        }
        for body in scalars().chain([json!({ "token_id": "1" }), json!({})]) {
            let answer = post(body.to_string().into_bytes()).await;
            check(
                &format!("{path} {body}"),
                answer,
                Fail(400, "allowed: an array"),
            );
        }
        for (entry, must) in entries() {
            let body = json!([entry]).to_string();
            check(
                &format!("{path} {body:.60}"),
                post(body.into_bytes()).await,
                must,
            );
            // Together with a known token.
            let body = json!([known, entry]).to_string();
            let must = match must {
                Rows(none) => Rows(none + 1),
                fail => fail,
            };
            check(
                &format!("{path} with {entry:.60}"),
                post(body.into_bytes()).await,
                must,
            );
        }
        let twice = format!(r#"[{{"token_id":"1","token_id":"{}"}}]"#, site.tokens[0]);
        check(
            path,
            post(twice.into_bytes()).await,
            Fail(400, "'token_id' is repeated, allowed: once"),
        );
        let many = |count: usize| json!(vec![&known; count]).to_string().into_bytes();
        check(path, post(many(0)).await, Rows(0));
        check(path, post(many(500)).await, Rows(1));
        check(
            path,
            post(many(501)).await,
            Fail(400, "501 entries, allowed: up to 500"),
        );
        for (kind, coding) in [("text/plain", "identity"), ("application/json", "gzip")] {
            let request = site
                .request(Method::POST, path)
                .header("content-type", kind);
            let request = request.header("content-encoding", coding).body("[]");
            check(path, send(request).await, Fail(415, "the content type is"));
        }
    }
    finish(site, before).await;
}
