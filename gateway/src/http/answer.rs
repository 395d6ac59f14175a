//! A handler's answer and its conversion into an HTTP response.

use std::any::type_name;
use std::marker::PhantomData;

use bytes::Bytes;
use foretell_model::Sequence;
use foretell_wire::data::RowKey;
use foretell_wire::json_text;
use foretell_wire::schema::JsonSchema;
use http::header::{CONTENT_LENGTH, CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode};
use serde::Serialize;

use crate::http::connections::client_quotas::Reservation;
use crate::http::connections::unread_answers::CountedAnswer;
use crate::http::operation::Operation;
use crate::policy::rate_limits::QuotaStatus;

/// Sequence that an answer reflects, or that a write reached.
pub(crate) const X_SEQUENCE: HeaderName = HeaderName::from_static("x-sequence");
/// The recovery number (epoch) of the engine in which that sequence is valid.
pub(crate) const X_EPOCH: HeaderName = HeaderName::from_static("x-epoch");
/// The `next_cursor` of a list whose body is a bare array.
pub(crate) const X_NEXT_CURSOR: HeaderName = HeaderName::from_static("x-next-cursor");

const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// An answer: always JSON, except the metrics page.
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

    /// A JSON body with any status.
    pub(crate) fn with_status(status: StatusCode, body: impl Into<Bytes>) -> Self {
        let mut headers = HeaderMap::with_capacity(4);
        headers.insert(CONTENT_TYPE, JSON);
        Self {
            status,
            body: body.into(),
            headers,
        }
    }

    /// An answer that consists of its status only.
    pub(crate) fn without_body(status: StatusCode) -> Self {
        Self {
            status,
            body: Bytes::new(),
            headers: HeaderMap::new(),
        }
    }

    /// Adds the rate limit headers for the key of the request, if it has limits; a 429 also says when to retry.
    pub(crate) fn with_quota(mut self, quota: Option<QuotaStatus>) -> Self {
        if let Some(quota) = quota {
            quota.add_headers(&mut self.headers);
            if self.status == StatusCode::TOO_MANY_REQUESTS {
                let retry_after = self.headers.entry(RETRY_AFTER);
                retry_after.or_insert_with(|| quota.reset.into());
            }
        }
        self
    }

    /// Adds the headers that identify the reflected state.
    pub(crate) fn at(mut self, position: StatePosition) -> Self {
        self.headers
            .insert(X_SEQUENCE, HeaderValue::from(position.sequence.0));
        self.headers
            .insert(X_EPOCH, HeaderValue::from(position.epoch));
        self
    }

    /// Adds a header.
    pub(crate) fn header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.insert(name, value);
        self
    }

    /// Removes the body of an answer to HEAD but declares its length; hyper writes the length of
    /// others.
    pub(crate) fn without_head_body(mut self) -> Self {
        let length = HeaderValue::from(self.body.len());
        self.headers.insert(CONTENT_LENGTH, length);
        self.body = Bytes::new();
        self
    }

    /// The response; `share` counts the bytes of its body.
    pub(crate) fn into_response(self, share: Reservation) -> Response<CountedAnswer> {
        let bytes = self.body;
        let mut response = Response::new(CountedAnswer { bytes, share });
        *response.status_mut() = self.status;
        *response.headers_mut() = self.headers;
        response
    }
}

/// What a handler answers.
pub(crate) trait Reply {
    fn into_answer(self) -> Answer;

    /// Adds what the documents say of the answer.
    fn describe(operation: &mut Operation);
}

/// An answer that is no JSON.
impl Reply for Answer {
    fn into_answer(self) -> Answer {
        self
    }

    fn describe(_: &mut Operation) {}
}

/// 200 with a `T` as JSON.
#[derive(Debug)]
pub(crate) struct Json<T> {
    answer: Answer,
    content: PhantomData<fn() -> T>,
}

impl<T> Json<T> {
    /// Answers with a `T`; the one given may borrow its texts.
    pub(crate) fn of(content: &impl Serialize) -> Self {
        debug_assert_eq!(type_name::<T>(), name_of(content), "the type of the answer");
        Self::written(json_text(content))
    }

    /// Answers with the JSON text of a `T`.
    pub(crate) fn written(text: impl Into<Bytes>) -> Self {
        Answer::json(text).into()
    }

    /// As [`Answer::at`].
    pub(crate) fn at(self, position: StatePosition) -> Self {
        self.map(|answer| answer.at(position))
    }

    /// Adds the cursor of the page after this row, if there is one, to a list whose body is a bare
    /// array.
    pub(crate) fn continued(self, last: Option<impl RowKey>) -> Self {
        match last {
            Some(key) => {
                let next = HeaderValue::from_str(&key.text()).expect("digits");
                self.header(X_NEXT_CURSOR, next)
            }
            None => self,
        }
    }

    /// As [`Answer::header`].
    pub(crate) fn header(self, name: HeaderName, value: HeaderValue) -> Self {
        self.map(|answer| answer.header(name, value))
    }

    fn map(self, change: impl FnOnce(Answer) -> Answer) -> Self {
        Self {
            answer: change(self.answer),
            ..self
        }
    }
}

/// Also the answer of a failure whose body is a `T`.
impl<T> From<Answer> for Json<T> {
    fn from(answer: Answer) -> Self {
        Self {
            answer,
            content: PhantomData,
        }
    }
}

fn name_of<V>(_: &V) -> &'static str {
    type_name::<V>()
}

impl<T: JsonSchema> Reply for Json<T> {
    fn into_answer(self) -> Answer {
        self.answer
    }

    fn describe(operation: &mut Operation) {
        operation.answers::<T>();
    }
}

/// A state of the exchange, as answers identify it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct StatePosition {
    pub(crate) sequence: Sequence,
    pub(crate) epoch: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_429_says_when_to_retry() {
        let quota = QuotaStatus {
            limit: 5,
            remaining: 0,
            reset: 3,
        };
        let answer = |status| Answer::with_status(status, "{}").with_quota(Some(quota));
        let limited = answer(StatusCode::TOO_MANY_REQUESTS);
        assert_eq!(limited.headers[RETRY_AFTER], "3");
        assert!(!answer(StatusCode::OK).headers.contains_key(RETRY_AFTER));
    }
}
