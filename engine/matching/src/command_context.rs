//! Context of one command for its handlers, and the results of commands without effect.

use foretell_model::{
    CommandKind, CommandOutcome, Event, OperatorNumber, Rejection, RejectionReason, Sequence,
    TimeNs, Verdict,
};

/// Stamp, sequence and event buffer of the current command.
pub(crate) struct CommandContext<'a> {
    pub(crate) kind: CommandKind,
    /// The sequence that the command takes if it is applied.
    pub(crate) sequence: Sequence,
    /// The time of the command, never before the time of the state.
    pub(crate) now: TimeNs,
    /// The operator whose command it is; its role includes the command.
    pub(crate) operator: OperatorNumber,
    /// Orders touched in earlier frames of its group.
    pub(crate) touched: u16,
    /// Resting orders visited, and those touched in earlier frames of its group.
    pub(crate) visited: usize,
    /// The bytes beside the command: its tail and its evidence.
    pub(crate) beside: &'a [u8],
    pub(crate) events: &'a mut Vec<Event>,
}

impl CommandContext<'_> {
    pub(crate) fn event(&mut self, event: Event) {
        self.events.push(event);
    }
}

/// Why a command changed nothing. Handlers return this before they change anything.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum NotApplied {
    Rejected(Rejection),
    Repeated {
        first: Sequence,
        last: Sequence,
        outcome: CommandOutcome,
    },
}

impl NotApplied {
    /// The state already is as requested. The state does not record which command made it so.
    pub(crate) const fn already(outcome: CommandOutcome) -> Self {
        Self::Repeated {
            first: Sequence(0),
            last: Sequence(0),
            outcome,
        }
    }
}

impl NotApplied {
    /// The same for a quote of a set: its index is the first detail.
    pub(crate) const fn of_quote(self, index: usize) -> Self {
        match self {
            Self::Rejected(Rejection { reason, .. }) => {
                Self::Rejected(Rejection::with(reason, index as u64, 0))
            }
            repeated @ Self::Repeated { .. } => repeated,
        }
    }
}

impl From<RejectionReason> for NotApplied {
    fn from(reason: RejectionReason) -> Self {
        Self::Rejected(reason.into())
    }
}

impl From<Rejection> for NotApplied {
    fn from(rejection: Rejection) -> Self {
        Self::Rejected(rejection)
    }
}

impl From<NotApplied> for Verdict {
    fn from(not_applied: NotApplied) -> Self {
        match not_applied {
            NotApplied::Rejected(rejection) => Self::Rejected(rejection),
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

/// The result of a handler.
pub(crate) type HandlerResult = Result<CommandOutcome, NotApplied>;

/// Converts a handler's result to a verdict.
#[inline]
pub(crate) fn verdict(answer: HandlerResult) -> Verdict {
    answer.map_or_else(Verdict::from, Verdict::Applied)
}

/// Returns `reason` as the error unless `condition` holds.
pub(crate) fn ensure(condition: bool, reason: impl Into<NotApplied>) -> Result<(), NotApplied> {
    if condition {
        Ok(())
    } else {
        Err(reason.into())
    }
}
