//! Runs every measurement in one run of at most 15 minutes on two cores, and prints the table of
//! all goals.

use std::fmt::Display;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use crate::baselines::external::ExternalBaseline;
use crate::error::MeasureError;
use crate::measure::{
    catalog, data, entry, journal, load, markets, matching, reads, recover, replay, snapshots,
    start,
};
use crate::report::{Goal, Report};

/// Maximum duration of the run.
const MOST_MINUTES: f64 = 15.0;
const SECONDS_PER_MINUTE: f64 = 60.0;
/// Streams of the core's goals: markets, commands, resting orders.
const STREAMS: [(u32, usize, u32); 2] = [(1, 5_000_000, 10_000), (1_000, 5_000_000, 300_000)];

/// Weights of the requests under load.
const LOAD_MIX: &str = "place=6,cancel=3,read=1";

/// Environment of the parts.
pub struct RunEnvironment<'a> {
    /// Parent of the temporary directories.
    pub directory: &'a Path,
    /// Command line of a gateway that serves one surface on a data directory. The gateway listens
    /// on a free port and reports it.
    pub gateway: &'a dyn Fn(&str, &Path) -> Command,
    /// Command line that imports a file into the catalog of a data directory.
    pub import: &'a dyn Fn(&Path, &Path) -> Command,
    /// External baseline, as a shell command; see [`ExternalBaseline::new`].
    pub reference: Option<&'a str>,
}

impl RunEnvironment<'_> {
    fn serving(&self, surface: &'static str) -> impl Fn(&Path) -> Command {
        move |data| (self.gateway)(surface, data)
    }
}

/// A part of the run.
pub struct Part<'a> {
    /// Name in the report.
    pub name: &'static str,
    /// Runs the part.
    pub measure: &'a dyn Fn(&RunEnvironment<'_>) -> Result<Report, MeasureError>,
}

/// Parts of this crate, in order. Callers may add more.
pub const PARTS: &[Part<'static>] = &[
    part("match, 1 market", &|environment| {
        stream(environment, STREAMS[0])
    }),
    part("match, 1000 markets", &|environment| {
        stream(environment, STREAMS[1])
    }),
    part("markets", &|_| Ok(markets::measure(1_000_000, 3)?)),
    part("journal", &|environment| {
        let scope = journal::JournalScope {
            rounds: 7,
            orders: 200,
            turn: Duration::from_secs(1),
        };
        journal::measure(environment.directory, &scope)
    }),
    part("entry", &|environment| {
        entry::measure(environment.directory, 2_000, 10)
    }),
    part("reads", &|environment| {
        reads::measure(environment.directory, 5, Duration::from_secs(8))
    }),
    part("load", &|environment| {
        let scope = load::CompareScope {
            rounds: 2,
            measured: Duration::from_secs(2),
            mix: LOAD_MIX.parse().map_err(wrong)?,
            connections: 32,
            threads: 1,
            bound: Duration::from_millis(20),
            orders: 2_000,
        };
        load::compare(environment.directory, &scope)
    }),
    part("replay", &|environment| {
        replay::measure(environment.directory, 1_000_000, 3)
    }),
    part("recover", &|environment| {
        recover::measure(environment.directory, 1_000_000, 3)
    }),
    part("snapshots", &|environment| {
        snapshots::measure(
            environment.directory,
            300_000,
            &environment.serving("trading"),
        )
    }),
    part("start", &|environment| {
        let scope = start::StartScope {
            trades: 1_000_000,
            rounds: 3,
            turn: Duration::from_secs(3),
        };
        start::measure(
            environment.directory,
            &scope,
            &environment.serving("trading"),
        )
    }),
    part("data", &|environment| {
        let scope = data::DataScope {
            trades: 1_000_000,
            wallets: 20_000,
            markets: 1_000,
            rounds: 3,
        };
        in_scratch(environment, |directory| {
            data::measure(directory, &scope, &environment.serving("data"))
        })
    }),
    part("catalog", &|environment| {
        let scope = catalog::CatalogScope {
            events: 5_000,
            rounds: 10,
        };
        in_scratch(environment, |directory| {
            let gateway = environment.serving("catalog");
            catalog::measure(directory, &scope, environment.import, &gateway)
        })
    }),
];

const fn part(
    name: &'static str,
    measure: &'static dyn Fn(&RunEnvironment<'_>) -> Result<Report, MeasureError>,
) -> Part<'static> {
    Part { name, measure }
}

/// Runs the parts in sequence and calls `begins` for each. A failed part is reported as not
/// measured; the others still run.
pub fn measure(
    parts: &[&Part<'_>],
    environment: &RunEnvironment<'_>,
    begins: &mut dyn FnMut(&str),
) -> Report {
    let mut all = Report::begin("all", "disk");
    for part in parts {
        begins(part.name);
        let mut report =
            (part.measure)(environment).unwrap_or_else(|error| failed(part.name, &error));
        part.name.clone_into(&mut report.bench);
        all.goals.extend(report.goals.clone());
        all.parts.push(report);
    }
    let names: Vec<_> = parts.iter().map(|part| part.name).collect();
    all.scope = names.join("; ");
    all.rounds = 1;
    let minutes = all.elapsed() / SECONDS_PER_MINUTE;
    all.goals.push(Goal::at_most(
        "minutes of this run",
        MOST_MINUTES,
        Some(minutes),
    ));
    all.end()
}

/// Report of a failed part.
fn failed(name: &str, error: &MeasureError) -> Report {
    let mut report = Report::begin(name, "disk");
    report.scope = format!("failed: {error}");
    let goal = Goal::at_most(format!("everything of `bench {name}`"), 0.0, None);
    report.goals.push(goal.note(error.to_string()));
    report.end()
}

fn wrong(error: impl Display) -> MeasureError {
    MeasureError::Wrong(error.to_string())
}

/// Measures the core on a generated stream.
fn stream(
    environment: &RunEnvironment<'_>,
    (markets, commands, live): (u32, usize, u32),
) -> Result<Report, MeasureError> {
    let stream = crate::generate(markets, commands, live).map_err(wrong)?;
    let Some(command) = environment.reference else {
        return matching::compare(&stream, 3, None);
    };
    in_scratch(environment, |directory| {
        let file = directory.join("stream");
        stream.write(&file).map_err(wrong)?;
        matching::compare(&stream, 3, Some(&ExternalBaseline::new(command, &file)))
    })
}

/// Runs `work` in a temporary directory.
fn in_scratch(
    environment: &RunEnvironment<'_>,
    work: impl FnOnce(&Path) -> Result<Report, MeasureError>,
) -> Result<Report, MeasureError> {
    let scratch = tempfile::Builder::new()
        .prefix("foretell-all-")
        .tempdir_in(environment.directory)
        .map_err(MeasureError::io("making a temporary directory"))?;
    work(scratch.path())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Verdict;

    #[test]
    fn a_part_that_fails_leaves_the_others() {
        let fine = Part {
            name: "fine",
            measure: &|_| {
                let mut report = Report::begin("x", "none");
                report.goals.push(Goal::at_most("speed", 2.0, Some(1.0)));
                Ok(report.end())
            },
        };
        let broken = Part {
            name: "broken",
            measure: &|_| Err(MeasureError::Wrong("no disk".to_owned())),
        };
        let directory = std::env::temp_dir();
        let environment = RunEnvironment {
            directory: &directory,
            gateway: &|_, _| Command::new("false"),
            import: &|_, _| Command::new("false"),
            reference: None,
        };
        let mut begun = Vec::new();
        let all = measure(&[&broken, &fine], &environment, &mut |name| {
            begun.push(name.to_owned())
        });
        assert_eq!(begun, ["broken", "fine"]);
        let verdicts: Vec<_> = all.goals.iter().map(|goal| goal.verdict).collect();
        assert_eq!(verdicts, [Verdict::NotMeasured, Verdict::Met, Verdict::Met]);
        assert!(all.to_string().contains("no disk"));
        let names: Vec<_> = all.parts.iter().map(|part| part.bench.as_str()).collect();
        assert_eq!(names, ["broken", "fine"]);
    }
}
