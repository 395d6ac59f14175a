//! Messages of the extension about a connection: `subscribed`, `resumed`, `heartbeat`,
//! `error`, and `system_status` when the engine is away or back. They carry no `prev_sequence`.

use serde::Serialize;
use serde_json::json;

use foretell_model::Sequence;

use crate::streams::request::{Channel, RequestError};
use crate::streams::{Stamp, message};
use crate::text::ids;
use crate::values;

/// The state of the exchange while the engine is unavailable.
pub const RECOVERING: &str = "recovering";

/// `subscribed`: a subscription has taken effect, with these values.
#[derive(Clone, Debug, Serialize)]
pub struct Subscribed<'a> {
    /// The channel.
    pub channel: Channel,
    /// Number of tokens that are now subscribed; on the market channel.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub assets: Option<String>,
    /// Number of markets of the filter, 0 = all; on the user channel.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub markets: Option<String>,
    /// Ids that were skipped.
    pub unknown: &'a [String],
    /// Effective interval; 0 = off.
    #[serde(with = "values::Digits")]
    pub heartbeat_ms: u64,
    /// Interval at which messages are combined: [`CONFLATE_MS`].
    #[serde(with = "values::Digits")]
    pub conflate_ms: u64,
    /// Whether the orders of the key's owner end with the connection; on the user channel.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cancel_on_disconnect: Option<bool>,
    /// The lowest N from which this gateway can resume what was named.
    #[serde(with = "values::Digits")]
    pub oldest_resume: Sequence,
    /// State of the exchange.
    pub state: &'static str,
}

/// Messages are never combined.
pub const CONFLATE_MS: u64 = 0;

impl Subscribed<'_> {
    /// The message.
    #[must_use]
    pub fn json(&self, stamp: &Stamp<'_>) -> String {
        message("subscribed", self, stamp)
    }
}

/// Why a resume became a snapshot.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SnapshotReason {
    /// Messages after that frame are no longer held.
    TooOld,
    /// `stream_id` names another journal.
    OtherStream,
    /// The view started over after that frame.
    HistoryRebuilt,
}

impl SnapshotReason {
    const fn text(self) -> &'static str {
        match self {
            Self::TooOld => "too old",
            Self::OtherStream => "other stream",
            Self::HistoryRebuilt => "history rebuilt",
        }
    }
}

/// `resumed` before the messages of the frames after `from`, up to `to`.
#[must_use]
pub fn resumed_replay(from: Sequence, to: Sequence, stamp: &Stamp<'_>) -> String {
    let body = json!({ "mode": "replay", "from": from.to_string(), "to": to.to_string() });
    message("resumed", &body, stamp)
}

/// `resumed` when earlier messages cannot be replayed: books follow.
#[must_use]
pub fn resumed_snapshot(
    reason: SnapshotReason,
    oldest_resume: Sequence,
    stamp: &Stamp<'_>,
) -> String {
    let body = json!({
        "mode": "snapshot",
        "reason": reason.text(),
        "oldest_resume": oldest_resume.to_string(),
    });
    message("resumed", &body, stamp)
}

#[derive(Serialize)]
struct HeartbeatJson {
    lag_ms: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    receipt: Option<String>,
}

/// `heartbeat`: everything of the subscription up to the stamp's sequence has been sent. The
/// receipt is that of its frame, if known.
#[must_use]
pub fn heartbeat(lag_ms: u64, receipt: Option<&[u8; 32]>, stamp: &Stamp<'_>) -> String {
    let body = HeartbeatJson {
        lag_ms: lag_ms.to_string(),
        receipt: receipt.map(ids::hex_text),
    };
    message("heartbeat", &body, stamp)
}

/// Bytes of a request that its error repeats.
const MAX_REQUEST_ECHO: usize = 200;

/// `error`: a request was ignored. The request is repeated unless it may contain credentials.
#[must_use]
pub fn error(error: &RequestError, request: &str, stamp: &Stamp<'_>) -> String {
    let lower = request.to_ascii_lowercase();
    let is_secret = ["auth", "secret", "passphrase", "\\u"]
        .iter()
        .any(|word| lower.contains(word));
    let request = match is_secret {
        true => "",
        false => &request[..request.floor_char_boundary(MAX_REQUEST_ECHO)],
    };
    let body = json!({
        "code": error.code.name(),
        "message": error.message,
        "request": request,
    });
    message("error", &body, stamp)
}

/// `system_status` after a change of the mode, or when the engine becomes unavailable or is back.
#[must_use]
pub fn system_status(state: &'static str, stamp: &Stamp<'_>) -> String {
    message("system_status", &json!({ "state": state }), stamp)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::streams::request::RequestErrorCode;
    use foretell_model::TimeMs;

    const STAMP: Stamp<'_> = Stamp {
        sequence: Sequence(108),
        prev_sequence: None,
        stream_id: "fa55ed59e6c7d747",
        server_time: TimeMs(1_790_000_000_000),
    };
    const TAIL: &str =
        r#","sequence":"108","stream_id":"fa55ed59e6c7d747","server_ts_ms":"1790000000000"}"#;

    #[test]
    fn messages_have_the_documented_form() {
        let subscribed = |channel, unknown| Subscribed {
            channel,
            assets: (channel == Channel::Market).then(|| 2.to_string()),
            markets: (channel == Channel::User).then(|| 2.to_string()),
            unknown,
            heartbeat_ms: 1_000,
            conflate_ms: CONFLATE_MS,
            cancel_on_disconnect: (channel == Channel::User).then_some(true),
            oldest_resume: Sequence(88),
            state: "running",
        };
        let unknown = ["7".to_owned()];
        for (found, expected) in [
            (
                subscribed(Channel::Market, &[]).json(&STAMP),
                r#"{"event_type":"subscribed","channel":"market","assets":"2","unknown":[],"heartbeat_ms":"1000","conflate_ms":"0","oldest_resume":"88","state":"running""#,
            ),
            (
                subscribed(Channel::User, &unknown).json(&STAMP),
                r#"{"event_type":"subscribed","channel":"user","markets":"2","unknown":["7"],"heartbeat_ms":"1000","conflate_ms":"0","cancel_on_disconnect":true,"oldest_resume":"88","state":"running""#,
            ),
            (
                resumed_replay(Sequence(103), Sequence(108), &STAMP),
                r#"{"event_type":"resumed","mode":"replay","from":"103","to":"108""#,
            ),
            (
                resumed_snapshot(SnapshotReason::TooOld, Sequence(88), &STAMP),
                r#"{"event_type":"resumed","mode":"snapshot","reason":"too old","oldest_resume":"88""#,
            ),
            (
                heartbeat(0, Some(&[0xAB; 32]), &STAMP),
                &format!(
                    r#"{{"event_type":"heartbeat","lag_ms":"0","receipt":"0x{}""#,
                    "ab".repeat(32)
                ),
            ),
            (
                heartbeat(7, None, &STAMP),
                r#"{"event_type":"heartbeat","lag_ms":"7""#,
            ),
            (
                system_status(RECOVERING, &STAMP),
                r#"{"event_type":"system_status","state":"recovering""#,
            ),
        ] {
            assert_eq!(found, format!("{expected}{TAIL}"));
        }
    }

    #[test]
    fn an_error_repeats_the_start_of_a_request_and_never_credentials() {
        let problem = RequestError::new(RequestErrorCode::BadJson, "not JSON");
        let text = error(&problem, &"ü".repeat(200), &STAMP);
        let expected = format!(
            r#"{{"event_type":"error","code":"bad_json","message":"not JSON","request":"{}""#,
            "ü".repeat(100)
        );
        assert_eq!(text, format!("{expected}{TAIL}"));
        for request in [
            r#"{"auth":{"apiKey":"k","secret":"hidden"}"#,
            r#"{"AUTH":"hidden""#,
            r#"{"au\u0074h":"hidden""#,
            r#"passphrase=hidden"#,
        ] {
            let text = error(&problem, request, &STAMP);
            assert!(!text.contains("hidden"), "{text}");
        }
    }
}
