//! Invalid credentials.

use foretell_tests::demo::Demo;
use reqwest::Method;

use crate::end_to_end::bad_input::{send, state, valid};

/// The headers with another value of one name.
fn with(headers: &[(String, String)], name: &str, value: &str) -> Vec<(String, String)> {
    let mut headers = headers.to_vec();
    for (header, own) in &mut headers {
        if header == name {
            value.clone_into(own);
        }
    }
    headers
}

#[tokio::test]
async fn credentials_that_do_not_hold_are_one_and_the_same_401() {
    let site = Demo::start().await;
    let before = state(&site).await;
    let body = valid(&site).body.to_string();
    let post = async |headers: &[(String, String)], body: &str| {
        send(&site, Method::POST, "/order", headers, body.as_bytes()).await
    };
    let headers = site.trader.headers("POST", "/order", body.as_bytes());
    let mut answers = Vec::new();
    for (name, value) in [
        ("SERVICE_SIGNATURE", "00"),
        ("SERVICE_SIGNATURE", ""),
        (
            "SERVICE_SIGNATURE",
            "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=",
        ),
        (
            "SERVICE_PASSPHRASE",
            "0000000000000000000000000000000000000000000000000000000000000000",
        ),
        ("SERVICE_API_KEY", "00000000-0000-4000-8000-000000000000"),
        (
            "SERVICE_ADDRESS",
            "0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
        ),
    ] {
        let (status, answer) = post(&with(&headers, name, value), &body).await;
        assert_eq!(status, 401, "{name} {value:?}");
        answers.push(answer);
    }
    for answer in &answers {
        assert_eq!(
            *answer, answers[0],
            "a 401 must not tell which part was wrong"
        );
    }
    for timestamp in [
        "1",
        "-5",
        "1.5",
        "1e9",
        "007",
        "99999999999999999999999",
        "",
    ] {
        let (status, _) = post(&with(&headers, "SERVICE_TIMESTAMP", timestamp), &body).await;
        assert_eq!(status, 401, "timestamp {timestamp:?}");
    }
    assert_eq!(post(&[], &body).await.0, 401, "no headers at all");
    // A valid HMAC of another path, and a body changed under it.
    let elsewhere = site.trader.headers("POST", "/orders", body.as_bytes());
    assert_eq!(post(&elsewhere, &body).await.0, 401);
    assert_eq!(post(&headers, &format!("{body} ")).await.0, 401);
    assert_eq!(state(&site).await, before);
    assert!(site.exchange.stop().success());
}
