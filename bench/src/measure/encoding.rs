//! Frame encoding compared with a copy of the same bytes.

use foretell_journal::frame;
use foretell_matching::Exchange;
use foretell_model::Sequence;

use super::lap::Burst;
use crate::error::MeasureError;
use crate::harness::latency::{Stopwatch, processor_nanos};
use crate::workloads::stream::Totals;
use crate::workloads::workload::{Workload, time};

/// Evidence bytes per command.
pub(super) const EVIDENCE_BYTES: usize = 600;
/// Commands between two clock readings: few enough that frames and evidence stay in the caches, so
/// encoder and copy read from the same cache level.
const BURST: usize = 64;
/// Size of a staging buffer, used as a ring.
const STAGING_BYTES: usize = 4 << 20;

/// One lap: apply each command, encode each frame, copy each frame.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lap {
    /// Nanoseconds of the core.
    pub(super) apply: u64,
    /// Nanoseconds of encoding.
    pub(super) encode: u64,
    /// Nanoseconds of copying the encoded frames.
    pub(super) copy: u64,
    pub(super) frames: u64,
    pub(super) bytes: u64,
    pub(super) totals: Totals,
}

struct EncodeBuffers {
    burst: Burst,
    evidence: Vec<[u8; EVIDENCE_BYTES]>,
    staging: Vec<u8>,
    copied: Vec<u8>,
    /// Next free byte in both buffers.
    used: usize,
    /// Lengths of the burst's frames.
    lengths: Vec<usize>,
    sequence: Sequence,
}

impl EncodeBuffers {
    fn new() -> Self {
        Self {
            burst: Burst::new(),
            evidence: vec![[0x5A; EVIDENCE_BYTES]; BURST],
            staging: vec![1; STAGING_BYTES + frame::MAX_BYTES],
            copied: vec![1; STAGING_BYTES + frame::MAX_BYTES],
            used: 0,
            lengths: Vec::with_capacity(BURST),
            sequence: Sequence(0),
        }
    }

    /// Encodes the frames of the burst; `first` is the stream index of its first command. A
    /// rejected command has no frame.
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
pub(super) fn lap(exchange: &mut Exchange, workload: &Workload<'_>) -> Result<Lap, MeasureError> {
    let mut lap = Lap {
        apply: 0,
        encode: 0,
        copy: 0,
        frames: 0,
        bytes: 0,
        totals: Totals::default(),
    };
    let (mut buffers, mut at) = (EncodeBuffers::new(), 0);
    while buffers.burst.load(workload, at, BURST) {
        let start = processor_nanos();
        buffers.burst.apply(exchange);
        lap.apply += processor_nanos() - start;
        let start = processor_nanos();
        buffers.encode(at);
        lap.encode += processor_nanos() - start;
        let start = processor_nanos();
        buffers.copy();
        lap.copy += processor_nanos() - start;
        std::hint::black_box(&buffers.copied);
        buffers.burst.count(&mut lap.totals)?;
        at += buffers.burst.commands.len();
        lap.frames += buffers.lengths.len() as u64;
        lap.bytes += buffers.turn() as u64;
    }
    Ok(lap)
}

/// Applies and encodes command by command, timing each.
pub(super) fn timed_lap(exchange: &mut Exchange, workload: &Workload<'_>) -> Stopwatch {
    let mut stopwatch = Stopwatch::new();
    let (mut buffers, mut at) = (EncodeBuffers::new(), 0);
    while buffers.burst.load(workload, at, 1) {
        stopwatch.time(|| {
            buffers.burst.apply(exchange);
            buffers.encode(at);
        });
        at += 1;
        buffers.turn();
    }
    stopwatch
}
