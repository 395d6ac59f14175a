//! 32 bytes as hex digits, and back.

use serde::Serializer;

/// Hex digits of an answer's field.
pub(crate) fn hex<S: Serializer>(bytes: &[u8; 32], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&hex::encode(bytes))
}

/// `0x` and hex digits.
pub(crate) fn prefixed_hex(bytes: impl AsRef<[u8]>) -> String {
    format!("0x{}", hex::encode(bytes))
}

/// Bytes of hex digits, with or without `0x`.
pub(crate) fn parse_hex<const N: usize>(text: &str) -> Option<[u8; N]> {
    let mut bytes = [0; N];
    let digits = text.strip_prefix("0x").unwrap_or(text);
    hex::decode_to_slice(digits, &mut bytes).ok()?;
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_64_digits() {
        let text = "ab".repeat(32);
        assert_eq!(parse_hex(&text), Some([0xab; 32]));
        assert_eq!(parse_hex(&format!("0x{text}")), Some([0xab; 32]));
        assert_eq!(parse_hex::<32>(&text[1..]), None);
    }
}
