//! Draws reports as one self-contained HTML page: goals, figures, percentile curves and a timeline
//! as SVG. It opens from disk in light and dark mode.

mod charts;

use super::{Goal, Recording, Report, Verdict, number};
use crate::harness::latency::Quantiles;

/// Style sheet of the page.
const STYLE: &str = include_str!("page/style.css");

/// A source of the page: a report, or the recordings of a histogram log.
#[derive(Clone, Debug)]
pub enum Source {
    /// A report.
    Report(Box<Report>),
    /// Recordings of a histogram log.
    Log(Vec<Recording>),
}

/// The page for some sources, each with its heading.
#[must_use]
pub fn draw(sources: &[(String, Source)]) -> String {
    let sections = sources.iter().map(|(name, source)| {
        let content = match source {
            Source::Report(report) => report_section(report),
            Source::Log(recordings) => charts_of(recordings),
        };
        format!("<h1>{}</h1>\n{content}", escape(name))
    });
    let sections: String = sections.collect();
    format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n<title>foretell-bench</title>\n\
         <style>\n{STYLE}</style></head>\n<body><main>\n{sections}</main></body></html>\n"
    )
}

fn report_section(report: &Report) -> String {
    let leaves = report.leaves().into_iter().map(|leaf| {
        let (bench, scope) = (escape(&leaf.bench), escape(&leaf.scope));
        let notes = leaf.notes.iter().map(|note| paragraph("note", note));
        format!(
            "<section><h2>{bench}</h2>\n<p>{scope}</p>\n{}{}{}</section>\n",
            measures_of(leaf),
            charts_of(&leaf.recordings),
            notes.collect::<String>()
        )
    });
    let stamp = paragraph("stamp", &report.stamp.to_string());
    stamp + &goals_of(&report.goals) + &leaves.collect::<String>()
}

fn goals_of(goals: &[Goal]) -> String {
    if goals.is_empty() {
        return String::new();
    }
    let rows = goals.iter().map(|goal| {
        let class = match goal.verdict {
            Verdict::Met => "met",
            Verdict::NotMet => "missed",
            Verdict::NotMeasured => "unknown",
        };
        let note = goal.note.as_ref();
        let note = note.map_or_else(String::new, |note| format!(" ({note})"));
        vec![
            ("", goal.name.clone()),
            ("n", goal.found.map_or_else(|| "–".to_owned(), number)),
            ("n", goal.limit.to_string()),
            (class, format!("{}{note}", goal.verdict)),
        ]
    });
    let met = goals.iter().filter(|goal| goal.is_met()).count();
    let heading = format!("<h2>Goals: {met} of {} met</h2>\n", goals.len());
    heading + &table(&["goal", "found", "limit", ""], rows)
}

fn measures_of(report: &Report) -> String {
    if report.measures.is_empty() {
        return String::new();
    }
    let rows = report.measures.iter().map(|measure| {
        let quantiles = measure.quantiles;
        let quantile =
            |of: fn(Quantiles) -> f64| ("n", quantiles.map(of).map_or_else(String::new, number));
        let floor = measure.floor.as_ref();
        let floor = floor.map(|floor| format!("{:.2} × {}", floor.ratio, floor.name));
        vec![
            ("", measure.name.clone()),
            ("", measure.unit.clone()),
            ("n", number(measure.value)),
            quantile(|it| it.p50),
            quantile(|it| it.p99),
            quantile(|it| it.p999),
            ("", floor.unwrap_or_default()),
        ]
    });
    let rounds = format!("median of {}", report.rounds);
    let head = [
        "measure",
        "unit",
        &rounds,
        "p50",
        "p99",
        "p99.9",
        "to the floor",
    ];
    table(&head, rows)
}

fn charts_of(recordings: &[Recording]) -> String {
    charts::percentiles(recordings) + &charts::timeline(recordings)
}

/// A table of cells, each with its class and text.
fn table(head: &[&str], rows: impl Iterator<Item = Vec<(&'static str, String)>>) -> String {
    let head: String = head.iter().map(|text| format!("<th>{text}")).collect();
    let cell = |(class, text): (&str, String)| format!("<td class=\"{class}\">{}", escape(&text));
    let rows = rows.map(|cells| {
        let cells: String = cells.into_iter().map(cell).collect();
        format!("<tr>{cells}</tr>\n")
    });
    let rows: String = rows.collect();
    format!("<table><tr>{head}</tr>\n{rows}</table>\n")
}

fn paragraph(class: &str, text: &str) -> String {
    format!("<p class=\"{class}\">{}</p>\n", escape(text))
}

/// Escapes text for HTML.
fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{Interval, Measure};
    use hdrhistogram::Histogram;

    fn report() -> Report {
        let mut histogram = Histogram::<u64>::new_with_max(1_000_000_000, 3).unwrap();
        (1..=2_000).for_each(|nanos| histogram.record(nanos * 100).unwrap());
        let mut report = Report::begin("entry", "disk");
        report.scope = "2 < 3 & \"more\"".to_owned();
        for at in [0.0, 1.0, 2.0] {
            report.record("answer", Interval::new(at, 1.0, &histogram));
        }
        let floor = Measure::of("floor", "us", vec![1.0]);
        let answer = Measure::of("answer", "us", vec![3.0]).over(&floor);
        report.measures.extend([floor, answer]);
        report
            .goals
            .push(Goal::at_most("answer / floor", 2.0, Some(3.0)));
        report.end()
    }

    #[test]
    fn a_page_is_self_contained() {
        let page = draw(&[("run.json".to_owned(), Source::Report(Box::new(report())))]);
        for word in [
            "src=", "href=", "@import", "url(", "http://", "https://", "<script",
        ] {
            assert!(!page.contains(word), "{word}");
        }
        assert!(page.contains("prefers-color-scheme: dark"));
        for open in ["<table", "<svg", "<section", "<main"] {
            let close = format!("</{}", &open[1..]);
            let count = |tag: &str| page.matches(tag).count();
            assert!(count(open) > 0 && count(open) == count(&close), "{open}");
        }
    }

    #[test]
    fn goals_curves_and_timeline_are_on_it_and_text_is_text() {
        let log = Source::Log(report().recordings);
        let page = draw(&[
            ("run.json".to_owned(), Source::Report(Box::new(report()))),
            ("run.hlog".to_owned(), log),
        ]);
        assert!(page.contains("0 of 1 met") && page.contains("NOT MET"));
        assert!(page.contains("2 &lt; 3 &amp; &quot;more&quot;"));
        assert!(page.contains("3.00 × floor"));
        // One chart of curves and one timeline per source.
        assert_eq!(page.matches("<svg").count(), 4);
        assert!(page.contains("99.9%"));
    }
}
