//! The exchange as a whole: system, domains, site, operators.

use crate::id::{Branch, DomainNumber, OperatorNumber, Sequence};
use crate::market::{ResolutionPolicy, SystemMode};
use crate::operator::{OperatorName, OperatorRole};
use crate::quantity::Micros;
use crate::record::records;
use crate::settings::{PaymentSettings, Settings};
use crate::state::PendingWork;
use crate::time::{SandboxClock, TimeMs, TimeNs};

records! {
    /// One record, first in the list.
    pub struct System {
        /// Rules in force.
        pub rules: u32,
        /// Sequence of the last applied command; 0 before the first.
        pub sequence: Sequence,
        /// Time of the last applied command.
        pub time: TimeNs,
        /// The mode.
        pub mode: SystemMode,
        /// The settings.
        pub settings: Settings,
        /// Orders with an earlier signed timestamp are rejected, whatever the window. A change of
        /// settings raises it to (time − old `timestamp_past_ms`); it never falls. So a wider
        /// window cannot readmit an evicted id.
        pub timestamp_floor: TimeMs,
        /// All deposits minus all withdrawals (withdrawn fees included).
        pub collateral: Micros,
        /// Balance of the fee account.
        pub fees: Micros,
        /// Work to continue.
        pub pending: Option<PendingWork>,
        /// Whether it is a sandbox (docs/verify/rules.md §29).
        pub sandbox: bool,
        /// Whether a resolved market pays only who redeems (docs/verify/rules.md §29).
        pub pays_on_redeem: bool,
        /// Commands up to here are simulated (docs/verify/rules.md §29); 0 = none.
        pub simulated_until: TimeNs,
        /// The clock (docs/verify/rules.md §33).
        pub clock: SandboxClock,
        /// What names the commands since the last restore (docs/verify/rules.md §31); 0 = none.
        pub branch: Branch,
        /// Whether withdrawals are shut since a restore.
        pub withdrawals_shut: bool,
        /// Since when somebody can dispute again (docs/verify/rules.md §24); 0 = always could.
        pub reopened: TimeNs,
    }

    /// Sorted by number.
    pub struct Domain {
        /// Number.
        pub domain: DomainNumber,
        /// Separator.
        #[serde(serialize_with = "crate::id::as_id")]
        pub separator: [u8; 32],
    }

    /// One record.
    pub struct Site {
        /// Settings of payments.
        pub payments: PaymentSettings,
        /// Resolution policy of the site.
        pub policy: ResolutionPolicy,
        /// Since when rebates are accrued: the time of the command that made the sum of all
        /// `Accrued` positive, or ended a payment with a rest. 0 while the sum is 0. With
        /// `rebates_daily` and no payment in the queue, the next is due at the first 00:00 UTC after
        /// it (docs/verify/rules.md §23).
        pub rebates_since: TimeNs,
    }

    /// Sorted by number; the first admin (name `admin`, token zero) is listed, too.
    pub struct Operator {
        /// Number, from 1.
        pub operator: OperatorNumber,
        /// Name.
        pub name: OperatorName,
        /// Role.
        pub role: OperatorRole,
        /// SHA-256 of the token.
        #[serde(serialize_with = "crate::id::as_id")]
        pub token: [u8; 32],
        /// When it was added; 0 for the first two.
        pub added: TimeNs,
        /// Whether the operator is not revoked.
        pub live: bool,
    }
}
