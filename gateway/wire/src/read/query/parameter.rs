//! A parameter of a query.

#[cfg(feature = "documents")]
use serde_json::Value as Json;

use crate::errors::error_code::ErrorCode;

/// A parameter, as a reader and the OpenAPI document need it.
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    /// Its name.
    pub name: &'static str,
    /// A second spelling.
    pub alias: Option<&'static str>,
    /// Its name in version 2 of the data surface, which is the name of the struct's field unless stated.
    pub v2: &'static str,
    /// The name of the struct's field, a second spelling in version 2.
    pub field: &'static str,
    /// Whether it is read under its names of version 2, in snake or camel case.
    pub is_v2: bool,
    /// Whether a request without it is an error.
    pub is_required: bool,
    /// The documentation of the struct's field.
    pub description: &'static str,
    /// Codes of its errors, where their texts are fixed.
    pub codes: fn() -> Vec<ErrorCode>,
    /// The JSON schema of its value.
    #[cfg(feature = "documents")]
    pub schema: fn() -> Json,
}

impl Parameter {
    pub(crate) const NONE: Self = Self {
        name: "",
        alias: None,
        v2: "",
        field: "",
        is_v2: false,
        is_required: false,
        description: "",
        codes: Vec::new,
        #[cfg(feature = "documents")]
        schema: || Json::Null,
    };

    /// A parameter of one spelling in both versions.
    pub(crate) const fn new(name: &'static str, description: &'static str) -> Self {
        Self {
            name,
            v2: name,
            field: name,
            description,
            ..Self::NONE
        }
    }

    /// Its name and its second spelling.
    pub(crate) fn spellings(&self) -> impl Iterator<Item = &'static str> + use<> {
        [Some(self.name), self.alias].into_iter().flatten()
    }

    /// The same in version 2.
    pub(crate) const fn in_v2(self) -> Self {
        Self {
            name: self.v2,
            is_v2: true,
            ..self
        }
    }

    pub(crate) fn spells(&self, name: &str) -> bool {
        let in_v2 = |own| name == own || is_camel_case(name, own);
        self.name == name
            || self.alias == Some(name)
            || self.is_v2 && (in_v2(self.name) || in_v2(self.field))
    }
}

/// Whether a name is another one, which is in snake case, in camel case.
fn is_camel_case(name: &str, snake: &str) -> bool {
    let mut words = snake.split('_');
    let mut rest = words.next().and_then(|first| name.strip_prefix(first));
    for word in words {
        rest = rest.and_then(|rest| {
            let capital = rest.chars().next().filter(char::is_ascii_uppercase)?;
            let tail = word.strip_prefix(capital.to_ascii_lowercase())?;
            rest[1..].strip_prefix(tail)
        });
    }
    rest == Some("")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn in_version_2_a_name_is_in_snake_or_camel_case() {
        let condition = Parameter {
            v2: "condition",
            field: "condition_id",
            ..Parameter::new("market", "")
        };
        for (name, in_v1, in_v2) in [
            ("market", true, false),
            ("condition", false, true),
            ("condition_id", false, true),
            ("conditionId", false, true),
            ("conditionid", false, false),
            ("conditionID", false, false),
            ("condition_Id", false, false),
            ("ConditionId", false, false),
            ("conditionIds", false, false),
            ("", false, false),
        ] {
            assert_eq!(condition.spells(name), in_v1, "{name}");
            assert_eq!(condition.in_v2().spells(name), in_v2, "{name}");
        }
        let long = Parameter::new("exclude_deposits_withdrawals", "").in_v2();
        assert!(long.spells("excludeDepositsWithdrawals"));
        assert!(!long.spells("excludeDepositswithdrawals"));
    }
}
