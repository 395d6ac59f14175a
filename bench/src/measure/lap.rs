//! The core over a stream: throughput, allocations, times of single commands.

use foretell_matching::{Exchange, PrefetchState};
use foretell_model::{Command, CommandOutcome, Event, RejectionReason, Verdict};

use crate::error::MeasureError;
use crate::harness::latency::{Stopwatch, processor_nanos};
use crate::workloads::stream::Totals;
use crate::workloads::venue::UNITS_PER_CENT;
use crate::workloads::workload::{Workload, time};

/// Commands prepared before the clock starts: as many as a burst of the ring, and few enough to
/// stay in the L1 cache.
const BURST: usize = 256;
/// Capacity for the events of a burst.
const BURST_EVENTS: usize = 1 << 16;

/// Results of one lap over a stream.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lap {
    /// Nanoseconds of all commands together.
    pub(super) nanos: u64,
    pub(super) totals: Totals,
    /// Allocations made by the core.
    pub(super) allocations: u64,
}

/// Commands of a burst, their events and verdicts.
struct Burst {
    commands: Vec<Command>,
    events: Vec<Event>,
    verdicts: Vec<Verdict>,
    prefetch_states: Vec<PrefetchState>,
    first: usize,
}

impl Burst {
    fn new() -> Self {
        Self {
            commands: Vec::with_capacity(BURST),
            events: Vec::with_capacity(BURST_EVENTS),
            verdicts: Vec::with_capacity(BURST),
            prefetch_states: Vec::with_capacity(BURST),
            first: 0,
        }
    }

    /// Prepares up to `most` commands from `first` on; `false` at the end of the stream.
    fn load(&mut self, workload: &Workload<'_>, first: usize, most: usize) -> bool {
        let end = workload.stream.entries().len().min(first + most);
        self.first = first;
        self.commands.clear();
        self.events.clear();
        self.verdicts.clear();
        self.prefetch_states.clear();
        self.commands
            .extend((first..end).map(|at| workload.command(at)));
        self.prefetch_states
            .resize(self.commands.len(), PrefetchState::NONE);
        !self.commands.is_empty()
    }

    /// Applies all commands, prefetching each in stages before its turn.
    fn apply(&mut self, exchange: &mut Exchange) {
        self.prefetch_first(exchange);
        for (index, command) in self.commands.iter().enumerate() {
            let at = self.first + index;
            for look in 1..=PrefetchState::STEPS {
                let ahead = index + look * PrefetchState::DISTANCE;
                if let Some(state) = self.prefetch_states.get_mut(ahead) {
                    exchange.prefetch(&self.commands[ahead], state);
                }
            }
            let verdict = exchange.apply(command, time(at), &mut self.events);
            self.verdicts.push(verdict);
        }
    }

    /// Prefetches for the first commands, before which no other commands are applied.
    fn prefetch_first(&mut self, exchange: &Exchange) {
        for look in 1..=PrefetchState::STEPS {
            let first = self.commands.iter().zip(&mut self.prefetch_states);
            let count = (PrefetchState::STEPS + 1 - look) * PrefetchState::DISTANCE;
            for (command, state) in first.take(count) {
                exchange.prefetch(command, state);
            }
        }
    }

    /// Adds the events to `totals`. A rejection other than of a late cancel is an error: the run would
    /// be meaningless.
    fn count(&self, totals: &mut Totals) -> Result<(), MeasureError> {
        for (command, verdict) in self.commands.iter().zip(&self.verdicts) {
            match verdict {
                Verdict::Applied(CommandOutcome::Cancelled { .. }) => totals.cancelled += 1,
                Verdict::Applied(_) => {}
                Verdict::Rejected(refusal) if refusal.reason == RejectionReason::OrderNotFound => {
                    totals.refused += 1;
                }
                other => return Err(MeasureError::Wrong(format!("{command:?}: {other:?}"))),
            }
        }
        for event in &self.events {
            if let Event::Fill(fill) = event {
                totals.trade(u64::from(fill.yes_price.0) / UNITS_PER_CENT, fill.lots.0);
            }
        }
        Ok(())
    }
}

/// Applies a stream in bursts.
pub(super) fn lap(exchange: &mut Exchange, workload: &Workload<'_>) -> Result<Lap, MeasureError> {
    let mut lap = Lap {
        nanos: 0,
        totals: Totals::default(),
        allocations: 0,
    };
    let (mut burst, mut at) = (Burst::new(), 0);
    while burst.load(workload, at, BURST) {
        let allocated = foretell_memory::allocations();
        let start = processor_nanos();
        burst.apply(exchange);
        lap.nanos += processor_nanos() - start;
        lap.allocations += foretell_memory::allocations() - allocated;
        burst.count(&mut lap.totals)?;
        at += burst.commands.len();
    }
    Ok(lap)
}

/// Applies a stream command by command, timing each.
pub(super) fn timed_lap(exchange: &mut Exchange, workload: &Workload<'_>) -> Stopwatch {
    let mut stopwatch = Stopwatch::new();
    let mut events = Vec::with_capacity(BURST_EVENTS);
    for at in 0..workload.stream.entries().len() {
        let command = workload.command(at);
        events.clear();
        stopwatch.time(|| exchange.apply(&command, time(at), &mut events));
    }
    stopwatch
}
