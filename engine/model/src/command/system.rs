//! Commands on the exchange as a whole.

use crate::id::{DomainNumber, Sequence};
use crate::operator::{OperatorName, OperatorRole};
use crate::record::records;
use crate::time::TimeNs;

records! {
    /// What the journal is, as its first command. Rejected: `JournalBegun`; `NotSandbox`, when holders redeem on an
    /// exchange that is none (docs/verify/rules.md §29).
    #[derive(Default)]
    pub struct Begin {
        /// Whether it is a sandbox: its clock can be moved, and operators place orders that nobody signed.
        pub sandbox: bool,
        /// Whether a resolved market pays only who redeems.
        pub pays_on_redeem: bool,
        /// The commands up to here are simulated: the wall time of the start that wrote them; 0 = none are.
        pub simulated_until: TimeNs,
    }

    /// Move the clock of a sandbox forward, stop it or let it run. A move that changes nothing is `Repeated`
    /// (docs/verify/rules.md §33).
    pub struct MoveClock {
        /// Wall time of the gateway that sends it.
        pub wall: TimeNs,
        /// Nanoseconds to advance; 0 with `to`.
        pub by: u64,
        /// Engine time to advance to; 0 with `by`.
        pub to: TimeNs,
        /// Whether it stands from then on; `None` = as before.
        pub frozen: Option<bool>,
    }

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

impl Begin {
    /// The time up to which commands are simulated, if the journal begins with such.
    #[must_use]
    pub fn simulated_until(&self) -> Option<TimeNs> {
        Some(self.simulated_until).filter(|until| *until != TimeNs(0))
    }
}
