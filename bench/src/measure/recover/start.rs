//! Start of a gateway on a long history: time until it answers with the newest state, and its own
//! memory then. It is a child process, so its memory is measured alone.

use std::path::Path;

use crate::error::MeasureError;
use crate::harness::gateway_process::GatewayProcess;
use crate::harness::latency::ratio;
use crate::harness::running_engine::{RunningEngine, on_generated_journal, snapshot};
use crate::report::{Goal, Measure, Report};
use crate::workloads::history::{self, Shape};
use crate::workloads::signed_orders::Terms;

/// Maximum seconds from a gateway's start to its first answer, at ten million trades.
const START_GOAL: f64 = 2.0;
/// Maximum bytes of a gateway's own memory per trade.
const MEMORY_GOAL: f64 = 48.0;
/// Trades for which the goals are stated.
const GOAL_TRADES: u64 = 10_000_000;

/// Writes a history to `data`, publishes it with an engine, and starts gateways on it in sequence.
pub(super) fn measure(report: &mut Report, data: &Path, shape: &Shape) -> Result<(), MeasureError> {
    history::write(data, shape)?;
    let engine = RunningEngine::start(on_generated_journal(data))?;
    let last = snapshot(&mut engine.operator()?)?;
    let path = format!("/book?token_id={}", Terms::LIVE_EXCHANGE.token_text());
    let (mut seconds, mut own) = (Vec::new(), Vec::new());
    for _ in 0..report.rounds {
        let gateway = GatewayProcess::start("trading", data, &path, last)?;
        seconds.push(gateway.after.as_secs_f64());
        own.push(ratio(gateway.memory()?.anonymous, 1));
    }
    engine.stop()?;
    let start = Measure::of("gateway answers", "s", seconds);
    let memory = Measure::of("gateway's own memory", "bytes", own);
    let found = [start.value, memory.value];
    report.goals.extend(goals(found, shape.trades));
    report.measures.extend([start, memory]);
    Ok(())
}

/// The goals of a start and of memory, on a history of `trades` trades.
fn goals([seconds, bytes]: [f64; 2], trades: u64) -> [Goal; 2] {
    let is_full = trades >= GOAL_TRADES;
    // On a short history, memory that does not grow with trades dominates.
    let memory = is_full.then(|| bytes / ratio(trades, 1));
    [
        Goal::at_most("s until a gateway answers", START_GOAL, Some(seconds)),
        Goal::at_most("own bytes of a gateway per trade", MEMORY_GOAL, memory),
    ]
    .map(|goal| match is_full {
        true => goal,
        false => goal.note(format!("on {trades} of {GOAL_TRADES} trades")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_only_of_a_full_history() {
        let full = goals([1.5, 4.9e8], GOAL_TRADES);
        assert_eq!(
            full.each_ref().map(|goal| goal.found),
            [Some(1.5), Some(49.0)]
        );
        assert_eq!(full.each_ref().map(Goal::is_met), [true, false]);
        assert!(full.iter().all(|goal| goal.note.is_none()));
        let short = goals([1.5, 4.9e8], 100);
        assert_eq!(short.each_ref().map(|goal| goal.found), [Some(1.5), None]);
        assert!(short.iter().all(|goal| goal.note.is_some()));
    }
}
