//! Strict parsing of one ECDSA signature of 65 bytes, and recovery of its signer.

use foretell_model::WalletAddress;
use secp256k1::ecdsa::{RecoverableSignature, RecoveryId};
use secp256k1::{Message, PublicKey};

use crate::eip712::{Hash, hash_parts};

/// Bytes of a signature: r, s, v.
pub const SIGNATURE_BYTES: usize = 65;

/// Order of the group, big-endian.
pub(crate) const GROUP_ORDER: [u8; 32] = [
    0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xfe,
    0xba, 0xae, 0xdc, 0xe6, 0xaf, 0x48, 0xa0, 0x3b, 0xbf, 0xd2, 0x5e, 0x8c, 0xd0, 0x36, 0x41, 0x41,
];
/// Half of the group order: the largest accepted s, so that no malleated twin is accepted.
const HALF_ORDER: [u8; 32] = [
    0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
    0x5d, 0x57, 0x6e, 0x73, 0x57, 0xa4, 0x50, 0x1d, 0xdf, 0xe9, 0x2f, 0x46, 0x68, 0x1b, 0x20, 0xa0,
];

/// Why 65 bytes are not a valid signature.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum MalformedSignature {
    /// Another length, including the compact form of 64 bytes.
    #[error("{0} bytes, 65 expected")]
    Length(usize),
    /// r is 0 or not below the group order.
    #[error("r is 0 or not below the group order")]
    R,
    /// s is 0 or not below the group order.
    #[error("s is 0 or not below the group order")]
    S,
    /// s is in the upper half: the malleated twin of another signature.
    #[error("s is in the upper half of the group order")]
    HighS,
    /// v is not 27, 28, 0 or 1.
    #[error("v is {0}, expected 27, 28, 0 or 1")]
    V(u8),
    /// r is not the coordinate of a point, or the recovered key would be at infinity.
    #[error("no key can be recovered from it")]
    Unrecoverable,
}

/// A well-formed signature: r and s in range, s in the lower half, v known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Signature(RecoverableSignature);

impl Signature {
    /// Parses r, s, v.
    ///
    /// # Errors
    /// The first check that fails, in the order length, v, r, s.
    pub fn parse(bytes: &[u8]) -> Result<Self, MalformedSignature> {
        let bytes: &[u8; SIGNATURE_BYTES] = bytes
            .try_into()
            .map_err(|_| MalformedSignature::Length(bytes.len()))?;
        let (compact, v) = (&bytes[..64], bytes[64]);
        let id = match v {
            0 | 27 => RecoveryId::Zero,
            1 | 28 => RecoveryId::One,
            _ => return Err(MalformedSignature::V(v)),
        };
        let (r, s) = compact.split_at(32);
        if !in_range(r) {
            return Err(MalformedSignature::R);
        }
        if !in_range(s) {
            return Err(MalformedSignature::S);
        }
        if s > HALF_ORDER.as_slice() {
            return Err(MalformedSignature::HighS);
        }
        RecoverableSignature::from_compact(compact, id)
            .map(Self)
            .map_err(|_| MalformedSignature::Unrecoverable)
    }

    /// The address whose key signed `digest`.
    ///
    /// # Errors
    /// [`MalformedSignature::Unrecoverable`] when no key could have made the signature.
    pub fn recover(&self, digest: &Hash) -> Result<WalletAddress, MalformedSignature> {
        self.recover_key(digest).map(|key| address_of(&key))
    }

    /// The key that signed `digest`.
    ///
    /// # Errors
    /// As [`Self::recover`].
    pub fn recover_key(&self, digest: &Hash) -> Result<PublicKey, MalformedSignature> {
        let recovered = self.0.recover_ecdsa(Message::from_digest(*digest));
        recovered.map_err(|_| MalformedSignature::Unrecoverable)
    }

    /// Whether y of the signature's point is odd, and r and s.
    pub(crate) fn parts(&self) -> (bool, [u8; 64]) {
        let (id, compact) = self.0.serialize_compact();
        (id == RecoveryId::One, compact)
    }
}

/// Between 1 and the group order − 1.
fn in_range(scalar: &[u8]) -> bool {
    scalar < GROUP_ORDER.as_slice() && scalar.iter().any(|byte| *byte != 0)
}

/// The address of a public key: the last 20 bytes of the hash of its coordinates.
pub fn address_of(key: &PublicKey) -> WalletAddress {
    let hash = hash_parts(&[&key.serialize_uncompressed()[1..]]);
    let mut address = [0; 20];
    address.copy_from_slice(&hash[12..]);
    WalletAddress(address)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn signature(r: [u8; 32], s: [u8; 32], v: u8) -> Vec<u8> {
        [r.as_slice(), &s, &[v]].concat()
    }

    fn plus_one(mut value: [u8; 32]) -> [u8; 32] {
        value[31] += 1;
        value
    }

    #[test]
    fn strict_reading() {
        let (mut one, zero) = ([0; 32], [0; 32]);
        one[31] = 1;
        let mut below_order = GROUP_ORDER;
        below_order[31] -= 1;
        let cases = [
            (signature(one, one, 27), None),
            (signature(one, one, 28), None),
            (signature(one, one, 0), None),
            (signature(one, one, 1), None),
            (signature(below_order, HALF_ORDER, 27), None),
            (signature(zero, one, 27), Some(MalformedSignature::R)),
            (signature(GROUP_ORDER, one, 27), Some(MalformedSignature::R)),
            (signature([0xff; 32], one, 27), Some(MalformedSignature::R)),
            (signature(one, zero, 27), Some(MalformedSignature::S)),
            (signature(one, GROUP_ORDER, 27), Some(MalformedSignature::S)),
            (
                signature(one, below_order, 27),
                Some(MalformedSignature::HighS),
            ),
            (
                signature(one, plus_one(HALF_ORDER), 27),
                Some(MalformedSignature::HighS),
            ),
            (signature(one, one, 2), Some(MalformedSignature::V(2))),
            (signature(one, one, 26), Some(MalformedSignature::V(26))),
            (signature(one, one, 29), Some(MalformedSignature::V(29))),
            (signature(one, one, 255), Some(MalformedSignature::V(255))),
            (vec![1; 64], Some(MalformedSignature::Length(64))),
            (vec![1; 66], Some(MalformedSignature::Length(66))),
            (Vec::new(), Some(MalformedSignature::Length(0))),
        ];
        for (bytes, expected) in cases {
            assert_eq!(
                Signature::parse(&bytes).err(),
                expected,
                "{}",
                hex::encode(&bytes)
            );
        }
    }

    #[test]
    fn an_r_off_the_curve_recovers_nothing() {
        let mut five = [0; 32];
        five[31] = 5; // x = 5 is not on the curve
        let signature = Signature::parse(&signature(five, five, 27)).unwrap();
        assert_eq!(
            signature.recover(&[1; 32]),
            Err(MalformedSignature::Unrecoverable)
        );
    }
}
