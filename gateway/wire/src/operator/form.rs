//! Forms of the values in bodies: how a value is written, how it is read, and what an error names
//! as allowed. Serde's `with` takes a form by its name.

use core::fmt;
use core::marker::PhantomData;

use serde::de::{Deserialize, Deserializer, Error, SeqAccess, Unexpected, Visitor};
use serde::ser::{Serialize, Serializer};
use serde_json::{Map, Value as Json};

use foretell_model::{
    ApiKey, ConditionId, Lots, MarketState, Micros, Payout, SystemMode, Tick, TokenId,
    WalletAddress, WalletKind,
};

use crate::action::{REFERENCE_ALLOWED, is_reference};
use crate::api_error::{ApiError, FieldError};
use crate::decimal::{self, Decimal};
use crate::ids;
use crate::rejection::state_word;

/// Most bytes of a title, slug, URL or label.
const MAX_TEXT_BYTES: usize = 2_048;
/// Most bytes of a description.
const MAX_DESCRIPTION_BYTES: usize = 32 * 1024;
/// Most tags of a market.
const MAX_TAGS: usize = 64;

/// A form of a value in JSON.
pub(super) trait Form {
    /// The value.
    type Value;
    fn serialize<S: Serializer>(value: &Self::Value, serializer: S) -> Result<S::Ok, S::Error>;
    fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self::Value, D::Error>;
}

/// A form that is a text.
pub trait TextForm {
    /// The value.
    type Value;
    /// The allowed texts, for errors.
    const ALLOWED: &'static str;

    /// Reads a text; `None` when it is not allowed.
    fn read(text: &str) -> Option<Self::Value>;

    /// Writes the text of a value.
    fn text(value: &Self::Value) -> String;

    /// Reads the text of a field.
    ///
    /// # Errors
    /// The error of a body with this text in this field.
    fn parse(field: &'static str, text: &str) -> Result<Self::Value, ApiError> {
        Self::read(text).ok_or_else(|| FieldError::wrong(field, text, Self::ALLOWED).into())
    }
}

impl<F: TextForm> Form for F {
    type Value = <F as TextForm>::Value;

    fn serialize<S: Serializer>(value: &Self::Value, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&F::text(value))
    }

    fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_str(TextVisitor::<F>(PhantomData))
    }
}

struct TextVisitor<F>(PhantomData<F>);

impl<F: TextForm> Visitor<'_> for TextVisitor<F> {
    type Value = F::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(F::ALLOWED)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<F::Value, E> {
        F::read(text).ok_or_else(|| E::invalid_value(Unexpected::Str(text), &self))
    }
}

macro_rules! text_forms {
    ($($(#[$meta:meta])* $vis:vis $name:ident($value:ty): $allowed:expr, $read:expr, $text:expr;)+) => {$(
        $(#[$meta])*
        #[derive(Debug)]
        $vis enum $name {}

        impl TextForm for $name {
            type Value = $value;
            const ALLOWED: &'static str = $allowed;

            fn read(text: &str) -> Option<$value> {
                $read(text)
            }

            fn text(value: &$value) -> String {
                $text(value)
            }
        }
    )+};
}

text_forms! {
    /// A wallet or an owner.
    pub Address(WalletAddress): "an address, 0x and 40 hex digits", ids::address, ToString::to_string;
    /// A market.
    pub Condition(ConditionId): "a condition id, 0x and 64 hex digits", ids::condition_id, ToString::to_string;
    /// An API key.
    pub Key(ApiKey): "an api key, a UUID", ids::api_key, ids::api_key_text;
    /// An amount of collateral to move, in whole units.
    pub Amount(Micros): "a text, whole units with up to six decimals, above 0",
        |text| decimal::micros(text).filter(|amount| !amount.is_zero()), decimal_text;
    /// Collateral in whole units.
    pub(super) Collateral(Micros): "a text, whole units with up to six decimals", decimal::micros, decimal_text;
    /// Shares.
    pub Shares(Lots): "a text, shares with up to two decimals", decimal::lots, decimal_text;
    /// A tick.
    pub TickSize(Tick): "a text: 0.1, 0.01, 0.001 or 0.0001", decimal::tick, |tick: &Tick| tick.text().to_owned();
    /// An idempotency reference.
    pub Reference(String): REFERENCE_ALLOWED, |text| is_reference(text).then(|| str::to_owned(text)), String::clone;
    /// A payout.
    pub(super) PayoutWord(Payout): "yes, no or half",
        |text| find(Payout::ALL, payout_word, text), |value: &Payout| payout_word(*value).to_owned();
    /// A mode of the system.
    pub(super) Mode(SystemMode): "running, post_only, cancel_only or paused",
        |text| find(SystemMode::ALL, mode_word, text), |value: &SystemMode| mode_word(*value).to_owned();
    /// A kind of wallet.
    pub(super) Kind(WalletKind): "eoa, proxy, safe or deposit",
        |text| find(WalletKind::ALL, wallet_kind_word, text), |kind: &WalletKind| wallet_kind_word(*kind).to_owned();
    /// A kind of wallet that can be bound.
    pub(super) BoundKind(WalletKind): "proxy, safe or deposit",
        |text| Kind::read(text).filter(|kind| *kind != WalletKind::Eoa), Kind::text;
    /// A lifecycle state of a market.
    pub(super) State(MarketState): "registered, active, paused, closed or resolved",
        |text| find(MarketState::ALL, state_word, text), |value: &MarketState| state_word(*value).to_owned();
    /// A question, title or slug that is required.
    pub(super) Title(String): "a text of 1 to 2048 bytes",
        |text| within(text, MAX_TEXT_BYTES).filter(|text| !text.is_empty()), String::clone;
    /// A slug, URL or label.
    pub(super) Text(String): "a text, shorter", |text| within(text, MAX_TEXT_BYTES), String::clone;
    /// A description.
    pub(super) LongText(String): "a text, shorter", |text| within(text, MAX_DESCRIPTION_BYTES), String::clone;
}

fn decimal_text<T: Copy + Into<Decimal>>(value: &T) -> String {
    (*value).into().to_string()
}

fn within(text: &str, limit: usize) -> Option<String> {
    (text.len() <= limit).then(|| text.to_owned())
}

fn find<T: Copy>(all: &[T], word: fn(T) -> &'static str, text: &str) -> Option<T> {
    all.iter().copied().find(|value| word(*value) == text)
}

/// The word for a wallet kind.
#[must_use]
pub const fn wallet_kind_word(kind: WalletKind) -> &'static str {
    match kind {
        WalletKind::Eoa => "eoa",
        WalletKind::Proxy => "proxy",
        WalletKind::Safe => "safe",
        WalletKind::Deposit => "deposit",
    }
}

/// The word for a payout.
#[must_use]
pub const fn payout_word(payout: Payout) -> &'static str {
    match payout {
        Payout::Yes => "yes",
        Payout::No => "no",
        Payout::Half => "half",
    }
}

/// The word for a mode of the system.
#[must_use]
pub const fn mode_word(mode: SystemMode) -> &'static str {
    match mode {
        SystemMode::Running => "running",
        SystemMode::PostOnly => "post_only",
        SystemMode::CancelOnly => "cancel_only",
        SystemMode::Paused => "paused",
    }
}

/// A value that may be absent or null.
pub(super) struct Optional<F>(PhantomData<F>);

impl<F: Form> Form for Optional<F> {
    type Value = Option<F::Value>;

    fn serialize<S: Serializer>(value: &Self::Value, serializer: S) -> Result<S::Ok, S::Error> {
        match value {
            Some(value) => F::serialize(value, serializer),
            None => serializer.serialize_none(),
        }
    }

    fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self::Value, D::Error> {
        struct OptionVisitor<F>(PhantomData<F>);
        impl<'de, F: Form> Visitor<'de> for OptionVisitor<F> {
            type Value = Option<F::Value>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a value or null")
            }

            fn visit_none<E>(self) -> Result<Self::Value, E> {
                Ok(None)
            }

            fn visit_some<D: Deserializer<'de>>(self, value: D) -> Result<Self::Value, D::Error> {
                F::deserialize(value).map(Some)
            }
        }
        deserializer.deserialize_option(OptionVisitor::<F>(PhantomData))
    }
}

/// A value that is its type's default when it is absent or null.
pub(super) struct OrDefault<F>(PhantomData<F>);

impl<F: Form<Value: Default>> Form for OrDefault<F> {
    type Value = F::Value;

    fn serialize<S: Serializer>(value: &Self::Value, serializer: S) -> Result<S::Ok, S::Error> {
        F::serialize(value, serializer)
    }

    fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self::Value, D::Error> {
        Optional::<F>::deserialize(deserializer).map(Option::unwrap_or_default)
    }
}

/// Declares forms of values that serde reads itself; an error names what is allowed here.
macro_rules! plain_forms {
    ($($name:ident($value:ty): $allowed:expr;)+) => {$(
        pub(super) enum $name {}

        impl Form for $name {
            type Value = $value;

            fn serialize<S: Serializer>(value: &$value, serializer: S) -> Result<S::Ok, S::Error> {
                value.serialize(serializer)
            }

            fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<$value, D::Error> {
                <$value>::deserialize(deserializer).map_err(|_| D::Error::custom($allowed))
            }
        }
    )+};
}

plain_forms! {
    Flag(bool): "true or false";
    Number(u64): "a number";
    SmallNumber(u32): "a number";
    RatePpm(u32): "a number, 0 to 1000000";
    Exponent(u8): "a number, 0 to 2";
    RawRecord(Map<String, Json>): "an object";
}

/// Declares forms of lists of texts, each of at most [`MAX_TEXT_BYTES`].
macro_rules! list_forms {
    ($($name:ident($value:ty): $allowed:expr, $limit:expr, $read:expr, $texts:expr;)+) => {$(
        pub(super) enum $name {}

        impl Form for $name {
            type Value = $value;

            fn serialize<S: Serializer>(value: &$value, serializer: S) -> Result<S::Ok, S::Error> {
                $texts(value).serialize(serializer)
            }

            fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<$value, D::Error> {
                let texts = deserializer.deserialize_seq(TextsVisitor { limit: $limit });
                let value = texts.ok().and_then($read);
                value.ok_or_else(|| D::Error::custom($allowed))
            }
        }
    )+};
}

list_forms! {
    TokenPair([TokenId; 2]): "an array of two token ids, texts of 1 to 78 digits", 2, token_pair,
        |pair: &[TokenId; 2]| pair.each_ref().map(ids::token_text);
    Labels([String; 2]): "an array of two labels", 2, labels, <[String; 2]>::clone;
    Tags(Vec<String>): "an array of up to 64 labels", MAX_TAGS, Some, Vec::clone;
}

fn token_pair(texts: Vec<String>) -> Option<[TokenId; 2]> {
    let token = |text: &String| decimal::uint256(text).ok().map(TokenId);
    match texts.as_slice() {
        [yes, no] => Some([token(yes)?, token(no)?]),
        _ => None,
    }
}

fn labels(texts: Vec<String>) -> Option<[String; 2]> {
    let labels: [String; 2] = texts.try_into().ok()?;
    (!labels.iter().any(String::is_empty)).then_some(labels)
}

/// Reads at most `limit` texts.
struct TextsVisitor {
    limit: usize,
}

impl<'de> Visitor<'de> for TextsVisitor {
    type Value = Vec<String>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an array of up to {} texts", self.limit)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Vec<String>, A::Error> {
        let mut texts = Vec::new();
        while let Some(text) = elements.next_element::<String>()? {
            if texts.len() == self.limit || text.len() > MAX_TEXT_BYTES {
                return Err(A::Error::invalid_length(texts.len() + 1, &self));
            }
            texts.push(text);
        }
        Ok(texts)
    }
}
