//! Signed checkpoints: what the exchange vouched for, and when.
//!
//! A checkpoint binds a sequence to the journal's chain and to the state of the exchange there, and
//! is signed with Ed25519 by a key of the deployment. Whoever keeps checkpoints elsewhere can show
//! later that a journal was cut or written anew, however sound it is in itself: no journal that
//! leads to another chain or state can be signed for by what was signed before.
//!
//! The signature covers 136 bytes, integers little-endian: `"foretell checkpoint 1"` and three
//! zero bytes, the journal's genesis, sequence, chain, digest, time.

mod log;

use core::fmt;

use ed25519_dalek::{Signature, Signer as _, SigningKey, VerifyingKey};
use foretell_model::{Sequence, TimeMs};

pub use log::{Log, LogError, Reader};

/// First bytes of what is signed.
const DOMAIN: [u8; 24] = *b"foretell checkpoint 1\0\0\0";
/// Bytes that are signed.
const MESSAGE_BYTES: usize = DOMAIN.len() + 32 + 8 + 32 + 32 + 8;

/// What is vouched for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Checkpoint {
    /// The last command of a batch.
    pub sequence: Sequence,
    /// The journal's chain up to and with that batch (`journal/FORMAT.md`).
    pub chain: [u8; 32],
    /// Digest of the state of the exchange right after that command.
    pub digest: [u8; 32],
    /// When it was signed, by the clock of the machine.
    pub time: TimeMs,
}

/// A checkpoint with its signature, which need not hold.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Signed {
    /// What is vouched for.
    pub checkpoint: Checkpoint,
    /// The Ed25519 key that is said to have signed.
    pub public_key: [u8; 32],
    /// The signature.
    pub signature: [u8; 64],
}

/// Why a checkpoint proves nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Unproven {
    /// The bytes are no point of the curve, or a weak one.
    #[error("its public key is none")]
    Key,
    /// The key did not sign this, or not for this journal.
    #[error("its signature does not hold for this journal")]
    Signature,
}

/// The key that signs.
#[derive(Clone)]
pub struct Signer(SigningKey);

impl fmt::Debug for Signer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Signer(secret)")
    }
}

impl Signer {
    /// The key of these secret bytes, which are random.
    #[must_use]
    pub fn from_secret(secret: &[u8; 32]) -> Self {
        Self(SigningKey::from_bytes(secret))
    }

    /// The key others verify with.
    #[must_use]
    pub fn public_key(&self) -> [u8; 32] {
        self.0.verifying_key().to_bytes()
    }

    /// Signs for the journal named by `genesis`.
    #[must_use]
    pub fn sign(&self, genesis: &[u8; 32], checkpoint: Checkpoint) -> Signed {
        let signature = self.0.sign(&checkpoint.message(genesis)).to_bytes();
        Signed {
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

impl Signed {
    /// Whether its key signed it for the journal named by `genesis`. Whose key it is, is for the
    /// caller to compare.
    ///
    /// # Errors
    /// It did not.
    pub fn verify(&self, genesis: &[u8; 32]) -> Result<(), Unproven> {
        let key = VerifyingKey::from_bytes(&self.public_key).map_err(|_| Unproven::Key)?;
        if key.is_weak() {
            return Err(Unproven::Key);
        }
        let signature = Signature::from_bytes(&self.signature);
        key.verify_strict(&self.checkpoint.message(genesis), &signature)
            .map_err(|_| Unproven::Signature)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GENESIS: [u8; 32] = [7; 32];

    fn signed() -> Signed {
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
        let spoil: [fn(&mut Signed); 6] = [
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
            assert_eq!(other.verify(&GENESIS), Err(Unproven::Signature), "{index}");
        }
        assert_eq!(signed.verify(&[6; 32]), Err(Unproven::Signature));
        let mut weak = signed;
        weak.public_key = [0; 32];
        weak.public_key[0] = 1;
        assert_eq!(
            weak.verify(&GENESIS),
            Err(Unproven::Key),
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
