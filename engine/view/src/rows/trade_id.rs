//! Ids of trades: unique, and the same after every replay (docs/verify/rules.md §5). A trade is all
//! fills of one command, so its frame names it.

use core::fmt;

use foretell_model::Sequence;
use foretell_model::codec::newtypes;

/// The first 16 bytes of BLAKE3(genesis hash ‖ sequence), little-endian; its text is that of a UUID.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TradeId(pub [u8; 16]);

newtypes! { TradeId: [u8; 16]; }

impl TradeId {
    /// The id of the trade of a frame.
    #[must_use]
    pub fn new(genesis: &[u8; 32], sequence: Sequence) -> Self {
        let mut input = [0; 40];
        input[..32].copy_from_slice(genesis);
        input[32..].copy_from_slice(&sequence.0.to_le_bytes());
        let hash = blake3::hash(&input);
        let (id, _) = hash.as_bytes().split_at(16);
        Self(id.try_into().expect("a hash is longer than 16 bytes"))
    }

    /// Parses the text: 32 hexadecimal digits in groups of 8, 4, 4, 4 and 12.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.as_bytes();
        if text.len() != 36 || [8, 13, 18, 23].iter().any(|&at| text[at] != b'-') {
            return None;
        }
        let mut digits = text.iter().filter(|&&byte| byte != b'-');
        let mut id = [0; 16];
        for byte in &mut id {
            let high = char::from(*digits.next()?).to_digit(16)?;
            let low = char::from(*digits.next()?).to_digit(16)?;
            *byte = u8::try_from(high << 4 | low).ok()?;
        }
        digits.next().is_none().then_some(Self(id))
    }
}

impl fmt::Display for TradeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, byte) in self.0.iter().enumerate() {
            if matches!(at, 4 | 6 | 8 | 10) {
                f.write_str("-")?;
            }
            write!(f, "{byte:02x}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for TradeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_goes_round() {
        let id = TradeId(*b"\x00\x11\x22\x33\x44\x55\x66\x77\x88\x99\xaa\xbb\xcc\xdd\xee\xff");
        assert_eq!(id.to_string(), "00112233-4455-6677-8899-aabbccddeeff");
        assert_eq!(TradeId::parse(&id.to_string()), Some(id));
        assert_eq!(TradeId::parse(&id.to_string().to_uppercase()), Some(id));
    }

    #[test]
    fn other_text_is_no_id() {
        for text in [
            "",
            "00112233-4455-6677-8899-aabbccddeef",
            "00112233-4455-6677-8899-aabbccddeefff",
            "00112233-4455-6677-8899-aabbccddeefg",
            "001122334-455-6677-8899-aabbccddeeff",
            "00112233-4455-6677-8899--abbccddeeff",
            "00112233-4455-6677-8899-aabbccddee€",
        ] {
            assert_eq!(TradeId::parse(text), None, "{text}");
        }
    }

    #[test]
    fn every_part_of_the_place_counts() {
        let id = TradeId::new(&[7; 32], Sequence(5));
        assert_eq!(id, TradeId::new(&[7; 32], Sequence(5)));
        assert_ne!(id, TradeId::new(&[8; 32], Sequence(5)));
        assert_ne!(id, TradeId::new(&[7; 32], Sequence(6)));
    }
}
