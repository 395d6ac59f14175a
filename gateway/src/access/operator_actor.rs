//! Who acts on the operator surface.

use foretell_model::{OperatorNumber, OperatorRole};

/// Who acts, and why.
#[derive(Clone, Debug)]
pub(crate) struct Actor {
    pub(crate) number: OperatorNumber,
    pub(crate) role: OperatorRole,
    /// The reason of the body; journalled with the command.
    pub(crate) reason: String,
}
