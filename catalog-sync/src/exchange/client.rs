//! The exchange as the sync uses it: requests are retried while it is unavailable or busy, because
//! every command is idempotent.

use std::sync::Arc;

use foretell_model::ConditionId;
use foretell_operator_client::{OperatorClient, OperatorError};
use foretell_wire::ErrorCode;
use foretell_wire::operator::OperatorCommand;
use thiserror::Error;

use super::RegisteredMarket;
use crate::clock::Clock;
use crate::upstream::Backoff;

/// Rows per request.
const ROWS_PER_REQUEST: usize = 5_000;
/// Conditions or events per request; a query string has at most 8 KiB.
const NAMES_PER_REQUEST: usize = 64;

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
    client: OperatorClient,
    backoff: Backoff,
    clock: Arc<dyn Clock>,
}

impl Exchange {
    /// The exchange of a client.
    #[must_use]
    pub fn new(client: OperatorClient, backoff: Backoff, clock: Arc<dyn Clock>) -> Self {
        Self {
            client,
            backoff,
            clock,
        }
    }

    /// Whether it is a restored copy that nobody has opened. An exchange that does not answer takes no command either.
    pub(crate) async fn is_outward_closed(&self) -> bool {
        self.client.is_outward_closed().await.unwrap_or(false)
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

    async fn market_rows(&self, query: &str) -> Result<Vec<RegisteredMarket>, ExchangeError> {
        let rows = self.patiently(|| self.client.markets(query)).await?;
        Ok(rows.into_iter().map(RegisteredMarket::from).collect())
    }

    /// Sends a command; returns whether it changed something (`false`: already applied).
    ///
    /// # Errors
    /// The exchange is unavailable, or rejects the command.
    pub async fn send(&self, command: &OperatorCommand) -> Result<bool, ExchangeError> {
        let answer = self.patiently(|| self.client.send(command)).await?;
        Ok(!answer.duplicate)
    }

    async fn patiently<T, F>(&self, request: impl Fn() -> F) -> Result<T, ExchangeError>
    where
        F: Future<Output = Result<T, OperatorError>>,
    {
        let mut attempt = 0;
        loop {
            attempt += 1;
            let error = match request().await {
                Ok(answer) => return Ok(answer),
                Err(error) => self.error(error),
            };
            if !matches!(error, ExchangeError::Unavailable { .. }) {
                return Err(error);
            }
            let random_up_to = |longest| self.clock.random_up_to(longest);
            match self.backoff.pause(attempt, None, random_up_to) {
                Some(pause) => self.clock.pause(pause).await,
                None => return Err(error),
            }
        }
    }

    fn error(&self, error: OperatorError) -> ExchangeError {
        let reason = match error {
            OperatorError::Unreachable { .. } => "no connection".to_owned(),
            OperatorError::CutOff(_) => "the answer broke off".to_owned(),
            OperatorError::Rejected { status, code, text } if is_temporary(status, &code) => text,
            OperatorError::Rejected { status, text, .. } => {
                return ExchangeError::Rejected { status, text };
            }
            OperatorError::UnexpectedAnswer(text) => return ExchangeError::UnexpectedAnswer(text),
        };
        let base = self.client.base().to_owned();
        ExchangeError::Unavailable { base, reason }
    }
}

/// Recovering, busy, engine unavailable, or a market whose orders are still being cancelled.
fn is_temporary(status: u16, code: &str) -> bool {
    matches!(status, 425 | 429 | 500..) || code == ErrorCode::BookNotEmpty.name()
}
