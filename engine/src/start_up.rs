//! Journals the configuration before serving: that the journal was restored, post-only mode after a
//! restart, an accepted divergence, the newest rules, the configured domains and settings.

use std::time::Duration;

use foretell_journal::JournalState;
use foretell_journal::restored::{self, IncompleteCopy};
use foretell_matching::Exchange;
use foretell_model::command::{Begin, RegisterDomain};
use foretell_model::limits::{FIRST_RULES, MAX_EVENTS, NEWEST_RULES};
use foretell_model::{
    Branch, Command, CommandStamp, OperatorNumber, Rejection, Sequence, SettingsUpdate, SystemMode,
    TimeNs, Verdict,
};

use crate::clock::Clocks;
use crate::config::EngineConfig;
use crate::directory::JOURNAL_DIRECTORY;
use crate::error::EngineError;
use crate::matcher::{Matcher, first_due};

/// Interval of health checks while waiting for the journal.
const HEALTH_CHECK_INTERVAL: Duration = Duration::from_millis(100);

// A cluster's leader must know that all hosts know a later number before it switches
// (docs/internals/decisions/0008).
const _: () = assert!(NEWEST_RULES == FIRST_RULES);

/// Waits until the journal is durable up to a sequence, or has failed.
pub(crate) type WaitDurable<'w> = dyn FnMut(&JournalState, Sequence) + 'w;

/// Journals the configuration and waits until it is durable. Returns `Ok` also when the journal
/// fails: nothing is served then, and the sync thread returns the error.
///
/// # Errors
/// [`EngineError::Configuration`] when the exchange rejects a configured domain or the settings;
/// [`EngineError::Journal`] when the marker of a restore cannot be read or removed.
pub(crate) fn journal_configuration<C: Clocks>(
    matcher: &mut Matcher<C>,
    config: &EngineConfig,
    newly_accepted: Option<Sequence>,
    wait: &mut WaitDurable<'_>,
) -> Result<(), EngineError> {
    let first_start = matcher.exchange.sequence() == Sequence(0);
    journal_restore(matcher, config, wait)?;
    reopen(matcher, wait)?;
    let protects = !first_start && !config.post_only_after_restart.is_zero();
    let is_protected = protects && begin_post_only(matcher, wait)?;
    for configured in configuration(config, first_start, newly_accepted) {
        apply(matcher, wait, &configured)?;
    }
    if is_protected {
        let (_, now) = matcher.clock.read();
        let lasting = config.post_only_after_restart.as_nanos();
        let lasting = u64::try_from(lasting).unwrap_or(u64::MAX);
        matcher.post_only_until = Some(now.saturating_add(lasting));
    }
    matcher.update_gauges();
    wait(&matcher.journal, matcher.exchange.sequence());
    Ok(())
}

/// A command of the configuration, with its evidence and the name of what it configures.
pub(crate) struct Configured {
    command: Command,
    evidence: Vec<u8>,
    what: String,
}

/// The configuration that a start journals, in this order.
fn configuration(
    config: &EngineConfig,
    first_start: bool,
    newly_accepted: Option<Sequence>,
) -> Vec<Configured> {
    let mut commands = Vec::new();
    let mut add = |command, evidence: &[u8], what: String| {
        let evidence = evidence.to_vec();
        commands.push(Configured {
            command,
            evidence,
            what,
        });
    };
    if let Some(sequence) = newly_accepted {
        let command = Command::AcceptDivergence { sequence };
        add(command, &[], "accepted divergence".to_owned());
    }
    if first_start && config.beginning != Begin::default() {
        add(
            Command::Begin(config.beginning),
            &[],
            "beginning".to_owned(),
        );
    }
    if first_start {
        // Settings come before the rest: a start that ends here must leave the journal empty, or the
        // next start would not journal them.
        let settings = config.settings.into();
        let command = Command::ChangeSettings { settings };
        add(command, &[], "settings".to_owned());
    }
    // Operators cannot change it: one admin could confirm what it asked for itself. A repeat is not
    // journalled.
    let settings = SettingsUpdate {
        new_operator_hours: Some(config.settings.new_operator_hours),
        ..SettingsUpdate::default()
    };
    let command = Command::ChangeSettings { settings };
    add(command, &[], "engine.new_operator_hours".to_owned());
    // An older journal continues under the newest rules.
    let rules = NEWEST_RULES;
    add(
        Command::SwitchRules { rules },
        &[],
        "newest rules".to_owned(),
    );
    for domain in &config.domains {
        let command = Command::RegisterDomain(RegisterDomain {
            domain: domain.number,
            separator: domain.separator,
        });
        let what = format!("signing domain {} ({})", domain.number, domain.text);
        add(command, domain.text.as_bytes(), what);
    }
    commands
}

/// Applies the configuration to an exchange as a start would, and journals nothing.
///
/// # Errors
/// [`EngineError::Configuration`], as [`journal_configuration`].
pub(crate) fn rehearse_configuration(
    exchange: &mut Exchange,
    config: &EngineConfig,
    time: TimeNs,
) -> Result<(), EngineError> {
    let mut events = Vec::with_capacity(MAX_EVENTS);
    let mut apply = |exchange: &mut Exchange, configured: &Configured| {
        events.clear();
        let (command, stamp) = (&configured.command, CommandStamp::at(time));
        match exchange.apply_with(command, &configured.evidence, stamp, &mut events) {
            Verdict::Rejected(refusal) => Err(configured.refused(refusal)),
            _ => Ok(()),
        }
    };
    let first_start = exchange.sequence() == Sequence(0);
    for configured in configuration(config, first_start, None) {
        while let Some(command) = first_due(exchange, time) {
            apply(exchange, &Configured::due(command))?;
        }
        apply(exchange, &configured)?;
    }
    Ok(())
}

impl Configured {
    fn of(command: Command, what: &str) -> Self {
        Self {
            command,
            evidence: Vec::new(),
            what: what.to_owned(),
        }
    }

    fn due(command: Command) -> Self {
        Self::of(command, "work that is due")
    }

    fn refused(&self, refusal: Rejection) -> EngineError {
        EngineError::Configuration {
            what: self.what.clone(),
            refusal,
        }
    }
}

/// Says that the journal before may lack commands. At the time of the last frame nothing precedes it but
/// work that frame left, which the lost commands continued alike. The marker stays until that is durable;
/// the same branch again is not journalled.
fn journal_restore<C: Clocks>(
    matcher: &mut Matcher<C>,
    config: &EngineConfig,
    wait: &mut WaitDurable<'_>,
) -> Result<(), EngineError> {
    let journal = config.data_directory.join(JOURNAL_DIRECTORY);
    let copy = restored::restored_from(&journal).map_err(EngineError::Journal)?;
    let Some(IncompleteCopy { last, branch }) = copy else {
        return Ok(());
    };
    matcher.stop_clock();
    do_what_is_due(matcher, wait)?;
    let command = Command::Restore {
        branch: Branch(branch),
    };
    apply_now(matcher, &Configured::of(command, "restored journal"))?;
    tracing::warn!(
        last = last.0,
        "restored from a backup: outward connections are disabled until an admin opens withdrawals"
    );
    wait(&matcher.journal, matcher.exchange.sequence());
    if matcher.journal.is_poisoned() {
        return Ok(());
    }
    restored::forget_restored(&*config.journal.disk, &journal).map_err(EngineError::Journal)
}

/// Says at the time of the last frame that nobody could dispute since, before windows of proposals end by
/// what passed meanwhile (docs/verify/rules.md §24). Not journalled when no window is concerned.
fn reopen<C: Clocks>(
    matcher: &mut Matcher<C>,
    wait: &mut WaitDurable<'_>,
) -> Result<(), EngineError> {
    let (at, _) = matcher.clock.read();
    matcher.stop_clock();
    do_what_is_due(matcher, wait)?;
    let command = Command::Reopen { at };
    apply_now(matcher, &Configured::of(command, "a start after an outage"))
}

/// Begins post-only mode at the time of the last frame: what fell due since, such as the release of a
/// delayed order, trades with no maker who could not act meanwhile (docs/verify/rules.md §13). Keeps a
/// stricter mode set by an operator; returns whether the mode is post-only. It may remain from an earlier
/// restart, and then ends with this restart's period.
fn begin_post_only<C: Clocks>(
    matcher: &mut Matcher<C>,
    wait: &mut WaitDurable<'_>,
) -> Result<bool, EngineError> {
    if !matches!(matcher.mode, SystemMode::Running | SystemMode::PostOnly) {
        return Ok(false);
    }
    matcher.stop_clock();
    do_what_is_due(matcher, wait)?;
    let mode = SystemMode::PostOnly;
    let command = Command::SetMode { mode };
    apply_now(matcher, &Configured::of(command, "post-only mode"))?;
    Ok(true)
}

/// Applies a command of the engine's own after everything that must precede it.
fn apply<C: Clocks>(
    matcher: &mut Matcher<C>,
    wait: &mut WaitDurable<'_>,
    configured: &Configured,
) -> Result<(), EngineError> {
    make_way(matcher, wait)?;
    apply_now(matcher, configured)
}

/// Applies a command of the engine's own, which nothing must precede.
fn apply_now<C: Clocks>(
    matcher: &mut Matcher<C>,
    configured: &Configured,
) -> Result<(), EngineError> {
    let Configured {
        command, evidence, ..
    } = configured;
    let applied = matcher.apply_at_start(OperatorNumber::NONE, command, evidence);
    applied
        .map(drop)
        .map_err(|refusal| configured.refused(refusal))
}

/// Makes room for a frame and does everything that must precede a command.
pub(crate) fn make_way<C: Clocks>(
    matcher: &mut Matcher<C>,
    wait: &mut WaitDurable<'_>,
) -> Result<(), EngineError> {
    matcher.read_clock();
    do_what_is_due(matcher, wait)
}

/// Makes room for a frame and does what must precede a command at the matcher's time.
fn do_what_is_due<C: Clocks>(
    matcher: &mut Matcher<C>,
    wait: &mut WaitDurable<'_>,
) -> Result<(), EngineError> {
    loop {
        while !matcher.appender.has_room_for_largest() && !matcher.journal.is_poisoned() {
            wait(&matcher.journal, matcher.exchange.sequence());
        }
        let Some(first) = matcher.what_comes_first() else {
            return Ok(());
        };
        apply_now(matcher, &Configured::due(first))?;
    }
}

/// Blocks while the sync thread works.
pub(crate) fn until_durable(journal: &JournalState, sequence: Sequence) {
    while !journal.wait_durable(sequence, HEALTH_CHECK_INTERVAL) {
        if journal.is_poisoned() {
            return;
        }
    }
}
