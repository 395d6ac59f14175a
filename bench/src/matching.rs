//! The comparison: array book, core, core with frames, dressed core, and the array book with what any
//! exchange keeps, in turns over one stream.

use foretell_matching::{Capacity, Exchange};

use crate::array_book::ArrayBook;
use crate::dress::{Dress, Dressed};
use crate::encoding::{self, EVIDENCE_BYTES};
use crate::error::MeasureError;
use crate::kept_book;
use crate::latency::{Stopwatch, cost_of_the_clock, processor_nanos};
use crate::reference::Reference;
use crate::report::{Goal, Interval, Measure, Report};
use crate::step;
use crate::stream::Stream;
use crate::totals::{Totals, known_trades};
use crate::venue::{self, Needs};

/// Highest ratio of the core step on a plain stream to the array book.
const CORE_GOAL: f64 = 2.5;
/// The same, dressed.
const DRESSED_GOAL: f64 = 4.0;
/// Highest ratio of encoding a frame to copying its bytes.
const ENCODE_GOAL: f64 = 2.0;
/// Highest ratio of our floor to a reference: a slow floor would flatter what stands on it.
const REFERENCE_GOAL: f64 = 1.1;
/// Most bytes per resting order.
const MEMORY_GOAL: f64 = 160.0;
/// Of every time here.
const NANOS: &str = "ns";
/// The lanes.
const ARRAY: &str = "array book";
const CORE: &str = "core";
const DRESSED: &str = "core, dressed";
const FRAMED: &str = "core and frame";
const KEPT: &str = "array book that keeps accounts and ids";
const COPY: &str = "copying a frame";
const ENCODE: &str = "encoding a frame";

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
/// medians; a `reference` that works through the same stream has its turns as well.
///
/// # Errors
/// Lanes that disagree on what happened: then no figure means anything; or a reference that fails.
pub fn compare(
    stream: &Stream,
    rounds: usize,
    reference: Option<&Reference>,
) -> Result<Report, MeasureError> {
    let report = Report::begin("match", "none");
    pinned(|| {
        let plain = Subject::new(stream, Dress::Plain);
        let dressed = Subject::new(stream, Dress::Dressed);
        let mut samples = Samples::default();
        for _ in 0..rounds.max(1) {
            samples.round(&plain, &dressed)?;
            if let Some(reference) = reference {
                samples.reference.push(reference.nanos()?);
            }
        }
        Ok(samples.finish(report, &plain, &dressed))
    })
}

/// A dressed stream and the exchange it needs.
pub(crate) struct Subject<'a> {
    pub(crate) dressed: Dressed<'a>,
    needs: Needs,
    capacity: Capacity,
}

impl<'a> Subject<'a> {
    pub(crate) fn new(stream: &'a Stream, dress: Dress) -> Self {
        let dressed = Dressed::new(stream, dress);
        let needs = Needs::of(&dressed);
        let capacity = needs.capacity(&dressed, peak_of(stream));
        Self {
            dressed,
            needs,
            capacity,
        }
    }

    pub(crate) fn open(&self) -> Exchange {
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
            bytes_per_resting_order: per(whole - without_orders, self.capacity.orders),
            bytes_per_remembered_id: per(whole - without_ids, self.capacity.order_ids),
        })
    }
}

/// What room for one of each takes.
#[derive(Clone, Copy)]
struct Memory {
    bytes_per_resting_order: f64,
    bytes_per_remembered_id: f64,
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
    reference: Vec<f64>,
    plain: Vec<f64>,
    framed: Vec<f64>,
    encode: Vec<f64>,
    copy: Vec<f64>,
    dressed: Vec<f64>,
    kept: Vec<f64>,
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
        self.framed.push(ratio(lap.apply, commands));
        self.encode.push(ratio(lap.encode, lap.frames));
        self.copy.push(ratio(lap.copy, lap.frames));
        self.frame_bytes = ratio(lap.bytes, lap.frames);
        self.agree("core with frames", lap.totals)?;

        let lap = step::lap(&mut dressed.open(), &dressed.dressed);
        self.dressed.push(ratio(lap.nanos, commands));
        self.allocations += lap.allocations;
        self.agree("core, dressed", lap.totals)?;

        let kept = kept_book::lap(&dressed.dressed, &dressed.needs, dressed.capacity.positions);
        let (nanos, totals) =
            kept.ok_or_else(|| disagreement(KEPT, Totals::default(), "sound accounts and ids"))?;
        self.kept.push(ratio(nanos, commands));
        self.agree(KEPT, totals)
    }

    fn agree(&self, lane: &'static str, totals: Totals) -> Result<(), Disagreement> {
        if totals == self.totals {
            Ok(())
        } else {
            let expected = format!("as the array book {:?}", self.totals);
            Err(disagreement(lane, totals, &expected))
        }
    }

    /// Times single commands, and puts everything together.
    fn finish(&self, mut report: Report, plain: &Subject<'_>, dressed: &Subject<'_>) -> Report {
        let stream = plain.dressed.stream;
        let totals = &self.totals;
        report.scope = format!(
            "{} commands, {} market(s): {} trades, {} lots, notional {}, {} cancelled, {} refused",
            stream.entries().len(),
            stream.markets(),
            totals.trades,
            totals.quantity,
            totals.notional,
            totals.cancelled,
            totals.refused,
        );
        report.rounds = self.array.len();
        let mut timed = |name: &str, stopwatch: Stopwatch| {
            let begun = report.elapsed();
            report.record(name, Interval::new(begun, 0.0, stopwatch.times()));
            stopwatch.quantiles(1.0)
        };
        let array = Measure::of(ARRAY, NANOS, self.array.clone())
            .quantiles(timed(ARRAY, timed_array_lap(stream)));
        let core = step::timed_lap(&mut plain.open(), &plain.dressed);
        let core = Measure::of(CORE, NANOS, self.plain.clone())
            .quantiles(timed(CORE, core))
            .over(&array);
        let cloaked = step::timed_lap(&mut dressed.open(), &dressed.dressed);
        let cloaked = Measure::of(DRESSED, NANOS, self.dressed.clone())
            .quantiles(timed(DRESSED, cloaked))
            .over(&array);
        let kept = Measure::of(KEPT, NANOS, self.kept.clone()).over(&array);
        let framed = encoding::timed_lap(&mut plain.open(), &plain.dressed);
        let laps = self.framed.iter().zip(&self.encode);
        let framed = Measure::of(
            FRAMED,
            NANOS,
            laps.map(|(step, encode)| step + encode).collect(),
        )
        .quantiles(timed(FRAMED, framed));
        let copy = Measure::of(COPY, NANOS, self.copy.clone());
        let encode = Measure::of(ENCODE, NANOS, self.encode.clone()).over(&copy);
        let markets = stream.markets();
        report.goals = self.goals(markets, [&core, &cloaked, &encode], plain.memory());
        if !self.reference.is_empty() {
            let reference = Measure::of("reference floor", NANOS, self.reference.clone());
            let ours = array.clone().over(&reference).ratio();
            let name = format!("array book / reference floor, {markets} market(s)");
            report.goals.push(Goal::at_most(name, REFERENCE_GOAL, ours));
            report.measures.push(reference);
        }
        report
            .measures
            .extend([array, core, cloaked, kept, framed, copy, encode]);
        report
            .measures
            .push(Measure::single("frame", "bytes", self.frame_bytes));
        report.measures.extend(memory_measures(plain.memory()));
        report.notes.push(format!(
            "quantiles hold {:.0} ns of the clock's own; {EVIDENCE_BYTES} bytes of a frame are evidence",
            cost_of_the_clock()
        ));
        report.end()
    }

    fn goals(
        &self,
        markets: u32,
        [core, cloaked, encode]: [&Measure; 3],
        memory: Option<Memory>,
    ) -> Vec<Goal> {
        let most = |what: &str, most, found| {
            Goal::at_most(format!("{what}, {markets} market(s)"), most, found)
        };
        #[allow(clippy::cast_precision_loss, reason = "a count of few")]
        let allocations = foretell_memory::are_counted().then_some(self.allocations as f64);
        let memory = memory.map(|memory| memory.bytes_per_resting_order);
        vec![
            most("core / array book", CORE_GOAL, core.ratio()),
            most("core, dressed / array book", DRESSED_GOAL, cloaked.ratio()),
            most("allocations within capacity", 0.0, allocations),
            most("frame encoding / copy", ENCODE_GOAL, encode.ratio()),
            most("bytes of the core per resting order", MEMORY_GOAL, memory),
        ]
    }
}

/// What one of each takes, and beside it the whole process.
fn memory_measures(memory: Option<Memory>) -> Vec<Measure> {
    let measures = |memory: Memory| {
        vec![
            Measure::single("a resting order", "bytes", memory.bytes_per_resting_order),
            Measure::single("a remembered id", "bytes", memory.bytes_per_remembered_id),
        ]
    };
    memory.map(measures).unwrap_or_default()
}

pub(crate) fn disagreement(lane: &'static str, found: Totals, expected: &str) -> Disagreement {
    Disagreement {
        lane,
        found,
        expected: expected.to_owned(),
    }
}

fn array_lap(stream: &Stream) -> (u64, Totals) {
    let (mut book, mut totals) = (ArrayBook::new(stream), Totals::default());
    let start = processor_nanos();
    for entry in stream.entries() {
        book.apply(entry, &mut totals);
    }
    (processor_nanos() - start, totals)
}

fn timed_array_lap(stream: &Stream) -> Stopwatch {
    let (mut book, mut totals) = (ArrayBook::new(stream), Totals::default());
    let mut stopwatch = Stopwatch::new();
    for entry in stream.entries() {
        stopwatch.time(|| book.apply(entry, &mut totals));
    }
    stopwatch
}

#[allow(clippy::cast_precision_loss, reason = "both are below 2^53")]
fn ratio(sum: u64, count: u64) -> f64 {
    sum as f64 / count.max(1) as f64
}

/// Does `work` on the last core, because interrupts favour the first; without the right to, it runs
/// unpinned. It has a thread of its own, so that what is measured afterwards has every core again.
pub(crate) fn pinned<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    let on_last_core = || {
        if let Some(core) = core_affinity::get_core_ids().and_then(|cores| cores.last().copied()) {
            let _ = core_affinity::set_for_current(core);
        }
        work()
    };
    std::thread::scope(|scope| match scope.spawn(on_last_core).join() {
        Ok(result) => result,
        Err(panic) => std::panic::resume_unwind(panic),
    })
}
