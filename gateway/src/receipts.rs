//! Receipts of frames as they were computed: each takes reading a file and hashing, and lists of
//! trades show the same ones again and again. The memory never grows.

use foretell_model::Sequence;
use parking_lot::Mutex;

/// Receipts kept, in 7 MB; those whose sequences differ by a multiple of this push each other out. The
/// ten thousand newest fills of whoever takes part in every fifth are no further apart.
const PLACES: usize = 1 << 17;

/// The receipts of the process.
pub(crate) struct Receipts(Box<[Mutex<Known>]>);

/// That of sequence 0, which no frame has, is none.
#[derive(Clone, Copy, Default)]
struct Known {
    /// Which history of the journal it belongs to: a recovery may drop frames, and then others get
    /// their sequences.
    history: u64,
    sequence: Sequence,
    receipt: [u8; 32],
}

impl Default for Receipts {
    fn default() -> Self {
        Self((0..PLACES).map(|_| Mutex::default()).collect())
    }
}

impl Receipts {
    /// The receipt of a frame of a history, if it is known.
    pub(crate) fn get(&self, history: u64, sequence: Sequence) -> Option<[u8; 32]> {
        let known = *self.place(sequence).lock();
        let is_it = (known.history, known.sequence) == (history, sequence);
        is_it.then_some(known.receipt)
    }

    /// Keeps one.
    pub(crate) fn put(&self, history: u64, sequence: Sequence, receipt: [u8; 32]) {
        *self.place(sequence).lock() = Known {
            history,
            sequence,
            receipt,
        };
    }

    fn place(&self, sequence: Sequence) -> &Mutex<Known> {
        let place = sequence.0 % PLACES as u64;
        &self.0[usize::try_from(place).expect("below the number of places")]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_receipt_is_that_of_its_frame_and_history() {
        let receipts = Receipts::default();
        let (here, there) = (Sequence(7), Sequence(7 + PLACES as u64));
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
