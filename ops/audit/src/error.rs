//! Why a command of the auditor cannot continue.

use std::fmt;

use crate::exit_codes::GENERAL;

/// What a command could not do: one sentence, the next step, and the exit code of the process.
#[derive(Debug)]
pub struct AuditError {
    /// The sentence.
    pub text: String,
    /// The next step.
    pub hint: Option<&'static str>,
    /// One of [`crate::exit_codes`].
    pub exit_code: u8,
}

impl AuditError {
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            hint: None,
            exit_code: GENERAL,
        }
    }

    pub(crate) const fn hint(mut self, hint: &'static str) -> Self {
        self.hint = Some(hint);
        self
    }

    pub(crate) const fn code(mut self, exit_code: u8) -> Self {
        self.exit_code = exit_code;
        self
    }
}

impl fmt::Display for AuditError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)?;
        match self.hint {
            Some(hint) => write!(f, "\n  try: {hint}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for AuditError {}
