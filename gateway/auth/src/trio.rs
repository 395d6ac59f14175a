//! The check of a whole trio that a client sends instead of a signature: the user channel of the
//! streams (docs/api/streams.md).

use subtle::{Choice, ConstantTimeEq};

use crate::keys::KeyOrigin;
use crate::l2::NO_ORIGIN;
use crate::master::MasterSecret;

/// Whether `secret` and `passphrase` are those of a key's origin; `origin` is `None` when no such
/// live key exists. Takes the same time for every failure.
#[must_use]
pub fn verify_trio(
    secret: &str,
    passphrase: &str,
    origin: Option<&KeyOrigin>,
    master: &MasterSecret,
    chain_id: u64,
) -> bool {
    let (own_secret, own_passphrase) = master.secrets(origin.unwrap_or(&NO_ORIGIN), chain_id);
    // All comparisons run before the decision, so timing reveals none of them.
    let known = Choice::from(u8::from(origin.is_some()));
    let same_secret = own_secret.text().as_bytes().ct_eq(secret.as_bytes());
    let own_passphrase = own_passphrase.text();
    let same_passphrase = own_passphrase.as_bytes().ct_eq(passphrase.as_bytes());
    bool::from(known & same_secret & same_passphrase)
}

#[cfg(test)]
mod tests {
    use super::*;
    use foretell_model::WalletAddress;

    #[test]
    fn both_secrets_of_a_known_key_are_needed() {
        let master = MasterSecret::from_bytes([7; 32]);
        let origin = KeyOrigin {
            owner: WalletAddress([1; 20]),
            nonce: [2; 32],
        };
        let trio = master.trio(&origin, 137);
        let (secret, passphrase) = (trio.secret.text(), trio.passphrase.text());
        let verify = |secret: &str, passphrase: &str, origin: Option<&KeyOrigin>| {
            verify_trio(secret, passphrase, origin, &master, 137)
        };
        assert!(verify(&secret, &passphrase, Some(&origin)));
        assert!(!verify(&secret, &passphrase, None));
        assert!(!verify(&secret, &passphrase[1..], Some(&origin)));
        assert!(!verify(&secret[1..], &passphrase, Some(&origin)));
        assert!(!verify("", "", Some(&origin)));
        assert!(!verify(&passphrase, &secret, Some(&origin)));
        let other = KeyOrigin {
            nonce: [3; 32],
            ..origin
        };
        assert!(!verify(&secret, &passphrase, Some(&other)));
    }
}
