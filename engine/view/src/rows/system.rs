//! System-wide state: last frame, mode, rules, settings, signing domains, collateral.

use std::collections::BTreeMap;

use foretell_model::codec::stored;
use foretell_model::command::Begin;
use foretell_model::limits::FIRST_RULES;
use foretell_model::{
    Branch, DomainNumber, Micros, SandboxClock, Sequence, Settings, SystemMode, TimeNs,
};

stored! {
    /// A signing domain.
    #[derive(Clone, PartialEq, Eq, Debug)]
    pub struct Domain {
        /// Its EIP-712 separator.
        pub separator: [u8; 32],
        /// Its text, as registered (the frame's evidence).
        pub text: Box<[u8]>,
        /// When it was registered.
        pub registered: TimeNs,
    }
}

stored! {
    /// The system-wide state.
    #[derive(Clone, PartialEq, Eq, Debug)]
    pub struct System {
        /// The last frame folded; 0 before the first.
        pub sequence: Sequence,
        /// Its time; never goes back.
        pub time: TimeNs,
        /// Rules in force for the next command.
        pub rules: u32,
        /// The mode.
        pub mode: SystemMode,
        /// The core's settings.
        pub settings: Settings,
        /// Whether `Continue` commands still have to finish the last command.
        pub work_pending: bool,
        /// All deposits less all withdrawals (withdrawn fees included).
        pub collateral: Micros,
        /// Balance of the fee account.
        pub fees: Micros,
        /// Rebates that all accounts accrued and were not yet paid.
        pub accrued: Micros,
        /// What the journal began as (docs/verify/rules.md §29).
        pub beginning: Begin,
        /// The clock of a sandbox (docs/verify/rules.md §33).
        pub clock: SandboxClock,
        /// What names the commands since the last restore (docs/verify/rules.md §31); 0 = none.
        pub branch: Branch,
        /// The sequence of the last restore; 0 = none.
        pub restored: Sequence,
        /// Whether withdrawals are shut since a restore.
        pub withdrawals_shut: bool,
        /// Signing domains by number.
        pub domains: BTreeMap<DomainNumber, Domain>,
    }
}

impl System {
    /// Whether nothing goes outward since a restore (docs/verify/rules.md §31): no withdrawal, no notice, no command of
    /// the catalog's sync or of an oracle.
    #[must_use]
    pub const fn is_outward_closed(&self) -> bool {
        self.withdrawals_shut
    }
}

impl Default for System {
    fn default() -> Self {
        Self {
            sequence: Sequence(0),
            time: TimeNs(0),
            rules: FIRST_RULES,
            mode: SystemMode::Running,
            settings: Settings::default(),
            work_pending: false,
            collateral: Micros::ZERO,
            fees: Micros::ZERO,
            accrued: Micros::ZERO,
            beginning: Begin::default(),
            clock: SandboxClock::default(),
            branch: Branch::ZERO,
            restored: Sequence(0),
            withdrawals_shut: false,
            domains: BTreeMap::new(),
        }
    }
}

impl System {
    /// Whether the mode allows new orders: running, or post-only.
    #[must_use]
    pub fn takes_orders(&self) -> bool {
        matches!(self.mode, SystemMode::Running | SystemMode::PostOnly)
    }
}
