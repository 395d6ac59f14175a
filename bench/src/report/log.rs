//! Recordings as HdrHistogram logs, for other tools.

use std::io;
use std::time::{Duration, UNIX_EPOCH};

use hdrhistogram::serialization::V2DeflateSerializer;
use hdrhistogram::serialization::interval_log::{
    IntervalLogIterator, IntervalLogWriterBuilder, LogEntry, Tag,
};

use super::Report;
use super::recording::{Interval, Recording, decode};

/// The log format has maximum values in milliseconds.
const NANOS_PER_MS: f64 = 1e6;

/// Writes all recordings of a report: intervals by time, tagged with the recording's name.
///
/// # Errors
/// The writer fails.
pub fn write_log(report: &Report, out: &mut impl io::Write) -> io::Result<()> {
    let begun = UNIX_EPOCH + Duration::from_millis(report.stamp.started_ms);
    let mut serializer = V2DeflateSerializer::new();
    let mut builder = IntervalLogWriterBuilder::new();
    builder
        .add_comment("[Histogram log format version 1.3]")
        .add_comment(&format!("foretell-bench {}, nanoseconds", report.bench))
        .with_start_time(begun)
        .with_base_time(begun)
        .with_max_value_divisor(NANOS_PER_MS);
    let mut log = builder.begin_log_with(out, &mut serializer)?;
    for (tag, interval) in by_time(report) {
        let (at, length) = (interval.at.max(0.0), interval.seconds.max(0.0));
        log.write_histogram(
            &interval.histogram,
            Duration::from_secs_f64(at),
            Duration::from_secs_f64(length),
            Tag::new(&tag),
        )
        .map_err(|error| io::Error::other(format!("{error:?}")))?;
    }
    Ok(())
}

/// All intervals on the report's timeline with their tags; tags must not contain blanks or commas.
fn by_time(report: &Report) -> Vec<(String, Interval)> {
    let mut intervals = Vec::new();
    for leaf in report.leaves() {
        let later = leaf.stamp.seconds_behind(&report.stamp);
        for recording in &leaf.recordings {
            let tag = format!("{}/{}", leaf.bench, recording.name).replace([' ', ','], "-");
            intervals.extend(recording.intervals.iter().map(|interval| {
                let at = interval.at + later;
                (
                    tag.clone(),
                    Interval {
                        at,
                        ..interval.clone()
                    },
                )
            }));
        }
    }
    intervals.sort_by(|(_, one), (_, other)| one.at.total_cmp(&other.at));
    intervals
}

/// Reads a log: one recording per tag, by first interval.
///
/// # Errors
/// The log is invalid; the text says why.
pub fn read_log(bytes: &[u8]) -> Result<Vec<Recording>, String> {
    let mut recordings: Vec<Recording> = Vec::new();
    for entry in IntervalLogIterator::new(bytes) {
        let entry = entry.map_err(|error| format!("no histogram log: {error:?}"))?;
        let LogEntry::Interval(interval) = entry else {
            continue;
        };
        let name = interval.tag().map_or("all", |tag| tag.as_str());
        let kept = Interval {
            at: interval.start_timestamp().as_secs_f64(),
            seconds: interval.duration().as_secs_f64(),
            histogram: decode(interval.encoded_histogram())?,
        };
        match recordings.iter_mut().find(|it| it.name == name) {
            Some(recording) => recording.intervals.push(kept),
            None => recordings.push(Recording {
                name: name.to_owned(),
                intervals: vec![kept],
            }),
        }
    }
    Ok(recordings)
}

#[cfg(test)]
mod tests {
    use super::*;
    use hdrhistogram::Histogram;

    fn histogram(values: &[u64]) -> Histogram<u64> {
        let mut histogram = Histogram::new_with_max(1_000_000_000, 3).unwrap();
        values
            .iter()
            .for_each(|value| histogram.record(*value).unwrap());
        histogram
    }

    #[test]
    fn a_log_gives_back_what_was_recorded() {
        let mut part = Report::begin("entry", "disk");
        part.record("an answer", Interval::new(1.0, 0.5, &histogram(&[5, 7])));
        part.record("floor", Interval::new(0.25, 0.5, &histogram(&[3])));
        part.record("an answer", Interval::new(1.5, 0.5, &histogram(&[9_000])));
        let mut all = Report::begin("all", "disk");
        all.stamp.started_ms = part.stamp.started_ms - 2_000;
        all.parts.push(part);
        let mut bytes = Vec::new();
        write_log(&all, &mut bytes).unwrap();
        let text = String::from_utf8(bytes.clone()).unwrap();
        assert!(text.contains("Tag=entry/an-answer,3.000,0.500,"), "{text}");

        let recordings = read_log(&bytes).unwrap();
        let names: Vec<_> = recordings.iter().map(|it| it.name.as_str()).collect();
        assert_eq!(names, ["entry/floor", "entry/an-answer"]);
        assert_eq!(recordings[1].total().unwrap(), histogram(&[5, 7, 9_000]));
        assert_eq!(recordings[0].intervals[0].at, 2.25);
    }

    #[test]
    fn invalid_logs_are_rejected() {
        assert!(read_log(b"Tag=a,0.1,1.0,2.0,nonsense\n").is_err());
        assert!(read_log(b"hello").is_err());
    }
}
