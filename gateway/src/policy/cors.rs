//! Cross-origin access: origins whose pages may read answers in a browser
//! (docs/api/overview.md §6).
//!
//! Origins match as whole texts. Browser credentials (cookies) are never allowed, because the
//! gateway reads none. The operator surface allows no origin.

use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_METHOD, ORIGIN,
    RETRY_AFTER, VARY,
};
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use thiserror::Error;

use crate::http::answer::{Answer, X_EPOCH, X_NEXT_CURSOR, X_SEQUENCE};
use crate::http::failure::{X_ERROR_CODE, X_TRACE_ID};
use crate::http::timing::SERVER_TIMING;
use crate::policy::rate_limits;

/// Request headers that browsers may send in addition to the credential headers and the safelisted
/// ones.
const REQUEST_HEADERS: [&str; 4] = [
    "content-type",
    "x-chain-id",
    "x-min-sequence",
    "x-server-timing",
];
const METHODS: HeaderValue = HeaderValue::from_static("GET, POST, PUT, DELETE");
/// Seconds a browser may cache a preflight.
const MAX_AGE: HeaderValue = HeaderValue::from_static("600");

/// An origin as browsers send it. `null` and `*` are rejected: any sandboxed page has the first,
/// and the second would open a loopback surface to every page its user visits.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Origin(HeaderValue);

impl Origin {
    /// Parses an origin.
    ///
    /// # Errors
    /// The text is not `scheme://host` or `scheme://host:port` in lower case.
    pub fn parse(text: &str) -> Result<Self, BadOrigin> {
        let bad = || BadOrigin(text.to_owned());
        let (scheme, host) = text.split_once("://").ok_or_else(bad)?;
        let letters = |part: &str, more: &str| {
            let fine = |byte: u8| {
                byte.is_ascii_lowercase()
                    || byte.is_ascii_digit()
                    || more.as_bytes().contains(&byte)
            };
            !part.is_empty() && part.bytes().all(fine)
        };
        if !letters(scheme, "+-.") || !letters(host, "-.:[]") {
            return Err(bad());
        }
        HeaderValue::from_str(text).map(Self).map_err(|_| bad())
    }
}

/// A text that is not an origin of a browser.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error(
    "origin {0:?}: allowed is scheme://host or scheme://host:port, in lower case, without a path"
)]
pub struct BadOrigin(String);

/// The allowed origins.
#[derive(Clone, Debug)]
pub(crate) struct Cors {
    origins: Vec<Origin>,
    allowed_headers: HeaderValue,
    exposed_headers: HeaderValue,
}

impl Cors {
    /// `credentials` are the names of the headers with credentials.
    pub(crate) fn new<'a>(
        origins: Vec<Origin>,
        credentials: impl Iterator<Item = &'a HeaderName>,
    ) -> Self {
        let credentials: Vec<_> = credentials.map(HeaderName::as_str).collect();
        let mut exposed = vec![
            X_SEQUENCE,
            X_EPOCH,
            X_NEXT_CURSOR,
            X_ERROR_CODE,
            X_TRACE_ID,
            RETRY_AFTER,
            SERVER_TIMING,
        ];
        exposed.extend(rate_limits::HEADERS);
        let exposed: Vec<_> = exposed.iter().map(HeaderName::as_str).collect();
        let list = |names: &[&str]| {
            HeaderValue::from_str(&names.join(", ")).expect("header names are visible ASCII")
        };
        Self {
            origins,
            allowed_headers: list(&[&REQUEST_HEADERS, credentials.as_slice()].concat()),
            exposed_headers: list(&exposed),
        }
    }

    /// The answer to a preflight; `None` for other requests and for origins that are not allowed.
    pub(crate) fn preflight(&self, method: &Method, headers: &HeaderMap) -> Option<Answer> {
        let asks =
            *method == Method::OPTIONS && headers.contains_key(ACCESS_CONTROL_REQUEST_METHOD);
        if !asks || self.allowed_origin(headers).is_none() {
            return None;
        }
        let answer = Answer::without_body(StatusCode::NO_CONTENT)
            .header(ACCESS_CONTROL_ALLOW_METHODS, METHODS)
            .header(ACCESS_CONTROL_ALLOW_HEADERS, self.allowed_headers.clone())
            .header(ACCESS_CONTROL_MAX_AGE, MAX_AGE);
        Some(answer)
    }

    /// The origin of a request, if the header occurs once and the origin is allowed.
    pub(crate) fn allowed_origin(&self, headers: &HeaderMap) -> Option<HeaderValue> {
        if self.origins.is_empty() {
            return None;
        }
        let mut origins = headers.get_all(ORIGIN).iter();
        let (Some(origin), None) = (origins.next(), origins.next()) else {
            return None;
        };
        let may = self.origins.iter().any(|allowed| allowed.0 == origin);
        may.then(|| origin.clone())
    }

    /// Adds the headers that let a browser's page of `origin` read the answer.
    pub(crate) fn add_cors_headers(&self, origin: Option<HeaderValue>, answer: &mut HeaderMap) {
        if self.origins.is_empty() {
            return;
        }
        // Also without allowed origins: a cache must not serve one origin's answer to another.
        answer.append(VARY, HeaderValue::from_static("origin"));
        if let Some(origin) = origin {
            answer.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
            answer.insert(ACCESS_CONTROL_EXPOSE_HEADERS, self.exposed_headers.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const APP: &str = "https://app.example";

    fn cors(origins: &[&str]) -> Cors {
        let origins = origins
            .iter()
            .map(|text| Origin::parse(text).expect("an origin"));
        let names = [HeaderName::from_static("service_address")];
        Cors::new(origins.collect(), names.iter())
    }

    fn from(origins: &[&'static str]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(
            ACCESS_CONTROL_REQUEST_METHOD,
            HeaderValue::from_static("DELETE"),
        );
        for origin in origins {
            headers.append(ORIGIN, HeaderValue::from_static(origin));
        }
        headers
    }

    #[test]
    fn a_listed_origin_may_send_credentials_headers_and_read_answers() {
        let cors = cors(&["http://localhost:3000", APP]);
        let answer = cors
            .preflight(&Method::OPTIONS, &from(&[APP]))
            .expect("a preflight");
        assert_eq!(answer.status, StatusCode::NO_CONTENT);
        let allowed = answer.headers[ACCESS_CONTROL_ALLOW_HEADERS]
            .to_str()
            .expect("text");
        assert!(
            allowed.split(", ").any(|name| name == "service_address"),
            "{allowed}"
        );
        assert!(allowed.contains("x-min-sequence"), "{allowed}");
        let mut headers = answer.headers;
        cors.add_cors_headers(cors.allowed_origin(&from(&[APP])), &mut headers);
        assert_eq!(headers[ACCESS_CONTROL_ALLOW_ORIGIN], APP);
        assert_eq!(headers[VARY], "origin");
        assert!(
            headers[ACCESS_CONTROL_EXPOSE_HEADERS]
                .to_str()
                .expect("text")
                .contains("x-error-code")
        );
        assert!(!headers.contains_key("access-control-allow-credentials"));
        assert!(cors.preflight(&Method::GET, &from(&[APP])).is_none());
    }

    #[test]
    fn everybody_else_is_told_nothing() {
        let cors = cors(&[APP]);
        for origins in [
            &["null"][..],
            &["https://evil.app.example"],
            &["https://app.example.evil"],
            &["http://app.example"],
            &["https://app.example:444"],
            &["*"],
            &[""],
            &[],
            &[APP, "https://evil.example"],
        ] {
            let headers = from(origins);
            assert!(
                cors.preflight(&Method::OPTIONS, &headers).is_none(),
                "{origins:?}"
            );
            let mut answer = HeaderMap::new();
            cors.add_cors_headers(cors.allowed_origin(&headers), &mut answer);
            assert!(
                !answer.contains_key(ACCESS_CONTROL_ALLOW_ORIGIN),
                "{origins:?}"
            );
            assert_eq!(answer[VARY], "origin");
        }
        let mut answer = HeaderMap::new();
        let none = super::tests::cors(&[]);
        none.add_cors_headers(none.allowed_origin(&from(&[APP])), &mut answer);
        assert!(answer.is_empty(), "nothing at all by default");
    }

    #[test]
    fn what_no_browser_sends_is_no_origin() {
        for text in [
            "*",
            "null",
            "",
            "app.example",
            "https://App.example",
            "https://a/",
            "https://",
            "://a",
            "https://a b",
        ] {
            assert_eq!(Origin::parse(text), Err(BadOrigin(text.to_owned())));
        }
        assert!(Origin::parse("http://[::1]:8080").is_ok());
    }
}
