//! Percentile curves of durations.

use super::chart::{self, Line, Tick};
use crate::report::Recording;

/// Quantiles of the axis ticks.
const MARKS: [f64; 6] = [0.0, 0.5, 0.9, 0.99, 0.999, 0.9999];
/// The axis ends at the quantile 1 - 1/`END`.
const END: f64 = 1e5;
/// Points per curve.
const POINTS: u32 = 120;

/// Draws one curve per recording.
pub(super) fn draw(recordings: &[Recording]) -> String {
    let ticks: Vec<_> = MARKS
        .iter()
        .map(|quantile| Tick {
            at: place(*quantile),
            label: format!("{}%", (quantile * 1e6).round() / 1e4),
        })
        .collect();
    let lines: Vec<_> = recordings
        .iter()
        .enumerate()
        .filter_map(|(colour, recording)| {
            let total = recording.total().filter(|total| !total.is_empty())?;
            // No quantile beyond the slowest single duration.
            let end = place(1.0 - 1.0 / count(total.len()));
            let points = (0..=POINTS).map(|point| {
                let at = end * f64::from(point) / f64::from(POINTS);
                (at, count(total.value_at_quantile(quantile(at))))
            });
            Some(Line {
                name: recording.name.clone(),
                colour,
                dashed: false,
                points: points.collect(),
            })
        })
        .collect();
    chart::draw("time by percentile", &ticks, &lines)
}

/// Axis position of a quantile: each additional nine takes the same width.
fn place(quantile: f64) -> f64 {
    (1.0 / (1.0 - quantile).max(1.0 / END)).log10() / END.log10()
}

/// Quantile at an axis position.
fn quantile(place: f64) -> f64 {
    1.0 - 10_f64.powf(-place * END.log10())
}

#[allow(clippy::cast_precision_loss, reason = "for a drawing")]
pub(super) fn count(number: u64) -> f64 {
    number as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_nine_has_the_same_axis_width() {
        let places = [0.0, 0.9, 0.99, 0.999, 0.9999, 0.99999].map(place);
        for (index, place) in (0_u8..).zip(places) {
            assert!((place - f64::from(index) / 5.0).abs() < 1e-6, "{places:?}");
        }
        assert!((quantile(place(0.99)) - 0.99).abs() < 1e-9);
    }
}
