//! Answers with markets.

use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension};

use super::Catalog;
use super::filter::{Filter, events_of_tags, ids_of_slug};
use super::scope::Scope;
use crate::error::{CatalogError, NotFound};
use crate::query::{MarketsQuery, OneQuery};
use crate::{ids, render};

impl Catalog {
    /// `GET /markets`: an array of markets with short event summaries.
    ///
    /// # Errors
    /// What the database said.
    pub fn markets(&self, query: &MarketsQuery) -> Result<String, CatalogError> {
        let scope = self.scope(query.creator.as_deref());
        self.pool.with(|connection| {
            let filter = filter(connection, query, &scope)?;
            let mut markets = Vec::new();
            for id in filter.ids(connection, &query.order, query.page)? {
                markets.extend(market(connection, id, "short")?);
            }
            Ok(render::array(&markets))
        })
    }

    /// `GET /markets/{id}`: a market, by its number or its condition, with full event summaries.
    ///
    /// # Errors
    /// `id not found`; what the database said.
    pub fn market(&self, id: &str, query: &OneQuery) -> Result<String, CatalogError> {
        self.one_market(query, NotFound::Id, |connection| {
            if let Some(condition) = ids::condition(id) {
                return first(
                    connection,
                    "SELECT id FROM markets WHERE condition = ?1 ORDER BY id LIMIT 1",
                    Value::Blob(condition.0.to_vec()),
                );
            }
            let digits = id.bytes().all(|byte| byte.is_ascii_digit());
            Ok(id.parse().ok().filter(|_| digits))
        })
    }

    /// `GET /markets/slug/{slug}`: a market, with full event summaries; of several with one slug,
    /// the newest.
    ///
    /// # Errors
    /// `slug not found`; what the database said.
    pub fn market_by_slug(&self, slug: &str, query: &OneQuery) -> Result<String, CatalogError> {
        self.one_market(query, NotFound::Slug, |connection| {
            newest_of_slug(connection, "markets", slug)
        })
    }

    fn one_market(
        &self,
        query: &OneQuery,
        nothing: NotFound,
        find: impl FnOnce(&Connection) -> Result<Option<i64>, CatalogError>,
    ) -> Result<String, CatalogError> {
        let scope = self.scope(query.creator.as_deref());
        self.pool.with(|connection| {
            let found = match find(connection)? {
                Some(id) if belongs(connection, id, &scope)? => market(connection, id, "base")?,
                _ => None,
            };
            found.ok_or(CatalogError::NotFound(nothing))
        })
    }
}

/// Of several records of a table with one slug, the newest.
pub(super) fn newest_of_slug(
    connection: &Connection,
    table: &'static str,
    slug: &str,
) -> Result<Option<i64>, CatalogError> {
    let statement = format!("SELECT id FROM {table} WHERE slug = ?1 ORDER BY id DESC LIMIT 1");
    first(connection, &statement, Value::Text(slug.to_owned()))
}

fn first(
    connection: &Connection,
    statement: &str,
    value: Value,
) -> Result<Option<i64>, CatalogError> {
    Ok(connection
        .prepare_cached(statement)?
        .query_row([value], |row| row.get(0))
        .optional()?)
}

/// A market with its event in the form `summary` names: a column of `event_texts`.
fn market(
    connection: &Connection,
    id: i64,
    summary: &'static str,
) -> Result<Option<String>, CatalogError> {
    let statement = format!(
        "SELECT json, {summary} FROM market_texts t JOIN markets m ON m.id = t.id
         LEFT JOIN event_texts e ON e.id = m.event_id WHERE t.id = ?1"
    );
    let found: Option<(String, Option<String>)> = connection
        .prepare_cached(&statement)?
        .query_row([id], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    Ok(found.map(|(json, event)| {
        let events = render::array(event.as_slice());
        render::with_fields(&json, &[("events", &events)])
    }))
}

fn belongs(connection: &Connection, id: i64, scope: &Scope) -> Result<bool, CatalogError> {
    let mut filter = Filter::on("markets");
    filter.one_of("id", vec![Value::from(id)]);
    scoped(connection, &mut filter, scope)?;
    let found = filter.ids(connection, &<_>::default(), <_>::default())?;
    Ok(!found.is_empty())
}

/// Made by one of the scope's creators, itself or, where it does not say, by its event.
fn scoped(connection: &Connection, filter: &mut Filter, scope: &Scope) -> Result<(), CatalogError> {
    let Some((own, values)) = scope.condition("creator") else {
        return Ok(());
    };
    // A cross join and a plus keep the few events first, whatever else an index could find.
    let twice = || values.iter().chain(&values).cloned();
    let count = format!(
        "SELECT (SELECT COUNT(*) FROM (SELECT 1 FROM markets WHERE {own} LIMIT {SOME}))
              + (SELECT COUNT(*) FROM (SELECT 1 FROM events e CROSS JOIN markets m ON m.event_id = e.id
                                       WHERE e.{own} LIMIT {SOME}))"
    );
    let made: i64 = connection
        .prepare_cached(&count)?
        .query_row(rusqlite::params_from_iter(twice()), |row| row.get(0))?;
    filter.leaves(ids::of_row(made));
    let clause = if filter.is_narrow() {
        format!(
            "id IN (SELECT id FROM markets WHERE {own}
                    UNION ALL
                    SELECT m.id FROM events e CROSS JOIN markets m ON m.event_id = e.id
                    WHERE e.{own} AND +m.creator IS NULL)"
        )
    } else {
        format!("({own} OR (creator IS NULL AND event_id IN (SELECT id FROM events WHERE {own})))")
    };
    filter.clause(clause, twice());
    Ok(())
}

/// Counted up to here: more is many.
const SOME: u32 = 10_000;

fn filter(
    connection: &Connection,
    query: &MarketsQuery,
    scope: &Scope,
) -> Result<Filter, CatalogError> {
    let mut filter = Filter::on("markets");
    filter.flags(query.flags);
    if let Some(ids) = &query.ids {
        filter.one_of(
            "id",
            ids.iter().map(|id| Value::from(ids::row(*id))).collect(),
        );
    }
    if let Some(slug) = &query.slug {
        filter.one_of("slug", vec![Value::Text(slug.clone())]);
    }
    if let Some(condition) = &query.condition_id {
        filter.one_of("condition", conditions(std::slice::from_ref(condition)));
    }
    if let Some(wanted) = &query.condition_ids {
        filter.one_of("condition", conditions(wanted));
    }
    if let Some(tokens) = &query.clob_token_ids {
        let tokens: Vec<Value> = tokens.iter().cloned().map(Value::Text).collect();
        let found = markets_of_tokens(connection, tokens)?;
        filter.one_of("id", found);
    }
    if let Some(event) = query.event_id {
        filter.one_of("event_id", vec![Value::from(ids::row(event))]);
    }
    if let Some(slug) = &query.event_slug {
        filter.one_of("event_id", ids_of_slug(connection, "events", slug)?);
    }
    if let Some(tag) = query.tag_id {
        tagged(connection, &mut filter, vec![Value::from(ids::row(tag))])?;
    }
    if let Some(slug) = &query.tag_slug {
        tagged(
            connection,
            &mut filter,
            ids_of_slug(connection, "tags", slug)?,
        )?;
    }
    scoped(connection, &mut filter, scope)?;
    Ok(filter)
}

/// Conditions as the table keeps them; what is none matches nothing.
fn conditions(texts: &[String]) -> Vec<Value> {
    let blob = |text: &String| ids::condition(text).map(|id| Value::Blob(id.0.to_vec()));
    texts.iter().filter_map(blob).collect()
}

fn markets_of_tokens(
    connection: &Connection,
    tokens: Vec<Value>,
) -> Result<Vec<Value>, CatalogError> {
    let mut statement =
        connection.prepare_cached("SELECT market_id FROM market_tokens WHERE token = ?1")?;
    let mut markets = Vec::new();
    for token in tokens {
        let rows = statement.query_map([token], |row| row.get(0))?;
        markets.extend(rows.collect::<Result<Vec<Value>, _>>()?);
    }
    Ok(markets)
}

/// Of an event with one of these tags.
fn tagged(
    connection: &Connection,
    filter: &mut Filter,
    tags: Vec<Value>,
) -> Result<(), CatalogError> {
    let events = events_of_tags(connection, &tags)?;
    filter.leaves(events.saturating_mul(MARKETS_OF_AN_EVENT));
    let marks = super::filter::marks(tags.len());
    let clause = if filter.is_narrow() {
        format!("event_id IN (SELECT event_id FROM event_tags WHERE tag_id IN {marks})")
    } else {
        format!(
            "EXISTS (SELECT 1 FROM event_tags t
                     WHERE t.event_id = markets.event_id AND t.tag_id IN {marks})"
        )
    };
    filter.clause(clause, tags);
    Ok(())
}

/// Roughly.
const MARKETS_OF_AN_EVENT: u64 = 4;
