//! Timeline: median and p99 of every interval of the run.

use hdrhistogram::Histogram;

use super::chart::{self, Line, Tick};
use super::curves::count;
use crate::report::{Interval, Recording};

/// Number of axis ticks.
const MARKS: u32 = 6;

/// Draws two lines per recording.
pub(super) fn draw(recordings: &[Recording]) -> String {
    let intervals = || recordings.iter().flat_map(|recording| &recording.intervals);
    let begin = intervals().map(middle).fold(f64::INFINITY, f64::min);
    let end = intervals().map(middle).fold(0.0, f64::max);
    let length = (end - begin).max(1e-9);
    let ticks: Vec<_> = (0..=MARKS)
        .map(|mark| {
            let at = f64::from(mark) / f64::from(MARKS);
            let label = format!("{:.1} s", begin + at * (end - begin));
            Tick { at, label }
        })
        .collect();
    let mut lines = Vec::new();
    for (colour, recording) in recordings.iter().enumerate() {
        for (quantile, text) in [(0.5, "p50"), (0.99, "p99")] {
            let of = |histogram: &Histogram<u64>| count(histogram.value_at_quantile(quantile));
            let seen = recording
                .intervals
                .iter()
                .filter(|it| !it.histogram.is_empty());
            let points = seen.map(|it| ((middle(it) - begin) / length, of(&it.histogram)));
            lines.push(Line {
                name: format!("{} {text}", recording.name),
                colour,
                dashed: quantile > 0.5,
                points: points.collect(),
            });
        }
    }
    // A line needs two points.
    lines.retain(|line| line.points.len() > 1);
    chart::draw("time by when it was", &ticks, &lines)
}

fn middle(interval: &Interval) -> f64 {
    interval.at + interval.seconds / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_keep_their_position() {
        let mut histogram = Histogram::<u64>::new(3).unwrap();
        histogram.record(1_000).unwrap();
        let at = |at| Interval::new(at, 2.0, &histogram);
        let recording = Recording {
            name: "answer".to_owned(),
            intervals: vec![at(9.0), at(14.0), at(19.0)],
        };
        let drawing = draw(std::slice::from_ref(&recording));
        assert!(
            drawing.contains("10.0 s") && drawing.contains("20.0 s"),
            "{drawing}"
        );
        assert_eq!(drawing.matches("<polyline").count(), 2);
        let alone = Recording {
            intervals: vec![at(1.0)],
            ..recording
        };
        assert_eq!(draw(&[alone]), "");
    }
}
