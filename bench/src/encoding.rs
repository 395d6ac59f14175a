//! Frame encoding beside a copy of the same bytes.

use foretell_journal::frame;
use foretell_matching::Exchange;
use foretell_model::Sequence;

use crate::dress::{Dressed, time};
use crate::latency::{Stopwatch, processor_nanos};
use crate::step::Burst;
use crate::totals::Totals;

/// Evidence of every command.
pub(crate) const EVIDENCE_BYTES: usize = 600;
/// Commands between two looks at the clock: their frames and evidence stay in the caches, so the
/// copy's source is as near as the encoder's.
const BURST: usize = 64;
/// A staging buffer, used round and round.
const STAGING_BYTES: usize = 4 << 20;

/// One lap: the core, each frame encoded, and each frame copied.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lap {
    /// Of the core steps.
    pub(crate) apply: u64,
    /// Of encoding.
    pub(crate) encode: u64,
    /// Of copying what was encoded.
    pub(crate) copy: u64,
    pub(crate) frames: u64,
    pub(crate) bytes: u64,
    pub(crate) totals: Totals,
}

/// The buffers of a lap.
struct Desk {
    burst: Burst,
    evidence: Vec<[u8; EVIDENCE_BYTES]>,
    staging: Vec<u8>,
    copied: Vec<u8>,
    /// Next free byte of both.
    used: usize,
    /// Lengths of the burst's frames.
    lengths: Vec<usize>,
    sequence: Sequence,
}

impl Desk {
    fn new() -> Self {
        Self {
            burst: Burst::new(),
            evidence: vec![[0x5A; EVIDENCE_BYTES]; BURST],
            staging: vec![1; STAGING_BYTES + frame::LARGEST],
            copied: vec![1; STAGING_BYTES + frame::LARGEST],
            used: 0,
            lengths: Vec::with_capacity(BURST),
            sequence: Sequence(0),
        }
    }

    /// Encodes the frames of the burst, of which `first` is the first command in the stream.
    /// A refusal leaves no frame.
    fn encode(&mut self, first: usize) {
        let mut begin = 0;
        let mut at = self.used;
        for (index, end) in self.burst.ends.iter().copied().enumerate() {
            let events = &self.burst.events[begin..end];
            begin = end;
            if events.is_empty() {
                continue;
            }
            self.sequence = self.sequence.next();
            let length = frame::encode(
                &mut self.staging[at..],
                self.sequence,
                time(first + index),
                &self.burst.commands[index],
                events,
                &self.evidence[index],
            );
            self.lengths.push(length);
            at += length;
        }
    }

    /// Copies the same frames one by one.
    fn copy(&mut self) {
        let mut at = self.used;
        for length in &self.lengths {
            let frame = at..at + length;
            self.copied[frame.clone()].copy_from_slice(&self.staging[frame]);
            at += length;
        }
    }

    fn turn(&mut self) -> usize {
        let bytes = self.lengths.iter().sum();
        self.used += bytes;
        if self.used >= STAGING_BYTES {
            self.used = 0;
        }
        self.lengths.clear();
        bytes
    }
}

/// Applies, encodes and copies a stream.
pub(crate) fn lap(exchange: &mut Exchange, dressed: &Dressed<'_>) -> Lap {
    let mut lap = Lap {
        apply: 0,
        encode: 0,
        copy: 0,
        frames: 0,
        bytes: 0,
        totals: Totals::default(),
    };
    let (mut desk, mut at) = (Desk::new(), 0);
    while desk.burst.load(dressed, at, BURST) {
        let start = processor_nanos();
        desk.burst.apply(exchange);
        lap.apply += processor_nanos() - start;
        let start = processor_nanos();
        desk.encode(at);
        lap.encode += processor_nanos() - start;
        let start = processor_nanos();
        desk.copy();
        lap.copy += processor_nanos() - start;
        std::hint::black_box(&desk.copied);
        desk.burst.count(&mut lap.totals);
        at += desk.burst.commands.len();
        lap.frames += desk.lengths.len() as u64;
        lap.bytes += desk.turn() as u64;
    }
    lap
}

/// Applies and encodes command by command, each on the clock.
pub(crate) fn timed_lap(exchange: &mut Exchange, dressed: &Dressed<'_>) -> Stopwatch {
    let mut stopwatch = Stopwatch::new();
    let (mut desk, mut at) = (Desk::new(), 0);
    while desk.burst.load(dressed, at, 1) {
        stopwatch.time(|| {
            desk.burst.apply(exchange);
            desk.encode(at);
        });
        at += 1;
        desk.turn();
    }
    stopwatch
}
