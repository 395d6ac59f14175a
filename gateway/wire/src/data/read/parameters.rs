//! Parameters of the data surface, read and bounded (docs/api/data.md §1).
//!
//! An empty value counts as absent. A list may be comma-separated, repeated, or both; any other
//! parameter is allowed once.

use foretell_model::WalletAddress;

use crate::data::read::errors::{invalid_parameter, of_query, unknown_parameter};
use crate::data::read::market_selection::{MarketRef, MarketSelection};
use crate::errors::api_error::ApiError;
use crate::errors::error_code::ErrorCode;
use crate::limits::{MAX_MARKETS, MAX_TITLE};
use crate::read::query::Query;
use crate::text::decimal;
use crate::text::ids;

/// The parameters of a request, all with known names.
pub(crate) struct Parameters<'q>(&'q Query<'q>);

impl<'q> Parameters<'q> {
    /// Checks that all parameters of a query are in `known`.
    pub(crate) fn of(query: &'q Query<'q>, known: &[&str]) -> Result<Self, ApiError> {
        match query.unknown(known) {
            Some(name) => Err(unknown_parameter(name)),
            None => Ok(Self(query)),
        }
    }

    /// An integer from 0 to `largest`.
    pub(crate) fn whole(
        &self,
        name: &'static str,
        default: u32,
        largest: u32,
    ) -> Result<usize, ApiError> {
        let given = match self.0.one(name).map_err(of_query)? {
            None => default,
            Some(text) => decimal::digits_u64(text)
                .ok()
                .and_then(|number| u32::try_from(number).ok())
                .filter(|number| *number <= largest)
                .ok_or_else(|| {
                    let allowed = format!("an integer from 0 to {largest}");
                    invalid_parameter(name, text, &allowed)
                })?,
        };
        Ok(given as usize)
    }

    /// A number of whole units with up to six decimals, at least 0, converted to micros.
    pub(crate) fn micros(&self, name: &'static str) -> Result<Option<u64>, ApiError> {
        const ALLOWED: &str = "a number from 0 to 18446744073709.551615 with at most 6 decimals";
        self.read(name, ALLOWED, |text| decimal::fixed_point(text, 6))
    }

    /// Unix seconds.
    pub(crate) fn seconds(&self, name: &'static str) -> Result<Option<u64>, ApiError> {
        let read = |text: &str| decimal::digits_u64(text).ok();
        self.read(name, "unix seconds", read)
    }

    pub(crate) fn flag(&self, name: &'static str, default: bool) -> Result<bool, ApiError> {
        let read = |text: &str| match text {
            "true" | "1" => Some(true),
            "false" | "0" => Some(false),
            _ => None,
        };
        let given = self.read(name, "true, false, 1 or 0", read)?;
        Ok(given.unwrap_or(default))
    }

    /// One of a fixed set of words.
    pub(crate) fn choice<T: Copy>(
        &self,
        name: &'static str,
        words: &[(&'static str, T)],
    ) -> Result<Option<T>, ApiError> {
        let Some(text) = self.0.one(name).map_err(of_query)? else {
            return Ok(None);
        };
        chosen(name, text, words).map(Some)
    }

    /// A list of words of a fixed set; empty = not given.
    pub(crate) fn choices<T: Copy>(
        &self,
        name: &'static str,
        words: &[(&'static str, T)],
    ) -> Result<Vec<T>, ApiError> {
        let entries = self.list(name)?;
        let chosen = entries.into_iter().map(|text| chosen(name, text, words));
        chosen.collect()
    }

    pub(crate) fn user(&self) -> Result<Option<WalletAddress>, ApiError> {
        const ALLOWED: &str = "an address, 0x and 40 hex digits";
        self.read("user", ALLOWED, ids::address)
    }

    pub(crate) fn required_user(&self) -> Result<WalletAddress, ApiError> {
        self.user()?
            .ok_or(ErrorCode::MissingParameter.with([&"user"]))
    }

    /// `market`: markets in request order, without duplicates.
    pub(crate) fn markets(&self) -> Result<Vec<MarketRef>, ApiError> {
        const ALLOWED: &str = "a condition id, 0x and 64 hex digits, or an asset of the market, \
                               <condition id>:<0 or 1> or a decimal token id";
        self.distinct("market", ALLOWED, MarketRef::parse)
    }

    /// At least one market.
    pub(crate) fn required_markets(&self) -> Result<Vec<MarketRef>, ApiError> {
        let markets = self.markets()?;
        if markets.is_empty() {
            return Err(ErrorCode::MissingParameter.with([&"market"]));
        }
        Ok(markets)
    }

    /// `market`, or event ids under `event`, but not both.
    pub(crate) fn selection(&self, event: &'static str) -> Result<MarketSelection, ApiError> {
        let (markets, events) = (self.markets()?, self.events(event)?);
        match (markets.is_empty(), events.is_empty()) {
            (true, true) => Ok(MarketSelection::All),
            (false, true) => Ok(MarketSelection::Markets(markets)),
            (true, false) => Ok(MarketSelection::Events(events)),
            (false, false) => {
                let why = "market is given too, allowed: one of the two";
                Err(ErrorCode::InvalidParameter.with([&event, &why]))
            }
        }
    }

    /// Event ids in request order, without duplicates.
    fn events(&self, name: &'static str) -> Result<Vec<u64>, ApiError> {
        let read = |text: &str| {
            let id = decimal::digits_u64(text).ok();
            id.filter(|id| *id <= i64::MAX.unsigned_abs())
        };
        self.distinct(name, "an event id, an integer", read)
    }

    /// A list without duplicates, in request order.
    fn distinct<T: PartialEq>(
        &self,
        name: &'static str,
        allowed: &str,
        read: impl Fn(&str) -> Option<T>,
    ) -> Result<Vec<T>, ApiError> {
        let mut entries = Vec::new();
        for text in self.list(name)? {
            let entry = read(text).ok_or_else(|| invalid_parameter(name, text, allowed))?;
            if !entries.contains(&entry) {
                entries.push(entry);
            }
        }
        Ok(entries)
    }

    /// `start` and `end`, unix seconds, both inclusive.
    pub(crate) fn time_range(&self) -> Result<(Option<u64>, Option<u64>), ApiError> {
        let (start, end) = (self.seconds("start")?, self.seconds("end")?);
        if let (Some(start), Some(end)) = (start, end)
            && end < start
        {
            let allowed = format!("a time from start ({start}) on");
            return Err(invalid_parameter("end", &end.to_string(), &allowed));
        }
        Ok((start, end))
    }

    /// A name of at most as many characters as a title.
    pub(crate) fn name(&self, name: &'static str) -> Result<Option<String>, ApiError> {
        self.text(name, MAX_TITLE)
    }

    /// A text of at most `most` characters.
    pub(crate) fn text(&self, name: &'static str, most: usize) -> Result<Option<String>, ApiError> {
        let read = |text: &str| (text.chars().count() <= most).then(|| text.to_owned());
        let allowed = format!("a text of at most {most} characters");
        self.read(name, &allowed, read)
    }

    /// A title filter.
    pub(crate) fn title(&self) -> Result<Option<String>, ApiError> {
        self.name("title")
    }

    /// A parameter parsed with `read`.
    pub(crate) fn read<T>(
        &self,
        name: &'static str,
        allowed: &str,
        read: impl FnOnce(&str) -> Option<T>,
    ) -> Result<Option<T>, ApiError> {
        let Some(text) = self.0.one(name).map_err(of_query)? else {
            return Ok(None);
        };
        let value = read(text).ok_or_else(|| invalid_parameter(name, text, allowed))?;
        Ok(Some(value))
    }

    fn list(&self, name: &'static str) -> Result<Vec<&'q str>, ApiError> {
        let entries = self.0.list(name, MAX_MARKETS, "up to 200");
        let entries = entries.map_err(|error| match (error.code(), error.values()) {
            (ErrorCode::TooManyEntries, [field, count, _]) => {
                let why = format!("{count} entries are not up to {MAX_MARKETS}");
                ErrorCode::InvalidParameter.with([field, &why])
            }
            _ => of_query(error),
        })?;
        // Reject a list without entries (`,`): ignoring it would return unfiltered rows.
        match self.0.all(name).find(|text| !text.is_empty()) {
            Some(text) if entries.is_empty() => Err(invalid_parameter(name, text, "a list")),
            _ => Ok(entries),
        }
    }
}

fn chosen<T: Copy>(
    name: &'static str,
    text: &str,
    words: &[(&'static str, T)],
) -> Result<T, ApiError> {
    let found = words.iter().find(|(word, _)| *word == text);
    found.map(|(_, value)| *value).ok_or_else(|| {
        let words: Vec<_> = words.iter().map(|(word, _)| *word).collect();
        invalid_parameter(name, text, &format!("one of {}", words.join(", ")))
    })
}
