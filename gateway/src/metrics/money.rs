//! Money of the exchange by kind, as metrics show it.

use foretell_model::Micros;

/// The exchange's money, as of a scrape.
#[derive(Clone, Copy, Default)]
pub(crate) struct Money {
    /// Deposits less withdrawals.
    pub(crate) deposited: Micros,
    /// Locked by outstanding shares.
    pub(crate) locked: Micros,
    pub(crate) fees: Micros,
    /// Accrued and not yet paid.
    pub(crate) rebates: Micros,
    /// Reserved by withdrawals that are not paid yet.
    pub(crate) held: Micros,
}
