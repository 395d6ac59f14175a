//! The byte form of stored values: little-endian, field after field, no padding.
//!
//! Logs and snapshots use it. Input bytes are untrusted: reading returns `None` and never panics,
//! and rejects amounts that would overflow later arithmetic.

use std::collections::BTreeMap;

use foretell_model::quantity::PRICE_ONE;
use foretell_model::{
    AccountNumber, ApiKey, CloseReason, ConditionId, DomainNumber, EventId, EventNumber,
    FeeSchedule, FramePlace, KeyNumber, Lots, MarketNumber, MarketState, MatchKind, Micros,
    OrderId, OrderNumber, OrderType, Outcome, Payout, Price, RejectionReason, Sequence, Settings,
    Side, SystemMode, Tick, TimeNs, TimeSeconds, TokenId, TradeIndex, WalletAddress, WalletKind,
};

use crate::actions::ActionKind;
use crate::midpoints::Midpoint;
use crate::trade_id::TradeId;

/// A value with a byte form.
pub trait Stored: Sized {
    /// Appends its bytes.
    fn put(&self, out: &mut Vec<u8>);

    /// Reads a value from the front of `from`; `None` for invalid bytes.
    fn take(from: &mut &[u8]) -> Option<Self>;
}

/// A value with a byte form of fixed length.
pub trait Fixed: Stored {
    /// That length.
    const SIZE: usize;
}

/// A row of a log.
pub(crate) trait LogRow: Fixed {
    /// Binary logarithm of the rows in a chunk.
    const CHUNK_BITS: u32;
    /// Length of the id at the start of its bytes, by which it can be found ([`crate::id_log`]); 0
    /// for no id, else at least 8.
    const ID_BYTES: usize = 0;
}

/// Implements [`Stored`] for a struct: the listed fields, in this order.
macro_rules! stored {
    ($name:ty { $($field:ident: $type:ty),+ $(,)? }) => {
        impl $crate::row::Stored for $name {
            fn put(&self, out: &mut Vec<u8>) {
                $(<$type as $crate::row::Stored>::put(&self.$field, out);)+
            }

            #[inline]
            fn take(from: &mut &[u8]) -> Option<Self> {
                Some(Self { $($field: <$type as $crate::row::Stored>::take(from)?),+ })
            }
        }
    };
}
pub(crate) use stored;

/// As [`stored`], for a struct of fixed-length fields.
macro_rules! fixed {
    ($name:ty { $($field:ident: $type:ty),+ $(,)? }) => {
        $crate::row::stored!($name { $($field: $type),+ });

        impl $crate::row::Fixed for $name {
            const SIZE: usize = 0 $(+ <$type as $crate::row::Fixed>::SIZE)+;
        }
    };
}
pub(crate) use fixed;

/// No bytes.
impl Stored for () {
    fn put(&self, _: &mut Vec<u8>) {}

    fn take(_: &mut &[u8]) -> Option<Self> {
        Some(())
    }
}

impl Fixed for () {
    const SIZE: usize = 0;
}

impl<const N: usize> Stored for [u8; N] {
    fn put(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self);
    }

    fn take(from: &mut &[u8]) -> Option<Self> {
        let (bytes, rest) = from.split_first_chunk()?;
        *from = rest;
        Some(*bytes)
    }
}

impl<const N: usize> Fixed for [u8; N] {
    const SIZE: usize = N;
}

macro_rules! integers {
    ($($int:ty),+) => {
        $(impl Stored for $int {
            fn put(&self, out: &mut Vec<u8>) {
                out.extend_from_slice(&self.to_le_bytes());
            }

            fn take(from: &mut &[u8]) -> Option<Self> {
                Stored::take(from).map(Self::from_le_bytes)
            }
        }

        impl Fixed for $int {
            const SIZE: usize = size_of::<$int>();
        })+
    };
}
integers!(u8, u16, u32, u64, u128, i128);

/// Implements [`Stored`] for newtypes, each with an optional maximum.
macro_rules! newtypes {
    ($($name:ident: $inner:ty $(, at most $limit:expr)?;)+) => {
        $(impl Stored for $name {
            fn put(&self, out: &mut Vec<u8>) {
                self.0.put(out);
            }

            fn take(from: &mut &[u8]) -> Option<Self> {
                let inner = <$inner>::take(from)?;
                $(if inner > $limit {
                    return None;
                })?
                Some(Self(inner))
            }
        }

        impl Fixed for $name {
            const SIZE: usize = <$inner as Fixed>::SIZE;
        })+
    };
}
newtypes! {
    AccountNumber: u32;
    KeyNumber: u32;
    MarketNumber: u32;
    EventNumber: u32;
    DomainNumber: u8;
    EventId: u64;
    // The next number must be representable.
    Sequence: u64, at most u64::MAX - 1;
    OrderNumber: u64, at most u64::MAX - 1;
    TradeIndex: u32;
    TimeNs: u64;
    TimeSeconds: u64;
    Micros: u64;
    // The value at any price must be representable.
    Lots: u64, at most u64::MAX / PRICE_ONE as u64;
    // The complement must exist.
    Price: u16, at most PRICE_ONE;
    OrderId: [u8; 32];
    WalletAddress: [u8; 20];
    ConditionId: [u8; 32];
    TokenId: [u8; 32];
    ApiKey: [u8; 16];
    TradeId: [u8; 16];
    // The complement must exist.
    Midpoint: u16, at most Midpoint::MAX;
}

/// Implements [`Stored`] for enums with fixed codes.
macro_rules! coded {
    ($($name:ident: $code:ty),+ $(,)?) => {
        $(impl Stored for $name {
            fn put(&self, out: &mut Vec<u8>) {
                (*self as $code).put(out);
            }

            fn take(from: &mut &[u8]) -> Option<Self> {
                Self::from_code(<$code>::take(from)?)
            }
        }

        impl Fixed for $name {
            const SIZE: usize = size_of::<$code>();
        })+
    };
}
coded!(
    Outcome: u8,
    Side: u8,
    OrderType: u8,
    MatchKind: u8,
    WalletKind: u8,
    MarketState: u8,
    Payout: u8,
    SystemMode: u8,
    Tick: u8,
    CloseReason: u8,
    RejectionReason: u16,
    ActionKind: u8,
);

fixed!(FramePlace {
    segment: u32,
    offset: u32,
    length: u32
});
fixed!(FeeSchedule {
    rate_ppm: u32,
    exponent: u8
});
fixed!(Settings {
    timestamp_past_ms: u64,
    timestamp_future_ms: u64,
    marketable_minimum: Micros,
    gtd_safety_seconds: u64,
    live_orders_per_account: u32,
    remembered_order_ids: u32,
});

impl Stored for bool {
    fn put(&self, out: &mut Vec<u8>) {
        u8::from(*self).put(out);
    }

    fn take(from: &mut &[u8]) -> Option<Self> {
        match u8::take(from)? {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        }
    }
}

impl Fixed for bool {
    const SIZE: usize = 1;
}

/// `None` has the same length, so that rows keep theirs.
impl<T: Fixed> Stored for Option<T> {
    fn put(&self, out: &mut Vec<u8>) {
        self.is_some().put(out);
        match self {
            Some(value) => value.put(out),
            None => out.resize(out.len() + T::SIZE, 0),
        }
    }

    fn take(from: &mut &[u8]) -> Option<Self> {
        if bool::take(from)? {
            return T::take(from).map(Some);
        }
        let (_, rest) = from.split_at_checked(T::SIZE)?;
        *from = rest;
        Some(None)
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

            fn take(from: &mut &[u8]) -> Option<Self> {
                Some(($($part::take(from)?,)+))
            }
        }

        impl<$($part: Fixed),+> Fixed for ($($part,)+) {
            const SIZE: usize = 0 $(+ $part::SIZE)+;
        })+
    };
}
tuples!((A, B), (A, B, C));

macro_rules! arrays {
    ($([$element:ty; $count:expr]),+) => {
        $(impl Stored for [$element; $count] {
            fn put(&self, out: &mut Vec<u8>) {
                self.iter().for_each(|element| element.put(out));
            }

            fn take(from: &mut &[u8]) -> Option<Self> {
                let mut array = [<$element>::default(); $count];
                for element in &mut array {
                    *element = Stored::take(from)?;
                }
                Some(array)
            }
        }

        impl Fixed for [$element; $count] {
            const SIZE: usize = $count * <$element as Fixed>::SIZE;
        })+
    };
}
arrays!(
    [u16; 4],
    [u32; 4],
    [Lots; 2],
    [Option<Midpoint>; 5],
    [TokenId; 2],
    [Option<AccountNumber>; WalletKind::ALL.len()]
);

/// Preceded by the count, which is below 2^32.
impl<T: Stored> Stored for Vec<T> {
    fn put(&self, out: &mut Vec<u8>) {
        put_all(self, out);
    }

    fn take(from: &mut &[u8]) -> Option<Self> {
        // The count is untrusted: memory grows only with the entries read.
        let count = u32::take(from)?;
        core::iter::repeat_with(|| T::take(from))
            .take(usize::try_from(count).ok()?)
            .collect()
    }
}

/// Appends the byte form of a list.
pub(crate) fn put_all<'a, T: Stored + 'a>(
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

    fn take(from: &mut &[u8]) -> Option<Self> {
        take_bytes(from).map(Self::from)
    }
}

/// Appends bytes, preceded by their length.
pub(crate) fn put_bytes(bytes: &[u8], out: &mut Vec<u8>) {
    let length = u32::try_from(bytes.len()).expect("texts and tails are some megabytes at most");
    length.put(out);
    out.extend_from_slice(bytes);
}

/// Reads bytes written by [`put_bytes`].
pub(crate) fn take_bytes<'a>(from: &mut &'a [u8]) -> Option<&'a [u8]> {
    let length = usize::try_from(u32::take(from)?).ok()?;
    let (bytes, rest) = from.split_at_checked(length)?;
    *from = rest;
    Some(bytes)
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

    fn take(from: &mut &[u8]) -> Option<Self> {
        let entries = Vec::<(K, V)>::take(from)?;
        let rising = entries.is_sorted_by(|(one, _), (next, _)| one < next);
        rising.then(|| entries.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::position::Position;

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
            assert_eq!(Stored::take(&mut &bytes[..]), Some(value));
        }
    }

    #[test]
    fn every_cut_of_a_list_is_refused() {
        let list: Vec<(u32, Box<[u8]>)> = vec![(1, (*b"one").into()), (2, Box::default())];
        let bytes = bytes(&list);
        assert_eq!(Vec::take(&mut &bytes[..]), Some(list));
        for cut in 0..bytes.len() {
            let cut = Vec::<(u32, Box<[u8]>)>::take(&mut &bytes[..cut]);
            assert_eq!(cut, None);
        }
    }

    fn stands_in<T: Stored>(mut bytes: &[u8]) -> bool {
        T::take(&mut bytes).is_some()
    }

    #[rstest]
    #[case::price(stands_in::<Price>, &[0x11, 0x27])]
    #[case::lots(stands_in::<Lots>, &[255; 8])]
    #[case::sequence(stands_in::<Sequence>, &[255; 8])]
    #[case::order_type(stands_in::<OrderType>, &[4])]
    #[case::flag(stands_in::<bool>, &[2])]
    #[case::keys_twice(stands_in::<BTreeMap<u8, u8>>, &[2, 0, 0, 0, 1, 5, 1, 6])]
    #[case::cost(stands_in::<Position>, &[0x7F; 72])]
    #[case::endless(stands_in::<Vec<u64>>, &[255; 64])]
    fn what_would_overflow_later_is_refused(
        #[case] stands_in: fn(&[u8]) -> bool,
        #[case] bytes: &[u8],
    ) {
        assert!(!stands_in(bytes));
    }
}
