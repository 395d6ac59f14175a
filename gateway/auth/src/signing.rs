//! The client's side: signs orders, L1 statements and requests. Bots, the command line and tests
//! use it; the exchange itself never signs for a client.

use foretell_model::{OrderId, WalletAddress, WalletKind};
use secp256k1::ecdsa::RecoverableSignature;
use secp256k1::{PublicKey, SecretKey};
use zeroize::Zeroizing;

use crate::deposit_wallet;
use crate::domains::Domain;
use crate::eip712::{Hash, digest, l1_digest, nested_digest, order_id, order_struct_hash};
use crate::keys::{ApiSecret, KeyTrio};
use crate::l2::{L2Request, request_hmac};
use crate::order::OrderFields;
use crate::quotes::QuotesMessage;
use crate::signature::{SIGNATURE_BYTES, address_of};
use crate::text::{api_key_text, checksum_address};

/// A client's private key.
pub struct Signer {
    key: SecretKey,
    address: WalletAddress,
}

impl core::fmt::Debug for Signer {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "Signer({}, secret)", self.address)
    }
}

impl Drop for Signer {
    fn drop(&mut self) {
        self.key.non_secure_erase();
    }
}

impl Signer {
    /// A signer from its private key; `None` when that is 0 or not below the group order.
    #[must_use]
    pub fn from_bytes(key: &[u8; 32]) -> Option<Self> {
        let key = SecretKey::from_secret_bytes(*key).ok()?;
        let address = address_of(&key.public_key());
        Some(Self { key, address })
    }

    /// A signer from 64 hex digits, with or without `0x`.
    #[must_use]
    pub fn from_hex(text: &str) -> Option<Self> {
        let mut key = Zeroizing::new([0; 32]);
        let digits = text.strip_prefix("0x").unwrap_or(text);
        hex::decode_to_slice(digits, key.as_mut_slice()).ok()?;
        Self::from_bytes(&key)
    }

    /// Its address.
    #[must_use]
    pub const fn address(&self) -> WalletAddress {
        self.address
    }

    /// Its public key.
    #[must_use]
    pub fn public_key(&self) -> PublicKey {
        self.key.public_key()
    }

    /// Signs a digest: r, s (in the lower half), v (27 or 28); deterministic (RFC 6979).
    #[must_use]
    pub fn sign_digest(&self, digest: &Hash) -> [u8; SIGNATURE_BYTES] {
        let message = secp256k1::Message::from_digest(*digest);
        let signature = RecoverableSignature::sign_ecdsa_recoverable(message, &self.key);
        let (id, compact) = signature.serialize_compact();
        let mut bytes = [0; SIGNATURE_BYTES];
        bytes[..64].copy_from_slice(&compact);
        bytes[64] = 27 + id.to_u8();
        bytes
    }

    /// Signs an order under a domain, in the form that its signature type requires.
    #[must_use]
    pub fn sign_order(&self, order: &OrderFields, domain: &Domain) -> Vec<u8> {
        let separator = domain.separator();
        let struct_hash = order_struct_hash(&order.words());
        if order.signature_type == WalletKind::Deposit {
            let nested = nested_digest(separator, &struct_hash, domain.chain_id(), order.maker);
            return deposit_wallet::join(&self.sign_digest(&nested), separator, &struct_hash);
        }
        self.sign_digest(&digest(separator, &struct_hash)).to_vec()
    }

    /// Signs a set of quotes under the separator of its domain.
    #[must_use]
    pub fn sign_quotes(&self, set: &QuotesMessage<'_>, separator: &Hash) -> [u8; SIGNATURE_BYTES] {
        self.sign_digest(&set.digest(separator).0)
    }

    /// The L1 headers: names with `prefix`, values as text.
    #[must_use]
    pub fn l1_headers(
        &self,
        prefix: &str,
        chain_id: u64,
        timestamp_seconds: u64,
        nonce: u64,
    ) -> Vec<(String, String)> {
        let timestamp = timestamp_seconds.to_string();
        let mut word = [0; 32];
        word[24..].copy_from_slice(&nonce.to_be_bytes());
        let digest = l1_digest(self.address, &timestamp, &word, chain_id);
        let signature = format!("0x{}", hex::encode(self.sign_digest(&digest)));
        named(
            prefix,
            [
                ("ADDRESS", checksum_address(self.address)),
                ("SIGNATURE", signature),
                ("TIMESTAMP", timestamp),
                ("NONCE", nonce.to_string()),
            ],
        )
    }
}

/// The identity that a signed order will have under a domain.
#[must_use]
pub fn signed_order_id(order: &OrderFields, domain: &Domain) -> OrderId {
    order_id(domain.separator(), &order.words())
}

/// The credentials with which a client signs its requests.
#[derive(Clone)]
pub struct L2Credentials {
    /// The key's owner.
    pub owner: WalletAddress,
    api_key: String,
    secret: ApiSecret,
    passphrase: Zeroizing<String>,
}

impl core::fmt::Debug for L2Credentials {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "L2Credentials({}, {}, secret)", self.owner, self.api_key)
    }
}

impl L2Credentials {
    /// Credentials from the three texts of `POST /auth/api-key`; `None` when the secret is not the
    /// base64url text of 32 bytes.
    #[must_use]
    pub fn from_texts(
        owner: WalletAddress,
        api_key: &str,
        secret: &str,
        passphrase: &str,
    ) -> Option<Self> {
        Some(Self {
            owner,
            api_key: api_key.to_owned(),
            secret: ApiSecret::parse(secret)?,
            passphrase: Zeroizing::new(passphrase.to_owned()),
        })
    }

    /// Credentials from a derived trio.
    #[must_use]
    pub fn from_trio(owner: WalletAddress, trio: &KeyTrio) -> Self {
        Self {
            owner,
            api_key: api_key_text(trio.api_key),
            secret: trio.secret.clone(),
            passphrase: trio.passphrase.text(),
        }
    }

    /// The text of the API key.
    #[must_use]
    pub fn api_key(&self) -> &str {
        &self.api_key
    }

    /// The five L2 headers of a request: names with `prefix`, values as text.
    #[must_use]
    pub fn headers(
        &self,
        prefix: &str,
        timestamp_seconds: u64,
        request: &L2Request<'_>,
    ) -> Vec<(String, String)> {
        let timestamp = timestamp_seconds.to_string();
        let signature = hex::encode(request_hmac(&self.secret, &timestamp, request));
        named(
            prefix,
            [
                ("ADDRESS", checksum_address(self.owner)),
                ("API_KEY", self.api_key.clone()),
                ("PASSPHRASE", self.passphrase.to_string()),
                ("TIMESTAMP", timestamp),
                ("SIGNATURE", signature),
            ],
        )
    }
}

fn named<const N: usize>(prefix: &str, headers: [(&str, String); N]) -> Vec<(String, String)> {
    let name = |suffix| format!("{prefix}_{suffix}");
    headers
        .into_iter()
        .map(|(suffix, value)| (name(suffix), value))
        .collect()
}
