//! Report of the catalog measurement, with its goals.

use super::QueryTimes;
use super::cached_catalog::Import;
use super::queries::AnswerKind;
use crate::harness::latency::Quantiles;
use crate::report::{Goal, Measure, Report};

/// Events (four markets each) for which the goals are stated.
const EVENTS: u64 = 50_000;
/// Maximum seconds of an import.
const IMPORT_GOAL: f64 = 60.0;
/// Maximum ratio of an import's memory to that of an import of a fifth of the events.
const MEMORY_GOAL: f64 = 1.25;
/// Maximum p99 in milliseconds.
const ANSWER_GOALS_MS: [(AnswerKind, &str, f64); 3] = [
    (AnswerKind::List, "list page", 20.0),
    (AnswerKind::Record, "record", 2.0),
    (AnswerKind::Search, "search", 30.0),
];
const MEGABYTE: f64 = 1e6;

/// Adds the imports to a report: the short one and the full one.
pub(super) fn add_imports(report: &mut Report, imports: &[Import; 2]) {
    let memory = |import: &Import| {
        let name = format!("import of {} events: peak memory", import.events);
        Measure::single(name, "MB", figure(import.peak_bytes) / MEGABYTE)
    };
    let [short, whole] = imports;
    let (short, peak) = (memory(short), memory(whole));
    let peak = peak.over(&short);
    report.goals.extend([
        noted(
            Goal::at_most("s of an import", IMPORT_GOAL, Some(whole.seconds)),
            whole.events,
        ),
        noted(
            Goal::at_most(
                "memory of an import / of a fifth",
                MEMORY_GOAL,
                // SQLite's cache does not fill during a small import.
                peak.ratio().filter(|_| whole.events >= EVENTS),
            ),
            whole.events,
        ),
    ]);
    report.measures.extend([short, peak]);
    let figures = [
        ("import", "s", whole.seconds),
        ("import: processor", "s", whole.cpu_seconds),
        ("import: file", "MB", figure(whole.file_bytes) / MEGABYTE),
        (
            "import: catalog",
            "MB",
            figure(whole.catalog_bytes) / MEGABYTE,
        ),
    ];
    let figures = figures.map(|(name, unit, value)| Measure::single(name, unit, value));
    report.measures.extend(figures);
}

/// Adds the response times to a report: `quiet` without a writer, `syncing` during a sync.
pub(super) fn add_answers(
    report: &mut Report,
    [quiet, syncing]: &[Vec<QueryTimes>; 2],
    events: u64,
) {
    for (asked, when) in [(quiet, ""), (syncing, ", sync writing")] {
        let measures = asked.iter().map(|asked| {
            let name = format!("{}{when}", asked.path);
            Measure::single(name, "ms", asked.times.p50).quantiles(asked.times)
        });
        report.measures.extend(measures);
        if let Some(floor) = asked
            .iter()
            .find(|asked| asked.kind == AnswerKind::Baseline)
        {
            let found = p99(floor);
            let text = format!("a path that is nowhere{when}: {found:.1} ms at p99");
            report.notes.push(text);
        }
        for (kind, word, most) in ANSWER_GOALS_MS {
            let of_kind = asked.iter().filter(|asked| asked.kind == kind);
            let Some(slowest) = of_kind.max_by(|one, other| p99(one).total_cmp(&p99(other))) else {
                continue;
            };
            let (path, found) = (&slowest.path, p99(slowest));
            if !when.is_empty() {
                // During a sync only availability is a goal, not speed.
                let text = format!("the slowest {word}{when}, {path}: {found:.1} ms at p99");
                report.notes.push(text);
                continue;
            }
            let name = format!("ms of the slowest {word}, p99");
            let goal = Goal::at_most(name, most, Some(found));
            report.goals.push(match events < EVENTS {
                true => noted(goal, events),
                false => goal.note(path.clone()),
            });
        }
    }
}

fn p99(asked: &QueryTimes) -> f64 {
    let Quantiles { p99, .. } = asked.times;
    p99
}

/// Notes on a goal that it was measured at another size.
fn noted(goal: Goal, events: u64) -> Goal {
    match events < EVENTS {
        true => goal.note(format!("on {events} events")),
        false => goal,
    }
}

#[allow(clippy::cast_precision_loss, reason = "bytes far below 2^53")]
fn figure(count: u64) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(kind: AnswerKind, p99: f64) -> QueryTimes {
        QueryTimes {
            kind,
            path: format!("/{p99}"),
            times: Quantiles {
                p50: 1.0,
                p99,
                p999: p99,
            },
        }
    }

    #[test]
    fn goals_use_the_slowest_query_of_a_kind() {
        let import = Import {
            events: EVENTS,
            seconds: 61.0,
            cpu_seconds: 30.0,
            peak_bytes: 125,
            file_bytes: 1,
            catalog_bytes: 1,
        };
        let short = Import {
            peak_bytes: 100,
            ..import
        };
        let mut report = Report::begin("catalog", "none");
        add_imports(&mut report, &[short, import]);
        let quiet = vec![
            asked(AnswerKind::List, 19.0),
            asked(AnswerKind::List, 21.0),
            asked(AnswerKind::Record, 2.0),
            asked(AnswerKind::Search, 30.5),
        ];
        let syncing = vec![
            asked(AnswerKind::Record, 9.0),
            asked(AnswerKind::Baseline, 3.0),
        ];
        add_answers(&mut report, &[quiet, syncing], EVENTS);
        let found: Vec<_> = report.goals.iter().map(|goal| goal.found).collect();
        assert_eq!(found, [61.0, 1.25, 21.0, 2.0, 30.5].map(Some));
        let met: Vec<_> = report.goals.iter().map(Goal::is_met).collect();
        assert_eq!(met, [false, true, false, true, false]);
        assert_eq!(report.goals[2].note.as_deref(), Some("/21"));
        let notes = [
            "a path that is nowhere, sync writing: 3.0 ms at p99",
            "the slowest record, sync writing, /9: 9.0 ms at p99",
        ];
        assert!(report.notes.ends_with(&notes.map(str::to_owned)));
    }
}
