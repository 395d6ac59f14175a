//! Decoded names and values of a query string.

use crate::error::CatalogError;
use crate::quoting::quoted;

/// Most entries of a list parameter.
const MAX_ENTRIES: usize = 500;

/// The parameters of a request in their original order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parameters(Vec<(String, String)>);

impl<N: Into<String>, V: Into<String>> FromIterator<(N, V)> for Parameters {
    fn from_iter<I: IntoIterator<Item = (N, V)>>(pairs: I) -> Self {
        let pairs = pairs.into_iter();
        Self(
            pairs
                .map(|(name, value)| (name.into(), value.into()))
                .collect(),
        )
    }
}

impl Parameters {
    /// Rejects unknown parameters: silently ignoring a filter would return unfiltered rows
    /// (docs/api/catalog.md §2).
    pub(super) fn only(&self, known: &[&[&str]]) -> Result<(), CatalogError> {
        match self
            .0
            .iter()
            .find(|(name, _)| !known.iter().any(|known| known.contains(&name.as_str())))
        {
            None => Ok(()),
            Some((name, _)) => Err(CatalogError::BadRequest(format!(
                "{} is no parameter here, allowed: {}",
                quoted(name),
                known.concat().join(", ")
            ))),
        }
    }

    /// The value of a parameter under its name or an alias; an empty value counts as absent.
    pub(super) fn text(&self, names: &[&'static str]) -> Result<Option<&str>, CatalogError> {
        Ok(self.named(names)?.map(|(_, value)| value))
    }

    /// As [`Self::text`], with the name under which the value is given.
    pub(super) fn named(
        &self,
        names: &[&'static str],
    ) -> Result<Option<(&str, &str)>, CatalogError> {
        let mut found = None;
        for (name, value) in &self.0 {
            if !names.contains(&name.as_str()) {
                continue;
            }
            if found.replace((name.as_str(), value.as_str())).is_some() {
                let names = names.join(" or ");
                return Err(CatalogError::BadRequest(format!(
                    "{names} is given more than once, allowed: once"
                )));
            }
        }
        Ok(found.filter(|(_, value)| !value.is_empty()))
    }

    /// A whole number within bounds.
    pub(super) fn number(
        &self,
        name: &'static str,
        bounds: std::ops::RangeInclusive<u64>,
        allowed: &str,
    ) -> Result<Option<u64>, CatalogError> {
        let Some(text) = self.text(&[name])? else {
            return Ok(None);
        };
        match whole(text).filter(|number| bounds.contains(number)) {
            Some(number) => Ok(Some(number)),
            None => Err(wrong(name, text, allowed)),
        }
    }

    /// A boolean.
    pub(super) fn flag(&self, name: &'static str) -> Result<Option<bool>, CatalogError> {
        match self.text(&[name])? {
            None => Ok(None),
            Some("true" | "1") => Ok(Some(true)),
            Some("false" | "0") => Ok(Some(false)),
            Some(other) => Err(wrong(name, other, "true, false, 1, 0")),
        }
    }

    /// The entries of a list as texts.
    pub(super) fn texts(&self, name: &'static str) -> Result<Option<Vec<String>>, CatalogError> {
        let entries = self.list(name)?;
        Ok(entries.map(|entries| entries.into_iter().map(str::to_owned).collect()))
    }

    /// The entries of a list of ids.
    pub(super) fn ids(&self, name: &'static str) -> Result<Option<Vec<u64>>, CatalogError> {
        let id = |text| whole(text).ok_or_else(|| wrong(name, text, "a whole number"));
        let entries = self.list(name)?;
        entries
            .map(|entries| entries.into_iter().map(id).collect())
            .transpose()
    }

    /// A text that must be one of a few words.
    pub(super) fn word(
        &self,
        name: &'static str,
        words: &[&'static str],
    ) -> Result<Option<&'static str>, CatalogError> {
        let Some(text) = self.text(&[name])? else {
            return Ok(None);
        };
        let known = words.iter().find(|word| **word == text);
        known
            .map(|word| Some(*word))
            .ok_or_else(|| wrong(name, text, &words.join(", ")))
    }

    /// Accepts the one language of the stored texts.
    pub(super) fn locale(&self) -> Result<(), CatalogError> {
        self.word("locale", &["en"]).map(|_| ())
    }

    /// The entries of a list, comma-separated, repeated, or both; `None` when it is absent or empty.
    pub(super) fn list(&self, name: &'static str) -> Result<Option<Vec<&str>>, CatalogError> {
        let entries: Vec<&str> = self
            .0
            .iter()
            .filter(|(known, _)| known == name)
            .flat_map(|(_, value)| value.split(','))
            .map(str::trim)
            .filter(|entry| !entry.is_empty())
            .collect();
        if entries.len() > MAX_ENTRIES {
            return Err(CatalogError::BadRequest(format!(
                "{name} has {} entries, allowed: up to {MAX_ENTRIES}",
                entries.len()
            )));
        }
        // A list of separators alone is no list: ignoring it would return unfiltered rows.
        let mut values = self.0.iter().filter(|(known, _)| known == name);
        match values.find(|(_, value)| !value.is_empty()) {
            Some((_, value)) if entries.is_empty() => Err(wrong(name, value, "a list")),
            _ => Ok(Some(entries).filter(|entries| !entries.is_empty())),
        }
    }
}

/// An amount: a decimal number.
pub(super) fn amount(text: &str) -> Option<f64> {
    text.parse().ok().filter(|amount: &f64| amount.is_finite())
}

/// The error of a parameter with a wrong value.
pub(super) fn wrong(name: &str, value: &str, allowed: &str) -> CatalogError {
    CatalogError::BadRequest(format!("{name} is {}, allowed: {allowed}", quoted(value)))
}

/// A whole number of up to 63 bits, digits only.
pub(super) fn whole(text: &str) -> Option<u64> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let number = text.parse::<i64>().ok().filter(|_| digits)?;
    u64::try_from(number).ok()
}
