//! Growth of snapshots: three lengths of history over the same live state, and one with a larger
//! live state.

use clap::Args;

use super::ScratchDir;
use super::start::{HistoryRun, run_histories};
use crate::error::MeasureError;
use crate::harness::latency::{median, ratio};
use crate::report::{Goal, Report};
use crate::workloads::history::Shape;

/// Maximum ratio of any snapshot figure between the longest and the shortest history.
const GOAL: f64 = 1.3;
/// Small enough that on the shortest history every wallet has traded in all of its markets.
const CROWD: u32 = 200;
const MARKETS: u32 = 100;
/// Factor by which the larger live state is larger.
const MORE: u32 = 5;

/// Arguments of `foretell-bench snapshots`.
#[derive(Debug, Args)]
pub struct SnapshotsScope {
    /// Trades of the longest history; the others have 10% and 30%
    #[arg(long, default_value_t = 1_000_000, value_parser = clap::value_parser!(u32).range(100..))]
    trades: u32,
    /// Resting orders; five times as many in the larger state
    #[arg(long, default_value_t = 20_000, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    orders: u32,
    #[command(flatten)]
    scratch: ScratchDir,
}

/// Publishes every history with an engine, and starts a gateway on it.
pub(super) fn measure(scope: &SnapshotsScope) -> Result<Report, MeasureError> {
    let mut report = Report::begin("snapshots", "disk");
    let scratch = scope.scratch.directory("snapshots")?;
    let (trades, orders) = (u64::from(scope.trades), scope.orders);
    let shapes = [
        (trades / 10, orders),
        (trades * 3 / 10, orders),
        (trades, orders),
        (trades / 10, MORE * orders),
    ];
    let shapes = shapes.map(|(trades, live_orders)| Shape {
        trades,
        live_orders,
        crowd: CROWD,
        markets: MARKETS,
        lived: false,
    });
    let (runs, _) = run_histories(&mut report, scratch.path(), &shapes, 1)?;
    report.rounds = 1;
    report.scope = format!("histories of {} to {trades} trades", trades / 10);
    report.goals = goals(&runs);
    Ok(report.end())
}

/// Compares the longest history with the shortest, with equal live state.
fn goals(runs: &[HistoryRun]) -> Vec<Goal> {
    let [short, _, long, ..] = runs else {
        return Vec::new();
    };
    let goal = |what: &str, of: fn(&HistoryRun) -> f64| {
        let name = format!("{what}, 10 times the history / 1");
        Goal::at_most(name, GOAL, Some(of(long) / of(short)))
    };
    vec![
        goal("bytes of a snapshot", |run| ratio(run.image_bytes, 1)),
        goal("time of a snapshot", |run| median(&run.image_seconds)),
        goal("a gateway's own memory", |run| ratio(run.own_bytes, 1)),
    ]
}
