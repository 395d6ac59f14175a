//! Publishes a single message until its fate is known: the first header of a journal, and that of a
//! takeover.

use crate::log::{Outcome, Publish, ReplicatedLog};

/// The fate of a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Decision {
    /// The log has it at its place.
    Accepted,
    /// The log has another message there.
    Refused,
    /// The caller gave up; it may still be accepted.
    Unknown,
}

/// Sends `publish` with the same id and bytes until the log has it, or another message, at its
/// place. Calls `wait` between attempts; it returns whether to go on.
pub fn decide(
    log: &mut dyn ReplicatedLog,
    publish: &Publish,
    wait: &mut dyn FnMut() -> bool,
) -> Decision {
    let number = publish.expected + 1;
    log.publish(publish.clone());
    loop {
        match log.outcome() {
            Some((expected, _)) if expected != publish.expected => continue,
            Some((_, Outcome::Accepted(accepted))) if accepted == number => {
                return Decision::Accepted;
            }
            Some((_, Outcome::Accepted(_) | Outcome::WrongLast)) => match log.read(number) {
                Ok(Some(message)) if message.id == publish.id => return Decision::Accepted,
                Ok(Some(_)) => return Decision::Refused,
                Ok(None) | Err(_) => {
                    if !wait() {
                        return Decision::Unknown;
                    }
                    log.publish(publish.clone());
                }
            },
            Some((_, Outcome::Unknown)) => {
                if !wait() {
                    return Decision::Unknown;
                }
                log.publish(publish.clone());
            }
            None => {
                if !wait() {
                    return Decision::Unknown;
                }
            }
        }
    }
}
