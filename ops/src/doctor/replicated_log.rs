//! Whether this host can follow the replicated log, as its engine reports.

use foretell_link::ClusterStatus;

use super::Subject;
use super::finding::Finding;
use crate::cluster;
use crate::config::ClusterRole;

/// Judges the last report of the engine, which stays in the data directory after its end.
pub(super) fn find(subject: &Subject<'_>) -> Finding {
    if subject.config.cluster.role == ClusterRole::Standalone {
        return Finding::ok("none: this host is alone");
    }
    match cluster::last_report(&subject.config.data.directory) {
        Some((report, old_ms)) => judge(&report, old_ms.is_some()),
        None => Finding::ok("no report: this host has not run yet"),
    }
}

fn judge(report: &ClusterStatus, is_old: bool) -> Finding {
    match report.lost() {
        None if is_old => Finding::ok("engine not running"),
        None => Finding::ok(format!(
            "{} frames behind, state: {}",
            report.lag_frames(),
            report.state
        )),
        Some(_) => Finding::refused(
            report.state.clone(),
            "docs/operate/cluster.md#lose-the-stream",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::finding::Weight;

    #[test]
    fn a_lost_message_is_refused() {
        let mut report = ClusterStatus {
            own_sequence: 5,
            stream_sequence: 7,
            state: "following".to_owned(),
            ..ClusterStatus::default()
        };
        let found = judge(&report, false);
        assert_eq!(found.weight, Weight::Ok);
        assert_eq!(found.value, "2 frames behind, state: following");
        assert_eq!(judge(&report, true).value, "engine not running");
        report.lost_message = 9;
        report.state = "the log lacks message 9 of 12".to_owned();
        let found = judge(&report, false);
        assert_eq!(found.weight, Weight::Refused);
        assert_eq!(found.value, report.state);
    }
}
