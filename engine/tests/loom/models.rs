//! Models for the model checker: the real rings between ingress and matcher, the real sleep and
//! wake-up of both, and answers that wait for the journal.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use foretell_link::Timing;
use foretell_model::{Command, CommandOutcome, FramePosition, Sequence, Verdict};
use loom::sync::atomic::{AtomicU64, Ordering};
use loom::thread;

use crate::command_ring::{CommandRing, Origin, PendingReply, QueuedCommand};
use crate::primitives::{Parker, Unparker, check};
use crate::replies::HeldReplies;
use crate::wait::{EndPoll, PollWaker, ThreadParker, ThreadWaker, Waiting};

/// No limit: a model never waits for time.
const EVER: Duration = Duration::from_secs(1 << 30);

impl EndPoll for Unparker {
    fn end_poll(&self) -> io::Result<()> {
        self.unpark();
        Ok(())
    }
}

type IngressWaker = PollWaker<Unparker>;

/// A waker and the poll that it wakes.
fn waker() -> (Arc<IngressWaker>, Parker) {
    let poll = Parker::new();
    let waker = PollWaker::new(poll.unparker().clone());
    (Arc::new(waker), poll)
}

/// Pushes a command identified by its evidence.
fn push(ring: &CommandRing, matcher: &ThreadWaker, number: u8) {
    let queued = QueuedCommand {
        origin: Origin::Own,
        command: Command::AdvanceTime,
        group: Default::default(),
        evidence: ring.buffer(&[number]),
        pushed: 0,
    };
    assert!(ring.push(queued), "there is room");
    matcher.wake();
}

/// The answer that waits for this durable sequence.
fn reply(sequence: u64) -> PendingReply {
    PendingReply {
        origin: Origin::Own,
        verdict: Verdict::Applied(CommandOutcome::Done),
        sequence: Sequence(sequence),
        last_sequence: Sequence(sequence),
        place: FramePosition::default(),
        staged: 0,
        timing: Timing::default(),
    }
}

/// The matcher's thread, like `Matcher::run`; each command's number becomes its answer's.
fn matcher(ring: &CommandRing, parker: &ThreadParker, ingress: &IngressWaker) {
    loop {
        let mut worked = false;
        while let Some(queued) = ring.pop() {
            ring.push_reply(reply(queued.evidence[0].into()));
            ring.recycle(queued.evidence);
            worked = true;
        }
        if worked {
            ingress.wake();
            continue;
        }
        if ring.is_stopped() {
            return;
        }
        parker.arm();
        if !ring.has_waiting() && !ring.is_stopped() {
            parker.sleep(EVER);
        }
        parker.disarm();
    }
}

/// Ingress waits for `count` answers, like `Ingress::serve` and `Gateways::round`.
fn await_answers(
    ring: &CommandRing,
    (waker, poll): (&IngressWaker, &Parker),
    durable: impl Fn() -> Sequence,
    count: u64,
) {
    let mut held = HeldReplies::default();
    let mut last = 0;
    while last < count {
        if let Some(reply) = held.release(ring, durable()) {
            last += 1;
            assert_eq!(reply.sequence, Sequence(last), "answers in their order");
            continue;
        }
        waker.arm();
        if !held.is_ready(ring, durable()) {
            poll.park();
        }
        waker.disarm();
    }
}

#[test]
fn every_command_is_taken_and_answered_in_its_order_and_nobody_sleeps_through() {
    check(3, || {
        let ring = Arc::new(CommandRing::new(16));
        let parker = ThreadParker::new(Waiting::Park);
        let matcher_waker = parker.waker();
        let (waker, poll) = waker();
        let (commands, ingress) = (Arc::clone(&ring), Arc::clone(&waker));
        let matching = thread::spawn(move || matcher(&commands, &parker, &ingress));
        push(&ring, &matcher_waker, 1);
        push(&ring, &matcher_waker, 2);
        let ready = || Sequence(u64::MAX);
        await_answers(&ring, (&waker, &poll), ready, 2);
        // Both buffers are back, or return with the next iteration.
        ring.stop();
        matcher_waker.wake();
        matching.join().unwrap();
        assert!(
            ring.admits(false, 1, 0, 16 << 20),
            "evidence is counted out"
        );
    });
}

#[test]
fn a_stop_reaches_a_matcher_that_sleeps() {
    check(4, || {
        let ring = Arc::new(CommandRing::new(16));
        let parker = ThreadParker::new(Waiting::Park);
        let matcher_waker = parker.waker();
        let (waker, _poll) = waker();
        let commands = Arc::clone(&ring);
        let matching = thread::spawn(move || matcher(&commands, &parker, &waker));
        ring.stop();
        matcher_waker.wake();
        matching.join().unwrap();
    });
}

#[test]
fn an_answer_leaves_as_soon_as_the_journal_covers_it_and_never_before() {
    check(3, || {
        let ring = Arc::new(CommandRing::new(16));
        let (waker, poll) = waker();
        // Like `JournalState`, over a disk.
        let durable = Arc::new(AtomicU64::new(0));
        let disk = Arc::new(AtomicU64::new(0));
        let commands = Arc::clone(&ring);
        let (raised, written, ingress) = (durable.clone(), disk.clone(), waker.clone());
        let matching = thread::spawn(move || {
            for sequence in 1..=2 {
                commands.push_reply(reply(sequence));
                written.store(sequence, Ordering::Relaxed);
                raised.store(sequence, Ordering::Release);
                ingress.wake();
            }
        });
        let covered = || {
            let durable = durable.load(Ordering::Acquire);
            assert!(disk.load(Ordering::Relaxed) >= durable, "before the disk");
            Sequence(durable)
        };
        await_answers(&ring, (&waker, &poll), covered, 2);
        matching.join().unwrap();
    });
}
