//! Numbers of sort and range columns as integers of the same order.

/// A missing value: smaller than every other, in no range.
pub(crate) const MISSING: i64 = i64::MIN;

/// Maps an amount to an integer with the same order.
pub(crate) fn sortable(amount: f64) -> i64 {
    // -0.0 and 0.0 are equal.
    let bits = (amount + 0.0).to_bits().cast_signed();
    bits ^ (bits >> 63).cast_unsigned().wrapping_shr(1).cast_signed()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_keep_their_order() {
        let amounts = [
            f64::MIN,
            -2.5,
            -1.0,
            -f64::MIN_POSITIVE,
            0.0,
            1e-9,
            1.0,
            3.5,
            f64::MAX,
        ];
        assert!(amounts.is_sorted_by(|one, other| sortable(*one) < sortable(*other)));
        assert!(MISSING < sortable(f64::MIN));
        assert_eq!(sortable(-0.0), sortable(0.0));
    }
}
