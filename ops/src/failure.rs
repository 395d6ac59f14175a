//! Errors for an operator: one sentence and the next step.

use std::fmt;
use std::process::ExitCode;

use foretell_audit::AuditError;
use tracing::Level;

use crate::exit_codes::{self, GENERAL};
use crate::output::{Output, escape};
use crate::priority::priority;

/// An error at the command line.
#[derive(Debug)]
pub struct Failure {
    text: String,
    hint: Option<String>,
    code: u8,
}

impl Failure {
    /// A failure with exit code 1.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            hint: None,
            code: GENERAL,
        }
    }

    /// Adds the next step.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Sets the exit code, which is one of `exit_codes::ALL`.
    #[must_use]
    pub fn code(mut self, code: u8) -> Self {
        debug_assert!(exit_codes::is_documented(code), "exit code {code}");
        self.code = code;
        self
    }

    /// The message and the hint.
    pub(crate) fn into_parts(self) -> (String, Option<String>) {
        (self.text, self.hint)
    }

    /// The message and the hint, for programs.
    fn json(&self) -> serde_json::Value {
        match &self.hint {
            Some(hint) => serde_json::json!({ "error": self.text, "hint": hint }),
            None => serde_json::json!({ "error": self.text }),
        }
    }

    /// Prints the failure of this program to standard error; returns its exit code.
    #[must_use]
    pub fn print(&self, program: &str, output: Output) -> ExitCode {
        let text = match output.json {
            true => escape(&self.json().to_string(), ""),
            false => format!("{program}: {}", escape(&self.to_string(), "\n")),
        };
        for line in text.lines() {
            eprintln!("{}{line}", priority(Level::ERROR));
        }
        ExitCode::from(self.code)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)?;
        match &self.hint {
            Some(hint) => write!(f, "\n  try: {hint}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Failure {}

impl From<AuditError> for Failure {
    fn from(error: AuditError) -> Self {
        let failure = Self::new(error.text).code(error.exit_code);
        match error.hint {
            Some(hint) => failure.hint(hint),
            None => failure,
        }
    }
}
