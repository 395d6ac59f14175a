//! Text forms of ids: token ids in both forms, condition ids, addresses, order ids, keys.

use core::fmt;

use foretell_model::{ApiKey, ConditionId, OrderId, Outcome, TokenId, WalletAddress};

use crate::text::decimal;

/// A token as a request names it. The trading surface accepts both forms wherever it takes a token
/// id (docs/api/overview.md §2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TokenRef {
    /// A decimal uint256.
    Token(TokenId),
    /// `<condition_id>:<outcome_index>`, the asset of the data surface.
    Asset(ConditionId, Outcome),
}

impl TokenRef {
    /// Reads either form; `None` when it is neither.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        match text.split_once(':') {
            Some((condition, "0")) => Some(Self::Asset(condition_id(condition)?, Outcome::Yes)),
            Some((condition, "1")) => Some(Self::Asset(condition_id(condition)?, Outcome::No)),
            Some(_) => None,
            None => decimal::uint256(text)
                .ok()
                .map(|word| Self::Token(TokenId(word))),
        }
    }
}

impl fmt::Display for TokenRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Token(token) => f.write_str(&token_text(token)),
            Self::Asset(condition, outcome) => write!(f, "{condition}:{}", outcome.code()),
        }
    }
}

/// The decimal text of a token id.
#[must_use]
pub fn token_text(token: &TokenId) -> String {
    decimal::uint256_text(token.as_bytes())
}

/// Reads 32 bytes in hex of either case.
#[must_use]
pub fn bytes32(text: &str) -> Option<[u8; 32]> {
    hex_bytes(text)
}

/// Reads a condition id, see [`bytes32`].
#[must_use]
pub fn condition_id(text: &str) -> Option<ConditionId> {
    hex_bytes(text).map(ConditionId)
}

/// Reads an order id, see [`bytes32`].
#[must_use]
pub fn order_id(text: &str) -> Option<OrderId> {
    hex_bytes(text).map(OrderId)
}

/// Reads a wallet address: `0x` and 40 hex digits. Case carries no meaning
/// (docs/api/overview.md §2).
#[must_use]
pub fn address(text: &str) -> Option<WalletAddress> {
    hex_bytes(text).map(WalletAddress)
}

/// Reads an address that a person typed: as [`address`], but digits of mixed case must be its checksum
/// (EIP-55), so that a mistyped wallet is no wallet.
#[must_use]
pub fn typed_address(text: &str) -> Option<WalletAddress> {
    let address = address(text)?;
    let has = |is: fn(&u8) -> bool| text.as_bytes().iter().skip(2).any(is);
    let is_mixed = has(u8::is_ascii_lowercase) && has(u8::is_ascii_uppercase);
    let checksummed = || alloy_primitives::Address::from(address.0).to_checksum(None);
    (!is_mixed || checksummed() == text).then_some(address)
}

/// Reads an API key: a hyphenated UUID of either case.
#[must_use]
pub fn api_key(text: &str) -> Option<ApiKey> {
    uuid(text).map(ApiKey)
}

/// Reads a hyphenated UUID of either case.
pub(crate) fn uuid(text: &str) -> Option<[u8; 16]> {
    if text.len() != uuid::fmt::Hyphenated::LENGTH {
        return None;
    }
    Some(uuid::Uuid::try_parse(text).ok()?.into_bytes())
}

/// The text of an API key: a lower-case hyphenated UUID. The zero key replaces keys that the reader
/// may not see in trades and orders (docs/api/market-data.md §6).
#[must_use]
pub fn api_key_text(key: &ApiKey) -> String {
    uuid::Uuid::from_bytes(key.0).hyphenated().to_string()
}

/// Reads `0x` and an even number of hex digits, at most `limit` bytes.
#[must_use]
pub fn bytes(text: &str, limit: usize) -> Option<Vec<u8>> {
    let digits = text.strip_prefix("0x")?;
    if digits.len() > limit * 2 {
        return None;
    }
    let mut bytes = vec![0; digits.len() / 2];
    hex::decode_to_slice(digits, &mut bytes).ok()?;
    Some(bytes)
}

fn hex_bytes<const N: usize>(text: &str) -> Option<[u8; N]> {
    let mut bytes = [0; N];
    hex::decode_to_slice(text.strip_prefix("0x")?, &mut bytes).ok()?;
    Some(bytes)
}

/// `0x` and the lower-case hex digits of 32 bytes (receipts, builders).
#[must_use]
pub fn hex_text(bytes: &[u8; 32]) -> String {
    format!("0x{}", hex::encode(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rstest::rstest;

    const CONDITION: &str = "0xdde06286a7b9464d344f410ab0b3d2ebc6469904e72c27fd982f65fdbf78768d";
    const TOKEN: &str =
        "65193234666628291664907888364936366210889305490897648116746073820519263548476";

    #[test]
    fn a_token_is_read_in_both_forms() {
        let token = TokenRef::parse(TOKEN).unwrap();
        assert!(matches!(token, TokenRef::Token(_)));
        assert_eq!(token.to_string(), TOKEN);
        for (index, outcome) in [("0", Outcome::Yes), ("1", Outcome::No)] {
            let text = format!("{CONDITION}:{index}");
            let expected = TokenRef::Asset(condition_id(CONDITION).unwrap(), outcome);
            assert_eq!(TokenRef::parse(&text), Some(expected));
            assert_eq!(expected.to_string(), text);
        }
        assert_eq!(TokenRef::parse("0"), Some(TokenRef::Token(TokenId::ZERO)));
    }

    #[rstest]
    #[case("")]
    #[case("-1")]
    #[case("0x10")]
    #[case(":0")]
    #[case("12:0")]
    #[case("0xdde06286a7b9464d344f410ab0b3d2ebc6469904e72c27fd982f65fdbf78768d")]
    #[case("0xdde06286a7b9464d344f410ab0b3d2ebc6469904e72c27fd982f65fdbf78768d:2")]
    #[case("0xdde06286a7b9464d344f410ab0b3d2ebc6469904e72c27fd982f65fdbf78768d:00")]
    #[case("0xdde06286a7b9464d344f410ab0b3d2ebc6469904e72c27fd982f65fdbf78768d:")]
    #[case("115792089237316195423570985008687907853269984665640564039457584007913129639936")]
    fn what_is_no_token_is_refused(#[case] text: &str) {
        assert_eq!(TokenRef::parse(text), None);
    }

    #[test]
    fn hex_is_of_one_length_and_any_case() {
        let mixed = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266";
        assert_eq!(address(mixed), address(&mixed.to_lowercase()));
        let long = format!("{mixed}0");
        for text in [
            &mixed[..41],
            long.as_str(),
            &mixed[2..],
            "0X00",
            "",
            "0x",
            "0xé9Fd6e51aad88F6F4ce6aB8827279cffFb92266",
        ] {
            assert_eq!(address(text), None, "{text:?}");
        }
        assert_eq!(bytes("0x00ff", 2), Some(vec![0, 255]));
        assert_eq!(bytes("0x00ff", 1), None);
        assert_eq!(bytes("0x00f", 2), None);
    }

    #[rstest]
    #[case::checksummed("0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed", true)]
    #[case::one_letter_in_the_other_case("0x5aAeb6053F3E94C9b9A09f33669435E7Ef1Beaed", false)]
    #[case::one_digit_mistyped("0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAee", false)]
    #[case::lower("0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed", true)]
    #[case::upper("0x5AAEB6053F3E94C9B9A09F33669435E7EF1BEAED", true)]
    #[case::digits_alone("0x1111111111111111111111111111111111111111", true)]
    #[case::short("0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeA", false)]
    fn a_typed_address_in_mixed_case_has_its_checksum(#[case] text: &str, #[case] valid: bool) {
        assert_eq!(typed_address(text).is_some(), valid);
    }

    #[rstest]
    #[case("7d444840-9dc0-41d1-b245-5ffdce74fad2", true)]
    #[case("7D444840-9DC0-41D1-B245-5FFDCE74FAD2", true)]
    #[case("7d4448409dc041d1b2455ffdce74fad2", false)]
    #[case("{7d444840-9dc0-41d1-b245-5ffdce74fad}", false)]
    #[case("urn:uuid:7d444840-9dc0-41d1-b245-5ff", false)]
    #[case("", false)]
    fn a_key_is_a_hyphenated_uuid(#[case] text: &str, #[case] valid: bool) {
        let key = api_key(text);
        assert_eq!(key.is_some(), valid);
        if let Some(key) = key {
            assert_eq!(api_key_text(&key), text.to_lowercase());
        }
    }

    proptest! {
        #[test]
        fn ids_survive_the_round_trip(word: [u8; 32], wallet: [u8; 20], key: [u8; 16]) {
            prop_assert_eq!(order_id(&OrderId(word).to_string()), Some(OrderId(word)));
            prop_assert_eq!(TokenRef::parse(&token_text(&TokenId(word))), Some(TokenRef::Token(TokenId(word))));
            prop_assert_eq!(address(&WalletAddress(wallet).to_string()), Some(WalletAddress(wallet)));
            prop_assert_eq!(api_key(&api_key_text(&ApiKey(key))), Some(ApiKey(key)));
        }

        #[test]
        fn any_text_is_read_or_refused_without_panic(text: String) {
            let _ = (TokenRef::parse(&text), bytes32(&text), address(&text), api_key(&text), bytes(&text, 8));
        }
    }
}
