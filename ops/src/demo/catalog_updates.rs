//! Updates the demo's catalog when an operator closes or resolves sample markets. The sample has no
//! upstream that would do so.

use std::collections::HashMap;
use std::time::Duration;

use foretell_model::MarketState;
use foretell_operator_client::OperatorClient;
use jiff::Timestamp;
use serde_json::{Value, json};
use tracing::warn;

use crate::catalog::put_records;
use crate::config::Config;
use crate::demo::sample::{self, Sample, SampleEvent};
use crate::failure::Failure;
use crate::operator::client;

/// Report name of these updates in the catalog.
const NAME: &str = "the sample's markets that ended";
/// Poll interval.
const PAUSE: Duration = Duration::from_secs(2);

/// Polls the exchange for ended sample markets.
pub(super) struct CatalogUpdates {
    config: Config,
    client: OperatorClient,
    sample: Sample,
    /// Status last written to the catalog, by condition id.
    written: HashMap<String, MarketState>,
}

impl CatalogUpdates {
    /// Connects to the exchange of these settings.
    pub(super) fn new(config: &Config) -> Result<Self, Failure> {
        Ok(Self {
            config: config.clone(),
            client: client::connect_to(config.operator.listen, config)?,
            sample: Sample::open()?,
            written: HashMap::new(),
        })
    }

    /// Polls forever.
    pub(super) async fn follow(mut self) {
        loop {
            if let Err(failure) = self.poll().await {
                warn!("cannot write ended markets to the catalog: {failure}");
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    async fn poll(&mut self) -> Result<(), Failure> {
        let rows = self.client.markets("").await?.into_iter();
        let ended: HashMap<String, MarketState> = rows
            .map(|row| (row.condition_id.to_string(), row.status))
            .filter(|(_, status)| matches!(status, MarketState::Closed | MarketState::Resolved))
            .collect();
        for event in &self.sample.events {
            let conditions = event.markets.iter().map(|market| market.condition_id());
            let ended: HashMap<_, _> = conditions
                .filter_map(|condition| ended.get_key_value(&condition))
                .collect();
            if ended
                .iter()
                .any(|(condition, status)| self.written.get(*condition) != Some(*status))
            {
                let record = self.record(event, &ended).await?;
                put_records(&self.config, NAME, json!([record]).to_string().as_bytes())?;
                let told = ended.into_iter();
                self.written
                    .extend(told.map(|(condition, status)| (condition.clone(), *status)));
            }
        }
        Ok(())
    }

    /// Catalog record of an event with its ended markets.
    async fn record(
        &self,
        event: &SampleEvent,
        ended: &HashMap<&String, &MarketState>,
    ) -> Result<Value, Failure> {
        let mut record = event.record(&self.sample.labels());
        // Microseconds: the catalog ignores a record that is not newer than the previous one.
        let now = Timestamp::now().to_string();
        record["updatedAt"] = now.as_str().into();
        record["closed"] = (ended.len() == event.markets.len()).into();
        for (market, place) in event.markets.iter().zip(0_usize..) {
            let condition = market.condition_id();
            let Some(status) = ended.get(&condition) else {
                continue;
            };
            let record = &mut record["markets"][place];
            record["updatedAt"] = now.as_str().into();
            if **status == MarketState::Resolved {
                let shown: Value = self.client.get(&format!("/markets/{condition}")).await?;
                sample::resolve(record, &outcome_prices(&shown));
            } else {
                sample::close(record);
            }
        }
        Ok(record)
    }
}

/// Payouts of the outcomes in the catalog's format.
fn outcome_prices(market: &Value) -> String {
    let tokens = market["tokens"].as_array().into_iter().flatten();
    let prices: Vec<String> = tokens.map(|token| token["price"].to_string()).collect();
    json!(prices).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outcome_prices_are_texts_in_a_text() {
        let pays = |prices: [Value; 2]| {
            outcome_prices(&json!({ "tokens": prices.map(|price| json!({ "price": price })) }))
        };
        assert_eq!(pays([json!(1), json!(0)]), r#"["1","0"]"#);
        assert_eq!(pays([json!(0.5), json!(0.5)]), r#"["0.5","0.5"]"#);
    }
}
