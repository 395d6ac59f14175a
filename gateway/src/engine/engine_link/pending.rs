//! Requests in flight on a connection, and the callers that wait for their answers.

use std::collections::HashMap;
use std::time::Duration;

use foretell_link::{Answer, BusyReason, Reply};
use foretell_wire::ErrorCode;
use thiserror::Error;
use tokio::sync::oneshot;
use tokio::time::Instant;

use crate::policy::rate_limits::JournalCharge;

/// Why there is no answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub(crate) enum LinkError {
    /// No connection; nothing was sent.
    #[error("engine unavailable")]
    Unavailable,
    /// Too many requests in flight, here or in the engine; nothing was done.
    #[error("busy")]
    Busy,
    /// The disk is nearly full: only cancels are accepted; nothing was done.
    #[error("disk nearly full")]
    DiskLow,
    /// The request was sent; its outcome is unknown.
    #[error("outcome unknown")]
    OutcomeUnknown,
}

impl LinkError {
    /// The error that a client gets.
    pub(crate) const fn code(self) -> ErrorCode {
        match self {
            Self::Unavailable => ErrorCode::EngineUnavailable,
            Self::Busy => ErrorCode::Busy,
            Self::DiskLow => ErrorCode::DiskLow,
            Self::OutcomeUnknown => ErrorCode::OutcomeUnknown,
        }
    }
}

/// Queued bytes and waiting callers of the current connection.
#[derive(Default)]
pub(super) struct Outbox {
    pub(super) connected: bool,
    pub(super) next_request: u64,
    pub(super) bytes: Vec<u8>,
    pub(super) waiting: HashMap<u64, Waiting>,
    /// Number of commands of each replace, by its first request: one busy answer is for all.
    pub(super) groups: HashMap<u64, u64>,
}

impl Outbox {
    /// The caller of an answered request. The other commands of a rejected replace have no answer
    /// of their own: their callers get the error here.
    pub(super) fn answered(&mut self, request: u64, answer: &Answer) -> Option<Waiting> {
        if let Some(count) = self.groups.remove(&request)
            && matches!(answer, Answer::Busy(_))
        {
            for other in request + 1..request + count {
                if let Some(sender) = self.waiting.remove(&other) {
                    let _ = sender.send(Err(unexpected(answer)));
                }
            }
        }
        self.waiting.remove(&request)
    }
}

/// Where the answer to a request goes.
pub(super) type Waiting = oneshot::Sender<Result<Answer, LinkError>>;

pub(crate) struct PendingAnswer {
    /// What was charged for the command.
    pub(crate) charge: Option<JournalCharge>,
    answer: oneshot::Receiver<Result<Answer, LinkError>>,
    sent: Instant,
    /// Measured from sending, so that requests sent together expire together.
    pub(super) due: Instant,
}

impl PendingAnswer {
    pub(super) async fn answer(self) -> Result<Answer, LinkError> {
        match tokio::time::timeout_at(self.due, self.answer).await {
            Ok(Ok(answer)) => answer,
            Ok(Err(_)) | Err(_) => Err(LinkError::OutcomeUnknown),
        }
    }

    /// An answer that is due `within` a time of its sending, and where it goes.
    pub(super) fn new(sent: Instant, within: Duration) -> (Self, Waiting) {
        let (sender, answer) = oneshot::channel();
        let pending = Self {
            charge: None,
            answer,
            sent,
            due: sent + within,
        };
        (pending, sender)
    }

    /// Notes what was charged for its command.
    pub(crate) fn charged(self, charge: Option<JournalCharge>) -> Self {
        Self { charge, ..self }
    }

    pub(crate) fn sent(&self) -> std::time::Instant {
        self.sent.into_std()
    }

    /// The exchange's answer to a command.
    ///
    /// # Errors
    /// [`LinkError`].
    pub(crate) async fn reply(self) -> Result<Reply, LinkError> {
        match self.answer().await? {
            Answer::Reply(reply) => Ok(reply),
            other => Err(unexpected(&other)),
        }
    }
}

/// The error for an answer of a kind that does not fit the request.
pub(super) fn unexpected(answer: &Answer) -> LinkError {
    match answer {
        Answer::Busy(busy) => match busy.reason {
            BusyReason::RingFull => LinkError::Busy,
            BusyReason::DiskLow => LinkError::DiskLow,
            BusyReason::Stopping => LinkError::Unavailable,
        },
        _ => {
            tracing::error!("engine sent an unexpected response");
            LinkError::OutcomeUnknown
        }
    }
}
