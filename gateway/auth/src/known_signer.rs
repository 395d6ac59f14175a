//! Checks signatures of a signer whose public key is known, at half the cost of recovering it.
//!
//! Recovery computes a key from a signature: whoever signed, the multiplications are of a point that was never seen
//! before. With a known key Q the question is whether R = u1·G + u2·Q has the x coordinate and the parity of y that the
//! signature states, where u1 = digest ÷ s and u2 = r ÷ s. Both points are fixed, so tables of their multiples replace
//! all doublings. If R is as stated, then recovery gives exactly Q: it is the same equation, solved for Q.
//!
//! A check here **may only accept**. What it does not accept goes to libsecp256k1, whose word is final
//! ([`crate::signature`]), so a fault here can never refuse an order; and `foretell audit verify --signatures` recovers
//! every key. All data is public, so nothing here needs constant time.
//!
//! The arithmetic of fields and scalars is that of `k256`, in the last version whose field is public. Inverses are of
//! `crypto-bigint`, at a third of the time; each is multiplied back before it counts.

use std::array;
use std::sync::LazyLock;

use crypto_bigint::modular::SafeGcdInverter;
use crypto_bigint::{Odd, U256};
use foretell_model::WalletAddress;
use k256::elliptic_curve::PrimeField as _;
use k256::elliptic_curve::group::Curve as _;
use k256::elliptic_curve::ops::Reduce;
use k256::elliptic_curve::sec1::{FromEncodedPoint as _, ToEncodedPoint as _};
use k256::{AffinePoint, EncodedPoint, FieldElement, ProjectivePoint, Scalar};
use secp256k1::PublicKey;

use crate::eip712::Hash;
use crate::signature::{GROUP_ORDER, Signature, address_of};

/// Windows of 10 bits: 1 MB, which all signers share. The last window has the highest bits and a carry.
type Generator = Multiples<10, 26>;
/// Windows of 6 bits: 110 KB.
type Key = Multiples<6, 43>;

type Inverter = SafeGcdInverter<4, 6>;

/// The prime of the field: 2^256 − 2^32 − 977.
const FIELD_PRIME: U256 =
    U256::from_be_hex("fffffffffffffffffffffffffffffffffffffffffffffffffffffffefffffc2f");

static FIELD_INVERTER: LazyLock<Inverter> = LazyLock::new(|| inverter(FIELD_PRIME));
static SCALAR_INVERTER: LazyLock<Inverter> =
    LazyLock::new(|| inverter(U256::from_be_slice(&GROUP_ORDER)));
static GENERATOR: LazyLock<Generator> = LazyLock::new(|| Multiples::new(AffinePoint::GENERATOR));

/// A signer whose signatures are checked without recovery.
pub struct KnownSigner {
    address: WalletAddress,
    multiples: Key,
}

impl KnownSigner {
    /// Bytes of memory of each.
    pub const BYTES: usize = Key::BYTES;

    /// Computes the table of a key, and before the first that of the generator. `None` for a point that is not on the curve, which no key is.
    #[must_use]
    pub fn new(key: &PublicKey) -> Option<Self> {
        let encoded = EncodedPoint::from_bytes(key.serialize_uncompressed()).ok()?;
        let point = Option::from(AffinePoint::from_encoded_point(&encoded))?;
        LazyLock::force(&GENERATOR);
        Some(Self {
            address: address_of(key),
            multiples: Multiples::new(point),
        })
    }

    /// The address of its key.
    #[must_use]
    pub const fn address(&self) -> WalletAddress {
        self.address
    }

    /// Whether this signer certainly signed `digest`. `false` says nothing.
    pub fn signed(&self, digest: &Hash, signature: &Signature) -> bool {
        let (is_odd, compact) = signature.parts();
        let (r, s) = compact.split_at(32);
        self.accepts(digest, r, s, is_odd).unwrap_or(false)
    }

    /// `None` where a case is left to recovery.
    fn accepts(&self, digest: &Hash, r: &[u8], s: &[u8], is_odd: bool) -> Option<bool> {
        let (r_scalar, s) = (scalar(r)?, scalar(s)?);
        let inverse = scalar(&inverse(&SCALAR_INVERTER, s.to_repr().as_ref())?)?;
        if s * inverse != Scalar::ONE {
            return None;
        }
        let digest = <Scalar as Reduce<k256::U256>>::reduce_bytes(&(*digest).into());
        let of_generator = GENERATOR.of(&(digest * inverse));
        let of_key = self.multiples.of(&(r_scalar * inverse));
        let mut points = of_generator.iter().chain(&of_key).flatten();
        let mut sum = Sum::of(points.next()?);
        points.for_each(|point| sum.add(point));
        Some(sum.has_x(&field(r)?) && sum.is_y_odd()? == is_odd)
    }
}

/// A point that is not at infinity, in affine coordinates.
#[derive(Clone, Copy, Debug)]
struct Point {
    x: FieldElement,
    y: FieldElement,
}

impl Point {
    /// `None` at infinity.
    fn of(point: &AffinePoint) -> Option<Self> {
        let encoded = point.to_encoded_point(false);
        Some(Self {
            x: field(encoded.x()?)?,
            y: field(encoded.y()?)?,
        })
    }
}

/// Multiples of a point: for the window at bit i, 1·2^i to 2^(WIDTH − 1)·2^i times the point. Digits are signed, which
/// halves the table.
struct Multiples<const WIDTH: usize, const WINDOWS: usize>(Box<[Point]>);

impl<const WIDTH: usize, const WINDOWS: usize> Multiples<WIDTH, WINDOWS> {
    /// Points of a window.
    const ROW: usize = 1 << (WIDTH - 1);
    const BYTES: usize = WINDOWS * Self::ROW * size_of::<Point>();

    fn new(point: AffinePoint) -> Self {
        let mut multiples = Vec::with_capacity(WINDOWS * Self::ROW);
        let mut base = ProjectivePoint::from(point);
        for _ in 0..WINDOWS {
            let mut multiple = base;
            for _ in 0..Self::ROW {
                multiples.push(multiple);
                multiple += base;
            }
            base = multiples[multiples.len() - 1].double();
        }
        let mut affine = vec![AffinePoint::IDENTITY; multiples.len()];
        ProjectivePoint::batch_normalize(&multiples, &mut affine);
        let rows = affine.iter().map(|multiple| {
            Point::of(multiple).expect("no multiple is one of the group's order, a large prime")
        });
        Self(rows.collect())
    }

    /// The points whose sum is a multiple of the point. All are read before one is used: a table is seldom in a cache,
    /// and reads that wait for nothing wait at the same time.
    fn of(&self, scalar: &Scalar) -> [Option<Point>; WINDOWS] {
        let digits = digits::<WIDTH, WINDOWS>(scalar);
        array::from_fn(|window| {
            let digit = digits[window];
            let before = usize::from(digit.unsigned_abs()).checked_sub(1)?;
            let Point { x, y } = self.0[window * Self::ROW + before];
            let y = if digit < 0 { y.negate(1) } else { y };
            Some(Point { x, y })
        })
    }
}

/// The digits of a scalar, the lowest first: from −2^(WIDTH − 1) + 1 to 2^(WIDTH − 1).
fn digits<const WIDTH: usize, const WINDOWS: usize>(scalar: &Scalar) -> [i16; WINDOWS] {
    let bytes = scalar.to_repr();
    let mut words = [0; 6];
    for (word, bytes) in words.iter_mut().zip(bytes.rchunks_exact(8)) {
        *word = u64::from_be_bytes(bytes.try_into().expect("eight bytes"));
    }
    let mut carry = 0;
    array::from_fn(|window| {
        let (word, bit) = (window * WIDTH / 64, window * WIDTH % 64);
        let pair = u128::from(words[word]) | u128::from(words[word + 1]) << 64;
        let bits = (pair >> bit) & ((1 << WIDTH) - 1);
        let digit = i16::try_from(bits).expect("a window is narrow") + carry;
        carry = i16::from(digit > 1 << (WIDTH - 1));
        digit - (carry << WIDTH)
    })
}

/// A sum of points in the coordinates XYZZ: x = X ÷ ZZ, y = Y ÷ ZZZ, ZZ³ = ZZZ². The field's numbers are not normalised:
/// X is at most 5 times, Y 3 times too large for it, which the formulas below take into account.
#[derive(Clone, Copy, Debug)]
struct Sum {
    x: FieldElement,
    y: FieldElement,
    zz: FieldElement,
    zzz: FieldElement,
}

impl Sum {
    const fn of(point: &Point) -> Self {
        Self {
            x: point.x,
            y: point.y,
            zz: FieldElement::ONE,
            zzz: FieldElement::ONE,
        }
    }

    /// Mixed addition (madd-2008-s of the Explicit-Formulas Database). For a point with the same x it gives ZZ = ZZZ = 0,
    /// and so does every addition after it: the sum then has no y.
    fn add(&mut self, point: &Point) {
        let p = point.x * self.zz + self.x.negate(5);
        let r = point.y * self.zzz + self.y.negate(3);
        let pp = p.square();
        let ppp = p * pp;
        let q = self.x * pp;
        let x = r.square() + (ppp + q.double()).negate(3);
        self.y = r * (q + x.negate(5)) + (self.y * ppp).negate(1);
        self.x = x;
        self.zz *= pp;
        self.zzz *= ppp;
    }

    fn has_x(&self, x: &FieldElement) -> bool {
        let difference = *x * self.zz + self.x.negate(5);
        difference.normalizes_to_zero().into()
    }

    /// The parity of y. `None` at infinity.
    fn is_y_odd(&self) -> Option<bool> {
        let inverse = field(&inverse(&FIELD_INVERTER, &self.zzz.to_bytes())?)?;
        if (inverse * self.zzz).normalize() != FieldElement::ONE {
            return None;
        }
        Some((self.y * inverse).normalize().is_odd().into())
    }
}

fn inverter(modulus: U256) -> Inverter {
    let modulus = Odd::new(modulus).expect("a large prime is odd");
    Inverter::new(&modulus, &U256::ONE)
}

/// `None` for zero.
fn inverse(inverter: &Inverter, of: &[u8]) -> Option<[u8; 32]> {
    let inverse = Option::<U256>::from(inverter.inv_vartime(&U256::from_be_slice(of)))?;
    Some(inverse.to_be_bytes())
}

/// `None` for a number that is not below the group's order.
fn scalar(bytes: &[u8]) -> Option<Scalar> {
    let bytes: [u8; 32] = bytes.try_into().ok()?;
    Scalar::from_repr(bytes.into()).into()
}

/// `None` for a number that is not below the field's.
fn field(bytes: &[u8]) -> Option<FieldElement> {
    let bytes: [u8; 32] = bytes.try_into().ok()?;
    FieldElement::from_bytes(&bytes.into()).into()
}

#[cfg(test)]
mod tests {
    use k256::elliptic_curve::ops::MulByGenerator as _;
    use k256::elliptic_curve::scalar::IsHigh as _;

    use super::*;
    use crate::signing::Signer;

    /// The signature with which recovery computes `of_generator`·G + `of_key`·Q for the key Q, whether it has an answer,
    /// and its digest. At infinity r is any number.
    fn crafted(
        key: &PublicKey,
        of_generator: Scalar,
        of_key: Scalar,
    ) -> Option<([u8; 65], bool, Hash)> {
        let encoded = EncodedPoint::from_bytes(key.serialize_uncompressed()).unwrap();
        let point = ProjectivePoint::from_encoded_point(&encoded).unwrap();
        let sum = ProjectivePoint::mul_by_generator(&of_generator) + point * of_key;
        let sum = sum.to_affine().to_encoded_point(false);
        let r = sum.x().map_or(Some(Scalar::from(5_u32)), |x| scalar(x))?;
        let s = r * of_key.invert().into_option()?;
        let is_high = bool::from(s.is_high());
        let s = if is_high { -s } else { s };
        let digest = of_generator * r * of_key.invert().unwrap();
        let is_odd = sum.y().is_some_and(|y| y[31] % 2 == 1);
        let v = 27 + u8::from(is_odd != is_high);
        let bytes = [&r.to_repr()[..], &s.to_repr()[..], &[v]].concat();
        Some((
            bytes.try_into().unwrap(),
            sum.x().is_some(),
            digest.to_repr().into(),
        ))
    }

    fn signer(number: u8) -> (Signer, KnownSigner) {
        let mut key = [0; 32];
        key[31] = number;
        let signer = Signer::from_bytes(&key).unwrap();
        let known = KnownSigner::new(&signer.public_key()).unwrap();
        (signer, known)
    }

    /// With the generator itself, or its double, as a key, sums meet the point that is added next, and its opposite: the
    /// formula has no answer there.
    #[test]
    fn equal_and_opposite_points_are_left_to_recovery() {
        let (mut accepted, mut left) = (0, 0);
        for number in [1, 2] {
            let (signer, known) = signer(number);
            let small = |number: i32| match number < 0 {
                true => -Scalar::from(number.unsigned_abs()),
                false => Scalar::from(number.unsigned_abs()),
            };
            for (of_generator, of_key) in (-33..34).flat_map(|a| (-33..34).map(move |b| (a, b))) {
                let crafted = crafted(&signer.public_key(), small(of_generator), small(of_key));
                let Some((bytes, is_right, digest)) = crafted else {
                    continue;
                };
                let what = format!("{of_generator} {of_key}");
                let right = Signature::parse(&bytes).unwrap();
                if is_right {
                    assert_eq!(right.recover(&digest), Ok(known.address()), "{what}");
                }
                match known.signed(&digest, &right) {
                    true => accepted += 1,
                    false => left += 1,
                }
                // Where the formula has no answer, any r would do.
                let mut wrong = [bytes; 4];
                wrong[0][64] = 55 - bytes[64];
                wrong[1][31] ^= 1;
                wrong[2][31] ^= 2;
                (wrong[3][64], wrong[3][30]) = (55 - bytes[64], bytes[30] ^ 1);
                for wrong in wrong.iter().chain((!is_right).then_some(&bytes)) {
                    let Ok(signature) = Signature::parse(wrong) else {
                        continue;
                    };
                    let is_of_key = signature.recover(&digest) == Ok(known.address());
                    let is_accepted = known.signed(&digest, &signature);
                    assert!(is_of_key || !is_accepted, "{what}: {wrong:?}");
                }
            }
        }
        assert!(accepted > 8_000 && left > 10, "{accepted} {left}");
    }

    /// A bit that memory has flipped: what uses the point is refused here, and nothing wrong is accepted.
    #[test]
    fn a_table_with_a_flipped_bit_accepts_nothing_wrong() {
        let (signer, _) = signer(77);
        let mut refused = 0;
        for round in (0..=255_u8).step_by(4) {
            let mut known = KnownSigner::new(&signer.public_key()).unwrap();
            let rows = &mut known.multiples.0;
            let at = usize::from(round) * 3;
            let mut flipped: [u8; 32] = rows[at].x.normalize().to_bytes().into();
            flipped[usize::from(round) % 31 + 1] ^= 1 << (round % 8);
            rows[at].x = field(&flipped).unwrap();
            for number in 0..16 {
                let digest = [round ^ number; 32];
                let bytes = signer.sign_digest(&digest);
                let right = Signature::parse(&bytes).unwrap();
                refused += u32::from(!known.signed(&digest, &right));
                let mut parity = bytes;
                parity[64] = 55 - parity[64];
                let wrong = Signature::parse(&parity).unwrap();
                assert!(!known.signed(&digest, &wrong));
                assert!(!known.signed(&[number; 32], &right) || digest == [number; 32]);
            }
        }
        assert!(refused > 10, "{refused}");
    }

    #[test]
    fn digits_make_up_the_scalar() {
        let mut scalar = Scalar::ONE;
        for number in 0..1_000_u32 {
            scalar = scalar * scalar + Scalar::from(number);
            for scalar in [scalar, -Scalar::from(number), Scalar::from(number)] {
                let digits = digits::<6, 43>(&scalar);
                assert!(digits.iter().all(|digit| (-31..=32).contains(digit)));
                let sum = digits.iter().rev().fold(Scalar::ZERO, |sum, digit| {
                    let size = Scalar::from(u64::from(digit.unsigned_abs()));
                    let shifted = sum * Scalar::from(64_u32);
                    if *digit < 0 {
                        shifted - size
                    } else {
                        shifted + size
                    }
                });
                assert_eq!(sum, scalar);
            }
        }
    }
}
