//! Operators with names: `/operators`, `/me`.

use serde::{Deserialize, Serialize};

use foretell_model::{OperatorName, OperatorRole};

use crate::operator::values::Name;
use crate::read::body::{OPERATOR, bodies};
use crate::schema::JsonSchema;
use crate::values::{self, Role, hex32};

bodies! { OPERATOR: OperatorAddition, OperatorRevocation }

/// An operator to add.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OperatorAddition {
    /// The name; live operators have different names.
    #[serde(with = "Name")]
    pub name: OperatorName,
    /// The role.
    #[serde(with = "Role")]
    pub role: OperatorRole,
}

/// An operator to revoke.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OperatorRevocation {
    /// The name of a live operator.
    #[serde(with = "Name")]
    pub name: OperatorName,
}

/// Answer to an addition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OperatorAdded {
    /// Always true.
    #[schemars(extend("const" = true))]
    pub success: bool,
    /// Sequence of the command.
    pub sequence: u64,
    /// The operator's number.
    pub number: u16,
    /// Its bearer token. The exchange keeps only its SHA-256: nobody can show it again.
    #[schemars(extend("pattern" = concat!("^", hex32!(digits), "$")))]
    pub token: String,
}

/// An operator.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OperatorRow {
    /// Its number, which frames of the journal carry.
    pub number: u16,
    /// Its name.
    #[serde(with = "Name")]
    pub name: OperatorName,
    /// Its role.
    #[serde(with = "Role")]
    pub role: OperatorRole,
    /// When it was added, ISO 8601.
    #[schemars(with = "values::Iso")]
    pub added: String,
    /// When it counts as one of two persons, ISO 8601: `engine.new_operator_hours` after it was added.
    #[schemars(with = "values::Iso")]
    pub counts_from: String,
    /// When it was revoked, ISO 8601.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    #[schemars(with = "Option<values::Iso>")]
    pub revoked: Option<String>,
}

/// Answer of `GET /operators`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OperatorRows {
    /// All operators, revoked ones included, by number.
    pub operators: Vec<OperatorRow>,
}

/// Answer of `GET /me`: the operator of the token, and what its role may do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Me {
    /// Its number.
    pub number: u16,
    /// Its name.
    #[serde(with = "Name")]
    pub name: OperatorName,
    /// Its role.
    #[serde(with = "Role")]
    pub role: OperatorRole,
    /// Paths of the commands that the role includes.
    pub may: Vec<String>,
}
