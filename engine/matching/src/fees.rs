//! The taker fee (docs/verify/rules.md §7): `shares × rate × (p(1−p))^exponent`, the only rounded
//! amount.

use foretell_model::limits::FEE_QUANTUM;
use foretell_model::quantity::PRICE_ONE;
use foretell_model::{FeeSchedule, Lots, Micros, Price};

/// The raw fee in micros as a fraction: a lot at price 1 is 10^4 micros, the rate counts 10^-6, and
/// each factor p(1−p) counts 10^-8. With at most 10^15 lots the numerator is below 10^36.
fn raw(schedule: FeeSchedule, lots: Lots, price: Price) -> (u128, u128) {
    let product = u128::from(price.0) * u128::from(PRICE_ONE - price.0);
    let base = u128::from(lots.0) * u128::from(schedule.rate_ppm);
    match schedule.exponent {
        0 => (base, 100),
        1 => (base * product, 100 * 100_000_000),
        _ => (base * product * product, 100 * 100_000_000 * 100_000_000),
    }
}

/// The denominator of exponent 1.
const EXPONENT_1_DENOMINATOR: u64 = 100 * 100_000_000;

/// The numerator over [`EXPONENT_1_DENOMINATOR`], when it fits in 64 bits. With exponent 1 it fits up to some ten
/// thousand shares. A 128-bit division would cost as much as the rest of a fill.
fn raw_exponent_1(schedule: FeeSchedule, lots: Lots, price: Price) -> Option<u64> {
    if schedule.exponent != 1 {
        return None;
    }
    let product = u64::from(price.0) * u64::from(PRICE_ONE - price.0);
    let base = lots.0.checked_mul(schedule.rate_ppm.into())?;
    base.checked_mul(product)
}

/// The fee of one fill, floored to 5 decimals. A price and its complement give the same fee.
pub(crate) fn fee(schedule: FeeSchedule, lots: Lots, price: Price) -> Micros {
    if schedule.rate_ppm == 0 {
        return Micros::ZERO;
    }
    if let Some(numerator) = raw_exponent_1(schedule, lots, price) {
        return Micros(numerator / (EXPONENT_1_DENOMINATOR * FEE_QUANTUM.0) * FEE_QUANTUM.0);
    }
    let (numerator, denominator) = raw(schedule, lots, price);
    let quantum = u128::from(FEE_QUANTUM.0);
    narrow(numerator / (denominator * quantum) * quantum)
}

/// The fee of one fill rounded up to a micro. Value + fee at a BUY's limit bounds every possible
/// fill, because the unrounded total never falls as the price rises.
#[inline(always)]
pub(crate) fn fee_bound(schedule: FeeSchedule, lots: Lots, price: Price) -> Micros {
    if schedule.rate_ppm == 0 {
        return Micros::ZERO;
    }
    if let Some(numerator) = raw_exponent_1(schedule, lots, price) {
        return Micros(numerator.div_ceil(EXPONENT_1_DENOMINATOR));
    }
    let (numerator, denominator) = raw(schedule, lots, price);
    narrow(numerator.div_ceil(denominator))
}

/// Largest part of `lots` whose value plus fee fits in `free`. Both grow with the lots.
pub(crate) fn affordable(schedule: FeeSchedule, lots: Lots, price: Price, free: Micros) -> Lots {
    let fits = |lots: Lots| lots.value_at(price) + fee(schedule, lots, price) <= free;
    if fits(lots) {
        return lots;
    }
    // Invariant: `enough` fits, `unaffordable` does not.
    let (mut enough, mut unaffordable) = (0, lots.0);
    while unaffordable - enough > 1 {
        let middle = enough + (unaffordable - enough) / 2;
        if fits(Lots(middle)) {
            enough = middle;
        } else {
            unaffordable = middle;
        }
    }
    Lots(enough)
}

/// Cannot overflow: a fee is at most 10^4 micros a lot, and lots are at most 10^15.
fn narrow(fee: u128) -> Micros {
    Micros(u64::try_from(fee).expect("a fee is at most 10^19"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rstest::rstest;

    const fn schedule(rate_ppm: u32, exponent: u8) -> FeeSchedule {
        FeeSchedule { rate_ppm, exponent }
    }

    /// The first three cases are the example of docs/verify/rules.md §7.
    #[rstest]
    #[case(schedule(40_000, 1), 2_941, 3_400, 263_980)]
    #[case(schedule(40_000, 1), 1_000, 3_300, 88_440)]
    #[case(schedule(40_000, 1), 1_970, 3_400, 176_820)]
    #[case::rate_is_all_of_it(schedule(1_000_000, 0), 100, 1, 1_000_000)]
    #[case::squared(schedule(1_000_000, 2), 100, 5_000, 62_500)]
    #[case::below_the_quantum(schedule(1_000, 0), 9, 5_000, 90)]
    #[case::under_it_nothing(schedule(100, 0), 9, 5_000, 0)]
    #[case::no_fee(schedule(0, 1), 100_000_000_000, 5_000, 0)]
    fn known_fees(
        #[case] schedule: FeeSchedule,
        #[case] lots: u64,
        #[case] price: u16,
        #[case] micros: u64,
    ) {
        assert_eq!(fee(schedule, Lots(lots), Price(price)), Micros(micros));
        assert_eq!(
            fee(schedule, Lots(lots), Price(price).complement()),
            Micros(micros)
        );
    }

    proptest! {
        #[test]
        fn the_bound_at_the_limit_covers_any_way_of_filling(
            rate in 0_u32..=1_000_000, exponent in 0_u8..=2, limit in 2_u16..10_000,
            fills in prop::collection::vec((1_u64..1_000_000, any::<u16>()), 1..6),
        ) {
            let schedule = schedule(rate, exponent);
            let total: Lots = fills.iter().map(|(lots, _)| Lots(*lots)).sum();
            let paid: Micros = fills
                .iter()
                .map(|(lots, price)| (Lots(*lots), Price(price % limit + 1)))
                .map(|(lots, price)| lots.value_at(price) + fee(schedule, lots, price))
                .sum();
            let bound = total.value_at(Price(limit)) + fee_bound(schedule, total, Price(limit));
            prop_assert!(paid <= bound, "{paid:?} > {bound:?}");
        }

        #[test]
        fn the_affordable_part_is_the_largest(
            rate in 0_u32..=1_000_000, exponent in 0_u8..=2, price in 1_u16..10_000,
            lots in 1_u64..10_000_000, free in 0_u64..100_000_000_000,
        ) {
            let (schedule, price) = (schedule(rate, exponent), Price(price));
            let part = affordable(schedule, Lots(lots), price, Micros(free));
            let cost = |lots: Lots| lots.value_at(price) + fee(schedule, lots, price);
            prop_assert!(cost(part) <= Micros(free));
            prop_assert!(part <= Lots(lots));
            if part < Lots(lots) {
                prop_assert!(cost(part + Lots(1)) > Micros(free));
            }
        }
    }

    #[test]
    fn the_largest_amounts_do_not_overflow() {
        let most = Lots(1_000_000_000_000_000);
        for exponent in 0..=2 {
            assert!(fee(schedule(1_000_000, exponent), most, Price(5_000)) > Micros::ZERO);
        }
    }
}
