//! What a handler answers, and how it becomes an HTTP response.

use bytes::Bytes;
use foretell_model::Sequence;
use http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode};

use crate::client_shares::Share;
use crate::rate_limits::Standing;
use crate::unread::Counted;

/// Sequence an answer reflects, or that a write reached.
pub(crate) const X_SEQUENCE: HeaderName = HeaderName::from_static("x-sequence");
/// Number of the engine's recovery the sequence belongs to.
pub(crate) const X_EPOCH: HeaderName = HeaderName::from_static("x-epoch");
/// `next_cursor` of a list that is a bare array.
pub(crate) const X_NEXT_CURSOR: HeaderName = HeaderName::from_static("x-next-cursor");

const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// An answer: always JSON but for the metrics page.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) body: Bytes,
    pub(crate) headers: HeaderMap,
}

impl Answer {
    /// 200 with a JSON body.
    pub(crate) fn json(body: impl Into<Bytes>) -> Self {
        Self::with_status(StatusCode::OK, body)
    }

    /// A JSON body under any status.
    pub(crate) fn with_status(status: StatusCode, body: impl Into<Bytes>) -> Self {
        let mut headers = HeaderMap::with_capacity(4);
        headers.insert(CONTENT_TYPE, JSON);
        Self {
            status,
            body: body.into(),
            headers,
        }
    }

    /// A status that says it all.
    pub(crate) fn without_body(status: StatusCode) -> Self {
        Self {
            status,
            body: Bytes::new(),
            headers: HeaderMap::new(),
        }
    }

    /// Says how the key of the request stands with its rate limits, where it has any.
    pub(crate) fn stands(mut self, standing: Option<Standing>) -> Self {
        if let Some(standing) = standing {
            standing.tell(&mut self.headers);
        }
        self
    }

    /// Names the state this reflects.
    pub(crate) fn at(mut self, place: Place) -> Self {
        self.headers
            .insert(X_SEQUENCE, HeaderValue::from(place.sequence.0));
        self.headers.insert(X_EPOCH, HeaderValue::from(place.epoch));
        self
    }

    /// Adds a header.
    pub(crate) fn header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.insert(name, value);
        self
    }

    /// The answer to a HEAD keeps the length and loses the body; the length of any other is its
    /// body's, which hyper writes.
    pub(crate) fn without_what_head_omits(mut self) -> Self {
        let length = HeaderValue::from(self.body.len());
        self.headers.insert(CONTENT_LENGTH, length);
        self.body = Bytes::new();
        self
    }

    /// The response, whose body is counted in `share`.
    pub(crate) fn into_response(self, share: Share) -> Response<Counted> {
        let bytes = self.body;
        let mut response = Response::new(Counted { bytes, share });
        *response.status_mut() = self.status;
        *response.headers_mut() = self.headers;
        response
    }
}

/// A state of the exchange, as answers name it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Place {
    pub(crate) sequence: Sequence,
    pub(crate) epoch: u64,
}
