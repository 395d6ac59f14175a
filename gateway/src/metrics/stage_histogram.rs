//! Histograms of stage durations, whose buckets the stages themselves count.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use foretell_link::StageBuckets;
use parking_lot::Mutex;
use prometheus_client::encoding::{EncodeMetric, MetricEncoder, NoLabelSet};
use prometheus_client::metrics::MetricType;

/// A histogram for each stage of one process, as of a scrape.
#[derive(Clone, Debug, Default)]
pub(crate) struct StageSeconds(Arc<Mutex<Vec<(&'static str, StageBuckets)>>>);

impl StageSeconds {
    pub(crate) fn set(&self, stages: impl Iterator<Item = (&'static str, StageBuckets)>) {
        *self.0.lock() = stages.collect();
    }
}

impl EncodeMetric for StageSeconds {
    fn encode(&self, mut encoder: MetricEncoder<'_>) -> fmt::Result {
        let seconds = |nanos: u64| Duration::from_nanos(nanos).as_secs_f64();
        let bounds = StageBuckets::BOUNDS.map(seconds);
        let bounds = || bounds.into_iter().chain([f64::INFINITY]);
        for (stage, buckets) in self.0.lock().iter() {
            let counts: Vec<_> = bounds().zip(buckets.counts).collect();
            let labels = [("stage", *stage)];
            let mut of_stage = encoder.encode_family(&labels)?;
            let (sum, count) = (seconds(buckets.sum), buckets.count());
            of_stage.encode_histogram::<NoLabelSet>(sum, count, &counts, None)?;
        }
        Ok(())
    }

    fn metric_type(&self) -> MetricType {
        MetricType::Histogram
    }
}
