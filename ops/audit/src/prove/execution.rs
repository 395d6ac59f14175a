//! Executing every command again by the core, and comparing its events with the recorded ones.

use std::collections::BTreeSet;

use foretell_journal::Scratch;
use foretell_matching::{Capacity, Difference, Exchange, Replay};
use foretell_model::{Command, Event, FrameRef, Sequence};

use crate::finding::{Finding, Kind, Stop};
use crate::read::source::Source;
use crate::record_text::{RecordText, answer_text, first_difference};

/// A second exchange that follows the record.
#[derive(Debug)]
pub(crate) struct Execution {
    replay: Replay,
    /// Divergences that journalled commands accept, once they were looked for.
    accepted: Option<BTreeSet<Sequence>>,
    /// The accepted divergences that re-execution met.
    met: BTreeSet<Sequence>,
}

/// A frame that does not follow from those before it.
#[derive(Debug)]
pub(crate) struct Contradiction {
    pub(crate) sequence: Sequence,
    /// What the record says instead.
    pub(crate) text: String,
    /// Why accepted divergences could not be looked for.
    pub(crate) unread: Option<Stop>,
}

impl From<Contradiction> for Stop {
    fn from(contradiction: Contradiction) -> Self {
        let Contradiction {
            sequence,
            text,
            unread,
        } = contradiction;
        unread.unwrap_or_else(|| Finding::new(Kind::Contradiction, sequence, text).into())
    }
}

impl Execution {
    /// An empty exchange. The key of its tables need not be a secret here: it changes no answer.
    pub(crate) fn new() -> Self {
        Self {
            replay: Replay::new(Exchange::new(Capacity::NONE, 0)),
            accepted: None,
            met: BTreeSet::new(),
        }
    }

    pub(crate) const fn exchange(&self) -> &Exchange {
        &self.replay.exchange
    }

    /// Divergences that an operator accepted by a journalled command.
    pub(crate) const fn accepted(&self) -> &BTreeSet<Sequence> {
        &self.met
    }

    /// Executes the command of one frame and compares its events.
    ///
    /// # Errors
    /// The exchange rejects it, or causes other events. Another order of the same events passes when
    /// an operator accepted it.
    pub(crate) fn follow(
        &mut self,
        frame: &FrameRef<'_>,
        source: &Source,
    ) -> Result<(), Contradiction> {
        self.follow_all(std::iter::once(*frame), source)
    }

    /// The same for several frames.
    ///
    /// # Errors
    /// As for one. No frame after the one that contradicts is executed.
    pub(crate) fn follow_all<'f>(
        &mut self,
        mut frames: impl Iterator<Item = FrameRef<'f>> + Clone,
        source: &Source,
    ) -> Result<(), Contradiction> {
        while let Err(divergence) = self.replay.execute_all(frames.clone()) {
            let sequence = divergence.sequence;
            let diverged = frames.find(|frame| frame.sequence == sequence);
            if let Difference::Rejected(verdict) = divergence.difference {
                let command = diverged.map(|frame| RecordText::new(frame.command, |_, _| None));
                let command = command.map_or("the command".to_owned(), |it| it.to_string());
                let answer = answer_text(&verdict);
                return Err(Contradiction {
                    sequence,
                    text: format!("{command} is recorded, re-execution {answer}"),
                    unread: None,
                });
            }
            let executed = self.replay.last_events();
            let recorded = diverged.map_or(&[][..], |frame| frame.events);
            let labels = ["recorded as", "re-executed as"];
            let text = first_difference("event", [recorded, executed], labels);
            let is_reordered = are_reordered(executed, recorded);
            self.accept(sequence, text, is_reordered, source)?;
        }
        Ok(())
    }

    /// Passes a divergence that a journalled command accepts. It must be one of order alone: an
    /// acceptance is journalled by the writer of the journal, and makes no other event true.
    fn accept(
        &mut self,
        sequence: Sequence,
        text: String,
        is_reordered: bool,
        source: &Source,
    ) -> Result<(), Contradiction> {
        let contradiction = |text, unread| Contradiction {
            sequence,
            text,
            unread,
        };
        if self.accepted.is_none() {
            match accepted_in(source) {
                Ok(accepted) => self.accepted = Some(accepted),
                Err(error) => return Err(contradiction(text, Some(error))),
            }
        }
        let accepted = self.accepted.as_ref();
        if !accepted.is_some_and(|accepted| accepted.contains(&sequence)) {
            return Err(contradiction(text, None));
        }
        self.met.insert(sequence);
        if is_reordered {
            return Ok(());
        }
        let text = text + "; an operator accepted it, but the events are not the same";
        Err(contradiction(text, None))
    }
}

/// Whether these are the same events, and the same trades in the same order.
fn are_reordered(executed: &[Event], recorded: &[Event]) -> bool {
    let trades = |events: &[Event]| {
        let trades = events
            .iter()
            .filter(|event| matches!(event, Event::Fill(_)));
        trades.copied().collect::<Vec<_>>()
    };
    let sorted = |events: &[Event]| {
        let mut texts: Vec<_> = events.iter().map(|event| format!("{event:?}")).collect();
        texts.sort_unstable();
        texts
    };
    trades(executed) == trades(recorded) && sorted(executed) == sorted(recorded)
}

/// The divergences that journalled commands accept. Skips frames that cannot be decoded: the audit
/// reports them.
fn accepted_in(source: &Source) -> Result<BTreeSet<Sequence>, Stop> {
    let (mut accepted, mut scratch) = (BTreeSet::new(), Scratch::default());
    let mut frames = source.frames()?;
    while let Some(frame) = frames.next()? {
        if let Ok(frame) = frame.decode(&mut scratch)
            && let Command::AcceptDivergence { sequence } = frame.command
        {
            accepted.insert(*sequence);
        }
    }
    Ok(accepted)
}
