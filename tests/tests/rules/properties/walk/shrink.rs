//! Shrinks a failing sequence: cuts it after the failure, then removes every unneeded command.

use std::time::{Duration, Instant};

use crate::properties::generator::Sent;
use crate::properties::walk::observer::Seen;
use crate::properties::walk::sequence::{Difference, Failed, Walk};

/// The failure of a sequence.
#[derive(Clone, Debug)]
pub(crate) struct Failure {
    /// Index of the command.
    pub(crate) at: usize,
    pub(crate) observer: &'static str,
    /// The difference after it.
    pub(crate) message: String,
}

/// No attempt at a shorter sequence begins later.
const PATIENCE: Duration = Duration::from_secs(60);

/// Plays a sequence to core, twin and the observer that saw a difference.
fn replay(commands: &[Sent], seed: u64, observer: &str) -> Option<Failure> {
    let mut walk = Walk::of_observer(seed, observer);
    let mut seen = Seen::default();
    let of = |at: usize, difference: Difference| Failure {
        at,
        observer: difference.observer,
        message: difference.message,
    };
    for (at, sent) in commands.iter().enumerate() {
        if let Err(difference) = walk.step(sent, &mut seen) {
            return Some(of(at, difference));
        }
    }
    let ended = walk.end(&mut seen).err();
    ended.map(|difference| of(commands.len().saturating_sub(1), difference))
}

/// The shortest failing sequence found by deletion, and its failure.
pub(crate) fn shrink(failed: Failed, seed: u64) -> (Vec<Sent>, Failure) {
    let Failed {
        mut commands,
        observer,
    } = failed;
    let replay = |commands: &[Sent]| replay(commands, seed, observer);
    let mut failure = replay(&commands).expect("a failing sequence fails again");
    commands.truncate(failure.at + 1);
    let began = Instant::now();
    let is_patient = || began.elapsed() < PATIENCE;
    let mut chunk = commands.len() / 2;
    while chunk > 0 && is_patient() {
        let before = commands.len();
        let mut start = 0;
        while start < commands.len() && is_patient() {
            let mut shorter = commands.clone();
            shorter.drain(start..(start + chunk).min(commands.len()));
            if let Some(found) = replay(&shorter) {
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
