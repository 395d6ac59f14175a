//! HTTP client: one request, one bounded body.

use std::sync::Arc;
use std::time::Duration;

use foretell_operator_client::http_client;
use reqwest::header::{ACCEPT, CONTENT_TYPE, RETRY_AFTER};
use reqwest::redirect::{Action, Attempt};
use reqwest::{Response, StatusCode, Url};

use super::{Backoff, UpstreamError, UpstreamPage, retry_after};
use crate::clock::Clock;
use crate::limits::{MAX_PAGE_BYTES, MAX_REDIRECTS};

/// Most characters of a header or body that an error repeats.
const MAX_SHOWN_CHARACTERS: usize = 48;
/// Most characters of a URL that an error repeats.
const MAX_SHOWN_URL: usize = 300;

/// Timeouts, size limit and retries of upstream requests.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Connect timeout.
    pub connect: Duration,
    /// Timeout between two parts of an answer.
    pub read: Duration,
    /// Timeout of a whole answer.
    pub total: Duration,
    /// Most bytes of a whole answer.
    pub page_bytes: usize,
    /// Pauses between attempts.
    pub backoff: Backoff,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            read: Duration::from_secs(30),
            total: Duration::from_secs(180),
            page_bytes: MAX_PAGE_BYTES,
            backoff: Backoff::default(),
        }
    }
}

/// How often a page is requested while failures are transient.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attempts {
    /// Once: the upstream, or this list of it, failed just before.
    One,
    /// As often as [`Bounds::backoff`] says.
    All,
}

/// An upstream catalog.
pub struct Upstream {
    http: reqwest::Client,
    base: Url,
    bounds: Bounds,
    clock: Arc<dyn Clock>,
}

impl Upstream {
    /// The upstream at a base URL such as `https://gamma.example/api`.
    ///
    /// # Errors
    /// The text is not an http or https URL, or the HTTP client cannot be created.
    pub fn new(base: &str, bounds: Bounds, clock: Arc<dyn Clock>) -> Result<Self, String> {
        let wrong =
            |why: &str| format!("the upstream is {base:?}: {why}; allowed: an http or https URL");
        let mut base = Url::parse(base).map_err(|error| wrong(&error.to_string()))?;
        if !matches!(base.scheme(), "http" | "https") || base.cannot_be_a_base() {
            return Err(wrong("another scheme"));
        }
        if base.query().is_some() || base.fragment().is_some() {
            return Err(wrong("it has a query"));
        }
        if !base.path().ends_with('/') {
            base.set_path(&format!("{}/", base.path()));
        }
        let http = http_client()
            .user_agent(concat!("foretell/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(bounds.connect)
            .read_timeout(bounds.read)
            .timeout(bounds.total)
            .redirect(reqwest::redirect::Policy::custom(follow))
            .build()
            .map_err(|error| wrong(&reason(&error)))?;
        Ok(Self {
            http,
            base,
            bounds,
            clock,
        })
    }

    /// The base URL, which is the upstream's name in the catalog.
    #[must_use]
    pub fn name(&self) -> &str {
        self.base.as_str()
    }

    /// Requests a page by its path and query, with the `attempts` allowed while failures are
    /// transient. Calls `failed` before each further one.
    ///
    /// # Errors
    /// The last failure.
    pub async fn page(
        &self,
        request: &str,
        attempts: Attempts,
        mut failed: impl FnMut(&UpstreamError, Duration),
    ) -> Result<UpstreamPage, UpstreamError> {
        let mut attempt = 0_u32;
        loop {
            attempt += 1;
            let error = match self.ask(request).await {
                Ok(page) => return Ok(page),
                Err(error) => error,
            };
            let random_up_to = |longest| self.clock.random_up_to(longest);
            let pause = self
                .bounds
                .backoff
                .pause(attempt, error.retry_after(), random_up_to);
            let again = attempts == Attempts::All && error.is_transient();
            match pause.filter(|_| again) {
                Some(pause) => {
                    failed(&error, pause);
                    self.clock.pause(pause).await;
                }
                None => return Err(error),
            }
        }
    }

    async fn ask(&self, request: &str) -> Result<UpstreamPage, UpstreamError> {
        let url = format!("{}{request}", self.base);
        let builder = self.http.get(&url);
        // A cursor in it is the upstream's.
        let url = shortened(&url, MAX_SHOWN_URL);
        let answer = builder
            .header(ACCEPT, "application/json")
            .send()
            .await
            .map_err(|error| no_answer(&url, &error))?;
        let answer = self.checked(&url, answer)?;
        let body = self.body(&url, answer).await?;
        UpstreamPage::read(&url, &body)
    }

    /// Checks the status and headers of an answer.
    fn checked(&self, url: &str, answer: Response) -> Result<Response, UpstreamError> {
        if answer.status() != StatusCode::OK {
            let delay = answer.headers().get(RETRY_AFTER);
            let delay = delay.and_then(|value| value.to_str().ok());
            return Err(UpstreamError::Status {
                url: url.to_owned(),
                status: answer.status().as_u16(),
                retry_after: delay.and_then(|text| retry_after(text, self.clock.now())),
            });
        }
        let kind = answer.headers().get(CONTENT_TYPE);
        let kind = kind.map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned());
        match kind {
            Some(kind) if !is_json(&kind) => Err(UpstreamError::NotJson {
                url: url.to_owned(),
                given: shortened(&kind, MAX_SHOWN_CHARACTERS),
            }),
            // Without a content type, the body decides.
            _ => Ok(answer),
        }
    }

    async fn body(&self, url: &str, mut answer: Response) -> Result<Vec<u8>, UpstreamError> {
        let limit = self.bounds.page_bytes;
        let mut body = Vec::new();
        let part = |error: reqwest::Error| no_answer(url, &error);
        while let Some(part) = answer.chunk().await.map_err(part)? {
            if body.len() + part.len() > limit {
                return Err(UpstreamError::TooLarge {
                    url: url.to_owned(),
                    limit,
                });
            }
            body.extend_from_slice(&part);
        }
        let first = body.iter().find(|byte| !byte.is_ascii_whitespace());
        if first.is_some_and(|first| *first == b'<') {
            // A character has at most 4 bytes, so a cut one is beyond those that are shown.
            let start = String::from_utf8_lossy(&body[..body.len().min(4 * MAX_SHOWN_CHARACTERS)]);
            return Err(UpstreamError::NotJson {
                url: url.to_owned(),
                given: format!("{:?}", shortened(&start, MAX_SHOWN_CHARACTERS)),
            });
        }
        Ok(body)
    }
}

/// Redirects must stay on the origin that the operator configured: an upstream must not reach other
/// hosts of the operator's network, nor downgrade from TLS.
fn follow(attempt: Attempt<'_>) -> Action {
    if attempt.previous().len() > MAX_REDIRECTS {
        return attempt.error("without end");
    }
    let origin = attempt.url().origin();
    if attempt.previous().iter().any(|url| url.origin() != origin) {
        let to = origin.ascii_serialization();
        return attempt.error(format!("to another origin, {to}, which is not followed"));
    }
    attempt.follow()
}

/// `application/json`, any `+json`, or `text/plain`, which some upstreams send for JSON.
fn is_json(kind: &str) -> bool {
    let kind = kind
        .split(';')
        .next()
        .unwrap_or("")
        .trim()
        .to_ascii_lowercase();
    kind.ends_with("/json") || kind.ends_with("+json") || kind == "text/plain"
}

fn no_answer(url: &str, error: &reqwest::Error) -> UpstreamError {
    if error.is_redirect() {
        return UpstreamError::Redirects {
            url: url.to_owned(),
            reason: reason(error),
        };
    }
    UpstreamError::NoAnswer {
        url: url.to_owned(),
        reason: reason(error),
    }
}

/// The beginning of a text that another party chose, for log lines.
fn shortened(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// The innermost cause; the outer errors only state that a request failed.
fn reason(error: &reqwest::Error) -> String {
    if error.is_timeout() {
        return "it took too long".to_owned();
    }
    let mut cause: &dyn std::error::Error = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    shortened(&cause.to_string(), MAX_SHOWN_URL)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::SystemClock;

    #[test]
    fn an_upstream_is_an_http_address() {
        let new = |base| Upstream::new(base, Bounds::default(), Arc::new(SystemClock));
        assert_eq!(
            new("http://127.0.0.1:1").unwrap().name(),
            "http://127.0.0.1:1/"
        );
        assert_eq!(
            new("https://a.example/b").unwrap().name(),
            "https://a.example/b/"
        );
        for base in [
            "",
            "gamma",
            "ftp://a.example",
            "file:///etc/passwd",
            "http://a/?x=1",
            "http://",
        ] {
            let text = new(base).err().unwrap();
            assert!(text.contains("allowed: an http or https URL"), "{text}");
        }
    }

    #[test]
    fn content_that_is_json_says_so() {
        for (kind, json) in [
            ("application/json", true),
            ("application/json; charset=utf-8", true),
            ("application/problem+json", true),
            ("text/plain", true),
            ("text/html; charset=utf-8", false),
            ("application/octet-stream", false),
            ("", false),
        ] {
            assert_eq!(is_json(kind), json, "{kind}");
        }
    }
}
