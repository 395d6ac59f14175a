//! Compares two reports: changes for better or worse that exceed the noise.
//! A measure with a baseline is compared by its ratio to the baseline, which holds across machines;
//! a measure without one is compared directly and, across machines, not judged. A change exceeds
//! the noise when the rounds of the two runs do not overlap and the medians differ by more than
//! [`LEAST_CHANGE`]. A measure with a single round is not judged, unless it is a size, which does
//! not vary.

use std::fmt::{self, Display};

use serde::Serialize;

use crate::report::{Better, Goal, Measure, Report, number, write_columns};

/// Changes up to this fraction always count as noise: 3%.
pub const LEAST_CHANGE: f64 = 0.03;

/// Change of a measure.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// Better, beyond the noise.
    Better,
    /// Worse, beyond the noise.
    Worse,
    /// Within the noise.
    Same,
    /// Not judged: another machine, or a single round.
    Unknown,
}

/// A measure in both reports.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct ComparedMeasure {
    /// Names of bench and measure.
    pub name: String,
    /// The measure's unit; `x` and the baseline's name if ratios are compared.
    pub unit: String,
    /// Value of the earlier run.
    pub before: f64,
    /// Value of the later run.
    pub after: f64,
    /// Later value divided by the earlier.
    pub ratio: f64,
    /// Judgement of the change.
    pub change: Change,
}

/// Comparison of two runs.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Comparison {
    /// Measures in both runs, in the order of the later one.
    pub rows: Vec<ComparedMeasure>,
    /// Goals that only the earlier run met.
    pub lost: Vec<String>,
    /// Remarks for the reader: different machines, different sizes, measures of one run only.
    pub remarks: Vec<String>,
}

impl Comparison {
    /// Compares a run with an earlier one.
    #[must_use]
    pub fn of(before: &Report, after: &Report) -> Self {
        let same_machine = machine(before) == machine(after);
        let (old, new) = (measures(before), measures(after));
        let of_both = new.iter().filter_map(|(name, later)| {
            let (_, earlier) = old.iter().find(|(earlier, _)| earlier == name)?;
            Some(row(name, earlier, later, same_machine))
        });
        let mut remarks = remarks(before, after);
        remarks.extend(lone(&new, &old, "later"));
        remarks.extend(lone(&old, &new, "earlier"));
        Self {
            rows: of_both.collect(),
            lost: lost(&before.goals, &after.goals),
            remarks,
        }
    }

    /// Whether no measure got worse beyond the noise and no goal was lost.
    #[must_use]
    pub fn is_no_worse(&self) -> bool {
        self.lost.is_empty() && self.rows.iter().all(|row| row.change != Change::Worse)
    }
}

/// The environment that makes values comparable.
fn machine(report: &Report) -> (&str, usize, bool) {
    let stamp = &report.stamp;
    (&stamp.machine, stamp.cores, stamp.optimised)
}

/// Every measure, keyed by bench and name.
fn measures(report: &Report) -> Vec<(String, &Measure)> {
    let leaves = report.leaves().into_iter();
    leaves
        .flat_map(|leaf| {
            let measures = leaf.measures.iter();
            measures.map(|measure| (format!("{}: {}", leaf.bench, measure.name), measure))
        })
        .collect()
}

fn row(name: &str, earlier: &Measure, later: &Measure, same_machine: bool) -> ComparedMeasure {
    let (unit, [old, new], [before, after], judged) = match (&earlier.floor, &later.floor) {
        (Some(old), Some(new)) if old.name == new.name => (
            format!("x {}", new.name),
            [&old.ratios, &new.ratios],
            [old.ratio, new.ratio],
            true,
        ),
        _ => (
            later.unit.clone(),
            [&earlier.rounds, &later.rounds],
            [earlier.value, later.value],
            same_machine,
        ),
    };
    let swings = unit != "bytes";
    let enough = !swings || (old.len() > 1 && new.len() > 1);
    let ratio = after / before;
    let change = if !judged || !enough || !ratio.is_finite() {
        Change::Unknown
    } else if (ratio - 1.0).abs() <= LEAST_CHANGE || (swings && overlap(old, new)) {
        Change::Same
    } else if (ratio < 1.0) == (later.better == Better::Lower) {
        Change::Better
    } else {
        Change::Worse
    };
    ComparedMeasure {
        name: name.to_owned(),
        unit,
        before,
        after,
        ratio,
        change,
    }
}

/// Whether the ranges of the rounds overlap.
fn overlap(one: &[f64], other: &[f64]) -> bool {
    let ends = |rounds: &[f64]| {
        rounds
            .iter()
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), round| {
                (low.min(*round), high.max(*round))
            })
    };
    let ((low, high), (other_low, other_high)) = (ends(one), ends(other));
    low <= other_high && other_low <= high
}

fn lost(before: &[Goal], after: &[Goal]) -> Vec<String> {
    let met = before.iter().filter(|goal| goal.is_met());
    let lost = met.filter_map(|goal| {
        let now = after.iter().find(|later| later.name == goal.name)?;
        let found = now.found.map_or_else(|| "-".to_owned(), number);
        (!now.is_met()).then(|| format!("{}: {found}, {} ({})", now.name, now.limit, now.verdict))
    });
    lost.collect()
}

fn remarks(before: &Report, after: &Report) -> Vec<String> {
    let mut remarks = vec![
        format!("earlier: {}", before.stamp),
        format!("later:   {}", after.stamp),
    ];
    if machine(before) != machine(after) {
        remarks.push("another machine or build: only ratios to baselines are judged".to_owned());
    }
    if before.stamp.durability != after.stamp.durability {
        remarks.push("another durability: acknowledgements are not the same".to_owned());
    }
    remarks
}

fn lone(these: &[(String, &Measure)], others: &[(String, &Measure)], which: &str) -> Vec<String> {
    let missing = these
        .iter()
        .filter(|(name, _)| others.iter().all(|(other, _)| other != name));
    missing
        .map(|(name, _)| format!("only the {which} run has {name}"))
        .collect()
}

impl Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for remark in &self.remarks {
            writeln!(f, "{remark}")?;
        }
        let head = ["", "unit", "earlier", "later", "ratio", ""].map(str::to_owned);
        let rows = self.rows.iter().map(|row| {
            let verdict = match row.change {
                Change::Better => "better",
                Change::Worse => "WORSE",
                Change::Same => "",
                Change::Unknown => "not judged",
            };
            [
                row.name.clone(),
                row.unit.clone(),
                number(row.before),
                number(row.after),
                format!("{:.3}", row.ratio),
                verdict.to_owned(),
            ]
        });
        write_columns(f, &std::iter::once(head).chain(rows).collect::<Vec<_>>())?;
        for goal in &self.lost {
            writeln!(f, "goal lost: {goal}")?;
        }
        if self.is_no_worse() {
            return writeln!(f, "nothing got worse beyond the noise");
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A report with one measure of these rounds; its baseline is all ones, or absent.
    fn report(unit: &str, rounds: &[f64], with_floor: bool) -> Report {
        let mut report = Report::begin("match", "none");
        let floor = Measure::of("floor", "ns", vec![1.0; rounds.len()]);
        let mut measure = Measure::of("core", unit, rounds.to_vec());
        if with_floor {
            measure = measure.over(&floor);
        }
        report.measures.push(measure);
        report.end()
    }

    #[test]
    fn only_changes_beyond_the_noise_count() {
        // Unit, before, after, expected change.
        type Case<'a> = (&'a str, &'a [f64], &'a [f64], Change);
        let cases: &[Case<'_>] = &[
            (
                "ns",
                &[10.0, 11.0, 10.5],
                &[12.0, 12.5, 13.0],
                Change::Worse,
            ),
            ("ns", &[10.0, 11.0, 10.5], &[9.0, 8.5, 9.5], Change::Better),
            ("ns", &[10.0, 12.5, 10.5], &[12.0, 12.5, 13.0], Change::Same),
            ("ns", &[10.0, 10.0, 10.0], &[10.2, 10.2, 10.2], Change::Same),
            ("ns", &[10.0], &[20.0], Change::Unknown),
            ("bytes", &[100.0], &[104.0], Change::Worse),
            ("bytes", &[100.0], &[102.0], Change::Same),
        ];
        for (unit, before, after, expected) in cases {
            let comparison =
                Comparison::of(&report(unit, before, false), &report(unit, after, false));
            assert_eq!(
                comparison.rows[0].change, *expected,
                "{unit} {before:?} {after:?}"
            );
            assert_eq!(comparison.is_no_worse(), *expected != Change::Worse);
        }
    }

    #[test]
    fn another_machine_is_judged_by_floors_alone() {
        for with_floor in [true, false] {
            let before = report("ns", &[10.0, 10.0], with_floor);
            let mut after = report("ns", &[20.0, 20.0], with_floor);
            after.stamp.machine = "another".to_owned();
            let comparison = Comparison::of(&before, &after);
            assert_eq!(comparison.rows[0].change == Change::Worse, with_floor);
            assert!(comparison.to_string().contains("another machine"));
        }
    }

    #[test]
    fn rates_get_worse_by_falling_and_lost_goals_count() {
        let run = |rate: f64| {
            let mut report = report("ns", &[1.0, 1.0], false);
            let rates = Measure::of("rate", "1/s", vec![rate, rate]).higher();
            report.measures.push(rates);
            report.goals.push(Goal::at_least("rate", 5.0, Some(rate)));
            report
        };
        let comparison = Comparison::of(&run(10.0), &run(4.0));
        assert_eq!(comparison.rows[1].change, Change::Worse);
        assert_eq!(comparison.lost.len(), 1);
        let comparison = Comparison::of(&run(4.0), &run(10.0));
        assert_eq!(comparison.rows[1].change, Change::Better);
        assert!(comparison.is_no_worse());
    }
}
