//! Exchange-wide state: mode, settings, rules, domains (docs/verify/rules.md §13, §20).

use foretell_model::command::{AttestState, Begin, MoveClock, RegisterDomain};
use foretell_model::limits::{MAX_CLOCK_MS, NEWEST_RULES};
use foretell_model::{
    Branch, CommandKind, CommandOutcome, Event, OperatorNumber, Rejection, RejectionReason,
    SandboxClock, Settings, SettingsUpdate, SystemMode, TimeMs, TimeNs,
};

use crate::exchange::{Exchange, Stamp};
use crate::handler_result::{HandlerResult, NotApplied, ensure};
use crate::markets::Market;

impl Exchange {
    pub(crate) fn set_mode(&mut self, mode: SystemMode, events: &mut Vec<Event>) -> HandlerResult {
        ensure(self.mode != mode, NotApplied::already(CommandOutcome::Done))?;
        self.mode = mode;
        events.push(Event::ModeSet { mode });
        Ok(CommandOutcome::Done)
    }

    /// The start of the old window becomes a floor, so that a wider window readmits no old order.
    pub(crate) fn change_settings(
        &mut self,
        changes: SettingsUpdate,
        at: Stamp,
        events: &mut Vec<Event>,
    ) -> HandlerResult {
        if changes.new_operator_hours.is_some() {
            self.check_role(&[], CommandKind::ChangeSettings, at)?;
        }
        let current = self.settings;
        let settings = Settings {
            timestamp_past_ms: (changes.timestamp_past_ms).unwrap_or(current.timestamp_past_ms),
            timestamp_future_ms: (changes.timestamp_future_ms)
                .unwrap_or(current.timestamp_future_ms),
            marketable_minimum: (changes.marketable_minimum).unwrap_or(current.marketable_minimum),
            gtd_safety_seconds: (changes.gtd_safety_seconds).unwrap_or(current.gtd_safety_seconds),
            live_orders_per_account: (changes.live_orders_per_account)
                .unwrap_or(current.live_orders_per_account),
            remembered_order_ids: (changes.remembered_order_ids)
                .unwrap_or(current.remembered_order_ids),
            new_operator_hours: (changes.new_operator_hours).unwrap_or(current.new_operator_hours),
        };
        ensure(settings.are_valid(), RejectionReason::InvalidSettings)?;
        ensure(
            current != settings,
            NotApplied::already(CommandOutcome::Done),
        )?;
        let earlier = at.time.min(self.wall_clock(at.time)).millis().0;
        let old_start = earlier.saturating_sub(self.settings.timestamp_past_ms);
        self.timestamp_floor = self.timestamp_floor.max(TimeMs(old_start));
        self.settings = settings;
        events.push(Event::SettingsChanged);
        Ok(CommandOutcome::Done)
    }

    pub(crate) fn switch_rules(&mut self, rules: u32, events: &mut Vec<Event>) -> HandlerResult {
        ensure(
            (self.rules..=NEWEST_RULES).contains(&rules),
            RejectionReason::UnknownRules,
        )?;
        ensure(
            self.rules != rules,
            NotApplied::already(CommandOutcome::Done),
        )?;
        self.rules = rules;
        events.push(Event::RulesSwitched { rules });
        Ok(CommandOutcome::Done)
    }

    /// The attested sequence and snapshot are in the command only.
    pub(crate) fn attest_state(
        &self,
        &AttestState { sequence, .. }: &AttestState,
        events: &mut Vec<Event>,
    ) -> HandlerResult {
        ensure(sequence <= self.sequence, RejectionReason::NotYetApplied)?;
        events.push(Event::StateAttested);
        Ok(CommandOutcome::Done)
    }

    /// Only the first command of a journal says what it is.
    pub(crate) fn begin_journal(
        &mut self,
        beginning: Begin,
        events: &mut Vec<Event>,
    ) -> HandlerResult {
        ensure(self.sequence.0 == 0, RejectionReason::JournalBegun)?;
        let real_and_unsettled = !beginning.sandbox && beginning.pays_on_redeem;
        ensure(!real_and_unsettled, RejectionReason::NotSandbox)?;
        self.beginning = beginning;
        events.push(Event::Begun);
        Ok(CommandOutcome::Done)
    }

    /// Wall time, as far as a sandbox's moves show it; elsewhere it is engine time.
    pub(crate) fn wall_clock(&self, now: TimeNs) -> TimeNs {
        let SandboxClock {
            wall,
            engine,
            frozen,
        } = self.clock;
        if frozen {
            return wall;
        }
        let distance = i128::from(now.0) - i128::from(engine.0);
        let shown = (i128::from(wall.0) + distance).clamp(0, i128::from(u64::MAX));
        TimeNs(u64::try_from(shown).expect("it is in its range"))
    }

    /// By a span, or to a time; forward only.
    pub(crate) fn move_clock(
        &mut self,
        command: &MoveClock,
        at: Stamp,
        events: &mut Vec<Event>,
    ) -> HandlerResult {
        ensure(self.beginning.sandbox, RejectionReason::NotSandbox)?;
        let by_span = at.time.0.saturating_add(command.by);
        let goal = if command.to.0 > 0 {
            command.to.0
        } else {
            by_span
        };
        if goal < at.time.0 {
            let (goal_ms, now_ms) = (TimeNs(goal).millis().0, at.time.millis().0);
            return Err(Rejection::with(RejectionReason::ClockInPast, goal_ms, now_ms).into());
        }
        if goal > MAX_CLOCK_MS * 1_000_000 {
            return Err(Rejection::with(RejectionReason::ClockTooFar, MAX_CLOCK_MS, 0).into());
        }
        let stands = command.frozen.unwrap_or(self.clock.frozen);
        let changes = goal > at.time.0 || stands != self.clock.frozen;
        ensure(changes, NotApplied::already(CommandOutcome::Done))?;
        self.clock = SandboxClock {
            wall: command.wall.max(self.wall_clock(at.time)),
            engine: TimeNs(goal),
            frozen: stands,
        };
        self.time = TimeNs(goal);
        events.push(Event::ClockMoved { clock: self.clock });
        Ok(CommandOutcome::Done)
    }

    /// The same branch again is the same restore.
    pub(crate) fn restore(
        &mut self,
        branch: Branch,
        at: Stamp,
        events: &mut Vec<Event>,
    ) -> HandlerResult {
        ensure(
            self.branch != branch,
            NotApplied::already(CommandOutcome::Done),
        )?;
        self.branch = branch;
        self.withdrawals_shut = true;
        self.dispute_from(at.time);
        events.push(Event::Restored { branch });
        Ok(CommandOutcome::Done)
    }

    pub(crate) fn open_withdrawals(&mut self, at: Stamp, events: &mut Vec<Event>) -> HandlerResult {
        let is_named = at.operator != OperatorNumber::NONE;
        ensure(is_named, RejectionReason::OperatorRequired)?;
        ensure(
            self.withdrawals_shut,
            NotApplied::already(CommandOutcome::Done),
        )?;
        self.withdrawals_shut = false;
        self.dispute_from(at.time);
        events.push(Event::WithdrawalsOpened);
        Ok(CommandOutcome::Done)
    }

    /// No engine ran before `since`. It matters to an open proposal alone.
    pub(crate) fn reopen(
        &mut self,
        since: TimeNs,
        at: Stamp,
        events: &mut Vec<Event>,
    ) -> HandlerResult {
        let since = since.max(at.time);
        let is_open = |market: &Market| {
            let proposal = market.proposal.as_ref();
            proposal.is_some_and(|proposal| proposal.disputed.is_none())
        };
        let matters = self.markets.iter().any(is_open) && since > self.reopened;
        ensure(matters, NotApplied::already(CommandOutcome::Done))?;
        self.dispute_from(since);
        events.push(Event::Reopened { at: since });
        Ok(CommandOutcome::Done)
    }

    /// Disputes are possible again from a time on: the windows of proposals are no longer the same.
    fn dispute_from(&mut self, since: TimeNs) {
        self.reopened = self.reopened.max(since);
        self.clocks = self.all_clocks();
    }

    /// The accepted sequence is in the command only.
    pub(crate) fn accept_divergence(events: &mut Vec<Event>) -> CommandOutcome {
        events.push(Event::DivergenceAccepted);
        CommandOutcome::Done
    }

    pub(crate) fn register_domain(
        &mut self,
        &RegisterDomain { domain, separator }: &RegisterDomain,
        events: &mut Vec<Event>,
    ) -> HandlerResult {
        if let Some(known) = self.domains.get(&domain) {
            ensure(*known == separator, RejectionReason::DomainDiffers)?;
            return Err(NotApplied::already(CommandOutcome::Domain(domain)));
        }
        self.domains.insert(domain, separator);
        events.push(Event::DomainRegistered { domain });
        Ok(CommandOutcome::Domain(domain))
    }
}
