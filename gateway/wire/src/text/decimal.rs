//! Exact decimals, both ways (docs/api/overview.md §2).
//!
//! Values are integers in memory and decimals in shortest form (`0.6`, `10`) in JSON. No float is
//! involved: a JSON number is written from the same digits as the text.

use core::fmt;
use std::borrow::Cow;

use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

use foretell_model::quantity::{MICROS_PER_LOT, PRICE_ONE};
use foretell_model::{Lots, Micros, Price, Tick};

use crate::schema::JsonSchema;
#[cfg(feature = "documents")]
use crate::schema::{Schema, SchemaGenerator, json_schema};

/// `mantissa / 10^places`, written in shortest form. `places` is at most [`Decimal::MAX_PLACES`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Decimal {
    mantissa: i128,
    places: u8,
}

impl Decimal {
    /// Most decimals of a value.
    pub const MAX_PLACES: u8 = 18;
    /// Zero.
    pub const ZERO: Self = Self {
        mantissa: 0,
        places: 0,
    };

    /// `mantissa / 10^places`. Aborts the process if `places` is above [`Self::MAX_PLACES`], which
    /// is a bug of the caller.
    #[must_use]
    pub const fn new(mantissa: i128, places: u8) -> Self {
        assert!(places <= Self::MAX_PLACES);
        Self { mantissa, places }
    }

    /// A number of micros (1e-6). May be negative, for example a profit.
    #[must_use]
    pub const fn micros(micros: i128) -> Self {
        Self::new(micros, 6)
    }

    /// `numerator / denominator`, rounded half away from zero to `places` decimals: the only
    /// rounding on output (docs/api/overview.md §2). `None` when the divisor is 0 or on overflow.
    #[must_use]
    pub fn ratio(numerator: i128, denominator: i128, places: u8) -> Option<Self> {
        let scaled = numerator.checked_mul(10_i128.checked_pow(u32::from(places))?)?;
        let quotient = scaled.checked_div(denominator)?;
        let rest = scaled.checked_rem(denominator)?.unsigned_abs();
        let away = rest >= denominator.unsigned_abs() - rest;
        let step = if (scaled < 0) == (denominator < 0) {
            1
        } else {
            -1
        };
        let mantissa = if away && rest != 0 {
            quotient.checked_add(step)?
        } else {
            quotient
        };
        Some(Self::new(mantissa, places))
    }

    /// The exact midpoint of two prices, which has at most five decimals.
    #[must_use]
    pub fn midpoint(bid: Price, ask: Price) -> Self {
        Self::new((i128::from(bid.0) + i128::from(ask.0)) * 5, 5)
    }

    /// Whether this is 0.
    #[must_use]
    pub const fn is_zero(&self) -> bool {
        self.mantissa == 0
    }
}

/// Buffer for the text of a decimal: 39 digits, a point, a sign.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DigitBuffer([u8; 48]);

impl Default for DigitBuffer {
    fn default() -> Self {
        Self([0; 48])
    }
}

impl Decimal {
    /// Writes the decimal in shortest form into `room`.
    pub(crate) fn digits(self, room: &mut DigitBuffer) -> &str {
        let mut at = room.0.len();
        let mut put = |byte: u8| {
            at -= 1;
            room.0[at] = byte;
        };
        // From the last digit to the first; trailing zeros of the decimals are skipped.
        let mut digits = RemainingDigits::of(self.mantissa.unsigned_abs());
        let mut places = self.places;
        while places > 0 && digits.drop_zero() {
            places -= 1;
        }
        if places > 0 {
            for _ in 0..places {
                put(b'0' + digits.next());
            }
            put(b'.');
        }
        loop {
            put(b'0' + digits.next());
            if digits.is_zero() {
                break;
            }
        }
        if self.mantissa < 0 {
            put(b'-');
        }
        core::str::from_utf8(&room.0[at..]).expect("digits are ASCII")
    }
}

/// The digits not yet taken, last one first. Most values fit 64 bits, whose division is many times
/// faster than that of 128 bits.
#[derive(Clone, Copy)]
enum RemainingDigits {
    Small(u64),
    Large(u128),
}

impl RemainingDigits {
    fn of(value: u128) -> Self {
        u64::try_from(value).map_or(Self::Large(value), Self::Small)
    }

    fn next(&mut self) -> u8 {
        let digit = match *self {
            Self::Small(value) => {
                *self = Self::Small(value / 10);
                value % 10
            }
            Self::Large(value) => {
                *self = Self::of(value / 10);
                u64::try_from(value % 10).expect("a digit")
            }
        };
        u8::try_from(digit).expect("a digit")
    }

    /// Drops the last digit if it is 0.
    fn drop_zero(&mut self) -> bool {
        let is_zero = match *self {
            Self::Small(value) => value.is_multiple_of(10),
            Self::Large(value) => value.is_multiple_of(10),
        };
        if is_zero {
            self.next();
        }
        is_zero
    }

    const fn is_zero(self) -> bool {
        matches!(self, Self::Small(0))
    }
}

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.digits(&mut DigitBuffer::default()))
    }
}

impl From<Micros> for Decimal {
    fn from(amount: Micros) -> Self {
        Self::micros(i128::from(amount.0))
    }
}

impl From<Lots> for Decimal {
    fn from(lots: Lots) -> Self {
        Self::new(i128::from(lots.0), 2)
    }
}

impl From<Price> for Decimal {
    fn from(price: Price) -> Self {
        Self::new(i128::from(price.0), 4)
    }
}

/// A tick's shortest form is its standard text (`0.1` to `0.0001`), which clients use as a key.
impl From<Tick> for Decimal {
    fn from(tick: Tick) -> Self {
        Self::new(i128::from(tick.units()), 4)
    }
}

/// A decimal that is a JSON number with the same digits as its text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Number(pub Decimal);

impl<T: Into<Decimal>> From<T> for Number {
    fn from(value: T) -> Self {
        Self(value.into())
    }
}

#[cfg(feature = "documents")]
impl JsonSchema for Number {
    fn schema_name() -> Cow<'static, str> {
        "Number".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "number" })
    }
}

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut room = DigitBuffer::default();
        let raw: &RawValue = serde_json::from_str(self.0.digits(&mut room))
            .expect("a shortest decimal is a JSON number by its grammar");
        raw.serialize(serializer)
    }
}

/// A number of millionths, as a JSON number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, JsonSchema)]
#[schemars(transparent)]
pub struct Millionths(#[schemars(with = "Number")] pub i128);

impl Serialize for Millionths {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Number(Decimal::micros(self.0)).serialize(serializer)
    }
}

/// Why the text of an amount is invalid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DigitsError {
    /// Empty, or has a character other than 0 to 9.
    NotDigits,
    /// Exceeds the range of its type.
    TooLarge,
}

/// Digits of the largest uint256.
pub const MAX_UINT256_DIGITS: usize = 78;

/// Reads an unsigned 256-bit integer, big-endian: 1 to 78 ASCII digits. No sign, point, exponent,
/// prefix, space, or digits of other scripts.
///
/// # Errors
/// [`DigitsError`].
pub fn uint256(text: &str) -> Result<[u8; 32], DigitsError> {
    if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(DigitsError::NotDigits);
    }
    if text.len() > MAX_UINT256_DIGITS {
        return Err(DigitsError::TooLarge);
    }
    // Consume 19 digits a step. The odd digits come first, so all later steps are whole.
    let (odd, whole) = text.as_bytes().split_at(text.len() % LIMB_DIGITS);
    let mut limbs = [digits(odd), 0, 0, 0];
    for chunk in whole.chunks_exact(LIMB_DIGITS) {
        multiply_add(&mut limbs, LIMB_SCALE, digits(chunk)).ok_or(DigitsError::TooLarge)?;
    }
    let mut word = [0; 32];
    for (bytes, limb) in word.chunks_exact_mut(8).zip(limbs.iter().rev()) {
        bytes.copy_from_slice(&limb.to_be_bytes());
    }
    Ok(word)
}

/// Decimal digits that always fit 64 bits, and the corresponding power of ten.
const LIMB_DIGITS: usize = 19;
const LIMB_SCALE: u64 = 10_000_000_000_000_000_000;

/// The value of up to [`LIMB_DIGITS`] ASCII digits.
fn digits(text: &[u8]) -> u64 {
    (text.iter()).fold(0, |number, digit| number * 10 + u64::from(digit - b'0'))
}

/// `limbs = limbs × scale + add`, least significant limb first; `None` on overflow of 256 bits.
fn multiply_add(limbs: &mut [u64; 4], scale: u64, add: u64) -> Option<()> {
    let mut carry = u128::from(add);
    for limb in limbs {
        let sum = u128::from(*limb) * u128::from(scale) + carry;
        *limb = low_half(sum);
        carry = sum >> 64;
    }
    (carry == 0).then_some(())
}

#[allow(clippy::cast_possible_truncation)] // keeps the low 64 bits
const fn low_half(wide: u128) -> u64 {
    wide as u64
}

/// The decimal text of a big-endian 256-bit integer.
#[must_use]
pub fn uint256_text(word: &[u8; 32]) -> String {
    let mut limbs = [0_u64; 4];
    for (limb, bytes) in limbs.iter_mut().zip(word.chunks_exact(8)) {
        *limb = u64::from_be_bytes(bytes.try_into().expect("chunks of 8"));
    }
    let mut chunks = Vec::with_capacity(5);
    while limbs != [0; 4] {
        let mut rest = 0_u64;
        for limb in &mut limbs {
            let wide = u128::from(rest) << 64 | u128::from(*limb);
            *limb = low_half(wide / u128::from(LIMB_SCALE));
            rest = low_half(wide % u128::from(LIMB_SCALE));
        }
        chunks.push(rest);
    }
    let mut text = chunks.pop().unwrap_or(0).to_string();
    for chunk in chunks.iter().rev() {
        use core::fmt::Write;
        write!(text, "{chunk:019}").expect("writing to a String cannot fail");
    }
    text
}

/// Reads an unsigned 64-bit integer in the format of [`uint256`].
///
/// # Errors
/// [`DigitsError`].
pub fn digits_u64(text: &str) -> Result<u64, DigitsError> {
    let word = uint256(text)?;
    let (high, low) = word.split_at(24);
    if high.iter().any(|byte| *byte != 0) {
        return Err(DigitsError::TooLarge);
    }
    Ok(u64::from_be_bytes(low.try_into().expect("8 of 32 bytes")))
}

/// Reads a plain decimal in whole units (`100.5`) as a multiple of 10^-`places` units: digits, and
/// optionally a point with 1 to `places` digits after it. `None` for other texts, or above 64 bits.
#[must_use]
pub fn fixed_point(text: &str, places: u8) -> Option<u64> {
    let (whole, fraction) = match text.split_once('.') {
        Some((_, "")) => return None,
        Some(parts) => parts,
        None => (text, ""),
    };
    let missing = usize::from(places).checked_sub(fraction.len())?;
    let fraction = match fraction {
        "" => 0,
        fraction => digits_u64(fraction).ok()?,
    };
    let scale = 10_u64.checked_pow(u32::try_from(missing).ok()?)?;
    let unit = 10_u64.checked_pow(u32::from(places))?;
    digits_u64(whole)
        .ok()?
        .checked_mul(unit)?
        .checked_add(fraction.checked_mul(scale)?)
}

/// Reads collateral in whole units with up to six decimals (`100.5`).
#[must_use]
pub fn micros(text: &str) -> Option<Micros> {
    fixed_point(text, 6).map(Micros)
}

/// Reads shares with up to two decimals (`12.34`).
#[must_use]
pub fn lots(text: &str) -> Option<Lots> {
    fixed_point(text, 2).map(Lots)
}

/// Reads a tick by its exact text.
#[must_use]
pub fn tick(text: &str) -> Option<Tick> {
    Tick::ALL.iter().copied().find(|tick| tick.text() == text)
}

// Micro-shares, lots and prices differ by powers of ten, so their texts need no rounding.
const _: () = assert!(MICROS_PER_LOT == 10_000 && PRICE_ONE == 10_000);

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rstest::rstest;

    #[rstest]
    #[case(Decimal::from(Micros(0)), "0")]
    #[case(Decimal::from(Micros(10_000_000)), "10")]
    #[case(Decimal::from(Micros(600_000)), "0.6")]
    #[case(Decimal::from(Micros(1)), "0.000001")]
    #[case(Decimal::from(Micros(9_998_000)), "9.998")]
    #[case(Decimal::from(Lots(2_970)), "29.7")]
    #[case(Decimal::from(Lots(100_000_000_000)), "1000000000")]
    #[case(Decimal::from(Price(6_000)), "0.6")]
    #[case(Decimal::from(Price(10_000)), "1")]
    #[case(Decimal::micros(-1_500_000), "-1.5")]
    #[case(Decimal::micros(0), "0")]
    #[case(Decimal::midpoint(Price(4_501), Price(4_502)), "0.45015")]
    fn decimals_are_shown_in_shortest_form(#[case] value: Decimal, #[case] text: &str) {
        assert_eq!(value.to_string(), text);
    }

    #[test]
    fn ticks_print_exactly_their_text_and_are_read_by_it_alone() {
        for &tick_of in Tick::ALL {
            assert_eq!(Decimal::from(tick_of).to_string(), tick_of.text());
            assert_eq!(tick(tick_of.text()), Some(tick_of));
        }
        for text in ["0.10", ".1", "0.05", "1", "", "0.1 "] {
            assert_eq!(tick(text), None, "{text:?}");
        }
    }

    #[rstest]
    #[case(1, 2, 0, Some("1"))]
    #[case(-1, 2, 0, Some("-1"))]
    #[case(1, -2, 0, Some("-1"))]
    #[case(-1, -2, 0, Some("1"))]
    #[case(1, 3, 6, Some("0.333333"))]
    #[case(2, 3, 6, Some("0.666667"))]
    #[case(5, 1_000_000, 5, Some("0.00001"))]
    #[case(4, 1_000_000, 5, Some("0"))]
    #[case(-4, 1_000_000, 5, Some("0"))]
    #[case(7, 1, 6, Some("7"))]
    #[case(1, 0, 6, None)]
    #[case(i128::MAX, 1, 6, None)]
    fn ratios_round_half_away_from_zero(
        #[case] numerator: i128,
        #[case] denominator: i128,
        #[case] places: u8,
        #[case] text: Option<&str>,
    ) {
        let shown = Decimal::ratio(numerator, denominator, places).map(|value| value.to_string());
        assert_eq!(shown.as_deref(), text);
    }

    const ABOVE_UINT256: &str =
        "115792089237316195423570985008687907853269984665640564039457584007913129639936";

    #[rstest]
    #[case("")]
    #[case("-1")]
    #[case("+1")]
    #[case("1.0")]
    #[case("1e6")]
    #[case("0x10")]
    #[case(" 1")]
    #[case("1 ")]
    #[case("1_000")]
    #[case("\u{0661}\u{0662}")] // Arabic-Indic digits
    #[case("\u{ff11}")] // full-width digit
    #[case("1\0")]
    fn amounts_are_digits_only(#[case] text: &str) {
        assert_eq!(uint256(text), Err(DigitsError::NotDigits));
        assert_eq!(digits_u64(text), Err(DigitsError::NotDigits));
    }

    #[test]
    fn amounts_are_bounded_by_their_type() {
        let hundred = "1".repeat(100);
        for text in [ABOVE_UINT256, &hundred, &"0".repeat(79)] {
            assert_eq!(uint256(text), Err(DigitsError::TooLarge), "{text}");
        }
        let largest = &ABOVE_UINT256.replace("9936", "9935");
        assert_eq!(uint256(largest), Ok([0xff; 32]));
        assert_eq!(uint256_text(&[0xff; 32]), *largest);
        assert_eq!(digits_u64("18446744073709551615"), Ok(u64::MAX));
        assert_eq!(
            digits_u64("18446744073709551616"),
            Err(DigitsError::TooLarge)
        );
        assert_eq!(digits_u64("007"), Ok(7));
    }

    #[rstest]
    #[case("100.5", Some(100_500_000))]
    #[case("0", Some(0))]
    #[case("0.000001", Some(1))]
    #[case("1.0", Some(1_000_000))]
    #[case("0.0000001", None)]
    #[case("1.", None)]
    #[case(".5", None)]
    #[case("1.2.3", None)]
    #[case("-1", None)]
    #[case("1e3", None)]
    #[case("18446744073710", None)]
    #[case("18446744073709.551615", Some(u64::MAX))]
    fn collateral_is_read_in_whole_units(#[case] text: &str, #[case] expected: Option<u64>) {
        assert_eq!(micros(text), expected.map(Micros));
    }

    proptest! {
        #[test]
        fn what_is_shown_is_read_back(value: u64) {
            prop_assert_eq!(micros(&Decimal::from(Micros(value)).to_string()), Some(Micros(value)));
            prop_assert_eq!(lots(&Decimal::from(Lots(value)).to_string()), Some(Lots(value)));
        }

        #[test]
        fn every_256_bit_integer_survives_the_round_trip(word: [u8; 32]) {
            prop_assert_eq!(uint256(&uint256_text(&word)), Ok(word));
        }

        #[test]
        fn any_text_is_read_or_refused_without_panic(text: String) {
            let _ = (uint256(&text), digits_u64(&text), micros(&text), lots(&text), tick(&text));
        }

        #[test]
        fn a_number_has_the_digits_of_the_text(value: u64) {
            #[derive(serde::Serialize)]
            struct Both {
                #[serde(with = "crate::values::DecimalText")]
                text: Micros,
                #[serde(with = "crate::values::Fraction")]
                number: Micros,
            }
            let both = Both { text: Micros(value), number: Micros(value) };
            let shown = Decimal::from(Micros(value));
            prop_assert_eq!(
                serde_json::to_string(&both).unwrap(),
                format!(r#"{{"text":"{shown}","number":{shown}}}"#)
            );
        }
    }
}
