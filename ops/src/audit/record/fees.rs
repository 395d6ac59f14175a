//! The taker fee, computed again from its formula (protocol 4).

use foretell_model::{FeeSchedule, Lots, Micros, Price};

/// `shares × rate × (p(1−p))^exponent`, floored once to 5 decimals. A lot at price 1 is 10^4
/// micros, the rate counts 10^-6, each p(1−p) counts 10^-8.
pub(crate) fn fee(schedule: FeeSchedule, lots: Lots, price: Price) -> Micros {
    if schedule.rate_ppm == 0 {
        return Micros::ZERO;
    }
    let product = u128::from(price.0) * u128::from(price.complement().0);
    let (mut numerator, mut denominator) =
        (u128::from(lots.0) * u128::from(schedule.rate_ppm), 100_u128);
    for _ in 0..schedule.exponent {
        numerator *= product;
        denominator *= 100_000_000;
    }
    let floored = numerator / (denominator * 10) * 10;
    Micros(u64::try_from(floored).unwrap_or(u64::MAX))
}

/// The most of `lots` whose value and fee together are at most `purse`. Both grow with the lots.
pub(crate) fn affordable(schedule: FeeSchedule, lots: Lots, price: Price, purse: u64) -> Lots {
    let fits = |lots: u64| {
        let lots = Lots(lots);
        lots.value_at(price)
            .0
            .saturating_add(fee(schedule, lots, price).0)
            <= purse
    };
    if fits(lots.0) {
        return lots;
    }
    let (mut fitting, mut beyond) = (0, lots.0);
    while beyond - fitting > 1 {
        let middle = fitting + (beyond - fitting) / 2;
        if fits(middle) {
            fitting = middle;
        } else {
            beyond = middle;
        }
    }
    Lots(fitting)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fees_of_the_worked_example() {
        let schedule = FeeSchedule {
            rate_ppm: 40_000,
            exponent: 1,
        };
        for (lots, price, micros) in [
            (2_941, 3_400, 263_980),
            (1_000, 3_300, 88_440),
            (1_970, 3_400, 176_820),
        ] {
            assert_eq!(fee(schedule, Lots(lots), Price(price)), Micros(micros));
        }
        assert_eq!(
            affordable(schedule, Lots(1_000), Price(3_300), 3_300_000),
            Lots(973)
        );
    }
}
