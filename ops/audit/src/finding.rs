//! Findings of an audit, their exit codes, and what stops a command.

use std::fmt;
use std::io;
use std::path::Path;

use crate::error::AuditError;
use foretell_journal::JournalError;
use foretell_model::Sequence;
use serde::Serialize;

use crate::exit_codes::{CONTRADICTION, DAMAGE, RULE, SIGNATURE};

/// Kinds of findings. The number is the exit code of the process; the highest one found counts.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Bytes, checksums, chain or sequences are not those that were written.
    Damage = DAMAGE as isize,
    /// Re-execution of the commands gives other events or another state than recorded.
    Contradiction = CONTRADICTION as isize,
    /// An order is not signed by its maker, or its evidence contradicts its command.
    Signature = SIGNATURE as isize,
    /// The record breaks a rule of the exchange: money, priority, limits, identity.
    Rule = RULE as isize,
}

impl Kind {
    /// Exit code of an audit whose worst finding is of this kind.
    #[must_use]
    pub const fn exit_code(self) -> u8 {
        self as u8
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Damage => "damage",
            Self::Contradiction => "contradiction",
            Self::Signature => "signature",
            Self::Rule => "rule",
        }
    }
}

/// A finding.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Finding {
    /// Kind of the finding.
    pub kind: Kind,
    exit_code: u8,
    /// Frame of the finding; for damage the first unreadable one, if known.
    pub sequence: Option<Sequence>,
    /// Description for people.
    pub text: String,
}

impl Finding {
    /// A finding about a frame.
    pub(crate) fn new(kind: Kind, sequence: Sequence, text: impl ToString) -> Self {
        Self::at(kind, Some(sequence), text)
    }

    fn at(kind: Kind, sequence: Option<Sequence>, text: impl ToString) -> Self {
        Self {
            kind,
            exit_code: kind.exit_code(),
            sequence,
            text: text.to_string(),
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.kind.name())?;
        if let Some(sequence) = self.sequence {
            write!(f, " at sequence {sequence}")?;
        }
        write!(f, ": {}", self.text)
    }
}

/// What a frame violates.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Violation {
    pub(crate) kind: Kind,
    pub(crate) text: String,
}

impl Violation {
    /// A rule of the exchange does not hold.
    pub(crate) fn rule(text: impl Into<String>) -> Self {
        let (kind, text) = (Kind::Rule, text.into());
        Self { kind, text }
    }

    /// The evidence does not prove the command.
    pub(crate) fn evidence(text: impl Into<String>) -> Self {
        let (kind, text) = (Kind::Signature, text.into());
        Self { kind, text }
    }

    pub(crate) fn at(self, sequence: Sequence) -> Finding {
        Finding::new(self.kind, sequence, self.text)
    }
}

/// The result of a check.
pub(crate) type Check<T = ()> = Result<T, Violation>;

/// Returns a violated rule unless the condition holds. The text is made only then.
#[inline]
pub(crate) fn ensure(holds: bool, text: impl FnOnce() -> String) -> Check {
    if holds {
        Ok(())
    } else {
        Err(Violation::rule(text()))
    }
}

/// What stops a command before the journal's end.
#[derive(Debug)]
pub(crate) enum Stop {
    /// The journal is wrong.
    Found(Finding),
    /// The command cannot continue for another reason: files that cannot be read or written.
    Failed(AuditError),
}

impl Stop {
    /// The failure of a command on the journal in `directory`.
    pub(crate) fn failure(self, directory: &Path) -> AuditError {
        match self {
            Self::Found(finding) => {
                let code = finding.kind.exit_code();
                AuditError::new(format!("{}: {finding}", directory.display())).code(code)
            }
            Self::Failed(failure) => failure,
        }
    }
}

impl From<Finding> for Stop {
    fn from(finding: Finding) -> Self {
        Self::Found(finding)
    }
}

impl From<AuditError> for Stop {
    fn from(failure: AuditError) -> Self {
        Self::Failed(failure)
    }
}

/// Damage of the journal is a finding, any other read error a failure.
impl From<JournalError> for Stop {
    fn from(error: JournalError) -> Self {
        let sequence = match &error {
            JournalError::Damaged { first, .. } => Some(*first),
            JournalError::Missing(_)
            | JournalError::Foreign(_)
            | JournalError::Watermark { .. } => None,
            JournalError::Io { source, .. } if is_link(source) => {
                let hint =
                    "a journal's files are regular files: copy them instead of linking to them";
                return Self::Failed(AuditError::new(error.to_string()).hint(hint));
            }
            other => return Self::Failed(AuditError::new(other.to_string())),
        };
        Self::Found(Finding::at(Kind::Damage, sequence, error))
    }
}

/// Whether opening failed because the path is a symbolic link.
fn is_link(error: &io::Error) -> bool {
    error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn damage_names_its_first_sequence_and_unreadable_files_are_failures() {
        let damaged = JournalError::Damaged {
            segment: 2,
            from: 4_096,
            to: 8_192,
            first: Sequence(7),
            last: Sequence(9),
            why: "the payload's checksum fails".to_owned(),
        };
        let Stop::Found(finding) = Stop::from(damaged) else {
            panic!("a finding");
        };
        assert_eq!(
            (finding.kind, finding.sequence),
            (Kind::Damage, Some(Sequence(7)))
        );
        assert!(
            finding
                .to_string()
                .starts_with("damage at sequence 7: segment 2")
        );
        let json = serde_json::to_value(&finding).unwrap();
        assert_eq!(
            (&json["kind"], &json["exit_code"]),
            (&"damage".into(), &3.into())
        );
        let newer = JournalError::Newer {
            what: "segment 1".to_owned(),
        };
        assert!(matches!(Stop::from(newer), Stop::Failed(_)));
    }
}
