//! What a check finds.

use std::fmt;

use foretell_engine::EXIT_REFUSED;
use serde::Serialize;

use crate::exit_codes::WARNING;
use crate::failure::Failure;

/// How much a finding matters; the worst is last.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Weight {
    /// As it should be.
    Ok,
    /// The exchange works, and a person should look.
    Warning,
    /// A start is refused.
    Refused,
}

impl Weight {
    /// The exit code when nothing is worse.
    pub(super) const fn exit_code(self) -> u8 {
        match self {
            Self::Ok => 0,
            Self::Warning => WARNING,
            Self::Refused => EXIT_REFUSED,
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warning => "warning",
            Self::Refused => "refused",
        }
    }
}

/// What a check found: a value, what is allowed, and what to do.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Finding {
    /// Name of the check.
    pub(super) check: &'static str,
    pub(super) weight: Weight,
    pub(super) value: String,
    /// Empty when the value says it.
    pub(super) allowed: String,
    /// Empty when nothing is to be done.
    pub(super) action: String,
}

impl Finding {
    fn new(weight: Weight, value: impl Into<String>) -> Self {
        Self {
            check: "",
            weight,
            value: value.into(),
            allowed: String::new(),
            action: String::new(),
        }
    }

    pub(super) fn ok(value: impl Into<String>) -> Self {
        Self::new(Weight::Ok, value)
    }

    pub(super) fn warning(value: impl Into<String>, action: impl Into<String>) -> Self {
        Self {
            action: action.into(),
            ..Self::new(Weight::Warning, value)
        }
    }

    pub(super) fn refused(value: impl Into<String>, action: impl Into<String>) -> Self {
        Self {
            action: action.into(),
            ..Self::new(Weight::Refused, value)
        }
    }

    /// A warning unless `is_good`, with the same value.
    pub(super) fn when(is_good: bool, value: impl Into<String>, action: &str) -> Self {
        match is_good {
            true => Self::ok(value),
            false => Self::warning(value, action),
        }
    }

    pub(super) fn allowed(mut self, allowed: impl Into<String>) -> Self {
        self.allowed = allowed.into();
        self
    }

    /// Value and what is allowed.
    pub(super) fn statement(&self) -> String {
        match self.allowed.as_str() {
            "" => self.value.clone(),
            allowed => format!("{}; allowed: {allowed}", self.value),
        }
    }
}

/// A failure with which the start would end.
impl From<Failure> for Finding {
    fn from(failure: Failure) -> Self {
        let (text, hint) = failure.into_parts();
        Self::refused(text, hint.unwrap_or_default())
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (weight, statement) = (self.weight.name(), self.statement());
        write!(f, "{weight:<7}  {:<15}  {statement}", self.check)?;
        match self.action.as_str() {
            "" => Ok(()),
            action => write!(f, "\n  try: {action}"),
        }
    }
}
