//! Executing a record again: each of its commands is applied, and what happens is compared with what
//! was recorded. Recovery, the publisher and auditors all stand on this.

use foretell_model::limits::MAX_EVENTS;
use foretell_model::{Command, Event, FrameRef, Sequence, TimeNs, Verdict};

use crate::exchange::Exchange;
use crate::foresight::Foresight;
use crate::step::verdict;

/// Frames taken at once: the one whose turn it is, and those the core looks ahead at.
const RING: usize = Foresight::LOOKS * Foresight::GAP + 1;

/// How re-execution differs from the record.
#[derive(Debug)]
pub enum Difference {
    /// The command is answered so, or its sequence is another: no later sequence could be right.
    Refused(Verdict),
    /// Other events, in words. The state is that of the re-execution.
    Events(String),
}

/// A command of the record that re-execution does not bear out.
#[derive(Debug)]
pub struct Divergence {
    /// Which.
    pub sequence: Sequence,
    /// How.
    pub difference: Difference,
}

/// An exchange that is taken from frame to frame.
#[derive(Debug)]
pub struct Replay {
    /// Its state, after the last frame that was executed.
    pub exchange: Exchange,
    events: Vec<Event>,
    /// Frames taken and not executed yet: a ring, from `first` on `waiting` of them.
    ring: Vec<Taken>,
    first: usize,
    waiting: usize,
}

/// A frame before its turn.
#[derive(Debug)]
struct Taken {
    sequence: Sequence,
    time: TimeNs,
    command: Command,
    events: Vec<Event>,
    foresight: Foresight,
}

impl Replay {
    /// Goes on from a state.
    #[must_use]
    pub fn new(exchange: Exchange) -> Self {
        Self {
            exchange,
            events: Vec::with_capacity(MAX_EVENTS),
            ring: (0..RING).map(|_| Taken::blank()).collect(),
            first: 0,
            waiting: 0,
        }
    }

    /// Executes the command of the next frame, at once. None may be waiting for its turn.
    ///
    /// # Errors
    /// What happens is not what was recorded.
    pub fn execute(&mut self, frame: &FrameRef<'_>) -> Result<(), Difference> {
        debug_assert_eq!(self.waiting, 0, "frames are executed in their order");
        let (exchange, events) = (&mut self.exchange, &mut self.events);
        let recorded = (frame.sequence, frame.time, frame.command, frame.events);
        apply(exchange, events, recorded)
    }

    /// Takes the next frame, and executes one that was taken before it once there are enough for
    /// the core to look ahead at.
    ///
    /// # Errors
    /// The executed frame is not what was recorded. The one that was handed over is taken anyway.
    pub fn take(&mut self, frame: &FrameRef<'_>) -> Result<(), Divergence> {
        let place = (self.first + self.waiting) % RING;
        self.ring[place].fill(frame);
        self.waiting += 1;
        if self.waiting < RING {
            return Ok(());
        }
        self.execute_next().unwrap_or(Ok(()))
    }

    /// Executes frames that are at hand together, one after the other, while the core looks ahead at
    /// those behind: without a copy of them. None may be waiting for its turn.
    ///
    /// # Errors
    /// The first that is not what was recorded; none behind it is executed.
    pub fn execute_all<'f>(
        &mut self,
        frames: impl Iterator<Item = FrameRef<'f>> + Clone,
    ) -> Result<(), Divergence> {
        debug_assert_eq!(self.waiting, 0, "frames are executed in their order");
        let mut looks: [_; Foresight::LOOKS] = std::array::from_fn(|look| {
            let ahead = (look + 1) * Foresight::GAP;
            (ahead, frames.clone().skip(ahead))
        });
        let mut foresights = [Foresight::NONE; RING - 1];
        for (at, frame) in frames.enumerate() {
            // Its place is that of the frame looked at for the first time now, a ring further.
            foresights[at % (RING - 1)] = Foresight::NONE;
            for (ahead, coming) in &mut looks {
                if let Some(coming) = coming.next() {
                    let foresight = &mut foresights[(at + *ahead) % (RING - 1)];
                    self.exchange.foresee(coming.command, foresight);
                }
            }
            self.execute(&frame).map_err(|difference| Divergence {
                sequence: frame.sequence,
                difference,
            })?;
        }
        Ok(())
    }

    /// Executes the oldest frame that waits for its turn; `None` when none does.
    pub fn execute_next(&mut self) -> Option<Result<(), Divergence>> {
        self.waiting = self.waiting.checked_sub(1)?;
        for look in 1..=Foresight::LOOKS {
            let coming = look * Foresight::GAP;
            if coming <= self.waiting {
                let taken = &mut self.ring[(self.first + coming) % RING];
                self.exchange.foresee(&taken.command, &mut taken.foresight);
            }
        }
        let taken = &self.ring[self.first];
        self.first = (self.first + 1) % RING;
        let recorded = (
            taken.sequence,
            taken.time,
            &taken.command,
            &taken.events[..],
        );
        let executed = apply(&mut self.exchange, &mut self.events, recorded);
        Some(executed.map_err(|difference| Divergence {
            sequence: taken.sequence,
            difference,
        }))
    }
}

/// Applies a recorded command and compares what happens.
fn apply(
    exchange: &mut Exchange,
    events: &mut Vec<Event>,
    (sequence, time, command, recorded): (Sequence, TimeNs, &Command, &[Event]),
) -> Result<(), Difference> {
    events.clear();
    let answer = exchange.answer(command, time, events);
    if answer.is_err() || exchange.sequence() != sequence {
        return Err(Difference::Refused(verdict(answer)));
    }
    if events == recorded {
        return Ok(());
    }
    Err(Difference::Events(difference(events, recorded)))
}

impl Taken {
    const fn blank() -> Self {
        Self {
            sequence: Sequence(0),
            time: TimeNs(0),
            command: Command::AdvanceTime,
            events: Vec::new(),
            foresight: Foresight::NONE,
        }
    }

    fn fill(&mut self, frame: &FrameRef<'_>) {
        (self.sequence, self.time) = (frame.sequence, frame.time);
        self.command = *frame.command;
        self.events.clear();
        self.events.extend_from_slice(frame.events);
        self.foresight = Foresight::NONE;
    }
}

/// The first event that is not the same, in words.
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
    use foretell_model::{FramePlace, KeyNumber, Micros, Reference, WalletAddress};

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
        let deposit = |number| Command::Deposit {
            wallet: WalletAddress([number; 20]),
            amount: Micros(u64::from(number) + 1),
            reference: Reference([number; 32]),
        };
        (0..count).map(deposit).collect()
    }

    fn frames(recorded: &[(Command, Vec<Event>)]) -> impl Iterator<Item = FrameRef<'_>> + Clone {
        (1..)
            .zip(recorded)
            .map(|(sequence, (command, events))| FrameRef {
                sequence: Sequence(sequence),
                time: TimeNs(1),
                command,
                events,
                evidence: &[],
                place: FramePlace::default(),
            })
    }

    /// Takes everything and executes it to the end; the sequences that differ.
    fn differing(recorded: &[(Command, Vec<Event>)]) -> Vec<u64> {
        let mut replay = Replay::new(Exchange::new(Capacity::default(), 2));
        let mut executed: Vec<_> = frames(recorded).map(|frame| replay.take(&frame)).collect();
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
        // A command that the exchange refuses: from there on every sequence is another.
        let mut recorded = record(&deposits(30));
        recorded[20].0 = Command::RevokeKey {
            key: KeyNumber(99),
            cancel_orders: false,
        };
        assert_eq!(differing(&recorded), (21..=30).collect::<Vec<_>>());
        let mut together = Replay::new(Exchange::new(Capacity::default(), 2));
        let divergence = together.execute_all(frames(&recorded)).unwrap_err();
        assert!(matches!(divergence.difference, Difference::Refused(_)));
        assert_eq!(divergence.sequence.0, 21);
    }
}
