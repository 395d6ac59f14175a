//! The check of a known signer: it accepts what recovery accepts, and nothing else.

use std::sync::LazyLock;

use foretell_auth::signature::Signature;
use foretell_auth::{KnownSigner, Signer};

use crate::Seed;

/// A digest, and the 65 bytes of a signature.
const INPUT_BYTES: usize = 32 + 65;

static SIGNER: LazyLock<Signer> = LazyLock::new(|| Signer::from_bytes(&[3; 32]).expect("a key"));
static KNOWN: LazyLock<KnownSigner> =
    LazyLock::new(|| KnownSigner::new(&SIGNER.public_key()).expect("a key"));

/// Reads the bytes as a digest and a signature of it, and as what differs from the right one.
pub(crate) fn run(bytes: &[u8]) {
    let Some((digest, signature)) = bytes.split_first_chunk::<32>() else {
        return;
    };
    check(digest, signature);
    let mut near = SIGNER.sign_digest(digest);
    for (byte, other) in near.iter_mut().zip(signature) {
        *byte ^= other;
    }
    check(digest, &near);
}

fn check(digest: &[u8; 32], signature: &[u8]) {
    if let Ok(signature) = Signature::parse(signature) {
        let recovered = signature.recover(digest);
        let is_signers = recovered == Ok(SIGNER.address());
        assert_eq!(
            KNOWN.signed(digest, &signature),
            is_signers,
            "{recovered:?}"
        );
    }
}

pub(crate) fn seeds() -> Vec<Seed> {
    let digest = [0xD1; 32];
    let signed = |mask: &dyn Fn(&mut [u8; 65])| {
        let mut signature = SIGNER.sign_digest(&digest);
        mask(&mut signature);
        [&digest[..], &signature].concat()
    };
    vec![
        ("right", signed(&|_| ())),
        ("other parity", signed(&|bytes| bytes[64] = 55 - bytes[64])),
        ("no difference", vec![0; INPUT_BYTES]),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_seed_is_accepted() {
        let (_, seed) = &seeds()[0];
        let (digest, signature) = seed.split_first_chunk().expect("a digest");
        assert!(KNOWN.signed(digest, &Signature::parse(signature).expect("a signature")));
    }
}
