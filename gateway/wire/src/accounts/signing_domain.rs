//! The EIP-712 domain of messages that count on this exchange alone.

use serde::Serialize;

use crate::schema::JsonSchema;
use crate::values;

/// What a client needs in order to sign a message.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SigningDomain<'a> {
    /// `name`.
    pub name: &'a str,
    /// `version`.
    pub version: &'a str,
    /// `chainId`.
    pub chain_id: u64,
    /// `salt`: the genesis of the journal, after a restore its branch, so that a signature counts on this
    /// exchange alone.
    #[serde(with = "values::Bytes")]
    pub salt: [u8; 32],
    /// The type of the message.
    #[serde(rename = "type")]
    pub message_type: &'a str,
}
