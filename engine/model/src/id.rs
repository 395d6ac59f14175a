//! Identifiers: the external ids, and the dense numbers that the exchange assigns in order of first
//! use.

use rkyv::{Archive, Deserialize, Serialize};

macro_rules! bytes_id {
    ($(#[$doc:meta])* $name:ident, $len:literal) => {
        $(#[$doc])*
        #[derive(
            Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, rkyv::Portable, rkyv::bytecheck::CheckBytes,
        )]
        #[bytecheck(crate = rkyv::bytecheck)]
        #[repr(transparent)]
        pub struct $name(pub [u8; $len]);

        // As one block: by derive each byte is copied for itself, three times the instructions of an order.
        impl rkyv::Archive for $name {
            type Archived = Self;
            type Resolver = ();

            #[inline]
            fn resolve(&self, (): (), out: rkyv::Place<Self>) {
                rkyv::munge::munge!(let Self(bytes) = out);
                bytes.write(self.0);
            }
        }

        impl<S: rkyv::rancor::Fallible + ?Sized> rkyv::Serialize<S> for $name {
            #[inline]
            fn serialize(&self, _: &mut S) -> Result<(), S::Error> {
                Ok(())
            }
        }

        impl<D: rkyv::rancor::Fallible + ?Sized> rkyv::Deserialize<Self, D> for $name {
            #[inline]
            fn deserialize(&self, _: &mut D) -> Result<Self, D::Error> {
                Ok(*self)
            }
        }

        impl $name {
            /// All bytes zero: stands for an absent value where the interface allows one.
            pub const ZERO: Self = Self([0; $len]);

            /// The bytes, in written order.
            #[must_use]
            pub const fn as_bytes(&self) -> &[u8; $len] {
                &self.0
            }
        }

        impl Default for $name {
            fn default() -> Self {
                Self::ZERO
            }
        }

        impl core::fmt::Display for $name {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                const DIGITS: &[u8; 16] = b"0123456789abcdef";
                let mut text = [b'0'; 2 + 2 * $len];
                text[1] = b'x';
                for (pair, byte) in text[2..].chunks_exact_mut(2).zip(self.0) {
                    pair[0] = DIGITS[usize::from(byte >> 4)];
                    pair[1] = DIGITS[usize::from(byte & 15)];
                }
                f.write_str(core::str::from_utf8(&text).expect("digits are ASCII"))
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl core::fmt::Debug for $name {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                core::fmt::Display::fmt(self, f)
            }
        }
    };
}

macro_rules! number {
    ($(#[$doc:meta])* $name:ident, $int:ty) => {
        $(#[$doc])*
        #[derive(
            Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug, Archive, Serialize, Deserialize,
            serde::Serialize,
        )]
        pub struct $name(pub $int);

        impl core::fmt::Display for $name {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                core::fmt::Display::fmt(&self.0, f)
            }
        }
    };
}

bytes_id!(
    /// EIP-712 hash of a signed order; identifies the order for ever (docs/verify/rules.md §16). Of a quote,
    /// [`crate::quote::quote_id`].
    OrderId,
    32
);
bytes_id!(
    /// A 20-byte wallet address: the external id of an account (docs/verify/rules.md §17).
    WalletAddress,
    20
);
bytes_id!(
    /// The condition id of a market.
    ConditionId,
    32
);
bytes_id!(
    /// A token id: an unsigned 256-bit integer, big-endian.
    TokenId,
    32
);
bytes_id!(
    /// BLAKE3 of the reference text that makes an operator or account action idempotent; the text
    /// itself is in the frame's evidence (docs/verify/rules.md §16).
    Reference,
    32
);
bytes_id!(
    /// Random bytes that name what a journal says after a restore (docs/verify/rules.md §30); zeros
    /// before the first.
    Branch,
    32
);
bytes_id!(
    /// A UUID in v4 form that identifies an API key (docs/api/authentication.md §2).
    ApiKey,
    16
);
bytes_id!(
    /// The first 16 bytes of BLAKE3 of a market's slug; zeros of a market without one
    /// (docs/verify/rules.md §12).
    SlugDigest,
    16
);
bytes_id!(
    /// The first 16 bytes of BLAKE3 of what a registration says, so that a repeat is told from another
    /// registration; zeros of one without details (docs/verify/rules.md §12).
    ContentDigest,
    16
);

number!(
    /// Dense number of an account, in order of first appearance.
    AccountNumber,
    u32
);
number!(
    /// Dense number of a market, in order of registration.
    MarketNumber,
    u32
);
number!(
    /// Dense number of a neg-risk event group, in order of registration.
    EventNumber,
    u32
);
number!(
    /// Dense number of an API key, in order of registration.
    KeyNumber,
    u32
);
number!(
    /// Number of a signing domain (docs/api/authentication.md §7), assigned at its registration.
    DomainNumber,
    u8
);
number!(
    /// The catalog's numeric id of an event group.
    EventId,
    u64
);
number!(
    /// Number of an operator, in order of addition (docs/verify/rules.md §27): 0 = none (a client or
    /// the engine itself), 1 = the first admin, whose token is in the configuration.
    OperatorNumber,
    u16
);
number!(
    /// Position of a command in the journal; the first command has sequence 1.
    Sequence,
    u64
);
number!(
    /// Index of a fill within its command, from 0.
    TradeIndex,
    u32
);

/// A hash or another 32 bytes without a type of their own, as an id.
pub(crate) fn as_id<S: serde::Serializer>(
    bytes: &[u8; 32],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&Reference(*bytes))
}

/// An order's dense number: the sequence of the command that placed it, and its index in a set of quotes,
/// 0 outside of one. Numbers are in the order of arrival: by sequence, then index. The index is in the
/// highest six bits, so the number of most orders is their sequence.
#[derive(
    Clone,
    Copy,
    PartialEq,
    Eq,
    Hash,
    Default,
    Debug,
    Archive,
    Serialize,
    Deserialize,
    serde::Serialize,
)]
pub struct OrderNumber(pub u64);

impl OrderNumber {
    /// Bits of the index.
    const INDEX_BITS: u32 = 6;

    /// The largest number.
    pub const LAST: Self = Self(u64::MAX);

    /// The number of the order that a command places, or of the quote with this index below 64 in its set.
    #[must_use]
    pub const fn of(sequence: Sequence, index: u8) -> Self {
        Self(sequence.0 | (index as u64) << (u64::BITS - Self::INDEX_BITS))
    }

    /// The command that placed it.
    #[must_use]
    pub const fn sequence(self) -> Sequence {
        Sequence(self.0 << Self::INDEX_BITS >> Self::INDEX_BITS)
    }

    /// Its index in its set.
    #[must_use]
    pub const fn index(self) -> u8 {
        (self.0 >> (u64::BITS - Self::INDEX_BITS)) as u8
    }

    /// The number after this one.
    #[must_use]
    pub const fn next(self) -> Self {
        Self((self.0.rotate_left(Self::INDEX_BITS) + 1).rotate_right(Self::INDEX_BITS))
    }
}

impl Ord for OrderNumber {
    #[inline]
    fn cmp(&self, other: &Self) -> core::cmp::Ordering {
        let arrival = |number: &Self| number.0.rotate_left(Self::INDEX_BITS);
        arrival(self).cmp(&arrival(other))
    }
}

impl PartialOrd for OrderNumber {
    #[inline]
    fn partial_cmp(&self, other: &Self) -> Option<core::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl core::fmt::Display for OrderNumber {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        core::fmt::Display::fmt(&self.0, f)
    }
}

impl OperatorNumber {
    /// No operator.
    pub const NONE: Self = Self(0);

    /// The first admin.
    pub const FIRST_ADMIN: Self = Self(1);
    /// The synchronization of the catalog.
    pub const SYNC: Self = Self(2);
}

impl Sequence {
    /// The sequence after this one.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0 + 1)
    }
}
