//! `market close` and `market resolve`.

use foretell_ops::demo::wallets::VISITORS;
use foretell_tests::demo::{buy, neg_risk_event, plain_markets, visitor};
use foretell_tests::exchange::Exchange;
use foretell_tests::operator;
use serde_json::{Value, json};

use crate::end_to_end::operator_cli::{foretell, plain};

async fn state(exchange: &Exchange, condition: &str) -> Value {
    let (status, market) = operator::get(exchange, &format!("/markets/{condition}")).await;
    assert_eq!(status, 200, "{market}");
    market["status"].clone()
}

#[tokio::test]
async fn one_market_is_closed_and_resolved_by_id_or_slug_and_again() {
    let exchange = Exchange::demo();
    let (slug, condition) = &plain()[0];
    let closed = format!("{condition}  {slug}  closed");
    let run = |arguments: &[&str]| foretell(&exchange, arguments, "").printed();
    assert_eq!(run(&["market", "close", slug]), format!("{closed}\n"));
    assert_eq!(state(&exchange, condition).await, "closed");
    let upper = condition.to_uppercase().replace("0X", "0x");
    let again = format!("{closed}, nothing to do\n");
    assert_eq!(run(&["market", "close", &upper]), again);
    let resolved = format!("{condition}  {slug}  resolved half");
    assert_eq!(
        run(&["market", "resolve", condition, "half"]),
        format!("{resolved}\n")
    );
    assert_eq!(state(&exchange, condition).await, "resolved");
    let again = format!("{resolved}, nothing to do\n");
    assert_eq!(run(&["market", "resolve", slug, "half"]), again);
    // Closing a resolved market succeeds without effect.
    assert_eq!(
        run(&["market", "close", slug]),
        format!("{closed}, nothing to do\n")
    );

    let other = foretell(&exchange, &["market", "resolve", slug, "yes"], "");
    assert_eq!((other.code, other.out.as_str()), (Some(3), ""));
    assert!(other.err.contains("it is: resolved (409)"), "{}", other.err);
    assert!(exchange.stop().success());
}

#[tokio::test]
async fn an_open_market_is_closed_first_and_its_orders_end() {
    let exchange = Exchange::demo();
    let trader = visitor(&exchange, 0).await;
    let market = &plain_markets()[0];
    let [yes, _] = market.token_ids();
    for cents in 1..=30 {
        buy(&trader, &yes, 500, cents * 100).await;
    }
    let run = foretell(
        &exchange,
        &["--json", "market", "resolve", &market.slug, "yes"],
        "",
    );
    let condition = market.condition_id();
    let expected = json!({
        "condition_id": condition, "slug": market.slug,
        "status": "resolved", "outcome": "Yes", "changed": true,
    });
    assert_eq!((run.code, run.json()), (Some(0), vec![expected]));
    let (_, account) =
        operator::get(&exchange, &format!("/accounts/{}", VISITORS[0].address)).await;
    assert_eq!(
        (&account["live_orders"], &account["reserved"]),
        (&json!(0), &json!("0"))
    );
    assert!(exchange.stop().success());
}

#[tokio::test]
async fn a_file_ends_many_and_may_be_run_again() {
    let exchange = Exchange::demo();
    let plain = plain();
    let event = neg_risk_event();
    // A word in another column decides nothing.
    let mut file = String::from("market,note,outcome\n");
    for ((slug, condition), payout) in plain.iter().zip(["yes", "no", "half", "yes"]) {
        // Alternate between slug and id.
        let name = if payout == "no" { condition } else { slug };
        file.push_str(&format!("{name},\"checked by A, No, doubt\",{payout}\n"));
    }
    // The winning question is the last one: the others may lose before it wins.
    for market in event.markets.iter().skip(1) {
        file.push_str(&format!("{},,no\n", market.slug));
    }
    file.push_str(&format!("{},,yes\n", event.markets[0].slug));
    let lines = file.lines().count() - 1;

    let closing = foretell(&exchange, &["market", "close", "--file", "-"], &file);
    assert_eq!(closing.printed().lines().count(), lines);
    for changed in [true, false] {
        let run = foretell(
            &exchange,
            &["market", "resolve", "--file", "-", "--json"],
            &file,
        );
        let rows = run.json();
        assert_eq!((run.code, rows.len()), (Some(0), lines), "{}", run.err);
        for (row, line) in rows.iter().zip(file.lines().skip(1)) {
            let named = line.rsplit(',').next().map(str::to_owned);
            let paid = row["outcome"].as_str().map(str::to_lowercase);
            assert_eq!(paid, named, "{line}");
            assert_eq!(
                (&row["status"], &row["changed"]),
                (&json!("resolved"), &json!(changed))
            );
        }
    }
    for (_, condition) in plain.iter().take(4) {
        assert_eq!(state(&exchange, condition).await, "resolved");
    }

    // Some items new, some rejected, as lines of JSON from a file.
    let path = exchange.data().join("more.jsonl");
    let second = event.markets[1].slug.clone();
    let more = format!(
        "{{\"slug\":\"{}\",\"outcome\":\"no\"}}\n{{\"slug\":\"{second}\",\"outcome\":\"yes\"}}\n",
        plain[4].0
    );
    std::fs::write(&path, more).expect("a file");
    let file = path.to_str().expect("UTF-8");
    let run = foretell(&exchange, &["market", "resolve", "--file", file], "");
    assert_eq!(run.code, Some(3));
    assert_eq!(
        run.out,
        format!("{}  {}  resolved No\n", plain[4].1, plain[4].0)
    );
    assert!(run.err.contains("(409)"), "{}", run.err);
    assert!(
        run.err.contains("1 of 2 markets were rejected"),
        "{}",
        run.err
    );
    assert!(exchange.stop().success());
}

#[tokio::test]
async fn nothing_is_done_when_any_line_is_wrong() {
    let exchange = Exchange::demo();
    let plain = plain();
    let (good, condition) = &plain[0];
    let event = neg_risk_event();
    let before = operator::sequence(&exchange).await;
    let half = format!("{},half\n", event.markets[0].slug);
    for (rows, text) in [
        (
            format!("{good},yes\nno-such-market,no\n"),
            "line 3: \"no-such-market\": no such market",
        ),
        (format!("{good},yes\n{condition},no\n"), "it is named twice"),
        (
            format!("{good},yes\n{good},perhaps\n"),
            "outcome is 'perhaps', allowed: first ('Yes'), second ('No'), half or outside",
        ),
        (
            format!("{good},yes\n{},\n", plain[1].0),
            "no outcome is named",
        ),
        (half, "half pays in plain markets only"),
        (
            format!("{good},checked by A, No, doubt,yes\n"),
            "line 2: 5 cells, allowed: 2",
        ),
        (String::new(), "it names no market"),
        ("\u{0},no".to_owned(), "\"\\0\": no such market"),
    ] {
        let file = format!("market,outcome\n{rows}");
        let run = foretell(&exchange, &["market", "resolve", "--file", "-"], &file);
        assert_eq!(
            (run.code, run.out.as_str()),
            (Some(1), ""),
            "{file:?}: {}",
            run.err
        );
        assert!(run.err.contains(text), "{file:?}: {}", run.err);
        assert!(
            run.err.contains("nothing was done"),
            "{file:?}: {}",
            run.err
        );
    }
    // Not even by a command that needs no outcome.
    for (command, header) in [("resolve", "market,result"), ("close", "name,outcome")] {
        let file = format!("{header}\n{good},yes\n");
        let run = foretell(&exchange, &["market", command, "--file", "-"], &file);
        let is_named = run.err.contains(&format!(
            "the columns are \"{}\"",
            header.replace(',', ", ")
        ));
        assert!(run.code == Some(1) && is_named, "{}", run.err);
    }
    assert_eq!(operator::sequence(&exchange).await, before);
    assert!(exchange.stop().success());
}

#[tokio::test]
async fn a_word_that_labels_and_places_read_differently_pays_nobody() {
    let exchange = Exchange::demo();
    let body = json!({
        "question": "Will it fail?", "slug": "will-it-fail", "outcomes": ["No", "Yes"], "activate": false,
    });
    let made = operator::done(&exchange, "/markets", &body).await;
    let condition = made["condition_id"].as_str().expect("a condition");
    let named = "first ('No'), second ('Yes'), half or outside; by label it is the second outcome, by place the first";
    let refused = foretell(&exchange, &["market", "resolve", "will-it-fail", "yes"], "");
    assert_eq!((refused.code, refused.out.as_str()), (Some(1), ""));
    assert!(refused.err.contains(named), "{}", refused.err);
    assert_eq!(state(&exchange, condition).await, "registered");
    let close = json!({ "condition_id": condition });
    operator::done(&exchange, "/markets/close", &close).await;
    let body =
        |payout: &str| json!({ "condition_id": condition, "payout": payout, "reference": "r" });
    for path in ["/markets/resolve", "/markets/propose"] {
        let mut body = body("yes");
        if path == "/markets/resolve" {
            body.as_object_mut().expect("an object").remove("reference");
        }
        let (status, answer) = operator::post(&exchange, path, &body).await;
        assert_eq!((status, &answer["code"]), (400, &json!("invalid_field")));
        let text = format!("payout is 'yes', allowed: {named}");
        assert_eq!(answer["error"], json!(text));
    }
    let proposed = operator::done(&exchange, "/markets/propose", &body("second")).await;
    assert_eq!(proposed["outcome"], "Yes", "{proposed}");
    let dispute = json!({ "condition_id": condition, "counter": "first", "reason": "it held" });
    let disputed = operator::done(&exchange, "/markets/dispute", &dispute).await;
    assert_eq!(disputed["outcome"], "No", "{disputed}");
    let review = foretell(&exchange, &["market", "review"], "").printed();
    assert!(review.contains("by admin, No"), "{review}");

    // The proposal is disputed: only a payout that names it takes its place.
    let refused = foretell(&exchange, &["market", "resolve", condition, "first"], "");
    assert_eq!(refused.code, Some(3), "{}", refused.err);
    let number = proposed["sequence"].to_string();
    let text = format!("proposal {number} is disputed, allowed: \"proposal\": {number}");
    assert!(refused.err.contains(&text), "{}", refused.err);
    let arguments = [
        "market",
        "resolve",
        condition,
        "FIRST",
        "--proposal",
        &number,
    ];
    let printed = foretell(&exchange, &arguments, "").printed();
    assert_eq!(printed, format!("{condition}  will-it-fail  resolved No\n"));
    assert!(exchange.stop().success());
}
