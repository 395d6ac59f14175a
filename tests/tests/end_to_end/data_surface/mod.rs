//! The data surface of real processes: the data of a trade of two visitors, access, and bad input.

mod bad_input;
mod family;
mod profiles;

use foretell_model::Side;
use foretell_ops::demo::sample::{Sample, SampleMarket};
use foretell_ops::demo::wallets::VISITORS;
use foretell_ops::trader::{Terms, Trader, token};
use foretell_tests::exchange::{Exchange, Options, check_error_code};
use foretell_tests::operator;
use reqwest::{Client, RequestBuilder};
use serde_json::{Value, json};

const BINARY: &str = env!("CARGO_BIN_EXE_foretell-under-test");
/// A market at tick 0.01 without a fee.
const MARKET: &str = "hottest-year-2027";

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Runtime::new().expect("a runtime")
}

/// That market.
fn market() -> SampleMarket {
    let sample = Sample::load().expect("the sample");
    let mut markets = sample.events.into_iter().flat_map(|event| event.markets);
    let market = markets.find(|market| market.slug == MARKET);
    market.expect("the market")
}

fn get(exchange: &Exchange, path: &str) -> RequestBuilder {
    Client::new().get(format!("{}{path}", exchange.data_surface))
}

/// Status and JSON; every response names its state.
async fn send(request: RequestBuilder) -> (u16, Value) {
    let answer = request.send().await.expect("an answer");
    check_error_code(&answer);
    let status = answer.status().as_u16();
    for name in ["x-sequence", "x-epoch"] {
        assert!(answer.headers().contains_key(name), "{status}: no {name}");
    }
    (status, answer.json().await.expect("JSON"))
}

/// Buys an outcome of a market.
async fn buy(trader: &Trader, id: &str, lots: u64, price: u16) {
    let terms = Terms::limit(token(id).expect("a token"), false, Side::Buy, lots, price);
    let order = trader.sign(&terms).expect("a signature");
    let (status, answer) = trader.place(&order).await.expect("an answer");
    assert_eq!(status, 200, "{answer}");
}

/// The first visitor buys 10 Yes of a market at 0.60, the second 10 No at 0.40.
async fn mint(exchange: &Exchange, market: &SampleMarket) {
    let [yes, no] = market.token_ids();
    for (visitor, id, price) in [(0, &yes, 6_000), (1, &no, 4_000)] {
        let key = VISITORS[visitor].private_key;
        let trader = Trader::connect(&exchange.trading, key, 0).await;
        buy(&trader.expect("a key"), id, 1_000, price).await;
    }
}

#[test]
fn a_trade_shows_everywhere_as_soon_as_it_is_told() {
    let exchange = Exchange::start(BINARY, &Options::demo());
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
    let exchange = Exchange::start(BINARY, &options);
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
