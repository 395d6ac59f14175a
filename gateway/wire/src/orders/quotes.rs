//! Bodies and answers of `/quotes` (docs/api/makers.md).

use foretell_model::limits::{MAX_QUOTES, QUOTE_GROUPS};
use foretell_model::quote::{Quote, QuoteField, QuoteLimits, QuoteWord};
use foretell_model::{
    ConditionId, Lots, Micros, OrderId, RejectionReason, TimeMs, WalletAddress, WalletKind,
};
use serde::{Deserialize, Serialize};

use crate::errors::api_error::{ApiError, FieldError};
use crate::errors::error_code::ErrorCode;
use crate::read::body::{TRADING, bodies};
use crate::read::path::PathParameter;
use crate::schema::JsonSchema;
use crate::text::ids;
use crate::values::{
    self, Bytes, Collateral, Condition, Each, Flag, Millis, Optional, OrDefault, Readable as _,
    Shares, Signature65, SignatureType, Uint, Wallet, hex32, values,
};

values! {
    Group { reads u8: u8 { "maximum": QUOTE_GROUPS - 1 }, "a number, 0 to 15", |group: &u8| Some(*group).filter(|group| *group < QUOTE_GROUPS); }
    Number { reads u64: Uint, "a number or text of digits, 0 to 18446744073709551615", Uint::to_u64; }
    /// A word that is none is refused later, by its index.
    Word { reads Option<QuoteWord>: str as Bytes, concat!("texts of ", hex32!(words)), |text: &str| Some(ids::bytes32(text).map(QuoteWord)); }
    Span { reads u32: u32, "a number of milliseconds", |millis: &u32| Some(*millis); }
}

/// The body of `POST /quotes`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct QuotesBody {
    /// What its maker signed.
    pub set: SetFields,
    /// EIP-712 signature of the maker's owner, 65 bytes.
    #[serde(with = "Signature65")]
    pub signature: Vec<u8>,
}

/// The signed set.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SetFields {
    /// The wallet that trades.
    #[serde(with = "Wallet")]
    pub maker: WalletAddress,
    /// Its owner, who owns the API key too.
    #[serde(with = "Wallet")]
    pub signer: WalletAddress,
    /// The maker: 0 EOA, 1 proxy, 2 safe, 3 deposit wallet.
    #[serde(rename = "signatureType", with = "SignatureType")]
    pub kind: WalletKind,
    /// The group whose quotes it replaces.
    #[serde(with = "Group")]
    pub group: u8,
    /// Above the last one of the group, at most `timestamp` × 1000.
    #[serde(with = "Number")]
    pub revision: u64,
    /// Sequence of the last own fill that the maker knows; 18446744073709551615 to take no account of fills.
    #[serde(with = "Number")]
    pub seen: u64,
    /// Time of signing.
    #[serde(with = "Millis")]
    pub timestamp: TimeMs,
    /// When its quotes end at the latest: at most a day ahead.
    #[serde(with = "Millis")]
    pub valid_until: TimeMs,
    /// The builder; zero by default.
    #[serde(with = "OrDefault::<Bytes>")]
    pub builder: [u8; 32],
    /// The markets for which the set speaks, ascending.
    #[serde(with = "Each::<Condition>")]
    #[schemars(length(min = 1, max = MAX_QUOTES))]
    pub conditions: Vec<ConditionId>,
    /// Words of its quotes.
    #[serde(with = "Each::<Word>")]
    #[schemars(length(max = MAX_QUOTES))]
    quotes: Vec<Option<QuoteWord>>,
}

/// A signed set, whose words are quotes and whose markets ascend.
#[derive(Clone, Debug)]
pub struct QuoteSubmission {
    /// Its other fields.
    pub set: SetFields,
    /// Its words as signed.
    pub words: Vec<QuoteWord>,
    /// What they say.
    pub quotes: Vec<Quote>,
    /// EIP-712 signature of the maker's owner.
    pub signature: Vec<u8>,
}

bodies!(TRADING: QuotesBody => QuoteSubmission);

/// A set refused for one of its quotes or conditions.
#[must_use]
pub fn wrong_quote(place: &str, value: &dyn core::fmt::Display, allowed: &str) -> ApiError {
    ErrorCode::InvalidQuote.with([&place, value, &allowed])
}

impl TryFrom<QuotesBody> for QuoteSubmission {
    type Error = ApiError;

    fn try_from(QuotesBody { set, signature }: QuotesBody) -> Result<Self, ApiError> {
        let counts = [
            ("conditions", set.conditions.len(), "1 to 64 condition ids"),
            ("quotes", set.quotes.len(), "up to 64 words"),
        ];
        for (field, count, allowed) in counts {
            if count > MAX_QUOTES || field == "conditions" && count == 0 {
                return Err(ErrorCode::TooManyEntries.with([&field, &count, &allowed]));
            }
        }
        if let Some(at) =
            (1..set.conditions.len()).find(|at| set.conditions[at - 1] >= set.conditions[*at])
        {
            let place = format!("conditions[{at}]");
            let allowed = "ids in ascending order, each once";
            return Err(wrong_quote(&place, &set.conditions[at], allowed));
        }
        let mut words = Vec::with_capacity(set.quotes.len());
        let mut quotes = Vec::with_capacity(set.quotes.len());
        for (index, word) in set.quotes.iter().enumerate() {
            let word = word.ok_or_else(|| {
                wrong_quote(&format!("quotes[{index}]"), &"another text", Bytes::ALLOWED)
            })?;
            let quote = word
                .read()
                .map_err(|field| wrong_word(index, &word, field))?;
            if usize::from(quote.condition) >= set.conditions.len() {
                let allowed = format!("0 to {}", set.conditions.len() - 1);
                let place = format!("quotes[{index}].condition");
                return Err(wrong_quote(&place, &quote.condition, &allowed));
            }
            words.push(word);
            quotes.push(quote);
        }
        Ok(Self {
            set,
            words,
            quotes,
            signature,
        })
    }
}

/// The error for a word with such a field.
fn wrong_word(index: usize, QuoteWord(word): &QuoteWord, field: QuoteField) -> ApiError {
    let (name, value, allowed) = match field {
        QuoteField::Outcome => ("outcome", word[2].to_string(), "0 (Yes) or 1 (No)"),
        QuoteField::Side => ("side", word[3].to_string(), "0 (BUY) or 1 (SELL)"),
        QuoteField::Price => {
            let price = u32::from_be_bytes([word[4], word[5], word[6], word[7]]);
            ("price", price.to_string(), "a price below 1, in 0.0001")
        }
        QuoteField::Flags => ("flags", word[16].to_string(), "0, or 1 (grow_tail)"),
        QuoteField::Padding => ("padding", hex::encode(&word[17..]), "15 bytes of zero"),
    };
    wrong_quote(&format!("quotes[{index}].{name}"), &value, allowed)
}

/// The body of `POST /quotes/heartbeat`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct QuotesHeartbeat {
    /// The wallet; by default the owner's only bound wallet, else the owner.
    #[serde(with = "Optional::<Wallet>")]
    pub wallet: Option<WalletAddress>,
    /// The group.
    #[serde(with = "Group")]
    pub group: u8,
    /// Revision of its last set.
    #[serde(with = "Number")]
    pub revision: u64,
}

/// The body of `PUT /quotes/groups/{n}`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct QuoteLimitsBody {
    /// The wallet; by default the owner's only bound wallet, else the owner.
    #[serde(with = "Optional::<Wallet>")]
    pub wallet: Option<WalletAddress>,
    /// Without a set or a heartbeat for so long the quotes end: 500 to 60000; 0 = no lease.
    #[serde(with = "OrDefault::<Span>")]
    pub lease_ms: u32,
    /// Window of the limits from its first fill: 100 to 60000; 0 = no limits.
    #[serde(with = "OrDefault::<Span>")]
    pub window_ms: u32,
    /// Shares filled in a window that freeze the group; 0 = no such limit.
    #[serde(with = "OrDefault::<Shares>")]
    pub shares: Lots,
    /// Collateral.
    #[serde(with = "OrDefault::<Collateral>")]
    pub value: Micros,
    /// Net shares of one market; bought No counts as sold Yes.
    #[serde(with = "OrDefault::<Shares>")]
    pub net_shares: Lots,
    /// Whether a frozen group takes quotes again.
    #[serde(with = "OrDefault::<Flag>")]
    pub reset: bool,
}

bodies!(TRADING: QuotesHeartbeat, QuoteLimitsBody);

impl QuoteLimitsBody {
    /// Lease and limits.
    #[must_use]
    pub const fn limits(&self) -> QuoteLimits {
        QuoteLimits {
            lease_ms: self.lease_ms,
            window_ms: self.window_ms,
            lots: self.shares,
            value: self.value,
            net_lots: self.net_shares,
        }
    }
}

/// A group in a path.
#[derive(Clone, Copy, Debug)]
pub struct QuoteGroup(pub u8);

impl PathParameter for QuoteGroup {
    type Schema = u8;
    const ERRORS: &'static [ErrorCode] = &[ErrorCode::InvalidField];

    fn read(text: &str) -> Result<Self, ApiError> {
        let group = text.parse().ok().filter(|_| !text.starts_with('+'));
        let group = group.filter(|group| *group < QUOTE_GROUPS).map(Self);
        group.ok_or_else(|| FieldError::wrong("n", text, "a group, 0 to 15").into())
    }
}

/// The answer to a set.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct QuotesAnswer {
    /// Its digest.
    #[serde(with = "values::Hash")]
    pub set: OrderId,
    /// Its revision.
    pub revision: u64,
    /// The command of the set.
    pub sequence: u64,
    /// The set repeats the group's last one, and changes nothing; absent otherwise, as is then what follows.
    #[schemars(extend("const" = true))]
    #[serde(skip_serializing_if = "core::ops::Not::not")]
    pub duplicate: bool,
    /// What it did.
    #[serde(flatten)]
    pub done: Option<QuotesDone>,
}

/// What a set did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct QuotesDone {
    /// Live quotes that stay as they are, at their place.
    pub kept: u8,
    /// Live quotes that are smaller now, at their place.
    pub reduced: u8,
    /// Quotes, or the rest of larger ones, that went to the back of their queue.
    pub placed: u32,
    /// Live quotes that ended.
    pub ended: u8,
    /// Quotes that were not placed.
    pub refused: Vec<RefusedQuote>,
    /// For each quote of the set the id of what it placed; null where it placed nothing. What was live keeps
    /// its id.
    #[schemars(with = "Vec<Option<values::Hash>>")]
    pub orders: Vec<Option<String>>,
}

/// A quote that was not placed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RefusedQuote {
    /// Its index in the set.
    pub quote: u8,
    /// Code of the error (docs/api/error-codes.md).
    pub code: &'static str,
    /// Why.
    pub error: &'static str,
}

impl RefusedQuote {
    /// A quote with a reason of [`foretell_model::quote::QuotesResult::REASONS`].
    #[must_use]
    pub fn new(quote: u8, reason: RejectionReason) -> Self {
        let (code, error) = match reason {
            RejectionReason::SizeBelowMinimum => (
                ErrorCode::SizeBelowMinimum,
                "the size is below the market's minimum",
            ),
            RejectionReason::TooManyLiveOrders => (
                ErrorCode::TooManyLiveOrders,
                "the group has 64 live quotes, or the wallet its maximum of live orders",
            ),
            RejectionReason::NotEnoughCollateral => (
                ErrorCode::InsufficientBalance,
                "the free collateral is too little",
            ),
            RejectionReason::NotEnoughShares => {
                (ErrorCode::InsufficientShares, "the free shares are too few")
            }
            RejectionReason::CrossesBook => {
                (ErrorCode::CrossesBook, "the quote would trade at once")
            }
            RejectionReason::FilledSince => (ErrorCode::FilledSince, ErrorCode::FilledSince.text()),
            _ => (ErrorCode::Internal, ErrorCode::Internal.text()),
        };
        Self {
            quote,
            code: code.name(),
            error,
        }
    }
}

/// The answer to a heartbeat.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct QuotesLease {
    /// The group.
    pub group: u8,
    /// Revision of its last set.
    pub revision: u64,
    /// Its live quotes.
    pub live: u8,
    /// When they end unless renewed, unix milliseconds.
    pub until: u64,
}

/// The answer to new limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct QuoteLimitsAnswer {
    /// The group.
    pub group: u8,
    /// Its lease in milliseconds; 0 = none.
    pub lease_ms: u32,
    /// The window of its limits; 0 = none.
    pub window_ms: u32,
    /// Shares.
    #[serde(with = "values::Amount")]
    pub shares: Lots,
    /// Collateral.
    #[serde(with = "values::Amount")]
    pub value: Micros,
    /// Net shares of one market.
    #[serde(with = "values::Amount")]
    pub net_shares: Lots,
}

#[cfg(test)]
#[path = "quotes_tests.rs"]
mod tests;
