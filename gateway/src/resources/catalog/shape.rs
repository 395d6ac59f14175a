//! Failures that arise before the catalog is asked, in the shape of its surface (protocol 10).

use bytes::Bytes;
use http::StatusCode;
use serde_json::{Value, json};

use crate::answer::Answer;

/// An answer of this surface: a failure of the transport or of the edge gets the `type` that every
/// failure here has.
pub(crate) fn shaped(mut answer: Answer) -> Answer {
    if answer.status.is_success() {
        return answer;
    }
    let body: Value = serde_json::from_slice(&answer.body).unwrap_or(Value::Null);
    if let (Value::String(error), Value::Null) = (&body["error"], &body["type"]) {
        let body = json!({ "type": word(answer.status), "error": error });
        answer.body = Bytes::from(body.to_string());
    }
    answer
}

const fn word(status: StatusCode) -> &'static str {
    match status {
        StatusCode::NOT_FOUND => "not found error",
        StatusCode::METHOD_NOT_ALLOWED => "method not allowed",
        StatusCode::TOO_MANY_REQUESTS => "rate limited",
        StatusCode::SERVICE_UNAVAILABLE => "unavailable",
        StatusCode::INTERNAL_SERVER_ERROR => "internal error",
        _ => "bad request",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shaped_body(status: u16, body: &str) -> String {
        let status = StatusCode::from_u16(status).unwrap();
        let answer = shaped(Answer::with_status(status, body.to_owned()));
        String::from_utf8(answer.body.to_vec()).unwrap()
    }

    #[test]
    fn every_failure_has_a_type() {
        let bare = r#"{"error":"x"}"#;
        for (status, kind) in [
            (400, "bad request"),
            (404, "not found error"),
            (405, "method not allowed"),
            (413, "bad request"),
            (414, "bad request"),
            (500, "internal error"),
            (503, "unavailable"),
        ] {
            let expected = format!(r#"{{"type":"{kind}","error":"x"}}"#);
            assert_eq!(shaped_body(status, bare), expected);
        }
        let own = r#"{"type":"rate limited","error":"x"}"#;
        assert_eq!(shaped_body(429, own), own);
        assert_eq!(shaped_body(200, "[]"), "[]");
    }
}
