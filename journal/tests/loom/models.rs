//! What the model checker runs: the real hand-over between matcher and sync thread, the durable
//! watermark, and the control page, in every order that threads and memory allow.

use std::sync::Arc;
use std::time::Duration;

use foretell_model::{Command, Sequence, TimeNs};
use loom::sync::atomic::{AtomicU64, Ordering};
use loom::thread;

use crate::append::{Appender, Handoff, Opening};
use crate::bytes::PAGE;
use crate::control::{ControlPage, ControlView, Position, Start, Status, Words};
use crate::options::{Durability, LARGEST_BATCH_OF_ONE};
use crate::primitives::{Parker, check};
use crate::segment::FIRST_BATCH;
use crate::state::JournalState;

/// Stands for no limit: a model never waits for time.
const EVER: Duration = Duration::from_secs(1 << 30);

fn start() -> Start {
    Start {
        epoch: 1,
        generation: 1,
        genesis: [7; 32],
        segment: 1,
        first: Sequence(1),
        found: Sequence(0),
    }
}

fn state(words: Words) -> JournalState {
    let page = ControlPage(words);
    JournalState::new(Sequence(0), Durability::Disk, start(), page)
}

fn view(words: Words) -> ControlView {
    ControlView {
        words,
        file: (0, 0),
        start: start(),
    }
}

/// Where the batch of this sequence ends: each is a page.
fn end_of(sequence: u64) -> Position {
    Position {
        segment: 1,
        offset: FIRST_BATCH + u32::try_from(sequence).unwrap() * 4_096,
    }
}

#[test]
fn whoever_sees_a_sequence_sees_its_place_and_its_bytes() {
    check(3, || {
        let words = Words::blank();
        let disk = Arc::new(AtomicU64::new(0));
        let (page, view) = (ControlPage(words.clone()), view(words));
        let written = Arc::clone(&disk);
        let writer = thread::spawn(move || {
            for sequence in 1..=2 {
                written.store(sequence, Ordering::Relaxed);
                page.raise(Sequence(sequence), end_of(sequence));
            }
        });
        for _ in 0..2 {
            let durable = view.durable();
            let place = view.position();
            let bytes = disk.load(Ordering::Relaxed);
            assert!(durable == Sequence(0) || place >= end_of(durable.0));
            assert!(place.segment == 0 || place <= end_of(bytes), "not written");
        }
        writer.join().unwrap();
    });
}

#[test]
fn no_follower_is_slept_through() {
    check(3, || {
        let words = Words::blank();
        let (page, view) = (ControlPage(words.clone()), view(words));
        let writer = thread::spawn(move || {
            page.raise(Sequence(1), end_of(1));
            page.raise(Sequence(2), end_of(2));
            page.set_status(Status::Closed);
        });
        // As `Follower::wait_unless`: the count, then a look, then sleep.
        loop {
            let seen = view.wake_count();
            if view.position() == end_of(2) && view.status() == Status::Closed {
                break;
            }
            view.wait(seen, EVER);
        }
        assert_eq!(view.durable(), Sequence(2));
        writer.join().unwrap();
    });
}

#[test]
fn what_is_acknowledged_was_written_before() {
    check(3, || {
        let state = state(Words::blank());
        let disk = Arc::new(AtomicU64::new(0));
        let (sync, written) = (state.clone(), Arc::clone(&disk));
        let syncing = thread::spawn(move || {
            written.store(1, Ordering::Relaxed);
            sync.raise(Sequence(1), end_of(1));
            written.store(2, Ordering::Relaxed);
            sync.raise(Sequence(2), end_of(2));
        });
        assert!(state.wait_durable(Sequence(1), EVER));
        assert!(disk.load(Ordering::Relaxed) >= 1, "acknowledged too early");
        assert!(state.wait_durable(Sequence(2), EVER));
        assert_eq!(disk.load(Ordering::Relaxed), 2);
        syncing.join().unwrap();
    });
}

#[test]
fn nobody_waits_for_a_journal_that_ended() {
    check(3, || {
        let state = state(Words::blank());
        let sync = state.clone();
        let syncing = thread::spawn(move || {
            sync.raise(Sequence(1), end_of(1));
            sync.end();
        });
        assert!(!state.wait_durable(Sequence(2), EVER));
        // Whoever knows the end knows everything that came before it.
        assert_eq!(state.durable(), Sequence(1));
        syncing.join().unwrap();
    });
}

/// What the sync thread does with each batch, as `Syncer::run` and `Syncer::step` do it.
fn sync_everything(handoff: &Handoff, parker: &Parker, state: &JournalState) {
    let mut tip = (Sequence(0), FIRST_BATCH);
    loop {
        let is_over = handoff.is_over();
        let Some(batch) = handoff.take() else {
            if is_over {
                return;
            }
            parker.park();
            continue;
        };
        assert_eq!(batch.first, tip.0.next(), "frames are lost or out of order");
        assert_eq!(
            batch.offset, tip.1,
            "a batch stands elsewhere than it was told"
        );
        tip = (batch.last, batch.end());
        let position = Position {
            segment: batch.segment,
            offset: tip.1,
        };
        state.raise(batch.last, position);
        handoff.give_back(batch);
    }
}

/// An appender over two buffers of so many bytes, and the other end.
fn appender(bytes: usize) -> (Appender, Arc<Handoff>, Parker, JournalState) {
    let state = state(Words::blank());
    let (handoff, parker) = Handoff::new(bytes);
    let opening = Opening {
        segment: 1,
        offset: FIRST_BATCH,
        bytes: 64 << 20,
        next_bytes: 64 << 20,
    };
    let behind = (Sequence(0), TimeNs(0));
    let appender = Appender::new(Arc::clone(&handoff), state.clone(), opening, behind);
    (appender, handoff, parker, state)
}

fn append(appender: &mut Appender, sequence: u64) {
    let place = appender.append(
        Sequence(sequence),
        TimeNs(sequence),
        &Command::AdvanceTime,
        &[],
        &[],
    );
    assert_eq!(place.segment, 1);
}

#[test]
fn every_staged_frame_is_taken_once_and_in_order() {
    check(3, || {
        let (mut appender, handoff, parker, state) = appender(2 * PAGE);
        let sync = state.clone();
        let syncing = thread::spawn(move || sync_everything(&handoff, &parker, &sync));
        for sequence in 1..=3 {
            append(&mut appender, sequence);
            appender.publish();
        }
        // Nothing more comes that would wake the sync thread.
        assert!(state.wait_durable(Sequence(3), EVER));
        drop(appender);
        syncing.join().unwrap();
    });
}

#[test]
fn a_full_buffer_is_left_to_the_sync_thread() {
    check(2, || {
        // Room for the largest frame in an empty buffer, and in none that holds a frame.
        let (mut appender, handoff, parker, state) = appender(LARGEST_BATCH_OF_ONE);
        let sync = state.clone();
        let syncing = thread::spawn(move || sync_everything(&handoff, &parker, &sync));
        for sequence in 1..=2 {
            while !appender.has_room_for_largest() {
                thread::yield_now();
            }
            append(&mut appender, sequence);
        }
        drop(appender);
        syncing.join().unwrap();
        assert_eq!(state.durable(), Sequence(2));
    });
}
