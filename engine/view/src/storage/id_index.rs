//! The index of a sealed chunk by the ids of its rows.
//!
//! It stands after the rows: one entry per row, sorted, made of the first 8 bytes of its id and its
//! row number. Before the entries stands a partition table: the range of ids is split into as many
//! equal parts as there are rows, and the table has the end of each part's entries.

/// Bytes of an id in an index entry.
pub(crate) const PREFIX: usize = 8;
/// Bytes of an index entry: the prefix and the row number, both big-endian, so that byte order is
/// index order.
const ENTRY: usize = PREFIX + 4;
/// Bytes of a partition-table entry, little-endian.
const END: usize = 4;
/// Bytes of a chunk's index per row.
pub(crate) const INDEX_SIZE: usize = END + ENTRY;

/// The rows of a chunk whose ids begin with `prefix`, newest first.
pub(crate) fn rows_of(
    index: &[u8],
    rows: usize,
    prefix: &[u8; PREFIX],
) -> impl Iterator<Item = u32> {
    let entries = part_of(index, rows, prefix).unwrap_or_default();
    let end = entries.partition_point(|entry| entry[..PREFIX] <= prefix[..]);
    let alike = entries[..end].iter().rev();
    let alike = alike.take_while(move |entry| entry.starts_with(prefix));
    alike.filter_map(|entry| Some(u32::from_be_bytes(*entry.last_chunk()?)))
}

/// The index entries of the part that contains `prefix`.
fn part_of<'a>(index: &'a [u8], rows: usize, prefix: &[u8; PREFIX]) -> Option<&'a [[u8; ENTRY]]> {
    let (ends, entries) = index.split_at_checked(rows * END)?;
    let (ends, _) = ends.as_chunks::<END>();
    let (entries, _) = entries.as_chunks::<ENTRY>();
    let end = |part: usize| usize::try_from(u32::from_le_bytes(*ends.get(part)?)).ok();
    let part = part(u64::from_be_bytes(*prefix), rows);
    let from = part.checked_sub(1).map_or(Some(0), end)?;
    entries.get(from..end(part)?)
}

/// The part, of `parts` equal ones, that contains an id with these first bytes.
fn part(prefix: u64, parts: usize) -> usize {
    let part = (u128::from(prefix) * parts as u128) >> u64::BITS;
    usize::try_from(part).expect("it is below the number of parts")
}

/// The index of the rows of a chunk.
pub(crate) fn index_of(rows: &[u8], row_size: usize) -> Vec<u8> {
    let mut entries: Vec<(u64, u32)> = (0..)
        .zip(rows.chunks_exact(row_size))
        .map(|(row, bytes)| {
            let prefix = bytes.first_chunk().copied().unwrap_or_default();
            (u64::from_be_bytes(prefix), row)
        })
        .collect();
    entries.sort_unstable();
    let mut index = Vec::with_capacity(entries.len() * INDEX_SIZE);
    let mut end = 0_u32;
    let mut left = entries.iter().peekable();
    for at in 0..entries.len() {
        while left
            .next_if(|entry| part(entry.0, entries.len()) == at)
            .is_some()
        {
            end += 1;
        }
        index.extend_from_slice(&end.to_le_bytes());
    }
    for (prefix, row) in entries {
        index.extend_from_slice(&prefix.to_be_bytes());
        index.extend_from_slice(&row.to_be_bytes());
    }
    index
}
