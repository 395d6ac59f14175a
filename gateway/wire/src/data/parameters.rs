//! Parameters of the data surface, read and bounded (protocol 12).
//!
//! An empty value is as good as an absent one. A list may be separated by commas, repeated, or
//! both; any other parameter stands once.

use foretell_model::{ConditionId, WalletAddress};

use crate::data::failure::DataFailure;
use crate::decimal;
use crate::failure::Failure;
use crate::ids;
use crate::query::Query;

/// Markets one request may name; a query string of the longest allowed length names fewer.
const MAX_MARKETS: usize = 200;
/// Characters of a title that is searched for.
const MAX_TITLE: usize = 100;

/// The parameters of a request whose names are all known.
pub(crate) struct Parameters<'q>(&'q Query<'q>);

impl<'q> Parameters<'q> {
    /// Takes a query all of whose parameters are among `known`.
    pub(crate) fn of(query: &'q Query<'q>, known: &[&str]) -> Result<Self, DataFailure> {
        match query.unknown(known) {
            Some(name) => Err(DataFailure::unknown(name)),
            None => Ok(Self(query)),
        }
    }

    /// An integer from 0 to `largest`.
    pub(crate) fn whole(
        &self,
        name: &'static str,
        default: u32,
        largest: u32,
    ) -> Result<usize, DataFailure> {
        let given = match self.0.one(name)? {
            None => default,
            Some(text) => decimal::digits_u64(text)
                .ok()
                .and_then(|number| u32::try_from(number).ok())
                .filter(|number| *number <= largest)
                .ok_or_else(|| {
                    let allowed = format!("an integer from 0 to {largest}");
                    DataFailure::invalid(name, text, &allowed)
                })?,
        };
        Ok(given as usize)
    }

    /// A number of whole units with up to six decimals, at least 0, as a number of micros.
    pub(crate) fn micros(&self, name: &'static str) -> Result<Option<u64>, DataFailure> {
        const ALLOWED: &str = "a number from 0 to 18446744073709.551615 with at most 6 decimals";
        self.read(name, ALLOWED, |text| decimal::fixed_point(text, 6))
    }

    /// Unix seconds.
    pub(crate) fn seconds(&self, name: &'static str) -> Result<Option<u64>, DataFailure> {
        let read = |text: &str| decimal::digits_u64(text).ok();
        self.read(name, "unix seconds", read)
    }

    pub(crate) fn flag(&self, name: &'static str, default: bool) -> Result<bool, DataFailure> {
        let read = |text: &str| match text {
            "true" | "1" => Some(true),
            "false" | "0" => Some(false),
            _ => None,
        };
        let given = self.read(name, "true, false, 1 or 0", read)?;
        Ok(given.unwrap_or(default))
    }

    /// One of a few words.
    pub(crate) fn choice<T: Copy>(
        &self,
        name: &'static str,
        words: &[(&'static str, T)],
    ) -> Result<Option<T>, DataFailure> {
        let Some(text) = self.0.one(name)? else {
            return Ok(None);
        };
        chosen(name, text, words).map(Some)
    }

    /// Several of a few words; empty = none named.
    pub(crate) fn choices<T: Copy>(
        &self,
        name: &'static str,
        words: &[(&'static str, T)],
    ) -> Result<Vec<T>, DataFailure> {
        let entries = self.list(name)?;
        let chosen = entries.into_iter().map(|text| chosen(name, text, words));
        chosen.collect()
    }

    pub(crate) fn user(&self) -> Result<Option<WalletAddress>, DataFailure> {
        const ALLOWED: &str = "an address, 0x and 40 hex digits";
        self.read("user", ALLOWED, ids::address)
    }

    pub(crate) fn required_user(&self) -> Result<WalletAddress, DataFailure> {
        self.user()?.ok_or(DataFailure::MissingField("user"))
    }

    /// Condition ids, each once, in the order named.
    pub(crate) fn markets(&self) -> Result<Vec<ConditionId>, DataFailure> {
        const ALLOWED: &str = "a condition id, 0x and 64 hex digits";
        let mut markets = Vec::new();
        for text in self.list("market")? {
            let market = ids::condition_id(text)
                .ok_or_else(|| DataFailure::invalid("market", text, ALLOWED))?;
            if !markets.contains(&market) {
                markets.push(market);
            }
        }
        Ok(markets)
    }

    /// At least one condition id.
    pub(crate) fn required_markets(&self) -> Result<Vec<ConditionId>, DataFailure> {
        let markets = self.markets()?;
        if markets.is_empty() {
            return Err(DataFailure::MissingField("market"));
        }
        Ok(markets)
    }

    /// What a title must contain.
    pub(crate) fn title(&self) -> Result<Option<String>, DataFailure> {
        let read = |text: &str| (text.chars().count() <= MAX_TITLE).then(|| text.to_owned());
        self.read("title", "a text of at most 100 characters", read)
    }

    fn read<T>(
        &self,
        name: &'static str,
        allowed: &str,
        read: impl FnOnce(&str) -> Option<T>,
    ) -> Result<Option<T>, DataFailure> {
        let Some(text) = self.0.one(name)? else {
            return Ok(None);
        };
        let value = read(text).ok_or_else(|| DataFailure::invalid(name, text, allowed))?;
        Ok(Some(value))
    }

    fn list(&self, name: &'static str) -> Result<Vec<&'q str>, DataFailure> {
        let entries = self.0.list(name, MAX_MARKETS, "up to 200");
        let entries = entries.map_err(|failure| match failure {
            Failure::TooManyEntries { field, count, .. } => DataFailure::InvalidField {
                field,
                why: format!("{count} entries are not up to {MAX_MARKETS}"),
            },
            other => other.into(),
        })?;
        // A list of nothing was meant to name something: without it there would be rows nobody asked for.
        match self.0.all(name).find(|text| !text.is_empty()) {
            Some(text) if entries.is_empty() => Err(DataFailure::invalid(name, text, "a list")),
            _ => Ok(entries),
        }
    }
}

fn chosen<T: Copy>(
    name: &'static str,
    text: &str,
    words: &[(&'static str, T)],
) -> Result<T, DataFailure> {
    let found = words.iter().find(|(word, _)| *word == text);
    found.map(|(_, value)| *value).ok_or_else(|| {
        let words: Vec<_> = words.iter().map(|(word, _)| *word).collect();
        DataFailure::invalid(name, text, &format!("one of {}", words.join(", ")))
    })
}
