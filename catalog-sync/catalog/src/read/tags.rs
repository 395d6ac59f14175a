//! Answers about tags.

use super::creator_filter::CreatorFilter;
use super::one::{RecordAccess, newest_of_slug, text_of};
use super::selection::{newest, newest_of};
use super::{Catalog, array_of};
use crate::error::{CatalogError, NotFound};
use crate::ids;
use crate::query::{OneQuery, TagsQuery};

const JSON: &str = "SELECT json FROM tags WHERE id = ?1";
const NEWEST: &str = "SELECT id FROM tags ORDER BY id DESC LIMIT ?1 OFFSET ?2";

impl Catalog {
    /// `GET /tags`: an array of tags.
    ///
    /// # Errors
    /// A database error.
    pub fn tags(&self, query: &TagsQuery) -> Result<String, CatalogError> {
        match self.scope(query.creator.as_deref()) {
            CreatorFilter::All => self.pool.with(|connection| {
                let ids = newest(connection, NEWEST, query.page)?;
                array_of(connection, JSON, &ids)
            }),
            CreatorFilter::Creators(creators) => self.with_table(|connection, table| {
                let tags = table.tags.keys_of(&table.events_by(&creators));
                array_of(connection, JSON, &newest_of(&tags, query.page))
            }),
        }
    }

    /// `GET /tags/{id}`: a tag.
    ///
    /// # Errors
    /// `id not found`; a database error.
    pub fn tag(&self, id: u64, query: &OneQuery) -> Result<String, CatalogError> {
        self.one(&TAG, query, NotFound::Id, |_| Ok(Some(ids::row(id))))
    }

    /// `GET /tags/slug/{slug}`: a tag; of several with one slug, the newest.
    ///
    /// # Errors
    /// `slug not found`; a database error.
    pub fn tag_by_slug(&self, slug: &str, query: &OneQuery) -> Result<String, CatalogError> {
        self.one(&TAG, query, NotFound::Slug, |connection| {
            newest_of_slug(connection, "tags", slug)
        })
    }
}

/// A tag belongs to the owners of its events.
const TAG: RecordAccess = RecordAccess {
    belongs: |table, creators, id| {
        let events = table.events_by(creators);
        table.tags.rows_of(id).any(|event| events.contains(event))
    },
    text: |connection, id| text_of(connection, JSON, id),
};
