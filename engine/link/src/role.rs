//! The role of a gateway, and the commands that it may submit.

use foretell_model::Command;
use foretell_model::codec::coded;
use foretell_model::command::CancelAll;
use rkyv::{Archive, Deserialize, Serialize};

/// The role of a gateway. A gateway with several surfaces has the widest role.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Archive, Serialize, Deserialize)]
#[repr(u8)]
pub enum Role {
    /// Submits no commands, requests the status.
    Reader = 0,
    /// Orders, cancels, keys, account actions.
    Trading = 1,
    /// All commands that a socket may submit.
    Operator = 2,
}

coded! { Role: u8, "role"; }

impl Role {
    pub(crate) const fn from_code(code: u8) -> Option<Self> {
        match code {
            0 => Some(Self::Reader),
            1 => Some(Self::Trading),
            2 => Some(Self::Operator),
            _ => None,
        }
    }

    /// Whether a gateway of this role may submit `command`. Only the engine itself issues what has no
    /// other sender, and cancels for silence.
    #[must_use]
    pub const fn may_submit(self, command: &Command) -> bool {
        let senders = command.kind().senders();
        match command {
            Command::CancelAll(CancelAll {
                heartbeat: true, ..
            }) => false,
            _ if senders.is_engine() => false,
            _ if senders.clients => !matches!(self, Self::Reader),
            _ => matches!(self, Self::Operator),
        }
    }
}
