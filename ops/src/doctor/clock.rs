//! Whether engine time is wall time, and this host's clock agrees with those of the other hosts.

use std::path::Path;

use foretell_engine::client::Client;
use foretell_engine::{CLUSTER_STATUS_NAME, SOCKET_NAME};
use foretell_link::{Answer, ClusterStatus, Request, Role, Status};

use super::Subject;
use super::finding::Finding;
use crate::wall_clock;

/// Compares the clocks of an engine that runs.
pub(super) fn find(subject: &Subject<'_>) -> Finding {
    let data = &subject.config.data.directory;
    if subject.engine.is_none() {
        return Finding::ok("no engine runs: engine time begins at wall time");
    }
    let report = std::fs::read(data.join(CLUSTER_STATUS_NAME)).ok();
    let report = report.and_then(|bytes| ClusterStatus::decode(&bytes));
    if let Some(report) = report.filter(|report| !report.clock.is_empty()) {
        return Finding::warning(report.clock, "docs/operate/cluster.md#clocks");
    }
    let Some(status) = ask(data) else {
        return Finding::ok("agrees with the other hosts, or none is known");
    };
    let difference = (status.time.0.cast_signed() - wall_clock::now().0.cast_signed()) / 1_000_000;
    let value = format!("engine time minus wall time is {difference} ms");
    match status.clock.way_out() {
        None => Finding::ok(value),
        Some(way_out) => Finding::warning(value, way_out),
    }
    .allowed("up to 2000 ms")
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
