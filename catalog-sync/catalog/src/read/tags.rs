//! Answers with tags.

use rusqlite::Connection;
use rusqlite::types::Value;

use super::filter::Filter;
use super::markets::newest_of_slug;
use super::scope::Scope;
use super::{Catalog, texts};
use crate::error::{CatalogError, NotFound};
use crate::query::{OneQuery, Page, TagsQuery};
use crate::{ids, render};

const JSON: &str = "SELECT json FROM tags WHERE id = ?1";

impl Catalog {
    /// `GET /tags`: an array of tags.
    ///
    /// # Errors
    /// What the database said.
    pub fn tags(&self, query: &TagsQuery) -> Result<String, CatalogError> {
        let scope = self.scope(query.creator.as_deref());
        self.pool.with(|connection| {
            let mut filter = Filter::on("tags");
            scoped(&mut filter, &scope);
            filter.leaves(0);
            let ids = filter.ids(connection, &<_>::default(), query.page)?;
            Ok(render::array(&texts(connection, JSON, &ids)?))
        })
    }

    /// `GET /tags/{id}`: a tag.
    ///
    /// # Errors
    /// `id not found`; what the database said.
    pub fn tag(&self, id: u64, query: &OneQuery) -> Result<String, CatalogError> {
        let scope = self.scope(query.creator.as_deref());
        self.pool
            .with(|connection| one(connection, Some(ids::row(id)), &scope, NotFound::Id))
    }

    /// `GET /tags/slug/{slug}`: a tag; of several with one slug, the newest.
    ///
    /// # Errors
    /// `slug not found`; what the database said.
    pub fn tag_by_slug(&self, slug: &str, query: &OneQuery) -> Result<String, CatalogError> {
        let scope = self.scope(query.creator.as_deref());
        self.pool.with(|connection| {
            let id = newest_of_slug(connection, "tags", slug)?;
            one(connection, id, &scope, NotFound::Slug)
        })
    }
}

fn one(
    connection: &Connection,
    id: Option<i64>,
    scope: &Scope,
    nothing: NotFound,
) -> Result<String, CatalogError> {
    let mut filter = Filter::on("tags");
    filter.one_of("id", id.map(Value::from).into_iter().collect());
    scoped(&mut filter, scope);
    let ids = filter.ids(connection, &<_>::default(), Page::default())?;
    let found = texts(connection, JSON, &ids)?.pop();
    found.ok_or(CatalogError::NotFound(nothing))
}

/// Of an event in scope.
fn scoped(filter: &mut Filter, scope: &Scope) {
    if let Some((made, values)) = scope.condition("creator") {
        filter.clause(
            format!(
                "EXISTS (SELECT 1 FROM event_tags t JOIN event_creators USING (event_id)
                         WHERE t.tag_id = tags.id AND {made})"
            ),
            values,
        );
    }
}
