//! Runs every measurement in one run of at most 15 minutes on two cores, and prints the table of
//! all goals.

use std::path::Path;

use clap::{Args, Parser};

use super::{Measurement, ScratchDir};
use crate::error::MeasureError;
use crate::report::{Goal, Report};

/// Maximum duration of the run.
const MOST_MINUTES: f64 = 15.0;
const SECONDS_PER_MINUTE: f64 = 60.0;

/// Every part: its name in the report, and the arguments of its measurement. `$DIR` is the directory
/// of temporary data.
const PARTS: &[(&str, &str)] = &[
    ("match, 1 market", "match --stream $DIR/1 --rounds 3"),
    ("match, 1000 markets", "match --stream $DIR/1000 --rounds 3"),
    ("markets", "markets --commands 1000000 --rounds 3"),
    ("journal", "journal --orders 200 --scratch $DIR"),
    ("entry", "entry --scratch $DIR"),
    ("quotes", "quotes --requests 200 --scratch $DIR"),
    ("settle", "settle --scratch $DIR"),
    ("reads", "reads --seconds 8 --scratch $DIR"),
    (
        "streams",
        "streams --connections 2000 --rounds 2 --seconds 2 --scratch $DIR",
    ),
    ("load", "load --rounds 2 --seconds 2 --scratch $DIR"),
    ("replay", "replay --rounds 3 --scratch $DIR"),
    ("fold", "fold --scratch $DIR"),
    ("recover", "recover --rounds 3 --scratch $DIR"),
    ("snapshots", "snapshots --trades 300000 --scratch $DIR"),
    ("start", "start --trades 1000000 --seconds 3 --scratch $DIR"),
    (
        "data",
        "data --trades 1000000 --wallets 20000 --markets 1000 --rounds 3 --cache $DIR",
    ),
    ("catalog", "catalog --events 5000 --rounds 10 --cache $DIR"),
];
/// Streams of the core's goals: file name, markets, resting orders.
const STREAMS: [(&str, u32, u32); 2] = [("1", 1, 10_000), ("1000", 1_000, 300_000)];
const STREAM_COMMANDS: usize = 5_000_000;

/// Arguments of `foretell-bench all`.
#[derive(Debug, Args)]
pub struct AllScope {
    /// Run only these parts, by the names in the output
    #[arg(long, value_name = "NAME", value_delimiter = ';')]
    only: Vec<String>,
    /// Baseline command: processes $STREAM, prints `N ns/op`
    #[arg(long, value_name = "COMMAND")]
    reference: Option<String>,
    #[command(flatten)]
    scratch: ScratchDir,
}

/// The arguments of a part.
#[derive(Debug, Parser)]
#[command(no_binary_name = true)]
struct Part {
    #[command(subcommand)]
    measurement: Measurement,
}

impl AllScope {
    /// Runs the chosen parts in sequence and prints the name of each to standard error.
    pub(crate) fn run(&self) -> Result<Report, MeasureError> {
        let chosen = chosen(&self.only)?;
        let directory = self.scratch.directory("all")?;
        Ok(run(&chosen, |arguments| {
            let part = self.part(arguments, directory.path())?;
            if let Measurement::Match(scope) = &part.measurement {
                write_stream(scope.stream())?;
            }
            part.measurement.run()
        }))
    }

    fn part(&self, arguments: &str, directory: &Path) -> Result<Part, MeasureError> {
        let directory = directory.to_string_lossy();
        let words = arguments.split(' ');
        let mut words: Vec<_> = words.map(|word| word.replace("$DIR", &directory)).collect();
        if let Some(command) = self.reference.as_ref().filter(|_| words[0] == "match") {
            words.extend(["--reference".to_owned(), command.clone()]);
        }
        Part::try_parse_from(words).map_err(MeasureError::wrong)
    }
}

/// Writes one of [`STREAMS`].
fn write_stream(file: &Path) -> Result<(), MeasureError> {
    let stream = STREAMS.iter().find(|(name, ..)| file.ends_with(name));
    let (_, markets, live) = *stream.expect("every stream of a part is listed");
    Ok(crate::generate(markets, STREAM_COMMANDS, live)?.write(file)?)
}

/// The parts named in `only`; all without a name.
fn chosen(only: &[String]) -> Result<Vec<(&'static str, &'static str)>, MeasureError> {
    if only.is_empty() {
        return Ok(PARTS.to_vec());
    }
    let by_name = |name: &String| {
        let part = PARTS.iter().find(|(known, _)| *known == name.trim());
        part.copied().ok_or_else(|| {
            let names: Vec<_> = PARTS.iter().map(|(name, _)| *name).collect();
            let names = names.join("; ");
            MeasureError::Wrong(format!(
                "--only {name}: no part has that name; the names are: {names}"
            ))
        })
    };
    only.iter().map(by_name).collect()
}

/// Runs the parts by `measure`. A failed part is reported as not measured; the others still run.
fn run(parts: &[(&str, &str)], measure: impl Fn(&str) -> Result<Report, MeasureError>) -> Report {
    let mut all = Report::begin("all", "disk");
    for (number, (name, arguments)) in (1..).zip(parts) {
        eprintln!("{number}/{} {name}", parts.len());
        let mut report = measure(arguments).unwrap_or_else(|error| failed(name, &error));
        (*name).clone_into(&mut report.bench);
        all.goals.extend(report.goals.clone());
        all.parts.push(report);
    }
    let names: Vec<_> = parts.iter().map(|(name, _)| *name).collect();
    all.scope = names.join("; ");
    all.rounds = 1;
    let minutes = all.elapsed() / SECONDS_PER_MINUTE;
    let goal = Goal::at_most("minutes of this run", MOST_MINUTES, Some(minutes));
    all.goals.push(goal);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Verdict;

    #[test]
    fn a_part_that_fails_leaves_the_others() {
        let parts = [("broken", "none"), ("fine", "some")];
        let all = run(&parts, |arguments| {
            let mut report = Report::begin("x", "none");
            report.goals.push(Goal::at_most("speed", 2.0, Some(1.0)));
            let broken = MeasureError::wrong("no disk");
            (arguments == "some").then(|| report.end()).ok_or(broken)
        });
        let verdicts: Vec<_> = all.goals.iter().map(|goal| goal.verdict).collect();
        assert_eq!(verdicts, [Verdict::NotMeasured, Verdict::Met, Verdict::Met]);
        assert!(all.to_string().contains("no disk"));
        let names: Vec<_> = all.parts.iter().map(|part| part.bench.as_str()).collect();
        assert_eq!(names, ["broken", "fine"]);
    }

    #[test]
    fn parts_are_chosen_by_name() {
        let names = |only: &[&str]| -> Result<Vec<_>, String> {
            let only: Vec<_> = only.iter().map(|name| (*name).to_owned()).collect();
            let chosen = chosen(&only).map_err(|error| error.to_string())?;
            Ok(chosen.into_iter().map(|(name, _)| name).collect())
        };
        assert_eq!(names(&[]).unwrap().len(), PARTS.len());
        let two = names(&["journal", " match, 1 market"]).unwrap();
        assert_eq!(two, ["journal", "match, 1 market"]);
        let unknown = names(&["nothing"]).unwrap_err();
        assert!(unknown.contains("match, 1 market; "), "{unknown}");
    }

    #[test]
    fn the_arguments_of_every_part_are_valid() {
        let all = AllScope {
            only: Vec::new(),
            reference: Some("own --array".to_owned()),
            scratch: ScratchDir::default(),
        };
        for (name, arguments) in PARTS {
            let part = all.part(arguments, Path::new("/a b"));
            let part = part.unwrap_or_else(|error| panic!("{name}: {error}"));
            if let Measurement::Match(scope) = &part.measurement {
                assert!(scope.stream().starts_with("/a b"), "{name}");
            }
        }
    }
}
