//! Shrinks a failing sequence: cuts it after the failure, then removes every unneeded command.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::properties::generator::Sent;
use crate::properties::twin_agrees::pair::Pair;

/// The failure of a sequence.
#[derive(Clone, Debug)]
pub(crate) struct Failure {
    /// Index of the command.
    pub(crate) at: usize,
    /// The difference after it.
    pub(crate) message: String,
}

/// Maximum number of attempts at a shorter sequence.
const ATTEMPTS: usize = 3_000;

/// Plays a sequence to a new pair; a panic of either side counts as a failure.
pub(crate) fn replay(commands: &[Sent], seed: u64) -> Option<Failure> {
    let mut pair = Pair::cramped(seed);
    for (at, sent) in commands.iter().enumerate() {
        if let Err(message) = step(&mut pair, sent) {
            return Some(Failure { at, message });
        }
    }
    None
}

/// One step, with a panic turned into a message.
pub(crate) fn step(pair: &mut Pair, sent: &Sent) -> Result<foretell_model::Verdict, String> {
    let step = || pair.step(&sent.command, &sent.beside, sent.stamp);
    catch_unwind(AssertUnwindSafe(step)).unwrap_or_else(|panic| {
        let said = panic
            .downcast_ref::<String>()
            .cloned()
            .or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string));
        Err(format!("panic: {}", said.unwrap_or_default()))
    })
}

/// The shortest failing sequence found by deletion, and its failure.
pub(crate) fn shrink(mut commands: Vec<Sent>, seed: u64) -> (Vec<Sent>, Failure) {
    let mut failure = replay(&commands, seed).expect("a failing sequence fails again");
    commands.truncate(failure.at + 1);
    let mut attempts = 0;
    let mut chunk = commands.len() / 2;
    while chunk > 0 && attempts < ATTEMPTS {
        let before = commands.len();
        let mut start = 0;
        while start < commands.len() && attempts < ATTEMPTS {
            attempts += 1;
            let mut shorter = commands.clone();
            shorter.drain(start..(start + chunk).min(commands.len()));
            if let Some(found) = replay(&shorter, seed) {
                shorter.truncate(found.at + 1);
                commands = shorter;
                failure = found;
            } else {
                start += chunk;
            }
        }
        if commands.len() == before {
            chunk /= 2;
        }
    }
    (commands, failure)
}
