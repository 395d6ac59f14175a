//! Runs every measurement in one run of at most 15 minutes on two cores, and prints the table of
//! all goals. Or checks that every measurement runs: with the same markets and accounts, but few
//! commands and seconds.
//!
//! Each is a process of its own: whatever ends it, a panic too, leaves the others.

mod parts;
mod process;

use std::path::Path;
use std::process::Command;

use clap::Args;

use self::parts::{PARTS, Part};
use self::process::measured;
use super::ScratchDir;
use crate::error::MeasureError;
use crate::report::{Goal, Report};

/// Maximum duration of the run.
const MOST_MINUTES: f64 = 15.0;
const SECONDS_PER_MINUTE: f64 = 60.0;

/// Arguments of `foretell-bench all`.
#[derive(Debug, Args)]
pub struct AllScope {
    /// Only check that every part runs: few commands, no figures
    ///
    /// Markets, wallets and accounts of each part are those of a whole run. Its time is not: figures would
    /// mean nothing, so there are none.
    #[arg(long)]
    quick: bool,
    /// Run only these parts, by the names in the output
    #[arg(long, value_name = "NAME", value_delimiter = ';')]
    only: Vec<String>,
    #[command(flatten)]
    scratch: ScratchDir,
}

impl AllScope {
    /// Runs the chosen parts in sequence and prints the name of each to standard error.
    pub(crate) fn run(&self) -> Result<Report, MeasureError> {
        let chosen = chosen(&self.only)?;
        let program = std::env::current_exe().map_err(MeasureError::io("finding this program"))?;
        let directory = self.scratch.directory("all")?;
        let all = run(&chosen, |part| {
            let words = self.words(part, directory.path());
            measured(Command::new(&program).arg("--json").args(words))
        });
        Ok(match self.quick {
            true => without_figures(all),
            false => timed(all),
        })
    }

    /// The words of a part's command line.
    fn words(&self, part: &Part, directory: &Path) -> Vec<String> {
        let directory = directory.to_string_lossy();
        let sizes = if self.quick { part.quick } else { part.full };
        let words = part.command.split(' ').chain(sizes.split(' '));
        words.map(|word| word.replace("$DIR", &directory)).collect()
    }
}

/// The parts named in `only`; all without a name.
fn chosen(only: &[String]) -> Result<Vec<Part>, MeasureError> {
    if only.is_empty() {
        return Ok(PARTS.to_vec());
    }
    let by_name = |name: &String| {
        let part = PARTS.iter().find(|part| part.name == name.trim());
        part.copied().ok_or_else(|| {
            let names: Vec<_> = PARTS.iter().map(|part| part.name).collect();
            let names = names.join("; ");
            MeasureError::Wrong(format!(
                "--only {name}: no part has that name; the names are: {names}"
            ))
        })
    };
    only.iter().map(by_name).collect()
}

/// Runs the parts by `measure`. A failed part is a line of the report; the others still run.
fn run(parts: &[Part], measure: impl Fn(&Part) -> Result<Report, MeasureError>) -> Report {
    let mut all = Report::begin("all", "disk");
    for (number, part) in (1..).zip(parts) {
        eprintln!("{number}/{} {}", parts.len(), part.name);
        let mut report = measure(part).unwrap_or_else(|error| failed(part.name, &error));
        part.name.clone_into(&mut report.bench);
        all.goals.extend(report.goals.clone());
        all.parts.push(report);
    }
    let names: Vec<_> = parts.iter().map(|part| part.name).collect();
    all.scope = names.join("; ");
    all.rounds = 1;
    all
}

/// Report of a failed part.
fn failed(name: &str, error: &MeasureError) -> Report {
    let mut report = Report::begin(name, "disk");
    report.error = Some(error.to_string());
    let goal = Goal::at_most(format!("everything of `bench {name}`"), 0.0, None);
    report.goals.push(goal.note(error.to_string()));
    report.end()
}

/// Adds the goal of the whole run.
fn timed(mut all: Report) -> Report {
    let minutes = all.elapsed() / SECONDS_PER_MINUTE;
    let goal = Goal::at_most("minutes of this run", MOST_MINUTES, Some(minutes));
    all.goals.push(goal);
    all.end()
}

/// Leaves of a quick run which parts ran, without their figures, which mean nothing.
fn without_figures(mut all: Report) -> Report {
    all.goals.clear();
    for part in &mut all.parts {
        part.error = part.error.take().or_else(|| missing(part));
        part.measures.clear();
        part.goals.clear();
        part.recordings.clear();
        part.notes.clear();
    }
    let note = "a check that every part runs: no figures";
    all.notes.push(note.to_owned());
    all.end()
}

/// What a part did not measure, without saying why.
fn missing(part: &Report) -> Option<String> {
    if part.measures.is_empty() {
        return Some("it measured nothing".to_owned());
    }
    let measure = (part.measures.iter()).find(|measure| !measure.value.is_finite());
    let goal = (part.goals.iter()).find(|goal| goal.found.is_none() && goal.note.is_none());
    let measure = measure.map(|measure| &measure.name);
    let name = measure.or(goal.map(|goal| &goal.name))?;
    Some(format!("no figure: {name}"))
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::measure::Measurement;
    use crate::report::{Measure, Verdict};

    /// The arguments of a part.
    #[derive(Debug, Parser)]
    #[command(no_binary_name = true)]
    struct Arguments {
        #[command(subcommand)]
        _measurement: Measurement,
    }

    #[test]
    fn a_part_that_fails_leaves_the_others() {
        let fine = PARTS[1];
        let all = run(&PARTS[..2], |part| {
            let mut report = Report::begin("x", "none");
            report.goals.push(Goal::at_most("speed", 2.0, Some(1.0)));
            let broken = MeasureError::wrong("no disk");
            (part.name == fine.name).then(|| report.end()).ok_or(broken)
        });
        let all = timed(all);
        let verdicts: Vec<_> = all.goals.iter().map(|goal| goal.verdict).collect();
        assert_eq!(verdicts, [Verdict::NotMeasured, Verdict::Met, Verdict::Met]);
        assert!(
            all.to_string()
                .contains("bench match, 1 market: failed: no disk\n")
        );
        assert_eq!(all.failed(), [PARTS[0].name]);
        let names: Vec<_> = all.parts.iter().map(|part| part.bench.as_str()).collect();
        assert_eq!(names, [PARTS[0].name, fine.name]);
    }

    /// The report of a quick run of one part with a measure and a goal.
    fn quick(value: Option<f64>, found: Option<f64>, note: Option<&str>) -> Report {
        without_figures(run(&PARTS[..1], |_| {
            let mut report = Report::begin("x", "none");
            let measure = value.map(|value| Measure::single("speed", "s", value));
            report.measures.extend(measure);
            let goal = Goal::at_most("memory", 2.0, found);
            let noted = note.map_or(goal.clone(), |note| goal.note(note));
            report.goals.push(noted);
            Ok(report.end())
        }))
    }

    #[test]
    fn a_quick_run_has_no_figures_but_every_part_must_have_had_its_own() {
        let cases = [
            (Some(9.0), Some(9.0), None, None),
            (Some(9.0), None, Some("too short"), None),
            (Some(9.0), None, None, Some("no figure: memory")),
            (Some(f64::NAN), Some(1.0), None, Some("no figure: speed")),
            (None, Some(1.0), None, Some("it measured nothing")),
        ];
        for (value, found, note, error) in cases {
            let all = quick(value, found, note);
            let part = &all.parts[0];
            assert_eq!(part.error.as_deref(), error);
            assert!(all.goals.is_empty() && part.goals.is_empty() && part.measures.is_empty());
        }
    }

    #[test]
    fn parts_are_chosen_by_name() {
        let names = |only: &[&str]| -> Result<Vec<_>, String> {
            let only: Vec<_> = only.iter().map(|name| (*name).to_owned()).collect();
            let chosen = chosen(&only).map_err(|error| error.to_string())?;
            Ok(chosen.into_iter().map(|part| part.name).collect())
        };
        assert_eq!(names(&[]).unwrap().len(), PARTS.len());
        let two = names(&["journal", " match, 1 market"]).unwrap();
        assert_eq!(two, ["journal", "match, 1 market"]);
        let unknown = names(&["nothing"]).unwrap_err();
        assert!(unknown.contains("match, 1 market; "), "{unknown}");
    }

    #[test]
    fn the_arguments_of_every_part_are_valid() {
        for quick in [false, true] {
            let all = AllScope {
                quick,
                only: Vec::new(),
                scratch: ScratchDir::default(),
            };
            for part in PARTS {
                let words = all.words(part, Path::new("/a b"));
                let parsed = Arguments::try_parse_from(words);
                parsed.unwrap_or_else(|error| panic!("{}: {error}", part.name));
            }
        }
    }
}
