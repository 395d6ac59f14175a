//! The parts of an API key. They are derived from the master secret on use and stored nowhere
//! (docs/api/authentication.md §2).

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE;
use foretell_model::{ApiKey, WalletAddress};
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

use crate::master::MasterSecret;
use crate::text::api_key_text;

// Labels of the derivations from the master secret; no label is a prefix of another's message.
const API_KEY: &[u8] = b"foretell/v1/api-key\0";
const SECRET: &[u8] = b"foretell/v1/secret\0";
const PASSPHRASE: &[u8] = b"foretell/v1/passphrase\0";
const READ_ONLY_API_KEY: &[u8] = b"foretell/v1/read-only-api-key\0";

/// HMAC-SHA256 over the concatenated parts.
pub(crate) fn hmac_sha256(key: &[u8], parts: &[&[u8]]) -> [u8; 32] {
    let mut hmac = Hmac::<Sha256>::new_from_slice(key).expect("HMAC takes keys of any length");
    for part in parts {
        hmac.update(part);
    }
    hmac.finalize().into_bytes().into()
}

/// The inputs from which an API key is derived; the journal records them for every registered key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct KeyOrigin {
    /// Owner of the key.
    pub owner: WalletAddress,
    /// The nonce of the L1 request that created it, big-endian.
    pub nonce: [u8; 32],
}

/// The HMAC key of a client's requests: 32 bytes.
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
pub struct ApiSecret(pub(crate) [u8; 32]);

impl ApiSecret {
    /// The text that clients store: padded base64url, 44 characters.
    #[must_use]
    pub fn text(&self) -> Zeroizing<String> {
        Zeroizing::new(URL_SAFE.encode(self.0))
    }

    /// Parses that text.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let mut bytes = Zeroizing::new([0; 33]); // 44 characters decode to 33 bytes at most
        let length = URL_SAFE.decode_slice(text, bytes.as_mut_slice()).ok()?;
        let secret = bytes[..length].try_into().ok()?;
        Some(Self(secret))
    }
}

/// The second secret of a client: 32 bytes, shown as 64 hex digits.
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
pub struct Passphrase(pub(crate) [u8; 32]);

impl Passphrase {
    /// The text clients send.
    #[must_use]
    pub fn text(&self) -> Zeroizing<String> {
        Zeroizing::new(hex::encode(self.0))
    }
}

/// The result of `POST /auth/api-key`.
#[derive(Clone)]
pub struct KeyTrio {
    /// Names the key.
    pub api_key: ApiKey,
    /// Signs requests.
    pub secret: ApiSecret,
    /// Accompanies every request.
    pub passphrase: Passphrase,
}

macro_rules! secret_debug {
    ($($name:ident),+) => {
        $(impl core::fmt::Debug for $name {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.write_str(concat!(stringify!($name), "(secret)"))
            }
        })+
    };
}
secret_debug!(ApiSecret, Passphrase);

impl core::fmt::Debug for KeyTrio {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "KeyTrio({}, secret)", api_key_text(self.api_key))
    }
}

impl MasterSecret {
    /// The trio of an origin on a chain; deterministic.
    #[must_use]
    pub fn trio(&self, origin: &KeyOrigin, chain_id: u64) -> KeyTrio {
        let (secret, passphrase) = self.secrets(origin, chain_id);
        KeyTrio {
            api_key: uuid_key(self.derive(API_KEY, origin, chain_id)),
            secret,
            passphrase,
        }
    }

    /// The read-only key of an origin on a chain. It has no secret, and its name differs from the
    /// trio's.
    #[must_use]
    pub fn read_only_key(&self, origin: &KeyOrigin, chain_id: u64) -> ApiKey {
        uuid_key(self.derive(READ_ONLY_API_KEY, origin, chain_id))
    }

    /// The secrets against which a request with the key of an origin is checked.
    pub(crate) fn secrets(&self, origin: &KeyOrigin, chain_id: u64) -> (ApiSecret, Passphrase) {
        (
            ApiSecret(self.derive(SECRET, origin, chain_id)),
            Passphrase(self.derive(PASSPHRASE, origin, chain_id)),
        )
    }

    fn derive(&self, label: &[u8], origin: &KeyOrigin, chain_id: u64) -> [u8; 32] {
        let parts = [
            label,
            &origin.owner.0,
            &origin.nonce,
            &chain_id.to_be_bytes(),
        ];
        hmac_sha256(self.bytes(), &parts)
    }
}

/// A v4-shaped UUID from the first 16 bytes.
fn uuid_key(bytes: [u8; 32]) -> ApiKey {
    let mut random = [0; 16];
    random.copy_from_slice(&bytes[..16]);
    ApiKey(
        uuid::Builder::from_random_bytes(random)
            .into_uuid()
            .into_bytes(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn origin(owner: u8, nonce: u8) -> KeyOrigin {
        let mut word = [0; 32];
        word[31] = nonce;
        KeyOrigin {
            owner: WalletAddress([owner; 20]),
            nonce: word,
        }
    }

    #[test]
    fn a_trio_has_the_shapes_of_the_interface() {
        let trio = MasterSecret::from_bytes([1; 32]).trio(&origin(2, 0), 80_002);
        let name = api_key_text(trio.api_key);
        assert_eq!(name.len(), 36);
        assert_eq!(&name[14..15], "4");
        assert!("89ab".contains(&name[19..20]), "{name}");
        assert_eq!(trio.secret.text().len(), 44);
        assert!(trio.secret.text().ends_with('='));
        assert_eq!(trio.passphrase.text().len(), 64);
        let parsed = ApiSecret::parse(&trio.secret.text()).unwrap();
        assert_eq!(parsed.0, trio.secret.0);
    }

    /// API key, secret and passphrase as texts.
    fn texts(trio: &KeyTrio) -> [String; 3] {
        [
            api_key_text(trio.api_key),
            trio.secret.text().to_string(),
            trio.passphrase.text().to_string(),
        ]
    }

    #[test]
    fn the_same_call_gives_the_same_and_every_ingredient_counts() {
        let master = MasterSecret::from_bytes([1; 32]);
        let trio = master.trio(&origin(2, 0), 80_002);
        let again = master.trio(&origin(2, 0), 80_002);
        assert_eq!(texts(&trio), texts(&again));
        let others = [
            master.trio(&origin(2, 1), 80_002),
            master.trio(&origin(3, 0), 80_002),
            master.trio(&origin(2, 0), 80_003),
            MasterSecret::from_bytes([2; 32]).trio(&origin(2, 0), 80_002),
        ];
        for other in others {
            for (one, other) in texts(&trio).iter().zip(texts(&other)) {
                assert_ne!(*one, other);
            }
        }
        assert_ne!(trio.secret.0, trio.passphrase.0);
        let read_only = master.read_only_key(&origin(2, 0), 80_002);
        assert_ne!(read_only, trio.api_key);
    }

    #[test]
    fn derivation_is_pinned_because_clients_keep_what_it_gave() {
        let master = MasterSecret::from_bytes([1; 32]);
        let trio = master.trio(&origin(2, 7), 80_002);
        assert_eq!(texts(&trio), PINNED);
        let read_only = master.read_only_key(&origin(2, 7), 80_002);
        assert_eq!(api_key_text(read_only), PINNED_READ_ONLY);
    }

    const PINNED: [&str; 3] = [
        "90b620ed-0822-4542-9781-5925a122b491",
        "xMhyvrEXjubAXtqeencDzeTA61n_W7sQZKUMMdAWZQM=",
        "bf7ed8be595634802bd99e234681268c4441b49508a7bb5dc3d41a442c8cfe48",
    ];
    const PINNED_READ_ONLY: &str = "d3c817c3-a3aa-4261-bd0a-69ef15224cd6";

    #[test]
    fn debug_shows_no_secret() {
        let master = MasterSecret::from_bytes([1; 32]);
        let trio = master.trio(&origin(2, 0), 80_002);
        let shown = format!(
            "{trio:?} {:?} {:?} {master:?}",
            trio.secret, trio.passphrase
        );
        let secret = trio.secret.text();
        assert!(shown.contains(&api_key_text(trio.api_key)));
        for hidden in [
            secret.as_str(),
            &hex::encode(trio.secret.0),
            &trio.passphrase.text(),
        ] {
            assert!(!shown.contains(hidden), "{shown}");
        }
        assert!(!shown.contains("1, 1"), "{shown}");
    }
}
