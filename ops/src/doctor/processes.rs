//! The processes of `foretell up`, and the webhooks, as they report.

use std::time::Duration;

use foretell_gateway::host_reports::{
    HostReport as _, ProcessesReport, SupervisedProcess, WebhooksReport,
};
use foretell_journal::wall_clock::since_epoch;

use super::Subject;
use super::finding::Finding;
use crate::webhooks;

/// Longest time for which a delivery of webhooks may fail.
const WAITING_DUE: Duration = Duration::from_mins(2);

/// Whether webhooks can start, and are delivered.
pub(super) fn webhooks(subject: &Subject<'_>) -> Finding {
    let config = subject.config;
    if config.webhooks.url.is_empty() {
        return Finding::ok("none configured");
    }
    if let Err(refused) = webhooks::check(config) {
        return refused.into();
    }
    match WebhooksReport::read(&config.data.directory) {
        Some(report) => judge(&report, since_epoch().as_secs()),
        None => Finding::ok("not started yet"),
    }
}

fn judge(report: &WebhooksReport, now: u64) -> Finding {
    let seconds = report.waiting_seconds(now);
    let Some(waiting) = &report.waiting else {
        return Finding::ok(format!("delivered up to sequence {}", report.sequence));
    };
    let value = format!(
        "the notice of sequence {} has failed for {seconds} s, and every later one waits: {}",
        waiting.sequence, waiting.reason
    );
    let is_good = seconds <= WAITING_DUE.as_secs();
    Finding::when(is_good, value, "check webhooks.url and its receiver")
        .allowed(format!("{} s", WAITING_DUE.as_secs()))
}

/// Whether every process runs.
pub(super) fn supervised(subject: &Subject<'_>) -> Vec<Finding> {
    let report = ProcessesReport::read(&subject.config.data.directory);
    let report = report.filter(|_| subject.engine.is_some());
    let processes = report.unwrap_or_default().processes;
    let missing: Vec<Finding> = processes.iter().filter_map(missing).collect();
    match missing.is_empty() {
        true => vec![Finding::ok(format!(
            "{} run under `foretell up`",
            processes.len()
        ))],
        false => missing,
    }
}

fn missing(process: &SupervisedProcess) -> Option<Finding> {
    let SupervisedProcess { name, ended, .. } = process;
    let action = "read its log; docs/operate/troubleshooting.md#exit-codes";
    match (process.ready, process.final_end) {
        (true, _) => None,
        (false, true) => Some(Finding::warning(
            format!("{name} ended ({ended}) and is not restarted"),
            action,
        )),
        (false, false) => Some(Finding::warning(
            format!("{name} ended ({ended}) and is being restarted"),
            action,
        )),
    }
}

#[cfg(test)]
mod tests {
    use foretell_gateway::host_reports::WaitingDelivery;

    use super::*;
    use crate::doctor::finding::Weight;

    #[test]
    fn a_delivery_that_fails_for_long_is_a_warning() {
        let mut report = WebhooksReport {
            sequence: 9,
            ..WebhooksReport::default()
        };
        assert_eq!(judge(&report, 500).value, "delivered up to sequence 9");
        report.waiting = Some(WaitingDelivery {
            sequence: 10,
            since: 380,
            reason: "the receiver answered 500".to_owned(),
            ..WaitingDelivery::default()
        });
        assert_eq!(judge(&report, 500).weight, Weight::Ok);
        let late = judge(&report, 501);
        assert_eq!(late.weight, Weight::Warning);
        assert!(
            late.value.contains("sequence 10 has failed for 121 s"),
            "{}",
            late.value
        );
    }

    #[test]
    fn a_process_that_ended_is_a_warning() {
        let process = |ready, final_end| SupervisedProcess {
            name: "webhooks".to_owned(),
            ready,
            final_end,
            restarts: 1,
            ended: "exit status: 78".to_owned(),
        };
        assert!(missing(&process(true, false)).is_none());
        let ended = missing(&process(false, true)).expect("a finding");
        assert_eq!(
            ended.value,
            "webhooks ended (exit status: 78) and is not restarted"
        );
        let restarts = missing(&process(false, false)).expect("a finding");
        assert!(restarts.value.ends_with("is being restarted"));
    }
}
