//! The message that a user signs for a withdrawal (docs/api/withdrawals.md). Its domain has as
//! salt what names the journal: its genesis, or its branch since a restore. So a signature counts on one exchange alone.

use std::sync::LazyLock;

use alloy_primitives::keccak256;
use foretell_model::{Micros, TimeMs, WalletAddress};

use crate::eip712::{
    Hash, digest, domain_separator_with_salt, hash_parts, word_of_address, word_of_u64,
};
use crate::signature::{MalformedSignature, Signature};

/// `name` of the domain.
pub const WITHDRAWAL_DOMAIN_NAME: &str = "Foretell Withdrawals";
/// `version` of the domain.
pub const WITHDRAWAL_DOMAIN_VERSION: &str = "1";
/// The type of the message.
pub const WITHDRAWAL_TYPE: &str = "Withdrawal(address wallet,string destination,uint256 amount,string reference,uint256 validUntil)";

static WITHDRAWAL_TYPE_HASH: LazyLock<Hash> = LazyLock::new(|| keccak256(WITHDRAWAL_TYPE).0);

/// What is signed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WithdrawalMessage<'a> {
    /// The wallet that pays.
    pub wallet: WalletAddress,
    /// Where the money goes.
    pub destination: &'a str,
    /// The amount in micros.
    pub amount: Micros,
    /// The reference.
    pub reference: &'a str,
    /// Until when it may be accepted.
    pub valid_until: TimeMs,
}

impl WithdrawalMessage<'_> {
    /// The hash that is signed.
    #[must_use]
    pub fn digest(&self, chain_id: u64, salt: &[u8; 32]) -> Hash {
        let message = hash_parts(&[
            WITHDRAWAL_TYPE_HASH.as_slice(),
            &word_of_address(self.wallet),
            keccak256(self.destination).as_slice(),
            &word_of_u64(self.amount.0),
            keccak256(self.reference).as_slice(),
            &word_of_u64(self.valid_until.0),
        ]);
        let separator = domain_separator_with_salt(
            WITHDRAWAL_DOMAIN_NAME,
            WITHDRAWAL_DOMAIN_VERSION,
            chain_id,
            salt,
        );
        digest(&separator, &message)
    }

    /// The address whose key signed it.
    ///
    /// # Errors
    /// The signature is malformed.
    pub fn signer(
        &self,
        chain_id: u64,
        salt: &[u8; 32],
        signature: &[u8],
    ) -> Result<WalletAddress, MalformedSignature> {
        Signature::parse(signature)?.recover(&self.digest(chain_id, salt))
    }
}
