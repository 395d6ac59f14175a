//! Report of the data surface measurement.

use crate::harness::gateway_process::Memory;
use crate::harness::latency::{Quantiles, ratio};
use crate::report::{Goal, Measure, Report};

/// Maximum p99 of any query in milliseconds.
const QUERY_GOAL_MS: f64 = 20.0;
/// Maximum for the holders of the market with most holders.
const HOLDERS_GOAL_MS: f64 = 10.0;
/// Name of that query.
const HOLDERS: &str = "/holders busiest market";
/// Maximum bytes of a gateway's own memory per trade.
const MEMORY_GOAL: f64 = 48.0;
/// Trades for which the memory goal is stated.
const TRADES: f64 = 1e7;
/// Queries listed individually: the slowest, and the same number by CPU time.
const LISTED: usize = 12;

/// One query, repeated by one client.
pub(super) struct QueryResult<'a> {
    pub(super) path: &'a str,
    /// Path, subject, parameters.
    pub(super) name: String,
    /// Size of the body.
    pub(super) bytes: usize,
    /// From the request to the end of the response, in milliseconds.
    pub(super) ms: Quantiles,
    /// CPU time of the gateway's serving threads in microseconds: median of the rounds' means.
    pub(super) processor_us: f64,
}

/// Adds the times of all queries to a report: the slowest of each endpoint, and the slowest
/// individually.
pub(super) fn add_queries(report: &mut Report, queries: &[QueryResult<'_>]) {
    let mut slowest: Vec<_> = queries.iter().collect();
    slowest.sort_by(|a, b| b.ms.p99.total_cmp(&a.ms.p99));
    let p99 = |wanted: &dyn Fn(&QueryResult<'_>) -> bool| {
        let found = slowest.iter().find(|query| wanted(query));
        found.map(|query| query.ms.p99)
    };
    report.goals.extend([
        Goal::at_most("ms p99 of the slowest query", QUERY_GOAL_MS, p99(&|_| true)),
        Goal::at_most(
            "ms p99 of the holders of the busiest market",
            HOLDERS_GOAL_MS,
            p99(&|query| query.name.starts_with(HOLDERS)),
        ),
    ]);
    let mut paths: Vec<_> = queries.iter().map(|query| query.path).collect();
    paths.sort_unstable();
    paths.dedup();
    for path in paths {
        let of_path = |query: &&&QueryResult<'_>| query.path == path;
        let Some(query) = slowest.iter().find(of_path) else {
            continue;
        };
        let name = format!("{path}, the slowest query");
        let measure = Measure::single(name, "ms, p99", query.ms.p99).quantiles(query.ms);
        report.measures.push(measure);
        let processor = slowest.iter().filter(of_path);
        let processor = processor.map(|query| query.processor_us / 1e3);
        let name = format!("{path}, the dearest query's processor time");
        let most = processor.fold(0.0, f64::max);
        report.measures.push(Measure::single(name, "ms", most));
    }
    let mut dearest = slowest.split_off(slowest.len().min(LISTED));
    dearest.sort_by(|a, b| b.processor_us.total_cmp(&a.processor_us));
    for query in slowest.into_iter().chain(dearest.into_iter().take(LISTED)) {
        let QueryResult {
            name, bytes, ms, ..
        } = query;
        let Quantiles { p50, p99, .. } = ms;
        let processor = query.processor_us / 1e3;
        report.notes.push(format!(
            "{name}: {bytes} bytes, ms p50 {p50:.2}, p99 {p99:.2}, processor {processor:.2}"
        ));
    }
}

/// Adds the gateway's memory after all queries to a report.
pub(super) fn add_memory(report: &mut Report, memory: &Memory, trades: u64) {
    let [own, all, trades] =
        [memory.anonymous, memory.resident, trades].map(|count| ratio(count, 1));
    let of = |name, bytes| Measure::single(name, "bytes", bytes);
    report.measures.extend([
        of("gateway's own memory", own),
        of("gateway's memory with files", all),
    ]);
    // On a short history, memory that does not grow with trades dominates.
    let full = trades >= TRADES;
    let goal = Goal::at_most(
        "own bytes of a gateway per trade",
        MEMORY_GOAL,
        full.then_some(own / trades),
    );
    report.goals.push(match full {
        true => goal,
        false => goal.note(format!("on {trades} of {TRADES} trades")),
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn query(path: &'static str, about: &str, p99: f64) -> QueryResult<'static> {
        QueryResult {
            path,
            name: format!("{path} {about}"),
            bytes: 2,
            ms: Quantiles {
                p50: p99 / 2.0,
                p99,
                p999: p99,
            },
            processor_us: 1_000.0 / p99,
        }
    }

    #[test]
    fn goals_use_the_slowest_query() {
        let mut report = Report::begin("data", "none");
        let queries = [
            query("/trades", "all", 8.0),
            query("/trades", "busiest buyer", 21.0),
            query("/holders", "100 markets", 15.0),
            query("/holders", "busiest market", 9.0),
        ];
        add_queries(&mut report, &queries);
        let memory = Memory {
            anonymous: 470_000_000,
            resident: 900_000_000,
        };
        add_memory(&mut report, &memory, 10_000_000);
        let found: Vec<_> = report.goals.iter().map(|goal| goal.found).collect();
        assert_eq!(found, [Some(21.0), Some(9.0), Some(47.0)]);
        let met: Vec<_> = report.goals.iter().map(Goal::is_met).collect();
        assert_eq!(met, [false, true, true]);
        // Two measures for each endpoint, two for memory.
        assert_eq!(report.measures.len(), 6);
        assert!(report.notes[0].starts_with("/trades busiest buyer: 2 bytes, ms p50 10.50"));

        let mut short = Report::begin("data", "none");
        add_memory(&mut short, &memory, 1_000_000);
        assert_eq!(short.goals[0].found, None);
        assert!(short.goals[0].note.is_some());
    }
}
