//! The exact taker fee (docs/verify/rules.md §7).
//!
//! fee = shares × rate × (p(1−p))^exponent. With shares in lots of 0.01, the rate in parts per
//! million, p in 0.0001 and the fee in micros this is
//! `lots × rate × (p(10^4 − p))^e / (100 × 10^(8e))`.

use foretell_model::limits::FEE_QUANTUM;
use foretell_model::quantity::PRICE_ONE;
use foretell_model::{FeeSchedule, Lots, Micros, Price};

/// The taker's fee of one fill, floored once, to 5 decimals.
pub(crate) fn charged(lots: Lots, price: Price, fee: FeeSchedule) -> Micros {
    let (numerator, denominator) = exact(lots, price, fee);
    let quantum = u128::from(FEE_QUANTUM.0);
    micros(numerator / (denominator * quantum) * quantum)
}

/// The unrounded fee rounded up to a whole micro.
pub(crate) fn covering(lots: Lots, price: Price, fee: FeeSchedule) -> Micros {
    let (numerator, denominator) = exact(lots, price, fee);
    micros(numerator.div_ceil(denominator))
}

/// The unrounded fee in micros as a fraction. The largest product stays below 10^36: 10^15 lots,
/// which a budget could buy at 0.0001, at 10^6 ppm.
fn exact(lots: Lots, price: Price, fee: FeeSchedule) -> (u128, u128) {
    let p = u128::from(price.0);
    let spread = p * (u128::from(PRICE_ONE) - p);
    let exponent = u32::from(fee.exponent);
    (
        u128::from(lots.0) * u128::from(fee.rate_ppm) * spread.pow(exponent),
        100 * 10_u128.pow(8 * exponent),
    )
}

fn micros(amount: u128) -> Micros {
    Micros(u64::try_from(amount).expect("a fee is at most 10^19 micros"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FOUR_PERCENT: FeeSchedule = FeeSchedule {
        rate_ppm: 40_000,
        exponent: 1,
    };

    #[test]
    fn first_worked_example_of_the_protocol() {
        assert_eq!(
            charged(Lots(2_941), Price(3_400), FOUR_PERCENT),
            Micros(263_980)
        );
        assert_eq!(
            charged(Lots(1_000), Price(3_300), FOUR_PERCENT),
            Micros(88_440)
        );
        assert_eq!(
            charged(Lots(1_970), Price(3_400), FOUR_PERCENT),
            Micros(176_820)
        );
    }

    #[test]
    fn below_five_decimals_is_nothing() {
        let fee = FeeSchedule {
            rate_ppm: 999,
            exponent: 0,
        };
        assert_eq!(charged(Lots(1), Price(5_000), fee), Micros(0));
        assert_eq!(covering(Lots(1), Price(5_000), fee), Micros(10));
    }
}
