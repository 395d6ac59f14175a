//! Draws reports as one self-contained HTML page: goals and figures as text, percentile curves and a
//! timeline as SVG. It opens from disk in light and dark mode.

mod charts;

use super::{Recording, Report};

const HEAD: &str = r#"<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>foretell-bench</title>
<style>
:root { color-scheme: light dark; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 0 auto; padding: 1rem 1.5rem; }
pre { overflow-x: auto; }
svg { width: 100%; height: auto; }
</style></head>
<body>
"#;

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
    let mut page = HEAD.to_owned();
    for (name, source) in sources {
        page += &format!("<h1>{}</h1>\n", escape(name));
        match source {
            Source::Log(recordings) => page += &charts::of(recordings),
            Source::Report(report) => {
                page += &format!("<pre>{}</pre>\n", escape(&report.to_string()));
                for leaf in report.leaves() {
                    let charts = charts::of(&leaf.recordings);
                    if !charts.is_empty() {
                        page += &format!("<h2>{}</h2>\n{charts}", escape(&leaf.bench));
                    }
                }
            }
        }
    }
    page + "</body></html>\n"
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
    use crate::report::{Goal, Interval, Measure};
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
        for open in ["<pre", "<svg", "<figure", "<body"] {
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
        assert!(page.contains("&lt;= 2  NOT MET"), "{page}");
        assert!(page.contains("2 &lt; 3 &amp; &quot;more&quot;"));
        assert!(page.contains("3.00 x floor"));
        // One chart of curves and one timeline per source.
        assert_eq!(page.matches("<svg").count(), 4);
        assert!(page.contains("99.9%"));
    }
}
