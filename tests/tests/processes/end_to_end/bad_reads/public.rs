//! Public reads.

use foretell_tests::demo::send;
use reqwest::Method;

use crate::end_to_end::bad_reads::Must::{Fail, Rows};
use crate::end_to_end::bad_reads::{CURSORS, NOBODY, check, finish, long, quiet, traded};

const MISSING: &str = "token_id is missing";
const TWICE: &str = "is repeated, allowed: once";
const NO_MARKET: &str = "market not found";
const NO_BOOK: &str = "No orderbook exists for the requested token id";

#[tokio::test]
async fn reads_of_one_token() {
    let site = traded().await;
    let before = site.sequence().await;
    let (known, condition) = (&site.tokens[0], &site.condition);
    for path in [
        "/book",
        "/price",
        "/midpoint",
        "/spread",
        "/last-trade-price",
        "/tick-size",
        "/neg-risk",
        "/fee-rate",
    ] {
        let side = if path == "/price" { "&side=BUY" } else { "" };
        let unknown = match path {
            "/tick-size" | "/neg-risk" | "/fee-rate" => NO_MARKET,
            _ => NO_BOOK,
        };
        for (query, must) in [
            (String::new(), Fail(400, MISSING)),
            ("token_id".to_owned(), Fail(400, MISSING)),
            ("token_id=".to_owned(), Fail(400, MISSING)),
            ("Token_Id=1".to_owned(), Fail(400, MISSING)),
            (
                format!("token_id={known}&token_id={known}"),
                Fail(400, TWICE),
            ),
            ("token_id=x".to_owned(), Fail(400, "Invalid token id")),
            ("token_id=-1".to_owned(), Fail(400, "Invalid token id")),
            ("token_id=%2B1".to_owned(), Fail(400, "Invalid token id")),
            ("token_id=1.0".to_owned(), Fail(400, "Invalid token id")),
            ("token_id=1e3".to_owned(), Fail(400, "Invalid token id")),
            (
                format!("token_id=%20{known}"),
                Fail(400, "Invalid token id"),
            ),
            ("token_id=%D9%A1".to_owned(), Fail(400, "Invalid token id")),
            (
                format!("token_id={}", "9".repeat(78)),
                Fail(400, "Invalid token id"),
            ),
            (
                format!("token_id={}", long()),
                Fail(400, "Invalid token id"),
            ),
            (
                format!("token_id={condition}:2"),
                Fail(400, "Invalid token id"),
            ),
            (
                format!("token_id={condition}"),
                Fail(400, "Invalid token id"),
            ),
            ("token_id=%zz".to_owned(), Fail(400, "invalid query")),
            ("token_id=%ff".to_owned(), Fail(400, "invalid query")),
            (
                format!("token_id={}", "1".repeat(9_000)),
                Fail(400, "invalid query"),
            ),
            (
                "x&".repeat(201),
                Fail(400, "invalid query: more than 200 parameters"),
            ),
            (format!("token_id=1{side}"), Fail(404, unknown)),
            (format!("token_id={NOBODY}:0{side}"), Fail(404, unknown)),
        ] {
            let asked = site.request(Method::GET, &format!("{path}?{query}"));
            check(&format!("{path}?{query:.60}"), send(asked).await, must);
        }
        for query in [
            format!("token_id={known}{side}"),
            format!("token_id={condition}:0{side}"),
            format!("unknown=1&token_id={known}{side}"),
        ] {
            let asked = site.request(Method::GET, &format!("{path}?{query}"));
            assert_eq!(send(asked).await.0, 200, "{path}?{query}");
        }
        let asked = site
            .request(Method::POST, path)
            .json(&serde_json::json!({}));
        check(
            path,
            send(asked).await,
            Fail(405, "method not allowed, allowed: GET, HEAD"),
        );
    }
    for (side, must) in [
        ("", Fail(400, "Invalid side")),
        ("side=", Fail(400, "Invalid side")),
        ("side=HOLD", Fail(400, "Invalid side")),
        ("side=0", Fail(400, "Invalid side")),
        ("side=BUY&side=SELL", Fail(400, TWICE)),
        (&format!("side={}", long()), Fail(400, "Invalid side")),
        ("side=SELL", Fail(404, "no bid exists")),
    ] {
        let token = if side == "side=SELL" { &quiet() } else { known };
        let asked = site.request(Method::GET, &format!("/price?token_id={token}&{side}"));
        check(&format!("/price?{side:.60}"), send(asked).await, must);
    }
    finish(site, before).await;
}

#[tokio::test]
async fn reads_of_a_market_and_lists_of_markets() {
    let site = traded().await;
    let before = site.sequence().await;
    let (long, condition) = (long(), &site.condition);
    let unknown = [&format!("{condition}0"), "0x12", "x", NOBODY, "%00", "1"];
    let longest = "9".repeat(1_900);
    for path in ["/markets", "/clob-markets"] {
        for id in unknown.into_iter().chain([longest.as_str()]) {
            let asked = site.request(Method::GET, &format!("{path}/{id}"));
            check(id, send(asked).await, Fail(404, "market not found"));
        }
        let asked = site.request(Method::GET, &format!("{path}/{long}"));
        check("a long path", send(asked).await, Fail(414, "path too long"));
    }
    for (token, must) in [
        ("x", Fail(400, "Invalid token id")),
        ("1", Fail(404, NO_MARKET)),
        ("-1", Fail(400, "Invalid token id")),
        (NOBODY, Fail(400, "Invalid token id")),
    ] {
        let asked = site.request(Method::GET, &format!("/markets-by-token/{token}"));
        check(token, send(asked).await, must);
    }
    for code in ["x", "0x12", &format!("{NOBODY}1")] {
        let asked = site.request(Method::GET, &format!("/fees/builder-fees/{code}"));
        check(code, send(asked).await, Fail(400, "builder is "));
    }
    for path in [
        "/markets",
        "/simplified-markets",
        "/sampling-markets",
        "/sampling-simplified-markets",
    ] {
        for (cursor, must) in CURSORS {
            let asked = site.request(Method::GET, &format!("{path}?next_cursor={cursor}"));
            check(&format!("{path} {cursor}"), send(asked).await, *must);
        }
        let asked = site.request(Method::GET, &format!("{path}?next_cursor={long}"));
        check(path, send(asked).await, Fail(400, "invalid next_cursor"));
        let asked = site.request(Method::GET, &format!("{path}?next_cursor=&unknown=1"));
        check(path, send(asked).await, Rows(23));
    }
    finish(site, before).await;
}

#[tokio::test]
async fn the_state_a_read_must_show() {
    let site = traded().await;
    let before = site.sequence().await;
    for (value, must) in [
        ("", Fail(400, "x-min-sequence is ''")),
        ("x", Fail(400, "x-min-sequence is 'x'")),
        ("-1", Fail(400, "x-min-sequence is '-1'")),
        ("+1", Fail(400, "x-min-sequence is '+1'")),
        ("1.0", Fail(400, "x-min-sequence is '1.0'")),
        (
            "18446744073709551616",
            Fail(400, "x-min-sequence is '18446744073709551616'"),
        ),
        ("18446744073709551615", Fail(400, "at most 1000000 above")),
        ("2000000", Fail(400, "at most 1000000 above")),
        ("1", Rows(23)),
    ] {
        let asked = site
            .request(Method::GET, "/markets")
            .header("x-min-sequence", value);
        check(value, send(asked).await, must);
    }
    let next = format!("{}", before + 1);
    let asked = site
        .request(Method::GET, "/markets")
        .header("x-min-sequence", &next);
    check(
        "the next",
        send(asked).await,
        Fail(503, &format!("not yet at sequence {next}")),
    );
    finish(site, before).await;
}
