//! Exact numbers from text: values for the engine never pass through a float.

use foretell_model::TokenId;

/// Most bytes of a number; a token id has up to 78 digits.
const LONGEST: usize = 80;

/// A decimal times 10^`places`, if that is a whole number of 64 bits. Accepts JSON numbers,
/// including exponents, of at least 0.
pub(super) fn scaled(text: &str, places: u32) -> Option<u64> {
    let text = text.trim();
    if text.is_empty() || text.len() > LONGEST {
        return None;
    }
    let (number, exponent) = match text.split_once(['e', 'E']) {
        Some((number, exponent)) => (number, exponent.parse::<i32>().ok()?),
        None => (text, 0),
    };
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let fraction = fraction.trim_end_matches('0');
    if whole.is_empty() || ![whole, fraction].iter().all(|part| only_digits(part)) {
        return None;
    }
    let digits = format!("{whole}{fraction}");
    let mantissa: u128 = digits.trim_start_matches('0').parse().ok().or_else(|| {
        let zero = digits.bytes().all(|digit| digit == b'0');
        zero.then_some(0)
    })?;
    if mantissa == 0 {
        return Some(0);
    }
    let shift = i32::try_from(places)
        .ok()?
        .checked_add(exponent)?
        .checked_sub(i32::try_from(fraction.len()).ok()?)?;
    let power = 10_u128.checked_pow(shift.unsigned_abs())?;
    let scaled = if shift >= 0 {
        mantissa.checked_mul(power)?
    } else if mantissa.is_multiple_of(power) {
        mantissa / power
    } else {
        return None;
    };
    u64::try_from(scaled).ok()
}

fn only_digits(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

/// A token id: 1 to 78 digits, above 0 and below 2^256.
pub(crate) fn token_id(text: &str) -> Option<TokenId> {
    let text = text.trim();
    if text.is_empty() || text.len() > 78 || !only_digits(text) {
        return None;
    }
    let mut bytes = [0_u8; 32];
    for digit in text.bytes() {
        let mut carry = u16::from(digit - b'0');
        for byte in bytes.iter_mut().rev() {
            let [high, low] = (u16::from(*byte) * 10 + carry).to_be_bytes();
            *byte = low;
            carry = u16::from(high);
        }
        if carry != 0 {
            return None;
        }
    }
    let token = TokenId(bytes);
    (token != TokenId::ZERO).then_some(token)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rstest::rstest;

    #[rstest]
    #[case("0.001", 4, Some(10))]
    #[case("1e-3", 4, Some(10))]
    #[case("0.0010", 4, Some(10))]
    #[case("5", 2, Some(500))]
    #[case("5.0", 2, Some(500))]
    #[case("5.005", 2, None)]
    #[case("5E2", 0, Some(500))]
    #[case("500e-2", 0, Some(5))]
    #[case("0", 0, Some(0))]
    #[case("0.000", 2, Some(0))]
    #[case("0e999999", 2, Some(0))]
    #[case("-5", 2, None)]
    #[case("", 2, None)]
    #[case(".5", 2, None)]
    #[case("1e99", 2, None)]
    #[case("1e-99", 2, None)]
    #[case("1e99999999999", 2, None)]
    #[case("18446744073709551615", 0, Some(u64::MAX))]
    #[case("18446744073709551616", 0, None)]
    #[case("NaN", 2, None)]
    fn decimals_scale_exactly(
        #[case] text: &str,
        #[case] places: u32,
        #[case] expected: Option<u64>,
    ) {
        assert_eq!(scaled(text, places), expected);
    }

    #[rstest]
    #[case(
        "1",
        Some("0000000000000000000000000000000000000000000000000000000000000001")
    )]
    #[case(
        "256",
        Some("0000000000000000000000000000000000000000000000000000000000000100")
    )]
    #[case(
        "115792089237316195423570985008687907853269984665640564039457584007913129639935",
        Some("ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff")
    )]
    #[case(
        "115792089237316195423570985008687907853269984665640564039457584007913129639936",
        None
    )]
    #[case("0", None)]
    #[case("", None)]
    #[case("-1", None)]
    #[case("0x1", None)]
    fn token_ids_are_256_bits(#[case] text: &str, #[case] expected: Option<&str>) {
        assert_eq!(
            token_id(text).map(|token| hex::encode(token.0)).as_deref(),
            expected
        );
    }

    proptest! {
        #[test]
        fn whole_numbers_survive(number in any::<u64>(), zeros in 0_usize..5) {
            let text = format!("{number}.{}", "0".repeat(zeros + 1));
            prop_assert_eq!(scaled(&text, 0), Some(number));
        }

        #[test]
        fn token_ids_of_128_bits_agree_with_the_integer(number in 1..u128::MAX) {
            let mut expected = [0; 32];
            expected[16..].copy_from_slice(&number.to_be_bytes());
            prop_assert_eq!(token_id(&number.to_string()), Some(TokenId(expected)));
        }
    }
}
