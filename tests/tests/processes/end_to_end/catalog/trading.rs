//! A file is imported, and a client trades its markets.

use foretell_model::Side;
use foretell_ops::trader::{Terms, Trader, token};
use foretell_tests::demo::visitors;
use foretell_tests::exchange::Exchange;
use serde_json::{Value, json};

use crate::end_to_end::catalog::upstream::event;
use crate::end_to_end::catalog::{foretell, get, run, runtime};

/// A file of two events: one plain, one neg-risk with a question that has ended.
fn file() -> Value {
    let mut plain = event(7, false, 2, 10);
    plain["markets"][1]["outcomes"] = "[\"A\", \"B\", \"C\"]".into();
    plain["markets"][0]["orderPriceMinTickSize"] = json!(0.001);
    let mut neg_risk = event(8, true, 4, 10);
    // Answered No before: it cannot win any more, so the event may open without it.
    let lost = &mut neg_risk["markets"][3];
    lost["closed"] = true.into();
    lost["umaResolutionStatus"] = "resolved".into();
    lost["outcomePrices"] = "[\"0\", \"1\"]".into();
    json!([plain, neg_risk])
}

#[test]
fn an_imported_market_is_listed_read_and_traded() {
    let exchange = Exchange::demo();
    let path = exchange.data().join("records.json");
    std::fs::write(&path, file().to_string()).expect("a file");
    let name = path.to_str().expect("UTF-8");

    let (ok, printed) = run(&exchange, &["catalog", "import", name]);
    assert!(ok, "{printed}");
    assert_eq!(printed["exchange"]["found"]["not tradable"], 2, "{printed}");
    // The catalog-sync process of `up` may have been faster with the commands: only the end state
    // counts.
    let (agrees, found) = run(&exchange, &["catalog", "check"]);
    assert!(agrees, "{found}");
    let (ok, again) = run(&exchange, &["catalog", "import", name]);
    assert!(ok);
    assert_eq!(again["exchange"]["commands"], json!({}), "{again}");
    assert_eq!(
        again["catalog"]["records"]["markets"]["unchanged"], 6,
        "{again}"
    );

    // Of a text without records nothing can be read.
    std::fs::write(&path, "[]").expect("a file");
    let refused = foretell(&exchange, &["catalog", "import", name]).output();
    let refused = refused.expect("the binary starts");
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(
        !refused.status.success() && said.contains("no record"),
        "{said}"
    );

    runtime().block_on(trade(&exchange));
}

async fn trade(exchange: &Exchange) {
    let condition = format!("0x{:064x}", 700);
    let (_, market) = get(&format!("{}/markets/{condition}", exchange.trading), None).await;
    assert_eq!(market["question"], "Question 700?");
    assert_eq!(market["event"]["title"], "Event 7");
    assert_eq!(market["raw_metadata"]["orderMinSize"].to_string(), "5");
    let yes = market["tokens"][0]["token_id"].as_str().expect("a token");
    assert_eq!(yes, "700001");
    let (_, tick) = get(
        &format!("{}/tick-size?token_id={yes}", exchange.trading),
        None,
    )
    .await;
    assert_eq!(tick["minimum_tick_size"].to_string(), "0.001");

    let traders = visitors(exchange, 2).await;
    cross(&traders, ["700001", "700002"], (false, 4_550)).await;
    let (_, last) = get(
        &format!("{}/last-trade-price?token_id=700001", exchange.trading),
        None,
    )
    .await;
    assert_eq!(last["price"], "0.455");
}

/// Two traders buy ten shares of the two sides of a market, of a neg-risk event or not: one pays
/// `price`, in 0.0001, the other the rest of 1.
pub(crate) async fn cross(traders: &[Trader], tokens: [&str; 2], (neg_risk, price): (bool, u16)) {
    let [yes, no] = tokens.map(|text| token(text).expect("a token"));
    for (trader, token, price) in [(&traders[0], yes, price), (&traders[1], no, 10_000 - price)] {
        let terms = Terms::limit(token, neg_risk, Side::Buy, 1_000, price);
        let (status, answer) = trader
            .place(&trader.sign(&terms).expect("signed"))
            .await
            .expect("answered");
        assert_eq!(status, 200, "{answer}");
    }
}
