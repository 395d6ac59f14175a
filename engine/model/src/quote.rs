//! Quotes as a maker signs them, and the limits of a group (docs/verify/rules.md §32).

use rkyv::bytecheck::CheckBytes;
use rkyv::{Archive, Deserialize, Portable, Serialize};

use crate::id::OrderId;
use crate::limits::{QUOTE_LEASE_MS, QUOTE_WINDOW_MS};
use crate::quantity::{Lots, Micros, Price};
use crate::record::records;
use crate::rejection::RejectionReason;
use crate::side::{Outcome, Side};

/// A quote as the 256-bit word that is signed, big-endian. From the highest bit: 16 index into the
/// conditions, 8 outcome (0 Yes, 1 No), 8 side (0 BUY, 1 SELL), 32 price in 0.0001, 64 size in lots, 8 flags
/// (bit 0: `grow_tail`), 120 zero.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Portable, CheckBytes)]
#[bytecheck(crate = rkyv::bytecheck)]
#[repr(transparent)]
pub struct QuoteWord(pub [u8; 32]);

impl Archive for QuoteWord {
    type Archived = Self;
    type Resolver = ();

    fn resolve(&self, (): (), out: rkyv::Place<Self>) {
        rkyv::munge::munge!(let Self(bytes) = out);
        bytes.write(self.0);
    }
}

impl<S: rkyv::rancor::Fallible + ?Sized> Serialize<S> for QuoteWord {
    fn serialize(&self, _: &mut S) -> Result<(), S::Error> {
        Ok(())
    }
}

impl<D: rkyv::rancor::Fallible + ?Sized> Deserialize<Self, D> for QuoteWord {
    fn deserialize(&self, _: &mut D) -> Result<Self, D::Error> {
        Ok(*self)
    }
}

/// What a quote's word says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Quote {
    /// Index of its market among the conditions of its set.
    pub condition: u16,
    /// Which of the market's two tokens.
    pub outcome: Outcome,
    /// Buy or sell that token.
    pub side: Side,
    /// Limit in the price of that token.
    pub price: Price,
    /// Shares to offer at that price.
    pub lots: Lots,
    /// Whether a larger size keeps what rests at its place, and only the rest goes to the back.
    pub grow_tail: bool,
}

/// Why a word is no quote: the field.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum QuoteField {
    /// Neither Yes nor No.
    Outcome,
    /// Neither BUY nor SELL.
    Side,
    /// Not between 0 and 1.
    Price,
    /// An unknown flag.
    Flags,
    /// Not zero.
    Padding,
}

impl Quote {
    /// Its word.
    #[must_use]
    pub fn word(&self) -> QuoteWord {
        let mut word = [0; 32];
        word[..2].copy_from_slice(&self.condition.to_be_bytes());
        word[2] = self.outcome as u8;
        word[3] = self.side as u8;
        word[6..8].copy_from_slice(&self.price.0.to_be_bytes());
        word[8..16].copy_from_slice(&self.lots.0.to_be_bytes());
        word[16] = self.grow_tail.into();
        QuoteWord(word)
    }
}

impl QuoteWord {
    /// What it says.
    ///
    /// # Errors
    /// The first field that no quote has.
    pub fn read(&self) -> Result<Quote, QuoteField> {
        let [
            c0,
            c1,
            outcome,
            side,
            p0,
            p1,
            p2,
            p3,
            l0,
            l1,
            l2,
            l3,
            l4,
            l5,
            l6,
            l7,
            flags,
            ..,
        ] = self.0;
        let price = u32::from_be_bytes([p0, p1, p2, p3]);
        let quote = Quote {
            condition: u16::from_be_bytes([c0, c1]),
            outcome: Outcome::from_code(outcome).ok_or(QuoteField::Outcome)?,
            side: Side::from_code(side).ok_or(QuoteField::Side)?,
            price: Price(u16::try_from(price).map_err(|_| QuoteField::Price)?),
            lots: Lots(u64::from_be_bytes([l0, l1, l2, l3, l4, l5, l6, l7])),
            grow_tail: flags == 1,
        };
        match (flags, self.0[17..].iter().all(|byte| *byte == 0)) {
            (0 | 1, true) => Ok(quote),
            (0 | 1, false) => Err(QuoteField::Padding),
            _ => Err(QuoteField::Flags),
        }
    }
}

/// The id of a quote: its set's digest with the quote's index as the last byte.
#[must_use]
pub const fn quote_id(digest: &OrderId, index: u8) -> OrderId {
    let mut id = digest.0;
    id[31] = index;
    OrderId(id)
}

records! {
    /// Lease and limits of a group of quotes. All zero at first.
    #[derive(Default)]
    pub struct QuoteLimits {
        /// Without a set or a renewal for so long the quotes end; 0 = no lease.
        pub lease_ms: u32,
        /// The window of the limits, from its first fill; 0 = no limits.
        pub window_ms: u32,
        /// Shares filled in a window that freeze the group; 0 = no such limit, as for the next two.
        pub lots: Lots,
        /// Collateral.
        pub value: Micros,
        /// Net shares of one market, bought and sold No counted as sold and bought Yes.
        pub net_lots: Lots,
    }
}

impl QuoteLimits {
    /// Whether lease and window are in range, and a window has a limit and no limit stands without one.
    #[must_use]
    pub fn are_valid(&self) -> bool {
        let has_limit = self.lots.0 > 0 || self.value.0 > 0 || self.net_lots.0 > 0;
        (self.lease_ms == 0 || QUOTE_LEASE_MS.contains(&self.lease_ms))
            && (self.window_ms == 0 || QUOTE_WINDOW_MS.contains(&self.window_ms))
            && has_limit == (self.window_ms > 0)
    }
}

/// Quotes of a set by index, as a bit each.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Archive, Serialize, Deserialize)]
pub struct QuoteMask(pub u64);

impl QuoteMask {
    /// Adds a quote.
    pub const fn insert(&mut self, index: u8) {
        self.0 |= 1 << index;
    }

    /// Whether it has a quote.
    #[must_use]
    pub const fn contains(self, index: u8) -> bool {
        self.0 >> index & 1 == 1
    }

    /// Its quotes.
    pub fn iter(self) -> impl Iterator<Item = u8> {
        (0..64).filter(move |index| self.contains(*index))
    }
}

/// What a set of quotes did.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Archive, Serialize, Deserialize)]
pub struct QuotesResult {
    /// Quotes, or the rest of larger ones, that went to the back of their queue.
    pub placed: QuoteMask,
    /// The three bits of each quote's code: 0, or of one that was not placed the place of its reason in
    /// [`QuotesResult::REASONS`], from 1. So an outcome is no larger than that of an order.
    refused: [QuoteMask; 3],
    /// Live quotes that stay as they are.
    pub kept: u8,
    /// Live quotes that are smaller now.
    pub reduced: u8,
    /// Live quotes that ended.
    pub ended: u8,
}

impl QuotesResult {
    /// Why a quote is refused alone, in the order of the checks.
    pub const REASONS: [RejectionReason; 6] = [
        RejectionReason::FilledSince,
        RejectionReason::SizeBelowMinimum,
        RejectionReason::CrossesBook,
        RejectionReason::TooManyLiveOrders,
        RejectionReason::NotEnoughCollateral,
        RejectionReason::NotEnoughShares,
    ];

    /// Notes a refused quote.
    ///
    /// # Panics
    /// When the reason is none of [`QuotesResult::REASONS`].
    pub fn refuse(&mut self, index: u8, reason: RejectionReason) {
        let place = Self::REASONS.iter().position(|known| *known == reason);
        let code = place.expect("a reason of quotes") + 1;
        for (bit, mask) in self.refused.iter_mut().enumerate() {
            if code >> bit & 1 == 1 {
                mask.insert(index);
            }
        }
    }

    /// The refused quotes by index, each with its reason.
    pub fn refusals(&self) -> impl Iterator<Item = (u8, RejectionReason)> {
        (0..64).filter_map(move |index| {
            let bits = self.refused.iter().enumerate();
            let code: usize = bits
                .map(|(bit, mask)| usize::from(mask.contains(index)) << bit)
                .sum();
            Some((index, *Self::REASONS.get(code.checked_sub(1)?)?))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUOTE: Quote = Quote {
        condition: 0x0102,
        outcome: Outcome::No,
        side: Side::Sell,
        price: Price(4_200),
        lots: Lots(0x0a0b),
        grow_tail: true,
    };

    #[test]
    fn a_word_has_the_documented_bits() {
        let mut word = [0; 32];
        word[..8].copy_from_slice(&[1, 2, 1, 1, 0, 0, 0x10, 0x68]);
        word[14..17].copy_from_slice(&[0x0a, 0x0b, 1]);
        assert_eq!(QUOTE.word(), QuoteWord(word));
        assert_eq!(QuoteWord(word).read(), Ok(QUOTE));
    }

    #[test]
    fn every_other_byte_is_refused_by_its_field() {
        for (byte, value, field) in [
            (2, 2, QuoteField::Outcome),
            (3, 2, QuoteField::Side),
            (5, 1, QuoteField::Price),
            (16, 2, QuoteField::Flags),
            (16, 3, QuoteField::Flags),
            (17, 1, QuoteField::Padding),
            (31, 1, QuoteField::Padding),
        ] {
            let mut word = QUOTE.word();
            word.0[byte] = value;
            assert_eq!(word.read(), Err(field), "{byte}");
        }
    }

    #[test]
    fn every_reason_of_a_quote_is_read_back() {
        let mut result = QuotesResult::default();
        let refused = (0..64).zip(QuotesResult::REASONS.iter().copied().cycle().skip(2));
        let refused: Vec<_> = refused.step_by(3).collect();
        for (index, reason) in &refused {
            result.refuse(*index, *reason);
        }
        assert_eq!(result.refusals().collect::<Vec<_>>(), refused);
        assert!(size_of::<QuotesResult>() <= size_of::<crate::OrderResult>());
    }

    #[test]
    fn limits_need_a_window_and_a_window_needs_limits() {
        let limits = |lease_ms, window_ms, lots| QuoteLimits {
            lease_ms,
            window_ms,
            lots: Lots(lots),
            ..QuoteLimits::default()
        };
        for valid in [
            limits(0, 0, 0),
            limits(500, 100, 1),
            limits(60_000, 60_000, 9),
        ] {
            assert!(valid.are_valid(), "{valid:?}");
        }
        for invalid in [
            limits(499, 0, 0),
            limits(60_001, 0, 0),
            limits(0, 99, 1),
            limits(0, 60_001, 1),
            limits(0, 100, 0),
            limits(0, 0, 1),
        ] {
            assert!(!invalid.are_valid(), "{invalid:?}");
        }
    }
}
