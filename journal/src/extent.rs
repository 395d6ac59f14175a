//! What a journal holds at one moment, segment by segment: for copies of it.

use std::path::PathBuf;

use foretell_model::Sequence;

use crate::control::JournalPosition;
use crate::directory;
use crate::error::JournalError;
use crate::scan::{Scan, read_only_scan};
use crate::segment::{FIRST_BATCH, SegmentHeader};
use crate::segments::Segments;

/// The frames of a journal at one moment. Later frames change none of these bytes.
#[derive(Clone, Debug)]
pub struct Extent {
    segments: Segments,
    /// The random bytes that name the journal.
    pub genesis: [u8; 32],
    /// Whether it is a copy of a replicated log.
    pub is_replica: bool,
    /// Ascending and without gaps; at least one. The first is above 1 when earlier ones are
    /// archived. Each but the last has a successor, so it never changes again.
    pub pieces: Vec<Piece>,
}

/// The journal's bytes in one segment.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Piece {
    /// Number of the segment.
    pub number: u32,
    /// Its file.
    pub path: PathBuf,
    /// Bytes from the start of the file that belong to the journal.
    pub bytes: u32,
    /// Sequence of its first frame, written or not yet.
    pub first: Sequence,
    /// The last frame up to its end, in it or before it.
    pub last: Sequence,
    /// Chain hash at its end.
    pub chain: [u8; 32],
    pub(crate) header: SegmentHeader,
}

impl Piece {
    /// Chain hash before its first batch.
    #[must_use]
    pub const fn chain_before(&self) -> [u8; 32] {
        self.header.previous_hash
    }
}

impl Extent {
    /// Reads the headers of all segments, and of the last one the batches. With a running engine it
    /// ends at the durable position, without one after the last valid batch. A copy of a replicated
    /// log without an engine ends where disk and log agree.
    ///
    /// # Errors
    /// Damage of what is read, a missing or foreign segment, a newer format, or an I/O error.
    pub fn of(segments: &Segments) -> Result<Self, JournalError> {
        let is_replica = directory::is_replica(segments.directory());
        let scan = read_only_scan(segments.clone(), Sequence(0))?;
        let headers = scan.headers_from(1)?;
        let found = scan.end_of(&headers)?;
        let end = match is_replica {
            true => found.proven,
            false => found.end,
        };
        let piece = |(index, header): (usize, &SegmentHeader)| {
            let (bytes, last, chain) = match headers.get(index + 1) {
                Some(next) => (
                    next.previous_end,
                    Sequence(next.first.0 - 1),
                    next.previous_hash,
                ),
                None => (end.offset, end.last, end.hash),
            };
            Piece {
                number: header.number,
                path: segments.path(header.number),
                bytes,
                first: header.first,
                last,
                chain,
                header: *header,
            }
        };
        Ok(Self {
            segments: segments.clone(),
            genesis: found.header.genesis,
            is_replica,
            pieces: headers.iter().enumerate().map(piece).collect(),
        })
    }

    /// The segment that still grows.
    ///
    /// # Panics
    /// Never: an extent has a segment.
    #[must_use]
    pub fn end(&self) -> &Piece {
        self.pieces.last().expect("a journal has a segment")
    }

    /// The segments that never change again.
    #[must_use]
    pub fn sealed(&self) -> &[Piece] {
        &self.pieces[..self.pieces.len() - 1]
    }

    /// Verifies every batch of a segment, and that they end where its successor begins.
    ///
    /// # Errors
    /// Damage, or an I/O error.
    pub fn verify(&self, piece: &Piece) -> Result<(), JournalError> {
        let scan = Scan {
            segments: self.segments.clone(),
            after: Sequence(0),
            mark: None,
            past_cache: false,
            limit: Some(JournalPosition {
                segment: piece.number,
                offset: piece.bytes,
            }),
            may_change: false,
        };
        let end = scan.end_of(&[piece.header])?.end;
        if (end.offset, end.last, end.hash) == (piece.bytes, piece.last, piece.chain) {
            return Ok(());
        }
        Err(JournalError::Damaged {
            segment: piece.number,
            from: FIRST_BATCH,
            to: piece.bytes,
            first: piece.first,
            last: piece.last,
            why: "its batches do not end where the next segment begins (hash chain)".to_owned(),
        })
    }
}
