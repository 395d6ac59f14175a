//! A bounded cache of frame receipts: each costs a file read and a hash, and lists of trades show
//! the same ones repeatedly.

use foretell_model::Sequence;
use parking_lot::Mutex;

/// Cached receipts, in 7 MB; sequences a multiple of this apart evict each other. It covers the ten
/// thousand newest fills of a wallet that takes part in every fifth.
const SLOTS: usize = 1 << 17;

/// The cache of the process.
pub(crate) struct ReceiptCache(Box<[Mutex<CachedReceipt>]>);

/// An entry; sequence 0, which no frame has, marks an empty one.
#[derive(Clone, Copy, Default)]
struct CachedReceipt {
    /// History of the journal: a recovery may drop frames and reuse their sequences.
    history: u64,
    sequence: Sequence,
    receipt: [u8; 32],
}

impl Default for ReceiptCache {
    fn default() -> Self {
        Self((0..SLOTS).map(|_| Mutex::default()).collect())
    }
}

impl ReceiptCache {
    /// The cached receipt of a frame of a history.
    pub(crate) fn get(&self, history: u64, sequence: Sequence) -> Option<[u8; 32]> {
        let known = *self.slot(sequence).lock();
        let is_it = (known.history, known.sequence) == (history, sequence);
        is_it.then_some(known.receipt)
    }

    pub(crate) fn put(&self, history: u64, sequence: Sequence, receipt: [u8; 32]) {
        *self.slot(sequence).lock() = CachedReceipt {
            history,
            sequence,
            receipt,
        };
    }

    fn slot(&self, sequence: Sequence) -> &Mutex<CachedReceipt> {
        let slot = sequence.0 % SLOTS as u64;
        &self.0[usize::try_from(slot).expect("below the number of slots")]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_receipt_is_that_of_its_frame_and_history() {
        let receipts = ReceiptCache::default();
        let (here, there) = (Sequence(7), Sequence(7 + SLOTS as u64));
        receipts.put(1, here, [1; 32]);
        assert_eq!(receipts.get(1, here), Some([1; 32]));
        assert_eq!(receipts.get(2, here), None, "the frame may be another one");
        assert_eq!(receipts.get(1, there), None);
        receipts.put(1, there, [2; 32]);
        assert_eq!(
            (receipts.get(1, here), receipts.get(1, there)),
            (None, Some([2; 32]))
        );
    }
}
