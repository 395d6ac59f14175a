//! The core over one stream, alternating with the bare array book: plain, and on a realistic
//! workload.

use clap::Args;
use foretell_matching::{Capacity, Exchange};

use super::lap;
use crate::baselines::array_book::ArrayBook;
use crate::error::MeasureError;
use crate::harness::latency::{Stopwatch, cost_of_the_clock, processor_nanos, ratio};
use crate::harness::threads::joined;
use crate::report::{Goal, Interval, Measure, Report};
use crate::workloads::generate::{MOST_COMMANDS, generate};
use crate::workloads::stream::{Stream, Totals};
use crate::workloads::venue::Venue;
use crate::workloads::workload::{self, Workload, WorkloadKind};

/// Maximum ratios of the core step to the array book, on a plain and a realistic stream: of one
/// market, whose book stays in the cache, and of many.
const ONE_MARKET_GOALS: [f64; 2] = [8.0, 10.0];
const MANY_MARKETS_GOALS: [f64; 2] = [5.0, 6.0];
/// Maximum bytes per resting order.
const MEMORY_GOAL: f64 = 160.0;
/// Unit of all times.
const NANOS: &str = "ns";
/// Names of the lanes.
const ARRAY: &str = "array book";
const CORE: &str = "core";
const REALISTIC: &str = "core, dressed";

/// Arguments of `foretell-bench match`.
#[derive(Debug, Args)]
pub struct MatchScope {
    /// Markets of the stream, drawn by Zipf's law
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    markets: u32,
    /// Commands of the stream
    #[arg(long, default_value_t = 5_000_000, value_parser = clap::value_parser!(u32).range(1..=MOST_COMMANDS))]
    commands: u32,
    /// Approximate number of resting orders
    #[arg(long, default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(1..))]
    live: u32,
    /// Runs of every lane; medians are reported
    #[arg(long, default_value_t = 5)]
    rounds: usize,
}

pub(super) fn measure(scope: &MatchScope) -> Result<Report, MeasureError> {
    let stream = generate(scope.markets, scope.commands, scope.live);
    compare(&stream, scope.rounds)
}

/// Runs every lane `rounds` times (at least once), alternating, pinned to the last core, and takes
/// medians.
///
/// # Errors
/// Lanes disagree on their totals, which makes every figure meaningless.
fn compare(stream: &Stream, rounds: usize) -> Result<Report, MeasureError> {
    let report = Report::begin("match", "none");
    pinned(|| {
        let plain = Subject::new(stream, WorkloadKind::Plain);
        let realistic = Subject::new(stream, WorkloadKind::Realistic);
        let mut samples = Samples::default();
        for _ in 0..rounds.max(1) {
            samples.round(&plain, &realistic)?;
        }
        samples.finish(report, &plain, &realistic)
    })
}

/// A workload and the exchange it needs.
struct Subject<'a> {
    workload: Workload<'a>,
    venue: Venue,
    capacity: Capacity,
}

impl<'a> Subject<'a> {
    fn new(stream: &'a Stream, kind: WorkloadKind) -> Self {
        let workload = Workload::new(stream, kind);
        let venue = workload.venue();
        let capacity = workload.capacity(&venue);
        Self {
            workload,
            venue,
            capacity,
        }
    }

    fn open(&self) -> Result<Exchange, MeasureError> {
        workload::open(&self.venue, self.capacity)
    }

    /// Bytes of the core per resting order and per remembered id; `None` without a counting
    /// allocator.
    fn memory(&self) -> Option<[f64; 2]> {
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
        Some([
            ratio(
                whole.saturating_sub(without_orders),
                self.capacity.orders as u64,
            ),
            ratio(
                whole.saturating_sub(without_ids),
                self.capacity.order_ids as u64,
            ),
        ])
    }
}

fn held_by(capacity: Capacity) -> Option<u64> {
    let before = foretell_memory::allocated_bytes();
    let exchange = Exchange::new(capacity, 0);
    let held = foretell_memory::allocated_bytes() - before;
    drop(exchange);
    let held = u64::try_from(held).ok();
    held.filter(|_| foretell_memory::is_counting())
}

/// Times of the laps, in nanoseconds per command.
#[derive(Default)]
struct Samples {
    array: Vec<f64>,
    plain: Vec<f64>,
    realistic: Vec<f64>,
    allocations: u64,
    totals: Totals,
}

impl Samples {
    fn round(&mut self, plain: &Subject<'_>, realistic: &Subject<'_>) -> Result<(), MeasureError> {
        let stream = plain.workload.stream;
        let commands = stream.entries().len() as u64;

        let mut book = ArrayBook::of(stream);
        let start = processor_nanos();
        stream.entries().iter().for_each(|entry| book.apply(entry));
        self.array.push(ratio(processor_nanos() - start, commands));
        self.totals = book.totals;

        let lap = lap::lap(&mut plain.open()?, &plain.workload)?;
        self.plain.push(ratio(lap.nanos, commands));
        self.allocations += lap.allocations;
        same_work(CORE, lap.totals, self.totals)?;

        let lap = lap::lap(&mut realistic.open()?, &realistic.workload)?;
        self.realistic.push(ratio(lap.nanos, commands));
        self.allocations += lap.allocations;
        same_work(REALISTIC, lap.totals, self.totals)
    }

    /// Times single commands and builds the report.
    fn finish(
        self,
        mut report: Report,
        plain: &Subject<'_>,
        realistic: &Subject<'_>,
    ) -> Result<Report, MeasureError> {
        let (stream, totals) = (plain.workload.stream, self.totals);
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
        let mut lane = |name: &str, rounds: Vec<f64>, single: Stopwatch| {
            let begun = report.elapsed();
            report.record(name, Interval::new(begun, 0.0, single.times()));
            Measure::of(name, NANOS, rounds).quantiles(single.quantiles(1.0))
        };
        let array = lane(ARRAY, self.array, timed_array_lap(stream));
        let single = lap::timed_lap(&mut plain.open()?, &plain.workload);
        let core = lane(CORE, self.plain, single).over(&array);
        let single = lap::timed_lap(&mut realistic.open()?, &realistic.workload);
        let realistic = lane(REALISTIC, self.realistic, single).over(&array);

        let memory = plain.memory();
        #[allow(clippy::cast_precision_loss, reason = "a count of few")]
        let allocations = foretell_memory::is_counting().then_some(self.allocations as f64);
        let markets = stream.markets();
        let mut goal = |what: &str, most, found| {
            let name = format!("{what}, {markets} market(s)");
            report.goals.push(Goal::at_most(name, most, found));
        };
        let [most, most_realistic] = match markets {
            1 => ONE_MARKET_GOALS,
            _ => MANY_MARKETS_GOALS,
        };
        goal("core / array book", most, core.ratio());
        goal(
            "core, dressed / array book",
            most_realistic,
            realistic.ratio(),
        );
        goal("allocations within capacity", 0.0, allocations);
        let bytes_per_order = memory.map(|[order, _]| order);
        goal(
            "bytes of the core per resting order",
            MEMORY_GOAL,
            bytes_per_order,
        );
        report.measures.extend([array, core, realistic]);
        let mut bytes = |name, value| report.measures.push(Measure::single(name, "bytes", value));
        if let Some([order, id]) = memory {
            bytes("a resting order", order);
            bytes("a remembered id", id);
        }
        report.notes.push(format!(
            "quantiles hold {:.0} ns of the clock's own",
            cost_of_the_clock()
        ));
        Ok(report.end())
    }
}

/// Checks that a lane did the expected work.
fn same_work(lane: &str, found: Totals, expected: Totals) -> Result<(), MeasureError> {
    if found == expected {
        return Ok(());
    }
    Err(MeasureError::Wrong(format!(
        "{lane} did other work: {found:?}, expected {expected:?}"
    )))
}

fn timed_array_lap(stream: &Stream) -> Stopwatch {
    let (mut book, mut stopwatch) = (ArrayBook::of(stream), Stopwatch::new());
    for entry in stream.entries() {
        stopwatch.time(|| book.apply(entry));
    }
    stopwatch
}

/// Runs `work` on the last core, since interrupts favour the first; unpinned without permission. It
/// runs on its own thread, so later measurements can use every core.
fn pinned<T: Send>(
    work: impl FnOnce() -> Result<T, MeasureError> + Send,
) -> Result<T, MeasureError> {
    let on_last_core = || {
        if let Some(core) = core_affinity::get_core_ids().and_then(|cores| cores.last().copied()) {
            let _ = core_affinity::set_for_current(core);
        }
        work()
    };
    std::thread::scope(|scope| joined("the measured thread", scope.spawn(on_last_core).join()))?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_lane_does_the_same_work() {
        let stream = generate(3, 5_000, 100);
        let report = compare(&stream, 2).unwrap();
        assert_eq!((report.rounds, report.recordings.len()), (2, 3));
        let ratio = |name| report.measure(name).unwrap().ratio().unwrap();
        assert!(ratio(CORE) > 0.0 && ratio(REALISTIC) > 0.0, "{report}");
        let other = Totals {
            trades: 1,
            ..Totals::default()
        };
        assert!(same_work(CORE, other, Totals::default()).is_err());
    }
}
