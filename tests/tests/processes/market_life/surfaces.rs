//! What the surfaces answer about a market's life: refusals with their values, event groups, rebates.

use foretell_tests::exchange::Exchange;
use foretell_tests::operator;
use serde_json::{Value, json};

use crate::market_life::people::People;
use crate::market_life::{catalog, in_seconds, market};

/// The text of a refusal.
async fn refused(exchange: &Exchange, path: &str, body: &Value) -> String {
    let (status, answer) = operator::post(exchange, path, body).await;
    assert_ne!(status, 200, "{path} {body}: {answer}");
    answer["error"].as_str().expect("a text").to_owned()
}

/// Each names the field, the value and what is allowed; nothing changes.
pub(crate) async fn refusals(exchange: &Exchange) {
    let condition = format!("0x{}", "77".repeat(32));
    let words = json!({ "condition_id": condition, "question": "Q?", "slug": "refusals", "activate": false });
    operator::done(exchange, "/markets", &words).await;
    let named = |more: Value| {
        let mut body = json!({ "condition_id": condition });
        body.as_object_mut()
            .expect("an object")
            .extend(more.as_object().expect("an object").clone());
        body
    };
    let direction = "\u{202e}";
    for (path, body, text) in [
        (
            "/operators",
            json!({ "name": "ann", "role": "markets" }),
            "name is ann, allowed: a name that no live operator has".to_owned(),
        ),
        (
            "/markets/terms",
            named(json!({ "taker_delay_ms": 60_001 })),
            "taker_delay_ms is 60001, allowed: a number of milliseconds, 0 to 60000".to_owned(),
        ),
        (
            "/markets/terms",
            named(json!({ "rebate_ppm": 1_000_001 })),
            "rebate_ppm is 1000001, allowed: a number, 0 to 1000000".to_owned(),
        ),
        (
            "/markets/dispute",
            named(json!({})),
            format!("condition_id is {condition}, allowed: a market with a proposal"),
        ),
        (
            "/markets/finalise",
            named(json!({ "proposal": 7 })),
            "proposal is 7, allowed: none, the market has no proposal".to_owned(),
        ),
        (
            "/policy",
            json!({ "by_time": true }),
            "by_time is true, allowed: false while second_person is true".to_owned(),
        ),
        (
            "/markets/pause",
            named(json!({ "reason": format!("safe{direction}") })),
            "reason is ".to_owned(),
        ),
        (
            "/markets/describe",
            named(json!({ "question": format!("{direction}Q?") })),
            "question is ".to_owned(),
        ),
        (
            "/markets/describe",
            named(json!({ "tags": [format!("a{direction}")] })),
            "tags is ".to_owned(),
        ),
        (
            "/events",
            json!({ "title": format!("{direction}T") }),
            "title is ".to_owned(),
        ),
        (
            "/markets",
            json!({ "question": "Q?", "slug": "when", "end_date": "tomorrow" }),
            "end_date is 'tomorrow', allowed: an ISO 8601 time".to_owned(),
        ),
        (
            "/markets",
            json!({ "question": "Q?", "slug": "when", "end_date": "2020-02-30" }),
            "end_date is '2020-02-30', allowed: ".to_owned(),
        ),
        (
            "/markets",
            json!({ "question": "Q?", "slug": "when", "end_date": "2020-01-01" }),
            "end_date is 2020-01-01, allowed: after now".to_owned(),
        ),
        (
            "/markets",
            json!({ "question": "Q?", "slug": "when", "game_start_time": "tomorrow" }),
            "game_start_time is 'tomorrow', allowed: an ISO 8601 time".to_owned(),
        ),
        (
            "/markets/describe",
            named(json!({ "end_date": "soon" })),
            "end_date is 'soon', allowed: an ISO 8601 time".to_owned(),
        ),
        (
            "/markets/describe",
            named(json!({ "end_date": "2020-01-01 02:00:00+02" })),
            "end_date is 2020-01-01T00:00:00Z, allowed: after now; \"past_end\": true".to_owned(),
        ),
    ] {
        let refused = refused(exchange, path, &body).await;
        assert!(refused.starts_with(&text), "{path}: {refused}");
        assert!(
            !refused.contains(direction),
            "it is shown escaped: {refused}"
        );
    }
    proposals_out_of_bounds(exchange, &condition).await;
}

async fn proposals_out_of_bounds(exchange: &Exchange, condition: &str) {
    operator::done(
        exchange,
        "/markets/close",
        &json!({ "condition_id": condition }),
    )
    .await;
    let proposal = json!({ "condition_id": condition, "payout": "yes", "window_seconds": 0, "reference": "r1" });
    let text = refused(exchange, "/markets/propose", &proposal).await;
    assert_eq!(text, "window_seconds is 0, allowed: 1 to 2592000");
    let nobody = json!({ "condition_id": condition, "proposers": ["resolver"] });
    operator::done(exchange, "/policy", &nobody).await;
    let proposal = json!({ "condition_id": condition, "payout": "yes", "window_seconds": 9, "reference": "r2" });
    let text = refused(exchange, "/markets/propose", &proposal).await;
    assert_eq!(text, "role is admin, permitted by the policy: resolver");
    let archive = json!({ "condition_id": condition, "archived": true });
    operator::done(exchange, "/markets/archive", &archive).await;
}

/// The same registration is a repeat, also after commands changed what it named, and so is one of what is in
/// force by then. Other content under a known condition, slug or event id is refused with the first field that
/// differs.
pub(crate) async fn known_names(exchange: &Exchange) {
    let condition = format!("0x{}", "78".repeat(32));
    let market = json!({
        "condition_id": condition, "question": "Known?", "slug": "known", "activate": false,
        "fee": { "rate_ppm": 10_000, "exponent": 1 }, "taker_delay_ms": 400, "tags": ["Farming"],
    });
    let with = |of: &Value, field: &str, value: Value| {
        let mut body = of.clone();
        body[field] = value;
        body
    };
    operator::done(exchange, "/markets", &market).await;
    let group = json!({ "title": "Known group", "slug": "known-group" });
    operator::done(exchange, "/events", &group).await;
    for (path, body, text) in [
        (
            "/markets",
            with(&market, "tick_size", json!("0.001")),
            "tick_size is '0.001', the market of this slug or condition_id has '0.01'",
        ),
        (
            "/markets",
            with(&market, "fee", json!({ "rate_ppm": 20_000, "exponent": 1 })),
            "fee is '{\"rate_ppm\":20000,\"exponent\":1}', ",
        ),
        (
            "/markets",
            with(&market, "minimum_order_size", json!("7")),
            "minimum_order_size is '7', ",
        ),
        (
            "/markets",
            with(&market, "token_ids", json!(["71", "72"])),
            "token_ids is ",
        ),
        (
            "/markets",
            with(&market, "closes_at", json!(in_seconds(900))),
            "closes_at is ",
        ),
        (
            "/markets",
            with(&market, "taker_delay_ms", json!(0)),
            "taker_delay_ms is 0, the market of this slug or condition_id has 400",
        ),
        (
            "/markets",
            with(&market, "question", json!("Other?")),
            "question is 'Other?', the market of this slug or condition_id has 'Known?'",
        ),
        (
            "/markets",
            with(&market, "tags", json!([])),
            "tags is '[]', ",
        ),
        (
            "/events",
            with(&group, "title", json!("Other")),
            "title is 'Other', the event of this slug or event_id has 'Known group'",
        ),
        (
            "/events",
            with(&group, "description", json!("D")),
            "description is 'D', ",
        ),
        (
            "/markets",
            json!({ "question": "Q?", "slug": "known" }),
            "slug is known, allowed: an unused slug; market 0x7878",
        ),
    ] {
        let (status, answer) = operator::post(exchange, path, &body).await;
        let error = answer["error"].as_str().unwrap_or_default();
        assert!(
            status == 409 && error.starts_with(text),
            "{path} {body}: {answer}"
        );
    }
    let fee = json!({ "condition_id": condition, "rate_ppm": 30_000, "exponent": 1 });
    operator::done(exchange, "/markets/fee", &fee).await;
    let question = json!({ "condition_id": condition, "question": "Renamed?" });
    operator::done(exchange, "/markets/describe", &question).await;
    let renamed = with(&market, "question", json!("Renamed?"));
    let text = refused(exchange, "/markets", &renamed).await;
    assert!(text.starts_with("fee is "), "{text}");
    let fee = json!({ "rate_ppm": 30_000, "exponent": 1 });
    let in_force = with(&renamed, "fee", fee);
    for (path, body) in [
        ("/markets", &market),
        ("/markets", &in_force),
        ("/events", &group),
    ] {
        let again = operator::done(exchange, path, body).await;
        assert_eq!(again["duplicate"], true, "{path} {body}: {again}");
    }
    // A slug alone names its market, too.
    let own = json!({ "question": "By slug?", "slug": "by-slug", "activate": false });
    operator::done(exchange, "/markets", &own).await;
    let other = with(&own, "question", json!("Another?"));
    let text = refused(exchange, "/markets", &other).await;
    assert!(text.starts_with("question is 'Another?'"), "{text}");
}

/// A close in the past is refused, unless the market is registered closed.
pub(crate) async fn a_market_is_registered_closed(exchange: &Exchange, people: &People) {
    let past = "2026-01-02T03:04:05Z";
    let mut record = json!({ "question": "Did it?", "slug": "did-it", "closes_at": past });
    let refused = people.refused(
        "ann",
        &["market", "register", &people.file("past.json", &record)],
    );
    assert!(
        refused.contains("closes_at is 2026-01-02T03:04:05"),
        "{refused}"
    );
    record["closed"] = json!(true);
    record["opens_at"] = json!(in_seconds(60));
    let refused = people.refused(
        "ann",
        &["market", "register", &people.file("opens.json", &record)],
    );
    assert!(refused.contains("opens_at is "), "{refused}");
    record["opens_at"] = json!("");
    let file = people.file("closed.json", &record);
    let registered = people.done("ann", &["market", "register", &file]);
    assert_eq!(registered["status"], "closed", "{registered}");
    let again = people.done("ann", &["market", "register", &file]);
    assert_eq!(
        (&again["status"], &again["duplicate"]),
        (&json!("closed"), &json!(true)),
        "{again}"
    );
    let condition = registered["condition_id"].as_str().expect("an id");
    let row = market(exchange, condition).await;
    assert_eq!(
        row["endDate"].as_str().map(|end| &end[..19]),
        Some(&past[..19]),
        "{row}"
    );
    people.done("ann", &["market", "archive", condition]);
}

/// `/admin/` and `/admin/index.html` are the same page, which is not that of `/ui/`.
pub(crate) async fn the_page_has_one_address(exchange: &Exchange) {
    let page = async |path: &str| {
        let response = reqwest::get(format!("{}{path}", exchange.operator))
            .await
            .expect("an answer");
        assert_eq!(response.status(), 200, "{path}");
        response.text().await.expect("a text")
    };
    let home = page("/admin/").await;
    assert!(home.contains("Foretell: operators"), "{home}");
    assert_eq!(home, page("/admin/index.html").await);
}

/// Words and tags of an event group are in its list and in the catalog.
pub(crate) async fn a_group_has_words_and_tags(
    exchange: &Exchange,
    people: &People,
    (event, questions): (u64, &[String]),
) {
    let id = event.to_string();
    people.done(
        "admin",
        &[
            "market",
            "describe-event",
            &id,
            "--description",
            "By weight.",
            "--tag",
            "Grain",
        ],
    );
    let (_, rows) = operator::get(exchange, "/events?limit=1").await;
    let row = &rows["events"][0];
    assert_eq!(
        (&row["event_id"], &row["tags"]),
        (&json!(event), &json!(["Grain"])),
        "{row}"
    );
    assert_eq!(
        (&row["description"], &row["own"]),
        (&json!("By weight."), &json!(true)),
        "{row}"
    );
    assert_eq!(row["questions"], json!(questions), "{row}");
    let (_, record) = catalog(exchange, "/events/slug/which-crop-wins").await;
    let tags = record["tags"].as_array().expect("tags").iter();
    let labels: Vec<&Value> = tags.map(|tag| &tag["label"]).collect();
    assert_eq!(labels, ["Farming", "Grain"], "{record}");
    let (status, answer) = operator::get(exchange, "/events?limit=1001").await;
    assert_eq!(
        (status, &answer["error"]),
        (400, &json!("limit is '1001', allowed: 1 to 1000"))
    );
}

/// What is registered between two pages of a list moves no row of it, and the last page says that it is.
pub(crate) async fn pages_go_on_with_older_rows(exchange: &Exchange) {
    let add = async |name: &str| {
        let condition = format!("0x{:064x}", 0x9a9e_0000 + name.len());
        let market = json!({ "condition_id": condition, "question": format!("Paged {name}?"), "slug": format!("paged-{name}") });
        operator::done(exchange, "/markets", &market).await;
        let group = json!({ "title": format!("Paged {name}") });
        operator::done(exchange, "/events", &group).await;
        let wallet = format!("0x{:040x}", 0x9a9e_0000 + name.len());
        let money =
            json!({ "wallet": wallet, "amount": "1", "reference": format!("paged {name}") });
        operator::done(exchange, "/accounts/deposit", &money).await;
    };
    for name in ["a", "ab", "abc"] {
        add(name).await;
    }
    let lists = [
        ("/markets/figures?search=paged", "markets", "slug"),
        ("/events?own=true", "events", "title"),
        ("/accounts?wallet=0x00000000", "accounts", "wallet"),
    ];
    let mut pages = Vec::new();
    for (path, rows, name) in lists {
        let (_, page) = operator::get(exchange, &format!("{path}&limit=2")).await;
        pages.push((path, rows, name, page));
    }
    add("abcd").await;
    for (path, rows, name, first) in pages {
        let names = |page: &Value| -> Vec<String> {
            let rows = page[rows].as_array().expect("rows").iter();
            rows.map(|row| text_of(&row[name])).collect()
        };
        let mut shown = names(&first);
        assert_eq!(shown.len(), 2, "{path}: {first}");
        let mut next = first["next"].as_u64();
        while let Some(before) = next {
            let asked = format!("{path}&limit=2&before={before}");
            let (_, page) = operator::get(exchange, &asked).await;
            shown.extend(names(&page));
            next = page["next"].as_u64();
        }
        let (_, all) = operator::get(exchange, &format!("{path}&limit=500")).await;
        assert_eq!(all["next"], Value::Null, "{path}: {all}");
        assert_eq!(shown, names(&all)[1..], "{path}");
    }
    let (status, answer) = operator::get(exchange, "/accounts?before=4294967296").await;
    let text = "before is '4294967296', allowed: a number up to 4294967295";
    assert_eq!((status, &answer["error"]), (400, &json!(text)));
}

fn text_of(value: &Value) -> String {
    value.as_str().expect("a text").to_owned()
}

/// Rebates of a day by market and by wallet, and their payment in the wallet's activity.
pub(crate) async fn rebates_are_read(exchange: &Exchange, condition: &str, maker: &str) {
    let day = jiff::Timestamp::now().to_string()[..10].to_owned();
    let expected = json!([{ "condition_id": condition, "question": "Will the harvest be rich?", "rebates": "0.24" }]);
    for path in [
        format!("/rebates?date={day}"),
        format!("/rebates?date={day}&maker_address={maker}"),
    ] {
        let (status, totals) = operator::get(exchange, &path).await;
        assert_eq!(
            (status, &totals["total"]),
            (200, &json!("0.24")),
            "{totals}"
        );
        assert_eq!(totals["markets"], expected, "{path}");
    }
    let (_, totals) = operator::get(
        exchange,
        &format!("/rebates?date={day}&maker_address=0x{}", "1".repeat(40)),
    )
    .await;
    assert_eq!(
        (&totals["total"], &totals["markets"]),
        (&json!("0"), &json!([]))
    );
    let (status, answer) = operator::get(exchange, "/rebates?date=2020-01-01").await;
    assert_eq!(
        (status, &answer["code"]),
        (400, &json!("invalid_field")),
        "{answer}"
    );

    let read = async |path: &str| -> Value {
        let url = format!("{}{path}", exchange.data_surface);
        reqwest::get(url)
            .await
            .expect("an answer")
            .json()
            .await
            .expect("JSON")
    };
    let rows = read(&format!("/activity?user={maker}&type=MAKER_REBATE")).await;
    assert_eq!(rows.as_array().map(Vec::len), Some(1), "{rows}");
    let row = &rows[0];
    assert_eq!(
        (&row["size"], &row["usdcSize"]),
        (&json!(0.24), &json!(0.24)),
        "{row}"
    );
    assert_eq!(
        (&row["conditionId"], &row["type"]),
        (&json!(""), &json!("MAKER_REBATE")),
        "{row}"
    );
    let all = read(&format!("/activity?user={maker}")).await;
    assert_eq!(all[0], *row, "the newest act of the wallet");
    let rows = read(&format!(
        "/activity?user={maker}&market={condition}&type=MAKER_REBATE"
    ))
    .await;
    assert_eq!(rows, json!([]), "it is of no market");
    let rows = read(&format!("/v2/activity?user={maker}&type=MAKER_REBATE")).await;
    assert_eq!(rows["data"][0]["condition_id"], "", "{rows}");
}
