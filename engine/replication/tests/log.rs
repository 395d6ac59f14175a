//! Rules of the replicated log on its in-memory model.

#![allow(clippy::unwrap_used, reason = "a test says what it expects by failing")]

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use foretell_journal::replica::LocalItem;
use foretell_log_model::{Fault, Model, ModelLog};
use foretell_model::Sequence;
use foretell_replication::{
    Beginning, Bounds, Decision, Fill, FillError, Heartbeat, HostRecord, Keys, LocateError,
    Message, ReplicatedLog as _, SignedLog, decide, locate,
};

const HEADER: &[u8] = b"the header of term 5";
/// The secret of the cluster, and that of a stranger.
const SECRET: [u8; 32] = [1; 32];
const STRANGE: [u8; 32] = [2; 32];

fn signed(log: ModelLog, host: &str, secret: &[u8; 32]) -> SignedLog {
    let keys = Keys::of_leader(host, secret, &BTreeMap::new()).unwrap();
    SignedLog::new(Box::new(log), keys)
}

fn connect(model: &Model, host: &str) -> SignedLog {
    signed(link(model), host, &SECRET)
}

fn link(model: &Model) -> ModelLog {
    model.connect(Arc::new(AtomicBool::new(true)))
}

/// The contents that count.
fn contents(model: &Model) -> Vec<Vec<u8>> {
    let mut log = connect(model, "auditor");
    let last = log.bounds().unwrap().last;
    let content = |number| match log.read(number).unwrap().unwrap() {
        Message::Signed { content, .. } => Some(content),
        Message::Foreign => None,
    };
    (1..=last).filter_map(content).collect()
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
    // The first one's answer is lost; both send equal contents.
    let mut link = link(&model);
    let mut faults = [Fault::AnswerLost].into_iter();
    link.set_faults(move || faults.next().unwrap_or(Fault::None));
    let mut first = signed(link, "a", &SECRET);
    let unknown = decide(&mut first, 0, HEADER, &mut attempts(1));
    assert_eq!(unknown, Decision::Unknown);
    let second = decide(&mut connect(&model, "b"), 0, HEADER, &mut attempts(10));
    assert_eq!(second, Decision::Refused);
    let first = decide(&mut first, 0, HEADER, &mut attempts(10));
    assert_eq!(first, Decision::Accepted(1));
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
        let mut link = link(&model);
        let mut faults = [fault].into_iter();
        link.set_faults(move || faults.next().unwrap_or(Fault::None));
        let mut log = signed(link, "a", &SECRET);
        let decision = decide(&mut log, 0, HEADER, &mut attempts(10));
        assert_eq!(decision, Decision::Accepted(1), "{fault:?}");
        // A request that arrives later is recognised.
        model.deliver_late();
        assert_eq!(model.messages().len(), 1, "{fault:?}");
    }
}

#[test]
fn a_host_that_is_cut_off_learns_nothing_and_changes_nothing() {
    let model = Model::default();
    let is_reachable = Arc::new(AtomicBool::new(false));
    let mut log = signed(model.connect(Arc::clone(&is_reachable)), "a", &SECRET);
    let decision = decide(&mut log, 0, HEADER, &mut attempts(10));
    assert_eq!(decision, Decision::Unknown);
    assert!(log.bounds().is_err() && log.last_beat().is_err() && log.hosts().is_err());
    assert!(model.messages().is_empty());
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
        let mut link = link(&model);
        let is_faulty = Arc::new(AtomicBool::new(true));
        let (delayed, mut state) = (Arc::clone(&is_faulty), 1_u64);
        link.set_faults(move || {
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
        let mut log = signed(link, "a", &SECRET);
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
        let wanted: Vec<_> = (1..=50).map(text).collect();
        assert_eq!(contents(&model), wanted, "{fault:?}");
    }
}

#[test]
fn a_fill_ends_when_another_host_writes_or_the_log_is_silent() {
    let model = Model::default();
    let other = decide(&mut connect(&model, "b"), 0, HEADER, &mut attempts(10));
    assert_eq!(other, Decision::Accepted(1));
    let patience = std::time::Duration::from_millis(200);
    let mut wait = std::thread::yield_now;
    let mut log = connect(&model, "a");
    let mut fill = Fill::new(0, patience);
    fill.push(&mut log, b"first", &mut wait).unwrap();
    assert_eq!(fill.finish(&mut log, &mut wait), Err(FillError::Refused(1)));
    let silent = model.connect(Arc::new(AtomicBool::new(false)));
    let mut silent = signed(silent, "a", &SECRET);
    let mut fill = Fill::new(1, patience);
    fill.push(&mut silent, b"second", &mut wait).unwrap();
    assert_eq!(fill.finish(&mut silent, &mut wait), Err(FillError::Unknown));
}

#[test]
fn a_message_in_flight_follows_none_but_the_one_sent_before_it() {
    let model = Model::default();
    let mut link = link(&model);
    // The first of two is lost, and the second one on its way when another host writes.
    let mut faults = [Fault::RequestLost, Fault::Late].into_iter();
    link.set_faults(move || faults.next().unwrap_or(Fault::None));
    let mut log = signed(link, "a", &SECRET);
    let mut fill = Fill::new(0, std::time::Duration::from_secs(20));
    let mut wait = || panic!("there is room");
    fill.push(&mut log, b"first", &mut wait).unwrap();
    fill.push(&mut log, b"second", &mut wait).unwrap();
    let refused = fill.finish(&mut log, &mut || {
        while !model.late().is_empty() {
            let other = decide(&mut connect(&model, "b"), 0, HEADER, &mut attempts(10));
            assert_eq!(other, Decision::Accepted(1));
            model.deliver_late();
        }
    });
    assert_eq!(refused, Err(FillError::Refused(1)));
    assert_eq!(model.messages().len(), 1);
}

#[test]
fn a_takeover_passes_over_what_nobody_of_the_cluster_signed() {
    let model = Model::default();
    let garbage = |name: &str| model.intrude(name.to_owned(), name.as_bytes().to_vec());
    // Garbage, a stranger's header with its own key, and a host's header for another number.
    garbage("22 bytes of garbage...");
    let mut stranger = signed(link(&model), "a", &STRANGE);
    let wrote = decide(&mut stranger, 1, HEADER, &mut attempts(10));
    assert_eq!(wrote, Decision::Accepted(2));
    let elsewhere = Model::default();
    decide(&mut connect(&elsewhere, "b"), 0, HEADER, &mut attempts(10));
    model.intrude("again".to_owned(), elsewhere.messages()[0].clone());
    let decision = decide(&mut connect(&model, "a"), 0, HEADER, &mut attempts(10));
    assert_eq!(decision, Decision::Accepted(4));
    assert_eq!(contents(&model), [HEADER]);
    let other = decide(&mut connect(&model, "b"), 0, HEADER, &mut attempts(10));
    assert_eq!(
        other,
        Decision::Refused,
        "it reads on to the message of a host"
    );
    let mut log = connect(&model, "b");
    for _ in 0..2 {
        assert_eq!(log.end_without_items(0), Ok(None));
    }
    assert_eq!(log.foreign(), 3, "each once");
}

#[test]
fn a_stranger_with_the_id_of_a_message_does_not_pass_for_it() {
    // The stranger hears the request, which is lost, and writes under its id.
    for repeats in [false, true] {
        let model = Model::default();
        let mut link = link(&model);
        let mut faults = [Fault::Late].into_iter();
        link.set_faults(move || faults.next().unwrap_or(Fault::None));
        let mut log = signed(link, "a", &SECRET);
        let intruder = model.clone();
        let mut left = 10;
        let mut wait = || {
            if let Some(heard) = intruder.late().first() {
                let payload = match repeats {
                    true => heard.payload.clone(),
                    false => b"deposits 500,000".to_vec(),
                };
                intruder.intrude(heard.id.clone(), payload);
            }
            left -= 1;
            left > 0
        };
        let decision = decide(&mut log, 0, HEADER, &mut wait);
        let number = if repeats { 1 } else { 2 };
        assert_eq!(decision, Decision::Accepted(number), "repeats: {repeats}");
        assert_eq!(contents(&model), [HEADER]);
    }
}

#[test]
fn a_fill_goes_on_behind_the_messages_of_strangers() {
    let model = Model::default();
    let mut log = connect(&model, "a");
    let mut fill = Fill::new(0, std::time::Duration::from_secs(20));
    let intruder = model.clone();
    let mut number = 0;
    let mut wait = || {
        // Garbage and repeated requests, also of those that were refused.
        number += 1;
        let overheard = intruder.overheard();
        let payload = match overheard.get(number % overheard.len().max(1)) {
            Some(heard) if number % 3 > 0 => heard.payload.clone(),
            _ => b"garbage".to_vec(),
        };
        if number < 200 {
            intruder.intrude(format!("stranger {number}"), payload);
        }
        std::thread::yield_now();
    };
    let wanted: Vec<_> = (1..=30)
        .map(|item| format!("item {item}").into_bytes())
        .collect();
    for item in &wanted {
        model.intrude(format!("before {item:?}"), b"garbage".to_vec());
        fill.push(&mut log, item, &mut wait).unwrap();
    }
    fill.finish(&mut log, &mut wait).unwrap();
    // A message that a host had in flight and a stranger repeated follows nothing.
    let mut missing = wanted.iter();
    let mut next = missing.next();
    for content in contents(&model) {
        if Some(&content) == next {
            next = missing.next();
        }
    }
    assert_eq!(next, None);
    assert!(log.foreign() > 0);
}

fn beat(count: u64) -> Heartbeat {
    Heartbeat {
        host: "a".to_owned(),
        address: String::new(),
        term: 5,
        count,
        sequence: 0,
        wall_ms: 0,
        time_ms: 0,
        heard: Vec::new(),
        resigned: false,
    }
}

#[test]
fn neither_garbage_nor_an_older_heartbeat_replaces_the_newest() {
    let model = Model::default();
    let (mut leader, mut standby) = (connect(&model, "a"), connect(&model, "b"));
    assert_eq!(standby.last_beat(), Ok(None));
    model.put_beat(b"host x\nterm 9".to_vec());
    assert_eq!(standby.last_beat(), Ok(None));
    assert!(standby.has_heard(), "a leader may live");
    leader.beat(&beat(1));
    leader.beat(&beat(2));
    assert_eq!(standby.last_beat(), Ok(Some(&beat(2))));
    model.put_beat(model.beats()[1].clone());
    assert_eq!(
        standby.last_beat(),
        Ok(Some(&beat(2))),
        "the first one again"
    );
    signed(link(&model), "a", &STRANGE).beat(&beat(3));
    assert_eq!(standby.last_beat(), Ok(Some(&beat(2))), "another key");
}

#[test]
fn a_record_is_of_the_host_that_signed_it() {
    let record = |host: &str, role: &str| HostRecord {
        host: host.to_owned(),
        role: role.to_owned(),
        sequence: 1,
        message: 1,
        format: 1,
        fingerprint: String::new(),
        wall_ms: 0,
        place: String::new(),
        life: 1,
        count: 1,
    };
    let model = Model::default();
    let secret = [3; 32];
    let own = Keys::of_leader("gamma", &secret, &BTreeMap::new()).unwrap();
    let listed = BTreeMap::from([("gamma".to_owned(), own.public_key())]);
    let of_host = Keys::of_leader("alpha", &SECRET, &listed).unwrap();
    let mut host = SignedLog::new(Box::new(link(&model)), of_host.clone());
    let reader = Keys::of_reader("gamma", &secret, &of_host.public_key(), &listed).unwrap();
    let mut reader = SignedLog::new(Box::new(link(&model)), reader);
    host.announce(&record("alpha", "leader"));
    for (forged, why) in [
        (record("beta", "reader"), "another's name"),
        (record("gamma", "standby"), "a reader that says it may lead"),
    ] {
        reader.announce(&forged);
        assert_eq!(host.hosts(), Ok(vec![record("alpha", "leader")]), "{why}");
    }
    model.put_record("delta", b"host delta".to_vec());
    reader.announce(&record("gamma", "reader"));
    let both = [record("alpha", "leader"), record("gamma", "reader")];
    assert_eq!(host.hosts().unwrap(), both);
    // What it said before, under other names.
    let before = link(&model).hosts().unwrap()[0].clone();
    let newer = HostRecord {
        wall_ms: 1,
        ..record("alpha", "leader")
    };
    host.announce(&newer);
    model.put_record("aaa", before.clone());
    model.put_record("zzz", before);
    assert_eq!(host.hosts().unwrap()[0], newer);
    assert_eq!(host.hosts().unwrap().len(), 2, "one of each host");
}

#[test]
fn a_search_among_strangers_is_bounded_and_can_be_stopped() {
    let model = Model::default();
    for number in 0..5_000 {
        model.intrude(format!("stranger {number}"), b"garbage".to_vec());
    }
    let mut log = connect(&model, "alpha");
    let item = LocalItem {
        segment: 1,
        offset: 0,
        end: 4_096,
        last: Sequence(0),
        term: 1,
        digest: [0; 32],
        confirmed: true,
    };
    let bounds = log.bounds().unwrap();
    let mut reads = 0;
    let mut goes_on = || {
        reads += 1;
        true
    };
    let located = locate(&mut log, bounds, &[item], &mut goes_on);
    assert!(
        matches!(located, Err(LocateError::NotSigned)),
        "{located:?}"
    );
    // Less than three samples of 256, of 5,000 messages.
    assert!(reads < 768, "{reads} messages were read");
    let stopped = locate(&mut log, bounds, &[item], &mut || false);
    assert!(matches!(stopped, Err(LocateError::Stopped)), "{stopped:?}");
    let stopped = log.beginning(bounds, &mut || false);
    assert_eq!(stopped, Ok(Beginning::Stopped));
}
