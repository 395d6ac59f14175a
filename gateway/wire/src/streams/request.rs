//! What clients of the streams send: subscriptions, in every form that clients of the family use
//! (docs/api/streams.md). Input is tolerant: unknown fields and ids are skipped.

use std::fmt;
use std::marker::PhantomData;

use foretell_model::{ConditionId, Sequence, TokenId};
use serde::de::{Deserializer, Error, SeqAccess, Visitor};
use serde::{Deserialize, Serialize};

use crate::TokenRef;
use crate::errors::api_error::ApiError;
use crate::errors::error_code::ErrorCode;
use crate::limits::{MAX_STREAM_REQUESTS, MAX_UNKNOWN_IDS};
use crate::read::body::TRADING;
use crate::read::json::{self, Value};
use crate::text::ids;
use crate::values::{
    Condition, Deserializable, Flag, Item, Optional, OrDefault, Readable, Uint, any_text,
    for_serde, values,
};

/// A channel of the streams.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
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
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Operation {
    /// Adds to the subscription.
    #[default]
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
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
pub struct StreamRequest {
    /// `type`, if named.
    #[serde(rename = "type", with = "Optional::<ChannelName>")]
    pub channel: Option<Channel>,
    /// `operation`.
    #[serde(with = "OrDefault::<OperationName>")]
    pub operation: Operation,
    /// The tokens named, in their order; repeated ones are repeated.
    #[serde(skip)]
    pub tokens: Vec<TokenRef>,
    /// `markets`; empty when absent or null, too.
    #[serde(skip)]
    pub markets: Vec<ConditionId>,
    /// Ids that cannot be read, at most [`MAX_UNKNOWN_IDS`].
    #[serde(skip)]
    pub malformed: Vec<String>,
    /// `auth`.
    #[serde(with = "Optional::<Auth>")]
    pub auth: Option<Credentials>,
    /// `initial_dump`, if stated.
    #[serde(with = "Optional::<Flag>")]
    pub initial_dump: Option<bool>,
    /// `custom_feature_enabled`, if stated.
    #[serde(rename = "custom_feature_enabled", with = "Optional::<Flag>")]
    pub custom: Option<bool>,
    /// `resume_from`: the client has everything up to this frame.
    #[serde(with = "Optional::<FrameNumber>")]
    pub resume_from: Option<Sequence>,
    /// `stream_id`.
    #[serde(with = "Optional::<AnyText>")]
    pub stream_id: Option<String>,
    /// `heartbeat_ms`.
    #[serde(with = "Optional::<WholeNumber>")]
    pub heartbeat_ms: Option<u64>,
    /// `conflate_ms`.
    #[serde(with = "Optional::<WholeNumber>")]
    pub conflate_ms: Option<u64>,
    /// `acks`.
    #[serde(with = "OrDefault::<Flag>")]
    pub acks: bool,
    /// `cancel_on_disconnect`, if stated.
    #[serde(with = "Optional::<Flag>")]
    pub cancel_on_disconnect: Option<bool>,
}

impl StreamRequest {
    /// Whether it turns on the event types of the extension.
    #[must_use]
    pub const fn opts_in(&self) -> bool {
        self.acks
            || self.resume_from.is_some()
            || self.heartbeat_ms.is_some()
            || self.conflate_ms.is_some()
            || self.cancel_on_disconnect.is_some()
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
}

impl From<ApiError> for RequestError {
    fn from(error: ApiError) -> Self {
        let text = error.text();
        let (code, message) = match (error.code(), error.values()) {
            // Credentials are not shown.
            (ErrorCode::InvalidField, [field, _, allowed]) if field == "auth" => (
                RequestErrorCode::BadField,
                format!("auth is not allowed: {allowed}"),
            ),
            (ErrorCode::InvalidField, [field, word, _])
                if field == "operation" && word.starts_with('\'') =>
            {
                (RequestErrorCode::UnknownOperation, text)
            }
            (ErrorCode::InvalidField, _) => (RequestErrorCode::BadField, text),
            _ => {
                let message = text.trim_start_matches("invalid body: ").to_owned();
                (RequestErrorCode::BadJson, message)
            }
        };
        Self { code, message }
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
        Ok(object @ Value::Object(_)) => vec![request(&object)],
        Ok(Value::Array(elements)) if elements.len() > MAX_STREAM_REQUESTS => {
            vec![bad(&format!("an array of {} requests", elements.len()))]
        }
        Ok(Value::Array(elements)) => {
            let element = |element: &Value<'_>| match element {
                Value::Object(_) => request(element),
                other => bad(&format!("an element is {}", other.shown())),
            };
            elements.iter().map(element).collect()
        }
        Ok(other) => vec![bad(&format!("the message is {}", other.shown()))],
        Err(problem) => vec![bad(&format!("the message is {}", problem.text()))],
    }
}

fn request(object: &Value<'_>) -> Result<StreamRequest, RequestError> {
    let mut request: StreamRequest = TRADING.read_value(object)?;
    let lists: IdLists = TRADING.read_value(object)?;
    for (tokens, malformed) in [lists.assets_ids, lists.asset_ids, lists.asset_id] {
        request.tokens.extend(tokens);
        request.malformed.extend(malformed);
    }
    let (markets, malformed) = lists.markets;
    request.markets = markets;
    request.malformed.extend(malformed);
    request.malformed.truncate(MAX_UNKNOWN_IDS);
    Ok(request)
}

/// The lists of a request, in which wrong ids are kept, and fields without effect.
#[derive(Deserialize)]
struct IdLists {
    #[serde(with = "OrDefault::<Names<TokenName>>")]
    assets_ids: NamedIds<TokenRef>,
    #[serde(with = "OrDefault::<Names<TokenName>>")]
    asset_ids: NamedIds<TokenRef>,
    #[serde(with = "OrDefault::<Names<TokenName>>")]
    asset_id: NamedIds<TokenRef>,
    #[serde(with = "OrDefault::<Names<Condition>>")]
    markets: NamedIds<ConditionId>,
    #[serde(rename = "level", with = "Optional::<Level>")]
    _level: Option<u64>,
}

values! {
    AnyText { reads String: str, "a text", any_text; }
    WholeNumber { reads u64: Uint, "a whole number", Uint::to_u64; }
    Level { reads u64: Uint, "1, 2, 3", |level: &Uint| level.to_u64().filter(|level| (1..=3).contains(level)); }
    FrameNumber { reads Sequence: Uint, WholeNumber::ALLOWED, |number: &Uint| number.to_u64().map(Sequence); }
    ChannelName { reads Channel: str, "market, user", |text| word(&[("market", Channel::Market), ("user", Channel::User)], text); }
    OperationName { reads Operation: str, "subscribe, unsubscribe", |text| word(&[("subscribe", Operation::Subscribe), ("unsubscribe", Operation::Unsubscribe)], text); }
    TokenName { reads TokenRef: str, "a text", token; }
}

/// The value of a word, in any case.
fn word<T: Copy>(words: &[(&str, T)], text: &str) -> Option<T> {
    let found = words
        .iter()
        .find(|(word, _)| word.eq_ignore_ascii_case(text));
    found.map(|(_, value)| *value)
}

/// A token in decimal digits, as its 32 bytes, or as `<condition_id>:<outcome_index>`.
fn token(text: &str) -> Option<TokenRef> {
    let word = ids::bytes32(text).map(|word| TokenRef::Token(TokenId(word)));
    word.or_else(|| TokenRef::parse(text))
}

/// Ids that are read, and the texts of others.
type NamedIds<T> = (Vec<T>, Vec<String>);

/// The ids of an array, or one as text.
struct Names<F>(PhantomData<F>);

for_serde!(reads Names<F>);

/// Characters of an unknown id that an answer repeats: a token id has 78 digits at most.
const MAX_ID_CHARACTERS: usize = 80;

impl<F: Readable<Json = str>> Names<F> {
    fn add(text: &str, (known, unknown): &mut NamedIds<F::Value>) {
        match F::read(text) {
            Some(id) => known.push(id),
            None if unknown.len() < MAX_UNKNOWN_IDS => {
                unknown.push(text.chars().take(MAX_ID_CHARACTERS).collect());
            }
            None => {}
        }
    }
}

impl<F: Readable<Json = str>> Deserializable for Names<F> {
    type Value = NamedIds<F::Value>;

    fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_any(Self(PhantomData))
    }
}

impl<'de, F: Readable<Json = str>> Visitor<'de> for Names<F> {
    type Value = NamedIds<F::Value>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array of texts")
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        let mut ids = Self::Value::default();
        Self::add(text, &mut ids);
        Ok(ids)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut texts: A) -> Result<Self::Value, A::Error> {
        let mut ids = Self::Value::default();
        while let Some(Item(text)) = texts.next_element::<Item<AnyText>>()? {
            Self::add(&text, &mut ids);
        }
        Ok(ids)
    }
}

/// Credentials; their key has four names.
struct Auth;

impl Deserializable for Auth {
    type Value = Credentials;

    fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Credentials, D::Error> {
        #[derive(Deserialize)]
        struct Fields {
            #[serde(rename = "apiKey", with = "Optional::<AnyText>")]
            camel_key: Option<String>,
            #[serde(with = "Optional::<AnyText>")]
            apikey: Option<String>,
            #[serde(with = "Optional::<AnyText>")]
            api_key: Option<String>,
            #[serde(with = "Optional::<AnyText>")]
            key: Option<String>,
            #[serde(with = "AnyText")]
            secret: String,
            #[serde(with = "AnyText")]
            passphrase: String,
        }
        // An error of a field would show a part of a secret.
        let wrong = || D::Error::custom("an object with the texts apiKey, secret and passphrase");
        let fields = Fields::deserialize(deserializer).map_err(|_| wrong())?;
        let key = fields
            .camel_key
            .or(fields.apikey)
            .or(fields.api_key)
            .or(fields.key);
        Ok(Credentials {
            api_key: key.ok_or_else(wrong)?,
            secret: fields.secret,
            passphrase: fields.passphrase,
        })
    }
}

#[cfg(test)]
#[path = "request_tests.rs"]
mod tests;
