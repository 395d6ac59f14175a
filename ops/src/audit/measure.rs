//! How fast an audit is: a journal of placements is written once and audited in rounds.

use std::fmt::{self, Display};
use std::path::Path;

use foretell_bench::report::Goal;
use foretell_bench::resting_journal::with_journal;
use serde::Serialize;

use super::verify::{Options, verify};
use crate::failure::Failure;

/// Nanoseconds a command may take without signatures: two million a second on one core.
const GOAL_NANOS: f64 = 500.0;

/// What audits took.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub(crate) struct Speed {
    /// Commands of the journal.
    commands: u64,
    /// Whether every order's signature was checked.
    signatures: bool,
    /// Rounds.
    rounds: usize,
    /// Of the median round.
    seconds: f64,
    /// Commands a second of it, everything included.
    commands_per_second: f64,
}

/// Audits a journal with this many orders some times.
///
/// # Errors
/// The journal cannot be written, or is not sound.
pub(crate) fn measure(
    scratch: &Path,
    (orders, signatures): (u32, bool),
    rounds: usize,
) -> Result<Speed, Failure> {
    let options = Options {
        signatures,
        ..Options::default()
    };
    let audits = with_journal(scratch, orders, signatures, |journal| {
        (0..rounds.max(1))
            .map(|_| verify(journal, options))
            .collect::<Result<Vec<_>, _>>()
    })
    .map_err(|error| Failure::new(error.to_string()))??;
    if let Some(unsound) = audits.iter().find(|report| !report.is_sound()) {
        return Err(Failure::new(unsound.to_string()).code(unsound.exit_code()));
    }
    let mut seconds: Vec<f64> = audits.iter().map(|report| report.seconds).collect();
    seconds.sort_by(f64::total_cmp);
    let seconds = seconds[seconds.len() / 2];
    let commands = audits[0].counts.commands();
    #[allow(
        clippy::cast_precision_loss,
        reason = "a count far below 2^53, for a rate"
    )]
    let commands_per_second = commands as f64 / seconds;
    Ok(Speed {
        commands,
        signatures,
        rounds: audits.len(),
        seconds,
        commands_per_second,
    })
}

impl Speed {
    /// The one goal, of an audit without signatures.
    pub(crate) fn goals(&self) -> Vec<Goal> {
        let goal = Goal {
            name: "nanoseconds a command",
            most: GOAL_NANOS,
            found: Some(1e9 / self.commands_per_second),
        };
        if self.signatures {
            Vec::new()
        } else {
            vec![goal]
        }
    }
}

impl Display for Speed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let with = if self.signatures { "with" } else { "without" };
        writeln!(
            f,
            "{} commands {with} signatures, median of {} rounds: {:.3} s, {:.0} commands/s",
            self.commands, self.rounds, self.seconds, self.commands_per_second
        )?;
        self.goals()
            .iter()
            .try_for_each(|goal| writeln!(f, "{goal}"))
    }
}
