//! How a frame can contradict the frames before it.

use crate::finding::Kind;

/// What a frame violates.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Violation {
    pub(crate) kind: Kind,
    pub(crate) text: String,
}

impl Violation {
    /// A rule of the exchange does not hold.
    pub(crate) fn rule(text: impl Into<String>) -> Self {
        Self {
            kind: Kind::Rule,
            text: text.into(),
        }
    }

    /// The evidence does not prove the command.
    pub(crate) fn evidence(text: impl Into<String>) -> Self {
        Self {
            kind: Kind::Signature,
            text: text.into(),
        }
    }
}

/// The result of a check.
pub(crate) type Check<T = ()> = Result<T, Violation>;

/// Returns a violated rule unless the condition holds. The text is made only then.
#[inline]
pub(crate) fn ensure(holds: bool, text: impl FnOnce() -> String) -> Check {
    if holds {
        Ok(())
    } else {
        Err(Violation::rule(text()))
    }
}
