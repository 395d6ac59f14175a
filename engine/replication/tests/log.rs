//! Rules of the replicated log on its in-memory model.

#![allow(clippy::unwrap_used, reason = "a test says what it expects by failing")]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use foretell_replication::{
    Bounds, Decision, Fault, Model, ModelLog, Outcome, Publish, ReplicatedLog, decide, message_id,
};

fn connect(model: &Model) -> ModelLog {
    model.connect(Arc::new(AtomicBool::new(true)))
}

fn takeover(host: &str, expected: u64) -> Publish {
    Publish {
        expected,
        after: None,
        id: message_id(5, expected + 1, host),
        bytes: b"the header of term 5".to_vec(),
    }
}

/// Goes on for a number of attempts.
fn attempts(most: u32) -> impl FnMut() -> bool {
    let mut left = most;
    move || {
        left = left.saturating_sub(1);
        left > 0
    }
}

#[test]
fn two_hosts_that_take_over_at_once_do_not_both_lead() {
    let model = Model::default();
    let (mut first, mut second) = (connect(&model), connect(&model));
    // The first one's answer is lost; both send equal bytes.
    let mut faults = [Fault::AnswerLost].into_iter();
    first.set_faults(move || faults.next().unwrap_or(Fault::None));
    first.publish(takeover("a", 0));
    assert_eq!(first.outcome(), Some((0, Outcome::Unknown)));
    let second = decide(&mut second, &takeover("b", 0), &mut attempts(10));
    assert_eq!(second, Decision::Refused);
    let first = decide(&mut first, &takeover("a", 0), &mut attempts(10));
    assert_eq!(first, Decision::Accepted);
    assert_eq!(model.messages().len(), 1);
}

#[test]
fn an_unknown_outcome_is_resolved_whatever_the_network_did() {
    for fault in [
        Fault::None,
        Fault::RequestLost,
        Fault::AnswerLost,
        Fault::Repeated,
        Fault::Delayed,
        Fault::Late,
    ] {
        let model = Model::default();
        let mut log = connect(&model);
        let mut faults = [fault].into_iter();
        log.set_faults(move || faults.next().unwrap_or(Fault::None));
        let decision = decide(&mut log, &takeover("a", 0), &mut attempts(10));
        assert_eq!(decision, Decision::Accepted, "{fault:?}");
        // A request that arrives later is recognised.
        model.deliver_late();
        assert_eq!(model.messages().len(), 1, "{fault:?}");
    }
}

#[test]
fn a_host_that_is_cut_off_learns_nothing_and_changes_nothing() {
    let model = Model::default();
    let is_reachable = Arc::new(AtomicBool::new(false));
    let mut log = model.connect(Arc::clone(&is_reachable));
    let decision = decide(&mut log, &takeover("a", 0), &mut attempts(10));
    assert_eq!(decision, Decision::Unknown);
    assert!(log.bounds().is_err() && log.last_beat().is_err() && log.hosts().is_err());
    assert_eq!(model.messages(), []);
    is_reachable.store(true, Ordering::Relaxed);
    assert_eq!(log.bounds(), Ok(Bounds { first: 1, last: 0 }));
}
