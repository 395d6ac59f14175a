//! Who may send a command (docs/verify/rules.md §27). The core, the operator's surface, the command line
//! and the page read it.

use crate::operator::{OperatorRole, RoleSet};

/// Who may send a command. The engine itself sends what nobody else may.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Senders {
    /// Clients, through a gateway that checked their key or signature.
    pub clients: bool,
    /// Operators of these roles; others are refused with `OperatorRole`.
    pub operators: RoleSet,
}

impl Senders {
    /// Whether only the engine sends it.
    #[must_use]
    pub const fn is_engine(self) -> bool {
        !self.clients && self.operators.bits() == 0
    }
}

const NOBODY: Senders = Senders {
    clients: false,
    operators: RoleSet::NONE,
};

const fn role_and_admin(role: OperatorRole) -> Senders {
    Senders {
        operators: RoleSet::NONE.with(OperatorRole::Admin).with(role),
        ..NOBODY
    }
}

pub(super) const ENGINE: Senders = NOBODY;
pub(super) const CLIENTS: Senders = Senders {
    clients: true,
    ..NOBODY
};
pub(super) const ADMIN: Senders = role_and_admin(OperatorRole::Admin);
pub(super) const CASHIER: Senders = role_and_admin(OperatorRole::Cashier);
pub(super) const MARKETS: Senders = role_and_admin(OperatorRole::Markets);
pub(super) const RESOLVER: Senders = role_and_admin(OperatorRole::Resolver);
pub(super) const SUPPORT: Senders = role_and_admin(OperatorRole::Support);
pub(super) const CLIENTS_AND_SUPPORT: Senders = Senders {
    clients: true,
    ..SUPPORT
};
/// Every role that writes.
pub(super) const OPERATORS: Senders = Senders {
    operators: RoleSet::NONE
        .with(OperatorRole::Admin)
        .with(OperatorRole::Markets)
        .with(OperatorRole::Resolver)
        .with(OperatorRole::Cashier)
        .with(OperatorRole::Support),
    ..NOBODY
};
