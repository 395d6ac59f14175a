//! Metrics of the streams by name.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

use crate::metrics::Number;
use crate::streams::connection::close::CODES;
use crate::streams::fan_out::stats::{CHANNELS, StreamReadings};

#[derive(Clone, PartialEq, Eq, Hash, Debug, EncodeLabelSet)]
struct ChannelLabel {
    channel: &'static str,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug, EncodeLabelSet)]
struct CodeLabel {
    code: &'static str,
}

metrics! {
    /// The metrics of all stream connections of a process.
    StreamMetrics "stream_"
    connections: Family<ChannelLabel, Number>, "Open stream connections by channel; none = no request yet on `/ws`";
    subscriptions: Number, "Tokens of the market channel and keys of the user channel that are subscribed";
    messages: Counter, "Stream messages written to connections, control frames included";
    bytes: Counter, "Bytes written to stream connections";
    bad_requests: Counter, "Stream requests ignored because they were wrong";
    lag_seconds: Gauge<f64, AtomicU64>, "Age of the oldest message that waits for its connection";
    closes: Family<CodeLabel, Counter>, "Ended stream connections by close code; none = without a close frame";
}

impl StreamMetrics {
    /// Takes over the values of a scrape.
    pub(crate) fn set(&self, now: &StreamReadings) {
        for (channel, count) in CHANNELS.into_iter().zip(now.connections) {
            self.connections
                .get_or_create(&ChannelLabel { channel })
                .set(count);
        }
        for (code, count) in CODES.into_iter().zip(now.closes) {
            let closes = self.closes.get_or_create(&CodeLabel { code });
            closes.inner().store(count, Relaxed);
        }
        self.subscriptions.set(now.subscriptions);
        self.messages.inner().store(now.messages, Relaxed);
        self.bytes.inner().store(now.bytes, Relaxed);
        self.bad_requests.inner().store(now.bad_requests, Relaxed);
        let lag = std::time::Duration::from_millis(now.lag_ms);
        self.lag_seconds.set(lag.as_secs_f64());
    }
}
