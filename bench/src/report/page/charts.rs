//! Charts of recordings as SVG: percentile curves, and a timeline. Times have a logarithmic scale.

use std::ops::Range;

use plotters::coord::ranged1d::{DefaultFormatting, KeyPointHint};
use plotters::coord::types::RangedCoordf64;
use plotters::prelude::*;

use crate::report::{Interval, Recording};

/// Size of a chart in pixels.
const SIZE: (u32, u32) = (860, 340);
/// Readable on light and dark pages.
const GREY: RGBColor = RGBColor(128, 128, 128);
const FONT_PIXELS: i32 = 12;
/// Width of a line's sample in the legend.
const SAMPLE_PIXELS: i32 = 24;
/// Quantiles of the ticks of percentile curves.
const QUANTILES: [f64; 6] = [0.0, 0.5, 0.9, 0.99, 0.999, 0.9999];
/// The axis of percentiles ends at the quantile 1 - 1/`LAST`.
const LAST: f64 = 1e5;
/// Points per curve.
const POINTS: u32 = 120;
/// Ticks of a timeline, besides the first.
const TICKS: u32 = 6;
/// The attribute names a web address, which a self-contained page does not need.
const NAMESPACE: &str = r#" xmlns="http://www.w3.org/2000/svg""#;

/// A line; its points are ordered by x.
struct Line {
    /// Name in the legend.
    name: String,
    /// Colour index; related lines share it.
    colour: usize,
    /// Width in pixels.
    width: u32,
    /// Position on the x axis, and nanoseconds.
    points: Vec<(f64, f64)>,
}

/// Percentile curves, and a timeline if there are intervals to draw it of; empty without durations.
pub(super) fn of(recordings: &[Recording]) -> String {
    percentiles(recordings) + &timeline(recordings)
}

/// Percentile curves, one per recording; empty without durations.
fn percentiles(recordings: &[Recording]) -> String {
    let curve = |(colour, recording): (usize, &Recording)| {
        let total = recording.total().filter(|total| !total.is_empty())?;
        // No quantile beyond the slowest single duration.
        let end = place(1.0 - 1.0 / figure(total.len()));
        let points = (0..=POINTS).map(|point| {
            let at = end * f64::from(point) / f64::from(POINTS);
            (at, figure(total.value_at_quantile(quantile(at))))
        });
        Some(Line {
            name: recording.name.clone(),
            colour,
            width: 2,
            points: points.collect(),
        })
    };
    let lines: Vec<_> = recordings.iter().enumerate().filter_map(curve).collect();
    let label = |at: &f64| format!("{}%", (quantile(*at) * 1e6).round() / 1e4);
    let axis = Axis {
        range: 0.0..1.0,
        ticks: QUANTILES.map(place).to_vec(),
    };
    chart("time by percentile", axis, &label, &lines)
}

/// Median and p99 of every interval of the run; empty with fewer than two intervals.
fn timeline(recordings: &[Recording]) -> String {
    let mut lines = Vec::new();
    for (colour, recording) in recordings.iter().enumerate() {
        for (quantile, text, width) in [(0.5, "p50", 2), (0.99, "p99", 1)] {
            let intervals = recording.intervals.iter();
            let intervals = intervals.filter(|interval| !interval.histogram.is_empty());
            let point = |interval: &Interval| {
                let nanos = interval.histogram.value_at_quantile(quantile);
                (interval.at + interval.seconds / 2.0, figure(nanos))
            };
            lines.push(Line {
                name: format!("{} {text}", recording.name),
                colour,
                width,
                points: intervals.map(point).collect(),
            });
        }
    }
    // A line needs two points.
    lines.retain(|line| line.points.len() > 1);
    let Range { start, end } = range_of(lines.iter().flat_map(|line| &line.points).map(|it| it.0));
    let step = (end - start) / f64::from(TICKS);
    let ticks = (0..=TICKS).map(|tick| start + step * f64::from(tick));
    let axis = Axis {
        ticks: ticks.collect(),
        range: start..end,
    };
    let label = |at: &f64| format!("{at:.1} s");
    chart("time by when it was", axis, &label, &lines)
}

/// A linear x axis with its ticks.
struct Axis {
    range: Range<f64>,
    ticks: Vec<f64>,
}

impl Ranged for Axis {
    type FormatOption = DefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, limit: (i32, i32)) -> i32 {
        RangedCoordf64::from(self.range.clone()).map(value, limit)
    }

    fn key_points<Hint: KeyPointHint>(&self, _: Hint) -> Vec<f64> {
        self.ticks.clone()
    }

    fn range(&self) -> Range<f64> {
        self.range.clone()
    }
}

/// Draws lines over an axis with ticks.
fn chart(caption: &str, axis: Axis, label: &dyn Fn(&f64) -> String, lines: &[Line]) -> String {
    if lines.is_empty() {
        return String::new();
    }
    let times = range_of(lines.iter().flat_map(|line| &line.points).map(|it| it.1));
    let low = 10_f64.powf(times.start.max(1.0).log10().floor());
    let high = 10_f64
        .powf(times.end.max(1.0).log10().ceil())
        .max(low * 10.0);
    let mut svg = String::new();
    let root = SVGBackend::with_string(&mut svg, SIZE).into_drawing_area();
    let drawn = || -> Result<(), DrawingAreaErrorKind<_>> {
        let mut chart = ChartBuilder::on(&root)
            .margin(10)
            .x_label_area_size(30)
            .y_label_area_size(60)
            .build_cartesian_2d(axis, (low..high).log_scale())?;
        let text = ("sans-serif", FONT_PIXELS).into_font().color(&GREY);
        chart
            .configure_mesh()
            .axis_style(GREY)
            .bold_line_style(GREY.mix(0.4))
            .light_line_style(TRANSPARENT)
            .label_style(text.clone())
            .x_label_formatter(label)
            .y_label_formatter(&|nanos| time(*nanos))
            .draw()?;
        for line in lines {
            let style = Palette99::pick(line.colour).stroke_width(line.width);
            let points = line.points.iter().map(|(at, nanos)| (*at, nanos.max(1.0)));
            chart
                .draw_series(LineSeries::new(points, style))?
                .label(&line.name)
                .legend(move |(x, y)| PathElement::new([(x, y), (x + SAMPLE_PIXELS, y)], style));
        }
        chart
            .configure_series_labels()
            .label_font(text)
            .border_style(GREY.mix(0.4))
            .legend_area_size(SAMPLE_PIXELS)
            .position(SeriesLabelPosition::UpperLeft)
            .draw()?;
        root.present()
    };
    drawn().expect("a string takes everything");
    drop(root);
    let svg = svg.replace(NAMESPACE, "");
    format!("<figure><figcaption>{caption}</figcaption>\n{svg}</figure>\n")
}

fn range_of(values: impl Iterator<Item = f64>) -> Range<f64> {
    let (start, end) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
        (low.min(value), high.max(value))
    });
    start..end
}

/// Axis position of a quantile, from 0 to 1: each additional nine takes the same width.
fn place(quantile: f64) -> f64 {
    (1.0 / (1.0 - quantile).max(1.0 / LAST)).log10() / LAST.log10()
}

/// Quantile at an axis position.
fn quantile(place: f64) -> f64 {
    1.0 - 10_f64.powf(-place * LAST.log10())
}

/// Nanoseconds with a suitable unit.
fn time(nanos: f64) -> String {
    let (value, unit) = match nanos {
        1e9.. => (nanos / 1e9, "s"),
        1e6.. => (nanos / 1e6, "ms"),
        1e3.. => (nanos / 1e3, "µs"),
        _ => (nanos, "ns"),
    };
    format!("{value:.0} {unit}")
}

#[allow(clippy::cast_precision_loss, reason = "for a drawing")]
fn figure(number: u64) -> f64 {
    number as f64
}

#[cfg(test)]
mod tests {
    use hdrhistogram::Histogram;

    use super::*;

    fn recording(at: &[f64], nanos: u64) -> Recording {
        let mut histogram = Histogram::<u64>::new(3).unwrap();
        histogram.record_n(nanos, 10).unwrap();
        let intervals = at.iter().map(|at| Interval::new(*at, 2.0, &histogram));
        Recording {
            name: "answer".to_owned(),
            intervals: intervals.collect(),
        }
    }

    #[test]
    fn each_nine_has_the_same_axis_width() {
        let places = [0.0, 0.9, 0.99, 0.999, 0.9999, 0.99999].map(place);
        for (index, place) in (0_u8..).zip(places) {
            assert!((place - f64::from(index) / 5.0).abs() < 1e-6, "{places:?}");
        }
        assert!((quantile(place(0.99)) - 0.99).abs() < 1e-9);
    }

    #[test]
    fn times_have_units_and_nothing_draws_nothing() {
        let texts = [1.0, 999.0, 1e3, 25e6, 3e9].map(time);
        assert_eq!(texts, ["1 ns", "999 ns", "1 µs", "25 ms", "3 s"]);
        assert_eq!(percentiles(&[]), "");
        assert_eq!(
            timeline(&[recording(&[1.0], 10)]),
            "",
            "one point is no line"
        );
    }

    #[test]
    fn a_chart_has_its_ticks_and_larger_times_are_higher() {
        let chart = timeline(&[recording(&[9.0, 14.0, 19.0], 1_000)]);
        assert!(
            chart.contains("10.0 s") && chart.contains("20.0 s"),
            "{chart}"
        );
        let both = percentiles(&[recording(&[1.0], 1_000), recording(&[1.0], 100_000)]);
        for label in ["99.9%", "1 µs", "100 µs", "answer"] {
            assert!(both.contains(label), "{label} in {both}");
        }
        // The heights of the two curves' first points.
        let heights: Vec<f64> = both
            .split("<polyline")
            .filter(|line| line.contains(r#"stroke-width="2""#))
            .map(|line| {
                let points = line.split("points=\"").nth(1).unwrap();
                let first = points.split(' ').next().unwrap();
                first.split(',').nth(1).unwrap().parse().unwrap()
            })
            .collect();
        assert!(heights[0] > heights[1], "{heights:?}");
    }
}
