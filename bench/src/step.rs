//! The core over a stream: throughput, allocations, time of single commands.

use foretell_matching::{Exchange, Foresight};
use foretell_model::{Command, CommandOutcome, Event, RefusalReason, Verdict};

use crate::dress::{Dressed, time};
use crate::latency::{Stopwatch, processor_nanos};
use crate::totals::Totals;

/// Commands made ready before the clock starts: as many as a burst of the ring, and few enough
/// to stay in the first cache.
pub(crate) const BURST: usize = 256;
/// Room for the events of a burst.
const BURST_EVENTS: usize = 1 << 16;
/// Price units in a cent.
const UNITS_PER_CENT: u64 = 100;

/// One lap over a stream.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lap {
    /// Nanoseconds of all commands together.
    pub(crate) nanos: u64,
    pub(crate) totals: Totals,
    /// Allocations the core made.
    pub(crate) allocations: u64,
}

/// Commands of a burst, where their events end, and what was answered.
pub(crate) struct Burst {
    pub(crate) commands: Vec<Command>,
    pub(crate) events: Vec<Event>,
    /// End of each command's events in `events`.
    pub(crate) ends: Vec<usize>,
    verdicts: Vec<Verdict>,
    foresights: Vec<Foresight>,
    first: usize,
}

impl Burst {
    pub(crate) fn new() -> Self {
        Self {
            commands: Vec::with_capacity(BURST),
            events: Vec::with_capacity(BURST_EVENTS),
            ends: Vec::with_capacity(BURST),
            verdicts: Vec::with_capacity(BURST),
            foresights: Vec::with_capacity(BURST),
            first: 0,
        }
    }

    /// Makes the commands at `first` and after it ready, `most` of them; `false` at the end.
    pub(crate) fn load(&mut self, dressed: &Dressed<'_>, first: usize, most: usize) -> bool {
        let end = dressed.stream.entries().len().min(first + most);
        self.first = first;
        self.commands.clear();
        self.events.clear();
        self.ends.clear();
        self.verdicts.clear();
        self.foresights.clear();
        self.commands
            .extend((first..end).map(|at| dressed.command(at)));
        self.foresights.resize(self.commands.len(), Foresight::NONE);
        !self.commands.is_empty()
    }

    /// Applies all of them, looking into each a few times before its turn.
    pub(crate) fn apply(&mut self, exchange: &mut Exchange) {
        self.foresee_first(exchange);
        for (index, command) in self.commands.iter().enumerate() {
            let at = self.first + index;
            for look in 1..=Foresight::LOOKS {
                if let Some(foresight) = self.foresights.get_mut(index + look * Foresight::GAP) {
                    exchange.foresee(&self.commands[index + look * Foresight::GAP], foresight);
                }
            }
            let verdict = exchange.apply(command, time(at), &mut self.events);
            self.ends.push(self.events.len());
            self.verdicts.push(verdict);
        }
    }

    /// Gives the first commands the looks they cannot get while others are applied.
    fn foresee_first(&mut self, exchange: &Exchange) {
        for look in 1..=Foresight::LOOKS {
            let first = self.commands.iter().zip(&mut self.foresights);
            for (command, foresight) in first.take((Foresight::LOOKS + 1 - look) * Foresight::GAP) {
                exchange.foresee(command, foresight);
            }
        }
    }

    /// Adds what happened to `totals`.
    ///
    /// # Panics
    /// On a refusal other than of a cancel that came too late: the run would mean nothing.
    pub(crate) fn count(&self, totals: &mut Totals) {
        for verdict in &self.verdicts {
            match verdict {
                Verdict::Applied(CommandOutcome::Cancelled { .. }) => totals.cancelled += 1,
                Verdict::Applied(_) => {}
                Verdict::Refused(refusal) if refusal.reason == RefusalReason::OrderNotFound => {
                    totals.refused += 1;
                }
                other => panic!("a command of the stream was answered {other:?}"),
            }
        }
        for event in &self.events {
            if let Event::Fill(fill) = event {
                totals.trade(u64::from(fill.yes_price.0) / UNITS_PER_CENT, fill.lots.0);
            }
        }
    }
}

/// Applies a stream in bursts.
pub(crate) fn lap(exchange: &mut Exchange, dressed: &Dressed<'_>) -> Lap {
    let mut lap = Lap {
        nanos: 0,
        totals: Totals::default(),
        allocations: 0,
    };
    let (mut burst, mut at) = (Burst::new(), 0);
    while burst.load(dressed, at, BURST) {
        let allocated = foretell_memory::made();
        let start = processor_nanos();
        burst.apply(exchange);
        lap.nanos += processor_nanos() - start;
        lap.allocations += foretell_memory::made() - allocated;
        burst.count(&mut lap.totals);
        at += burst.commands.len();
    }
    lap
}

/// Applies a stream command by command, each on the clock.
pub(crate) fn timed_lap(exchange: &mut Exchange, dressed: &Dressed<'_>) -> Stopwatch {
    let mut stopwatch = Stopwatch::new();
    let mut events = Vec::with_capacity(BURST_EVENTS);
    for at in 0..dressed.stream.entries().len() {
        let command = dressed.command(at);
        events.clear();
        stopwatch.time(|| exchange.apply(&command, time(at), &mut events));
    }
    stopwatch
}
