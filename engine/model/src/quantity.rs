//! Money, shares and prices as integers (docs/verify/rules.md §1).
//!
//! One lot is 0.01 share and a price unit is 0.0001, so lots × price is a whole number of micros.
//! Only fees are rounded.

use rkyv::{Archive, Deserialize, Serialize};

use crate::side::codes;

/// Micro-shares in one lot.
pub const MICROS_PER_LOT: u64 = 10_000;
/// Lots in one share.
pub const LOTS_PER_SHARE: u64 = 100;
/// Micros in one unit of collateral (one dollar).
pub const MICROS_PER_UNIT: u64 = 1_000_000;
/// Price units in 1: at a price of 1, a share costs one unit of collateral.
pub const PRICE_ONE: u16 = 10_000;

/// Collateral in 1e-6 units.
#[derive(
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Default,
    Debug,
    Archive,
    Serialize,
    Deserialize,
)]
pub struct Micros(pub u64);

/// Shares in lots of 0.01 share.
#[derive(
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Default,
    Debug,
    Archive,
    Serialize,
    Deserialize,
)]
pub struct Lots(pub u64);

macro_rules! amount {
    ($name:ident) => {
        impl $name {
            /// Zero.
            pub const ZERO: Self = Self(0);

            /// Sum, or `None` on overflow.
            #[must_use]
            pub const fn checked_add(self, other: Self) -> Option<Self> {
                match self.0.checked_add(other.0) {
                    Some(sum) => Some(Self(sum)),
                    None => None,
                }
            }

            /// Difference, or `None` when it would be negative.
            #[must_use]
            pub const fn checked_sub(self, other: Self) -> Option<Self> {
                match self.0.checked_sub(other.0) {
                    Some(rest) => Some(Self(rest)),
                    None => None,
                }
            }

            /// Whether the amount is zero.
            #[must_use]
            pub const fn is_zero(self) -> bool {
                self.0 == 0
            }
        }

        // Amounts are bounded by `limits`, so these cannot overflow. If one did, `overflow-checks`
        // would abort the process instead of wrapping money.
        impl core::ops::Add for $name {
            type Output = Self;
            fn add(self, other: Self) -> Self {
                Self(self.0 + other.0)
            }
        }
        impl core::ops::Sub for $name {
            type Output = Self;
            fn sub(self, other: Self) -> Self {
                Self(self.0 - other.0)
            }
        }
        impl core::ops::AddAssign for $name {
            fn add_assign(&mut self, other: Self) {
                self.0 += other.0;
            }
        }
        impl core::ops::SubAssign for $name {
            fn sub_assign(&mut self, other: Self) {
                self.0 -= other.0;
            }
        }
        impl core::iter::Sum for $name {
            fn sum<I: Iterator<Item = Self>>(amounts: I) -> Self {
                amounts.fold(Self::ZERO, |sum, amount| sum + amount)
            }
        }
    };
}
amount!(Micros);
amount!(Lots);

impl Lots {
    /// Value of these shares at `price`: exact, no rounding.
    #[must_use]
    pub const fn value_at(self, price: Price) -> Micros {
        Micros(self.0 * price.0 as u64)
    }

    /// Value of full sets of this many lots: one unit a share.
    #[must_use]
    pub const fn full_value(self) -> Micros {
        Micros(self.0 * PRICE_ONE as u64)
    }

    /// The same amount in micro-shares.
    #[must_use]
    pub const fn micro_shares(self) -> u64 {
        self.0 * MICROS_PER_LOT
    }

    /// Whole lots in an amount of micro-shares; `None` when it is not a multiple of a lot.
    #[must_use]
    pub const fn from_micro_shares(micro_shares: u64) -> Option<Self> {
        if micro_shares.is_multiple_of(MICROS_PER_LOT) {
            Some(Self(micro_shares / MICROS_PER_LOT))
        } else {
            None
        }
    }
}

/// A price in units of 0.0001 of collateral a share. In an order it lies between one tick and
/// 1 − one tick.
#[derive(
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Default,
    Debug,
    Archive,
    Serialize,
    Deserialize,
)]
pub struct Price(pub u16);

impl Price {
    /// The price of the other outcome: 1 − this.
    #[must_use]
    pub const fn complement(self) -> Self {
        Self(PRICE_ONE - self.0)
    }

    /// Whether this is a whole number of ticks strictly between 0 and 1.
    #[must_use]
    pub const fn fits(self, tick: Tick) -> bool {
        self.0 > 0 && self.0 < PRICE_ONE && self.0.is_multiple_of(tick.units())
    }
}

codes!(
    /// The smallest step of a market's price, from coarse to fine.
    #[serde(into = "&'static str")]
    Tick {
        /// 0.1.
        Tenth = 1,
        /// 0.01.
        Hundredth = 2,
        /// 0.005.
        HalfHundredth = 3,
        /// 0.0025.
        QuarterHundredth = 4,
        /// 0.001.
        Thousandth = 5,
        /// 0.0001.
        TenThousandth = 6,
    }
);

impl From<Tick> for &'static str {
    fn from(tick: Tick) -> Self {
        tick.text()
    }
}

/// A signed amount, whose unit is 10^-6 of collateral or of a share.
pub(crate) fn as_micros<S: serde::Serializer>(
    amount: &u64,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&Micros(*amount))
}

/// The decimal text of a number of parts of 1.
macro_rules! decimal {
    ($($name:ident: $places:literal places, $parts:expr;)+) => {$(
        impl core::fmt::Display for $name {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                let (whole, rest) = (self.0 / $parts, self.0 % $parts);
                write!(f, "{whole}.{rest:0places$}", places = $places)
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }
    )+};
}
decimal! {
    Micros: 6 places, MICROS_PER_UNIT;
    Lots: 2 places, LOTS_PER_SHARE;
    Price: 4 places, PRICE_ONE;
}

impl Tick {
    /// The step in price units of 0.0001.
    #[must_use]
    pub const fn units(self) -> u16 {
        match self {
            Self::Tenth => 1_000,
            Self::Hundredth => 100,
            Self::HalfHundredth => 50,
            Self::QuarterHundredth => 25,
            Self::Thousandth => 10,
            Self::TenThousandth => 1,
        }
    }

    /// The exact text of the interface: clients use it as a key (docs/api/overview.md §2).
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::Tenth => "0.1",
            Self::Hundredth => "0.01",
            Self::HalfHundredth => "0.005",
            Self::QuarterHundredth => "0.0025",
            Self::Thousandth => "0.001",
            Self::TenThousandth => "0.0001",
        }
    }

    /// Whether a market of this tick can change to another: it is finer and divides this one, so every
    /// price keeps its place (docs/verify/rules.md §3).
    #[must_use]
    pub const fn refines_to(self, finer: Self) -> bool {
        finer.units() < self.units() && self.units().is_multiple_of(finer.units())
    }
}
