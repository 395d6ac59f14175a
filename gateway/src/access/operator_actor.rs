//! Who acts on the operator surface.

use foretell_model::{OperatorNumber, OperatorRole, RoleSet};
use foretell_wire::text::words::role_word;
use foretell_wire::{ApiError, ErrorCode};

/// Who acts, and why.
#[derive(Clone, Debug)]
pub(crate) struct Actor {
    pub(crate) number: OperatorNumber,
    pub(crate) role: OperatorRole,
    /// The roles that may send the request.
    pub(crate) allowed: RoleSet,
    /// The reason of the body; journalled with the command.
    pub(crate) reason: String,
}

impl Actor {
    /// The error of a request that the role does not include, by its kind or by its effect.
    pub(crate) fn role_not_allowed(&self) -> ApiError {
        let others = Vec::from(self.allowed).into_iter();
        let others = others.filter(|role| *role != self.role);
        let allowed: Vec<_> = others.map(role_word).collect();
        ErrorCode::OperatorRole.with([&role_word(self.role), &allowed.join(", ")])
    }
}
