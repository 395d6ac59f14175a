//! HTTP client of the operator surface.

use std::net::SocketAddr;
use std::time::Duration;

use reqwest::Method;
use serde_json::Value;

use crate::config::Config;
use crate::failure::Failure;

/// Exit code: the surface rejected the request.
pub(crate) const REFUSED: u8 = 3;
/// Exit code: the surface cannot be reached.
pub(crate) const UNREACHABLE: u8 = 4;

/// How long to wait until a gateway's view has caught up with the journal.
const READY_PATIENCE: Duration = Duration::from_secs(60);
const READY_PAUSE: Duration = Duration::from_millis(10);

/// The bearer token of the deployment.
///
/// # Errors
/// Its file cannot be read.
pub(crate) fn token(config: &Config) -> Result<String, Failure> {
    let path = config.operator_token_file();
    let token = std::fs::read_to_string(&path).map_err(|error| {
        Failure::new(format!(
            "cannot read the operator's token {}: {error}",
            path.display()
        ))
        .hint("run it with the --data of a running exchange, as the user who started it")
        .code(UNREACHABLE)
    })?;
    Ok(token.trim().to_owned())
}

/// Client of one gateway's operator listener, using the deployment's token.
pub struct OperatorClient {
    http: reqwest::Client,
    base: String,
    token: String,
}

impl OperatorClient {
    /// A client for the configured listener.
    ///
    /// # Errors
    /// The token file cannot be read.
    pub fn new(config: &Config) -> Result<Self, Failure> {
        Self::at(config.operator.listen, config)
    }

    /// A client for a listener at another address.
    ///
    /// # Errors
    /// The token file cannot be read.
    pub fn at(listen: SocketAddr, config: &Config) -> Result<Self, Failure> {
        let token = token(config)?;
        let http = reqwest::Client::builder()
            .timeout(Duration::from_secs(30))
            .no_proxy()
            .build()
            .map_err(|error| Failure::new(format!("cannot make an HTTP client: {error}")))?;
        Ok(Self {
            http,
            base: format!("http://{listen}"),
            token,
        })
    }

    /// The base URL.
    #[must_use]
    pub fn base(&self) -> &str {
        &self.base
    }

    /// `GET path`.
    ///
    /// # Errors
    /// The server cannot be reached, or it rejects the request.
    pub async fn get(&self, path: &str) -> Result<Value, Failure> {
        self.request(Method::GET, path, None).await
    }

    /// `POST path` with a JSON body.
    ///
    /// # Errors
    /// The server cannot be reached, or it rejects the request.
    pub async fn post(&self, path: &str, body: &Value) -> Result<Value, Failure> {
        self.request(Method::POST, path, Some(body)).await
    }

    /// `POST path`; returns any answer, rejections too.
    ///
    /// # Errors
    /// The server cannot be reached.
    pub(crate) async fn try_post(&self, path: &str, body: &Value) -> Result<(u16, Value), Failure> {
        self.send(Method::POST, path, Some(body)).await
    }

    /// Waits until the gateway is ready: connected to the engine, its view caught up.
    ///
    /// # Errors
    /// The gateway is not ready within a minute; the error contains its last answer.
    pub(crate) async fn wait_ready(&self) -> Result<(), Failure> {
        let deadline = tokio::time::Instant::now() + READY_PATIENCE;
        loop {
            match self.get("/readyz").await {
                Ok(_) => return Ok(()),
                Err(failure) if tokio::time::Instant::now() > deadline => return Err(failure),
                Err(_) => tokio::time::sleep(READY_PAUSE).await,
            }
        }
    }

    async fn request(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> Result<Value, Failure> {
        match self.send(method, path, body).await? {
            (200..300, answer) => Ok(answer),
            (status, answer) => {
                let text = format!("{} ({status})", reason(&answer));
                Err(Failure::new(text).code(REFUSED))
            }
        }
    }

    async fn send(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> Result<(u16, Value), Failure> {
        let mut request = self
            .http
            .request(method, format!("{}{path}", self.base))
            .bearer_auth(&self.token);
        if let Some(body) = body {
            request = request.json(body);
        }
        let response = request.send().await.map_err(|_| {
            Failure::new(format!("no exchange answers at {}", self.base))
                .hint("`foretell up`, or --data and operator.listen of the one that runs")
                .code(UNREACHABLE)
        })?;
        let status = response.status();
        let text = response.text().await.map_err(|error| {
            Failure::new(format!("the answer was cut off: {error}")).code(UNREACHABLE)
        })?;
        let value = serde_json::from_str(&text).unwrap_or(Value::String(text));
        Ok((status.as_u16(), value))
    }
}

/// The reason in a rejection.
pub(crate) fn reason(answer: &Value) -> String {
    answer["error"]
        .as_str()
        .map_or_else(|| answer.to_string(), str::to_owned)
}
