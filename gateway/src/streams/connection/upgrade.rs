//! `GET /ws/market`, `/ws/user` and `/ws`: the upgrade of a connection to a WebSocket.
//!
//! The handler checks the request and leaves a ticket in the request's slot. hyper sends the 101
//! and gives the connection up; then the connection's own task serves the stream, so that it keeps
//! its place among the connections until the socket ends.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use foretell_wire::ErrorCode;
use foretell_wire::streams::request::Channel;
use http::header::{
    CONNECTION, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_KEY, SEC_WEBSOCKET_VERSION, UPGRADE,
};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, StatusCode, Version};
use hyper::upgrade::OnUpgrade;
use parking_lot::Mutex;
use sha1::{Digest, Sha1};

use crate::http::answer::Answer;
use crate::http::connections::client_quotas::{Client, LimitExceeded, Reservation};
use crate::http::failure::Failure;
use crate::http::request_context::RequestContext;

/// Appended to a client's key before it is hashed (RFC 6455, section 4.2.2).
const ACCEPT_SUFFIX: &[u8] = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
const WEBSOCKET: HeaderValue = HeaderValue::from_static("websocket");
const VERSION: HeaderValue = HeaderValue::from_static("13");
/// Bytes of a client's key.
const KEY_BYTES: usize = 16;

/// Where a handler leaves the ticket of an upgraded connection.
#[derive(Clone, Default)]
pub(crate) struct UpgradeSlot(Arc<Mutex<Option<UpgradeTicket>>>);

/// An accepted upgrade.
pub(crate) struct UpgradeTicket {
    pub(crate) stream: OnUpgrade,
    /// `None` on the path without a channel.
    pub(crate) channel: Option<Channel>,
    pub(crate) client: Client,
    /// The connection's share of the streams.
    pub(crate) _share: Reservation,
}

impl UpgradeSlot {
    /// Whether an upgrade was accepted.
    pub(crate) fn is_taken(&self) -> bool {
        self.0.lock().is_some()
    }

    /// Takes the accepted upgrade.
    pub(crate) fn take(&self) -> Option<UpgradeTicket> {
        self.0.lock().take()
    }
}

/// `GET /ws/market`.
pub(crate) async fn market(context: RequestContext) -> Result<Answer, Failure> {
    accept(context, Some(Channel::Market)).await
}

/// `GET /ws/user`.
pub(crate) async fn user(context: RequestContext) -> Result<Answer, Failure> {
    accept(context, Some(Channel::User)).await
}

/// `GET /ws`: the first request names the channel.
pub(crate) async fn any(context: RequestContext) -> Result<Answer, Failure> {
    accept(context, None).await
}

async fn accept(context: RequestContext, channel: Option<Channel>) -> Result<Answer, Failure> {
    let accepted = check(&context.head)?;
    let app = &context.app;
    app.shared_view
        .wait_acknowledged(Default::default())
        .await?;
    if app.stream_ring.history() == 0 {
        return Err(ErrorCode::Recovering.into());
    }
    let streams = &app.bounds.of(context.surface).streams;
    let share = streams.take(context.client, 1).map_err(|full| match full {
        LimitExceeded::Client(_) => Failure::from(ErrorCode::TooManyStreams),
        LimitExceeded::Total(_) => Failure::from(ErrorCode::StreamsFull),
    })?;
    let client = context.client;
    let mut request = Request::from_parts(context.head, ());
    let Some(slot) = request.extensions_mut().remove::<UpgradeSlot>() else {
        return Err(ErrorCode::WebsocketRequired.into());
    };
    *slot.0.lock() = Some(UpgradeTicket {
        stream: hyper::upgrade::on(request),
        channel,
        client,
        _share: share,
    });
    Ok(Answer::without_body(StatusCode::SWITCHING_PROTOCOLS)
        .header(UPGRADE, WEBSOCKET)
        .header(CONNECTION, HeaderValue::from_static("upgrade"))
        .header(SEC_WEBSOCKET_ACCEPT, accepted))
}

/// Checks the head of an upgrade; returns the accept key.
fn check(head: &http::request::Parts) -> Result<HeaderValue, Failure> {
    if head.version != Version::HTTP_11 {
        return Err(ErrorCode::WebsocketNeedsHttp1.into());
    }
    let headers = &head.headers;
    let is_upgrade = has_token(headers, &UPGRADE, "websocket")
        && has_token(headers, &CONNECTION, "upgrade")
        && head.method == Method::GET;
    if !is_upgrade {
        return Err(Failure::from(ErrorCode::WebsocketRequired).header(UPGRADE, WEBSOCKET));
    }
    if headers.get(SEC_WEBSOCKET_VERSION) != Some(&VERSION) {
        let failure = Failure::from(ErrorCode::WebsocketVersion);
        return Err(failure.header(SEC_WEBSOCKET_VERSION, VERSION));
    }
    let mut keys = headers.get_all(SEC_WEBSOCKET_KEY).iter();
    match (keys.next(), keys.next()) {
        (Some(key), None) if is_key(key) => Ok(accept_key(key.as_bytes())),
        _ => Err(ErrorCode::WebsocketKey.into()),
    }
}

/// Whether a list header has an element, in any case.
fn has_token(headers: &HeaderMap, name: &HeaderName, token: &str) -> bool {
    let values = headers.get_all(name).iter();
    let mut elements = values
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','));
    elements.any(|element| element.trim().eq_ignore_ascii_case(token))
}

fn is_key(key: &HeaderValue) -> bool {
    let mut bytes = [0; KEY_BYTES + 2];
    STANDARD.decode_slice(key, &mut bytes) == Ok(KEY_BYTES)
}

/// The proof that the server understood a client's key.
fn accept_key(key: &[u8]) -> HeaderValue {
    let mut hash = Sha1::new();
    hash.update(key);
    hash.update(ACCEPT_SUFFIX);
    let text = STANDARD.encode(hash.finalize());
    HeaderValue::try_from(text).expect("base64 is a header value")
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::header::RETRY_AFTER;

    fn head(version: Version, headers: &[(HeaderName, &'static str)]) -> http::request::Parts {
        let mut request = Request::new(());
        *request.version_mut() = version;
        for (name, value) in headers {
            (request.headers_mut()).append(name, HeaderValue::from_static(value));
        }
        request.into_parts().0
    }

    #[test]
    fn upgrades_are_accepted_as_the_standard_says() {
        const KEY: &str = "dGhlIHNhbXBsZSBub25jZQ==";
        let good = [
            (CONNECTION, "keep-alive, Upgrade"),
            (UPGRADE, "WebSocket"),
            (SEC_WEBSOCKET_VERSION, "13"),
            (SEC_WEBSOCKET_KEY, KEY),
        ];
        let accepted = check(&head(Version::HTTP_11, &good)).unwrap();
        assert_eq!(
            accepted, "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=",
            "the example of RFC 6455"
        );
        let status = |version, headers: &[(HeaderName, &'static str)]| {
            let failure = check(&head(version, headers)).unwrap_err();
            let answer = failure.render(crate::http::surface::Surface::Trading);
            assert!(answer.headers.get(RETRY_AFTER).is_none());
            (answer.status.as_u16(), answer.headers)
        };
        assert_eq!(status(Version::HTTP_2, &good).0, 400);
        assert_eq!(status(Version::HTTP_10, &good).0, 400);
        let (code, headers) = status(Version::HTTP_11, &good[1..]);
        assert_eq!((code, &headers[UPGRADE]), (426, &WEBSOCKET));
        let with = |at: usize, value: &'static str| {
            let mut headers = good.clone();
            headers[at].1 = value;
            headers
        };
        let (code, headers) = status(Version::HTTP_11, &with(2, "8"));
        assert_eq!((code, &headers[SEC_WEBSOCKET_VERSION]), (426, &VERSION));
        assert_eq!(status(Version::HTTP_11, &with(1, "h2c")).0, 426);
        assert_eq!(status(Version::HTTP_11, &[]).0, 426);
        for key in [
            "",
            "AAAA",
            "dGhlIHNhbXBsZSBub25jZQ",
            "dGhlIHNhbXBsZSBub25jZTEyMw==",
        ] {
            assert_eq!(status(Version::HTTP_11, &with(3, key)).0, 400, "{key}");
        }
        let mut twice = good.to_vec();
        twice.push((SEC_WEBSOCKET_KEY, KEY));
        assert_eq!(status(Version::HTTP_11, &twice).0, 400);
    }
}
