//! Every measurement in one run, small enough that all of it ends within a quarter of an hour on two
//! cores, and the table of all goals.

use std::fmt::Display;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use crate::error::MeasureError;
use crate::reference::Reference;
use crate::report::{Goal, Report};
use crate::{
    catalog, data, entry, journal, load, markets, matching, reads, recover, replay, snapshots,
    start,
};

/// The longest it may take.
const MOST_MINUTES: f64 = 15.0;
const SECONDS_PER_MINUTE: f64 = 60.0;
/// The two streams the core's goals are stated for: markets, commands, orders that rest.
const STREAMS: [(u32, usize, u32); 2] = [(1, 5_000_000, 10_000), (1_000, 5_000_000, 300_000)];

/// Weights of what is asked for under load.
const LOAD_MIX: &str = "place=6,cancel=3,read=1";

/// What the parts need of their surroundings.
pub struct Setting<'a> {
    /// Where temporary directories are made.
    pub directory: &'a Path,
    /// The command line of a gateway that serves a surface on a data directory; it listens on a free
    /// port and tells it.
    pub gateway: &'a dyn Fn(&str, &Path) -> Command,
    /// The command line that puts a file into the catalog of a data directory.
    pub import: &'a dyn Fn(&Path, &Path) -> Command,
    /// A floor of somebody else's, as a command of the shell; see [`Reference::new`].
    pub reference: Option<&'a str>,
}

impl Setting<'_> {
    fn serving(&self, surface: &'static str) -> impl Fn(&Path) -> Command {
        move |data| (self.gateway)(surface, data)
    }
}

/// A measurement of the run.
pub struct Part<'a> {
    /// What it is called.
    pub name: &'static str,
    /// What it does.
    pub measure: &'a dyn Fn(&Setting<'_>) -> Result<Report, MeasureError>,
}

/// The parts of this crate, in the order in which they run. Whoever has more adds them.
pub const PARTS: &[Part<'static>] = &[
    part("match, 1 market", &|setting| stream(setting, STREAMS[0])),
    part("match, 1000 markets", &|setting| {
        stream(setting, STREAMS[1])
    }),
    part("markets", &|_| Ok(markets::measure(1_000_000, 3)?)),
    part("journal", &|setting| {
        let scope = journal::Scope {
            rounds: 7,
            orders: 200,
            turn: Duration::from_secs(1),
        };
        journal::measure(setting.directory, &scope)
    }),
    part("entry", &|setting| {
        entry::measure(setting.directory, 2_000, 10)
    }),
    part("reads", &|setting| {
        reads::measure(setting.directory, 5, Duration::from_secs(8))
    }),
    part("load", &|setting| {
        let scope = load::Scope {
            rounds: 2,
            measured: Duration::from_secs(2),
            mix: LOAD_MIX.parse().map_err(wrong)?,
            connections: 32,
            threads: 1,
            bound: Duration::from_millis(20),
            orders: 2_000,
        };
        load::compare(setting.directory, &scope)
    }),
    part("replay", &|setting| {
        replay::measure(setting.directory, 1_000_000, 3)
    }),
    part("recover", &|setting| {
        recover::measure(setting.directory, 1_000_000, 3)
    }),
    part("snapshots", &|setting| {
        snapshots::measure(setting.directory, 300_000, &setting.serving("trading"))
    }),
    part("start", &|setting| {
        let scope = start::Scope {
            trades: 1_000_000,
            rounds: 3,
            turn: Duration::from_secs(3),
        };
        start::measure(setting.directory, &scope, &setting.serving("trading"))
    }),
    part("data", &|setting| {
        let scope = data::Scope {
            trades: 1_000_000,
            wallets: 20_000,
            markets: 1_000,
            rounds: 3,
        };
        in_scratch(setting, |directory| {
            data::measure(directory, &scope, &setting.serving("data"))
        })
    }),
    part("catalog", &|setting| {
        let scope = catalog::Scope {
            events: 5_000,
            rounds: 10,
        };
        in_scratch(setting, |directory| {
            let gateway = setting.serving("catalog");
            catalog::measure(directory, &scope, setting.import, &gateway)
        })
    }),
];

const fn part(
    name: &'static str,
    measure: &'static dyn Fn(&Setting<'_>) -> Result<Report, MeasureError>,
) -> Part<'static> {
    Part { name, measure }
}

/// Runs the parts one after the other; `begins` hears of each. One that fails is not measured, and
/// the others are.
pub fn measure(parts: &[&Part<'_>], setting: &Setting<'_>, begins: &mut dyn FnMut(&str)) -> Report {
    let mut all = Report::begin("all", "disk");
    for part in parts {
        begins(part.name);
        let mut report = (part.measure)(setting).unwrap_or_else(|error| failed(part.name, &error));
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

/// What is left of a part that did not come to its end.
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

/// The core on a stream made for it.
fn stream(
    setting: &Setting<'_>,
    (markets, commands, live): (u32, usize, u32),
) -> Result<Report, MeasureError> {
    let stream = crate::generate(markets, commands, live).map_err(wrong)?;
    let Some(command) = setting.reference else {
        return matching::compare(&stream, 3, None);
    };
    in_scratch(setting, |directory| {
        let file = directory.join("stream");
        stream.write(&file).map_err(wrong)?;
        matching::compare(&stream, 3, Some(&Reference::new(command, &file)))
    })
}

/// Works in a temporary directory.
fn in_scratch(
    setting: &Setting<'_>,
    work: impl FnOnce(&Path) -> Result<Report, MeasureError>,
) -> Result<Report, MeasureError> {
    let scratch = tempfile::Builder::new()
        .prefix("foretell-all-")
        .tempdir_in(setting.directory)
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
        let setting = Setting {
            directory: &directory,
            gateway: &|_, _| Command::new("false"),
            import: &|_, _| Command::new("false"),
            reference: None,
        };
        let mut begun = Vec::new();
        let all = measure(&[&broken, &fine], &setting, &mut |name| {
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
