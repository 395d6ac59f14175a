//! The rows of a sealed chunk without the bytes that are equal in neighbouring rows.
//!
//! Rows come in blocks of [`BLOCK`]. A block has its first row whole, a mask of the bytes in which any
//! of its rows differs, and these bytes of every further row. So a row is read from its block
//! without any other row. The ends of the blocks come before the blocks, as numbers of 32 bits.

/// Rows of a block.
const BLOCK: usize = 64;
/// Bytes of the end of a block.
const END: usize = 4;

/// The packed form of rows of this size.
pub(crate) fn pack(rows: &[u8], row_size: usize) -> Vec<u8> {
    let blocks = rows.chunks(BLOCK * row_size);
    let mut packed = vec![0; blocks.len() * END];
    for (number, block) in blocks.enumerate() {
        put_block(block, row_size, &mut packed);
        let end = u32::try_from(packed.len()).expect("a chunk has some megabytes");
        packed[number * END..][..END].copy_from_slice(&end.to_le_bytes());
    }
    packed
}

fn put_block(rows: &[u8], row_size: usize, out: &mut Vec<u8>) {
    let (first, others) = rows.split_at(row_size);
    let mut differences = vec![0; row_size];
    for row in others.chunks_exact(row_size) {
        for ((difference, byte), first) in differences.iter_mut().zip(row).zip(first) {
            *difference |= byte ^ first;
        }
    }
    out.extend_from_slice(first);
    out.extend(differences.chunks(8).map(|bytes| {
        let bits = bytes.iter().enumerate();
        bits.fold(0, |mask, (bit, byte)| mask | u8::from(*byte != 0) << bit)
    }));
    let stored: Vec<usize> = (0..row_size).filter(|&at| differences[at] != 0).collect();
    out.reserve(stored.len() * (BLOCK - 1));
    for row in others.chunks_exact(row_size) {
        out.extend(stored.iter().map(|&at| row[at]));
    }
}

/// Whether these bytes end with the last of `rows` packed rows.
pub(crate) fn is_whole(packed: &[u8], rows: usize) -> bool {
    let last = rows.div_ceil(BLOCK).checked_sub(1);
    last.and_then(|last| end_of(packed, last)) == Some(packed.len())
}

/// A row of `rows` packed ones; `None` past the end and for bytes that are no packed rows.
pub(crate) fn unpack(packed: &[u8], rows: usize, row_size: usize, row: usize) -> Option<Vec<u8>> {
    let (number, row) = (row / BLOCK, row % BLOCK);
    let ends = rows.div_ceil(BLOCK) * END;
    let start = match number.checked_sub(1) {
        None => ends,
        Some(before) => end_of(packed, before)?,
    };
    let block = packed.get(start..end_of(packed, number)?)?;
    let (first, rest) = block.split_at_checked(row_size)?;
    let (mask, rest) = rest.split_at_checked(row_size.div_ceil(8))?;
    let mut unpacked = first.to_vec();
    if let Some(before) = row.checked_sub(1) {
        let width: u32 = mask.iter().map(|bits| bits.count_ones()).sum();
        let width = width as usize;
        let mut stored = rest.get(before * width..)?.get(..width)?.iter();
        for (at, byte) in unpacked.iter_mut().enumerate() {
            if mask[at / 8] >> (at % 8) & 1 == 1 {
                *byte = *stored.next()?;
            }
        }
    }
    Some(unpacked)
}

/// The end of a block.
fn end_of(packed: &[u8], block: usize) -> Option<usize> {
    let end = packed.get(block * END..)?.first_chunk()?;
    usize::try_from(u32::from_le_bytes(*end)).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SIZE: usize = 29;

    /// Rows whose bytes are all equal, differ in a few columns, or are random.
    fn rows() -> impl Strategy<Value = Vec<[u8; SIZE]>> {
        let column = prop_oneof![
            4 => any::<u8>().prop_map(|byte| (byte, 0)),
            1 => Just((0, u8::MAX)),
            1 => (any::<u8>(), any::<u8>()),
        ];
        let columns = prop::collection::vec(column, SIZE);
        let random = prop::collection::vec(any::<[u8; SIZE]>(), 1..300);
        (columns, random).prop_map(|(columns, mut rows)| {
            for row in &mut rows {
                for (byte, (base, mask)) in row.iter_mut().zip(&columns) {
                    *byte = base ^ (*byte & mask);
                }
            }
            rows
        })
    }

    proptest! {
        #[test]
        fn every_row_is_read_from_its_block(rows in rows()) {
            let packed = pack(rows.as_flattened(), SIZE);
            prop_assert!(is_whole(&packed, rows.len()));
            prop_assert!(!is_whole(&packed[1..], rows.len()));
            let read = |row| unpack(&packed, rows.len(), SIZE, row);
            for (number, row) in rows.iter().enumerate() {
                prop_assert_eq!(read(number), Some(row.to_vec()));
            }
            prop_assert_eq!(read(rows.len().next_multiple_of(BLOCK)), None);
        }

        #[test]
        fn other_bytes_are_rows_or_none(
            packed in prop::collection::vec(prop_oneof![Just(0), 0..80_u8, any::<u8>()], 0..400),
            row in 0..200_usize,
        ) {
            let read = unpack(&packed, 200, SIZE, row);
            prop_assert!(read.is_none_or(|row| row.len() == SIZE));
        }
    }

    #[test]
    fn equal_bytes_are_stored_once_a_block() {
        let mut rows = vec![[7; SIZE]; 3 * BLOCK];
        let head = END + SIZE + SIZE.div_ceil(8);
        assert_eq!(pack(rows.as_flattened(), SIZE).len(), 3 * head);
        rows[BLOCK + 5][9] = 8;
        let packed = pack(rows.as_flattened(), SIZE);
        assert_eq!(packed.len(), 3 * head + BLOCK - 1);
        // The end of the block, the first row, the mask, the second byte of the second row.
        assert_eq!(pack(&[7, 7, 7, 8], 2), [8, 0, 0, 0, 7, 7, 0b10, 8]);
    }
}
