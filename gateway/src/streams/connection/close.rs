//! Why a connection ends: close codes and their reasons (docs/api/streams.md).

use foretell_model::Sequence;

use crate::streams::connection::websocket::Violation;

/// The end of a connection.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Close {
    pub(crate) code: u16,
    pub(crate) reason: String,
}

/// All close codes, for metrics and documents; the last is a connection cut without a close frame.
pub(crate) const CODES: [&str; 13] = [
    "1000", "1002", "1003", "1007", "1008", "1009", "1012", "1013", "4001", "4002", "4003", "4008",
    "none",
];

impl Close {
    fn new(code: u16, reason: impl Into<String>) -> Self {
        Self {
            code,
            reason: reason.into(),
        }
    }

    /// The answer to the client's own close.
    pub(crate) fn normal() -> Self {
        Self::new(1000, "")
    }

    /// The client sent nothing for too long.
    pub(crate) fn idle() -> Self {
        Self::new(1008, "idle")
    }

    /// The view was rebuilt: a sequence may now name another frame.
    pub(crate) fn rebuilt() -> Self {
        Self::new(1012, "history rebuilt")
    }

    /// The view serves no reads.
    pub(crate) fn try_again() -> Self {
        Self::new(1013, "try again later")
    }

    /// No credentials, or wrong ones.
    pub(crate) fn unauthorized() -> Self {
        Self::new(4001, "unauthorized")
    }

    pub(crate) fn revoked() -> Self {
        Self::new(4001, "key revoked")
    }

    /// The client reads too slowly; it has everything up to `last`, if that is known.
    pub(crate) fn slow(last: Option<Sequence>) -> Self {
        Self::resumable(4002, "slow consumer", last)
    }

    /// The gateway ends; the client has everything up to `last`, if that is known.
    pub(crate) fn draining(last: Option<Sequence>) -> Self {
        Self::resumable(4003, "draining", last)
    }

    fn resumable(code: u16, reason: &str, last: Option<Sequence>) -> Self {
        match last {
            Some(last) => Self::new(code, format!("{reason}; last_sequence={}", last.0)),
            None => Self::new(code, reason),
        }
    }

    /// A limit of the connection is exceeded.
    pub(crate) fn too_many(what: &str, count: usize, max: usize) -> Self {
        Self::new(4008, format!("too many {what}: {count}, max {max}"))
    }
}

impl From<Violation> for Close {
    fn from(violation: Violation) -> Self {
        Self::new(violation.code, violation.reason)
    }
}
