//! Exchange-wide state: mode, settings, rules, domains, and the commands that change it.

use foretell_model::command::{AttestState, Begin, MoveClock, RegisterDomain};
use foretell_model::limits::{FIRST_RULES, MAX_CLOCK_MS, NEWEST_RULES};
use foretell_model::state::PendingWork;
use foretell_model::{
    Branch, CommandOutcome, Event, MarketNumber, Micros, Rejection, RejectionReason, RoleSet,
    SandboxClock, Sequence, Settings, SettingsUpdate, SystemMode, TimeMs, TimeNs,
};

use crate::command_context::{CommandContext, HandlerResult, NotApplied, ensure};
use crate::exchange::Exchange;
use crate::operators::ensure_named;

/// Exchange-wide state.
#[derive(Debug)]
pub(crate) struct System {
    /// The rules in force. Changed behaviour is a new number: its handlers ask for it here.
    pub(crate) rules: u32,
    /// Sequence of the last applied command.
    pub(crate) sequence: Sequence,
    /// Time of the last applied command.
    pub(crate) time: TimeNs,
    pub(crate) mode: SystemMode,
    pub(crate) settings: Settings,
    /// Orders with an earlier timestamp are rejected, so that a wider window cannot readmit an
    /// evicted id.
    pub(crate) timestamp_floor: TimeMs,
    /// Deposits minus withdrawals.
    pub(crate) collateral: Micros,
    /// Balance of the fee account.
    pub(crate) fees: Micros,
    pub(crate) pending: Option<PendingWork>,
    /// What the journal began as.
    pub(crate) beginning: Begin,
    pub(crate) clock: SandboxClock,
    /// Names the commands since the last restore; zeros = none.
    pub(crate) branch: Branch,
    /// Since a restore, until an operator reconciles.
    pub(crate) withdrawals_shut: bool,
    /// Since when somebody can dispute again; 0 = always could.
    pub(crate) reopened: TimeNs,
    /// Separators by domain number.
    pub(crate) domains: Vec<Option<[u8; 32]>>,
}

impl Default for System {
    fn default() -> Self {
        Self {
            rules: FIRST_RULES,
            sequence: Sequence(0),
            time: TimeNs(0),
            mode: SystemMode::Running,
            settings: Settings::default(),
            timestamp_floor: TimeMs(0),
            collateral: Micros::ZERO,
            fees: Micros::ZERO,
            pending: None,
            beginning: Begin::default(),
            clock: SandboxClock::default(),
            branch: Branch::ZERO,
            withdrawals_shut: false,
            reopened: TimeNs(0),
            domains: vec![None; usize::from(u8::MAX) + 1],
        }
    }
}

impl System {
    /// Rejects orders, splits and conversions in cancel-only and paused mode.
    pub(crate) fn ensure_takes_risk(&self) -> Result<(), NotApplied> {
        match self.mode {
            SystemMode::Running | SystemMode::PostOnly => Ok(()),
            SystemMode::CancelOnly => Err(RejectionReason::CancelOnly.into()),
            SystemMode::Paused => Err(RejectionReason::SystemPaused.into()),
        }
    }
}

impl System {
    /// The earlier of engine time and, in a sandbox, wall time: no timestamp that is too old for it is accepted.
    pub(crate) fn earliest_clock(&self, now: TimeNs) -> TimeNs {
        now.min(self.clock.known_wall_time(now))
    }
}

impl Exchange {
    pub(crate) fn set_mode(
        &mut self,
        mode: SystemMode,
        context: &mut CommandContext<'_>,
    ) -> HandlerResult {
        ensure(
            self.system.mode != mode,
            NotApplied::already(CommandOutcome::Done),
        )?;
        self.system.mode = mode;
        self.refresh_clock();
        context.event(Event::ModeSet { mode });
        Ok(CommandOutcome::Done)
    }

    pub(crate) fn change_settings(
        &mut self,
        update: &SettingsUpdate,
        context: &mut CommandContext<'_>,
    ) -> HandlerResult {
        if update.new_operator_hours.is_some() {
            self.ensure_role(RoleSet::NONE, context)?;
        }
        let settings = update.applied_to(self.system.settings);
        ensure(settings.are_valid(), RejectionReason::InvalidSettings)?;
        ensure(
            self.system.settings != settings,
            NotApplied::already(CommandOutcome::Done),
        )?;
        let window = self.system.settings.timestamp_past_ms;
        let earliest = self.system.earliest_clock(context.now);
        let oldest_taken = TimeMs(earliest.millis().0.saturating_sub(window));
        self.system.timestamp_floor = self.system.timestamp_floor.max(oldest_taken);
        self.system.settings = settings;
        self.refresh_clock();
        context.event(Event::SettingsChanged);
        Ok(CommandOutcome::Done)
    }

    pub(crate) fn switch_rules(
        &mut self,
        rules: u32,
        context: &mut CommandContext<'_>,
    ) -> HandlerResult {
        let is_known = (self.system.rules..=NEWEST_RULES).contains(&rules);
        ensure(is_known, RejectionReason::UnknownRules)?;
        ensure(
            self.system.rules != rules,
            NotApplied::already(CommandOutcome::Done),
        )?;
        self.system.rules = rules;
        context.event(Event::RulesSwitched { rules });
        Ok(CommandOutcome::Done)
    }

    pub(crate) fn register_domain(
        &mut self,
        &RegisterDomain { domain, separator }: &RegisterDomain,
        context: &mut CommandContext<'_>,
    ) -> HandlerResult {
        let known = &mut self.system.domains[usize::from(domain.0)];
        let outcome = CommandOutcome::Domain(domain);
        match *known {
            Some(known) if known == separator => Err(NotApplied::already(outcome)),
            Some(_) => Err(RejectionReason::DomainDiffers.into()),
            None => {
                *known = Some(separator);
                context.event(Event::DomainRegistered { domain });
                Ok(outcome)
            }
        }
    }

    pub(crate) fn attest_state(
        &self,
        &AttestState {
            sequence: attested, ..
        }: &AttestState,
        context: &mut CommandContext<'_>,
    ) -> HandlerResult {
        ensure(
            attested <= self.system.sequence,
            RejectionReason::NotYetApplied,
        )?;
        context.event(Event::StateAttested);
        Ok(CommandOutcome::Done)
    }

    pub(crate) fn begin(
        &mut self,
        begin: &Begin,
        context: &mut CommandContext<'_>,
    ) -> HandlerResult {
        let is_first = self.system.sequence == Sequence(0);
        ensure(is_first, RejectionReason::JournalBegun)?;
        ensure(
            begin.sandbox || !begin.pays_on_redeem,
            RejectionReason::NotSandbox,
        )?;
        self.system.beginning = *begin;
        context.event(Event::Begun);
        Ok(CommandOutcome::Done)
    }

    pub(crate) fn move_clock(
        &mut self,
        &MoveClock {
            wall,
            by,
            to,
            frozen,
        }: &MoveClock,
        context: &mut CommandContext<'_>,
    ) -> HandlerResult {
        const LAST: TimeNs = TimeMs(MAX_CLOCK_MS).start();
        ensure(self.system.beginning.sandbox, RejectionReason::NotSandbox)?;
        let now = context.now;
        let target = match to {
            TimeNs(0) => TimeNs(now.0.saturating_add(by)),
            to => to,
        };
        let in_past = Rejection::with(
            RejectionReason::ClockInPast,
            target.millis().0,
            now.millis().0,
        );
        ensure(target >= now, in_past)?;
        let too_far = Rejection::with(RejectionReason::ClockTooFar, MAX_CLOCK_MS, 0);
        ensure(target <= LAST, too_far)?;
        let before = self.system.clock;
        let clock = SandboxClock {
            wall: wall.max(before.known_wall_time(now)),
            engine: target,
            frozen: frozen.unwrap_or(before.frozen),
        };
        ensure(
            target != now || clock.frozen != before.frozen,
            NotApplied::already(CommandOutcome::Done),
        )?;
        self.system.clock = clock;
        self.system.time = target;
        context.event(Event::ClockMoved { clock });
        Ok(CommandOutcome::Done)
    }

    pub(crate) fn restore(
        &mut self,
        branch: Branch,
        context: &mut CommandContext<'_>,
    ) -> HandlerResult {
        ensure(
            self.system.branch != branch,
            NotApplied::already(CommandOutcome::Done),
        )?;
        self.system.branch = branch;
        self.system.withdrawals_shut = true;
        self.set_reopened(context.now);
        context.event(Event::Restored { branch });
        Ok(CommandOutcome::Done)
    }

    pub(crate) fn open_withdrawals(&mut self, context: &mut CommandContext<'_>) -> HandlerResult {
        ensure_named(context)?;
        ensure(
            self.system.withdrawals_shut,
            NotApplied::already(CommandOutcome::Done),
        )?;
        self.system.withdrawals_shut = false;
        self.set_reopened(context.now);
        context.event(Event::WithdrawalsOpened);
        Ok(CommandOutcome::Done)
    }

    pub(crate) fn reopen(&mut self, at: TimeNs, context: &mut CommandContext<'_>) -> HandlerResult {
        let at = at.max(context.now);
        let concerns_one = self.resolution.iter().any(|proposal| !proposal.disputed);
        ensure(
            concerns_one && self.system.reopened < at,
            NotApplied::already(CommandOutcome::Done),
        )?;
        self.set_reopened(at);
        context.event(Event::Reopened { at });
        Ok(CommandOutcome::Done)
    }

    /// Windows end later. Work for each proposal, once a start or a restore.
    fn set_reopened(&mut self, at: TimeNs) {
        self.system.reopened = self.system.reopened.max(at);
        let mut next = self.resolution.next_market(MarketNumber(0));
        while let Some(market) = next {
            self.reschedule(market);
            next = self.resolution.next_market(MarketNumber(market.0 + 1));
        }
    }

    pub(crate) fn accept_divergence(context: &mut CommandContext<'_>) -> HandlerResult {
        context.event(Event::DivergenceAccepted);
        Ok(CommandOutcome::Done)
    }
}
