//! The rules in force. Changed behaviour is a new variant, switched on by a journalled command.
//! Handlers match on [`crate::command_context::CommandContext::rules`] where rules differ. Older rules stay callable, so
//! every journal stays replayable.

use foretell_model::limits::NEWEST_RULES;

/// A known rules number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Rules {
    One,
    /// Memory is bounded by account and by owner. Every cancel is applied, except one that closes
    /// no order. A killed order reports its amounts.
    Two,
    /// Clocks, delays, rebates, proposals, settlement, operators (docs/verify/rules.md §21 to §28).
    Three,
}

impl Rules {
    /// The rules with this number.
    pub(crate) const fn from_number(number: u32) -> Option<Self> {
        match number {
            1 => Some(Self::One),
            2 => Some(Self::Two),
            3 => Some(Self::Three),
            _ => None,
        }
    }

    pub(crate) const fn number(self) -> u32 {
        match self {
            Self::One => 1,
            Self::Two => 2,
            Self::Three => 3,
        }
    }
}

const _: () = assert!(Rules::from_number(NEWEST_RULES).is_some());
const _: () = assert!(Rules::from_number(NEWEST_RULES + 1).is_none());
