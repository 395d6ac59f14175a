//! A line chart with axes and a legend. Times have a logarithmic scale.

use super::escape;

/// Size of the drawing and margins of the labels.
const WIDTH: f64 = 860.0;
const HEIGHT: f64 = 320.0;
const LEFT: f64 = 70.0;
const BOTTOM: f64 = 36.0;
const TOP: f64 = 10.0;
const RIGHT: f64 = 20.0;
/// Number of colours in the style; further lines reuse them.
const COLOURS: usize = 6;

/// A line; its points are ordered by x.
pub(super) struct Line {
    /// Name in the legend.
    pub(super) name: String,
    /// Colour index; related lines share it.
    pub(super) colour: usize,
    pub(super) dashed: bool,
    /// Position from 0 to 1 on the x axis, and nanoseconds.
    pub(super) points: Vec<(f64, f64)>,
}

/// A tick on the x axis.
pub(super) struct Tick {
    /// Position from 0 to 1.
    pub(super) at: f64,
    pub(super) label: String,
}

/// Draws lines with a caption.
pub(super) fn draw(caption: &str, ticks: &[Tick], lines: &[Line]) -> String {
    let times = lines
        .iter()
        .flat_map(|line| &line.points)
        .map(|point| point.1.max(1.0));
    let (low, high) = times.fold((f64::INFINITY, 0.0_f64), |(low, high), time| {
        (low.min(time), high.max(time))
    });
    if !low.is_finite() {
        return String::new();
    }
    let decades = (
        low.log10().floor(),
        high.log10().ceil().max(low.log10().floor() + 1.0),
    );
    let x = |at: f64| LEFT + at.clamp(0.0, 1.0) * (WIDTH - LEFT - RIGHT);
    let y = |nanos: f64| {
        let part = (nanos.max(1.0).log10() - decades.0) / (decades.1 - decades.0);
        HEIGHT - BOTTOM - part * (HEIGHT - BOTTOM - TOP)
    };
    let mut drawing = format!(
        "<figure><figcaption>{}</figcaption>\n{}\n<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{}\">\n",
        escape(caption),
        key(lines),
        escape(caption)
    );
    let mut decade = decades.0;
    while decade <= decades.1 {
        let (nanos, right) = (10_f64.powf(decade), WIDTH - RIGHT);
        let at = y(nanos);
        drawing += &format!(
            "<path class=\"grid\" d=\"M{LEFT} {at:.1}H{right}\"/><text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>\n",
            LEFT - 8.0,
            at + 4.0,
            time(nanos)
        );
        decade += 1.0;
    }
    for tick in ticks {
        let (at, low) = (x(tick.at), HEIGHT - BOTTOM);
        drawing += &format!(
            "<path class=\"grid\" d=\"M{at:.1} {TOP}V{low}\"/><text x=\"{at:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>\n",
            low + 18.0,
            escape(&tick.label)
        );
    }
    for line in lines {
        let points = line
            .points
            .iter()
            .map(|(at, nanos)| format!("{:.1},{:.1}", x(*at), y(*nanos)));
        drawing += &format!(
            "<polyline class=\"{}\" points=\"{}\"><title>{}</title></polyline>\n",
            class(line),
            points.collect::<Vec<_>>().join(" "),
            escape(&line.name)
        );
    }
    drawing + "</svg></figure>\n"
}

/// Legend with a sample of each line, so that dashed lines can be distinguished.
fn key(lines: &[Line]) -> String {
    let entries = lines.iter().map(|line| {
        format!(
            "<li><i class=\"piece c{}{}\"></i>{}</li>",
            line.colour % COLOURS,
            if line.dashed { " dotted" } else { "" },
            escape(&line.name)
        )
    });
    format!("<ul class=\"key\">{}</ul>", entries.collect::<String>())
}

fn class(line: &Line) -> String {
    let dashed = if line.dashed { " dashed" } else { "" };
    format!("line s{}{dashed}", line.colour % COLOURS)
}

/// Nanoseconds with a suitable unit.
pub(super) fn time(nanos: f64) -> String {
    let (value, unit) = match nanos {
        1e9.. => (nanos / 1e9, "s"),
        1e6.. => (nanos / 1e6, "ms"),
        1e3.. => (nanos / 1e3, "µs"),
        _ => (nanos, "ns"),
    };
    format!("{value:.0} {unit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_units_and_nothing_draws_nothing() {
        let texts = [1.0, 999.0, 1e3, 25e6, 3e9].map(time);
        assert_eq!(texts, ["1 ns", "999 ns", "1 µs", "25 ms", "3 s"]);
        assert_eq!(draw("empty", &[], &[]), "");
    }

    #[test]
    fn larger_times_are_drawn_higher() {
        let line = Line {
            name: "a".to_owned(),
            colour: 7,
            dashed: true,
            points: vec![(0.0, 10.0), (1.0, 1_000.0)],
        };
        let drawing = draw("two", &[], &[line]);
        let points = drawing.split("points=\"").nth(1).unwrap();
        let points: Vec<f64> = points
            .split('"')
            .next()
            .unwrap()
            .split([' ', ','])
            .map(|number| number.parse().unwrap())
            .collect();
        let [x0, y0, x1, y1] = points[..] else {
            panic!("{points:?}")
        };
        assert!(x0 < x1 && y0 > y1, "{points:?}");
        assert!(drawing.contains("line s1 dashed"));
    }
}
