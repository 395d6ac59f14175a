//! Sets of quotes as a maker sends them.

use foretell_auth::quotes::QuotesMessage;
use foretell_model::quote::{Quote, QuoteWord};
use foretell_model::{ConditionId, Lots, Outcome, Price, Sequence, Side, TimeMs, WalletKind};
use foretell_ops::trader::Trader;
use foretell_wire::text::ids;
use serde_json::Value;

/// What a set says beside its quotes.
#[derive(Clone, Copy, Debug)]
pub struct Terms {
    /// Its group.
    pub group: u8,
    /// Its revision.
    pub revision: u64,
    /// The last fill that the maker knows.
    pub seen: u64,
    /// How long its quotes are valid.
    pub valid_ms: u64,
}

impl Terms {
    /// Group 0, for an hour, with no account of fills.
    #[must_use]
    pub const fn revision(revision: u64) -> Self {
        Self {
            group: 0,
            revision,
            seen: u64::MAX,
            valid_ms: 3_600_000,
        }
    }
}

/// A quote in the first market of its set.
#[must_use]
pub const fn quote(outcome: Outcome, side: Side, price: u16, lots: u64) -> Quote {
    Quote {
        condition: 0,
        outcome,
        side,
        price: Price(price),
        lots: Lots(lots),
        grow_tail: false,
    }
}

/// The clock of the machine.
///
/// # Panics
/// It is before 1970.
#[must_use]
pub fn now_ms() -> u64 {
    let now = std::time::UNIX_EPOCH.elapsed().expect("a time");
    u64::try_from(now.as_millis()).expect("a time")
}

/// The signed body of a set in these markets.
///
/// # Panics
/// The trader has no address.
#[must_use]
pub fn body(
    trader: &Trader,
    separator: &[u8; 32],
    terms: Terms,
    conditions: &[ConditionId],
    words: &[QuoteWord],
) -> Value {
    let wallet = ids::address(&trader.address()).expect("an address");
    let now = now_ms();
    let message = QuotesMessage {
        maker: wallet,
        signer: wallet,
        signature_type: WalletKind::Eoa,
        group: terms.group,
        revision: terms.revision,
        seen: Sequence(terms.seen),
        timestamp: TimeMs(now),
        valid_until: TimeMs(now + terms.valid_ms),
        builder: [0; 32],
        conditions,
        quotes: words,
    };
    trader.quotes_body(&message, separator)
}
