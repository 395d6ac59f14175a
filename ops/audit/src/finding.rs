//! Findings of an audit and their exit codes.

use std::fmt;
use std::io;

use foretell_journal::JournalError;
use foretell_model::Sequence;
use serde_json::{Value, json};

use crate::error::AuditError as Failure;
use crate::exit_codes::{CONTRADICTION, DAMAGE, RULE, SIGNATURE};

/// Kinds of findings. The number is the exit code of the process; the highest one found counts.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
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
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Finding {
    /// Kind of the finding.
    pub kind: Kind,
    /// Frame of the finding; for damage the first unreadable one, if known.
    pub sequence: Option<Sequence>,
    /// Description for people.
    pub text: String,
}

impl Finding {
    pub(crate) fn new(kind: Kind, sequence: Sequence, text: impl Into<String>) -> Self {
        Self {
            kind,
            sequence: Some(sequence),
            text: text.into(),
        }
    }

    /// A finding for damage of the journal; any other read error is a failure of the command.
    pub(crate) fn damage(error: &JournalError) -> Result<Self, Failure> {
        let sequence = match error {
            JournalError::Damaged { first, .. } => Some(*first),
            JournalError::Missing(_)
            | JournalError::Foreign(_)
            | JournalError::Watermark { .. } => None,
            JournalError::Io { source, .. } if is_link(source) => {
                let hint =
                    "a journal's files are regular files: copy them instead of linking to them";
                return Err(Failure::new(error.to_string()).hint(hint));
            }
            other => return Err(Failure::new(other.to_string())),
        };
        Ok(Self {
            kind: Kind::Damage,
            sequence,
            text: error.to_string(),
        })
    }

    pub(crate) fn json(&self) -> Value {
        json!({
            "kind": self.kind.name(),
            "exit_code": self.kind.exit_code(),
            "sequence": self.sequence.map(|sequence| sequence.0),
            "text": self.text,
        })
    }
}

/// Whether opening failed because the path is a symbolic link.
fn is_link(error: &io::Error) -> bool {
    error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error())
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
        let finding = Finding::damage(&damaged).unwrap();
        assert_eq!(
            (finding.kind, finding.sequence),
            (Kind::Damage, Some(Sequence(7)))
        );
        assert!(
            finding
                .to_string()
                .starts_with("damage at sequence 7: segment 2")
        );
        assert_eq!(finding.json()["exit_code"], 3);
        let newer = JournalError::Newer {
            what: "segment 1".to_owned(),
        };
        assert!(Finding::damage(&newer).is_err());
    }
}
