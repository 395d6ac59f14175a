//! The first 128 bytes of a snapshot, and its table of sections.

use foretell_model::Sequence;

use super::error::SnapshotError;
use crate::bytes::{
    all_zero, hash_at, put_u16, put_u32, put_u64, to_usize, u16_at, u32_at, u64_at,
};

/// First bytes of every snapshot.
pub const MAGIC: [u8; 8] = *b"FRTLSNAP";
/// The newest snapshot version this build reads.
pub const VERSION: u16 = 1;
/// Bytes of a snapshot's header.
pub const HEADER_BYTES: usize = 128;
/// Alignment of the sections and their table.
pub(super) const ALIGN: u64 = 64;
/// Bytes of a row of the table.
pub(super) const ENTRY_BYTES: usize = 64;
/// Maximum number of sections of a file.
pub(super) const MAX_SECTIONS: u32 = 4_096;
/// Maximum size of a section's name.
pub(super) const MAX_NAME: usize = 40;

const HEADER_CRC_AT: usize = 92;
const HASH_AT: usize = 96;

/// The kind of a snapshot.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SnapshotKind {
    /// The state right after one frame.
    Image,
    /// Rows of a log that never change again.
    Chunk,
}

impl SnapshotKind {
    const fn code(self) -> u16 {
        match self {
            Self::Image => 1,
            Self::Chunk => 2,
        }
    }

    const fn from_code(code: u16) -> Option<Self> {
        match code {
            1 => Some(Self::Image),
            2 => Some(Self::Chunk),
            _ => None,
        }
    }
}

/// The descriptive fields of a snapshot's header.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SnapshotLabel {
    /// Image or chunk.
    pub kind: SnapshotKind,
    /// For an image: the frame whose state it is. For a chunk 0.
    pub sequence: Sequence,
    /// The random bytes that name the journal.
    pub genesis: [u8; 32],
    /// The version of the sections' content, assigned by the writer.
    pub layout: u32,
    /// For a chunk: its index in its log, from 0. For an image 0.
    pub number: u32,
    /// For a chunk: number of its rows. For an image 0.
    pub rows: u32,
}

/// The header: label, sizes, offsets, hash.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct SnapshotHeader {
    pub(super) label: SnapshotLabel,
    /// Size of the file.
    pub(super) bytes: u64,
    /// Offset of the table.
    pub(super) table: u64,
    pub(super) sections: u32,
    pub(super) table_crc: u32,
    pub(super) hash: [u8; 32],
}

impl SnapshotHeader {
    /// The header with hash and checksum zero, as hashed after all other bytes.
    pub(super) fn blank(&self) -> [u8; HEADER_BYTES] {
        let mut out = [0; HEADER_BYTES];
        let label = &self.label;
        out[..8].copy_from_slice(&MAGIC);
        put_u16(&mut out, 8, VERSION);
        put_u16(&mut out, 10, label.kind.code());
        put_u32(&mut out, 12, label.number);
        put_u64(&mut out, 16, label.sequence.0);
        put_u64(&mut out, 24, self.bytes);
        out[32..64].copy_from_slice(&label.genesis);
        put_u64(&mut out, 64, self.table);
        put_u32(&mut out, 72, self.sections);
        put_u32(&mut out, 76, self.table_crc);
        put_u32(&mut out, 80, label.rows);
        put_u32(&mut out, 84, label.layout);
        out
    }

    /// The header's bytes.
    pub(super) fn close(&self) -> [u8; HEADER_BYTES] {
        let mut out = self.blank();
        out[HASH_AT..].copy_from_slice(&self.hash);
        let crc = crc32c::crc32c(&out);
        put_u32(&mut out, HEADER_CRC_AT, crc);
        out
    }

    /// Reads a header; checks checksum and version.
    pub(super) fn read(bytes: &[u8]) -> Result<Self, SnapshotError> {
        let (head, _) = bytes
            .split_first_chunk::<HEADER_BYTES>()
            .ok_or(SnapshotError::Damaged("it is shorter than a header"))?;
        let mut unsigned = *head;
        put_u32(&mut unsigned, HEADER_CRC_AT, 0);
        if head[..8] != MAGIC || crc32c::crc32c(&unsigned) != u32_at(head, HEADER_CRC_AT) {
            return Err(SnapshotError::Damaged(
                "no snapshot header with a valid checksum",
            ));
        }
        let version = u16_at(head, 8);
        if version != VERSION {
            return Err(SnapshotError::Newer(version));
        }
        let kind =
            SnapshotKind::from_code(u16_at(head, 10)).ok_or(SnapshotError::Newer(version))?;
        Ok(Self {
            label: SnapshotLabel {
                kind,
                sequence: Sequence(u64_at(head, 16)),
                genesis: hash_at(head, 32),
                layout: u32_at(head, 84),
                number: u32_at(head, 12),
                rows: u32_at(head, 80),
            },
            bytes: u64_at(head, 24),
            table: u64_at(head, 64),
            sections: u32_at(head, 72),
            table_crc: u32_at(head, 76),
            hash: hash_at(head, HASH_AT),
        })
    }
}

/// A row of the table: position of a section.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct SectionEntry {
    pub(super) name: String,
    pub(super) offset: u64,
    pub(super) length: u64,
}

impl SectionEntry {
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        let mut row = [0; ENTRY_BYTES];
        row[..self.name.len()].copy_from_slice(self.name.as_bytes());
        put_u64(&mut row, MAX_NAME, self.offset);
        put_u64(&mut row, MAX_NAME + 8, self.length);
        out.extend_from_slice(&row);
    }

    /// Reads a row; the section must lie between header and table.
    fn read(row: &[u8; ENTRY_BYTES], table: u64) -> Option<Self> {
        let (name, rest) = row.split_at(MAX_NAME);
        let length = name.iter().position(|byte| *byte == 0).unwrap_or(MAX_NAME);
        let name = str::from_utf8(&name[..length]).ok()?;
        let entry = Self {
            name: name.to_owned(),
            offset: u64_at(rest, 0),
            length: u64_at(rest, 8),
        };
        let fits = entry.offset >= HEADER_BYTES as u64
            && (entry.offset.checked_add(entry.length)).is_some_and(|end| end <= table)
            && is_name(name)
            && all_zero(&row[length..MAX_NAME])
            && all_zero(&rest[16..]);
        fits.then_some(entry)
    }
}

/// A name of a section or a log: lower-case letters, digits, hyphens, dots.
pub(super) fn is_name(name: &str) -> bool {
    let allowed = |byte: u8| {
        byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'.')
    };
    (1..=MAX_NAME).contains(&name.len()) && name.bytes().all(allowed)
}

/// Reads the table of a file with a valid header and the length that the header names.
pub(super) fn read_table(
    header: &SnapshotHeader,
    file: &[u8],
) -> Result<Vec<SectionEntry>, SnapshotError> {
    const WRONG: SnapshotError =
        SnapshotError::Damaged("the table of sections does not match its checksum or bounds");
    let length = to_usize(header.sections)
        .checked_mul(ENTRY_BYTES)
        .filter(|_| header.sections <= MAX_SECTIONS)
        .ok_or(WRONG)?;
    let at = usize::try_from(header.table).map_err(|_| WRONG)?;
    let table = file
        .get(at..)
        .filter(|table| table.len() == length && crc32c::crc32c(table) == header.table_crc)
        .ok_or(WRONG)?;
    let (rows, _) = table.as_chunks::<ENTRY_BYTES>();
    rows.iter()
        .map(|row| SectionEntry::read(row, header.table).ok_or(WRONG))
        .collect()
}
