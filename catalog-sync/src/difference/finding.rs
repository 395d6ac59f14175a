//! Findings of a comparison that are not commands.

use foretell_catalog::record::NotTradable;
use foretell_model::limits::MAX_QUESTIONS;
use foretell_model::{FeeSchedule, Payout, Tick};
use foretell_wire::operator::{OperatorCommand, payout_word};
use thiserror::Error;

use crate::exchange::command_line;

/// The action that a finding requires of the operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FindingKind {
    /// The two sides contradict each other; an operator must investigate.
    Error,
    /// A market waits for its payout.
    Resolution,
    /// A change waits for the operator's consent.
    HeldBack,
    /// In the catalog, but not tradable.
    NotTradable,
    /// Informational.
    Remark,
}

impl FindingKind {
    /// All kinds, most urgent first.
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

    /// Whether it requires an operator.
    #[must_use]
    pub const fn is_pressing(self) -> bool {
        matches!(self, Self::Error | Self::Resolution | Self::HeldBack)
    }
}

/// A finding about a market of the catalog.
#[derive(Clone, Debug, PartialEq)]
pub struct Note {
    /// Its id.
    pub market: u64,
    /// Its name in URLs.
    pub slug: String,
    /// The finding.
    pub finding: Finding,
    /// The command that the operator may send to apply the change.
    pub consent: Option<OperatorCommand>,
}

impl Note {
    /// The finding, with the operator's command line.
    #[must_use]
    pub fn text(&self) -> String {
        match self.command_line() {
            Some(line) => format!("{}: {line}", self.finding),
            None => self.finding.to_string(),
        }
    }

    /// The operator's command line.
    #[must_use]
    pub fn command_line(&self) -> Option<String> {
        self.consent.as_ref().and_then(command_line)
    }
}

/// A finding.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Finding {
    /// Its record does not fit this exchange.
    #[error("{0}")]
    NotTradable(NotTradable),
    /// It is registered here, and its record no longer fits this exchange.
    #[error("registered here, but upstream now: {0}")]
    NoLongerTradable(NotTradable),
    /// It ended before it was registered here.
    #[error("closed or archived before it was registered")]
    OverBefore,
    /// A neg-risk question without a neg-risk event group.
    #[error("a neg-risk question whose event is unknown or is not neg-risk")]
    NoEvent,
    /// A question that arrived after its event group's list was final.
    #[error("its event's list of questions is final")]
    Late,
    /// More questions than an event group may have.
    #[error("its event has {0} questions, allowed: {MAX_QUESTIONS}")]
    TooManyQuestions(usize),
    /// A question that was answered Yes is missing from the list.
    #[error("its event is decided: a question closed before resolved Yes")]
    Decided,
    /// A question of the event cannot be in the list and may still win.
    #[error("its event waits: question {0} cannot be listed here and may still win")]
    Incomplete(String),
    /// The event is known from the records of its markets alone.
    #[error("its event waits: event {0} was not read itself, so it may have more questions")]
    EventUnread(u64),
    /// Every listed question lost upstream.
    #[error("every listed question of its event resolved No at the upstream: pay {}", payout_word(*.0))]
    NoneOfListed(Payout),
    /// More markets stop at once than the upstream may stop.
    #[error("stopped upstream, beyond catalog.hold_percent of the live markets at once")]
    StopsMany,
    /// Its question or labels changed upstream.
    #[error("means something else upstream: {question:?}, outcomes {} and {}", outcomes[0], outcomes[1])]
    MeaningDiffers {
        /// The question upstream.
        question: String,
        /// The labels upstream.
        outcomes: [String; 2],
    },
    /// Whether its book is cleared at the game start changed upstream.
    #[error("clears its book at the game start upstream: {0}; here as registered")]
    Clearing(bool),
    /// Delay above the limit.
    #[error("delay {0} ms upstream, above catalog.max_taker_delay_ms")]
    DelayTooLong(u32),
    /// Rebate above the limit.
    #[error("rebate {0} ppm upstream, above catalog.max_rebate_ppm")]
    RebateTooHigh(u32),
    /// The operator registered the condition first.
    #[error("a market of the operator: it does not follow the upstream")]
    Own,
    /// The operator registered questions under the event's number.
    #[error("event {0} has questions of the operator, so no upstream question can join it")]
    OwnEvent(u64),
    /// Another market of the exchange has its slug.
    #[error("another market has its slug: a request by slug means that one")]
    SlugTaken,
    /// The condition is registered with other tokens.
    #[error("registered with other tokens")]
    TokensDiffer,
    /// The condition is registered under another event group.
    #[error("registered under {}, upstream says {}", event(*here), event(*upstream))]
    EventDiffers {
        /// Event group at the exchange.
        here: Option<u64>,
        /// Event group upstream.
        upstream: Option<u64>,
    },
    /// Closed here, open upstream.
    #[error("closed here and open upstream: a closed market does not open again")]
    Reopened,
    /// Paid out differently.
    #[error("paid out {} here, upstream says {}", payout_word(*here), payout_word(*upstream))]
    PayoutDiffers {
        /// Payout here.
        here: Payout,
        /// Payout upstream.
        upstream: Payout,
    },
    /// The upstream resolved it with prices that are no payout.
    #[error("resolved at the upstream, with prices that name no winner")]
    NoWinner,
    /// A neg-risk question cannot pay a half.
    #[error(
        "resolved half and half at the upstream, which is not possible for a question of a neg-risk event"
    )]
    HalfOfQuestion,
    /// Other lost, unless a question that joined late wins.
    #[error(
        "resolved No at the upstream; it waits because question {0} joined late and may still win"
    )]
    OtherWaits(String),
    /// The upstream resolved it with this payout.
    #[error("resolved {} upstream", payout_word(*.0))]
    ResolutionDue(Payout),
    /// More early closings than the daily allowance.
    #[error("closed upstream before its end date, beyond catalog.early_close_percent")]
    ClosesEarly,
    /// Fee above the limit.
    #[error("fee {} ppm, exponent {} upstream, above catalog.max_fee_ppm", .0.rate_ppm, .0.exponent)]
    FeeTooHigh(FeeSchedule),
    /// Minimum order above the limit.
    #[error("minimum order upstream above catalog.max_minimum_shares")]
    MinimumTooLarge,
    /// Tick below the limit.
    #[error("tick {} upstream, finer than catalog.finest_tick", .0.text())]
    TickTooFine(Tick),
    /// The tick here is finer, or no multiple of the upstream's.
    #[error("tick {} here, {} upstream", here.text(), upstream.text())]
    TickDiffers {
        /// Tick here.
        here: Tick,
        /// Tick upstream.
        upstream: Tick,
    },
    /// The exchange rejected a command.
    #[error("{command}: {reason}")]
    Rejected {
        /// The command's name.
        command: &'static str,
        /// The exchange's error text.
        reason: String,
    },
}

impl Finding {
    /// The action it requires of the operator.
    #[must_use]
    pub const fn kind(&self) -> FindingKind {
        match self {
            Self::NotTradable(_)
            | Self::OverBefore
            | Self::NoEvent
            | Self::Late
            | Self::TooManyQuestions(_)
            | Self::Decided
            | Self::Incomplete(_)
            | Self::EventUnread(_)
            | Self::OwnEvent(_) => FindingKind::NotTradable,
            Self::ResolutionDue(_)
            | Self::NoneOfListed(_)
            | Self::OtherWaits(_)
            | Self::NoWinner => FindingKind::Resolution,
            Self::ClosesEarly
            | Self::StopsMany
            | Self::MeaningDiffers { .. }
            | Self::Clearing(_)
            | Self::DelayTooLong(_)
            | Self::RebateTooHigh(_)
            | Self::FeeTooHigh(_)
            | Self::MinimumTooLarge
            | Self::TickTooFine(_) => FindingKind::HeldBack,
            Self::Own | Self::TickDiffers { .. } => FindingKind::Remark,
            Self::NoLongerTradable(_)
            | Self::SlugTaken
            | Self::TokensDiffer
            | Self::EventDiffers { .. }
            | Self::Reopened
            | Self::PayoutDiffers { .. }
            | Self::HalfOfQuestion
            | Self::Rejected { .. } => FindingKind::Error,
        }
    }
}

fn event(id: Option<u64>) -> String {
    match id {
        Some(id) => format!("event {id}"),
        None => "no neg-risk event".to_owned(),
    }
}
