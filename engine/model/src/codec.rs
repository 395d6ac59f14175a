//! The byte form of values in rows and snapshots of the view: little-endian, field after field, no padding.
//! What journals, sockets and images of the state hold is a [record](crate::record).
//!
//! Input bytes are untrusted: reading never panics, and rejects amounts that would overflow later
//! arithmetic. Bytes that can be read are the bytes that the value writes.

use std::collections::BTreeMap;

use crate::command::Begin;
use crate::frame::FramePosition;
use crate::id::{
    AccountNumber, ApiKey, Branch, ConditionId, DomainNumber, EventId, EventNumber, KeyNumber,
    MarketNumber, OperatorNumber, OrderId, OrderNumber, Reference, Sequence, TokenId, TradeIndex,
    WalletAddress,
};
use crate::market::{
    FeeSchedule, HoldSet, MarketState, MarketTerms, Payout, QuestionIndex, ResolutionPolicy,
    SystemMode, WalletKind,
};
use crate::operator::{OperatorName, OperatorRole, RoleSet};
use crate::quantity::{Lots, Micros, PRICE_ONE, Price, Tick};
use crate::record::{Record, decode, encode};
use crate::rejection::RejectionReason;
use crate::settings::{PaymentSettings, Settings};
use crate::side::{CloseReason, MatchKind, OrderType, Outcome, Side};
use crate::time::{SandboxClock, TimeMs, TimeNs, TimeSeconds};

/// Why bytes are not a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum CodecError {
    /// The bytes end inside a value.
    #[error("truncated record")]
    Cut,
    /// No record has this tag.
    #[error("unknown record tag {0}")]
    UnknownTag(u8),
    /// A field has a value that is never written.
    #[error("{value} is not a valid {field}")]
    InvalidValue {
        /// The expected type of the field.
        field: &'static str,
        /// The value read.
        value: u64,
    },
    /// The fields of a value contradict each other.
    #[error("inconsistent {0}")]
    Inconsistent(&'static str),
}

/// The error for a field with a value that is never written.
pub fn invalid(field: &'static str, value: impl Into<u64>) -> CodecError {
    let value = value.into();
    CodecError::InvalidValue { field, value }
}

/// A value with a byte form.
pub trait Stored: Sized {
    /// Appends its bytes.
    fn put(&self, out: &mut Vec<u8>);

    /// Reads a value from the front of `from`.
    ///
    /// # Errors
    /// The bytes are not one; `from` is then anywhere in them.
    fn take(from: &mut &[u8]) -> Result<Self, CodecError>;

    /// Appends the bytes of several values.
    fn put_slice(values: &[Self], out: &mut Vec<u8>) {
        values.iter().for_each(|value| value.put(out));
    }

    /// Reads an array.
    ///
    /// # Errors
    /// As [`Self::take`].
    fn take_array<const N: usize>(from: &mut &[u8]) -> Result<[Self; N], CodecError> {
        let mut read = [const { None }; N];
        for slot in &mut read {
            *slot = Some(Self::take(from)?);
        }
        Ok(read.map(|value: Option<Self>| value.expect("every value was read")))
    }
}

/// A value with a byte form of fixed length.
pub trait Fixed: Stored {
    /// That length.
    const SIZE: usize;
}

/// Declares structs, and implements [`Stored`] for them: their fields, in the order of their declaration.
#[macro_export]
macro_rules! stored {
    ($(
        $(#[$meta:meta])*
        $vis:vis struct $name:ident $(<$parameter:ident: $bound:ident>)? {
            $($(#[$field_meta:meta])* $field_vis:vis $field:ident: $type:ty,)+
        }
    )+) => {$(
        $(#[$meta])*
        $vis struct $name$(<$parameter: $bound>)? {
            $($(#[$field_meta])* $field_vis $field: $type,)+
        }

        impl$(<$parameter: $bound>)? $crate::codec::Stored for $name$(<$parameter>)? {
            fn put(&self, out: &mut Vec<u8>) {
                $(<$type as $crate::codec::Stored>::put(&self.$field, out);)+
            }

            #[inline]
            fn take(from: &mut &[u8]) -> Result<Self, $crate::codec::CodecError> {
                Ok(Self { $($field: <$type as $crate::codec::Stored>::take(from)?),+ })
            }
        }
    )+};
}

/// As [`stored`], for structs of fixed-length fields.
#[macro_export]
macro_rules! fixed {
    ($(
        $(#[$meta:meta])*
        $vis:vis struct $name:ident $(<$parameter:ident: $bound:ident>)? {
            $($(#[$field_meta:meta])* $field_vis:vis $field:ident: $type:ty,)+
        }
    )+) => {$(
        $crate::stored! {
            $(#[$meta])*
            $vis struct $name $(<$parameter: $bound>)? {
                $($(#[$field_meta])* $field_vis $field: $type,)+
            }
        }

        impl$(<$parameter: $bound>)? $crate::codec::Fixed for $name$(<$parameter>)? {
            const SIZE: usize = 0 $(+ <$type as $crate::codec::Fixed>::SIZE)+;
        }
    )+};
}

/// Implements [`Stored`] for enums with fixed codes; the text names the enum in errors.
#[macro_export]
macro_rules! coded {
    ($($name:ty: $code:ty, $text:literal;)+) => {
        $(impl $crate::codec::Stored for $name {
            fn put(&self, out: &mut Vec<u8>) {
                $crate::codec::Stored::put(&(*self as $code), out);
            }

            #[inline]
            fn take(from: &mut &[u8]) -> Result<Self, $crate::codec::CodecError> {
                let code = <$code as $crate::codec::Stored>::take(from)?;
                Self::from_code(code).ok_or_else(|| $crate::codec::invalid($text, code))
            }
        }

        impl $crate::codec::Fixed for $name {
            const SIZE: usize = size_of::<$code>();
        })+
    };
}
/// Implements [`Stored`] for newtypes, each with an optional maximum.
#[macro_export]
macro_rules! newtypes {
    ($($name:ident: $inner:ty $(, at most $limit:expr)?;)+) => {
        $(impl $crate::codec::Stored for $name {
            fn put(&self, out: &mut Vec<u8>) {
                $crate::codec::Stored::put(&self.0, out);
            }

            #[inline]
            fn take(from: &mut &[u8]) -> Result<Self, $crate::codec::CodecError> {
                let inner = <$inner as $crate::codec::Stored>::take(from)?;
                $(if inner > $limit {
                    return Err($crate::codec::invalid(stringify!($name), inner));
                })?
                Ok(Self(inner))
            }
        }

        impl $crate::codec::Fixed for $name {
            const SIZE: usize = <$inner as $crate::codec::Fixed>::SIZE;
        })+
    };
}
pub use crate::{coded, fixed, newtypes, stored};

coded! {
    Outcome: u8, "outcome";
    Side: u8, "side";
    OrderType: u8, "order type";
    MatchKind: u8, "kind of match";
    WalletKind: u8, "kind of wallet";
    MarketState: u8, "state of a market";
    Payout: u8, "payout";
    SystemMode: u8, "mode";
    OperatorRole: u8, "role of an operator";
    Tick: u8, "tick";
    CloseReason: u8, "reason of an end";
    RejectionReason: u8, "reason of a rejection";
}

newtypes! {
    AccountNumber: u32;
    KeyNumber: u32;
    OperatorNumber: u16;
    MarketNumber: u32;
    EventNumber: u32;
    DomainNumber: u8;
    EventId: u64;
    // The next number must be representable.
    Sequence: u64, at most u64::MAX - 1;
    OrderNumber: u64, at most u64::MAX - 1;
    TradeIndex: u32;
    TimeMs: u64;
    TimeNs: u64;
    TimeSeconds: u64;
    Micros: u64;
    // The value at any price must be representable.
    Lots: u64, at most u64::MAX / u64::from(PRICE_ONE);
    // The complement must exist.
    Price: u16, at most PRICE_ONE;
    OrderId: [u8; 32];
    WalletAddress: [u8; 20];
    ConditionId: [u8; 32];
    TokenId: [u8; 32];
    ApiKey: [u8; 16];
    Reference: [u8; 32];
    Branch: [u8; 32];
}

/// Implements [`Stored`] for values with a [record](crate::record): their bytes are those of the record,
/// which refuses what is never written.
macro_rules! recorded {
    ($($name:ident,)+) => {
        $(impl Stored for $name {
            fn put(&self, out: &mut Vec<u8>) {
                let mut record = [0; Self::SIZE];
                encode(self, &mut record);
                out.extend_from_slice(&record);
            }

            fn take(from: &mut &[u8]) -> Result<Self, CodecError> {
                let (record, rest) = from.split_first_chunk::<{ Self::SIZE }>().ok_or(CodecError::Cut)?;
                *from = rest;
                decode(record).ok_or_else(|| invalid(stringify!($name), record[0]))
            }
        }

        impl Fixed for $name {
            const SIZE: usize = <Self as Record>::BYTES;
        })+
    };
}
recorded! {
    FramePosition,
    FeeSchedule,
    Settings,
    MarketTerms,
    ResolutionPolicy,
    PaymentSettings,
    Begin,
    SandboxClock,
    QuestionIndex,
    RoleSet,
    HoldSet,
}

impl Stored for OperatorName {
    fn put(&self, out: &mut Vec<u8>) {
        self.0.put(out);
    }

    fn take(from: &mut &[u8]) -> Result<Self, CodecError> {
        let name = Self(Stored::take(from)?);
        let first = name.0[0];
        if name.is_valid() {
            Ok(name)
        } else {
            Err(invalid("name of an operator", first))
        }
    }
}

impl Fixed for OperatorName {
    const SIZE: usize = 32;
}

macro_rules! integers {
    ($($int:ty),+) => {
        $(impl Stored for $int {
            fn put(&self, out: &mut Vec<u8>) {
                out.extend_from_slice(&self.to_le_bytes());
            }

            #[inline]
            fn take(from: &mut &[u8]) -> Result<Self, CodecError> {
                <[u8; size_of::<$int>()]>::take(from).map(Self::from_le_bytes)
            }
        }

        impl Fixed for $int {
            const SIZE: usize = size_of::<$int>();
        })+
    };
}
integers!(u16, u32, u64, i64, u128, i128);

/// Arrays of bytes are copied as a whole.
impl Stored for u8 {
    fn put(&self, out: &mut Vec<u8>) {
        out.push(*self);
    }

    #[inline]
    fn take(from: &mut &[u8]) -> Result<Self, CodecError> {
        Self::take_array(from).map(|[byte]| byte)
    }

    fn put_slice(values: &[Self], out: &mut Vec<u8>) {
        out.extend_from_slice(values);
    }

    #[inline]
    fn take_array<const N: usize>(from: &mut &[u8]) -> Result<[Self; N], CodecError> {
        let (bytes, rest) = from.split_first_chunk().ok_or(CodecError::Cut)?;
        *from = rest;
        Ok(*bytes)
    }
}

impl Fixed for u8 {
    const SIZE: usize = 1;
}

impl Stored for bool {
    fn put(&self, out: &mut Vec<u8>) {
        u8::from(*self).put(out);
    }

    #[inline]
    fn take(from: &mut &[u8]) -> Result<Self, CodecError> {
        match u8::take(from)? {
            0 => Ok(false),
            1 => Ok(true),
            other => Err(invalid("flag", other)),
        }
    }
}

impl Fixed for bool {
    const SIZE: usize = 1;
}

/// No bytes.
impl Stored for () {
    fn put(&self, _: &mut Vec<u8>) {}

    #[inline]
    fn take(_: &mut &[u8]) -> Result<Self, CodecError> {
        Ok(())
    }
}

impl Fixed for () {
    const SIZE: usize = 0;
}

/// A flag, then the value or zeros: `None` has the same length, so that rows keep theirs.
impl<T: Fixed> Stored for Option<T> {
    fn put(&self, out: &mut Vec<u8>) {
        self.is_some().put(out);
        match self {
            Some(value) => value.put(out),
            None => out.resize(out.len() + T::SIZE, 0),
        }
    }

    #[inline]
    fn take(from: &mut &[u8]) -> Result<Self, CodecError> {
        if bool::take(from)? {
            return T::take(from).map(Some);
        }
        let (absent, rest) = from.split_at_checked(T::SIZE).ok_or(CodecError::Cut)?;
        if absent.iter().any(|byte| *byte != 0) {
            return Err(invalid("value that is not there", 1_u8));
        }
        *from = rest;
        Ok(None)
    }
}

impl<T: Fixed> Fixed for Option<T> {
    const SIZE: usize = 1 + T::SIZE;
}

macro_rules! tuples {
    ($(($($part:ident),+)),+) => {
        $(impl<$($part: Stored),+> Stored for ($($part,)+) {
            #[allow(non_snake_case, reason = "a part is named like its type")]
            fn put(&self, out: &mut Vec<u8>) {
                let ($($part,)+) = self;
                $($part.put(out);)+
            }

            #[inline]
            fn take(from: &mut &[u8]) -> Result<Self, CodecError> {
                Ok(($($part::take(from)?,)+))
            }
        }

        impl<$($part: Fixed),+> Fixed for ($($part,)+) {
            const SIZE: usize = 0 $(+ $part::SIZE)+;
        })+
    };
}
tuples!((A, B), (A, B, C));

impl<T: Stored, const N: usize> Stored for [T; N] {
    fn put(&self, out: &mut Vec<u8>) {
        T::put_slice(self, out);
    }

    #[inline]
    fn take(from: &mut &[u8]) -> Result<Self, CodecError> {
        T::take_array(from)
    }
}

impl<T: Fixed, const N: usize> Fixed for [T; N] {
    const SIZE: usize = N * T::SIZE;
}

/// Preceded by the count, which is below 2^32.
impl<T: Stored> Stored for Vec<T> {
    fn put(&self, out: &mut Vec<u8>) {
        put_all(self, out);
    }

    fn take(from: &mut &[u8]) -> Result<Self, CodecError> {
        // The count is untrusted: memory grows only with the entries read.
        (0..u32::take(from)?).map(|_| T::take(from)).collect()
    }
}

/// Appends the byte form of a list.
///
/// # Panics
/// The list has 2^32 entries or more.
pub fn put_all<'a, T: Stored + 'a>(
    entries: impl IntoIterator<Item = &'a T, IntoIter: ExactSizeIterator>,
    out: &mut Vec<u8>,
) {
    let entries = entries.into_iter();
    let count = u32::try_from(entries.len()).expect("dense numbers have 32 bits");
    count.put(out);
    entries.for_each(|entry| entry.put(out));
}

impl Stored for Box<[u8]> {
    fn put(&self, out: &mut Vec<u8>) {
        put_bytes(self, out);
    }

    fn take(from: &mut &[u8]) -> Result<Self, CodecError> {
        take_bytes(from).map(Self::from)
    }
}

/// Appends bytes, preceded by their length.
///
/// # Panics
/// There are 4 GiB or more.
pub fn put_bytes(bytes: &[u8], out: &mut Vec<u8>) {
    let length = u32::try_from(bytes.len()).expect("texts and tails are some megabytes at most");
    length.put(out);
    out.extend_from_slice(bytes);
}

/// Reads bytes written by [`put_bytes`].
///
/// # Errors
/// The bytes end before.
pub fn take_bytes<'a>(from: &mut &'a [u8]) -> Result<&'a [u8], CodecError> {
    let length = u32::take(from)?;
    let length = usize::try_from(length).map_err(|_| CodecError::Cut)?;
    let (bytes, rest) = from.split_at_checked(length).ok_or(CodecError::Cut)?;
    *from = rest;
    Ok(bytes)
}

impl<K: Stored + Ord, V: Stored> Stored for BTreeMap<K, V> {
    fn put(&self, out: &mut Vec<u8>) {
        let count = u32::try_from(self.len()).expect("keys are dense numbers of 32 bits");
        count.put(out);
        for (key, value) in self {
            key.put(out);
            value.put(out);
        }
    }

    fn take(from: &mut &[u8]) -> Result<Self, CodecError> {
        let entries = Vec::<(K, V)>::take(from)?;
        if !entries.is_sorted_by(|(one, _), (next, _)| one < next) {
            return Err(CodecError::Inconsistent("order of keys"));
        }
        Ok(entries.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn bytes<T: Stored>(value: &T) -> Vec<u8> {
        let mut bytes = Vec::new();
        value.put(&mut bytes);
        bytes
    }

    #[test]
    fn optional_fields_keep_their_length() {
        assert_eq!(<Option<u32> as Fixed>::SIZE, 5);
        for value in [None, Some(0), Some(7_u32)] {
            let bytes = bytes(&value);
            assert_eq!(bytes.len(), 5);
            assert_eq!(Stored::take(&mut &bytes[..]), Ok(value));
        }
    }

    #[test]
    fn every_cut_of_a_list_is_refused() {
        let list: Vec<(u32, Box<[u8]>)> = vec![(1, (*b"one").into()), (2, Box::default())];
        let bytes = bytes(&list);
        assert_eq!(Vec::take(&mut &bytes[..]), Ok(list));
        for cut in 0..bytes.len() {
            let cut = Vec::<(u32, Box<[u8]>)>::take(&mut &bytes[..cut]);
            assert_eq!(cut, Err(CodecError::Cut));
        }
    }

    #[test]
    fn an_array_is_its_values() {
        let array = [(1_u16, true), (2, false)];
        assert_eq!(bytes(&array), [1, 0, 1, 2, 0, 0]);
        assert_eq!(Stored::take(&mut &bytes(&array)[..]), Ok(array));
        assert_eq!(bytes(&[7_u8, 8]), [7, 8]);
        assert_eq!(Stored::take(&mut &[7, 8][..]), Ok([7_u8, 8]));
        assert_eq!(<[(u16, bool); 2]>::SIZE, 6);
    }

    fn is_read<T: Stored>(mut bytes: &[u8]) -> bool {
        T::take(&mut bytes).is_ok()
    }

    #[rstest]
    #[case::price(is_read::<Price>, &[0x11, 0x27])]
    #[case::lots(is_read::<Lots>, &[255; 8])]
    #[case::sequence(is_read::<Sequence>, &[255; 8])]
    #[case::order_type(is_read::<OrderType>, &[4])]
    #[case::flag(is_read::<bool>, &[2])]
    #[case::absent(is_read::<Option<u8>>, &[0, 1])]
    #[case::keys_twice(is_read::<BTreeMap<u8, u8>>, &[2, 0, 0, 0, 1, 5, 1, 6])]
    #[case::endless(is_read::<Vec<u64>>, &[255; 64])]
    fn what_would_overflow_later_is_refused(
        #[case] is_read: fn(&[u8]) -> bool,
        #[case] bytes: &[u8],
    ) {
        assert!(!is_read(bytes));
    }
}
