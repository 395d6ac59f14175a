//! The index of a trade.

use foretell_model::codec::{CodecError, Fixed, Stored};

use crate::storage::slot::Packed;

/// Index of a trade in the list of all trades, oldest first. Valid for this view only; the public
/// name is [`crate::TradeRecord::id`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct TradeSlot(pub(crate) u64);

impl TradeSlot {
    /// Number of earlier trades of the journal: the same in every view of that journal.
    #[must_use]
    pub const fn place(self) -> u64 {
        self.0
    }

    /// The trade with this number of earlier trades, whether it exists yet or not.
    #[must_use]
    pub const fn at(place: u64) -> Self {
        Self(place)
    }
}

impl Stored for TradeSlot {
    fn put(&self, out: &mut Vec<u8>) {
        Packed::of(self.0).put(out);
    }

    fn take(from: &mut &[u8]) -> Result<Self, CodecError> {
        Packed::take(from).map(|slot| Self(slot.slot()))
    }
}

impl Fixed for TradeSlot {
    const SIZE: usize = Packed::SIZE;
}
