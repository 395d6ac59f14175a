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
    fn its_text_is_that_of_a_uuid() {
        let id = TradeId(*b"\x00\x11\x22\x33\x44\x55\x66\x77\x88\x99\xaa\xbb\xcc\xdd\xee\xff");
        assert_eq!(id.to_string(), "00112233-4455-6677-8899-aabbccddeeff");
    }

    #[test]
    fn every_part_of_the_place_counts() {
        let id = TradeId::new(&[7; 32], Sequence(5));
        assert_eq!(id, TradeId::new(&[7; 32], Sequence(5)));
        assert_ne!(id, TradeId::new(&[8; 32], Sequence(5)));
        assert_ne!(id, TradeId::new(&[7; 32], Sequence(6)));
    }
}
