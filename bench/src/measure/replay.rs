//! Speed of re-executing a journal on one core, and the time of each part: checksums, records,
//! commands, chain, receipts, signatures.
//!
//! All times are CPU times of one thread with the files in the page cache.

use std::hint::black_box;
use std::path::Path;

use clap::Args;
use foretell_auth::{Domains, OwnerWallets, verify_order};
use foretell_engine::JOURNAL_DIRECTORY;
use foretell_journal::batch::{BatchFrames, BatchHeader, HEADER_BYTES};
use foretell_journal::frame::Frame;
use foretell_journal::segment::FIRST_BATCH;
use foretell_journal::{Scratch, receipt, scan, segment};
use foretell_matching::{Capacity, Divergence, Exchange, Replay};
use foretell_model::{FrameRef, Sequence};

use super::ScratchDir;
use crate::error::MeasureError;
use crate::harness::latency::{processor_nanos, ratio};
use crate::report::{Goal, Measure, Report};
use crate::workloads::generate::MOST_COMMANDS;
use crate::workloads::journal_writer::Written;
use crate::workloads::journals::{TRAFFIC_MARKETS, write_traffic};
use crate::workloads::signed_orders::{self, SignedOrder, Terms};

/// Minimum commands per second on one core: checksums and re-execution.
const GOAL: f64 = 2e6;
const NANOS_PER_SECOND: f64 = 1e9;
/// Signatures checked per round: each takes as long as a hundred commands.
const SIGNATURES: u32 = 1_000;

/// Arguments of `foretell-bench replay`.
#[derive(Debug, Args)]
pub struct ReplayScope {
    /// Commands in the journal
    #[arg(long, default_value_t = 1_000_000, value_parser = clap::value_parser!(u32).range(1..=MOST_COMMANDS))]
    commands: u32,
    /// Runs; medians are reported
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    #[command(flatten)]
    scratch: ScratchDir,
}

/// Makes a journal of mixed traffic, and reads it in rounds.
pub(super) fn measure(scope: &ReplayScope) -> Result<Report, MeasureError> {
    let mut report = Report::begin("replay", "none");
    let scratch = scope.scratch.directory("replay")?;
    let journal = scratch.path().join(JOURNAL_DIRECTORY);
    let written = write_traffic(&journal, scope.commands)?;
    let segments = Segments::read(&journal, &written)?;
    let orders = Orders::sign()?;
    let mut lanes = LANES.map(|_| Vec::new());
    for _ in 0..scope.rounds.max(1) {
        let round = segments.round(&journal, &orders, written.last)?;
        for (lane, nanos) in lanes.iter_mut().zip(round) {
            lane.push(nanos);
        }
    }
    report.rounds = scope.rounds.max(1);
    report.scope = format!(
        "{} commands in {} markets, {} bytes of journal in {} batches",
        written.last, TRAFFIC_MARKETS, segments.bytes, segments.batches
    );
    let measures = LANES.iter().zip(lanes);
    report.measures = measures
        .map(|((name, unit), nanos)| Measure::of(*name, unit, nanos))
        .collect();
    let replay = report.measure(REPLAY).map(|it| NANOS_PER_SECOND / it.value);
    report
        .measures
        .extend(replay.map(|rate| Measure::single("commands a second", "1/s", rate).higher()));
    report.goals.push(Goal::at_least(
        "commands a second, CRC and re-execution",
        GOAL,
        replay,
    ));
    Ok(report.end())
}

const REPLAY: &str = "CRC32C and re-execution";
const ALONE: &str = "the same, without looking ahead";
const EACH: &str = "ns a command";
/// Timed lanes, in the order of a round.
const LANES: [(&str, &str); 8] = [
    ("CRC32C", EACH),
    ("decoding", EACH),
    (REPLAY, EACH),
    (ALONE, EACH),
    ("chain", EACH),
    ("receipts", EACH),
    ("the whole journal", EACH),
    ("a signature", "ns"),
];

/// Callback for every batch and its payload.
type VisitBatch<'v> = dyn FnMut(&BatchHeader, &[u8]) -> Result<(), MeasureError> + 'v;

/// The batches of a segment's bytes, each with its payload.
pub(super) fn batches(segment: &[u8]) -> impl Iterator<Item = (BatchHeader, &[u8])> {
    let mut at = FIRST_BATCH as usize;
    std::iter::from_fn(move || {
        let header = BatchHeader::read(segment.get(at..)?).ok()?;
        let payload = at + HEADER_BYTES;
        at += header.total();
        Some((header, &segment[payload..payload + header.payload as usize]))
    })
}

/// The bytes of a journal, by batch.
struct Segments {
    files: Vec<Vec<u8>>,
    batches: usize,
    bytes: usize,
    commands: u64,
}

impl Segments {
    fn read(journal: &Path, written: &Written) -> Result<Self, MeasureError> {
        let read = |number| std::fs::read(segment::path(journal, number));
        let files: Vec<_> = (1..=written.end.segment)
            .map(read)
            .collect::<Result<_, _>>()
            .map_err(MeasureError::io("reading the journal"))?;
        let mut segments = Self {
            files,
            batches: 0,
            bytes: 0,
            commands: written.last.0,
        };
        let (mut batches, mut bytes) = (0, 0);
        segments.each(&mut |header, _| {
            batches += 1;
            bytes += header.total();
            Ok(())
        })?;
        (segments.batches, segments.bytes) = (batches, bytes);
        Ok(segments)
    }

    /// Passes every batch with its payload to `visit`, in order.
    fn each(&self, visit: &mut VisitBatch<'_>) -> Result<(), MeasureError> {
        let mut batches = self.files.iter().flat_map(|file| batches(file));
        batches.try_for_each(|(header, payload)| visit(&header, payload))
    }

    /// All lanes once, in nanoseconds per command or signature.
    fn round(
        &self,
        journal: &Path,
        orders: &Orders,
        last: Sequence,
    ) -> Result<[f64; LANES.len()], MeasureError> {
        let each = |nanos| ratio(nanos, self.commands);
        Ok([
            each(timed(|| self.check())?),
            each(timed(|| self.decode())?),
            each(timed(|| self.execute(last, Replay::enqueue))?),
            each(timed(|| self.execute(last, at_once))?),
            each(timed(|| self.chain())?),
            each(timed(|| self.receipts())?),
            each(read_once(journal, last)?),
            ratio(timed(|| orders.verify())?, SIGNATURES.into()),
        ])
    }

    fn check(&self) -> Result<(), MeasureError> {
        self.each(&mut check)
    }

    fn decode(&self) -> Result<(), MeasureError> {
        let mut scratch = Scratch::default();
        self.frames(&mut |frame| {
            black_box(frame.decode(&mut scratch).map_err(MeasureError::wrong)?);
            Ok(())
        })
    }

    fn execute(
        &self,
        last: Sequence,
        next: fn(&mut Replay, &FrameRef<'_>) -> Result<(), Divergence>,
    ) -> Result<(), MeasureError> {
        let mut scratch = Scratch::default();
        let mut replay = Replay::new(Exchange::new(Capacity::default(), 0));
        self.each(&mut |header, payload| {
            check(header, payload)?;
            for frame in BatchFrames::new(header, payload) {
                let frame = frame.map_err(MeasureError::wrong)?;
                let frame = frame.decode(&mut scratch).map_err(MeasureError::wrong)?;
                next(&mut replay, &frame).map_err(differs)?;
            }
            Ok(())
        })?;
        finish(replay, last)
    }

    fn chain(&self) -> Result<(), MeasureError> {
        let mut previous = None;
        self.each(&mut |header, payload| {
            let hash = previous.replace(header.hash);
            let follows =
                hash.is_none_or(|hash| header.expected_hash(&hash, payload) == header.hash);
            follows
                .then_some(())
                .ok_or_else(|| MeasureError::wrong("the chain is broken"))
        })
    }

    fn receipts(&self) -> Result<(), MeasureError> {
        self.frames(&mut |frame| {
            black_box(receipt(frame.bytes()));
            Ok(())
        })
    }

    fn frames(
        &self,
        visit: &mut dyn FnMut(&Frame<'_>) -> Result<(), MeasureError>,
    ) -> Result<(), MeasureError> {
        self.each(&mut |header, payload| {
            BatchFrames::new(header, payload)
                .try_for_each(|frame| visit(&frame.map_err(MeasureError::wrong)?))
        })
    }
}

/// CPU time in nanoseconds to read a journal once on one thread, as recovery does: checksums,
/// chain, all byte checks, and every command up to `last`.
///
/// # Errors
/// The journal is damaged, or does not end at `last`.
pub fn read_once(journal: &Path, last: Sequence) -> Result<u64, MeasureError> {
    timed(|| {
        let mut scratch = Scratch::default();
        let mut replay = Replay::new(Exchange::new(Capacity::default(), 0));
        scan(journal, Sequence(0), &mut |frame| {
            let frame = frame
                .decode(&mut scratch)
                .map_err(|error| error.to_string())?;
            let taken = replay.enqueue(&frame).map_err(differs);
            taken.map_err(|error| error.to_string())
        })?;
        finish(replay, last)
    })
}

fn check(header: &BatchHeader, payload: &[u8]) -> Result<(), MeasureError> {
    let holds = crc32c::crc32c(payload) == header.payload_crc;
    holds
        .then_some(())
        .ok_or_else(|| MeasureError::wrong("a checksum fails"))
}

fn at_once(replay: &mut Replay, frame: &FrameRef<'_>) -> Result<(), Divergence> {
    let sequence = frame.sequence;
    let executed = replay.execute(frame);
    executed.map_err(|difference| Divergence {
        sequence,
        difference,
    })
}

/// Executes the remaining commands of the replay's lookahead.
fn finish(mut replay: Replay, last: Sequence) -> Result<(), MeasureError> {
    while let Some(executed) = replay.execute_next() {
        executed.map_err(differs)?;
    }
    let came = replay.exchange.sequence();
    let holds = came == last;
    holds
        .then_some(())
        .ok_or_else(|| MeasureError::wrong(format!("re-execution came to {came}, not {last}")))
}

fn differs(divergence: Divergence) -> MeasureError {
    MeasureError::wrong(format!("{divergence:?}"))
}

/// CPU time of this thread for `work`.
fn timed(work: impl FnOnce() -> Result<(), MeasureError>) -> Result<u64, MeasureError> {
    let begun = processor_nanos();
    work()?;
    Ok(processor_nanos() - begun)
}

/// Orders with valid signatures.
struct Orders {
    signed: Vec<SignedOrder>,
    owner: OwnerWallets,
    domains: Domains,
}

impl Orders {
    fn sign() -> Result<Self, MeasureError> {
        let (signer, domain) = (signed_orders::signer()?, signed_orders::domain(false)?);
        let signed = (0..SIGNATURES).map(|salt| {
            signed_orders::sign(&signer, "", &domain, &Terms::LIVE_EXCHANGE, salt.into())
        });
        Ok(Self {
            signed: signed.collect(),
            owner: OwnerWallets::alone(signer.address()),
            domains: Domains::default(),
        })
    }

    fn verify(&self) -> Result<(), MeasureError> {
        for order in &self.signed {
            verify_order(
                &order.fields,
                &order.signature,
                &self.owner,
                false,
                &self.domains,
                None,
            )
            .map_err(|error| MeasureError::wrong(format!("{error:?}")))?;
        }
        Ok(())
    }
}
