//! Reports as text: figures, then goals.

use std::fmt::{self, Display, Formatter};

use super::{Goal, Measure, Report};
use crate::harness::latency::Quantiles;

impl Display for Report {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match &self.error {
            Some(error) => writeln!(f, "bench {}: failed: {error}", self.bench)?,
            None => writeln!(f, "bench {}: {}", self.bench, self.scope)?,
        }
        writeln!(f, "{}", self.stamp)?;
        if !self.measures.is_empty() {
            write_measures(f, self)?;
        }
        for note in &self.notes {
            writeln!(f, "{note}")?;
        }
        for part in &self.parts {
            writeln!(f, "\n{part}")?;
        }
        if self.goals.is_empty() {
            return Ok(());
        }
        let head = ["goal", "found", "limit", ""].map(str::to_owned);
        let rows = std::iter::once(head).chain(self.goals.iter().map(row_of));
        write_columns(f, &rows.collect::<Vec<_>>())
    }
}

fn write_measures(f: &mut Formatter<'_>, report: &Report) -> fmt::Result {
    let rounds = format!("median of {}", report.rounds);
    let head = ["", "unit", &rounds, "p50", "p99", "p99.9", "to the floor"].map(str::to_owned);
    let rows = std::iter::once(head).chain(report.measures.iter().map(cells_of));
    write_columns(f, &rows.collect::<Vec<_>>())
}

fn cells_of(measure: &Measure) -> [String; 7] {
    let quantiles = measure.quantiles;
    let quantile = |of: fn(Quantiles) -> f64| {
        quantiles.map_or_else(String::new, |quantiles| number(of(quantiles)))
    };
    let floor = measure.floor.as_ref();
    [
        measure.name.clone(),
        measure.unit.clone(),
        number(measure.value),
        quantile(|it| it.p50),
        quantile(|it| it.p99),
        quantile(|it| it.p999),
        floor.map_or_else(String::new, |it| format!("{:.2} x {}", it.ratio, it.name)),
    ]
}

fn row_of(goal: &Goal) -> [String; 4] {
    let note = goal.note.as_ref();
    let note = note.map_or_else(String::new, |note| format!(" ({note})"));
    [
        goal.name.clone(),
        goal.found.map_or_else(|| "-".to_owned(), number),
        goal.limit.to_string(),
        format!("{}{note}", goal.verdict),
    ]
}

/// Formats with three digits for small values and whole numbers for large ones, with blanks between
/// thousands.
#[must_use]
pub(crate) fn number(value: f64) -> String {
    let size = value.abs();
    if !value.is_finite() {
        return "-".to_owned();
    }
    if size >= 1_000.0 || value.fract() == 0.0 {
        return thousands(value);
    }
    match size {
        100.0.. => format!("{value:.0}"),
        10.0.. => format!("{value:.1}"),
        0.1.. => format!("{value:.2}"),
        _ => format!("{value:.4}"),
    }
}

fn thousands(value: f64) -> String {
    let digits = format!("{:.0}", value.abs());
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(digit);
    }
    if value < 0.0 {
        format!("-{text}")
    } else {
        text
    }
}

/// Aligned columns: the first and the last left-aligned, numbers right-aligned.
pub(crate) fn write_columns<const N: usize>(
    f: &mut Formatter<'_>,
    rows: &[[String; N]],
) -> fmt::Result {
    let width = |column: usize| {
        let cells = rows.iter().map(|row| row[column].chars().count());
        cells.max().unwrap_or(0)
    };
    let widths: [usize; N] = std::array::from_fn(width);
    for row in rows {
        let mut line = String::new();
        for (column, (cell, width)) in row.iter().zip(widths).enumerate() {
            let padding = " ".repeat(width - cell.chars().count());
            let is_text = column == 0 || column + 1 == N;
            let (before, behind) = if is_text {
                ("", padding.as_str())
            } else {
                (padding.as_str(), "")
            };
            line += &format!("{before}{cell}{behind}  ");
        }
        writeln!(f, "{}", line.trim_end())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_the_digits_that_matter() {
        let cases = [
            (0.0123, "0.0123"),
            (1.2345, "1.23"),
            (18.25, "18.2"),
            (113.4, "113"),
            (1_282.0, "1 282"),
            (12_345_678.9, "12 345 679"),
            (68.0, "68"),
            (f64::NAN, "-"),
        ];
        for (value, text) in cases {
            assert_eq!(number(value), text);
        }
    }

    #[test]
    fn a_report_shows_figures_floors_and_goals() {
        let mut report = Report::begin("match", "none");
        report.scope = "5 commands".to_owned();
        report.rounds = 2;
        let floor = Measure::of("array book", "ns", vec![20.0, 20.0]);
        let core = Measure::of("core", "ns", vec![100.0, 120.0]).over(&floor);
        report.measures.extend([floor, core]);
        report
            .goals
            .push(Goal::at_most("core / array book", 2.5, Some(5.0)));
        report
            .goals
            .push(Goal::at_least("entry", 0.9, None).note("no gateway"));
        let text = report.to_string();
        let words = |line: &str| {
            line.split_whitespace()
                .map(str::to_owned)
                .collect::<Vec<_>>()
        };
        let lines: Vec<_> = text.lines().map(words).collect();
        for line in [
            "unit median of 2 p50 p99 p99.9 to the floor",
            "core ns 100 5.00 x array book",
            "core / array book 5 <= 2.5 NOT MET",
            "entry - >= 0.9 not measured (no gateway)",
        ] {
            assert!(lines.contains(&words(line)), "{line}\n{text}");
        }
    }
}
