//! The system as a whole: mode, settings, rules, domains (protocol 5, 8; design 4).

use foretell_model::limits::NEWEST_RULES;
use foretell_model::{
    CommandOutcome, DomainNumber, Event, RefusalReason, Sequence, Settings, SystemMode, TimeMs,
};

use crate::answer::{Answer, Stop, ensure};
use crate::exchange::{At, Exchange};

impl Exchange {
    pub(crate) fn set_mode(&mut self, mode: SystemMode, events: &mut Vec<Event>) -> Answer {
        ensure(self.mode != mode, Stop::already(CommandOutcome::Done))?;
        self.mode = mode;
        events.push(Event::ModeSet { mode });
        Ok(CommandOutcome::Done)
    }

    /// A wider window must not let in again what the old one kept out: its start becomes a floor.
    pub(crate) fn change_settings(
        &mut self,
        settings: Settings,
        at: At,
        events: &mut Vec<Event>,
    ) -> Answer {
        ensure(settings.are_valid(), RefusalReason::InvalidSettings)?;
        ensure(
            self.settings != settings,
            Stop::already(CommandOutcome::Done),
        )?;
        let old_start = at
            .time
            .millis()
            .0
            .saturating_sub(self.settings.timestamp_past_ms);
        self.timestamp_floor = self.timestamp_floor.max(TimeMs(old_start));
        self.settings = settings;
        events.push(Event::SettingsChanged);
        Ok(CommandOutcome::Done)
    }

    pub(crate) fn switch_rules(&mut self, rules: u32, events: &mut Vec<Event>) -> Answer {
        ensure(
            (self.rules..=NEWEST_RULES).contains(&rules),
            RefusalReason::UnknownRules,
        )?;
        ensure(self.rules != rules, Stop::already(CommandOutcome::Done))?;
        self.rules = rules;
        // Rules 1 remember requests, those above none; there is no way back.
        self.requests.clear();
        events.push(Event::RulesSwitched { rules });
        Ok(CommandOutcome::Done)
    }

    /// Which state, and which snapshot of it, stands in the command alone.
    pub(crate) fn attest_state(&self, sequence: Sequence, events: &mut Vec<Event>) -> Answer {
        ensure(sequence <= self.sequence, RefusalReason::NotYetApplied)?;
        events.push(Event::StateAttested);
        Ok(CommandOutcome::Done)
    }

    /// Which divergence it was stands in the command alone.
    pub(crate) fn accept_divergence(events: &mut Vec<Event>) -> CommandOutcome {
        events.push(Event::DivergenceAccepted);
        CommandOutcome::Done
    }

    pub(crate) fn register_domain(
        &mut self,
        domain: DomainNumber,
        separator: [u8; 32],
        events: &mut Vec<Event>,
    ) -> Answer {
        if let Some(known) = self.domains.get(&domain) {
            ensure(*known == separator, RefusalReason::DomainDiffers)?;
            return Err(Stop::already(CommandOutcome::Domain(domain)));
        }
        self.domains.insert(domain, separator);
        events.push(Event::DomainRegistered { domain });
        Ok(CommandOutcome::Domain(domain))
    }
}
