//! `foretell catalog list` and `show`: the catalog surface's queries on the command line.

use std::process::ExitCode;

use foretell_catalog::query::{
    EventsQuery, MarketsQuery, OneEventQuery, OneMarketQuery, SeriesQuery, TagsQuery,
};
use foretell_catalog::{Catalog, CatalogError};
use foretell_wire::read::query::Query;
use foretell_wire::read::query::parameters::Parameters;
use serde_json::Value;

use super::arguments::List;
use crate::config::Config;
use crate::exit_codes::REFUSED;
use crate::failure::Failure;
use crate::output::{Output, field, table};

/// `foretell catalog list`
pub(super) fn list(
    config: &Config,
    what: List,
    filters: &[String],
    output: Output,
) -> Result<ExitCode, Failure> {
    let pairs = filters.iter().map(|filter| {
        filter.split_once('=').ok_or_else(|| {
            Failure::new(format!("{filter:?} is not a filter"))
                .hint("NAME=VALUE as on the catalog surface: closed=false, tag=politics, limit=20")
        })
    });
    let query: Query<'_> = pairs.collect::<Result<_, _>>()?;
    let catalog = open(config)?;
    let text = match what {
        List::Events => catalog.events(&of::<EventsQuery>(&query)?),
        List::Markets => catalog.markets(&of::<MarketsQuery>(&query)?),
        List::Series => catalog.series(&of::<SeriesQuery>(&query)?),
        List::Tags => catalog.tags(&of::<TagsQuery>(&query)?),
    };
    let rows = parsed(&text.map_err(refused)?)?;
    output.answer(&rows, |rows| columns(rows, names(what)));
    Ok(ExitCode::SUCCESS)
}

fn of<T: Parameters>(query: &Query<'_>) -> Result<T, Failure> {
    T::read(query).map_err(refused)
}

/// `foretell catalog show`
pub(super) fn show(
    config: &Config,
    name: &str,
    event: bool,
    output: Output,
) -> Result<ExitCode, Failure> {
    let catalog = open(config)?;
    let query = OneEventQuery::default();
    let number = name.parse::<u64>().ok();
    let found = match (event, number) {
        (true, Some(id)) => catalog.event(id, &query),
        (true, None) => catalog.event_by_slug(name, &query),
        (false, _) => market(&catalog, name),
    };
    let record = parsed(&found.map_err(refused)?)?;
    output.answer(&record, fields);
    Ok(ExitCode::SUCCESS)
}

/// Finds a market by id or condition id, else by slug, else the event with that slug.
fn market(catalog: &Catalog, name: &str) -> Result<String, CatalogError> {
    let (of_market, of_event) = (OneMarketQuery::default(), OneEventQuery::default());
    catalog
        .market(name, &of_market)
        .or_else(|error| unless_found(error, || catalog.market_by_slug(name, &of_market)))
        .or_else(|error| unless_found(error, || catalog.event_by_slug(name, &of_event)))
}

fn unless_found(
    error: CatalogError,
    next: impl FnOnce() -> Result<String, CatalogError>,
) -> Result<String, CatalogError> {
    match error {
        CatalogError::NotFound(_) => next(),
        other => Err(other),
    }
}

fn open(config: &Config) -> Result<Catalog, Failure> {
    Catalog::open(&config.catalog_file(), config.catalog.creators()?).map_err(|error| {
        Failure::new(error.to_string())
            .hint("`foretell catalog import FILE` or `foretell up` makes one")
    })
}

fn parsed(text: &str) -> Result<Value, Failure> {
    serde_json::from_str(text).map_err(|error| Failure::new(format!("the catalog: {error}")))
}

fn refused(error: impl std::fmt::Display) -> Failure {
    Failure::new(error.to_string()).code(REFUSED)
}

const fn names(what: List) -> &'static [&'static str] {
    match what {
        List::Events => &["id", "closed", "endDate", "slug", "title"],
        List::Markets => &["id", "closed", "endDate", "slug", "question"],
        List::Series => &["id", "closed", "recurrence", "slug", "title"],
        List::Tags => &["id", "slug", "label"],
    }
}

fn columns(rows: &Value, names: &[&str]) -> String {
    let head = names.iter().map(|name| (*name).to_owned()).collect();
    let mut cells: Vec<Vec<String>> = vec![head];
    for row in rows.as_array().into_iter().flatten() {
        cells.push(names.iter().map(|name| field(row, name)).collect());
    }
    table(&cells)
}

/// The fields of a record; nested lists and objects only by their size.
fn fields(record: &Value) -> String {
    let rows: Vec<Vec<String>> = record
        .as_object()
        .into_iter()
        .flatten()
        .map(|(name, value)| {
            let shown = match value {
                Value::Array(inside) => format!("{} of them", inside.len()),
                _ => field(record, name),
            };
            vec![name.clone(), shown]
        })
        .collect();
    table(&rows)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn lists_are_tables_and_records_are_fields() {
        let rows = json!([{ "id": "1", "slug": "s", "label": "L" }]);
        assert_eq!(
            columns(&rows, names(List::Tags)),
            "id  slug  label\n1   s     L\n"
        );
        let record = json!({ "id": "1", "closed": false, "markets": [{}, {}] });
        assert_eq!(
            fields(&record),
            "id       1\nclosed   false\nmarkets  2 of them\n"
        );
    }
}
