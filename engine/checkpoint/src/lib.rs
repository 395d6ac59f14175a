//! Signed checkpoints of the exchange, and the signature of a backup (`backup.rs`).
//!
//! A checkpoint binds a sequence to the journal's chain and to the exchange's state at that
//! sequence. It is signed with Ed25519 by a key of the deployment. A party that stores checkpoints
//! elsewhere can prove later that a journal was truncated or rewritten, even if the journal itself
//! is consistent: a journal with another chain or state contradicts the earlier signature.
//!
//! The signature covers 136 bytes, integers little-endian: `"foretell checkpoint 1"` and three zero
//! bytes, the journal's genesis, sequence, chain, digest, time.

mod backup;
mod log;

use core::fmt;

use ed25519_dalek::{Signature, Signer as _, SigningKey, VerifyingKey};
use foretell_model::{Sequence, TimeMs};

pub use backup::verify_backup;
pub use log::{CheckpointLog, CheckpointLogError, CheckpointReader};

/// First bytes of the signed message.
const DOMAIN: [u8; 24] = *b"foretell checkpoint 1\0\0\0";
/// Length of the signed message.
const MESSAGE_BYTES: usize = DOMAIN.len() + 32 + 8 + 32 + 32 + 8;

/// The signed statement.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Checkpoint {
    /// The last command of a batch.
    pub sequence: Sequence,
    /// The journal's chain up to and including that batch (`journal/FORMAT.md`).
    pub chain: [u8; 32],
    /// Digest of the state of the exchange right after that command.
    pub digest: [u8; 32],
    /// Time of signing by the machine's clock.
    pub time: TimeMs,
}

/// A checkpoint with a signature that is not verified yet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SignedCheckpoint {
    /// The signed statement.
    pub checkpoint: Checkpoint,
    /// The claimed Ed25519 key.
    pub public_key: [u8; 32],
    /// The signature.
    pub signature: [u8; 64],
}

/// Why a checkpoint proves nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum VerifyError {
    /// The bytes are not a point of the curve, or a weak one.
    #[error("invalid public key")]
    Key,
    /// The key did not sign this checkpoint for this journal.
    #[error("invalid signature for this journal")]
    Signature,
}

/// The signing key.
#[derive(Clone)]
pub struct Signer(SigningKey);

impl fmt::Debug for Signer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Signer(secret)")
    }
}

impl Signer {
    /// The key of random secret bytes.
    #[must_use]
    pub fn from_secret(secret: &[u8; 32]) -> Self {
        Self(SigningKey::from_bytes(secret))
    }

    /// The key for verification.
    #[must_use]
    pub fn public_key(&self) -> [u8; 32] {
        self.0.verifying_key().to_bytes()
    }

    /// Signs for the journal identified by `genesis`.
    #[must_use]
    pub fn sign(&self, genesis: &[u8; 32], checkpoint: Checkpoint) -> SignedCheckpoint {
        let signature = self.0.sign(&checkpoint.message(genesis)).to_bytes();
        SignedCheckpoint {
            checkpoint,
            public_key: self.public_key(),
            signature,
        }
    }
}

impl Checkpoint {
    fn message(&self, genesis: &[u8; 32]) -> [u8; MESSAGE_BYTES] {
        let parts: [&[u8]; 6] = [
            &DOMAIN,
            genesis,
            &self.sequence.0.to_le_bytes(),
            &self.chain,
            &self.digest,
            &self.time.0.to_le_bytes(),
        ];
        let mut message = [0; MESSAGE_BYTES];
        let mut rest = &mut message[..];
        for part in parts {
            let (place, behind) = rest.split_at_mut(part.len());
            place.copy_from_slice(part);
            rest = behind;
        }
        message
    }
}

impl SignedCheckpoint {
    /// Verifies the signature for the journal identified by `genesis`. The caller must compare the
    /// public key with a trusted one.
    ///
    /// # Errors
    /// The signature is not valid.
    pub fn verify(&self, genesis: &[u8; 32]) -> Result<(), VerifyError> {
        let message = self.checkpoint.message(genesis);
        verify(&self.public_key, &message, &self.signature)
    }
}

/// Verifies the signature of a message.
fn verify(public_key: &[u8; 32], message: &[u8], signature: &[u8; 64]) -> Result<(), VerifyError> {
    let key = VerifyingKey::from_bytes(public_key).map_err(|_| VerifyError::Key)?;
    if key.is_weak() {
        return Err(VerifyError::Key);
    }
    key.verify_strict(message, &Signature::from_bytes(signature))
        .map_err(|_| VerifyError::Signature)
}

#[cfg(test)]
mod tests {
    use super::*;

    const GENESIS: [u8; 32] = [7; 32];

    fn signed() -> SignedCheckpoint {
        let checkpoint = Checkpoint {
            sequence: Sequence(0x0102),
            chain: [1; 32],
            digest: [2; 32],
            time: TimeMs(3),
        };
        Signer::from_secret(&[9; 32]).sign(&GENESIS, checkpoint)
    }

    #[test]
    fn a_signature_holds_for_every_bit_and_no_other() {
        let signed = signed();
        assert_eq!(signed.verify(&GENESIS), Ok(()));
        let spoil: [fn(&mut SignedCheckpoint); 6] = [
            |it| it.checkpoint.sequence.0 += 1,
            |it| it.checkpoint.chain[31] ^= 1,
            |it| it.checkpoint.digest[0] ^= 0x80,
            |it| it.checkpoint.time.0 ^= 1 << 63,
            |it| it.signature[0] ^= 1,
            |it| it.public_key = Signer::from_secret(&[8; 32]).public_key(),
        ];
        for (index, spoil) in spoil.into_iter().enumerate() {
            let mut other = signed;
            spoil(&mut other);
            assert_eq!(
                other.verify(&GENESIS),
                Err(VerifyError::Signature),
                "{index}"
            );
        }
        assert_eq!(signed.verify(&[6; 32]), Err(VerifyError::Signature));
        let mut weak = signed;
        weak.public_key = [0; 32];
        weak.public_key[0] = 1;
        assert_eq!(
            weak.verify(&GENESIS),
            Err(VerifyError::Key),
            "the neutral element"
        );
    }

    #[test]
    fn what_is_signed_is_laid_out_as_it_says() {
        let message = signed().checkpoint.message(&GENESIS);
        assert_eq!(&message[..24], b"foretell checkpoint 1\0\0\0");
        assert_eq!(message[24..56], GENESIS);
        assert_eq!(message[56..64], [2, 1, 0, 0, 0, 0, 0, 0]);
        assert_eq!(message[64..96], [1; 32]);
        assert_eq!(message[96..128], [2; 32]);
        assert_eq!(message[128..], [3, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(
            format!("{:?}", Signer::from_secret(&[9; 32])),
            "Signer(secret)"
        );
    }
}
