//! What keeps a round from having all of the upstream.

use std::fmt;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::limits::LimitReached;
use crate::resource::List;
use crate::upstream::UpstreamError;

/// A list that was not read to its end. It stops no other list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListFinding {
    /// The list.
    pub list: List,
    /// Why.
    pub problem: ListProblem,
}

/// Why a list was not read to its end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Error)]
#[serde(rename_all = "snake_case")]
pub enum ListProblem {
    /// A page cannot be read. Each round tries again.
    #[error("cannot be read: {0}")]
    Unreadable(String),
    /// The upstream rejects a later page. Many do at some offset, and have no pages by cursor.
    #[error("the list ends at offset {offset}, the rest cannot be read: {reason}")]
    EndsAt {
        /// Rows before the rejected page.
        offset: u64,
        /// The upstream's answer.
        reason: String,
    },
    /// The upstream repeats pages or cursors, or sends none where rows must be.
    #[error("the upstream repeats or leaves out pages, the rest cannot be read")]
    Repeats,
    /// A limit of this side.
    #[error("{0}")]
    Limit(String),
    /// Markets are not found by their conditions.
    #[error("cannot be asked for by condition: {0}")]
    NotByCondition(String),
}

impl ListProblem {
    pub(super) fn unreadable(error: &UpstreamError) -> Self {
        Self::Unreadable(error.to_string())
    }

    pub(super) fn limit(limit: &LimitReached) -> Self {
        Self::Limit(limit.to_string())
    }
}

impl fmt::Display for ListFinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.list, self.problem)
    }
}
