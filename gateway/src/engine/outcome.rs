//! What became of a command.

use foretell_link::Reply;
use foretell_model::{CommandOutcome, FramePosition, Rejection, Sequence, Verdict};

/// A command that the exchange applied, now or earlier.
#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) outcome: CommandOutcome,
    /// When it was applied earlier: the sequence of that command, 0 where it is not remembered.
    pub(crate) before: Option<Sequence>,
    /// The sequence of the command; of a repeat, that of the state that decided.
    pub(crate) decided_at: Sequence,
    /// The sequence of the last command that followed from it.
    pub(crate) reached: Sequence,
    /// Where its frame is, when it was applied now; else zeros.
    pub(crate) place: FramePosition,
}

impl Done {
    /// The sequence of the command that was applied.
    pub(crate) fn sequence(&self) -> Sequence {
        self.before.unwrap_or(self.decided_at)
    }
}

/// A command that the exchange rejected.
#[derive(Debug)]
pub(crate) struct Refused {
    pub(crate) rejection: Rejection,
    /// The sequence of the state that decided.
    pub(crate) decided_at: Sequence,
}

impl Refused {
    /// Success, because what the command asks for is so.
    pub(crate) fn as_done(&self, outcome: CommandOutcome) -> Done {
        Done {
            outcome,
            before: Some(Sequence(0)),
            decided_at: self.decided_at,
            reached: self.decided_at,
            place: FramePosition::default(),
        }
    }
}

/// Whether a command was applied.
pub(crate) fn outcome_of(reply: &Reply) -> Result<Done, Refused> {
    let decided_at = reply.sequence;
    let (outcome, before) = match reply.verdict {
        Verdict::Applied(outcome) => (outcome, None),
        Verdict::Repeated { first, outcome, .. } => (outcome, Some(first)),
        Verdict::Rejected(rejection) => {
            return Err(Refused {
                rejection,
                decided_at,
            });
        }
    };
    Ok(Done {
        outcome,
        before,
        decided_at,
        reached: decided_at.max(reply.last_sequence),
        place: reply.place,
    })
}
