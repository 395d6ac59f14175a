//! The outside question of a neg-risk event group: none of the listed (docs/verify/rules.md §26). Its names
//! follow from the id of the event group, so that nobody needs to tell them.

use crate::id::{ConditionId, EventId, TokenId};
use crate::limits::MAX_QUESTIONS;

/// The index of an outside question: after the last that a list can have.
pub const OUTSIDE_INDEX: u32 = MAX_QUESTIONS;

/// Condition and tokens of the outside question of an event group. Reserved: a market by hand that has
/// the condition is `MarketDiffers`.
#[must_use]
pub fn outside_names(event: EventId) -> (ConditionId, [TokenId; 2]) {
    let name = |what: &[u8]| {
        let mut hasher = blake3::Hasher::new();
        hasher.update(b"foretell outside question: ");
        hasher.update(what);
        hasher.update(&event.0.to_le_bytes());
        *hasher.finalize().as_bytes()
    };
    let tokens = [TokenId(name(b"yes")), TokenId(name(b"no"))];
    (ConditionId(name(b"condition")), tokens)
}
