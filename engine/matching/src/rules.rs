//! The rules in force. Changed behaviour is a new variant here, switched on by a journalled
//! command; the one `match` on it in `exchange.rs` leads to the code of each number, and older
//! numbers stay callable so that no journal becomes unreadable.

use foretell_model::limits::NEWEST_RULES;

/// A known rules number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Rules {
    One,
}

impl Rules {
    /// The rules with this number.
    pub(crate) const fn from_number(number: u32) -> Option<Self> {
        match number {
            1 => Some(Self::One),
            _ => None,
        }
    }

    pub(crate) const fn number(self) -> u32 {
        match self {
            Self::One => 1,
        }
    }
}

const _: () = assert!(Rules::from_number(NEWEST_RULES).is_some());
const _: () = assert!(Rules::from_number(NEWEST_RULES + 1).is_none());
