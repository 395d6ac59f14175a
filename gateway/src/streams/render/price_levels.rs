//! The order of levels in `price_change`.

use foretell_model::{Outcome, Side};
use foretell_view::LevelChange;

/// Levels that shrank before levels that grew, so that a reader who applies them one by one never
/// sees a crossed book. Among each, the bids of Yes, then its asks, each from the best outwards.
pub(crate) fn in_stream_order(levels: &[LevelChange]) -> Vec<LevelChange> {
    let mut levels = levels.to_vec();
    levels.sort_by_key(|level| {
        let (side, price) = (level.side(Outcome::Yes), level.price(Outcome::Yes));
        let distance = match side {
            Side::Buy => price.complement().0,
            Side::Sell => price.0,
        };
        (!level.shrank(), side == Side::Sell, distance)
    });
    levels
}
