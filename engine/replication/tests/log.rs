//! Rules of the replicated log on its in-memory model.

#![allow(clippy::unwrap_used, reason = "a test says what it expects by failing")]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use foretell_replication::{
    Bounds, Decision, Fault, Fill, FillError, Model, ModelLog, Outcome, Publish, ReplicatedLog,
    decide, message_id,
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

#[test]
fn a_fill_has_eight_messages_in_flight_and_survives_every_fault() {
    let patience = std::time::Duration::from_secs(20);
    let text = |number: u64| format!("item {number}").into_bytes();
    for fault in [
        Fault::RequestLost,
        Fault::AnswerLost,
        Fault::Repeated,
        Fault::Delayed,
        Fault::Late,
    ] {
        let model = Model::default();
        let mut log = connect(&model);
        let is_faulty = Arc::new(AtomicBool::new(true));
        let (delayed, mut state) = (Arc::clone(&is_faulty), 1_u64);
        log.set_faults(move || {
            // No pattern: the same message of a window would fail each time.
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            match delayed.load(Ordering::Relaxed) {
                true => Fault::Delayed,
                false if (state >> 33).is_multiple_of(3) => fault,
                false => Fault::None,
            }
        });
        let mut fill = Fill::new(0, patience);
        for number in 1..=8 {
            let mut never = || panic!("it waits for message {number}");
            fill.push(&mut log, &text(number), &mut never).unwrap();
        }
        let late = model.clone();
        let mut wait = || {
            is_faulty.store(false, Ordering::Relaxed);
            late.deliver_late();
            std::thread::yield_now();
        };
        for number in 9..=50 {
            fill.push(&mut log, &text(number), &mut wait).unwrap();
        }
        fill.finish(&mut log, &mut wait).unwrap();
        let filled = model.messages().into_iter().map(|message| message.bytes);
        let wanted: Vec<_> = (1..=50).map(text).collect();
        assert_eq!(filled.collect::<Vec<_>>(), wanted, "{fault:?}");
    }
}

#[test]
fn a_fill_ends_when_another_host_writes_or_the_log_is_silent() {
    let model = Model::default();
    let mut other = connect(&model);
    assert_eq!(
        decide(&mut other, &takeover("b", 0), &mut attempts(10)),
        Decision::Accepted
    );
    let patience = std::time::Duration::from_millis(200);
    let mut wait = std::thread::yield_now;
    let mut log = connect(&model);
    let mut fill = Fill::new(0, patience);
    fill.push(&mut log, b"first", &mut wait).unwrap();
    assert_eq!(fill.finish(&mut log, &mut wait), Err(FillError::Refused(1)));
    let mut silent = model.connect(Arc::new(AtomicBool::new(false)));
    let mut fill = Fill::new(1, patience);
    fill.push(&mut silent, b"second", &mut wait).unwrap();
    assert_eq!(fill.finish(&mut silent, &mut wait), Err(FillError::Unknown));
}
