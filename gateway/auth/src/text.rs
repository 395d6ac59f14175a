//! Strict parsers for the texts of headers and signed orders. Every value has exactly one accepted
//! spelling, except for the case of hex digits in addresses.

use alloy_primitives::U256;
use foretell_model::{ApiKey, WalletAddress};

/// `0x` and 40 hex digits of any case (docs/api/overview.md §2: addresses compare
/// case-insensitively).
#[must_use]
pub fn parse_address(text: &str) -> Option<WalletAddress> {
    let mut address = [0; 20];
    hex::decode_to_slice(text.strip_prefix("0x")?, &mut address).ok()?;
    Some(WalletAddress(address))
}

/// `0x` and an even number of hex digits, at most `max_bytes` bytes.
#[must_use]
pub fn parse_hex_bytes(text: &str, max_bytes: usize) -> Option<Vec<u8>> {
    let digits = text.strip_prefix("0x")?;
    if digits.len() > 2 * max_bytes {
        return None;
    }
    let mut bytes = vec![0; digits.len() / 2];
    hex::decode_to_slice(digits, &mut bytes).ok()?;
    Some(bytes)
}

/// A decimal below 2^256 without sign, spaces or leading zeros, as 32 bytes big-endian.
#[must_use]
pub fn parse_decimal_256(text: &str) -> Option<[u8; 32]> {
    let canonical = text == "0" || !text.starts_with('0');
    let digits = !text.is_empty() && text.len() <= 78 && text.bytes().all(|b| b.is_ascii_digit());
    if !(canonical && digits) {
        return None;
    }
    let value = U256::from_str_radix(text, 10).ok()?;
    Some(value.to_be_bytes())
}

/// An API key: a hyphenated UUID of any case.
#[must_use]
pub fn parse_api_key(text: &str) -> Option<ApiKey> {
    if text.len() != uuid::fmt::Hyphenated::LENGTH {
        return None;
    }
    let uuid = uuid::Uuid::try_parse(text).ok()?;
    Some(ApiKey(uuid.into_bytes()))
}

/// The text of an API key: a hyphenated UUID in lower case.
#[must_use]
pub fn api_key_text(key: ApiKey) -> String {
    uuid::Uuid::from_bytes(key.0).hyphenated().to_string()
}

/// The checksummed text (EIP-55) of an address.
#[must_use]
pub fn checksum_address(address: WalletAddress) -> String {
    alloy_primitives::Address::from(address.0).to_checksum(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAX: &str =
        "115792089237316195423570985008687907853269984665640564039457584007913129639935";

    #[rstest::rstest]
    #[case("0", true)]
    #[case("23", true)]
    #[case(MAX, true)]
    #[case(
        "115792089237316195423570985008687907853269984665640564039457584007913129639936",
        false
    )]
    #[case("", false)]
    #[case("007", false)]
    #[case("00", false)]
    #[case("-1", false)]
    #[case("+1", false)]
    #[case("1_000", false)]
    #[case("1e6", false)]
    #[case("0x10", false)]
    #[case(" 1", false)]
    #[case("1.0", false)]
    #[case("٣", false)]
    fn decimals_below_two_to_the_256(#[case] text: &str, #[case] good: bool) {
        assert_eq!(parse_decimal_256(text).is_some(), good, "{text}");
    }

    #[test]
    fn decimal_words_are_big_endian() {
        assert_eq!(parse_decimal_256("258").unwrap()[30..], [1, 2]);
        assert_eq!(parse_decimal_256(MAX), Some([0xff; 32]));
    }

    #[rstest::rstest]
    #[case("0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266", true)]
    #[case("0xF39FD6E51AAD88F6F4CE6AB8827279CFFFB92266", true)]
    #[case("0xf39Fd6e51aad88F6F4ce6aB8827279cffFb9226", false)]
    #[case("0xf39Fd6e51aad88F6F4ce6aB8827279cffFb922661", false)]
    #[case("f39Fd6e51aad88F6F4ce6aB8827279cffFb92266", false)]
    #[case("0Xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266", false)]
    #[case("0xg39Fd6e51aad88F6F4ce6aB8827279cffFb92266", false)]
    #[case(" 0xf39Fd6e51aad88F6F4ce6aB8827279cffFb9226", false)]
    #[case("", false)]
    fn addresses(#[case] text: &str, #[case] good: bool) {
        let parsed = parse_address(text);
        assert_eq!(parsed.is_some(), good, "{text}");
        if let Some(address) = parsed {
            assert_eq!(
                checksum_address(address),
                "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266"
            );
        }
    }

    #[test]
    fn an_api_key_survives_its_text_and_other_uuid_forms_are_refused() {
        let key = ApiKey([
            0x12, 0x34, 0x56, 0x78, 0x9a, 0xbc, 0x4d, 0xef, 0x80, 1, 2, 3, 4, 5, 6, 7,
        ]);
        let text = api_key_text(key);
        assert_eq!(text, "12345678-9abc-4def-8001-020304050607");
        assert_eq!(parse_api_key(&text), Some(key));
        assert_eq!(parse_api_key(&text.to_uppercase()), Some(key));
        for other in [text.replace('-', ""), format!("{{{text}}}"), String::new()] {
            assert_eq!(parse_api_key(&other), None, "{other}");
        }
    }
}
