//! The data surface of real processes: the data of a trade of two visitors, access, and bad input.

mod bad_input;
mod family;
mod profiles;

use foretell_ops::demo::sample::SampleMarket;
use foretell_ops::demo::wallets::VISITORS;
use foretell_tests::demo::{MARKET, buy, market, send, visitor};
use foretell_tests::exchange::{Exchange, Options};
use foretell_tests::operator;
use reqwest::{Client, RequestBuilder};
use serde_json::{Value, json};

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Runtime::new().expect("a runtime")
}

fn get(exchange: &Exchange, path: &str) -> RequestBuilder {
    Client::new().get(format!("{}{path}", exchange.data_surface))
}

/// The first visitor buys 10 Yes of a market at 0.60, the second 10 No at 0.40.
async fn mint(exchange: &Exchange, market: &SampleMarket) {
    let [yes, no] = market.token_ids();
    for (number, id, price) in [(0, &yes, 6_000), (1, &no, 4_000)] {
        let trader = visitor(exchange, number).await;
        buy(&trader, id, 1_000, price).await;
    }
}

#[test]
fn a_trade_shows_everywhere_as_soon_as_it_is_told() {
    let exchange = Exchange::demo();
    runtime().block_on(async {
        let market = market();
        mint(&exchange, &market).await;
        shows(&exchange, &market.condition_id(), &market.question).await;
    });
    assert!(exchange.stop().success());
}

/// The second visitor took 10 No at 0.40 from the first, who paid 0.60 for Yes.
async fn shows(exchange: &Exchange, condition: &str, question: &str) {
    let sequence = operator::sequence(exchange).await;
    let ask = async |path: String| {
        let request = get(exchange, &path).header("x-min-sequence", sequence);
        let (status, answer) = send(request).await;
        assert_eq!(status, 200, "{path}: {answer}");
        answer
    };
    let [maker, taker] = [0, 1].map(|visitor| VISITORS[visitor].address.to_lowercase());
    let fills = ask(format!("/trades?market={condition}&takerOnly=false")).await;
    let shown = |row: &Value| {
        let name = |name: &str| row[name].clone();
        json!([
            name("proxyWallet"),
            name("side"),
            name("outcomeIndex"),
            name("price")
        ])
    };
    let expected = [json!([taker, "BUY", 1, 0.4]), json!([maker, "BUY", 0, 0.6])];
    let fills: Vec<&Value> = fills.as_array().expect("rows").iter().collect();
    assert_eq!(
        fills.iter().map(|row| shown(row)).collect::<Vec<_>>(),
        expected
    );
    assert!(
        fills
            .iter()
            .all(|row| row["title"] == question && row["slug"] == MARKET)
    );
    let receipt = fills[0]["transactionHash"].as_str().expect("text");
    assert!(receipt.len() == 66 && receipt != format!("0x{}", "0".repeat(64)));

    let held = ask(format!("/positions?user={maker}")).await;
    assert_eq!(
        (&held[0]["size"], &held[0]["initialValue"]),
        (&json!(10), &json!(6))
    );
    let holders = ask(format!("/holders?market={condition}")).await;
    assert_eq!(holders[1]["holders"][0]["proxyWallet"], taker);
    assert_eq!(holders[1]["holders"][0]["amount"], 10);
    let traded = ask(format!("/traded?user={taker}")).await;
    assert_eq!(traded, json!({ "user": taker, "traded": 1 }));
    let locked = ask(format!("/oi?market={condition}")).await;
    assert_eq!(locked, json!([{ "market": condition, "value": 10 }]));
    // In mixed case it is the same wallet.
    let activity = ask(format!("/activity?user=0x{}", maker[2..].to_uppercase())).await;
    assert_eq!(activity[0]["type"], "TRADE");
}

#[test]
fn who_is_not_on_the_list_is_told_so_whatever_it_says_of_itself() {
    let only = r#"["192.0.2.0/24"]"#;
    let options = Options::demo().with("FORETELL_GATEWAY_DATA_ALLOWLIST", only);
    let exchange = Exchange::start(&options);
    let refused = json!({ "error": "unauthorized: ip_not_allowlisted" });
    runtime().block_on(async {
        for forwarded in [
            &[][..],
            &["192.0.2.7"],
            &["192.0.2.7", "192.0.2.8"],
            &["::ffff:192.0.2.7"],
        ] {
            for path in ["/trades", "/nowhere"] {
                let mut request = get(&exchange, path);
                for hop in forwarded {
                    request = request.header("x-forwarded-for", *hop);
                }
                assert_eq!(send(request).await, (401, refused.clone()), "{forwarded:?}");
            }
        }
    });
    assert!(exchange.stop().success());
}
