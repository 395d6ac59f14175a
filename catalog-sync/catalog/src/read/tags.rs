//! Answers about tags.

use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension};

use super::creator_filter::CreatorFilter;
use super::one::{One, newest_of_slug, text_of};
use super::small_list::SmallList;
use super::{Catalog, array_of};
use crate::error::{CatalogError, NotFound};
use crate::ids;
use crate::query::{OneTagQuery, TagsQuery};
use crate::render::{self, Array};

pub(super) const JSON: &str = "SELECT json FROM tags WHERE id = ?1";
const STORED: &str = "SELECT json, ifnull(raw -> 'templates', '[]') FROM tags WHERE id = ?1";

impl Catalog {
    /// `GET /tags`: an array of tags.
    ///
    /// # Errors
    /// A database error.
    pub fn tags(&self, query: &TagsQuery) -> Result<String, CatalogError> {
        let mut list = SmallList::new(["tags", "label"], query.order, query.ascending);
        if let Some(is_carousel) = query.is_carousel {
            let is_set = "lower(ifnull(raw ->> 'isCarousel', '')) IN ('1', 'true')";
            list.and(&format!("({is_set}) = ?"), [Value::from(is_carousel)]);
        }
        let answer = |connection: &Connection, list: &SmallList| {
            let ids = list.page(connection, query.page)?;
            if !query.include_template {
                return array_of(connection, JSON, &ids);
            }
            let mut array = Array::of(ids.len());
            for id in ids {
                array.push(&with_templates(connection, id)?.unwrap_or_default());
            }
            Ok(array.end())
        };
        match self.scope(query.creator.as_deref()) {
            CreatorFilter::All => self.pool.with(|connection| answer(connection, &list)),
            CreatorFilter::Creators(creators) => self.with_table(|connection, table| {
                list.only(&table.tags.keys_of(&table.events_by(&creators)));
                answer(connection, &list)
            }),
        }
    }

    /// `GET /tags/{id}`: a tag.
    ///
    /// # Errors
    /// `id not found`; a database error.
    pub fn tag(&self, id: u64, query: &OneTagQuery) -> Result<String, CatalogError> {
        let find = |_: &Connection| Ok(Some(ids::row(id)));
        self.one_tag(query, NotFound::Id, find)
    }

    /// `GET /tags/slug/{slug}`: a tag; of several with one slug, the newest.
    ///
    /// # Errors
    /// `slug not found`; a database error.
    pub fn tag_by_slug(&self, slug: &str, query: &OneTagQuery) -> Result<String, CatalogError> {
        let find = |connection: &Connection| newest_of_slug(connection, "tags", slug);
        self.one_tag(query, NotFound::Slug, find)
    }

    /// A tag belongs to the owners of its events.
    fn one_tag(
        &self,
        query: &OneTagQuery,
        nothing: NotFound,
        find: impl FnOnce(&Connection) -> Result<Option<i64>, CatalogError>,
    ) -> Result<String, CatalogError> {
        let one = One {
            belongs: |table, creators, id| {
                let events = table.events_by(creators);
                table.tags.rows_of(id).any(|event| events.contains(event))
            },
            query: &query.one,
            nothing,
        };
        self.one(&one, find, |texts, id| match query.include_template {
            true => with_templates(texts.connection, id),
            false => text_of(texts.connection, JSON, id),
        })
    }
}

/// A tag with the templates of its original record.
fn with_templates(connection: &Connection, id: i64) -> Result<Option<String>, CatalogError> {
    Ok(connection
        .prepare_cached(STORED)?
        .query_row([id], |row| {
            let [json, templates] = [row.get_ref(0)?, row.get_ref(1)?];
            let templates = templates.as_str().unwrap_or("[]");
            let json = json.as_str().unwrap_or("{}");
            Ok(render::with_fields(json, &[("templates", templates)]))
        })
        .optional()?)
}
