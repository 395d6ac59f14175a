//! The width of slots: the index of a row in its log, or of a node of lists.
//!
//! In memory a slot has 64 bits. Stored it has 48, because each trade has six links to earlier ones
//! and each span three slots. Chunk numbers have 32 bits. So a log holds at least 2^46 rows, which are
//! petabytes.

use foretell_model::codec::{CodecError, Fixed, Stored};

/// Storable slots are below this.
pub(crate) const END: u64 = 1 << 48;

/// A slot in its stored form.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Packed([u8; 6]);

impl Packed {
    /// A slot below [`END`], as those of all logs are ([`crate::storage::chunk::Chunks::push`]).
    pub(crate) fn of(slot: u64) -> Self {
        debug_assert!(slot < END, "a log takes no more rows");
        let [a, b, c, d, e, f, ..] = slot.to_le_bytes();
        Self([a, b, c, d, e, f])
    }

    pub(crate) fn slot(self) -> u64 {
        let [a, b, c, d, e, f] = self.0;
        u64::from_le_bytes([a, b, c, d, e, f, 0, 0])
    }
}

impl Stored for Packed {
    fn put(&self, out: &mut Vec<u8>) {
        self.0.put(out);
    }

    fn take(from: &mut &[u8]) -> Result<Self, CodecError> {
        Stored::take(from).map(Self)
    }
}

impl Fixed for Packed {
    const SIZE: usize = 6;
}

/// Converts a number of rows to a size in memory.
pub(crate) fn count(rows: u64) -> usize {
    usize::try_from(rows).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slot_beyond_32_bits_is_stored_and_read() {
        for slot in [0, 1, u64::from(u32::MAX), 1 << 32, (1 << 47) + 5, END - 1] {
            let mut bytes = Vec::new();
            Packed::of(slot).put(&mut bytes);
            assert_eq!(bytes.len(), Packed::SIZE);
            let read = Packed::take(&mut &bytes[..]).unwrap();
            assert_eq!(read.slot(), slot);
        }
    }
}
