//! What clients of the streams send: subscriptions, in every form that clients of the family use
//! (docs/api/streams.md). Input is tolerant: unknown fields and ids are skipped.

use std::borrow::Cow;
use std::fmt;

use crate::TokenRef;
use crate::limits::{MAX_STREAM_REQUESTS, MAX_UNKNOWN_IDS};
use crate::read::json::{self, Number, Object, Value};
use crate::text::ids;
use foretell_model::{ConditionId, Sequence};

/// A channel of the streams.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Channel {
    /// Books and trades of markets.
    Market,
    /// Orders and trades of an owner.
    User,
}

impl Channel {
    /// The channel's name in messages and metrics.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Market => "market",
            Self::User => "user",
        }
    }
}

/// What a request does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Operation {
    /// Adds to the subscription.
    Subscribe,
    /// Takes away from it.
    Unsubscribe,
}

/// The credentials of the user channel, as sent.
#[derive(Clone, PartialEq, Eq)]
pub struct Credentials {
    /// Names the key.
    pub api_key: String,
    /// Its secret.
    pub secret: String,
    /// Its passphrase.
    pub passphrase: String,
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Credentials(secret)")
    }
}

/// One request of a client.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StreamRequest {
    /// `type`, if named.
    pub channel: Option<Channel>,
    /// `operation`.
    pub operation: Operation,
    /// The tokens named, in their order; repeated ones are repeated.
    pub tokens: Vec<TokenRef>,
    /// `markets`; empty when absent or null, too.
    pub markets: Vec<ConditionId>,
    /// Ids that cannot be read, at most [`MAX_UNKNOWN_IDS`].
    pub malformed: Vec<String>,
    /// `auth`.
    pub auth: Option<Credentials>,
    /// `initial_dump`, if stated.
    pub initial_dump: Option<bool>,
    /// `custom_feature_enabled`, if stated.
    pub custom: Option<bool>,
    /// `resume_from`: the client has everything up to this frame.
    pub resume_from: Option<Sequence>,
    /// `stream_id`.
    pub stream_id: Option<String>,
    /// `heartbeat_ms`.
    pub heartbeat_ms: Option<u64>,
    /// `conflate_ms`.
    pub conflate_ms: Option<u64>,
    /// `acks`.
    pub acks: bool,
}

impl StreamRequest {
    /// Whether it turns on the event types of the extension.
    #[must_use]
    pub const fn opts_in(&self) -> bool {
        self.acks
            || self.resume_from.is_some()
            || self.heartbeat_ms.is_some()
            || self.conflate_ms.is_some()
    }
}

impl StreamRequest {
    /// Bytes of its lists of ids.
    #[must_use]
    pub fn list_bytes(&self) -> usize {
        size_of_val(&self.tokens[..]) + size_of_val(&self.markets[..])
    }
}

/// The code of an `error` message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RequestErrorCode {
    /// Not a JSON object, nor an array of objects.
    BadJson,
    /// A field has a wrong type or value.
    BadField,
    /// `operation` is unknown.
    UnknownOperation,
    /// `type` is the other channel.
    WrongChannel,
    /// The request needs a subscription, or could not become one.
    NotSubscribed,
}

impl RequestErrorCode {
    /// The code as clients see it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::BadJson => "bad_json",
            Self::BadField => "bad_field",
            Self::UnknownOperation => "unknown_operation",
            Self::WrongChannel => "wrong_channel",
            Self::NotSubscribed => "not_subscribed",
        }
    }
}

/// A request that is ignored. It never ends a connection.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RequestError {
    /// The kind.
    pub code: RequestErrorCode,
    /// What is wrong, and what is allowed.
    pub message: String,
}

impl RequestError {
    /// An error with this message.
    #[must_use]
    pub fn new(code: RequestErrorCode, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
        }
    }

    fn field(field: &str, value: &Value<'_>, allowed: &str) -> Self {
        let message = match field {
            "auth" => format!("auth is not allowed: {allowed}"),
            _ => format!("{field} is {}, allowed: {allowed}", value.shown()),
        };
        Self::new(RequestErrorCode::BadField, message)
    }
}

/// Reads a text message: an object, or an array of objects.
#[must_use]
pub fn read_requests(text: &str) -> Vec<Result<StreamRequest, RequestError>> {
    let mut copy = Vec::new();
    let bad = |problem: &str| {
        let message = format!("{problem}, allowed: a JSON object, or an array of objects");
        Err(RequestError::new(RequestErrorCode::BadJson, message))
    };
    match json::read(text.as_bytes(), &mut copy) {
        Ok(Value::Object(object)) => vec![request(&object)],
        Ok(Value::Array(elements)) if elements.len() > MAX_STREAM_REQUESTS => {
            vec![bad(&format!("an array of {} requests", elements.len()))]
        }
        Ok(Value::Array(elements)) => {
            let element = |element: &Value<'_>| match element {
                Value::Object(object) => request(object),
                other => bad(&format!("an element is {}", other.shown())),
            };
            elements.iter().map(element).collect()
        }
        Ok(other) => vec![bad(&format!("the message is {}", other.shown()))],
        Err(problem) => vec![bad(&format!("the message is {}", problem.text()))],
    }
}

fn request(object: &Object<'_>) -> Result<StreamRequest, RequestError> {
    if let Some(key) = object.duplicate() {
        let message = format!("the key {key} is repeated, allowed: once");
        return Err(RequestError::new(RequestErrorCode::BadJson, message));
    }
    let mut malformed = Vec::new();
    let mut tokens = Vec::new();
    for field in ["assets_ids", "asset_ids", "asset_id"] {
        for text in texts(object, field)? {
            match token(&text) {
                Some(token) => tokens.push(token),
                None => note(&mut malformed, &text),
            }
        }
    }
    let mut markets = Vec::new();
    for text in texts(object, "markets")? {
        match ids::condition_id(&text) {
            Some(market) => markets.push(market),
            None => note(&mut malformed, &text),
        }
    }
    level(object)?;
    Ok(StreamRequest {
        channel: channel(object)?,
        operation: operation(object)?,
        tokens,
        markets,
        malformed,
        auth: credentials(object)?,
        initial_dump: flag(object, "initial_dump")?,
        custom: flag(object, "custom_feature_enabled")?,
        resume_from: number(object, "resume_from")?.map(Sequence),
        stream_id: word(object, "stream_id")?.map(Cow::into_owned),
        heartbeat_ms: number(object, "heartbeat_ms")?,
        conflate_ms: number(object, "conflate_ms")?,
        acks: flag(object, "acks")?.unwrap_or(false),
    })
}

/// A token in decimal digits, as `0x` and 64 hex digits, or as `<condition_id>:<outcome_index>`.
fn token(text: &str) -> Option<TokenRef> {
    match text.contains(':') {
        true => TokenRef::parse(text),
        false => match ids::bytes32(text) {
            Some(word) => Some(TokenRef::Token(foretell_model::TokenId(word))),
            None => TokenRef::parse(text),
        },
    }
}

fn note(malformed: &mut Vec<String>, text: &str) {
    if malformed.len() < MAX_UNKNOWN_IDS {
        malformed.push(text.chars().take(MAX_ID_CHARACTERS).collect());
    }
}

/// Characters of an unknown id that an answer repeats: a token id has 78 digits at most.
const MAX_ID_CHARACTERS: usize = 80;

fn channel(object: &Object<'_>) -> Result<Option<Channel>, RequestError> {
    let Some(text) = word(object, "type")? else {
        return Ok(None);
    };
    match text.to_ascii_lowercase().as_str() {
        "market" => Ok(Some(Channel::Market)),
        "user" => Ok(Some(Channel::User)),
        _ => {
            let value = object.get("type");
            Err(RequestError::field("type", value, "market, user"))
        }
    }
}

fn operation(object: &Object<'_>) -> Result<Operation, RequestError> {
    let Some(text) = word(object, "operation")? else {
        return Ok(Operation::Subscribe);
    };
    match text.to_ascii_lowercase().as_str() {
        "subscribe" => Ok(Operation::Subscribe),
        "unsubscribe" => Ok(Operation::Unsubscribe),
        _ => {
            let shown = object.get("operation").shown();
            let message = format!("operation is {shown}, allowed: subscribe, unsubscribe");
            Err(RequestError::new(
                RequestErrorCode::UnknownOperation,
                message,
            ))
        }
    }
}

fn credentials(object: &Object<'_>) -> Result<Option<Credentials>, RequestError> {
    const ALLOWED: &str = "an object with the texts apiKey, secret and passphrase";
    let auth = match object.get("auth") {
        Value::Null => return Ok(None),
        Value::Object(auth) => auth,
        other => return Err(RequestError::field("auth", other, ALLOWED)),
    };
    let text = |names: &[&str]| {
        let values = names.iter().map(|name| auth.get(name));
        let text = values.filter_map(|value| match value {
            Value::Text(text) => Some(text.clone().into_owned()),
            _ => None,
        });
        let mut text = text;
        text.next()
            .ok_or_else(|| RequestError::field("auth", &Value::Null, ALLOWED))
    };
    Ok(Some(Credentials {
        api_key: text(&["apiKey", "apikey", "api_key", "key"])?,
        secret: text(&["secret"])?,
        passphrase: text(&["passphrase"])?,
    }))
}

fn level(object: &Object<'_>) -> Result<(), RequestError> {
    match number(object, "level")? {
        None | Some(1..=3) => Ok(()),
        Some(_) => Err(RequestError::field("level", object.get("level"), "1, 2, 3")),
    }
}

/// The texts of an array, or a single text.
fn texts<'a>(object: &Object<'a>, field: &str) -> Result<Vec<Cow<'a, str>>, RequestError> {
    let wrong = |value: &Value<'_>| RequestError::field(field, value, "an array of texts");
    match object.get(field) {
        Value::Null => Ok(Vec::new()),
        Value::Text(text) => Ok(vec![text.clone()]),
        Value::Array(elements) => {
            let text = |element: &Value<'a>| match element {
                Value::Text(text) => Ok(text.clone()),
                other => Err(wrong(other)),
            };
            elements.iter().map(text).collect()
        }
        other => Err(wrong(other)),
    }
}

fn word<'a>(object: &Object<'a>, field: &str) -> Result<Option<Cow<'a, str>>, RequestError> {
    match object.get(field) {
        Value::Null => Ok(None),
        Value::Text(text) => Ok(Some(text.clone())),
        other => Err(RequestError::field(field, other, "a text")),
    }
}

fn flag(object: &Object<'_>, field: &str) -> Result<Option<bool>, RequestError> {
    match object.get(field) {
        Value::Null => Ok(None),
        Value::Bool(flag) => Ok(Some(*flag)),
        other => Err(RequestError::field(field, other, "true, false")),
    }
}

/// A whole number, or its digits as text.
fn number(object: &Object<'_>, field: &str) -> Result<Option<u64>, RequestError> {
    let value = object.get(field);
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let number = match value {
        Value::Null => return Ok(None),
        Value::Number(Number::Whole(number)) => Some(*number),
        Value::Text(text) if digits(text) => text.parse().ok(),
        _ => None,
    };
    match number {
        Some(number) => Ok(Some(number)),
        None => Err(RequestError::field(field, value, "a whole number")),
    }
}

#[cfg(test)]
#[path = "request_tests.rs"]
mod tests;
