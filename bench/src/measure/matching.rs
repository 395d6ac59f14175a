//! Comparison over one stream, alternating: array book, core, core with frames, core on a realistic
//! workload, and the array book with an exchange's minimum state.

use foretell_matching::{Capacity, Exchange};

use crate::baselines::accounting_book;
use crate::baselines::array_book::ArrayBook;
use crate::baselines::external::ExternalBaseline;
use crate::error::MeasureError;
use crate::harness::latency::{Stopwatch, cost_of_the_clock, processor_nanos};
use crate::measure::encoding::{self, EVIDENCE_BYTES};
use crate::measure::step;
use crate::report::{Goal, Interval, Measure, Report};
use crate::workloads::stream::Stream;
use crate::workloads::totals::{Totals, known_trades};
use crate::workloads::venue::{self, Funding};
use crate::workloads::workload::{Workload, WorkloadKind};

/// Maximum ratio of the core step on a plain stream to the array book.
const CORE_GOAL: f64 = 2.5;
/// Maximum ratio on a realistic stream.
const REALISTIC_GOAL: f64 = 4.0;
/// Maximum ratio of encoding a frame to copying its bytes.
const ENCODE_GOAL: f64 = 2.0;
/// Maximum ratio of our baseline to an external one: a slow baseline would flatter the core.
const EXTERNAL_GOAL: f64 = 1.1;
/// Maximum bytes per resting order.
const MEMORY_GOAL: f64 = 160.0;
/// Unit of all times.
const NANOS: &str = "ns";
/// Names of the lanes.
const ARRAY: &str = "array book";
const CORE: &str = "core";
const REALISTIC: &str = "core, dressed";
const FRAMED: &str = "core and frame";
const KEPT: &str = "array book that keeps accounts and ids";
const COPY: &str = "copying a frame";
const ENCODE: &str = "encoding a frame";

/// A lane did different work than another lane or than the stream requires.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{lane} did other work: {found:?}, expected {expected}")]
pub struct Disagreement {
    /// Name of the lane.
    pub lane: &'static str,
    /// Its totals.
    pub found: Totals,
    /// Expected totals.
    pub expected: String,
}

/// Runs every lane `rounds` times (at least once), alternating, pinned to the last core, and takes
/// medians. A `reference` that processes the same stream runs in alternation as well.
///
/// # Errors
/// Lanes disagree on their totals, which makes every figure meaningless; or a reference fails.
pub fn compare(
    stream: &Stream,
    rounds: usize,
    reference: Option<&ExternalBaseline>,
) -> Result<Report, MeasureError> {
    let report = Report::begin("match", "none");
    pinned(|| {
        let plain = Subject::new(stream, WorkloadKind::Plain);
        let realistic = Subject::new(stream, WorkloadKind::Realistic);
        let mut samples = Samples::default();
        for _ in 0..rounds.max(1) {
            samples.round(&plain, &realistic)?;
            if let Some(reference) = reference {
                samples.reference.push(reference.nanos()?);
            }
        }
        Ok(samples.finish(report, &plain, &realistic))
    })
}

/// A workload and the exchange it needs.
pub(crate) struct Subject<'a> {
    pub(crate) workload: Workload<'a>,
    funding: Funding,
    capacity: Capacity,
}

impl<'a> Subject<'a> {
    pub(crate) fn new(stream: &'a Stream, kind: WorkloadKind) -> Self {
        let workload = Workload::new(stream, kind);
        let funding = Funding::of(&workload);
        let capacity = funding.capacity(&workload, peak_of(stream));
        Self {
            workload,
            funding,
            capacity,
        }
    }

    pub(crate) fn open(&self) -> Exchange {
        venue::open(&self.workload, &self.funding, self.capacity)
    }

    /// Bytes that the core uses for the stream; `None` without a counting allocator.
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

/// Bytes per object.
#[derive(Clone, Copy)]
struct Memory {
    bytes_per_resting_order: f64,
    bytes_per_remembered_id: f64,
}

fn held_by(capacity: Capacity) -> Option<i64> {
    let before = foretell_memory::allocated_bytes();
    let exchange = Exchange::new(capacity, 0);
    let held = foretell_memory::allocated_bytes() - before;
    drop(exchange);
    foretell_memory::is_counting().then_some(held)
}

#[allow(clippy::cast_precision_loss, reason = "both are below 2^53")]
fn per(bytes: i64, things: usize) -> f64 {
    bytes as f64 / things.max(1) as f64
}

/// Maximum number of simultaneously resting orders.
fn peak_of(stream: &Stream) -> usize {
    let (mut book, mut totals) = (ArrayBook::new(stream), Totals::default());
    let live = stream.entries().iter().map(|entry| {
        book.apply(entry, &mut totals);
        book.live()
    });
    live.max().unwrap_or(0)
}

/// Times of the laps, in nanoseconds per command or frame.
#[derive(Default)]
struct Samples {
    array: Vec<f64>,
    reference: Vec<f64>,
    plain: Vec<f64>,
    framed: Vec<f64>,
    encode: Vec<f64>,
    copy: Vec<f64>,
    realistic: Vec<f64>,
    kept: Vec<f64>,
    frame_bytes: f64,
    allocations: u64,
    totals: Totals,
}

impl Samples {
    fn round(&mut self, plain: &Subject<'_>, realistic: &Subject<'_>) -> Result<(), Disagreement> {
        let stream = plain.workload.stream;
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

        let lap = step::lap(&mut plain.open(), &plain.workload);
        self.plain.push(ratio(lap.nanos, commands));
        self.allocations += lap.allocations;
        self.agree("core", lap.totals)?;

        let lap = encoding::lap(&mut plain.open(), &plain.workload);
        self.framed.push(ratio(lap.apply, commands));
        self.encode.push(ratio(lap.encode, lap.frames));
        self.copy.push(ratio(lap.copy, lap.frames));
        self.frame_bytes = ratio(lap.bytes, lap.frames);
        self.agree("core with frames", lap.totals)?;

        let lap = step::lap(&mut realistic.open(), &realistic.workload);
        self.realistic.push(ratio(lap.nanos, commands));
        self.allocations += lap.allocations;
        self.agree("core, dressed", lap.totals)?;

        let kept = accounting_book::lap(
            &realistic.workload,
            &realistic.funding,
            realistic.capacity.positions,
        );
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

    /// Times single commands and builds the report.
    fn finish(&self, mut report: Report, plain: &Subject<'_>, realistic: &Subject<'_>) -> Report {
        let stream = plain.workload.stream;
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
        let core = step::timed_lap(&mut plain.open(), &plain.workload);
        let core = Measure::of(CORE, NANOS, self.plain.clone())
            .quantiles(timed(CORE, core))
            .over(&array);
        let timed_realistic = step::timed_lap(&mut realistic.open(), &realistic.workload);
        let realistic = Measure::of(REALISTIC, NANOS, self.realistic.clone())
            .quantiles(timed(REALISTIC, timed_realistic))
            .over(&array);
        let kept = Measure::of(KEPT, NANOS, self.kept.clone()).over(&array);
        let framed = encoding::timed_lap(&mut plain.open(), &plain.workload);
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
        report.goals = self.goals(markets, [&core, &realistic, &encode], plain.memory());
        if !self.reference.is_empty() {
            let reference = Measure::of("reference floor", NANOS, self.reference.clone());
            let ours = array.clone().over(&reference).ratio();
            let name = format!("array book / reference floor, {markets} market(s)");
            report.goals.push(Goal::at_most(name, EXTERNAL_GOAL, ours));
            report.measures.push(reference);
        }
        report
            .measures
            .extend([array, core, realistic, kept, framed, copy, encode]);
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
        [core, realistic, encode]: [&Measure; 3],
        memory: Option<Memory>,
    ) -> Vec<Goal> {
        let most = |what: &str, most, found| {
            Goal::at_most(format!("{what}, {markets} market(s)"), most, found)
        };
        #[allow(clippy::cast_precision_loss, reason = "a count of few")]
        let allocations = foretell_memory::is_counting().then_some(self.allocations as f64);
        let memory = memory.map(|memory| memory.bytes_per_resting_order);
        vec![
            most("core / array book", CORE_GOAL, core.ratio()),
            most(
                "core, dressed / array book",
                REALISTIC_GOAL,
                realistic.ratio(),
            ),
            most("allocations within capacity", 0.0, allocations),
            most("frame encoding / copy", ENCODE_GOAL, encode.ratio()),
            most("bytes of the core per resting order", MEMORY_GOAL, memory),
        ]
    }
}

/// Bytes per object, and of the whole process.
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

/// Runs `work` on the last core, since interrupts favour the first; unpinned without permission. It
/// runs on its own thread, so later measurements can use every core.
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
