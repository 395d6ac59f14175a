//! Reads of a caller's own data, and the responses about the data of others.

use foretell_tests::demo::{Demo, send};
use reqwest::Method;
use serde_json::json;

use crate::end_to_end::bad_reads::Must::{self, Fail, Rows};
use crate::end_to_end::bad_reads::{
    CURSORS, NOBODY, broken_bodies, check, finish, long, scalars, traded,
};

const TWICE: &str = "is repeated, allowed: once";

/// Parameters of a list of trades, and the expected response. There is one trade.
fn of_trades(site: &Demo) -> Vec<(String, Must<'static>)> {
    let mut table: Vec<(String, Must<'static>)> = vec![
        (String::new(), Rows(1)),
        ("unknown=1".to_owned(), Rows(1)),
        ("id=".to_owned(), Rows(1)),
        ("id=x".to_owned(), Rows(0)),
        ("id=x&id=x".to_owned(), Fail(400, TWICE)),
        (format!("id={}", "x".repeat(129)), Fail(400, "id is ")),
        (format!("market={}", site.condition), Rows(1)),
        (format!("market={NOBODY}"), Rows(0)),
        ("market=".to_owned(), Rows(1)),
        ("market=0x12".to_owned(), Fail(400, "market is '0x12'")),
        (format!("market={NOBODY}&market={NOBODY}"), Fail(400, TWICE)),
        (format!("asset_id={}", site.tokens[0]), Rows(1)),
        ("asset_id=1".to_owned(), Rows(0)),
        ("asset_id=x".to_owned(), Fail(400, "Invalid token id")),
        ("asset_id=1&asset_id=1".to_owned(), Fail(400, TWICE)),
    ];
    for name in ["taker", "maker", "maker_address"] {
        table.extend([
            (format!("{name}=0x{}", "11".repeat(20)), Rows(0)),
            (format!("{name}="), Rows(1)),
            (format!("{name}=x"), Fail(400, "allowed: an address")),
            (
                format!("{name}=0x{}", "1".repeat(39)),
                Fail(400, "allowed: an address"),
            ),
            (
                format!("{name}=0x{}", "1".repeat(41)),
                Fail(400, "allowed: an address"),
            ),
            (
                format!("{name}={}", long()),
                Fail(400, "allowed: an address"),
            ),
            (format!("{name}=&{name}="), Fail(400, TWICE)),
        ]);
    }
    for name in ["before", "after"] {
        for wrong in [
            "x", "-1", "%2B1", "1.5", "1e9", "0x10", "%201", "NaN", "Infinity", "-0",
        ] {
            table.push((
                format!("{name}={wrong}"),
                Fail(
                    400,
                    "allowed: unix seconds, 0 to 253402300799, not milliseconds",
                ),
            ));
        }
        table.extend([
            (
                format!("{name}={}", "9".repeat(21)),
                Fail(400, "allowed: unix seconds"),
            ),
            (format!("{name}="), Rows(1)),
            (format!("{name}=1&{name}=1"), Fail(400, TWICE)),
        ]);
    }
    table.extend([
        ("before=0".to_owned(), Rows(0)),
        ("after=0".to_owned(), Rows(1)),
        ("before=253402300799".to_owned(), Rows(1)),
        ("after=253402300799".to_owned(), Rows(0)),
        (
            "before=5&after=6".to_owned(),
            Fail(400, "before is 5, allowed: not below after (6)"),
        ),
        ("before=5&after=5".to_owned(), Rows(0)),
    ]);
    table
}

fn cursors() -> impl Iterator<Item = (String, Must<'static>)> {
    let known = CURSORS.iter();
    known.map(|(cursor, must)| (format!("next_cursor={cursor}"), *must))
}

#[tokio::test]
async fn lists_of_trades_and_orders() {
    let site = traded().await;
    let before = site.sequence().await;
    // Trades are listed backwards from a cursor: from past the newest, that is all of them.
    let places = cursors().map(|(query, must)| match must {
        Rows(_) => (query, Rows(1)),
        fail => (query, fail),
    });
    for (query, must) in of_trades(&site).into_iter().chain(places) {
        check(
            &format!("{query:.70}"),
            site.own("/data/trades", &query).await,
            must,
        );
    }
    for (query, must) in of_trades(&site) {
        // No trade has a builder, so the list is empty and needs no signature.
        let must = match must {
            Rows(_) => Rows(0),
            fail => fail,
        };
        let asked = site.request(Method::GET, &format!("/builder/trades?{query}"));
        check(&format!("{query:.70}"), send(asked).await, must);
    }
    for (query, must) in [
        ("builder_code=x", Fail(400, "builder_code is 'x'")),
        ("builder_code=0x12", Fail(400, "builder_code is")),
        (&format!("builder_code={NOBODY}"), Rows(0)),
        (
            &format!("builder_code={NOBODY}&builder_code={NOBODY}"),
            Fail(400, TWICE),
        ),
    ] {
        let asked = site.request(Method::GET, &format!("/builder/trades?{query}"));
        check(query, send(asked).await, must);
    }
    for (query, must) in [
        (String::new(), Rows(1)),
        ("id=x".to_owned(), Rows(0)),
        (format!("id={NOBODY}"), Rows(0)),
        (format!("id={}", "x".repeat(129)), Fail(400, "id is ")),
        (format!("market={}", site.condition), Rows(1)),
        (format!("market={NOBODY}"), Rows(0)),
        ("market=x".to_owned(), Fail(400, "market is 'x'")),
        (format!("asset_id={}", site.tokens[1]), Rows(0)),
        ("asset_id=x".to_owned(), Fail(400, "Invalid token id")),
        ("asset_id=&asset_id=".to_owned(), Fail(400, TWICE)),
    ]
    .into_iter()
    .chain(cursors())
    {
        check(
            &format!("{query:.70}"),
            site.own("/data/orders", &query).await,
            must,
        );
    }
    finish(site, before).await;
}

#[tokio::test]
async fn one_order_and_balances() {
    let site = traded().await;
    let foreign = site.buy(&site.other, 0, 1_000, 500).await;
    let before = site.sequence().await;
    for id in [
        foreign.as_str(),
        NOBODY,
        "x",
        "0x12",
        "%00",
        &"9".repeat(1_900),
    ] {
        let answer = site.own(&format!("/data/order/{id}"), "").await;
        check(&format!("{id:.70}"), answer, Fail(404, "order not found"));
    }
    let collateral = "asset_type=COLLATERAL";
    let token = &site.tokens[0];
    for path in ["/balance-allowance", "/balance-allowance/update"] {
        for (query, must) in [
            (String::new(), Fail(400, "asset_type is missing")),
            ("asset_type=".to_owned(), Fail(400, "asset_type is missing")),
            (
                "asset_type=collateral".to_owned(),
                Fail(400, "asset_type is 'collateral'"),
            ),
            (format!("{collateral}&{collateral}"), Fail(400, TWICE)),
            (collateral.to_owned(), Rows(3)),
            (format!("{collateral}&token_id=x"), Rows(3)),
            (
                "asset_type=CONDITIONAL".to_owned(),
                Fail(400, "token_id is missing"),
            ),
            (
                "asset_type=CONDITIONAL&token_id=x".to_owned(),
                Fail(400, "Invalid token id"),
            ),
            (
                "asset_type=CONDITIONAL&token_id=1".to_owned(),
                Fail(404, "No orderbook exists"),
            ),
            (format!("asset_type=CONDITIONAL&token_id={token}"), Rows(3)),
            (format!("{collateral}&signature_type="), Rows(3)),
            (format!("{collateral}&signature_type=-1"), Rows(3)),
            (format!("{collateral}&signature_type=3"), Rows(3)),
            (
                format!("{collateral}&signature_type=4"),
                Fail(400, "signature_type is '4'"),
            ),
            (
                format!("{collateral}&signature_type=-2"),
                Fail(400, "signature_type is '-2'"),
            ),
            (
                format!("{collateral}&signature_type=1e0"),
                Fail(400, "signature_type is '1e0'"),
            ),
            (
                format!("{collateral}&signature_type={}", long()),
                Fail(400, "allowed: -1 to 3"),
            ),
            (
                format!("{collateral}&signature_type=0&signature_type=0"),
                Fail(400, TWICE),
            ),
        ] {
            check(&format!("{query:.70}"), site.own(path, &query).await, must);
        }
    }
    for (query, must) in cursors() {
        let answer = site.own("/data/pre-migration-orders", &query).await;
        check(&query, answer, must);
    }
    check(
        "scoring",
        site.own("/order-scoring", "order_id=x&order_id=y").await,
        Rows(1),
    );
    check(
        "none",
        site.own("/notifications", "signature_type=x").await,
        Rows(0),
    );
    finish(site, before).await;
}

#[tokio::test]
async fn which_orders_score() {
    let site = traded().await;
    let before = site.sequence().await;
    for (what, body, must) in broken_bodies() {
        let request = site
            .request(Method::POST, "/orders-scoring")
            .body(body.clone());
        let headers = site.trader.headers("POST", "/orders-scoring", &body);
        let request = headers.into_iter().fold(request, |request, (name, value)| {
            request.header(name, value)
        });
        check(what, send(request).await, must);
    }
    let many = |count: usize| json!((0..count).map(|it| it.to_string()).collect::<Vec<_>>());
    for (body, must) in scalars()
        .map(|body| (body, Fail(400, "allowed: an array")))
        .chain([
            (json!({}), Fail(400, "allowed: an array")),
            (json!([7]), Fail(400, "order id is 7")),
            (json!([null]), Fail(400, "order id is null")),
            (json!(["x".repeat(129)]), Fail(400, "order id is")),
            (json!([]), Rows(0)),
            (json!(["x", "x", NOBODY]), Rows(2)),
            (many(500), Rows(500)),
            (many(501), Fail(400, "501 entries, allowed: up to 500")),
        ])
    {
        let text = body.to_string();
        let answer = site
            .trader
            .signed(Method::POST, "/orders-scoring", "", &text)
            .await;
        check(&format!("{text:.70}"), answer.expect("an answer"), must);
    }
    finish(site, before).await;
}
