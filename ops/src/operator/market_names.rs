//! Resolves markets by condition id or slug.

use std::collections::HashMap;

use foretell_model::ConditionId;
use foretell_wire::operator::{Condition, MarketRow, PlainForm as _};

use crate::config::Config;
use crate::exit_codes::REFUSED;
use crate::failure::Failure;
use crate::operator::client;
use crate::output::shown;

/// The condition of a market.
///
/// # Errors
/// Those of [`condition_text`], or the text is not a condition id.
pub(super) fn condition_id(config: &Config, name: &str) -> Result<ConditionId, Failure> {
    let text = condition_text(config, name)?;
    Ok(Condition::parse("condition_id", &text)?)
}

/// The condition id of a market; text in the form of a condition id is not looked up.
///
/// # Errors
/// The surface cannot be reached, or the slug matches no market or several.
pub(super) fn condition_text(config: &Config, name: &str) -> Result<String, Failure> {
    if name.starts_with("0x") {
        return Ok(name.to_owned());
    }
    let listed = super::block_on(client::connect(config)?.markets(""))?;
    match MarketNames::of(&listed).find(name) {
        Ok(market) => Ok(market.condition_id.to_string()),
        Err(problem) => Err(wrong(format!("{name:?}: {problem}")).code(REFUSED)),
    }
}

/// Failure of a command that names unknown or ambiguous markets.
pub(super) fn wrong(problem: String) -> Failure {
    Failure::new(problem)
        .hint("`foretell market list` shows each market's condition id, slug and status")
}

/// The listed markets by lower-case condition id and by slug.
pub(super) struct MarketNames<'a>(HashMap<String, Vec<&'a MarketRow>>);

impl<'a> MarketNames<'a> {
    pub(super) fn of(listed: &'a [MarketRow]) -> Self {
        let mut by_name: HashMap<String, Vec<&MarketRow>> = HashMap::new();
        for market in listed {
            for name in [market.condition_id.to_string(), shown(&market.slug)] {
                by_name.entry(name).or_default().push(market);
            }
        }
        Self(by_name)
    }

    pub(super) fn find(&self, name: &str) -> Result<&'a MarketRow, String> {
        let found = self
            .0
            .get(name)
            .or_else(|| self.0.get(&name.to_lowercase()));
        match found.map_or(&[][..], Vec::as_slice) {
            [] => Err("no such market".to_owned()),
            [market] => Ok(market),
            several => Err(format!(
                "{} markets have this slug, name the condition id",
                several.len()
            )),
        }
    }
}
