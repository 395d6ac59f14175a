//! What the model checker runs: the real rings between ingress and matcher, the real sleeping and
//! waking at both ends, and answers that wait for the journal.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use foretell_link::Timing;
use foretell_model::{Command, CommandOutcome, FramePlace, Sequence, Verdict};
use loom::sync::atomic::{AtomicU64, Ordering};
use loom::thread;

use crate::hand_off::{Done, HandOff, Origin, Work};
use crate::primitives::{Parker, Unparker, check};
use crate::replies::HeldReplies;
use crate::wait::{Bell, Rouse, Sleeper, Waiting, Wake};

/// Stands for no limit: a model never waits for time.
const EVER: Duration = Duration::from_secs(1 << 30);

impl Rouse for Unparker {
    fn rouse(&self) -> io::Result<()> {
        self.unpark();
        Ok(())
    }
}

type DoorBell = Bell<Unparker>;

/// The bell of a thread that polls, and what it polls.
fn bell() -> (Arc<DoorBell>, Parker) {
    let poll = Parker::new();
    let bell = Bell::new(poll.unparker().clone());
    (Arc::new(bell), poll)
}

/// A command whose evidence tells it apart.
fn push(hand_off: &HandOff, matcher: &Wake, number: u8) {
    let work = Work {
        origin: Origin::Own,
        command: Command::AdvanceTime,
        evidence: hand_off.buffer(&[number]),
        pushed: 0,
    };
    assert!(hand_off.push(work), "there is room");
    matcher.wake();
}

/// The answer that may leave once the journal is durable up to here.
fn done(sequence: u64) -> Done {
    Done {
        origin: Origin::Own,
        verdict: Verdict::Applied(CommandOutcome::Done),
        sequence: Sequence(sequence),
        last_sequence: Sequence(sequence),
        place: FramePlace::default(),
        staged: 0,
        timing: Timing::default(),
    }
}

/// The matcher's thread, as `Matcher::run` goes; each command's number becomes its answer's.
fn matcher(hand_off: &HandOff, sleeper: &Sleeper, ingress: &DoorBell) {
    loop {
        let mut worked = false;
        while let Some(work) = hand_off.pop() {
            hand_off.push_reply(done(work.evidence[0].into()));
            hand_off.give_back(work.evidence);
            worked = true;
        }
        if worked {
            ingress.ring();
            continue;
        }
        if hand_off.is_stopped() {
            return;
        }
        sleeper.arm();
        if !hand_off.has_waiting() && !hand_off.is_stopped() {
            sleeper.sleep(EVER);
        }
        sleeper.disarm();
    }
}

/// Ingress waits for `count` answers, as `Ingress::serve` and `Gateways::round` do.
fn await_answers(
    hand_off: &HandOff,
    (bell, poll): (&DoorBell, &Parker),
    durable: impl Fn() -> Sequence,
    count: u64,
) {
    let mut held = HeldReplies::default();
    let mut last = 0;
    while last < count {
        if let Some(done) = held.release(hand_off, durable()) {
            last += 1;
            assert_eq!(done.sequence, Sequence(last), "answers in their order");
            continue;
        }
        bell.arm();
        if !held.is_ready(hand_off, durable()) {
            poll.park();
        }
        bell.disarm();
    }
}

#[test]
fn every_command_is_taken_and_answered_in_its_order_and_nobody_sleeps_through() {
    check(3, || {
        let hand_off = Arc::new(HandOff::new(16));
        let sleeper = Sleeper::new(Waiting::Park);
        let wake = sleeper.wake();
        let (bell, poll) = bell();
        let (rings, rung) = (Arc::clone(&hand_off), Arc::clone(&bell));
        let matching = thread::spawn(move || matcher(&rings, &sleeper, &rung));
        push(&hand_off, &wake, 1);
        push(&hand_off, &wake, 2);
        let ready = || Sequence(u64::MAX);
        await_answers(&hand_off, (&bell, &poll), ready, 2);
        // Both buffers have come back, or come with the next look.
        hand_off.stop();
        wake.wake();
        matching.join().unwrap();
        assert!(
            hand_off.admits(false, 0, 16 << 20),
            "evidence is counted out"
        );
    });
}

#[test]
fn a_stop_reaches_a_matcher_that_sleeps() {
    check(4, || {
        let hand_off = Arc::new(HandOff::new(16));
        let sleeper = Sleeper::new(Waiting::Park);
        let wake = sleeper.wake();
        let (bell, _poll) = bell();
        let rings = Arc::clone(&hand_off);
        let matching = thread::spawn(move || matcher(&rings, &sleeper, &bell));
        hand_off.stop();
        wake.wake();
        matching.join().unwrap();
    });
}

#[test]
fn an_answer_leaves_as_soon_as_the_journal_covers_it_and_never_before() {
    check(3, || {
        let hand_off = Arc::new(HandOff::new(16));
        let (bell, poll) = bell();
        // As `JournalState` keeps it, over a disk.
        let durable = Arc::new(AtomicU64::new(0));
        let disk = Arc::new(AtomicU64::new(0));
        let rings = Arc::clone(&hand_off);
        let (raised, written, rung) = (durable.clone(), disk.clone(), bell.clone());
        let matching = thread::spawn(move || {
            for sequence in 1..=2 {
                rings.push_reply(done(sequence));
                written.store(sequence, Ordering::Relaxed);
                raised.store(sequence, Ordering::Release);
                rung.ring();
            }
        });
        let covered = || {
            let durable = durable.load(Ordering::Acquire);
            assert!(disk.load(Ordering::Relaxed) >= durable, "before the disk");
            Sequence(durable)
        };
        await_answers(&hand_off, (&bell, &poll), covered, 2);
        matching.join().unwrap();
    });
}
