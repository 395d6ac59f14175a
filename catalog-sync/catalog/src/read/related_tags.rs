//! Tags that share event groups with a tag. The upstream's own relations are no records of the
//! catalog.

use foretell_wire::json_text;

use super::Catalog;
use super::one::text_of;
use super::tags::JSON;
use crate::error::{CatalogError, NotFound};
use crate::ids;
use crate::query::{FlagFilter, RelatedQuery};
use crate::render::Array;
use crate::schema::RelatedTag;
use crate::table::{RowSet, Table, WantedFlags};

/// Most related tags of a tag.
const MAX_RELATED: usize = 20;

impl Catalog {
    /// `GET /tags/{id}/related-tags`, `/tags/slug/{slug}/related-tags`: relations, closest first.
    /// With `are_tags` the related tags themselves: `…/related-tags/tags`.
    ///
    /// # Errors
    /// `id not found`, `slug not found`; a database error.
    pub fn related_tags(
        &self,
        tag: &TagName,
        query: RelatedQuery,
        are_tags: bool,
    ) -> Result<String, CatalogError> {
        self.with_table(|connection, table| {
            let (id, nothing) = match tag {
                TagName::Id(id) => (Some(ids::row(*id)), NotFound::Id),
                TagName::Slug(slug) => (
                    super::one::newest_of_slug(connection, "tags", slug)?,
                    NotFound::Slug,
                ),
            };
            let known = id.map(|id| text_of(connection, JSON, id)).transpose()?;
            let (Some(id), Some(_)) = (id, known.flatten()) else {
                return Err(CatalogError::NotFound(nothing));
            };
            let related = related(table, id, query.closed);
            let mut array = Array::of(related.len());
            for ((other, _), rank) in related.into_iter().zip(1..) {
                match are_tags {
                    true => array.push(&text_of(connection, JSON, other)?.unwrap_or_default()),
                    false => array.push(&relation(id, other, rank)),
                }
            }
            Ok(array.end())
        })
    }
}

/// A tag as a path names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TagName {
    /// By id.
    Id(u64),
    /// By slug; of several with one slug, the newest.
    Slug(String),
}

/// The tags that share most event groups with a tag, and how many; ties by lower id.
pub(super) fn related(table: &Table, tag: i64, closed: Option<bool>) -> Vec<(i64, usize)> {
    let wanted = WantedFlags::from(FlagFilter {
        closed,
        ..FlagFilter::default()
    });
    let rows = table.tags.rows_of(tag);
    let events = RowSet::of(rows.filter(|row| table.events.has(*row, wanted)));
    let mut related = table.tags.counts(&events);
    related.retain(|(other, _)| *other != tag);
    related.sort_unstable_by_key(|(other, events)| (usize::MAX - events, *other));
    related.truncate(MAX_RELATED);
    related
}

fn relation(tag: i64, other: i64, rank: u32) -> String {
    json_text(&RelatedTag {
        // Ids are below 2^53, and clients read a number.
        id: (i128::from(tag) << 53 | i128::from(other)).to_string(),
        tag_id: tag,
        related_tag_id: other,
        rank,
    })
}
