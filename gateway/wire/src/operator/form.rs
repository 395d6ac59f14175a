//! Forms of the values in an operator's bodies.

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use serde_json::{Map, Value as Json};

use foretell_model::limits::{
    MAX_CLOCK_MS, MAX_FEE_EXPONENT, MAX_REBATE_PPM, MAX_SOURCE_BYTES, MAX_TAKER_DELAY_MS,
    MAX_WINDOW_SECONDS,
};
use foretell_model::{
    Hold, HoldSet, MarketState, Micros, OperatorName, OperatorRole, Payout, QuestionIndex, RoleSet,
    SystemMode, Tick, TimeMs, TokenId, WalletAddress, WalletKind,
};

use crate::operator::markets::payout_name::PayoutName;
use crate::read::form::forms;
use crate::read::forms::decimal_text;
pub use crate::read::forms::{Collateral, Condition, Key, Shares};
pub(crate) use crate::read::forms::{Flag, Reference};
use crate::read::texts;
use crate::text::decimal;
use crate::text::ids;
use crate::text::printable::is_hidden;
use crate::text::time::iso_millis;
use crate::text::words::{mode_word, role_word, state_word};
use crate::written;
#[cfg(feature = "documents")]
use crate::written::words;

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

forms! {
    /// A wallet or an owner.
    pub Address(WalletAddress, str as texts::AnyAddress | written::Address): "an address, 0x and 40 hex digits; in mixed case with its checksum (EIP-55)", ids::typed_address, ToString::to_string;
    /// An amount of collateral to move, in whole units.
    pub Amount(Micros, str as texts::AnyAmount | written::Amount): "a text, whole units with up to six decimals, above 0",
        |text: &str| decimal::micros(text).filter(|amount| !amount.is_zero()), decimal_text;
    /// A tick.
    pub TickSize(Tick, str as written::TickText): "a text: 0.1, 0.01, 0.005, 0.0025, 0.001 or 0.0001", decimal::tick, |tick: &Tick| tick.text().to_owned();
    /// A payout as a request names it.
    pub(crate) PayoutText(PayoutName, str = { "minLength": 1, "maxLength": MAX_TEXT_BYTES }): "a label of the market's outcomes, first, second, half or outside",
        |text: &str| bounded(text, 1, MAX_TEXT_BYTES).map(PayoutName::new), |name: &PayoutName| name.text().to_owned();
    /// A payout.
    pub(crate) PayoutWord(Payout, str = { "enum": words(Payout::ALL, payout_word) }): "yes, no, half or outside",
        |text: &str| find(Payout::ALL, payout_word, text), |value: &Payout| payout_word(*value).to_owned();
    /// Whose hold.
    pub(crate) HoldName(Hold, str = { "enum": words(Hold::ALL, hold_word) }): "operator or upstream",
        |text: &str| find(Hold::ALL, hold_word, text), |value: &Hold| hold_word(*value).to_owned();
    /// Holds of a market.
    pub(crate) Holds(HoldSet, Vec<String> = { "items": { "type": "string", "enum": words(Hold::ALL, hold_word) } }): "an array of holds: operator, upstream",
        |words: &Vec<String>| holds(words), |set: &HoldSet| hold_words(*set).into_iter().map(str::to_owned).collect();
    /// The bit of a question in signed conversions.
    pub(crate) Index(QuestionIndex, u8 = { "maximum": 127 }): "a number, 0 to 127", |code: &u8| QuestionIndex::from_code(*code), |index: &QuestionIndex| index.0;
    /// A mode of the system.
    pub(crate) Mode(SystemMode, str as written::Mode): "running, post_only, cancel_only or paused",
        |text: &str| find(SystemMode::ALL, mode_word, text), |value: &SystemMode| mode_word(*value).to_owned();
    /// A kind of wallet.
    pub(crate) Kind(WalletKind, str = { "enum": words(WalletKind::ALL, wallet_kind_word) }): "eoa, proxy, safe or deposit",
        |text: &str| find(WalletKind::ALL, wallet_kind_word, text), |kind: &WalletKind| wallet_kind_word(*kind).to_owned();
    /// A kind of wallet that can be bound.
    pub(crate) BoundKind(WalletKind, str = { "enum": words(&[WalletKind::Proxy, WalletKind::Safe, WalletKind::Deposit], wallet_kind_word) }): "proxy, safe or deposit",
        |text| Kind::read(text).filter(|kind| *kind != WalletKind::Eoa), Kind::json;
    /// A lifecycle state of a market.
    pub(crate) State(MarketState, str as written::State): "registered, active, paused, closed or resolved",
        |text: &str| find(MarketState::ALL, state_word, text), |value: &MarketState| state_word(*value).to_owned();
    /// A question, title or slug that is required.
    pub(crate) Title(String, str = { "minLength": 1, "maxLength": MAX_TEXT_BYTES }): "a text of 1 to 2048 bytes without hidden characters",
        |text: &str| bounded(text, 1, MAX_TEXT_BYTES), String::clone;
    /// A slug, URL or label.
    pub(crate) Text(String, str = { "maxLength": MAX_TEXT_BYTES }): "a text of at most 2048 bytes without hidden characters",
        |text: &str| bounded(text, 0, MAX_TEXT_BYTES), String::clone;
    /// A description.
    pub(crate) LongText(String, str = { "maxLength": MAX_DESCRIPTION_BYTES }): "a text of at most 32768 bytes without hidden characters",
        |text: &str| bounded(text, 0, MAX_DESCRIPTION_BYTES), String::clone;
    /// A name of a wallet.
    pub(crate) ProfileName(String, str = { "maxLength": MAX_NAME_CHARACTERS }): "a text of at most 64 characters without controls",
        |text: &str| plain(text, MAX_NAME_CHARACTERS, ""), String::clone;
    /// A short text of a wallet.
    pub(crate) Bio(String, str = { "maxLength": MAX_BIO_CHARACTERS }): "a text of at most 1000 characters without controls other than line feeds",
        |text: &str| plain(text, MAX_BIO_CHARACTERS, "\n"), String::clone;
    /// An image of a wallet.
    pub(crate) WebUrl(String, str = { "maxLength": MAX_URL_CHARACTERS, "pattern": "^(https?://[^ /?#][^ ]*)?$" }): "a URL of http or https of at most 2048 characters, or an empty text",
        |text: &str| plain(text, MAX_URL_CHARACTERS, "").filter(|text| is_web_url(text)), String::clone;
    /// A time of a market's clock; an empty text is none.
    pub Clock(TimeMs, str): "an ISO 8601 time such as 2026-07-01T12:00:00Z, or an empty text for none",
        clock, |time: &TimeMs| if time.0 == 0 { String::new() } else { iso_millis(*time) };
    /// The time of a game; an empty text is none.
    pub(crate) Instant(String, str): "an ISO 8601 time such as 2026-07-01T12:00:00Z, or an empty text for none",
        |text: &str| (text.is_empty() || text.parse::<Timestamp>().is_ok()).then(|| text.to_owned()), String::clone;
    /// An end date; an empty text is none.
    pub(crate) EndDate(String, str): "an ISO 8601 time such as 2026-07-01T12:00:00Z, a day such as 2026-07-01, or an empty text for none",
        |text: &str| (text.is_empty() || end_of(text).is_some()).then(|| text.to_owned()), String::clone;
    /// A role of an operator.
    pub RoleWord(OperatorRole, str as written::Role): "admin, markets, resolver, cashier, support or read-only",
        |text: &str| find(OperatorRole::ALL, role_word, text).filter(|role| *role != OperatorRole::Sync),
        |role: &OperatorRole| role_word(*role).to_owned();
    /// A set of roles.
    pub Roles(RoleSet, Vec<String> = { "items": { "type": "string", "enum": words(OperatorRole::ALL, role_word) } }): "an array of roles: admin, markets, resolver, cashier, support, read-only, sync",
        |words: &Vec<String>| roles(words), |set: &RoleSet| role_words(*set);
    /// Name of an operator.
    pub Name(OperatorName, str = { "pattern": "^[a-z0-9._-]{1,32}$" }): "a text of 1 to 32 of a-z, 0-9, -, _ and .",
        |text: &str| OperatorName::new(text), |name: &OperatorName| name.text().to_owned();
    /// SHA-256 of the evidence of a proposal.
    pub Hash([u8; 32], str as texts::AnyHash | written::Hash): "a SHA-256, 0x and 64 hex digits", ids::bytes32, |hash: &[u8; 32]| ids::hex_text(hash);
    /// The source of a proposal.
    pub Source(String, str = { "maxLength": MAX_SOURCE_BYTES }): "a text of at most 1024 bytes without hidden characters, a URL or words",
        |text: &str| bounded(text, 0, MAX_SOURCE_BYTES), String::clone;
    pub(crate) DelayMs(u32, u32 = { "maximum": MAX_TAKER_DELAY_MS }): "a number of milliseconds, 0 to 60000", up_to(MAX_TAKER_DELAY_MS), u32::clone;
    pub(crate) Seconds(u32, u32 = { "maximum": MAX_WINDOW_SECONDS }): "a number of seconds, 0 to 2592000", up_to(MAX_WINDOW_SECONDS), u32::clone;
    pub(crate) Number(u64, u64): "a number", copied, u64::clone;
    pub(crate) SmallNumber(u32, u32): "a number", copied, u32::clone;
    pub(crate) RatePpm(u32, u32 = { "maximum": MAX_REBATE_PPM }): "a number, 0 to 1000000", up_to(MAX_REBATE_PPM), u32::clone;
    pub(crate) Exponent(u8, u8 = { "maximum": MAX_FEE_EXPONENT }): "a number, 0 to 2", up_to(MAX_FEE_EXPONENT), u8::clone;
    pub(crate) RawRecord(Map<String, Json>, Map<String, Json>): "an object", |fields: &Map<String, Json>| Some(fields.clone()), Map::clone;
    pub(crate) TokenPair([TokenId; 2], Vec<String> = { "items": { "type": "string", "pattern": "^[0-9]{1,78}$" }, "minItems": 2, "maxItems": 2 }): "an array of two token ids, texts of 1 to 78 digits",
        token_pair, |pair: &[TokenId; 2]| pair.iter().map(ids::token_text).collect();
    pub(crate) Labels([String; 2], Vec<String> = { "items": { "type": "string", "minLength": 1, "maxLength": MAX_TEXT_BYTES }, "minItems": 2, "maxItems": 2 }): "an array of two labels without hidden characters", labels, |labels: &[String; 2]| labels.to_vec();
    pub(crate) Tags(Vec<String>, Vec<String> = { "items": { "type": "string", "maxLength": MAX_TEXT_BYTES }, "maxItems": MAX_TAGS }): "an array of up to 64 labels without hidden characters",
        |tags: &Vec<String>| (tags.len() <= MAX_TAGS && are_labels(tags)).then(|| tags.clone()), Vec::clone;
}

fn copied<T: Copy>(number: &T) -> Option<T> {
    Some(*number)
}

fn up_to<T: PartialOrd + Copy>(most: T) -> impl Fn(&T) -> Option<T> {
    move |number| (*number <= most).then_some(*number)
}

/// A text of so many bytes without hidden characters.
fn bounded(text: &str, least: usize, most: usize) -> Option<String> {
    let fits = (least..=most).contains(&text.len());
    (fits && is_open(text)).then(|| text.to_owned())
}

/// A text of so many characters without controls, save those that are allowed.
fn plain(text: &str, most: usize, allowed: &str) -> Option<String> {
    let is_plain = |letter: char| !letter.is_control() || allowed.contains(letter);
    let fits = text.chars().count() <= most && text.chars().all(is_plain);
    (fits && is_open(text)).then(|| text.to_owned())
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
    let role = |word: &String| find(OperatorRole::ALL, role_word, word);
    let mut roles = words.iter().map(role);
    roles.try_fold(RoleSet::NONE, |set, role| Some(set.with(role?)))
}

fn holds(words: &[String]) -> Option<HoldSet> {
    let hold = |word: &String| find(Hold::ALL, hold_word, word);
    let mut holds = words.iter().map(hold);
    holds.try_fold(HoldSet::NONE, |set, hold| Some(set.with(hold?)))
}

fn role_words(set: RoleSet) -> Vec<String> {
    let roles = OperatorRole::ALL.iter().copied();
    let contained = roles.filter(|role| set.contains(*role));
    contained.map(|role| role_word(role).to_owned()).collect()
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
