//! Publishes a single message until its fate is known: the first header of a journal, and that of a
//! takeover.

use crate::log::{Outcome, Publish, ReplicatedLog, attempt_id, is_attempt};

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

/// Sends `publish`, with the same bytes, until the log has it, or another message, at its
/// place. Calls `wait` between attempts; it returns whether to go on.
pub fn decide(
    log: &mut dyn ReplicatedLog,
    publish: &Publish,
    wait: &mut dyn FnMut() -> bool,
) -> Decision {
    let (number, mut attempt) = (publish.expected + 1, 0);
    let with_attempt = |attempt| Publish {
        id: attempt_id(&publish.id, attempt),
        ..publish.clone()
    };
    log.publish(publish.clone());
    loop {
        match log.outcome() {
            Some((expected, _)) if expected != publish.expected => continue,
            Some((_, Outcome::Accepted(accepted))) if accepted == number => {
                return Decision::Accepted;
            }
            Some((_, Outcome::Accepted(_) | Outcome::WrongLast)) => match log.read(number) {
                Ok(Some(message)) if is_attempt(&message.id, &publish.id) => {
                    return Decision::Accepted;
                }
                Ok(Some(_)) => return Decision::Refused,
                Ok(None) | Err(_) => {
                    if !wait() {
                        return Decision::Unknown;
                    }
                    attempt += 1;
                    log.publish(with_attempt(attempt));
                }
            },
            Some((_, Outcome::Unknown)) => {
                if !wait() {
                    return Decision::Unknown;
                }
                log.publish(with_attempt(attempt));
            }
            None => {
                if !wait() {
                    return Decision::Unknown;
                }
            }
        }
    }
}
