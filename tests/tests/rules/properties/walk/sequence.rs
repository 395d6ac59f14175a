//! One sequence: executed once, and shown to its observers.

use std::panic::{AssertUnwindSafe, catch_unwind};

use foretell_model::Verdict;

use crate::properties::generator::{Generator, Sent};
use crate::properties::journal::Journal;
use crate::properties::twin_agrees::pair::Pair;
use crate::properties::walk::observer::{Observer, Seen, Step, has_new_words, observers_of};

/// The name of the comparison of core and twin.
const PAIR: &str = "core and twin";

/// The first difference of a sequence.
#[derive(Clone, Debug)]
pub(crate) struct Difference {
    /// Who saw it.
    pub(crate) observer: &'static str,
    pub(crate) message: String,
}

/// A failed sequence: its commands so far, and who saw the difference.
pub(crate) struct Failed {
    pub(crate) commands: Vec<Sent>,
    pub(crate) observer: &'static str,
}

/// A sequence under way.
pub(crate) struct Walk {
    pair: Pair,
    journal: Journal,
    observers: Vec<Box<dyn Observer>>,
}

impl Walk {
    pub(crate) fn new(seed: u64) -> Self {
        Self {
            pair: Pair::cramped(seed),
            journal: Journal {
                has_new_words: has_new_words(seed),
                ..Journal::default()
            },
            observers: observers_of(seed),
        }
    }

    /// The same for one observer only.
    pub(crate) fn of_observer(seed: u64, name: &str) -> Self {
        let mut walk = Self::new(seed);
        walk.observers.retain(|it| it.name() == name);
        walk
    }

    /// Executes a command and shows it.
    pub(crate) fn step(&mut self, sent: &Sent, seen: &mut Seen) -> Result<(), Difference> {
        let (command, beside) = (&sent.command, sent.beside.as_slice());
        let changes = self.pair.changes;
        let step = || self.pair.step(command, beside, sent.stamp);
        let verdict = caught(PAIR, step)?;
        let is_applied = matches!(verdict, Verdict::Applied(_));
        if !is_applied && changes > 0 && changes != self.pair.changes {
            return Err(Difference {
                observer: PAIR,
                message: "the state changed without a frame".to_owned(),
            });
        }
        if is_applied {
            let (sequence, events) = (self.pair.core.sequence(), self.pair.events());
            self.journal
                .push(sequence, command, beside, sent.stamp, events);
        }
        let step = Step {
            sent,
            verdict: &verdict,
            events: self.pair.events(),
            state: self.pair.state(),
            core: &self.pair.core,
            frame: self.journal.frames.last().filter(|_| is_applied),
        };
        for observer in &mut self.observers {
            let (name, counts) = (observer.name(), &mut seen.counts);
            caught(name, || observer.see(&step, counts))?;
        }
        seen.coverage
            .record(command, &verdict, step.events, step.state);
        Ok(())
    }

    /// Shows the whole journal.
    pub(crate) fn end(&mut self, seen: &mut Seen) -> Result<(), Difference> {
        for observer in &mut self.observers {
            let (name, counts) = (observer.name(), &mut seen.counts);
            caught(name, || observer.end(&self.journal, counts))?;
        }
        Ok(())
    }
}

/// Turns a panic into a difference, too.
fn caught<T>(
    observer: &'static str,
    look: impl FnOnce() -> Result<T, String>,
) -> Result<T, Difference> {
    let result = catch_unwind(AssertUnwindSafe(look)).unwrap_or_else(|panic| {
        let said = panic
            .downcast_ref::<String>()
            .cloned()
            .or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string));
        Err(format!("panic: {}", said.unwrap_or_default()))
    });
    result.map_err(|message| Difference { observer, message })
}

/// Runs the sequence of a seed.
pub(crate) fn run(seed: u64, seen: &mut Seen) -> Result<(), Failed> {
    let mut walk = Walk::new(seed);
    let mut generator = Generator::new(seed);
    let mut commands = Vec::new();
    while let Some(sent) = generator.next_sent() {
        let result = walk.step(&sent, seen);
        generator.observe(&sent.command, walk.pair.state());
        commands.push(sent);
        if let Err(Difference { observer, .. }) = result {
            return Err(Failed { commands, observer });
        }
    }
    let ended = walk.end(seen);
    ended.map_err(|Difference { observer, .. }| Failed { commands, observer })
}
