//! The index of a trade.

use foretell_model::codec::{CodecError, Fixed, Stored};

use crate::storage::slot::Packed;

/// Index of a trade in the list of all trades, oldest first. Valid for this view only; the public
/// name is [`crate::TradeRecord::id`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct TradeSlot(pub(crate) u64);

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
