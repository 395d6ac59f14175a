//! Ids of trades and of their fills, as texts.

use core::fmt;

use serde::{Serialize, Serializer};

use crate::text::ids;

/// A trade, or one fill of it: the UUID of the trade, and for a fill `:` and its index in the trade.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FillId {
    /// The trade.
    pub trade: [u8; 16],
    /// Index of the fill; `None` = the whole trade.
    pub index: Option<u32>,
}

impl FillId {
    /// Parses the text.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (trade, index) = match text.split_once(':') {
            Some((trade, index)) => (trade, Some(index)),
            None => (text, None),
        };
        let index = match index {
            Some(digits) if digits.bytes().all(|byte| byte.is_ascii_digit()) => {
                Some(digits.parse().ok()?)
            }
            Some(_) => return None,
            None => None,
        };
        let trade = ids::uuid(trade)?;
        Some(Self { trade, index })
    }
}

impl fmt::Display for FillId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut buffer = uuid::Uuid::encode_buffer();
        let trade = uuid::Uuid::from_bytes(self.trade).hyphenated();
        f.write_str(trade.encode_lower(&mut buffer))?;
        match self.index {
            Some(index) => write!(f, ":{index}"),
            None => Ok(()),
        }
    }
}

impl Serialize for FillId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    const TRADE: [u8; 16] = *b"\x00\x11\x22\x33\x44\x55\x66\x77\x88\x99\xaa\xbb\xcc\xdd\xee\xff";

    #[rstest]
    #[case("00112233-4455-6677-8899-aabbccddeeff", None)]
    #[case("00112233-4455-6677-8899-aabbccddeeff:0", Some(0))]
    #[case("00112233-4455-6677-8899-aabbccddeeff:4095", Some(4_095))]
    fn text_goes_round(#[case] text: &str, #[case] index: Option<u32>) {
        let id = FillId {
            trade: TRADE,
            index,
        };
        assert_eq!(id.to_string(), text);
        assert_eq!(FillId::parse(text), Some(id));
        assert_eq!(FillId::parse(&text.to_uppercase()), Some(id));
    }

    #[rstest]
    #[case("")]
    #[case("00112233-4455-6677-8899-aabbccddeef")]
    #[case("00112233-4455-6677-8899-aabbccddeeff:")]
    #[case("00112233-4455-6677-8899-aabbccddeeff:+1")]
    #[case("00112233-4455-6677-8899-aabbccddeeff:4294967296")]
    #[case("00112233-4455-6677-8899-aabbccddeeff:0:0")]
    #[case("00112233445566778899aabbccddeeff")]
    #[case("00112233-4455-6677-8899-aabbccddeefff")]
    #[case("00112233-4455-6677-8899-aabbccddeefg")]
    #[case("001122334-455-6677-8899-aabbccddeeff")]
    #[case("00112233-4455-6677-8899--abbccddeeff")]
    #[case("00112233-4455-6677-8899-aabbccddee€")]
    fn other_text_is_no_id(#[case] text: &str) {
        assert_eq!(FillId::parse(text), None);
    }
}
