//! The eleven signed fields of an order and their encoding as 32-byte words.

use foretell_model::evidence::WORDS_BYTES;
use foretell_model::{Side, TimeMs, TokenId, WalletAddress, WalletKind};

/// The signed fields of an order (docs/api/authentication.md §5), parsed; values outside of these
/// types are rejected earlier.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OrderFields {
    /// An unsigned 256-bit integer, big-endian.
    pub salt: [u8; 32],
    /// The wallet that trades.
    pub maker: WalletAddress,
    /// The signer: the owner, or for type 3 the wallet itself.
    pub signer: WalletAddress,
    /// The token.
    pub token: TokenId,
    /// Micros of collateral of a BUY, micro-shares of a SELL.
    pub maker_amount: u64,
    /// Micro-shares of a BUY, micros of collateral of a SELL.
    pub taker_amount: u64,
    /// Side in the token.
    pub side: Side,
    /// Signature type: the relation of the maker to the owner.
    pub signature_type: WalletKind,
    /// Milliseconds.
    pub timestamp: TimeMs,
    /// Chosen by the client; zero = none.
    pub metadata: [u8; 32],
    /// A wallet left-padded to 32 bytes; zero = none.
    pub builder: [u8; 32],
}

impl OrderFields {
    /// The fields as EIP-712 encodes them, in the type's field order; also the order's evidence.
    #[must_use]
    pub fn words(&self) -> [u8; WORDS_BYTES] {
        let mut words = [0; WORDS_BYTES];
        let mut write = |index: usize, value: &[u8]| {
            let end = 32 * (index + 1);
            words[end - value.len()..end].copy_from_slice(value);
        };
        write(0, &self.salt);
        write(1, &self.maker.0);
        write(2, &self.signer.0);
        write(3, &self.token.0);
        write(4, &self.maker_amount.to_be_bytes());
        write(5, &self.taker_amount.to_be_bytes());
        write(6, &[self.side.code()]);
        write(7, &[self.signature_type.code()]);
        write(8, &self.timestamp.0.to_be_bytes());
        write(9, &self.metadata);
        write(10, &self.builder);
        words
    }
}
