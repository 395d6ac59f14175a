//! Gauges of the processes of the host beside the gateways, as they report.

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

use crate::host_reports::{ProcessesReport, SupervisedProcess, WebhooksReport};
use crate::metrics::Number;

#[derive(Clone, PartialEq, Eq, Hash, Debug, EncodeLabelSet)]
struct ProcessLabel {
    process: String,
}

metrics! {
    /// The processes that `foretell up` keeps running.
    SupervisedMetrics "supervised_process_"
    ready: Family<ProcessLabel, Gauge>, "1 while a process that foretell up started runs and is ready";
    restarts: Family<ProcessLabel, Number>, "Restarts of the process since foretell up started";
}

impl SupervisedMetrics {
    pub(crate) fn set(&self, report: &ProcessesReport) {
        self.ready.clear();
        self.restarts.clear();
        for process in &report.processes {
            let label = ProcessLabel {
                process: process.name.clone(),
            };
            let ready = i64::from(process.ready);
            self.ready.get_or_create(&label).set(ready);
            self.restarts.get_or_create(&label).set(process.restarts);
        }
    }

    /// A value of every label, for the operator's reference.
    pub(crate) fn set_example(&self) {
        self.set(&ProcessesReport {
            processes: vec![SupervisedProcess::default()],
        });
    }
}

metrics! {
    /// All of them are 0 without webhooks.
    WebhooksMetrics "webhooks_"
    delivered: Number, "Notices acknowledged by the receiver since the webhook process started";
    failed_attempts: Number, "Failed attempts since the webhook process started";
    sequence: Number, "Last sequence whose notices are all delivered; 0 = no webhooks";
    waiting_seconds: Number, "Time since the first failed attempt of the delivery that waits; 0 = none waits";
}

impl WebhooksMetrics {
    /// `now` is in unix seconds.
    pub(crate) fn set(&self, report: &WebhooksReport, now: u64) {
        self.delivered.set(report.delivered);
        self.failed_attempts.set(report.failed_attempts);
        self.sequence.set(report.sequence);
        self.waiting_seconds.set(report.waiting_seconds(now));
    }
}
