//! The comparison: array book, core, core with frames, dressed core, in turns over one stream.

use foretell_matching::{Capacity, Exchange};

use crate::array_book::ArrayBook;
use crate::dress::{Dress, Dressed};
use crate::encoding;
use crate::latency::{Quantiles, Stopwatch, cost_of_the_clock, median, processor_nanos};
use crate::report::{Lane, Memory, Report};
use crate::step;
use crate::stream::Stream;
use crate::totals::{Totals, known_trades};
use crate::venue::{self, Needs};

/// Two lanes, or a lane and what is known of the stream, that did not do the same work.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{lane} did other work: {found:?}, expected {expected}")]
pub struct Disagreement {
    /// Which lane.
    pub lane: &'static str,
    /// What it did.
    pub found: Totals,
    /// What it should have done.
    pub expected: String,
}

/// Runs every lane `rounds` times (at least once) in turns, pinned to the last core, and takes
/// medians.
///
/// # Errors
/// Lanes that disagree on what happened: then no figure means anything.
pub fn compare(stream: &Stream, rounds: usize) -> Result<Report, Disagreement> {
    pin();
    let plain = Subject::new(stream, Dress::Plain);
    let dressed = Subject::new(stream, Dress::Dressed);
    let mut samples = Samples::default();
    for _ in 0..rounds.max(1) {
        samples.round(&plain, &dressed)?;
    }
    Ok(samples.report(&plain, &dressed))
}

/// A dressed stream and the exchange it needs.
struct Subject<'a> {
    dressed: Dressed<'a>,
    needs: Needs,
    capacity: Capacity,
}

impl<'a> Subject<'a> {
    fn new(stream: &'a Stream, dress: Dress) -> Self {
        let dressed = Dressed::new(stream, dress);
        let needs = Needs::of(&dressed);
        let capacity = needs.capacity(&dressed, peak_of(stream));
        Self {
            dressed,
            needs,
            capacity,
        }
    }

    fn open(&self) -> Exchange {
        venue::open(&self.dressed, &self.needs, self.capacity)
    }

    /// What the core takes for the stream, in bytes; `None` when nothing counts.
    fn memory(&self) -> Option<Memory> {
        let whole = held_by(self.capacity)?;
        let without_ids = held_by(Capacity {
            order_ids: 0,
            timestamp_seconds: 0,
            ..self.capacity
        })?;
        let without_orders = held_by(Capacity {
            orders: 0,
            ..self.capacity
        })?;
        Some(Memory {
            resting_orders: self.capacity.orders,
            bytes_per_resting_order: per(whole - without_orders, self.capacity.orders),
            remembered_ids: self.capacity.order_ids,
            bytes_per_remembered_id: per(whole - without_ids, self.capacity.order_ids),
        })
    }
}

fn held_by(capacity: Capacity) -> Option<i64> {
    let before = foretell_memory::held();
    let exchange = Exchange::new(capacity, 0);
    let held = foretell_memory::held() - before;
    drop(exchange);
    foretell_memory::are_counted().then_some(held)
}

#[allow(clippy::cast_precision_loss, reason = "both are below 2^53")]
fn per(bytes: i64, things: usize) -> f64 {
    bytes as f64 / things.max(1) as f64
}

/// The most orders that rest at once.
fn peak_of(stream: &Stream) -> usize {
    let (mut book, mut totals) = (ArrayBook::new(stream), Totals::default());
    let live = stream.entries().iter().map(|entry| {
        book.apply(entry, &mut totals);
        book.live()
    });
    live.max().unwrap_or(0)
}

/// What the laps took, in nanoseconds per command or frame.
#[derive(Default)]
struct Samples {
    array: Vec<f64>,
    plain: Vec<f64>,
    encode: Vec<f64>,
    copy: Vec<f64>,
    dressed: Vec<f64>,
    frame_bytes: f64,
    allocations: u64,
    totals: Totals,
}

impl Samples {
    fn round(&mut self, plain: &Subject<'_>, dressed: &Subject<'_>) -> Result<(), Disagreement> {
        let stream = plain.dressed.stream;
        let commands = stream.entries().len() as u64;

        let (nanos, totals) = array_lap(stream);
        self.array.push(ratio(nanos, commands));
        self.totals = totals;
        if let Some(trades) = known_trades(stream).filter(|known| *known != totals.trades) {
            return Err(disagreement(
                "array book",
                totals,
                &format!("{trades} trades"),
            ));
        }

        let lap = step::lap(&mut plain.open(), &plain.dressed);
        self.plain.push(ratio(lap.nanos, commands));
        self.allocations += lap.allocations;
        self.agree("core", lap.totals)?;

        let lap = encoding::lap(&mut plain.open(), &plain.dressed);
        self.encode.push(ratio(lap.encode, lap.frames));
        self.copy.push(ratio(lap.copy, lap.frames));
        self.frame_bytes = ratio(lap.bytes, lap.frames);
        self.agree("core with frames", lap.totals)?;

        let lap = step::lap(&mut dressed.open(), &dressed.dressed);
        self.dressed.push(ratio(lap.nanos, commands));
        self.allocations += lap.allocations;
        self.agree("core, dressed", lap.totals)
    }

    fn agree(&self, lane: &'static str, totals: Totals) -> Result<(), Disagreement> {
        if totals == self.totals {
            Ok(())
        } else {
            let expected = format!("as the array book {:?}", self.totals);
            Err(disagreement(lane, totals, &expected))
        }
    }

    fn report(&self, plain: &Subject<'_>, dressed: &Subject<'_>) -> Report {
        let stream = plain.dressed.stream;
        let core = step::timed_lap(&mut plain.open(), &plain.dressed).quantiles();
        let framed = encoding::timed_lap(&mut plain.open(), &plain.dressed).quantiles();
        let cloaked = step::timed_lap(&mut dressed.open(), &dressed.dressed).quantiles();
        let framed_nanos = median(&self.plain) + median(&self.encode);
        Report {
            markets: stream.markets(),
            commands: stream.entries().len(),
            rounds: self.array.len(),
            totals: self.totals,
            clock_nanos: cost_of_the_clock(),
            array: lane(median(&self.array), timed_array_lap(stream)),
            core: lane(median(&self.plain), core),
            core_with_frames: lane(framed_nanos, framed),
            core_dressed: lane(median(&self.dressed), cloaked),
            core_ratio: paired(&self.plain, &self.array),
            dressed_ratio: paired(&self.dressed, &self.array),
            encode_nanos: median(&self.encode),
            copy_nanos: median(&self.copy),
            encode_ratio: paired(&self.encode, &self.copy),
            frame_bytes: self.frame_bytes,
            allocations: foretell_memory::are_counted().then_some(self.allocations),
            memory: plain.memory(),
        }
    }
}

const fn lane(nanos: f64, quantiles: Quantiles) -> Lane {
    Lane { nanos, quantiles }
}

fn disagreement(lane: &'static str, found: Totals, expected: &str) -> Disagreement {
    Disagreement {
        lane,
        found,
        expected: expected.to_owned(),
    }
}

/// Median of the rounds' ratios: what disturbed a whole round divides out.
fn paired(values: &[f64], floors: &[f64]) -> f64 {
    let ratios: Vec<_> = values.iter().zip(floors).map(|(v, f)| v / f).collect();
    median(&ratios)
}

fn array_lap(stream: &Stream) -> (u64, Totals) {
    let (mut book, mut totals) = (ArrayBook::new(stream), Totals::default());
    let start = processor_nanos();
    for entry in stream.entries() {
        book.apply(entry, &mut totals);
    }
    (processor_nanos() - start, totals)
}

fn timed_array_lap(stream: &Stream) -> Quantiles {
    let (mut book, mut totals) = (ArrayBook::new(stream), Totals::default());
    let mut stopwatch = Stopwatch::new();
    for entry in stream.entries() {
        stopwatch.time(|| book.apply(entry, &mut totals));
    }
    stopwatch.quantiles()
}

#[allow(clippy::cast_precision_loss, reason = "both are below 2^53")]
fn ratio(sum: u64, count: u64) -> f64 {
    sum as f64 / count.max(1) as f64
}

/// To the last core: interrupts favour the first. Without the right to, it runs unpinned.
fn pin() {
    if let Some(core) = core_affinity::get_core_ids().and_then(|cores| cores.last().copied()) {
        let _ = core_affinity::set_for_current(core);
    }
}
