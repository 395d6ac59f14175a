//! Account actions other than trading (split, merge, redeem, convert), over real processes and with
//! stock signing (docs/verify/rules.md §10, §11, docs/api/positions.md).

mod answers;
mod refusals;
mod retries;
mod wallets;

use foretell_ops::demo::sample::SampleMarket;
use foretell_ops::trader::{Answer, Sets, Trader};
use foretell_tests::exchange::Exchange;
use foretell_tests::operator;
use reqwest::Method;
use serde_json::{Value, json};

/// The JSON of a response that must be 200.
fn ok(answer: Result<Answer, foretell_ops::failure::Failure>) -> Value {
    let (status, answer) = answer.expect("an answer");
    assert_eq!(status, 200, "{answer}");
    answer
}

fn sets<'a>(condition: &'a str, lots: u64, reference: &'a str) -> Sets<'a> {
    Sets {
        condition,
        lots,
        reference,
    }
}

/// Free micros of collateral, or of a token, in a wallet of this signature type.
async fn balance(trader: &Trader, token: Option<&str>, signature_type: u8) -> u64 {
    let asset = match token {
        None => "COLLATERAL".to_owned(),
        Some(token) => format!("CONDITIONAL&token_id={token}"),
    };
    let query = format!("?asset_type={asset}&signature_type={signature_type}");
    let path = "/balance-allowance";
    let answer = ok(trader.signed(Method::GET, path, &query, "").await);
    let text = answer["available"].as_str().expect("a text");
    text.parse().expect("micros")
}

/// Free micros of a market's two tokens, of the signer's own wallet.
async fn shares(trader: &Trader, market: &SampleMarket) -> [u64; 2] {
    let [yes, no] = market.token_ids();
    [
        balance(trader, Some(&yes), 0).await,
        balance(trader, Some(&no), 0).await,
    ]
}

/// Waits until the settlement of a market paid a wallet.
async fn settled(trader: &Trader, market: &SampleMarket) {
    let deadline = std::time::Instant::now() + foretell_tests::exchange::PATIENCE;
    while shares(trader, market).await != [0; 2] {
        assert!(std::time::Instant::now() < deadline, "not settled in time");
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
}

/// Closes a market and resolves it.
async fn resolve(exchange: &Exchange, condition: &str, payout: &str) {
    let named = json!({ "condition_id": condition });
    operator::done(exchange, "/markets/close", &named).await;
    let resolution = json!({ "condition_id": condition, "payout": payout });
    operator::done(exchange, "/markets/resolve", &resolution).await;
}
