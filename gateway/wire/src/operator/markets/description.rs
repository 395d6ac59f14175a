//! Descriptions: JSON that the journal stores as evidence with a registration. Views and gateways
//! read it, the core does not. Fields may be added, but no field may change its meaning.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use foretell_model::limits::{MAX_EVIDENCE_BYTES, MAX_REASON_CHARS, OWN_CATALOG_IDS};
use foretell_model::words;

use crate::errors::api_error::ApiError;
use crate::errors::error_code::ErrorCode;

/// Ids that an exchange generates for operators' own markets, event groups and tags begin here.
pub const OWN_IDS: u64 = OWN_CATALOG_IDS;

/// Most bytes of a description: the reason of the operator's act stands before it.
const MAX_DESCRIPTION_BYTES: usize = MAX_EVIDENCE_BYTES - 2 - 4 * MAX_REASON_CHARS;

/// The texts of a market.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct MarketDescription {
    /// The question.
    pub question: String,
    /// The resolution rules.
    pub description: String,
    /// Its name in URLs.
    pub slug: String,
    /// Labels of `[Yes, No]`.
    pub outcomes: [String; 2],
    /// URL.
    pub icon: String,
    /// URL.
    pub image: String,
    /// A category word.
    pub category: String,
    /// Labels.
    pub tags: Vec<String>,
    /// ISO 8601.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end_date: Option<String>,
    /// ISO 8601.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub game_start_time: Option<String>,
    /// The source that decides the answer.
    pub resolution_source: String,
    /// The upstream's id of the question.
    pub question_id: String,
    /// The catalog's id of the market; 0 = none.
    pub market_id: u64,
    /// The upstream's neg-risk ids.
    pub neg_risk_market_id: String,
    /// The upstream's neg-risk ids.
    pub neg_risk_request_id: String,
    /// Its event group, neg-risk or not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event: Option<EventSummary>,
    /// The unchanged upstream record.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub raw_metadata: Map<String, Value>,
}

impl Default for MarketDescription {
    fn default() -> Self {
        Self {
            question: String::new(),
            description: String::new(),
            slug: String::new(),
            outcomes: ["Yes".to_owned(), "No".to_owned()],
            icon: String::new(),
            image: String::new(),
            category: String::new(),
            tags: Vec::new(),
            end_date: None,
            game_start_time: None,
            resolution_source: String::new(),
            question_id: String::new(),
            market_id: 0,
            neg_risk_market_id: String::new(),
            neg_risk_request_id: String::new(),
            event: None,
            raw_metadata: Map::new(),
        }
    }
}

/// Short form of a market's event group.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct EventSummary {
    /// The catalog's id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<u64>,
    /// Its name in URLs.
    pub slug: String,
    /// Its title.
    pub title: String,
    /// Its short name.
    pub ticker: String,
    /// Its description.
    pub description: String,
}

/// The texts of a neg-risk event group.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct EventDescription {
    /// Its title.
    pub title: String,
    /// Its name in URLs.
    pub slug: String,
    /// Its short name.
    pub ticker: String,
    /// Its description.
    pub description: String,
    /// Labels, beside those of its questions.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
}

macro_rules! evidence {
    ($($name:ident),+) => {$(
        impl $name {
            /// The evidence of a registration.
            ///
            /// # Errors
            /// [`ErrorCode::InvalidContent`](crate::ErrorCode::InvalidContent) when it exceeds the evidence limit of a frame.
            pub fn to_evidence(&self) -> Result<Vec<u8>, ApiError> {
                bounded(crate::json_text(self).into_bytes())
            }

            /// Parses words of a view; `None` when they are no description.
            #[must_use]
            pub fn from_words(words: &[u8]) -> Option<Self> {
                parsed(words)
            }
        }
    )+};
}
evidence!(MarketDescription, EventDescription);

/// The end date in the evidence of a market's registration; ignores all other fields.
#[must_use]
pub fn registered_end_date(evidence: &[u8]) -> Option<String> {
    #[derive(Deserialize)]
    struct EndDate {
        end_date: Option<String>,
    }
    parsed::<EndDate>(evidence)?.end_date
}

/// The catalog's id in the evidence of a market's registration; 0 = the operator owns the market.
#[must_use]
pub fn registered_market_id(evidence: &[u8]) -> u64 {
    #[derive(Deserialize)]
    struct MarketId {
        #[serde(default)]
        market_id: u64,
    }
    parsed::<MarketId>(evidence).map_or(0, |it| it.market_id)
}

fn bounded(evidence: Vec<u8>) -> Result<Vec<u8>, ApiError> {
    if evidence.len() > MAX_DESCRIPTION_BYTES {
        return Err(ErrorCode::InvalidContent.with([&(format!(
            "the description has {} bytes, allowed: {MAX_DESCRIPTION_BYTES}",
            evidence.len()
        ))]));
    }
    Ok(evidence)
}

/// Reads words: the evidence of a registration, and the fields edited since.
fn parsed<T: DeserializeOwned>(words: &[u8]) -> Option<T> {
    let (text, fields) = words::parts(words);
    let mut fields = fields.peekable();
    if fields.peek().is_none() {
        return serde_json::from_slice(text).ok();
    }
    let mut object: Map<String, Value> = serde_json::from_slice(text).unwrap_or_default();
    for (name, value) in fields {
        let name = str::from_utf8(name).ok()?;
        object.insert(name.to_owned(), serde_json::from_slice(value).ok()?);
    }
    serde_json::from_value(Value::Object(object)).ok()
}

/// The evidence of an edit: the fields it names, each with its JSON value.
#[derive(Debug, Default)]
pub(crate) struct Edit(Vec<u8>);

impl Edit {
    /// Names a field, if it has a value.
    pub(crate) fn field<T: Serialize>(mut self, name: &str, value: Option<&T>) -> Self {
        if let Some(value) = value {
            words::push(
                &mut self.0,
                name.as_bytes(),
                crate::json_text(value).as_bytes(),
            );
        }
        self
    }

    /// The evidence.
    ///
    /// # Errors
    /// [`ErrorCode::InvalidContent`](crate::ErrorCode::InvalidContent) when it exceeds the evidence limit of a frame.
    pub(crate) fn evidence(self) -> Result<Vec<u8>, ApiError> {
        bounded(self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_description_survives_the_round_trip() {
        let raw: Value =
            serde_json::from_str(r#"{"volume":1.50,"big":12345678901234567890123,"a":{"b":[1]}}"#)
                .unwrap();
        let market = MarketDescription {
            question: "Will it? \u{200b}\"so\"".into(),
            tags: vec!["Politics".into()],
            end_date: Some("2026-07-01T00:00:00Z".into()),
            event: Some(EventSummary {
                id: Some(42),
                title: "It".into(),
                ..EventSummary::default()
            }),
            raw_metadata: raw.as_object().unwrap().clone(),
            ..MarketDescription::default()
        };
        let evidence = market.to_evidence().unwrap();
        assert_eq!(registered_end_date(&evidence), market.end_date);
        assert_eq!(registered_end_date(b"{}"), None);
        assert_eq!(MarketDescription::from_words(&evidence), Some(market));
        // Numbers of the upstream record keep their digits.
        assert!(
            String::from_utf8(evidence)
                .unwrap()
                .contains(r#""volume":1.50,"big":12345678901234567890123"#)
        );
    }

    #[test]
    fn older_and_newer_evidence_is_read() {
        let market =
            MarketDescription::from_words(br#"{"question":"Q","of_a_later_version":1}"#).unwrap();
        assert_eq!(market.question, "Q");
        assert_eq!(market.outcomes, ["Yes", "No"]);
        assert_eq!(MarketDescription::from_words(b"not JSON"), None);
    }

    #[test]
    fn a_description_fits_a_frame() {
        let market = MarketDescription {
            description: "x".repeat(MAX_EVIDENCE_BYTES),
            ..MarketDescription::default()
        };
        assert!(market.to_evidence().is_err());
    }
}
