//! The client of the operator surface (docs/api/operator.md): catalog-sync, the command line, the
//! demo and the tests send their requests with it. Its types are those that the gateway reads.

use std::time::Duration;

use foretell_wire::operator::{
    AccountAnswer, CommandAnswer, MarketRow, MarketRows, OperatorCommand,
};
use reqwest::{Client, ClientBuilder, Method, RequestBuilder, redirect};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use thiserror::Error;

/// Timeout of one answer; a durable command takes far less, even on a slow disk.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(30);

/// A builder of HTTP clients. It sets the TLS of the process, without which no client can be made.
pub fn http_client() -> ClientBuilder {
    // An error means that it is set.
    let _ = rustls::crypto::ring::default_provider().install_default();
    Client::builder()
}

/// A builder of clients of one server. For plain HTTP it needs no certificates: a small system has none.
pub fn http_client_of(url: &str) -> ClientBuilder {
    match url.starts_with("https:") {
        true => http_client(),
        false => http_client().tls_certs_only([]),
    }
}

/// Why a request failed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum OperatorError {
    /// No connection: nothing was sent.
    #[error("no exchange answers at {base}")]
    Unreachable {
        /// URL of the surface.
        base: String,
    },
    /// No complete answer within 30 seconds: a command may have been applied.
    #[error("no complete answer, the outcome is unknown: {0}")]
    CutOff(String),
    /// The surface rejected the request.
    #[error("{text} ({status})")]
    Rejected {
        /// HTTP status.
        status: u16,
        /// Stable code (docs/api/error-codes.md); empty if something between answered.
        code: String,
        /// The error text.
        text: String,
    },
    /// An answer that this version does not understand.
    #[error("unexpected answer of the exchange: {0}")]
    UnexpectedAnswer(String),
}

/// What clients here read of the status.
#[derive(Deserialize)]
struct Status {
    exchange: StatusOfExchange,
}

#[derive(Deserialize)]
struct StatusOfExchange {
    outward_closed: bool,
}

/// A client of one gateway's operator surface.
#[derive(Clone)]
pub struct OperatorClient {
    http: Client,
    base: String,
    token: String,
    /// Added to every command; empty = none.
    reason: String,
}

impl OperatorClient {
    /// A client of the surface at `base`, such as `http://127.0.0.1:8090`, with its bearer token.
    ///
    /// # Errors
    /// The HTTP client cannot be created.
    pub fn new(base: &str, token: &str) -> Result<Self, String> {
        let http = http_client_of(base)
            .timeout(ANSWER_TIMEOUT)
            .no_proxy()
            .redirect(redirect::Policy::none())
            .build()
            .map_err(|error| format!("cannot make an HTTP client: {error}"))?;
        Ok(Self {
            http,
            base: base.trim_end_matches('/').to_owned(),
            token: token.to_owned(),
            reason: String::new(),
        })
    }

    /// The same client, whose commands carry a reason.
    #[must_use]
    pub fn with_reason(mut self, reason: &str) -> Self {
        reason.clone_into(&mut self.reason);
        self
    }

    /// The base URL.
    #[must_use]
    pub fn base(&self) -> &str {
        &self.base
    }

    /// Sends a command.
    ///
    /// # Errors
    /// See [`OperatorError`].
    pub async fn send(&self, command: &OperatorCommand) -> Result<CommandAnswer, OperatorError> {
        self.post(command.path(), command).await
    }

    /// The markets that a query selects: `limit` and `offset`, or lists of `condition_id` and
    /// `event_id`; all when it is empty.
    ///
    /// # Errors
    /// See [`OperatorError`].
    pub async fn markets(&self, query: &str) -> Result<Vec<MarketRow>, OperatorError> {
        let rows: MarketRows = self.get(&format!("/markets?{query}")).await?;
        Ok(rows.markets)
    }

    /// An account.
    ///
    /// # Errors
    /// See [`OperatorError`].
    pub async fn account(&self, wallet: &str) -> Result<AccountAnswer, OperatorError> {
        self.get(&format!("/accounts/{wallet}")).await
    }

    /// Whether the exchange is a restored copy that nobody has opened (docs/verify/rules.md §31).
    ///
    /// # Errors
    /// See [`OperatorError`].
    pub async fn is_outward_closed(&self) -> Result<bool, OperatorError> {
        let Status { exchange } = self.get("/status").await?;
        Ok(exchange.outward_closed)
    }

    /// `GET path`.
    ///
    /// # Errors
    /// See [`OperatorError`].
    pub async fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, OperatorError> {
        self.answer(self.request(Method::GET, path)).await
    }

    /// `POST path`, for bodies that are no [`OperatorCommand`].
    ///
    /// # Errors
    /// See [`OperatorError`].
    pub async fn post<T: DeserializeOwned>(
        &self,
        path: &str,
        body: &(impl Serialize + ?Sized),
    ) -> Result<T, OperatorError> {
        let mut body = serde_json::to_value(body)
            .map_err(|error| OperatorError::UnexpectedAnswer(error.to_string()))?;
        if let Value::Object(fields) = &mut body
            && !self.reason.is_empty()
        {
            fields.insert("reason".to_owned(), self.reason.as_str().into());
        }
        self.answer(self.request(Method::POST, path).json(&body))
            .await
    }

    fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let request = self.http.request(method, format!("{}{path}", self.base));
        request.bearer_auth(&self.token)
    }

    async fn answer<T: DeserializeOwned>(
        &self,
        request: RequestBuilder,
    ) -> Result<T, OperatorError> {
        let response = request
            .send()
            .await
            .map_err(|error| match error.is_connect() {
                true => OperatorError::Unreachable {
                    base: self.base.clone(),
                },
                false => OperatorError::CutOff(error.to_string()),
            })?;
        let status = response.status();
        let code = response.headers().get("x-error-code");
        let code = code.map_or("", |code| code.to_str().unwrap_or_default());
        let code = code.to_owned();
        let text = response.text().await;
        let text = text.map_err(|error| OperatorError::CutOff(error.to_string()))?;
        if status.is_success() {
            return serde_json::from_str(&text)
                .map_err(|error| OperatorError::UnexpectedAnswer(error.to_string()));
        }
        Err(OperatorError::Rejected {
            status: status.as_u16(),
            code,
            text: error_text(text),
        })
    }
}

/// The `error` of an answer, or the answer as it is.
fn error_text(answer: String) -> String {
    match serde_json::from_str::<Value>(&answer) {
        Ok(value) => match &value["error"] {
            Value::String(text) => text.clone(),
            _ => value.to_string(),
        },
        Err(_) => Value::String(answer).to_string(),
    }
}
