//! What a comparison finds that is no command.

use foretell_catalog::record::NotTradable;
use foretell_model::limits::MAX_QUESTIONS;
use foretell_model::{FeeSchedule, Payout, Tick};
use foretell_wire::operator::payout_word;
use thiserror::Error;

use crate::exchange::Command;

/// What a finding asks of the operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// The two sides contradict each other: somebody must look.
    Error,
    /// A market waits for its payout.
    Resolution,
    /// A change waits for consent.
    HeldBack,
    /// Catalogued and not tradable.
    NotTradable,
    /// Worth knowing.
    Remark,
}

impl Kind {
    /// All, the most pressing first.
    pub const ALL: [Self; 5] = [
        Self::Error,
        Self::Resolution,
        Self::HeldBack,
        Self::NotTradable,
        Self::Remark,
    ];

    /// Its word in reports.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Resolution => "resolution due",
            Self::HeldBack => "held back",
            Self::NotTradable => "not tradable",
            Self::Remark => "remark",
        }
    }

    /// Whether an operator is needed.
    #[must_use]
    pub const fn is_pressing(self) -> bool {
        matches!(self, Self::Error | Self::Resolution | Self::HeldBack)
    }
}

/// A finding about a market of the catalog.
#[derive(Clone, Debug, PartialEq)]
pub struct Note {
    /// Its number.
    pub market: u64,
    /// Its name in URLs.
    pub slug: String,
    /// What was found.
    pub finding: Finding,
    /// The command that the operator gives to have it so.
    pub consent: Option<Command>,
}

impl Note {
    /// The finding, with the command line that consents.
    #[must_use]
    pub fn text(&self) -> String {
        match self.command_line() {
            Some(line) => format!("{}: {line}", self.finding),
            None => self.finding.to_string(),
        }
    }

    /// The command line that consents.
    #[must_use]
    pub fn command_line(&self) -> Option<String> {
        self.consent.as_ref().and_then(Command::command_line)
    }
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
    #[error("resolved {} upstream", payout_word(*.0))]
    ResolutionDue(Payout),
    /// More closings before the end date than are taken over in a day.
    #[error("closed upstream before its end date, beyond catalog.early_close_percent")]
    ClosesEarly,
    /// A fee above the bound.
    #[error("fee {} ppm, exponent {} upstream, above catalog.max_fee_ppm", .0.rate_ppm, .0.exponent)]
    FeeTooHigh(FeeSchedule),
    /// A smallest order above the bound.
    #[error("smallest order upstream above catalog.max_minimum_shares")]
    MinimumTooLarge,
    /// A tick below the bound.
    #[error("tick {} upstream, finer than catalog.finest_tick", .0.text())]
    TickTooFine(Tick),
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
            Self::ClosesEarly
            | Self::FeeTooHigh(_)
            | Self::MinimumTooLarge
            | Self::TickTooFine(_) => Kind::HeldBack,
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
