//! Resolves markets by condition id or slug.

use std::collections::HashMap;

use serde_json::Value;

use crate::config::Config;
use crate::failure::Failure;
use crate::operator::client::{OperatorClient, REFUSED};
use crate::output::field;
use crate::process;

/// The condition id of a market; text in the form of a condition id is not looked up.
///
/// # Errors
/// The surface cannot be reached, or the slug matches no market or several.
pub(super) fn condition_id(config: &Config, name: &str) -> Result<String, Failure> {
    if name.starts_with("0x") {
        return Ok(name.to_owned());
    }
    let client = OperatorClient::new(config)?;
    let listed = process::small_runtime()?.block_on(client.get("/markets"))?;
    match MarketNames::of(&listed).find(name) {
        Ok(market) => Ok(field(market, "conditionId")),
        Err(problem) => Err(wrong(format!("{name:?}: {problem}")).code(REFUSED)),
    }
}

/// Failure of a command that names unknown or ambiguous markets.
pub(super) fn wrong(problem: String) -> Failure {
    Failure::new(problem)
        .hint("`foretell market list` shows each market's condition id, slug and status")
}

/// The listed markets by lower-case condition id and by slug.
pub(super) struct MarketNames<'a>(HashMap<String, Vec<&'a Value>>);

impl<'a> MarketNames<'a> {
    pub(super) fn of(listed: &'a Value) -> Self {
        let mut by_name: HashMap<String, Vec<&Value>> = HashMap::new();
        for market in listed["markets"].as_array().into_iter().flatten() {
            let condition = field(market, "conditionId").to_lowercase();
            for name in [condition, field(market, "slug")] {
                by_name.entry(name).or_default().push(market);
            }
        }
        Self(by_name)
    }

    pub(super) fn find(&self, name: &str) -> Result<&'a Value, String> {
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
