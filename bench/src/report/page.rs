//! Draws reports as one self-contained HTML page: goals, figures, percentile curves and a timeline
//! as SVG. It opens from disk in light and dark mode.

mod chart;
mod curves;
mod timeline;

use std::fmt::Write as _;

use crate::report::{Baseline, Goal, Measure, Recording, Report, Verdict, number};

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
    let mut page = String::from(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n<title>foretell bench</title>\n",
    );
    put(
        &mut page,
        format_args!("<style>\n{STYLE}</style></head>\n<body><main>\n"),
    );
    for (name, source) in sources {
        put(&mut page, format_args!("<h1>{}</h1>\n", escape(name)));
        match source {
            Source::Report(report) => put_report(&mut page, report),
            Source::Log(recordings) => put_recordings(&mut page, recordings),
        }
    }
    page.push_str("</main></body></html>\n");
    page
}

fn put_report(page: &mut String, report: &Report) {
    put(
        page,
        format_args!(
            "<p class=\"stamp\">{}</p>\n",
            escape(&report.stamp.to_string())
        ),
    );
    put_goals(page, &report.goals);
    for leaf in report.leaves() {
        put(
            page,
            format_args!(
                "<section><h2>{}</h2>\n<p>{}</p>\n",
                escape(&leaf.bench),
                escape(&leaf.scope)
            ),
        );
        put_measures(page, leaf);
        put_recordings(page, &leaf.recordings);
        for note in &leaf.notes {
            put(
                page,
                format_args!("<p class=\"note\">{}</p>\n", escape(note)),
            );
        }
        page.push_str("</section>\n");
    }
}

fn put_goals(page: &mut String, goals: &[Goal]) {
    if goals.is_empty() {
        return;
    }
    let met = goals.iter().filter(|goal| goal.is_met()).count();
    put(
        page,
        format_args!(
            "<h2>Goals: {met} of {} met</h2>\n<table><tr><th>goal<th>found<th>limit<th></tr>\n",
            goals.len()
        ),
    );
    for goal in goals {
        let class = match goal.verdict {
            Verdict::Met => "met",
            Verdict::NotMet => "missed",
            Verdict::NotMeasured => "unknown",
        };
        let note = goal.note.as_ref();
        let note = note.map_or_else(String::new, |note| format!(" ({})", escape(note)));
        put(
            page,
            format_args!(
                "<tr><td>{}<td class=\"n\">{}<td class=\"n\">{}<td class=\"{class}\">{}{note}</tr>\n",
                escape(&goal.name),
                goal.found.map_or_else(|| "–".to_owned(), number),
                escape(&goal.limit.to_string()),
                goal.verdict
            ),
        );
    }
    page.push_str("</table>\n");
}

fn put_measures(page: &mut String, report: &Report) {
    if report.measures.is_empty() {
        return;
    }
    put(
        page,
        format_args!(
            "<table><tr><th>measure<th>unit<th>median of {}<th>p50<th>p99<th>p99.9<th>to the floor</tr>\n",
            report.rounds
        ),
    );
    for Measure {
        name,
        unit,
        value,
        quantiles,
        floor,
        ..
    } in &report.measures
    {
        let cells =
            quantiles.map_or_else(Default::default, |it| [it.p50, it.p99, it.p999].map(number));
        let [p50, p99, p999] = cells;
        let floor = floor
            .as_ref()
            .map_or_else(String::new, |Baseline { name, ratio, .. }| {
                format!("{ratio:.2} × {}", escape(name))
            });
        put(
            page,
            format_args!(
                "<tr><td>{}<td>{}<td class=\"n\">{}<td class=\"n\">{p50}<td class=\"n\">{p99}\
                 <td class=\"n\">{p999}<td>{floor}</tr>\n",
                escape(name),
                escape(unit),
                number(*value)
            ),
        );
    }
    page.push_str("</table>\n");
}

fn put_recordings(page: &mut String, recordings: &[Recording]) {
    if recordings.is_empty() {
        return;
    }
    page.push_str(&curves::draw(recordings));
    page.push_str(&timeline::draw(recordings));
}

fn put(page: &mut String, text: std::fmt::Arguments<'_>) {
    page.write_fmt(text).expect("a string takes everything");
}

/// Escapes text for HTML.
fn escape(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            other => safe.push(other),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Interval;
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
