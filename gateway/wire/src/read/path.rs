//! The parameter in a path.

use foretell_model::{ConditionId, OrderId, WalletAddress};

use crate::errors::api_error::ApiError;
use crate::errors::error_code::ErrorCode;
use crate::schema::JsonSchema;
use crate::text::ids::TokenRef;
use crate::values::{Address, AnyToken, Bytes, Condition, Order, Readable as _, Wallet};

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

/// Values whose only error has a fixed text.
macro_rules! path_values {
    ($($type:ty: $value:ident or $code:ident;)+) => {$(
        impl PathParameter for $type {
            type Schema = $value;
            const ERRORS: &'static [ErrorCode] = &[ErrorCode::$code];

            fn read(text: &str) -> Result<Self, ApiError> {
                $value::read(text).ok_or_else(|| ErrorCode::$code.into())
            }
        }
    )+};
}

path_values! {
    ConditionId: Condition or MarketNotFound;
    OrderId: Order or OrderNotFound;
    TokenRef: AnyToken or InvalidTokenId;
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
        Bytes::parse("builder", text).map(Self)
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
