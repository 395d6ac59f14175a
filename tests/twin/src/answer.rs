//! How a command handler answers: an outcome, or why nothing was done.

use foretell_model::{CommandOutcome, Refusal, RefusalReason, Sequence, Verdict};

/// What a handler gives back. An `Err` means it has changed nothing and said nothing.
pub(crate) type Answer = Result<CommandOutcome, Stop>;

/// Why nothing was done.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Stop {
    /// The exchange says no.
    Refused(Refusal),
    /// The same request was applied before.
    Repeated {
        first: Sequence,
        last: Sequence,
        outcome: CommandOutcome,
    },
}

impl Stop {
    /// What is asked for is so already; which command did it is not part of the state.
    pub(crate) const fn already(outcome: CommandOutcome) -> Self {
        Self::Repeated {
            first: Sequence(0),
            last: Sequence(0),
            outcome,
        }
    }
}

impl From<RefusalReason> for Stop {
    fn from(reason: RefusalReason) -> Self {
        Self::Refused(reason.into())
    }
}

impl From<Refusal> for Stop {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

impl From<Stop> for Verdict {
    fn from(stop: Stop) -> Self {
        match stop {
            Stop::Refused(refusal) => Self::Refused(refusal),
            Stop::Repeated {
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

/// Refuses for this reason unless the condition holds.
pub(crate) fn ensure(condition: bool, otherwise: impl Into<Stop>) -> Result<(), Stop> {
    if condition {
        Ok(())
    } else {
        Err(otherwise.into())
    }
}
