//! What tests of withdrawals share.

use std::time::{SystemTime, UNIX_EPOCH};

use foretell_model::{TimeMs, WalletAddress};
use foretell_ops::trader::Trader;

/// The time so many seconds from now.
///
/// # Panics
/// The clock is before 1970.
#[must_use]
pub fn in_seconds(seconds: u64) -> TimeMs {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let now = u64::try_from(now.expect("after 1970").as_millis()).expect("milliseconds");
    TimeMs(now + seconds * 1_000)
}

/// The trader's own wallet.
///
/// # Panics
/// It is none.
#[must_use]
pub fn wallet_of(trader: &Trader) -> WalletAddress {
    foretell_wire::text::ids::address(&trader.address()).expect("an address")
}
