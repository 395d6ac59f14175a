//! Journals written by hand: arbitrary frames in batches and segments with valid checksums and a
//! valid chain, as an exchange or a forger would write them.

use std::fs;
use std::path::Path;

use foretell_journal::PAGE;
use foretell_journal::batch::{BatchHeader, HEADER_BYTES};
use foretell_journal::chain::chain_start;
use foretell_journal::frame::{self, Frame, Scratch};
use foretell_journal::segment::{self, FIRST_BATCH, SegmentHeader};
use foretell_model::{Command, CommandStamp, Event, Sequence};

/// Genesis of the tests' journals.
pub(crate) const GENESIS: [u8; 32] = [0x5A; 32];
const FRAMES_OF_A_BATCH: usize = 5;
const BATCHES_OF_A_SEGMENT: usize = 40;

/// A decoded frame.
#[derive(Clone, Debug)]
pub(crate) struct Loose {
    pub(crate) sequence: u64,
    pub(crate) stamp: CommandStamp,
    pub(crate) command: Command,
    pub(crate) events: Vec<Event>,
    pub(crate) evidence: Vec<u8>,
}

impl Loose {
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut out = vec![0; frame::length(self.events.len(), self.evidence.len())];
        let sequence = Sequence(self.sequence);
        let (command, events) = (&self.command, &self.events);
        frame::encode(
            &mut out,
            sequence,
            self.stamp,
            command,
            events,
            &self.evidence,
        );
        out
    }
}

/// Decodes every frame of a journal.
pub(crate) fn unseal(directory: &Path) -> Vec<Loose> {
    let (mut frames, mut scratch) = (Vec::new(), Scratch::default());
    foretell_journal::scan(directory, Sequence(0), &mut |frame: &Frame<'_>| {
        let frame = frame
            .decode(&mut scratch)
            .map_err(|error| error.to_string())?;
        frames.push(Loose {
            sequence: frame.sequence.0,
            stamp: frame.stamp(),
            command: *frame.command,
            events: frame.events.to_vec(),
            evidence: frame.evidence.to_vec(),
        });
        Ok(())
    })
    .expect("a sound journal");
    frames
}

/// Writes frames as a journal into an empty directory.
pub(crate) fn seal(directory: &Path, frames: &[Loose]) {
    let frames: Vec<_> = frames
        .iter()
        .map(|frame| (frame.sequence, frame.bytes()))
        .collect();
    seal_bytes(directory, &frames);
}

/// The same for encoded frames, each with its sequence.
pub(crate) fn seal_bytes(directory: &Path, frames: &[(u64, Vec<u8>)]) {
    fs::create_dir_all(directory).expect("a directory");
    let mut previous_hash = chain_start(&GENESIS);
    let mut previous_end = 0;
    let parts = frames.chunks(FRAMES_OF_A_BATCH * BATCHES_OF_A_SEGMENT);
    for (number, part) in (1..).zip(parts) {
        let mut batches = Vec::new();
        let first = Sequence(part[0].0);
        let before = previous_hash;
        for frames in part.chunks(FRAMES_OF_A_BATCH) {
            let offset = FIRST_BATCH + u32::try_from(batches.len()).expect("a small segment");
            let (header, bytes) = batch(frames, (number, offset), &previous_hash);
            previous_hash = header.hash;
            batches.extend(bytes);
        }
        let end = FIRST_BATCH + u32::try_from(batches.len()).expect("a small segment");
        let header = SegmentHeader {
            number,
            epoch: 1,
            first,
            bytes: end,
            previous_end,
            previous_hash: before,
            genesis: GENESIS,
        };
        previous_end = end;
        let file = [header.page().as_slice(), &batches].concat();
        fs::write(segment::path(directory, number), file).expect("a segment");
    }
}

/// A batch of whole pages.
fn batch(
    frames: &[(u64, Vec<u8>)],
    (segment, offset): (u32, u32),
    previous_hash: &[u8; 32],
) -> (BatchHeader, Vec<u8>) {
    let mut bytes = vec![0; HEADER_BYTES];
    for (_, frame) in frames {
        bytes.extend(frame);
    }
    let first = Sequence(frames[0].0);
    let header = BatchHeader {
        frames: u32::try_from(frames.len()).expect("a few frames"),
        payload: 0,
        segment,
        offset,
        epoch: 1,
        first,
        last: Sequence(frames[frames.len() - 1].0),
        proven: Sequence(first.0 - 1),
        payload_crc: 0,
        hash: [0; 32],
    };
    let header = BatchHeader::close(header, previous_hash, &mut bytes);
    bytes.resize(bytes.len().next_multiple_of(PAGE), 0);
    (header, bytes)
}
