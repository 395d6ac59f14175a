//! What belongs to the exchange as a whole: mode, settings, rules, domains, and the commands that
//! change them.

use foretell_model::digest::PendingWork;
use foretell_model::{
    CommandOutcome, DomainNumber, Event, Micros, RefusalReason, Sequence, Settings, SystemMode,
    TimeMs, TimeNs,
};

use crate::exchange::Exchange;
use crate::rules::Rules;
use crate::step::{Answer, NotApplied, Step, ensure};

/// The state of the exchange as a whole.
#[derive(Debug)]
pub(crate) struct System {
    pub(crate) rules: Rules,
    /// Of the last applied command.
    pub(crate) sequence: Sequence,
    /// Its time.
    pub(crate) time: TimeNs,
    pub(crate) mode: SystemMode,
    pub(crate) settings: Settings,
    /// No order with an earlier timestamp is taken, so that a wider window cannot let a
    /// forgotten id in again.
    pub(crate) timestamp_floor: TimeMs,
    /// Deposits less withdrawals.
    pub(crate) collateral: Micros,
    /// The fee account.
    pub(crate) fees: Micros,
    pub(crate) pending: Option<PendingWork>,
    /// Separators by domain number.
    pub(crate) domains: Vec<Option<[u8; 32]>>,
}

impl Default for System {
    fn default() -> Self {
        Self {
            rules: Rules::One,
            sequence: Sequence(0),
            time: TimeNs(0),
            mode: SystemMode::Running,
            settings: Settings::default(),
            timestamp_floor: TimeMs(0),
            collateral: Micros::ZERO,
            fees: Micros::ZERO,
            pending: None,
            domains: vec![None; usize::from(u8::MAX) + 1],
        }
    }
}

impl System {
    /// Whether the mode takes what adds risk: splits and conversions, and orders if they are
    /// post-only where that is asked for.
    pub(crate) fn ensure_takes_risk(&self) -> Result<(), NotApplied> {
        match self.mode {
            SystemMode::Running | SystemMode::PostOnly => Ok(()),
            SystemMode::CancelOnly => Err(RefusalReason::CancelOnly.into()),
            SystemMode::Paused => Err(RefusalReason::SystemPaused.into()),
        }
    }
}

impl Exchange {
    pub(crate) fn set_mode(&mut self, mode: SystemMode, step: &mut Step<'_>) -> Answer {
        ensure(
            self.system.mode != mode,
            NotApplied::already(CommandOutcome::Done),
        )?;
        self.system.mode = mode;
        step.event(Event::ModeSet { mode });
        Ok(CommandOutcome::Done)
    }

    pub(crate) fn change_settings(&mut self, settings: &Settings, step: &mut Step<'_>) -> Answer {
        ensure(settings.are_valid(), RefusalReason::InvalidSettings)?;
        ensure(
            self.system.settings != *settings,
            NotApplied::already(CommandOutcome::Done),
        )?;
        let window = self.system.settings.timestamp_past_ms;
        let oldest_taken = TimeMs(step.now.millis().0.saturating_sub(window));
        self.system.timestamp_floor = self.system.timestamp_floor.max(oldest_taken);
        self.system.settings = *settings;
        step.event(Event::SettingsChanged);
        Ok(CommandOutcome::Done)
    }

    pub(crate) fn switch_rules(&mut self, number: u32, step: &mut Step<'_>) -> Answer {
        let rules = Rules::from_number(number).ok_or(RefusalReason::UnknownRules)?;
        ensure(
            self.system.rules != rules,
            NotApplied::already(CommandOutcome::Done),
        )?;
        let is_newer = self.system.rules.number() < number;
        ensure(is_newer, RefusalReason::UnknownRules)?;
        self.requests.clear();
        self.system.rules = rules;
        step.event(Event::RulesSwitched { rules: number });
        Ok(CommandOutcome::Done)
    }

    pub(crate) fn register_domain(
        &mut self,
        domain: DomainNumber,
        separator: [u8; 32],
        step: &mut Step<'_>,
    ) -> Answer {
        let place = &mut self.system.domains[usize::from(domain.0)];
        let outcome = CommandOutcome::Domain(domain);
        match *place {
            Some(known) if known == separator => Err(NotApplied::already(outcome)),
            Some(_) => Err(RefusalReason::DomainDiffers.into()),
            None => {
                *place = Some(separator);
                step.event(Event::DomainRegistered { domain });
                Ok(outcome)
            }
        }
    }

    pub(crate) fn attest_state(&self, attested: Sequence, step: &mut Step<'_>) -> Answer {
        ensure(
            attested <= self.system.sequence,
            RefusalReason::NotYetApplied,
        )?;
        step.event(Event::StateAttested);
        Ok(CommandOutcome::Done)
    }

    pub(crate) fn accept_divergence(step: &mut Step<'_>) -> Answer {
        step.event(Event::DivergenceAccepted);
        Ok(CommandOutcome::Done)
    }
}
