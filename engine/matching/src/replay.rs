//! Re-execution of journal frames: applies each recorded command and compares the events with the
//! recorded ones. Used by recovery, the publisher and auditors.

use foretell_model::limits::MAX_EVENTS;
use foretell_model::{Command, CommandStamp, Event, FrameRef, Sequence, TimeNs, Verdict};

use crate::command_context::verdict;
use crate::exchange::Exchange;
use crate::prefetch::PrefetchState;

/// Ring size: the next frame to execute, and the frames that are prefetched.
const RING: usize = PrefetchState::STEPS * PrefetchState::DISTANCE + 1;

/// How re-execution differs from the record.
#[derive(Debug)]
pub enum Difference {
    /// The command was not applied, or took another sequence; no later one could match.
    Rejected(Verdict),
    /// The events differ; the text describes how. The state is that of the re-execution.
    Events(String),
}

/// A recorded command whose re-execution differs.
#[derive(Debug)]
pub struct Divergence {
    /// Sequence of the command.
    pub sequence: Sequence,
    /// The difference.
    pub difference: Difference,
}

/// An exchange that executes frames in sequence.
#[derive(Debug)]
pub struct Replay {
    /// The state after the last executed frame.
    pub exchange: Exchange,
    events: Vec<Event>,
    /// Ring of queued frames: `queued` of them, starting at `first`.
    ring: Vec<QueuedFrame>,
    first: usize,
    queued: usize,
}

/// A copy of a queued frame.
#[derive(Debug)]
struct QueuedFrame {
    sequence: Sequence,
    stamp: CommandStamp,
    command: Command,
    events: Vec<Event>,
    /// Of a command with a tail.
    beside: Vec<u8>,
    prefetch: PrefetchState,
}

impl Replay {
    /// Continues from the state of `exchange`.
    #[must_use]
    pub fn new(exchange: Exchange) -> Self {
        Self {
            exchange,
            events: Vec::with_capacity(MAX_EVENTS),
            ring: (0..RING).map(|_| QueuedFrame::empty()).collect(),
            first: 0,
            queued: 0,
        }
    }

    /// The events of the command that was executed last.
    #[must_use]
    pub fn last_events(&self) -> &[Event] {
        &self.events
    }

    /// Executes the command of the next frame at once. No frame may be queued.
    ///
    /// # Errors
    /// The result differs from the record.
    pub fn execute(&mut self, frame: &FrameRef<'_>) -> Result<(), Difference> {
        debug_assert_eq!(self.queued, 0, "frames are executed in their order");
        let (exchange, events) = (&mut self.exchange, &mut self.events);
        let recorded = Recorded {
            sequence: frame.sequence,
            stamp: frame.stamp(),
            command: frame.command,
            events: frame.events,
            beside: frame.evidence,
        };
        apply(exchange, events, &recorded)
    }

    /// Queues the next frame. When the ring is full, executes the oldest queued frame.
    ///
    /// # Errors
    /// The executed frame differs from the record. The new frame is queued nevertheless.
    pub fn enqueue(&mut self, frame: &FrameRef<'_>) -> Result<(), Divergence> {
        let at = (self.first + self.queued) % RING;
        self.ring[at].fill(frame);
        self.queued += 1;
        if self.queued < RING {
            return Ok(());
        }
        self.execute_next().unwrap_or(Ok(()))
    }

    /// Executes frames in order and prefetches for the frames after each, without copying them. No
    /// frame may be queued.
    ///
    /// # Errors
    /// The first frame that differs from the record; no frame after it is executed.
    pub fn execute_all<'f>(
        &mut self,
        frames: impl Iterator<Item = FrameRef<'f>> + Clone,
    ) -> Result<(), Divergence> {
        debug_assert_eq!(self.queued, 0, "frames are executed in their order");
        let mut lookaheads: [_; PrefetchState::STEPS] = std::array::from_fn(|step| {
            let ahead = (step + 1) * PrefetchState::DISTANCE;
            (ahead, frames.clone().skip(ahead))
        });
        let mut prefetches = [PrefetchState::NONE; RING - 1];
        for (at, frame) in frames.enumerate() {
            // The entry is reused below for the frame `RING - 1` later.
            prefetches[at % (RING - 1)] = PrefetchState::NONE;
            for (ahead, later) in &mut lookaheads {
                if let Some(later) = later.next() {
                    let state = &mut prefetches[(at + *ahead) % (RING - 1)];
                    self.exchange.prefetch(later.command, state);
                }
            }
            self.execute(&frame).map_err(|difference| Divergence {
                sequence: frame.sequence,
                difference,
            })?;
        }
        Ok(())
    }

    /// Executes the oldest queued frame; `None` when no frame is queued.
    pub fn execute_next(&mut self) -> Option<Result<(), Divergence>> {
        self.queued = self.queued.checked_sub(1)?;
        for step in 1..=PrefetchState::STEPS {
            let ahead = step * PrefetchState::DISTANCE;
            if ahead <= self.queued {
                let frame = &mut self.ring[(self.first + ahead) % RING];
                self.exchange.prefetch(&frame.command, &mut frame.prefetch);
            }
        }
        let frame = &self.ring[self.first];
        self.first = (self.first + 1) % RING;
        let recorded = Recorded {
            sequence: frame.sequence,
            stamp: frame.stamp,
            command: &frame.command,
            events: &frame.events,
            beside: &frame.beside,
        };
        let executed = apply(&mut self.exchange, &mut self.events, &recorded);
        Some(executed.map_err(|difference| Divergence {
            sequence: frame.sequence,
            difference,
        }))
    }
}

/// What a journal says of a command.
struct Recorded<'a> {
    sequence: Sequence,
    stamp: CommandStamp,
    command: &'a Command,
    events: &'a [Event],
    beside: &'a [u8],
}

/// Applies a recorded command and compares the events.
fn apply(
    exchange: &mut Exchange,
    events: &mut Vec<Event>,
    &Recorded {
        sequence,
        stamp,
        command,
        events: recorded,
        beside,
    }: &Recorded<'_>,
) -> Result<(), Difference> {
    events.clear();
    let answer = exchange.try_apply(command, beside, stamp, events);
    if answer.is_err() || exchange.sequence() != sequence {
        return Err(Difference::Rejected(verdict(answer)));
    }
    if events == recorded {
        return Ok(());
    }
    Err(Difference::Events(difference(events, recorded)))
}

impl QueuedFrame {
    const fn empty() -> Self {
        Self {
            sequence: Sequence(0),
            stamp: CommandStamp::at(TimeNs(0)),
            command: Command::AdvanceTime,
            events: Vec::new(),
            beside: Vec::new(),
            prefetch: PrefetchState::NONE,
        }
    }

    fn fill(&mut self, frame: &FrameRef<'_>) {
        (self.sequence, self.stamp) = (frame.sequence, frame.stamp());
        self.command = *frame.command;
        self.events.clear();
        self.events.extend_from_slice(frame.events);
        self.beside.clear();
        if frame.command.has_tail() {
            self.beside.extend_from_slice(frame.evidence);
        }
        self.prefetch = PrefetchState::NONE;
    }
}

/// Describes the first event that differs.
fn difference(executed: &[Event], recorded: &[Event]) -> String {
    let pairs = executed.iter().zip(recorded);
    let same = pairs
        .take_while(|(executed, recorded)| executed == recorded)
        .count();
    let at = |events: &[Event]| {
        events
            .get(same)
            .map_or_else(|| "nothing".to_owned(), |event| format!("{event:?}"))
    };
    format!(
        "event {same} is recorded as {}, re-executed as {}",
        at(recorded),
        at(executed)
    )
}

#[cfg(test)]
mod tests {
    use foretell_model::{FramePosition, KeyNumber, Micros, OperatorNumber};

    use foretell_fixtures::trader;
    use foretell_model::command::RevokeKey;

    use super::*;
    use crate::Capacity;

    /// Commands, each with the events it causes.
    fn record(commands: &[Command]) -> Vec<(Command, Vec<Event>)> {
        let mut exchange = Exchange::new(Capacity::default(), 1);
        let recorded = commands.iter().map(|command| {
            let mut events = Vec::new();
            let verdict = exchange.apply(command, TimeNs(1), &mut events);
            assert!(matches!(verdict, Verdict::Applied(_)), "{verdict:?}");
            (*command, events)
        });
        recorded.collect()
    }

    fn deposits(count: u8) -> Vec<Command> {
        let deposit = |number| trader(number).deposit(Micros(u64::from(number) + 1));
        (0..u32::from(count)).map(deposit).collect()
    }

    fn frames(recorded: &[(Command, Vec<Event>)]) -> impl Iterator<Item = FrameRef<'_>> + Clone {
        (1..)
            .zip(recorded)
            .map(|(sequence, (command, events))| FrameRef {
                operator: OperatorNumber::NONE,
                touched: 0,
                sequence: Sequence(sequence),
                time: TimeNs(1),
                command,
                events,
                evidence: &[],
                place: FramePosition::default(),
            })
    }

    /// Queues and executes everything; returns the sequences that differ.
    fn differing(recorded: &[(Command, Vec<Event>)]) -> Vec<u64> {
        let mut replay = Replay::new(Exchange::new(Capacity::default(), 2));
        let mut executed: Vec<_> = frames(recorded)
            .map(|frame| replay.enqueue(&frame))
            .collect();
        executed.extend(std::iter::from_fn(|| replay.execute_next()));
        assert!(replay.exchange.sequence().0 <= recorded.len() as u64);
        let wrong = executed.into_iter().filter_map(Result::err);
        wrong.map(|divergence| divergence.sequence.0).collect()
    }

    #[test]
    fn frames_keep_their_turn_however_many_are_taken_ahead() {
        for count in [0, 1, 4, 16, 17, 18, 60] {
            let recorded = record(&deposits(count));
            assert!(differing(&recorded).is_empty(), "{count}");
            let mut alone = Replay::new(Exchange::new(Capacity::default(), 2));
            for frame in frames(&recorded) {
                alone.execute(&frame).unwrap();
            }
            assert_eq!(alone.exchange.sequence().0, u64::from(count));
            let mut together = Replay::new(Exchange::new(Capacity::default(), 2));
            together.execute_all(frames(&recorded)).unwrap();
            assert_eq!(together.exchange.sequence().0, u64::from(count));
            assert_eq!(together.exchange.digest(), alone.exchange.digest());
        }
    }

    #[test]
    fn what_differs_is_named_by_its_sequence() {
        for at in [0, 1, 15, 16, 17, 39] {
            let mut recorded = record(&deposits(40));
            recorded[at].1.clear();
            assert_eq!(differing(&recorded), [at as u64 + 1]);
            let mut together = Replay::new(Exchange::new(Capacity::default(), 2));
            let divergence = together.execute_all(frames(&recorded)).unwrap_err();
            assert_eq!(divergence.sequence.0, at as u64 + 1, "and no further");
            assert_eq!(together.exchange.sequence(), divergence.sequence);
        }
        // The exchange rejects this command, so every later sequence differs.
        let mut recorded = record(&deposits(30));
        recorded[20].0 = Command::RevokeKey(RevokeKey {
            key: KeyNumber(99),
            cancel_orders: false,
        });
        assert_eq!(differing(&recorded), (21..=30).collect::<Vec<_>>());
        let mut together = Replay::new(Exchange::new(Capacity::default(), 2));
        let divergence = together.execute_all(frames(&recorded)).unwrap_err();
        assert!(matches!(divergence.difference, Difference::Rejected(_)));
        assert_eq!(divergence.sequence.0, 21);
    }
}
