//! Results of command handlers: an outcome, or the reason why nothing changed.

use foretell_model::{CommandOutcome, Rejection, RejectionReason, Sequence, Verdict};

/// Result of a handler. After an `Err` state and events are unchanged.
pub(crate) type HandlerResult = Result<CommandOutcome, NotApplied>;

/// Why nothing changed.
#[derive(Clone, Copy, Debug)]
pub(crate) enum NotApplied {
    /// The exchange rejects the command.
    Rejected(Rejection),
    /// The same request was applied before.
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
    fn from(stop: NotApplied) -> Self {
        match stop {
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

/// Returns `otherwise` as the error unless the condition holds.
pub(crate) fn ensure(condition: bool, otherwise: impl Into<NotApplied>) -> Result<(), NotApplied> {
    if condition {
        Ok(())
    } else {
        Err(otherwise.into())
    }
}
