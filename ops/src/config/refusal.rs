//! Settings whose values cannot be used, and where each was set.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;

use crate::failure::Failure;

/// A setting that is refused: its path, its value, and why.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Refusal {
    setting: String,
    text: String,
}

impl Refusal {
    /// A value other than what is allowed.
    pub(crate) fn new(setting: &str, value: &impl Serialize, allowed: impl fmt::Display) -> Self {
        Self::because(setting, value, format_args!(", allowed: {allowed}"))
    }

    /// A value with which something fails, such as reading the file that it names.
    pub(crate) fn failed(
        setting: &str,
        value: &impl Serialize,
        problem: impl fmt::Display,
    ) -> Self {
        Self::because(setting, value, format_args!(": {problem}"))
    }

    fn because(setting: &str, value: &impl Serialize, why: fmt::Arguments<'_>) -> Self {
        let value = toml::Value::try_from(value);
        let value = value.map_or_else(|error| error.to_string(), |value| value.to_string());
        Self::other(setting, format!("{setting} is {value}{why}"))
    }

    /// A problem whose text shows no value, or not that of a setting.
    pub(crate) fn other(setting: &str, text: impl Into<String>) -> Self {
        Self {
            setting: setting.to_owned(),
            text: text.into(),
        }
    }

    /// Unless the value is allowed.
    pub(crate) fn unless(
        is_allowed: bool,
        setting: &str,
        value: &impl Serialize,
        allowed: impl fmt::Display,
    ) -> Option<Self> {
        (!is_allowed).then(|| Self::new(setting, value, allowed))
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// The check has passed the settings already; what remains is one that a process finds alone.
impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        Self::new(refusal.text).code(foretell_engine::EXIT_REFUSED)
    }
}

/// The origin of a setting that a flag gives.
pub(super) const COMMAND_LINE: &str = "command line";

/// Where settings were set: line of a file, variable, or command line. A default has no origin.
#[derive(Debug, Default)]
pub(crate) struct Origins(BTreeMap<String, String>);

impl Origins {
    pub(crate) fn set(&mut self, setting: &str, origin: impl Into<String>) {
        self.0.insert(setting.to_owned(), origin.into());
    }

    /// Whether the command line or the environment sets a setting.
    pub(crate) fn is_of_caller(&self, setting: &str) -> bool {
        let origin = self.0.get(setting).map(String::as_str);
        origin.is_some_and(|origin| origin == COMMAND_LINE || origin.starts_with("FORETELL_"))
    }

    /// The origin of a setting, or of what it is a part of.
    fn of(&self, setting: &str) -> Option<&str> {
        let mut part = setting;
        loop {
            if let Some(origin) = self.0.get(part) {
                return Some(origin);
            }
            part = &part[..part.rfind(['.', '['])?];
        }
    }

    /// A refusal with its origin.
    pub(crate) fn line(&self, refusal: &Refusal) -> String {
        match self.of(&refusal.setting) {
            Some(origin) => format!("{origin}: {refusal}"),
            None => refusal.to_string(),
        }
    }

    /// One failure that names all refusals, each in a line; `None` without any.
    pub(crate) fn failure(&self, refusals: &[Refusal]) -> Option<Failure> {
        let lines: Vec<_> = refusals.iter().map(|refusal| self.line(refusal)).collect();
        (!lines.is_empty()).then(|| Failure::new(lines.join("\n")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_has_the_nearest_origin() {
        let mut origins = Origins::default();
        origins.set("signing.domains[1]", "f.toml:7");
        origins.set("engine.ring", "FORETELL_ENGINE_RING");
        let refusals = [
            Refusal::new("engine.ring", &3, "a power of two"),
            Refusal::failed("signing.domains[1].contract", &"0x", "too short"),
            Refusal::new("log.level", &"", "a level"),
        ];
        let failure = origins.failure(&refusals).unwrap().to_string();
        let expected = "FORETELL_ENGINE_RING: engine.ring is 3, allowed: a power of two\n\
                        f.toml:7: signing.domains[1].contract is \"0x\": too short\n\
                        log.level is \"\", allowed: a level";
        assert_eq!(failure, expected);
        assert!(origins.failure(&[]).is_none());
    }
}
