//! Client of the operator surface. It retries while the exchange is unavailable or busy, because
//! every command is idempotent.

use std::sync::Arc;
use std::time::Duration;

use foretell_model::ConditionId;
use reqwest::{Method, StatusCode};
use serde::Deserialize;
use serde_json::Value;
use thiserror::Error;

use super::registered::MarketRow;
use super::{Command, RegisteredMarket};
use crate::clock::Clock;
use crate::upstream::Backoff;

/// Rows per request.
const ROWS_PER_REQUEST: usize = 5_000;
/// Conditions or events per request; a query string has at most 8 KiB.
const NAMES_PER_REQUEST: usize = 64;
/// Timeout of one answer; a durable command takes far less, even on a slow disk.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(30);

/// Why a request to the exchange failed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ExchangeError {
    /// No answer, or a temporary error.
    #[error("the exchange does not answer at {base}: {reason}")]
    Unavailable {
        /// URL of the exchange.
        base: String,
        /// The cause.
        reason: String,
    },
    /// The exchange rejected the request.
    #[error("the exchange rejected the request: {text} ({status})")]
    Rejected {
        /// HTTP status.
        status: u16,
        /// The error text.
        text: String,
    },
    /// An answer that this version does not understand.
    #[error("unexpected answer of the exchange: {0}")]
    UnexpectedAnswer(String),
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
    /// The HTTP client cannot be created.
    pub fn new(
        base: &str,
        token: &str,
        backoff: Backoff,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, String> {
        let http = reqwest::Client::builder()
            .timeout(ANSWER_TIMEOUT)
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
    /// The exchange is unavailable, or its answer is not understood.
    pub async fn markets(&self) -> Result<Vec<RegisteredMarket>, ExchangeError> {
        let mut markets = Vec::new();
        loop {
            let asked = format!("limit={ROWS_PER_REQUEST}&offset={}", markets.len());
            let page = self.market_rows(&asked).await?;
            let last = page.len() < ROWS_PER_REQUEST;
            markets.extend(page);
            if last {
                return Ok(markets);
            }
        }
    }

    /// The registered markets among these conditions and the questions of these neg-risk event
    /// groups; may contain duplicates.
    ///
    /// # Errors
    /// The exchange is unavailable, or its answer is not understood.
    pub async fn markets_named(
        &self,
        conditions: &[ConditionId],
        events: &[u64],
    ) -> Result<Vec<RegisteredMarket>, ExchangeError> {
        let conditions: Vec<String> = conditions.iter().map(ToString::to_string).collect();
        let events: Vec<String> = events.iter().map(ToString::to_string).collect();
        let mut markets = Vec::new();
        for (name, values) in [("condition_id", conditions), ("event_id", events)] {
            for some in values.chunks(NAMES_PER_REQUEST) {
                let asked = format!("{name}={}", some.join(","));
                markets.extend(self.market_rows(&asked).await?);
            }
        }
        Ok(markets)
    }

    async fn market_rows(&self, asked: &str) -> Result<Vec<RegisteredMarket>, ExchangeError> {
        #[derive(Deserialize)]
        struct Rows {
            markets: Vec<MarketRow>,
        }
        let path = format!("/markets?{asked}");
        let answer = self.patiently(Method::GET, &path, None).await?;
        let rows = serde_json::from_value::<Rows>(answer)
            .map_err(|error| ExchangeError::UnexpectedAnswer(error.to_string()))?;
        let strange = || ExchangeError::UnexpectedAnswer("a row of its markets".to_owned());
        let read = |row: &MarketRow| row.read().ok_or_else(strange);
        rows.markets.iter().map(read).collect()
    }

    /// Sends a command; returns whether it changed something (`false`: already applied).
    ///
    /// # Errors
    /// The exchange is unavailable, or rejects the command.
    pub async fn send(&self, command: &Command) -> Result<bool, ExchangeError> {
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
    ) -> Result<Value, ExchangeError> {
        let mut attempt = 0;
        loop {
            attempt += 1;
            let error = match self.ask(method.clone(), path, body).await {
                Err(error @ ExchangeError::Unavailable { .. }) => error,
                outcome => return outcome,
            };
            let random_up_to = |longest| self.clock.random_up_to(longest);
            match self.backoff.pause(attempt, None, random_up_to) {
                Some(pause) => self.clock.pause(pause).await,
                None => return Err(error),
            }
        }
    }

    async fn ask(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> Result<Value, ExchangeError> {
        let away = |reason: String| ExchangeError::Unavailable {
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
        Err(ExchangeError::Rejected { status, text })
    }
}

/// Recovering, busy, engine unavailable, or a market whose orders are still being cancelled.
fn is_temporary(status: StatusCode, text: &str) -> bool {
    status == StatusCode::TOO_EARLY
        || status == StatusCode::TOO_MANY_REQUESTS
        || status.is_server_error()
        || (status == StatusCode::CONFLICT && text.contains("retry when they are cancelled"))
}
