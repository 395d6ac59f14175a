//! The signature of a backup, by the key that signs checkpoints.
//!
//! It covers 88 bytes: `"foretell backup 1"` and seven zero bytes, the journal's genesis, and the
//! digest of the manifest. No checkpoint has these first bytes, so neither is taken for the other.

use ed25519_dalek::Signer as _;

use crate::{Signer, VerifyError, verify};

const DOMAIN: [u8; 24] = *b"foretell backup 1\0\0\0\0\0\0\0";

/// The signed message.
fn message(genesis: &[u8; 32], manifest: &[u8; 32]) -> Vec<u8> {
    [&DOMAIN[..], genesis, manifest].concat()
}

impl Signer {
    /// Signs the manifest with this digest, of the journal identified by `genesis`.
    #[must_use]
    pub fn sign_backup(&self, genesis: &[u8; 32], manifest: &[u8; 32]) -> [u8; 64] {
        self.0.sign(&message(genesis, manifest)).to_bytes()
    }
}

/// Verifies the signature of a manifest. The caller must compare the public key with a trusted one.
///
/// # Errors
/// The signature is not valid.
pub fn verify_backup(
    public_key: &[u8; 32],
    genesis: &[u8; 32],
    manifest: &[u8; 32],
    signature: &[u8; 64],
) -> Result<(), VerifyError> {
    verify(public_key, &message(genesis, manifest), signature)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Checkpoint;
    use foretell_model::{Sequence, TimeMs};

    #[test]
    fn a_backup_is_signed_for_one_manifest_of_one_journal_and_is_no_checkpoint() {
        let (signer, genesis, manifest) = (Signer::from_secret(&[9; 32]), [7; 32], [5; 32]);
        let (key, signature) = (signer.public_key(), signer.sign_backup(&genesis, &manifest));
        let check = |key, genesis, manifest| verify_backup(key, genesis, manifest, &signature);
        assert_eq!(check(&key, &genesis, &manifest), Ok(()));
        let other = Signer::from_secret(&[8; 32]).public_key();
        for refused in [
            check(&other, &genesis, &manifest),
            check(&key, &[6; 32], &manifest),
            check(&key, &genesis, &[4; 32]),
        ] {
            assert_eq!(refused, Err(VerifyError::Signature));
        }
        let checkpoint = Checkpoint {
            sequence: Sequence(1),
            chain: [1; 32],
            digest: [2; 32],
            time: TimeMs(3),
        };
        let signed = signer.sign(&genesis, checkpoint);
        let taken = verify_backup(&key, &genesis, &manifest, &signed.signature);
        assert_eq!(taken, Err(VerifyError::Signature));
    }
}
