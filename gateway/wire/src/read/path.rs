//! The parameter in a path.

use foretell_model::{ConditionId, OrderId, WalletAddress};

use crate::errors::api_error::ApiError;
use crate::errors::error_code::ErrorCode;
use crate::operator::Address;
use crate::read::query::family::Family;
use crate::read::query::text_form::BYTES32;
use crate::schema::JsonSchema;
use crate::text::ids::{self, TokenRef};
use crate::values::{AnyToken, Bytes, Readable as _, Wallet};

/// A value that a path names.
pub trait PathParameter: Sized {
    /// The JSON schema.
    type Schema: JsonSchema;
    /// The codes of its errors.
    const ERRORS: &'static [ErrorCode] = &[];

    /// Reads the text of a segment.
    ///
    /// # Errors
    /// The text cannot be one; of most, that nothing has such a name.
    fn read(text: &str) -> Result<Self, ApiError>;
}

impl PathParameter for ConditionId {
    type Schema = Bytes;
    const ERRORS: &'static [ErrorCode] = &[ErrorCode::MarketNotFound];

    fn read(text: &str) -> Result<Self, ApiError> {
        ids::condition_id(text).ok_or_else(|| ErrorCode::MarketNotFound.into())
    }
}

impl PathParameter for OrderId {
    type Schema = Bytes;
    const ERRORS: &'static [ErrorCode] = &[ErrorCode::OrderNotFound];

    fn read(text: &str) -> Result<Self, ApiError> {
        ids::order_id(text).ok_or_else(|| ErrorCode::OrderNotFound.into())
    }
}

impl PathParameter for TokenRef {
    type Schema = AnyToken;
    const ERRORS: &'static [ErrorCode] = &[ErrorCode::InvalidTokenId];

    fn read(text: &str) -> Result<Self, ApiError> {
        Self::parse(text).ok_or_else(|| ErrorCode::InvalidTokenId.into())
    }
}

impl PathParameter for WalletAddress {
    type Schema = Wallet;
    const ERRORS: &'static [ErrorCode] = &[ErrorCode::InvalidField];

    fn read(text: &str) -> Result<Self, ApiError> {
        Address::parse("wallet", text)
    }
}

/// The id of a builder.
#[derive(Clone, Copy, Debug)]
pub struct Builder(pub [u8; 32]);

impl PathParameter for Builder {
    type Schema = Bytes;
    const ERRORS: &'static [ErrorCode] = &[ErrorCode::InvalidField];

    fn read(text: &str) -> Result<Self, ApiError> {
        let builder = ids::bytes32(text).map(Self);
        builder.ok_or_else(|| Family::Trading.wrong("builder", text, BYTES32.allowed))
    }
}

/// A name in a path, percent-decoded: `%41` is `A`, `+` stays a plus. Invalid escapes stay as they
/// are, and invalid UTF-8 names nothing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PathText(pub String);

impl PathParameter for PathText {
    type Schema = String;

    fn read(text: &str) -> Result<Self, ApiError> {
        let mut bytes = Vec::with_capacity(text.len());
        let mut rest = text.as_bytes();
        while let Some((byte, after)) = rest.split_first() {
            let mut code = [0];
            let digits = after.first_chunk::<2>().filter(|_| *byte == b'%');
            match digits.map(|digits| hex::decode_to_slice(digits, &mut code)) {
                Some(Ok(())) => {
                    bytes.push(code[0]);
                    rest = &after[2..];
                }
                _ => {
                    bytes.push(*byte);
                    rest = after;
                }
            }
        }
        Ok(Self(String::from_utf8_lossy(&bytes).into_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_says_what_it_encodes() {
        for (part, text) in [
            ("will-it-rain", "will-it-rain"),
            ("a%20b%2Fc", "a b/c"),
            ("%E2%80%8B", "\u{200b}"),
            ("100%", "100%"),
            ("%zz", "%zz"),
            ("%4", "%4"),
            ("a+b", "a+b"),
            ("%ff", "\u{fffd}"),
            ("", ""),
        ] {
            assert_eq!(PathText::read(part).unwrap().0, text, "{part}");
        }
    }
}
