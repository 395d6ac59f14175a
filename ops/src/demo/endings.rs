//! What an operator ends of the sample: nobody else writes the demo's catalog, so this tells it, as an
//! upstream would.

use std::collections::HashMap;
use std::time::Duration;

use jiff::Timestamp;
use serde_json::{Value, json};
use tracing::warn;

use crate::catalog::put_records;
use crate::config::Config;
use crate::demo::sample::{self, Sample, SampleEvent};
use crate::failure::Failure;
use crate::operator::client::OperatorClient;
use crate::output::field;

/// Under which the catalog keeps its report of them.
const NAME: &str = "the sample's markets that ended";
/// Pause between two looks.
const PAUSE: Duration = Duration::from_secs(2);

/// Looks for them.
pub(super) struct Endings {
    config: Config,
    client: OperatorClient,
    sample: Sample,
    /// The status of each ended market that the catalog was told of, by condition id.
    told: HashMap<String, String>,
}

impl Endings {
    /// Those of the exchange of these settings.
    pub(super) fn new(config: &Config) -> Result<Self, Failure> {
        Ok(Self {
            config: config.clone(),
            client: OperatorClient::new(config)?,
            sample: Sample::load()?,
            told: HashMap::new(),
        })
    }

    /// Looks for ever.
    pub(super) async fn follow(mut self) {
        loop {
            if let Err(failure) = self.look().await {
                warn!("the catalog is not told what ended: {failure}");
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    async fn look(&mut self) -> Result<(), Failure> {
        let listed = self.client.get("/markets").await?;
        let rows = listed["markets"].as_array().into_iter().flatten();
        let ended: HashMap<String, String> = rows
            .map(|row| (field(row, "conditionId"), field(row, "status")))
            .filter(|(_, status)| matches!(status.as_str(), "closed" | "resolved"))
            .collect();
        for event in &self.sample.events {
            let conditions = event.markets.iter().map(|market| market.condition_id());
            let ended: HashMap<_, _> = conditions
                .filter_map(|condition| ended.get_key_value(&condition))
                .collect();
            if ended
                .iter()
                .any(|(condition, status)| self.told.get(*condition) != Some(*status))
            {
                let record = self.record(event, &ended).await?;
                put_records(&self.config, NAME, json!([record]).to_string().as_bytes())?;
                let told = ended.into_iter();
                self.told
                    .extend(told.map(|(condition, status)| (condition.clone(), status.clone())));
            }
        }
        Ok(())
    }

    /// An event of which some markets have ended.
    async fn record(
        &self,
        event: &SampleEvent,
        ended: &HashMap<&String, &String>,
    ) -> Result<Value, Failure> {
        let mut record = event.record(&self.sample.labels());
        // To the microsecond: a change of the same moment as the one before would be passed over.
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
            if status.as_str() == "resolved" {
                let shown = self.client.get(&format!("/markets/{condition}")).await?;
                sample::resolve(record, &outcome_prices(&shown));
            } else {
                sample::close(record);
            }
        }
        Ok(record)
    }
}

/// What each outcome pays, as the catalog writes it.
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
