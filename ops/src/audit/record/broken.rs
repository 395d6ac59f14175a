//! How a record can contradict itself.

use std::fmt;

use crate::audit::finding::Kind;

/// Why a frame cannot be true.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Broken {
    pub(crate) kind: Kind,
    pub(crate) text: String,
}

impl Broken {
    /// A rule of the exchange does not hold.
    pub(crate) fn rule(text: impl Into<String>) -> Self {
        Self {
            kind: Kind::Rule,
            text: text.into(),
        }
    }

    /// The evidence does not carry the command.
    pub(crate) fn evidence(text: impl Into<String>) -> Self {
        Self {
            kind: Kind::Signature,
            text: text.into(),
        }
    }
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// What folding a part of a frame gives.
pub(crate) type Checked<T = ()> = Result<T, Broken>;

/// Passes what must hold. The text is made only when it does not.
#[inline]
pub(crate) fn must(holds: bool, text: impl FnOnce() -> String) -> Checked {
    if holds {
        Ok(())
    } else {
        Err(Broken::rule(text()))
    }
}
