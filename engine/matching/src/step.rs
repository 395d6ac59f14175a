//! What one command carries through its handlers, and the ways it can end without effect.

use foretell_model::{CommandOutcome, Event, Refusal, RefusalReason, Sequence, TimeNs, Verdict};

use crate::rules::Rules;

/// The command's place in the journal, its time, and where its events go.
pub(crate) struct Step<'a> {
    /// The rules in force.
    pub(crate) rules: Rules,
    /// Its pinned number.
    pub(crate) code: u16,
    /// The sequence the command takes if it is applied.
    pub(crate) sequence: Sequence,
    /// Its time, never before the time of the state.
    pub(crate) now: TimeNs,
    pub(crate) events: &'a mut Vec<Event>,
}

impl Step<'_> {
    pub(crate) fn event(&mut self, event: Event) {
        self.events.push(event);
    }
}

/// A command that changed nothing. Handlers find this out before they change anything.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum NotApplied {
    Refused(Refusal),
    Repeated {
        first: Sequence,
        last: Sequence,
        outcome: CommandOutcome,
    },
}

impl NotApplied {
    /// The state is as the command wants it already; which command made it so is not part of
    /// the state.
    pub(crate) const fn already(outcome: CommandOutcome) -> Self {
        Self::Repeated {
            first: Sequence(0),
            last: Sequence(0),
            outcome,
        }
    }
}

impl From<RefusalReason> for NotApplied {
    fn from(reason: RefusalReason) -> Self {
        Self::Refused(reason.into())
    }
}

impl From<Refusal> for NotApplied {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

impl From<NotApplied> for Verdict {
    fn from(not_applied: NotApplied) -> Self {
        match not_applied {
            NotApplied::Refused(refusal) => Self::Refused(refusal),
            NotApplied::Repeated {
                first,
                last,
                outcome,
            } => Self::Repeated {
                first,
                last,
                outcome,
            },
        }
    }
}

/// What a handler answers.
pub(crate) type Answer = Result<CommandOutcome, NotApplied>;

/// An answer as everybody else is told it.
#[inline]
pub(crate) fn verdict(answer: Answer) -> Verdict {
    answer.map_or_else(Verdict::from, Verdict::Applied)
}

/// Refuses with `reason` unless `condition` holds.
pub(crate) fn ensure(condition: bool, reason: impl Into<NotApplied>) -> Result<(), NotApplied> {
    if condition {
        Ok(())
    } else {
        Err(reason.into())
    }
}
