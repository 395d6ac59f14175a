//! Models for the model checker: the real handoff between matcher and sync thread, the durable
//! sequence, and the control page, in every order that threads and memory permit.

use std::sync::Arc;
use std::time::Duration;

use foretell_model::{Command, Durability, Sequence, TimeNs};
use loom::sync::atomic::{AtomicU64, Ordering};
use loom::thread;

use crate::append::{Appender, Handoff, NextBatch};
use crate::bytes::PAGE;
use crate::control::{
    ControlPage, ControlView, EngineStart, JournalPosition, SharedAtomics, WriterStatus,
};
use crate::options::MAX_SINGLE_FRAME_BATCH;
use crate::primitives::{Parker, check};
use crate::segment::FIRST_BATCH;
use crate::state::JournalState;

/// No timeout: a model never waits for time.
const EVER: Duration = Duration::from_secs(1 << 30);

fn start() -> EngineStart {
    EngineStart {
        is_replica: false,
        epoch: 1,
        generation: 1,
        genesis: [7; 32],
        segment: 1,
        first: Sequence(1),
        found: Sequence(0),
    }
}

fn state(atomics: SharedAtomics) -> JournalState {
    let page = ControlPage(atomics);
    JournalState::new(Sequence(0), Durability::Disk, start(), page)
}

fn view(atomics: SharedAtomics) -> ControlView {
    ControlView {
        atomics,
        file: (0, 0),
        start: start(),
    }
}

/// End of the batch of this sequence: each is one page.
fn end_of(sequence: u64) -> JournalPosition {
    JournalPosition {
        segment: 1,
        offset: FIRST_BATCH + u32::try_from(sequence).unwrap() * 4_096,
    }
}

#[test]
fn whoever_sees_a_sequence_sees_its_place_and_its_bytes() {
    check(3, || {
        let atomics = SharedAtomics::blank();
        let disk = Arc::new(AtomicU64::new(0));
        let (page, view) = (ControlPage(atomics.clone()), view(atomics));
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
        let atomics = SharedAtomics::blank();
        let (page, view) = (ControlPage(atomics.clone()), view(atomics));
        let writer = thread::spawn(move || {
            page.raise(Sequence(1), end_of(1));
            page.raise(Sequence(2), end_of(2));
            page.set_status(WriterStatus::Closed);
        });
        // As `Follower::wait_unless`: read the count, check, then sleep.
        loop {
            let seen = view.wake_count();
            if view.position() == end_of(2) && view.status() == WriterStatus::Closed {
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
        let state = state(SharedAtomics::blank());
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
        let state = state(SharedAtomics::blank());
        let sync = state.clone();
        let syncing = thread::spawn(move || {
            sync.raise(Sequence(1), end_of(1));
            sync.end();
        });
        assert!(!state.wait_durable(Sequence(2), EVER));
        // A thread that sees the end also sees everything before it.
        assert_eq!(state.durable(), Sequence(1));
        syncing.join().unwrap();
    });
}

/// The sync thread's work on each batch, as in `Syncer::run` and `Syncer::step`.
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
        let position = JournalPosition {
            segment: batch.segment,
            offset: tip.1,
        };
        state.raise(batch.last, position);
        handoff.return_buffer(batch);
    }
}

/// An appender over two buffers of `bytes` bytes, and the other end.
fn appender(bytes: usize) -> (Appender, Arc<Handoff>, Parker, JournalState) {
    let state = state(SharedAtomics::blank());
    let (handoff, parker) = Handoff::new(bytes);
    let next_batch = NextBatch {
        segment: 1,
        offset: FIRST_BATCH,
        bytes: 64 << 20,
        next_bytes: 64 << 20,
    };
    let behind = (Sequence(0), TimeNs(0));
    let appender = Appender::new(Arc::clone(&handoff), state.clone(), next_batch, behind);
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
        // No further batch wakes the sync thread.
        assert!(state.wait_durable(Sequence(3), EVER));
        drop(appender);
        syncing.join().unwrap();
    });
}

#[test]
fn a_full_buffer_is_left_to_the_sync_thread() {
    check(2, || {
        // The largest frame fits into an empty buffer, and into none that contains a frame.
        let (mut appender, handoff, parker, state) = appender(MAX_SINGLE_FRAME_BATCH);
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
