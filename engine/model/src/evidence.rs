//! Evidence of an order, of an operator's act, of a requested withdrawal and of a set of quotes.
//!
//! Evidence of an order: the eleven signed fields, the domain, and the signature as received.
//!
//! Opaque to the engine and kept in the frame, so an auditor needs no other source. The words have
//! the layout of EIP-712, so the order's struct hash is `keccak256(type hash ‖ words)`.

use crate::id::{DomainNumber, TokenId, WalletAddress};
use crate::limits::{MAX_DESTINATION_BYTES, MAX_REASON_CHARS, MAX_SIGNATURE_BYTES};

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

/// The evidence of a frame with an operator (docs/verify/rules.md §27): the reason's length in bytes
/// (u16 little-endian), the reason, then the command's own evidence.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct ActEvidence<'a> {
    /// The reason: at most [`MAX_REASON_CHARS`] characters, none of them a control character. May be
    /// empty.
    pub reason: &'a str,
    /// The command's own evidence.
    pub own: &'a [u8],
}

impl<'a> ActEvidence<'a> {
    /// Whether a text can be a reason.
    #[must_use]
    pub fn is_reason(text: &str) -> bool {
        text.chars().count() <= MAX_REASON_CHARS && !text.chars().any(char::is_control)
    }

    /// Appends the evidence to `out`. A text that cannot be a reason is left out.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let reason = if Self::is_reason(self.reason) {
            self.reason
        } else {
            ""
        };
        let length = u16::try_from(reason.len()).expect("256 characters have at most 1,024 bytes");
        out.extend_from_slice(&length.to_le_bytes());
        out.extend_from_slice(reason.as_bytes());
        out.extend_from_slice(self.own);
    }

    /// Decodes evidence; `None` when the bytes do not begin with a reason.
    #[must_use]
    pub fn decode(bytes: &'a [u8]) -> Option<Self> {
        let (length, rest) = bytes.split_first_chunk::<2>()?;
        let length = usize::from(u16::from_le_bytes(*length));
        let (reason, own) = rest.split_at_checked(length)?;
        let reason = core::str::from_utf8(reason).ok()?;
        Self::is_reason(reason).then_some(Self { reason, own })
    }
}

/// The evidence of a requested withdrawal: the chain id (u64 little-endian), the destination and the
/// reference, each after its length in one byte, the signature's length (u16 little-endian) and the
/// signature. Wallet, amount and end of validity are those of the command.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WithdrawalEvidence<'a> {
    /// The chain id of the signature's domain.
    pub chain: u64,
    /// Where the money goes: [`WithdrawalEvidence::is_text`].
    pub destination: &'a str,
    /// The reference: the same.
    pub reference: &'a str,
    /// The signature as received.
    pub signature: &'a [u8],
}

impl<'a> WithdrawalEvidence<'a> {
    /// Whether a text can be a destination, a reference, or that of a payment: 1 to
    /// [`MAX_DESTINATION_BYTES`] printable ASCII characters.
    #[must_use]
    pub fn is_text(text: &str) -> bool {
        let is_printable = |byte: u8| byte == b' ' || byte.is_ascii_graphic();
        (1..=MAX_DESTINATION_BYTES).contains(&text.len()) && text.bytes().all(is_printable)
    }

    /// Appends the evidence to `out`; its texts and signature must be short enough.
    pub fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.chain.to_le_bytes());
        for text in [self.destination, self.reference] {
            out.push(u8::try_from(text.len()).unwrap_or(u8::MAX));
            out.extend_from_slice(text.as_bytes());
        }
        let length = u16::try_from(self.signature.len()).unwrap_or(u16::MAX);
        out.extend_from_slice(&length.to_le_bytes());
        out.extend_from_slice(self.signature);
    }

    /// Decodes evidence; `None` when the bytes are not exactly one evidence.
    #[must_use]
    pub fn decode(bytes: &'a [u8]) -> Option<Self> {
        fn text<'a>(from: &mut &'a [u8]) -> Option<&'a str> {
            let (length, rest) = from.split_first()?;
            let (text, rest) = rest.split_at_checked(usize::from(*length))?;
            *from = rest;
            let text = core::str::from_utf8(text).ok()?;
            WithdrawalEvidence::is_text(text).then_some(text)
        }
        let (chain, mut rest) = bytes.split_first_chunk::<8>()?;
        let (destination, reference) = (text(&mut rest)?, text(&mut rest)?);
        let (length, signature) = rest.split_first_chunk::<2>()?;
        let length = usize::from(u16::from_le_bytes(*length));
        (signature.len() == length && length <= MAX_SIGNATURE_BYTES).then_some(Self {
            chain: u64::from_le_bytes(*chain),
            destination,
            reference,
            signature,
        })
    }
}

/// The evidence of a set of quotes, after its tail: the signer (20 bytes), the signature type, the builder
/// (32 bytes), the chain id (u64 little-endian), the signature's length (u16 little-endian) and the
/// signature. Everything else that is signed stands in the command, its tail and the accounts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct QuotesEvidence<'a> {
    /// The signer.
    pub signer: WalletAddress,
    /// The signature type, as of an order.
    pub signature_type: u8,
    /// The builder: a wallet left-padded to 32 bytes, zero = none.
    pub builder: [u8; 32],
    /// The chain id of the signature's domain.
    pub chain: u64,
    /// The signature as received.
    pub signature: &'a [u8],
}

impl<'a> QuotesEvidence<'a> {
    /// Appends the evidence to `out`; its signature must be short enough.
    pub fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.signer.0);
        out.push(self.signature_type);
        out.extend_from_slice(&self.builder);
        out.extend_from_slice(&self.chain.to_le_bytes());
        let length = u16::try_from(self.signature.len()).unwrap_or(u16::MAX);
        out.extend_from_slice(&length.to_le_bytes());
        out.extend_from_slice(self.signature);
    }

    /// Decodes evidence; `None` when the bytes are not exactly one evidence.
    #[must_use]
    pub fn decode(bytes: &'a [u8]) -> Option<Self> {
        let (signer, rest) = bytes.split_first_chunk::<20>()?;
        let (signature_type, rest) = rest.split_first()?;
        let (builder, rest) = rest.split_first_chunk::<32>()?;
        let (chain, rest) = rest.split_first_chunk::<8>()?;
        let (length, signature) = rest.split_first_chunk::<2>()?;
        let length = usize::from(u16::from_le_bytes(*length));
        (signature.len() == length && length <= MAX_SIGNATURE_BYTES).then_some(Self {
            signer: WalletAddress(*signer),
            signature_type: *signature_type,
            builder: *builder,
            chain: u64::from_le_bytes(*chain),
            signature,
        })
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

    #[test]
    fn evidence_of_quotes_survives_the_round_trip_and_every_cut_is_refused() {
        for signature in [&[][..], &[7; 65], &[8; MAX_SIGNATURE_BYTES]] {
            let evidence = QuotesEvidence {
                signer: WalletAddress([1; 20]),
                signature_type: 2,
                builder: [3; 32],
                chain: 0x0405_0607_0809_0a0b,
                signature,
            };
            let mut bytes = Vec::new();
            evidence.encode(&mut bytes);
            assert_eq!(QuotesEvidence::decode(&bytes), Some(evidence));
            for cut in 0..bytes.len() {
                assert_eq!(QuotesEvidence::decode(&bytes[..cut]), None, "cut at {cut}");
            }
            bytes.push(0);
            assert_eq!(QuotesEvidence::decode(&bytes), None);
        }
        let mut long = vec![0; 63];
        let length = u16::try_from(MAX_SIGNATURE_BYTES + 1).unwrap();
        long[61..].copy_from_slice(&length.to_le_bytes());
        long.resize(63 + MAX_SIGNATURE_BYTES + 1, 9);
        assert_eq!(QuotesEvidence::decode(&long), None);
    }

    #[test]
    fn an_act_keeps_its_reason_and_its_own_evidence() {
        let longest = "ü".repeat(MAX_REASON_CHARS);
        for reason in ["", "result published", &longest] {
            let act = ActEvidence {
                reason,
                own: b"own",
            };
            let mut bytes = Vec::new();
            act.encode(&mut bytes);
            assert_eq!(ActEvidence::decode(&bytes), Some(act));
            for cut in 0..bytes.len() - 3 {
                assert_eq!(ActEvidence::decode(&bytes[..cut]), None, "cut at {cut}");
            }
        }
        assert!(!ActEvidence::is_reason("two\nlines"));
        assert!(!ActEvidence::is_reason(&"a".repeat(MAX_REASON_CHARS + 1)));
        assert_eq!(ActEvidence::decode(&[1, 0, b'\n']), None);
    }
}
