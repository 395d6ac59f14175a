//! Requests to the operator's surface, repeated while the exchange is away or busy: every command
//! may safely be given again.

use std::sync::Arc;
use std::time::Duration;

use foretell_model::ConditionId;
use reqwest::{Method, StatusCode};
use serde::Deserialize;
use serde_json::Value;
use thiserror::Error;

use super::registered::Row;
use super::{Command, Registered};
use crate::clock::Clock;
use crate::upstream::Backoff;

/// Rows asked for at once.
const PAGE: usize = 5_000;
/// Conditions or events named at once: a query has at most 8 KiB.
const NAMED: usize = 64;
/// For one answer: a durable command on a slow disk is far below it.
const PATIENCE: Duration = Duration::from_secs(30);

/// Why the exchange did not do something.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ExchangeFailure {
    /// Nobody answers, or only that it cannot now.
    #[error("the exchange does not answer at {base}: {reason}")]
    Away {
        /// Where.
        base: String,
        /// What happened.
        reason: String,
    },
    /// It was understood and refused.
    #[error("the exchange refuses: {text} ({status})")]
    Refused {
        /// HTTP status.
        status: u16,
        /// Its words.
        text: String,
    },
    /// It answers something this version does not know.
    #[error("the exchange answers something else than expected: {0}")]
    Strange(String),
}

/// A running exchange.
pub struct Exchange {
    http: reqwest::Client,
    base: String,
    token: String,
    backoff: Backoff,
    clock: Arc<dyn Clock>,
}

impl Exchange {
    /// The exchange whose operator surface is at `base`, such as `http://127.0.0.1:8090`.
    ///
    /// # Errors
    /// No HTTP client can be made.
    pub fn new(
        base: &str,
        token: &str,
        backoff: Backoff,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, String> {
        let http = reqwest::Client::builder()
            .timeout(PATIENCE)
            .no_proxy()
            .redirect(reqwest::redirect::Policy::none())
            .build()
            .map_err(|error| format!("cannot make an HTTP client: {error}"))?;
        Ok(Self {
            http,
            base: base.trim_end_matches('/').to_owned(),
            token: token.to_owned(),
            backoff,
            clock,
        })
    }

    /// Every market of the exchange.
    ///
    /// # Errors
    /// It is away, or answers what this version does not know.
    pub async fn markets(&self) -> Result<Vec<Registered>, ExchangeFailure> {
        let mut markets = Vec::new();
        loop {
            let asked = format!("limit={PAGE}&offset={}", markets.len());
            let page = self.market_rows(&asked).await?;
            let last = page.len() < PAGE;
            markets.extend(page);
            if last {
                return Ok(markets);
            }
        }
    }

    /// Of the markets with these conditions, and of the questions of these neg-risk events, those
    /// that the exchange has; some perhaps twice.
    ///
    /// # Errors
    /// It is away, or answers what this version does not know.
    pub async fn markets_named(
        &self,
        conditions: &[ConditionId],
        events: &[u64],
    ) -> Result<Vec<Registered>, ExchangeFailure> {
        let conditions: Vec<String> = conditions.iter().map(ToString::to_string).collect();
        let events: Vec<String> = events.iter().map(ToString::to_string).collect();
        let mut markets = Vec::new();
        for (name, values) in [("condition_id", conditions), ("event_id", events)] {
            for some in values.chunks(NAMED) {
                let asked = format!("{name}={}", some.join(","));
                markets.extend(self.market_rows(&asked).await?);
            }
        }
        Ok(markets)
    }

    async fn market_rows(&self, asked: &str) -> Result<Vec<Registered>, ExchangeFailure> {
        #[derive(Deserialize)]
        struct Rows {
            markets: Vec<Row>,
        }
        let path = format!("/markets?{asked}");
        let answer = self.patiently(Method::GET, &path, None).await?;
        let rows = serde_json::from_value::<Rows>(answer)
            .map_err(|error| ExchangeFailure::Strange(error.to_string()))?;
        let strange = || ExchangeFailure::Strange("a row of its markets".to_owned());
        let read = |row: &Row| row.read().ok_or_else(strange);
        rows.markets.iter().map(read).collect()
    }

    /// Gives a command; whether it changed something, or had been done before.
    ///
    /// # Errors
    /// It is away, or refuses.
    pub async fn give(&self, command: &Command) -> Result<bool, ExchangeFailure> {
        let body = command.body();
        let answer = self
            .patiently(Method::POST, command.path(), Some(&body))
            .await?;
        Ok(answer["duplicate"] != Value::Bool(true))
    }

    async fn patiently(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> Result<Value, ExchangeFailure> {
        let mut attempt = 0;
        loop {
            attempt += 1;
            let failure = match self.ask(method.clone(), path, body).await {
                Err(failure @ ExchangeFailure::Away { .. }) => failure,
                outcome => return outcome,
            };
            let by_chance = |longest| self.clock.by_chance(longest);
            match self.backoff.pause(attempt, None, by_chance) {
                Some(pause) => self.clock.pause(pause).await,
                None => return Err(failure),
            }
        }
    }

    async fn ask(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> Result<Value, ExchangeFailure> {
        let away = |reason: String| ExchangeFailure::Away {
            base: self.base.clone(),
            reason,
        };
        let mut request = self
            .http
            .request(method, format!("{}{path}", self.base))
            .bearer_auth(&self.token);
        if let Some(body) = body {
            request = request.json(body);
        }
        let answer = request.send().await;
        let answer = answer.map_err(|_| away("no connection".to_owned()))?;
        let status = answer.status();
        let text = answer.text().await;
        let text = text.map_err(|_| away("the answer broke off".to_owned()))?;
        let value = serde_json::from_str(&text).unwrap_or(Value::String(text));
        if status.is_success() {
            return Ok(value);
        }
        let text = match &value["error"] {
            Value::String(text) => text.clone(),
            _ => value.to_string(),
        };
        if is_temporary(status, &text) {
            return Err(away(text));
        }
        let status = status.as_u16();
        Err(ExchangeFailure::Refused { status, text })
    }
}

/// Recovering, busy, the engine away; and a market whose orders are still being cancelled.
fn is_temporary(status: StatusCode, text: &str) -> bool {
    status == StatusCode::TOO_EARLY
        || status == StatusCode::TOO_MANY_REQUESTS
        || status.is_server_error()
        || (status == StatusCode::CONFLICT && text.contains("retry when they are cancelled"))
}
