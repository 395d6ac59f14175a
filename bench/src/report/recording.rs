//! Histograms of durations over the timeline of a run.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer, Serializer as _, V2DeflateSerializer};
use serde::{Deserialize, Serialize};

/// Durations recorded under one name.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Recording {
    /// Name.
    pub name: String,
    /// Consecutive intervals.
    pub intervals: Vec<Interval>,
}

/// An interval of a recording.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Interval {
    /// Start in seconds since the measurement began.
    pub at: f64,
    /// Length in seconds.
    pub seconds: f64,
    /// Nanoseconds; in JSON the base64 text of histogram logs.
    #[serde(with = "text")]
    pub histogram: Histogram<u64>,
}

impl Interval {
    /// The histogram of durations recorded from `at` for `seconds`.
    #[must_use]
    pub fn new(at: f64, seconds: f64, histogram: &Histogram<u64>) -> Self {
        let histogram = histogram.clone();
        Self {
            at,
            seconds,
            histogram,
        }
    }
}

impl Recording {
    /// The sum of all intervals; `None` without an interval.
    #[must_use]
    pub fn total(&self) -> Option<Histogram<u64>> {
        let (first, rest) = self.intervals.split_first()?;
        let mut total = first.histogram.clone();
        total.auto(true);
        for interval in rest {
            total
                .add(&interval.histogram)
                .expect("a histogram that grows takes all values");
        }
        Some(total)
    }
}

/// A histogram as text: V2, deflated, base64.
fn encode(histogram: &Histogram<u64>) -> Result<String, String> {
    let mut bytes = Vec::new();
    V2DeflateSerializer::new()
        .serialize(histogram, &mut bytes)
        .map_err(|error| format!("a histogram that cannot be written: {error:?}"))?;
    Ok(STANDARD.encode(bytes))
}

/// Decodes such a text.
///
/// # Errors
/// The text is invalid; the error says why.
pub(super) fn decode(text: &str) -> Result<Histogram<u64>, String> {
    let bytes = STANDARD
        .decode(text)
        .map_err(|error| format!("a histogram that is not base64: {error}"))?;
    Deserializer::new()
        .deserialize(&mut bytes.as_slice())
        .map_err(|error| format!("a histogram that cannot be read: {error:?}"))
}

mod text {
    use hdrhistogram::Histogram;
    use serde::{Deserialize as _, de, ser};

    pub(super) fn serialize<S: ser::Serializer>(
        histogram: &Histogram<u64>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        let text = super::encode(histogram).map_err(ser::Error::custom)?;
        to.serialize_str(&text)
    }

    pub(super) fn deserialize<'de, D: de::Deserializer<'de>>(
        from: D,
    ) -> Result<Histogram<u64>, D::Error> {
        let text = String::deserialize(from)?;
        super::decode(&text).map_err(de::Error::custom)
    }
}
