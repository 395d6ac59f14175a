//! A client that sends at a constant rate over one engine connection, independent of the answers,
//! and times each command.

use std::collections::VecDeque;
use std::io::Write as _;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use foretell_engine::client::Client;
use foretell_link::{Answer, Busy, BusyReason, Request, Role, Submit};
use foretell_model::{AccountNumber, Command, OrderId, Sequence, Verdict};

use crate::baselines::sync_file::SyncFile;
use crate::error::MeasureError;
use crate::harness::book_writer::{EVIDENCE, placement};
use crate::harness::latency::Stopwatch;

/// Commands in flight when measuring the engine's capacity.
pub(super) const WINDOW: usize = 512;
/// Orders that rest; each is cancelled after this many further orders.
const RESTING: usize = 1_000;
/// Pause between clock readings while sending.
const PAUSE: Duration = Duration::from_micros(50);
/// Maximum wait for an answer.
const PATIENCE: Duration = Duration::from_secs(10);
/// Attempts of a round in which the engine's ring was full, each at half the previous rate.
const ATTEMPTS: usize = 6;

pub(super) struct Load {
    client: Client,
    placed: u64,
    resting: VecDeque<OrderId>,
}

impl Load {
    pub(super) fn open(socket: &Path) -> Result<Self, MeasureError> {
        let client = Client::connect(socket, "load", Role::Operator)?;
        client
            .stream()
            .set_read_timeout(Some(PATIENCE))
            .map_err(MeasureError::io("setting up a socket"))?;
        Ok(Self {
            client,
            placed: 0,
            resting: VecDeque::with_capacity(RESTING),
        })
    }

    /// Commands per second with [`WINDOW`] of them in flight.
    pub(super) fn most(&mut self, turn: Duration) -> Result<f64, MeasureError> {
        let begun = Instant::now();
        let (mut done, mut sent) = (0_u32, 0);
        let mut bytes = Vec::new();
        while begun.elapsed() < turn {
            bytes.clear();
            let more = WINDOW / 2;
            (0..more).for_each(|_| self.encode(0, &mut bytes));
            let mut stream = self.client.stream();
            stream
                .write_all(&bytes)
                .map_err(MeasureError::io("sending"))?;
            sent += more;
            while sent > WINDOW / 2 {
                self.receive()?;
                sent -= 1;
                done += 1;
            }
        }
        let rate = f64::from(done) / begun.elapsed().as_secs_f64();
        for _ in 0..sent {
            self.receive()?;
        }
        Ok(rate)
    }

    /// Sends at `rate` commands a second for `turn`. If the disk stalls until the ring is full,
    /// repeats at half the rate, which stays. Returns the time of each command from sending to
    /// answer, and the last sequence before.
    pub(super) fn turn(
        &mut self,
        rate: &mut f64,
        turn: Duration,
    ) -> Result<(Stopwatch, Sequence), MeasureError> {
        for _ in 0..ATTEMPTS {
            if let Some(measured) = self.attempt(*rate, turn)? {
                return Ok(measured);
            }
            *rate /= 2.0;
        }
        let text =
            format!("the ring was full in {ATTEMPTS} attempts: the disk stalls for too long");
        Err(MeasureError::Wrong(text))
    }

    /// One round; `None` when the ring was full.
    fn attempt(
        &mut self,
        rate: f64,
        turn: Duration,
    ) -> Result<Option<(Stopwatch, Sequence)>, MeasureError> {
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a count of some hundred thousand"
        )]
        let count = (rate * turn.as_secs_f64()) as usize;
        let requests: Vec<Vec<u8>> = (0..count)
            .map(|number| {
                let mut bytes = Vec::new();
                self.encode(number as u64, &mut bytes);
                bytes
            })
            .collect();
        let before = self.sequence()?;
        let sent: Vec<AtomicU64> = (0..count).map(|_| AtomicU64::new(0)).collect();
        let stream = self.client.stream().try_clone();
        let mut stream = stream.map_err(MeasureError::io("setting up a socket"))?;
        let start = Instant::now();
        let times = std::thread::scope(|scope| {
            let sending = scope.spawn(|| send(&mut stream, &requests, rate, start, &sent));
            let times = self.answers(start, &sent);
            sending.join().expect("sending does not panic")?;
            times
        })?;
        if times.is_none() {
            // It is unknown now which of the orders rest.
            self.resting.clear();
        }
        Ok(times.map(|times| (times, before)))
    }

    /// Receives the answers to all commands; `None` when one reports a full ring.
    fn answers(
        &mut self,
        start: Instant,
        sent: &[AtomicU64],
    ) -> Result<Option<Stopwatch>, MeasureError> {
        let (mut times, mut was_full) = (Stopwatch::new(), false);
        for _ in sent {
            let reply = match self.client.receive()? {
                Answer::Reply(reply) => reply,
                Answer::Busy(Busy {
                    reason: BusyReason::RingFull,
                    ..
                }) => {
                    was_full = true;
                    continue;
                }
                other => return Err(unexpected(&other)),
            };
            // A cancel is rejected if its order was not accepted.
            if !was_full && !matches!(reply.verdict, Verdict::Applied(_)) {
                return Err(unexpected(&Answer::Reply(reply)));
            }
            let request = reply.request;
            let at = sent.get(usize::try_from(request).unwrap_or(usize::MAX));
            let at = at.ok_or_else(|| MeasureError::Wrong(format!("an answer to {request}")))?;
            let now = nanos(start.elapsed());
            times.record(now.saturating_sub(at.load(Ordering::Acquire)));
        }
        Ok((!was_full).then_some(times))
    }

    fn sequence(&mut self) -> Result<Sequence, MeasureError> {
        let answer = self.client.ask(Request::Status { request: 0 })?;
        match answer {
            Answer::Status(status) => Ok(status.sequence),
            other => Err(MeasureError::Wrong(format!("no status: {other:?}"))),
        }
    }

    /// Receives the next answer; it must report success.
    fn receive(&mut self) -> Result<(), MeasureError> {
        match self.client.receive()? {
            Answer::Reply(reply) if matches!(reply.verdict, Verdict::Applied(_)) => Ok(()),
            other => Err(unexpected(&other)),
        }
    }

    /// The next command: an order, or the cancel of one that rested.
    fn encode(&mut self, request: u64, out: &mut Vec<u8>) {
        let over = (self.resting.len() >= RESTING && request % 2 == 1)
            .then(|| self.resting.pop_front())
            .flatten();
        let (command, evidence): (_, &[u8]) = if let Some(order) = over {
            let owner = AccountNumber(0);
            (Command::CancelOrder { owner, order }, &[])
        } else {
            self.placed += 1;
            // A number range of its own: other clients derive ids in the same way.
            let order = placement(1 << 56 | self.placed);
            self.resting.push_back(order.order);
            (Command::PlaceOrder(order), &EVIDENCE)
        };
        let submit = Submit {
            request,
            command,
            evidence,
        };
        Request::Submit(submit)
            .encode(out)
            .expect("an order is far below the longest request");
    }
}

fn unexpected(answer: &Answer) -> MeasureError {
    MeasureError::Wrong(format!("a command of the load: {answer:?}"))
}

fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

/// Sends every request when it is due and records the due time.
fn send(
    stream: &mut UnixStream,
    requests: &[Vec<u8>],
    rate: f64,
    start: Instant,
    sent: &[AtomicU64],
) -> Result<(), MeasureError> {
    let mut next = 0;
    let mut bytes = Vec::new();
    while next < requests.len() {
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a count of some hundred thousand"
        )]
        let due = (start.elapsed().as_secs_f64() * rate) as usize;
        let due = due.min(requests.len());
        if due <= next {
            std::thread::park_timeout(PAUSE);
            continue;
        }
        bytes.clear();
        requests[next..due]
            .iter()
            .for_each(|request| bytes.extend_from_slice(request));
        let now = nanos(start.elapsed());
        sent[next..due]
            .iter()
            .for_each(|at| at.store(now, Ordering::Release));
        stream
            .write_all(&bytes)
            .map_err(MeasureError::io("sending"))?;
        next = due;
    }
    Ok(())
}

/// Writes and syncs `bytes` repeatedly; returns the duration of each sync. Also returns the wait of
/// commands at `rate` a second if only those syncs existed: each waits for the end of the running
/// sync, which cannot include it, and for the next one.
pub(super) fn syncs(
    file: &mut SyncFile,
    bytes: usize,
    rate: f64,
    turn: Duration,
) -> Result<(Stopwatch, Stopwatch), MeasureError> {
    let content = vec![0x5A; bytes];
    let (mut times, mut waits) = (Stopwatch::new(), Stopwatch::new());
    let (mut running, begun) = (0, Instant::now());
    while waits.times().is_empty() || begun.elapsed() < turn {
        let start = Instant::now();
        file.write_and_sync(&content)
            .map_err(MeasureError::io("the floor's sync"))?;
        let next = nanos(start.elapsed());
        times.record(next);
        arrivals(running, rate).for_each(|left| waits.record(left + next));
        running = next;
    }
    Ok((times, waits))
}

/// Time left of a sync of `sync` nanoseconds when each command arrives, evenly spaced: at least one
/// command, and none without a sync.
fn arrivals(sync: u64, rate: f64) -> impl Iterator<Item = u64> {
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "commands of a sync, and nanoseconds far below 2^53"
    )]
    let count = ((sync as f64 * rate / 1e9) as u64).max(1).min(sync);
    (0..count).map(move |number| sync - sync * (2 * number + 1) / (2 * count))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_come_evenly_while_a_sync_runs() {
        assert_eq!(
            arrivals(1_000, 4e6).collect::<Vec<_>>(),
            [875, 625, 375, 125]
        );
        assert_eq!(arrivals(1_000, 1.0).collect::<Vec<_>>(), [500]);
        assert_eq!(arrivals(0, 1e6).count(), 0);
    }
}
