//! Commands on the exchange as a whole.

use crate::id::{DomainNumber, Sequence};
use crate::operator::{OperatorName, OperatorRole};
use crate::record::records;

records! {
    /// Register a signing domain. Evidence: its text. The same content again is `Repeated`;
    /// other content under the same number is `DomainDiffers`.
    pub struct RegisterDomain {
        /// Its number.
        pub domain: DomainNumber,
        /// Its EIP-712 separator.
        #[serde(serialize_with = "crate::id::as_id")]
        pub separator: [u8; 32],
    }

    /// The engine published a snapshot of this state. Recovery and gateways start only from a
    /// snapshot that the journal attests. Rejected: `NotYetApplied`.
    pub struct AttestState {
        /// The last command that the snapshot includes.
        pub sequence: Sequence,
        /// Digest of the state after it, as in [`crate::digest::StateDigest`].
        #[serde(serialize_with = "crate::id::as_id")]
        pub state: [u8; 32],
        /// BLAKE3 of the snapshot file.
        #[serde(serialize_with = "crate::id::as_id")]
        pub snapshot: [u8; 32],
    }

    /// Add an operator. A name that is none is `InvalidOperator`. The same live operator again
    /// is `Repeated` (docs/verify/rules.md §27).
    pub struct AddOperator {
        /// The role.
        pub role: OperatorRole,
        /// The name; live operators have different names.
        pub name: OperatorName,
        /// SHA-256 of the token, not zero.
        #[serde(serialize_with = "crate::id::as_id")]
        pub token: [u8; 32],
    }
}
