//! What a comparison finds that is no command.

use foretell_catalog::record::NotTradable;
use foretell_model::limits::MAX_QUESTIONS;
use foretell_model::{Payout, Tick};
use foretell_wire::operator::payout_word;
use thiserror::Error;

/// What a finding asks of the operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// The two sides contradict each other: somebody must look.
    Error,
    /// A market waits for its payout.
    Resolution,
    /// Catalogued and not tradable.
    NotTradable,
    /// Worth knowing.
    Remark,
}

impl Kind {
    /// All, the most pressing first.
    pub const ALL: [Self; 4] = [
        Self::Error,
        Self::Resolution,
        Self::NotTradable,
        Self::Remark,
    ];

    /// Its word in reports.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Resolution => "resolution due",
            Self::NotTradable => "not tradable",
            Self::Remark => "remark",
        }
    }
}

/// A finding about a market of the catalog.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// Its number.
    pub market: u64,
    /// Its name in URLs.
    pub slug: String,
    /// What was found.
    pub finding: Finding,
}

/// Findings.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Finding {
    /// Its record does not describe a market of this exchange.
    #[error("{0}")]
    NotTradable(NotTradable),
    /// It trades here, and its record now describes something else.
    #[error("registered here, and upstream now {0}")]
    NoLongerTradable(NotTradable),
    /// It had ended before it was known here.
    #[error("closed or archived before it was registered")]
    OverBefore,
    /// A neg-risk question without a neg-risk event.
    #[error("a neg-risk question whose event is unknown or is not neg-risk")]
    NoEvent,
    /// A question that came when its event's list was final.
    #[error("its event's list of questions is final")]
    Late,
    /// More questions than an event may have.
    #[error("its event has {0} questions, allowed: {MAX_QUESTIONS}")]
    TooManyQuestions(usize),
    /// A question that was answered Yes is not in the list.
    #[error("its event is decided: a question closed before resolved Yes")]
    Decided,
    /// The condition is registered with other tokens.
    #[error("registered with other tokens")]
    TokensDiffer,
    /// The condition is registered under another event.
    #[error("registered under {}, upstream says {}", event(*here), event(*upstream))]
    EventDiffers {
        /// Event it is registered under.
        here: Option<u64>,
        /// Event the upstream says.
        upstream: Option<u64>,
    },
    /// Over here, open upstream.
    #[error("closed here and open upstream: a closed market does not open again")]
    Reopened,
    /// Paid out otherwise.
    #[error("paid out {} here, upstream says {}", payout_word(*here), payout_word(*upstream))]
    PayoutDiffers {
        /// What was paid.
        here: Payout,
        /// What the upstream says.
        upstream: Payout,
    },
    /// A question of an event cannot pay a half.
    #[error("resolved half and half upstream, which a question of a neg-risk event cannot pay")]
    HalfOfQuestion,
    /// The upstream says how it resolved.
    #[error("resolved {} upstream: foretell market resolve", payout_word(*.0))]
    ResolutionDue(Payout),
    /// Finer here.
    #[error("tick {} here, {} upstream", here.text(), upstream.text())]
    TickCoarser {
        /// Tick here.
        here: Tick,
        /// Tick upstream.
        upstream: Tick,
    },
    /// The exchange refused a command.
    #[error("{command}: {reason}")]
    Refused {
        /// The command's word.
        command: &'static str,
        /// The exchange's words.
        reason: String,
    },
}

impl Finding {
    /// What it asks of the operator.
    #[must_use]
    pub const fn kind(&self) -> Kind {
        match self {
            Self::NotTradable(_)
            | Self::OverBefore
            | Self::NoEvent
            | Self::Late
            | Self::TooManyQuestions(_)
            | Self::Decided => Kind::NotTradable,
            Self::ResolutionDue(_) => Kind::Resolution,
            Self::TickCoarser { .. } => Kind::Remark,
            Self::NoLongerTradable(_)
            | Self::TokensDiffer
            | Self::EventDiffers { .. }
            | Self::Reopened
            | Self::PayoutDiffers { .. }
            | Self::HalfOfQuestion
            | Self::Refused { .. } => Kind::Error,
        }
    }
}

fn event(id: Option<u64>) -> String {
    match id {
        Some(id) => format!("event {id}"),
        None => "no neg-risk event".to_owned(),
    }
}
