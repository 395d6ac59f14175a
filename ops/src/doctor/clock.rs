//! Whether engine time is wall time, and this host's clock agrees with those of the other hosts.

use std::path::Path;

use foretell_engine::SOCKET_NAME;
use foretell_engine::client::Client;
use foretell_journal::wall_clock;
use foretell_link::{Answer, CLOCK_TOLERANCE, ClockState, Request, Role, Status};
use foretell_model::TimeNs;

use super::Subject;
use super::finding::Finding;
use crate::cluster;

/// Compares the clocks of an engine that runs.
pub(super) fn find(subject: &Subject<'_>) -> Finding {
    let data = &subject.config.data.directory;
    if subject.engine.is_none() {
        return Finding::ok("no engine runs: engine time begins at wall time");
    }
    let report = cluster::last_report(data).filter(|(_, old_ms)| old_ms.is_none());
    if let Some((report, _)) = report.filter(|(report, _)| !report.clock.is_empty()) {
        return Finding::warning(report.clock, "docs/operate/cluster.md#clocks");
    }
    match ask(data) {
        Some(status) => judge(status.time, status.clock, wall_clock::now()),
        None => Finding::ok(
            "this host does not lead, and its clock agrees with the others that are known",
        ),
    }
}

/// Whether engine time follows wall time.
fn judge(time: TimeNs, clock: ClockState, wall: TimeNs) -> Finding {
    let difference = time.millis().0.cast_signed() - wall.millis().0.cast_signed();
    let value = format!("engine time minus wall time is {difference} ms");
    match clock.way_out() {
        None => Finding::ok(value),
        Some(way_out) => Finding::warning(value, way_out),
    }
    .allowed(format!("up to {} ms", CLOCK_TOLERANCE.as_millis()))
}

/// The status of the engine; `None` of a host that does not lead.
fn ask(data: &Path) -> Option<Status> {
    let mut client = Client::connect(&data.join(SOCKET_NAME), "doctor", Role::Operator).ok()?;
    client.send(&[Request::Status { request: 1 }]).ok()?;
    match client.receive().ok()? {
        Answer::Status(status) => Some(*status),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::finding::Weight;

    #[test]
    fn a_clock_that_engine_time_does_not_follow_is_a_warning_with_a_way_out() {
        let wall = TimeNs(1_800_000_000_000_000_000);
        for clock in ClockState::ALL {
            let found = judge(TimeNs(wall.0 + 1_200_000_000_000), clock, wall);
            assert_eq!(found.value, "engine time minus wall time is 1200000 ms");
            let weight = match clock {
                ClockState::Right => Weight::Ok,
                _ => Weight::Warning,
            };
            assert_eq!(found.weight, weight, "{clock:?}");
            assert_eq!(found.action, clock.way_out().unwrap_or_default());
        }
    }
}
