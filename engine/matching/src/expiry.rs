//! Expiry of live GTD orders.

use foretell_model::{OrderNumber, TimeNs, TimeSeconds};

use crate::indexed_heap::IndexedHeap;

/// Whether a GTD order is expired at `now`: from `safety` seconds before its expiration. An order
/// without expiration (0) never expires.
pub(crate) const fn is_expired(expiration: TimeSeconds, now: TimeNs, safety: u64) -> bool {
    expiration.0 != 0 && now.0 >= due(expiration, safety).0
}

/// The first instant at which the order is expired.
pub(crate) const fn due(expiration: TimeSeconds, safety: u64) -> TimeNs {
    TimeSeconds(expiration.0.saturating_sub(safety)).start()
}

/// Live GTD orders by expiration, then number; items are slots in the order pool.
pub(crate) type ExpiryHeap = IndexedHeap<(TimeSeconds, OrderNumber)>;

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case::no_expiration(0, u64::MAX, false)]
    #[case::before(1_000, 939_999_999_999, false)]
    #[case::at(1_000, 940_000_000_000, true)]
    #[case::saturates_below(30, 0, true)]
    #[case::saturates_above(u64::MAX, u64::MAX - 1, false)]
    fn an_order_ends_a_safety_before_its_expiration(
        #[case] expiration: u64,
        #[case] now: u64,
        #[case] expired: bool,
    ) {
        assert_eq!(
            is_expired(TimeSeconds(expiration), TimeNs(now), 60),
            expired
        );
    }
}
