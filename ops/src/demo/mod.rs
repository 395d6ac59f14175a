//! `up --demo`: a sample of markets, funded development wallets, bots that keep books alive.

pub mod bots;
pub mod greeting;
pub mod quotes;
pub mod sample;
mod summary;
pub mod wallets;

use serde_json::json;

use crate::failure::Failure;
use crate::operator::client::OperatorClient;
use greeting::Greeting;
use sample::{Sample, SampleEvent, SampleMarket};
use wallets::{BOTS, VISITORS};

/// Collateral of each visitor's wallet.
const VISITOR_FUNDS: &str = "10000";
/// Collateral of each bot's wallet.
const BOT_FUNDS: &str = "5000000";

/// Registers the sample and funds the wallets through the operator's surface. Every step is safe to
/// repeat, so a second start of the same data directory changes nothing. `command` starts this
/// program against this exchange.
///
/// # Errors
/// The operator's surface refuses a step.
pub async fn prepare(
    client: &OperatorClient,
    trading: &str,
    command: String,
) -> Result<Greeting, Failure> {
    let sample = Sample::load()?;
    for event in &sample.events {
        if event.neg_risk {
            client.post("/events", &event_body(event)).await?;
        }
        // A list of questions is final once the first of them is open: all are there before one is.
        for activate in [false, true] {
            for market in &event.markets {
                let body = market_body(event, market, activate);
                client.post("/markets", &body).await?;
            }
        }
    }
    for (wallets, amount) in [(&VISITORS[..], VISITOR_FUNDS), (&BOTS[..], BOT_FUNDS)] {
        for wallet in wallets {
            let reference = format!("demo-{}", wallet.address);
            let body =
                json!({ "wallet": wallet.address, "amount": amount, "reference": reference });
            client.post("/accounts/deposit", &body).await?;
        }
    }
    let shown = sample.events.last().and_then(|event| event.markets.first());
    let shown = shown.ok_or_else(|| Failure::new("the sample is empty"))?;
    let [token, _] = shown.token_ids();
    Ok(Greeting {
        trading: trading.to_owned(),
        operator: client.base().to_owned(),
        wallet: VISITORS[0],
        funded: VISITOR_FUNDS.to_owned(),
        markets: sample.events.iter().map(|event| event.markets.len()).sum(),
        question: shown.question.clone(),
        token,
        command,
    })
}

fn event_body(event: &SampleEvent) -> serde_json::Value {
    json!({
        "event_id": event.id,
        "title": event.title,
        "slug": event.slug,
        "description": event.description,
    })
}

fn market_body(event: &SampleEvent, market: &SampleMarket, activate: bool) -> serde_json::Value {
    let mut body = json!({
        "condition_id": market.condition_id(),
        "token_ids": market.token_ids(),
        "outcomes": market.outcomes,
        "question": market.question,
        "description": market.description,
        "slug": market.slug,
        "end_date": market.end_date,
        "event": { "id": event.id, "slug": event.slug, "title": event.title },
        "tick_size": market.tick,
        "minimum_order_size": market.minimum_size.to_string(),
        "fee": { "rate_ppm": market.fee_rate_ppm, "exponent": market.fee_exponent },
        "activate": activate,
    });
    if event.neg_risk {
        body["event_id"] = json!(event.id);
    }
    body
}
