//! Evidence of an order: the eleven signed fields, the domain, and the signature as received.
//!
//! Opaque to the engine and kept in the frame, so an auditor needs no other source. The words have
//! the layout of EIP-712, so the order's struct hash is `keccak256(type hash ‖ words)`.

use crate::id::{DomainNumber, TokenId, WalletAddress};
use crate::limits::MAX_SIGNATURE_BYTES;

/// Bytes of the eleven words.
pub const WORDS_BYTES: usize = 11 * 32;
/// Bytes of the words, the domain number and the signature's length.
const HEAD_BYTES: usize = WORDS_BYTES + 1 + 2;

/// The evidence of an order: eleven 32-byte big-endian words in the order of the type (salt,
/// maker, signer, tokenId, makerAmount, takerAmount, side, signatureType, timestamp, metadata,
/// builder), then the domain number, the signature's length (u16 little-endian) and the signature.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OrderEvidence<'a> {
    /// The eleven words.
    pub words: &'a [u8; WORDS_BYTES],
    /// The journalled domain of the signature.
    pub domain: DomainNumber,
    /// The signature as received.
    pub signature: &'a [u8],
}

impl<'a> OrderEvidence<'a> {
    /// Appends the evidence to `out`. A signature longer than [`MAX_SIGNATURE_BYTES`] is truncated;
    /// no verified signature is longer.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let signature = &self.signature[..self.signature.len().min(MAX_SIGNATURE_BYTES)];
        let length = u16::try_from(signature.len()).unwrap_or(u16::MAX);
        out.extend_from_slice(self.words);
        out.push(self.domain.0);
        out.extend_from_slice(&length.to_le_bytes());
        out.extend_from_slice(signature);
    }

    /// Decodes evidence; `None` when the bytes are not exactly one evidence.
    #[must_use]
    pub fn decode(bytes: &'a [u8]) -> Option<Self> {
        let (words, rest) = bytes.split_first_chunk::<WORDS_BYTES>()?;
        let (head, signature) = rest.split_first_chunk::<{ HEAD_BYTES - WORDS_BYTES }>()?;
        let length = usize::from(u16::from_le_bytes([head[1], head[2]]));
        (signature.len() == length && length <= MAX_SIGNATURE_BYTES).then_some(Self {
            words,
            domain: DomainNumber(head[0]),
            signature,
        })
    }

    /// One of the eleven words.
    #[must_use]
    pub fn word(&self, index: usize) -> &'a [u8; 32] {
        let (words, _) = self.words.as_chunks::<32>();
        &words[index]
    }

    /// The trading wallet (word 1).
    #[must_use]
    pub fn maker(&self) -> WalletAddress {
        address(self.word(1))
    }

    /// The signer (word 2).
    #[must_use]
    pub fn signer(&self) -> WalletAddress {
        address(self.word(2))
    }

    /// The token (word 3).
    #[must_use]
    pub fn token(&self) -> TokenId {
        TokenId(*self.word(3))
    }

    /// The signature type (word 7).
    #[must_use]
    pub fn signature_type(&self) -> u8 {
        self.word(7)[31]
    }

    /// The builder (word 10): a wallet left-padded to 32 bytes, zero = none.
    #[must_use]
    pub fn builder(&self) -> &'a [u8; 32] {
        self.word(10)
    }
}

fn address(word: &[u8; 32]) -> WalletAddress {
    let mut address = [0; 20];
    address.copy_from_slice(&word[12..]);
    WalletAddress(address)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn evidence_survives_the_round_trip_and_every_cut_is_refused() {
        let mut words = [0_u8; WORDS_BYTES];
        for (index, byte) in words.iter_mut().enumerate() {
            *byte = u8::try_from(index % 251).unwrap();
        }
        let evidence = OrderEvidence {
            words: &words,
            domain: DomainNumber(3),
            signature: &[7; 65],
        };
        let mut bytes = Vec::new();
        evidence.encode(&mut bytes);
        assert_eq!(OrderEvidence::decode(&bytes), Some(evidence));
        for cut in 0..bytes.len() {
            assert_eq!(OrderEvidence::decode(&bytes[..cut]), None, "cut at {cut}");
        }
        bytes.push(0);
        assert_eq!(OrderEvidence::decode(&bytes), None);
    }
}
