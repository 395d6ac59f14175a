//! Values of operators' bodies.

use core::borrow::Borrow;
use core::ops::RangeInclusive;

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use serde_json::{Map, Value as Json};

use foretell_model::limits::{
    MAX_CLOCK_MS, MAX_FEE_EXPONENT, MAX_REBATE_PPM, MAX_SOURCE_BYTES, MAX_TAKER_DELAY_MS,
    MAX_WINDOW_SECONDS,
};
use foretell_model::{
    Hold, HoldSet, Micros, OperatorName, OperatorRole, Payout, QuestionIndex, RoleSet, TimeMs,
    TokenId, WalletKind,
};

use crate::operator::markets::payout_name::PayoutName;
use crate::text::decimal::{self, Decimal};
use crate::text::ids::{self, TokenRef};
use crate::text::printable::is_hidden;
use crate::text::time::iso_millis;
use crate::text::words::role_word;
#[cfg(feature = "documents")]
use crate::values::{AnyToken, words};
use crate::values::{Bytes, find, hex32, values, written};

/// The kinds of wallets that can be bound.
const BOUND_KINDS: &[WalletKind] = &[WalletKind::Proxy, WalletKind::Safe, WalletKind::Deposit];
/// Most bytes of a title, slug, URL or label.
const MAX_TEXT_BYTES: usize = 2_048;
/// Most bytes of a description.
const MAX_DESCRIPTION_BYTES: usize = 32 * 1024;
/// Most tags of a market.
const MAX_TAGS: usize = 64;
/// Most characters of a wallet's name or pseudonym.
const MAX_NAME_CHARACTERS: usize = 64;
/// Most characters of a wallet's bio.
const MAX_BIO_CHARACTERS: usize = 1_000;
/// Most characters of a wallet's URLs.
const MAX_URL_CHARACTERS: usize = 2_048;

values! {
    /// A payout as a request names it.
    pub(crate) PayoutText {
        reads PayoutName: str { "minLength": 1, "maxLength": MAX_TEXT_BYTES }, "a label of the market's outcomes, first, second, half or outside", |text: &str| bounded(1..=MAX_TEXT_BYTES)(text).map(PayoutName::new), PayoutName::text;
    }
    /// A payout.
    pub(crate) PayoutWord { reads Payout: str { "enum": words(Payout::ALL, payout_word) }, "yes, no, half or outside", find(Payout::ALL, payout_word), written(payout_word); }
    /// Whose hold.
    pub(crate) HoldName { reads Hold: str { "enum": words(Hold::ALL, hold_word) }, "operator or upstream", find(Hold::ALL, hold_word), written(hold_word); }
    /// Holds of a market.
    pub(crate) Holds {
        reads HoldSet: Vec<String> { "items": { "type": "string", "enum": words(Hold::ALL, hold_word) } }, "an array of holds: operator, upstream", |words: &Vec<String>| holds(words), |set: &HoldSet| hold_words(*set);
    }
    /// The bit of a question in signed conversions.
    pub(crate) Index { reads QuestionIndex: u8 { "maximum": 127 }, "a number, 0 to 127", |code: &u8| QuestionIndex::from_code(*code), |index: &QuestionIndex| index.0; }
    /// A kind of wallet.
    pub(crate) Kind { reads WalletKind: str { "enum": words(WalletKind::ALL, wallet_kind_word) }, "eoa, proxy, safe or deposit", find(WalletKind::ALL, wallet_kind_word), written(wallet_kind_word); }
    /// A kind of wallet that can be bound.
    pub(crate) BoundKind { reads WalletKind: str { "enum": words(BOUND_KINDS, wallet_kind_word) }, "proxy, safe or deposit", find(BOUND_KINDS, wallet_kind_word), written(wallet_kind_word); }
    /// A slug that is required.
    pub(crate) Slug { reads String: str { "pattern": "^[A-Za-z0-9._~-]+$", "maxLength": MAX_TEXT_BYTES }, "a text of 1 to 2048 of A-Z, a-z, 0-9, -, _, . and ~", slug(1), String::as_str; }
    /// A slug that may be empty.
    pub(crate) SlugOrEmpty { reads String: str { "pattern": "^[A-Za-z0-9._~-]*$", "maxLength": MAX_TEXT_BYTES }, "a text of at most 2048 of A-Z, a-z, 0-9, -, _, . and ~", slug(0), String::as_str; }
    /// A question or title that is required.
    pub(crate) Title { reads String: str { "minLength": 1, "maxLength": MAX_TEXT_BYTES }, "a text of 1 to 2048 bytes without hidden characters", bounded(1..=MAX_TEXT_BYTES), String::as_str; }
    /// A URL or label.
    pub(crate) Text { reads String: str { "maxLength": MAX_TEXT_BYTES }, "a text of at most 2048 bytes without hidden characters", bounded(0..=MAX_TEXT_BYTES), String::as_str; }
    /// A description.
    pub(crate) LongText { reads String: str { "maxLength": MAX_DESCRIPTION_BYTES }, "a text of at most 32768 bytes without hidden characters", bounded(0..=MAX_DESCRIPTION_BYTES), String::as_str; }
    /// A name of a wallet.
    pub(crate) ProfileName { reads String: str { "maxLength": MAX_NAME_CHARACTERS }, "a text of at most 64 characters without controls", plain(MAX_NAME_CHARACTERS, ""), String::as_str; }
    /// A short text of a wallet.
    pub(crate) Bio { reads String: str { "maxLength": MAX_BIO_CHARACTERS }, "a text of at most 1000 characters without controls other than line feeds", plain(MAX_BIO_CHARACTERS, "\n"), String::as_str; }
    /// An image of a wallet.
    pub(crate) WebUrl {
        reads String: str { "maxLength": MAX_URL_CHARACTERS, "pattern": "^(https?://[^ /?#][^ ]*)?$" }, "a URL of http or https of at most 2048 characters, or an empty text",
            |text: &str| plain(MAX_URL_CHARACTERS, "")(text).filter(|text| is_web_url(text)), String::as_str;
    }
    /// A time of a market's clock; an empty text is none.
    pub(crate) Clock { reads TimeMs: str, "an ISO 8601 time such as 2026-07-01T12:00:00Z, or an empty text for none", clock, clock_text; }
    /// The time of a game, in UTC; an empty text is none.
    pub(crate) Instant { reads String: str, Clock::ALLOWED, instant; }
    /// An end date: a day, or a time in UTC; an empty text is none.
    pub(crate) EndDate {
        reads String: str, "an ISO 8601 time such as 2026-07-01T12:00:00Z, a day such as 2026-07-01, or an empty text for none",
            |text: &str| instant(text).or_else(|| end_of(text).map(|_| text.to_owned())), String::as_str;
    }
    /// The token of an order.
    pub(crate) TradedToken { reads TokenRef: str as AnyToken, "a token id" => InvalidTokenId, TokenRef::parse, TokenRef::to_string; }
    /// The limit price of an order, in micros.
    pub(crate) LimitPrice {
        reads Micros: str { "pattern": "^0?[.][0-9]{1,4}$" }, "a text, above 0 and below 1 with up to four decimals",
            |text: &str| decimal::micros(text).filter(is_price), |price: &Micros| Decimal::from(*price).to_string();
    }
    /// A set of roles.
    pub(crate) Roles {
        reads RoleSet: Vec<String> { "items": { "type": "string", "enum": words(OperatorRole::ALL, role_word) } }, "an array of roles: admin, markets, resolver, cashier, support, read-only, sync", |words: &Vec<String>| roles(words), |set: &RoleSet| role_words(*set);
    }
    /// Name of an operator.
    pub(crate) Name { reads OperatorName: str { "pattern": "^[a-z0-9._-]{1,32}$" }, "a text of 1 to 32 of a-z, 0-9, -, _ and .", |text: &str| OperatorName::new(text), OperatorName::text; }
    /// SHA-256 of the evidence of a proposal.
    pub(crate) Hash {
        reads [u8; 32]: str as Bytes, concat!("a SHA-256, ", hex32!(words)), ids::bytes32;
        writes [Borrow<[u8; 32]>] as Bytes, ids::hex_text;
    }
    /// The source of a proposal.
    pub(crate) Source { reads String: str { "maxLength": MAX_SOURCE_BYTES }, "a text of at most 1024 bytes without hidden characters, a URL or words", bounded(0..=MAX_SOURCE_BYTES), String::as_str; }
    pub(crate) DelayMs { reads u32: u32 { "maximum": MAX_TAKER_DELAY_MS }, "a number of milliseconds, 0 to 60000", up_to(MAX_TAKER_DELAY_MS), u32::clone; }
    pub(crate) Seconds { reads u32: u32 { "maximum": MAX_WINDOW_SECONDS }, "a number of seconds, 0 to 2592000", up_to(MAX_WINDOW_SECONDS), u32::clone; }
    pub(crate) Number { reads u64: u64, "a number", up_to(u64::MAX), u64::clone; }
    pub(crate) SmallNumber { reads u32: u32, "a number", up_to(u32::MAX), u32::clone; }
    pub(crate) RatePpm { reads u32: u32 { "maximum": MAX_REBATE_PPM }, "a number, 0 to 1000000", up_to(MAX_REBATE_PPM), u32::clone; }
    pub(crate) Exponent { reads u8: u8 { "maximum": MAX_FEE_EXPONENT }, "a number, 0 to 2", up_to(MAX_FEE_EXPONENT), u8::clone; }
    pub(crate) RawRecord { reads Map<String, Json>: Map<String, Json>, "an object", |fields: &Map<String, Json>| Some(fields.clone()), Map::clone; }
    pub(crate) TokenPair {
        reads [TokenId; 2]: Vec<String> { "items": { "type": "string", "pattern": "^[0-9]{1,78}$" }, "minItems": 2, "maxItems": 2 }, "an array of two token ids, texts of 1 to 78 digits", token_pair, |pair: &[TokenId; 2]| pair.each_ref().map(ids::token_text);
    }
    pub(crate) Labels {
        reads [String; 2]: Vec<String> { "items": { "type": "string", "minLength": 1, "maxLength": MAX_TEXT_BYTES }, "minItems": 2, "maxItems": 2 }, "an array of two labels without hidden characters", labels, <[String; 2]>::as_slice;
    }
    pub(crate) Tags {
        reads Vec<String>: Vec<String> { "items": { "type": "string", "maxLength": MAX_TEXT_BYTES }, "maxItems": MAX_TAGS }, "an array of up to 64 labels without hidden characters",
            |tags: &Vec<String>| (tags.len() <= MAX_TAGS && are_labels(tags)).then(|| tags.clone()), Vec::as_slice;
    }
}

fn is_price(price: &Micros) -> bool {
    (1..1_000_000).contains(&price.0) && price.0.is_multiple_of(100)
}

fn up_to<T: PartialOrd + Copy>(most: T) -> impl Fn(&T) -> Option<T> {
    move |number| (*number <= most).then_some(*number)
}

/// A text of so many bytes without hidden characters.
fn bounded(bytes: RangeInclusive<usize>) -> impl Fn(&str) -> Option<String> {
    move |text| (bytes.contains(&text.len()) && is_open(text)).then(|| text.to_owned())
}

/// A name in URLs of at least so many characters, without any that a URL escapes.
fn slug(least: usize) -> impl Fn(&str) -> Option<String> {
    let is_unreserved = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte);
    move |text| {
        let fits = (least..=MAX_TEXT_BYTES).contains(&text.len());
        (fits && text.bytes().all(is_unreserved)).then(|| text.to_owned())
    }
}

/// A text of so many characters without controls, save those that are allowed.
fn plain(most: usize, allowed: &str) -> impl Fn(&str) -> Option<String> {
    let is_plain = move |letter: char| !letter.is_control() || allowed.contains(letter);
    move |text| {
        let fits = text.chars().count() <= most && text.chars().all(is_plain);
        (fits && is_open(text)).then(|| text.to_owned())
    }
}

fn is_web_url(text: &str) -> bool {
    let rest = text
        .strip_prefix("https://")
        .or_else(|| text.strip_prefix("http://"));
    let host = rest.and_then(|rest| rest.split(['/', '?', '#']).next());
    text.is_empty() || host.is_some_and(|host| !host.is_empty() && !text.contains(' '))
}

fn is_open(text: &str) -> bool {
    !text.chars().any(is_hidden)
}

fn clock(text: &str) -> Option<TimeMs> {
    if text.is_empty() {
        return Some(TimeMs(0));
    }
    let time: Timestamp = text.parse().ok()?;
    let millis = u64::try_from(time.as_millisecond()).ok()?;
    (1..=MAX_CLOCK_MS)
        .contains(&millis)
        .then_some(TimeMs(millis))
}

/// The text of a time of a market's clock; empty for none.
#[must_use]
pub fn clock_text(time: &TimeMs) -> String {
    match time.0 {
        0 => String::new(),
        _ => iso_millis(*time),
    }
}

/// A time as every surface shows it.
fn instant(text: &str) -> Option<String> {
    if text.is_empty() {
        return Some(String::new());
    }
    Some(text.parse::<Timestamp>().ok()?.to_string())
}

/// The time of an end date; of a day the time when it is over in UTC.
#[must_use]
pub fn end_of(date: &str) -> Option<Timestamp> {
    const DAY_LETTERS: usize = "2026-07-01".len();
    if date.len() != DAY_LETTERS {
        return date.parse().ok();
    }
    let over = date.parse::<Date>().ok()?.tomorrow().ok()?;
    Some(over.to_zoned(TimeZone::UTC).ok()?.timestamp())
}

fn roles(words: &[String]) -> Option<RoleSet> {
    let role = find(OperatorRole::ALL, role_word);
    let mut roles = words.iter().map(|word| role(word));
    roles.try_fold(RoleSet::NONE, |set, role| Some(set.with(role?)))
}

fn holds(words: &[String]) -> Option<HoldSet> {
    let hold = find(Hold::ALL, hold_word);
    let mut holds = words.iter().map(|word| hold(word));
    holds.try_fold(HoldSet::NONE, |set, hold| Some(set.with(hold?)))
}

/// The words for the roles of a set.
#[must_use]
pub fn role_words(set: RoleSet) -> Vec<&'static str> {
    let roles = OperatorRole::ALL.iter().copied();
    let contained = roles.filter(|role| set.contains(*role));
    contained.map(role_word).collect()
}

fn are_labels(texts: &[String]) -> bool {
    let is_label = |text: &String| text.len() <= MAX_TEXT_BYTES && is_open(text);
    texts.iter().all(is_label)
}

fn token_pair(texts: &[String]) -> Option<[TokenId; 2]> {
    let token = |text: &String| decimal::uint256(text).ok().map(TokenId);
    match texts {
        [yes, no] => Some([token(yes)?, token(no)?]),
        _ => None,
    }
}

fn labels(texts: &[String]) -> Option<[String; 2]> {
    let labels: [String; 2] = texts.to_vec().try_into().ok()?;
    (are_labels(&labels) && !labels.iter().any(String::is_empty)).then_some(labels)
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
        Payout::Outside => "outside",
    }
}

/// The word for who holds a market.
#[must_use]
const fn hold_word(hold: Hold) -> &'static str {
    match hold {
        Hold::Operator => "operator",
        Hold::Upstream => "upstream",
    }
}

/// The words for the holds of a set.
#[must_use]
pub fn hold_words(holds: HoldSet) -> Vec<&'static str> {
    let all = Hold::ALL.iter().copied();
    all.filter(|hold| holds.contains(*hold))
        .map(hold_word)
        .collect()
}
