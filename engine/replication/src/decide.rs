//! Publishes a single message until its fate is known: the first header of a journal, and that of a
//! takeover.

use crate::log::{LogError, Outcome};
use crate::signed::{Following, SignedLog};

/// The fate of a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Decision {
    /// The log has it as the message with this number.
    Accepted(u64),
    /// A host wrote another message before.
    Refused,
    /// The caller gave up; it may still be accepted.
    Unknown,
}

/// Sends `content` as the message after number `after`, and after those behind it that no host signed, until the
/// log has it, or a message of a host. Calls `wait` between attempts; it returns whether to go on.
pub fn decide(
    log: &mut SignedLog,
    after: u64,
    content: &[u8],
    wait: &mut dyn FnMut() -> bool,
) -> Decision {
    let (mut expected, mut attempt) = (after, 0);
    let mut id = log.publish(expected, None, attempt, content);
    loop {
        let outcome = match log.outcome() {
            // An answer to an earlier attempt.
            Some((of, _)) if of != id => continue,
            Some((_, Outcome::Accepted(number))) if number == expected + 1 => {
                return Decision::Accepted(number);
            }
            outcome => outcome,
        };
        if !wait() {
            return Decision::Unknown;
        }
        match outcome {
            None => continue,
            Some((_, Outcome::Unknown)) => {}
            Some((_, Outcome::Accepted(_) | Outcome::NotAppended)) => {
                match compare(log, expected, content) {
                    Ok(Ok(last)) if last > expected => (expected, attempt) = (last, 0),
                    Ok(Ok(_)) | Err(_) => attempt += 1,
                    Ok(Err(decision)) => return decision,
                }
            }
        }
        id = log.publish(expected, None, attempt, content);
    }
}

/// The number after which the message fits, or the decision if a message of a host is there.
fn compare(
    log: &mut SignedLog,
    expected: u64,
    content: &[u8],
) -> Result<Result<u64, Decision>, LogError> {
    let following = log.following(expected, &|_| false)?;
    Ok(match following {
        Following::End(last) | Following::Further(last) => Ok(last),
        // Two hosts that take over at once write equal headers.
        Following::Signed {
            number,
            host,
            content: written,
        } if written == content && host == log.host() => Err(Decision::Accepted(number)),
        Following::Signed { .. } => Err(Decision::Refused),
    })
}
