//! What the engine journals before it serves: the configured domains and settings, an accepted
//! divergence, post-only after a restart.

use std::time::Duration;

use foretell_model::{Command, Sequence, SystemMode, TimeNs};

use crate::config::EngineConfig;
use crate::error::EngineError;
use crate::matcher::Matcher;

/// How long a wait for the journal lasts before its health is looked at again.
const LOOK_AGAIN: Duration = Duration::from_millis(100);

/// Journals what the start needs and waits until it is durable.
///
/// # Errors
/// [`EngineError::Configuration`] when the exchange refuses a configured domain or the settings.
pub(crate) fn journal_configuration(
    matcher: &mut Matcher,
    config: &EngineConfig,
    newly_accepted: Option<Sequence>,
) -> Result<(), EngineError> {
    let first_start = matcher.exchange.sequence() == Sequence(0);
    // Nothing else is taken while work is pending, and it is of an earlier run.
    while matcher.exchange.has_pending_work() {
        let command = Command::Continue;
        apply(matcher, &command, &[], || "continued work".to_owned())?;
    }
    if let Some(sequence) = newly_accepted {
        let command = Command::AcceptDivergence { sequence };
        apply(matcher, &command, &[], || "accepted divergence".to_owned())?;
    }
    if first_start {
        // Before anything else: a start that ends here, or is killed, must find an empty journal
        // again, or the settings would never be journalled.
        let command = Command::ChangeSettings(config.settings);
        apply(matcher, &command, &[], || "settings".to_owned())?;
    }
    for domain in &config.domains {
        let command = Command::RegisterDomain {
            domain: domain.number,
            separator: domain.separator,
        };
        let named = || format!("signing domain {} ({})", domain.number, domain.text);
        apply(matcher, &command, domain.text.as_bytes(), named)?;
    }
    if !first_start && !config.post_only_after_restart.is_zero() {
        begin_post_only(matcher, config.post_only_after_restart)?;
    }
    matcher.show();
    wait_until_durable(matcher);
    Ok(())
}

/// An operator's stricter mode stands. Post-only itself is taken for what is left of an earlier
/// restart, and ends with this one's.
fn begin_post_only(matcher: &mut Matcher, lasting: Duration) -> Result<(), EngineError> {
    if !matches!(matcher.mode, SystemMode::Running | SystemMode::PostOnly) {
        return Ok(());
    }
    let mode = SystemMode::PostOnly;
    apply(matcher, &Command::SetMode { mode }, &[], || {
        "post-only mode".to_owned()
    })?;
    let (now, _) = matcher.clock.read();
    let lasting = u64::try_from(lasting.as_nanos()).unwrap_or(u64::MAX);
    matcher.post_only_until = Some(TimeNs(now.0.saturating_add(lasting)));
    Ok(())
}

fn apply(
    matcher: &mut Matcher,
    command: &Command,
    evidence: &[u8],
    what: impl FnOnce() -> String,
) -> Result<(), EngineError> {
    while !matcher.appender.has_room_for_largest() && !matcher.journal.is_poisoned() {
        wait_until_durable(matcher);
    }
    matcher
        .apply_at_start(command, evidence)
        .map(drop)
        .map_err(|refusal| EngineError::Configuration {
            what: what(),
            refusal,
        })
}

/// Returns too when the journal fails: then nothing is served, and the sync thread tells why.
fn wait_until_durable(matcher: &Matcher) {
    let sequence = matcher.exchange.sequence();
    while !matcher.journal.wait_durable(sequence, LOOK_AGAIN) {
        if matcher.journal.is_poisoned() {
            return;
        }
    }
}
