//! Resolves markets by condition id or slug.

use std::collections::HashMap;

use foretell_operator_client::OperatorClient;
use foretell_wire::operator::MarketRow;

use crate::exit_codes::REFUSED;
use crate::failure::Failure;
use crate::output::shown;

/// The condition id of a market, as text. A name in the form of a condition id is not looked up: the
/// exchange validates it.
///
/// # Errors
/// The surface cannot be reached, or the slug matches no market or several.
pub(super) async fn condition_id(client: &OperatorClient, name: &str) -> Result<String, Failure> {
    if name.starts_with("0x") {
        return Ok(name.to_owned());
    }
    let listed = client.markets("").await?;
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
