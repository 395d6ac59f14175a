//! Growth of snapshots: three lengths of history over the same live state, and one with a larger
//! live state.

use std::path::Path;
use std::process::Command;

use crate::error::MeasureError;
use crate::harness::latency::median;
use crate::measure::start::{HistoryRun, figure, site};
use crate::report::{Goal, Report};
use crate::workloads::history::Shape;

/// Maximum ratio of any snapshot figure between the longest and the shortest history.
const GOAL: f64 = 1.3;
/// Small enough that on the shortest history every wallet has traded in all of its markets.
const CROWD: u32 = 200;
const MARKETS: u32 = 100;
const ORDERS: u32 = 20_000;
/// Factor by which the larger live state is larger.
const MORE: u32 = 5;

/// Makes histories of up to `trades` in a temporary directory under `directory`, publishes them
/// with engines, and starts gateways on them with `gateway`, as [`crate::measure::start::measure`].
///
/// # Errors
/// The disk, an engine or a gateway fails.
pub fn measure(
    directory: &Path,
    trades: u32,
    gateway: &dyn Fn(&Path) -> Command,
) -> Result<Report, MeasureError> {
    let mut report = Report::begin("snapshots", "disk");
    let scratch = tempfile::Builder::new()
        .prefix("foretell-snapshots-")
        .tempdir_in(directory)
        .map_err(MeasureError::io("making a temporary directory"))?;
    let trades = u64::from(trades.max(100));
    let shapes = [
        (trades / 10, ORDERS),
        (trades * 3 / 10, ORDERS),
        (trades, ORDERS),
        (trades / 10, MORE * ORDERS),
    ];
    let mut sites = Vec::new();
    for (index, (trades, live_orders)) in shapes.into_iter().enumerate() {
        let data = scratch.path().join(format!("site-{index}"));
        let shape = Shape {
            trades,
            live_orders,
            crowd: CROWD,
            markets: MARKETS,
            lived: false,
        };
        sites.push(site(&data, &shape, 1, gateway)?);
        std::fs::remove_dir_all(data).map_err(MeasureError::io("removing a journal"))?;
    }
    report.rounds = 1;
    report.scope = format!("histories of {} to {trades} trades", trades / 10);
    report.notes.extend(sites.iter().map(HistoryRun::text));
    report
        .measures
        .extend(sites.iter().flat_map(HistoryRun::measures));
    report.goals = goals(&sites);
    Ok(report.end())
}

/// Compares the longest history with the shortest, with equal live state.
fn goals(sites: &[HistoryRun]) -> Vec<Goal> {
    let [short, _, long, ..] = sites else {
        return Vec::new();
    };
    let ratio = |of: fn(&HistoryRun) -> f64| Some(of(long) / of(short));
    let goal =
        |what: &str, found| Goal::at_most(format!("{what}, 10 times the history / 1"), GOAL, found);
    vec![
        goal(
            "bytes of a snapshot",
            ratio(|site| figure(site.image_bytes)),
        ),
        goal(
            "time of a snapshot",
            ratio(|site| median(&site.image_seconds)),
        ),
        goal(
            "a gateway's own memory",
            ratio(|site| figure(site.starts.anonymous_bytes)),
        ),
    ]
}
