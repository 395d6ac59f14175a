//! Requests and answers for one page of a list.

use std::fmt;

use foretell_catalog::import::Records;
use foretell_catalog::record::{Skip, SkipReason, read_date};
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::Value;

use super::UpstreamError;
use crate::limits::MAX_PAGE_ROWS;
use crate::resource::Resource;

/// Order of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListOrder {
    /// By id, oldest first: new rows are appended and shift no others.
    Oldest,
    /// By `updatedAt`, newest first.
    LastUpdated,
}

/// The request for a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageRequest {
    /// The list.
    pub resource: Resource,
    /// The order.
    pub order: ListOrder,
    /// Most rows.
    pub limit: u64,
    /// Rows to skip.
    pub offset: u64,
}

impl fmt::Display for PageRequest {
    /// Writes path and query relative to the base URL.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (order, ascending) = match self.order {
            ListOrder::Oldest => ("id", true),
            ListOrder::LastUpdated => ("updatedAt", false),
        };
        let Self {
            resource,
            limit,
            offset,
            ..
        } = self;
        write!(
            f,
            "{}?limit={limit}&offset={offset}&order={order}&ascending={ascending}",
            resource.name()
        )
    }
}

/// One row of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageRow {
    /// Its id as text, empty without one.
    pub id: String,
    /// Its `updatedAt`, if readable.
    pub updated: Option<Timestamp>,
    /// The record's JSON, or why it is unusable.
    pub content: Result<Vec<u8>, Skip>,
}

/// The rows of one answer in their original order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UpstreamPage {
    /// The rows.
    pub rows: Vec<PageRow>,
    /// Bytes of the answer.
    pub bytes: u64,
}

impl UpstreamPage {
    /// Parses the body of an answer: an array, or an object that wraps one. Ignores rows beyond
    /// [`MAX_PAGE_ROWS`]; the next page has them.
    ///
    /// # Errors
    /// Truncated, or not a list: all rows are discarded.
    pub fn read(url: &str, body: &[u8]) -> Result<Self, UpstreamError> {
        let broken = |reason: &str| UpstreamError::Broken {
            url: url.to_owned(),
            reason: reason.to_owned(),
        };
        let text = body.trim_ascii();
        if !matches!(text.first(), Some(b'[' | b'{')) {
            return Err(broken("it is no list"));
        }
        let records = Records::open(body).map_err(|error| broken(&error.to_string()))?;
        let mut rows = Vec::new();
        for record in records.take(MAX_PAGE_ROWS) {
            match record.map_err(|error| broken(&error.to_string()))? {
                Ok(record) if record.json == text => return Err(broken("it is no list")),
                Ok(record) => rows.push(PageRow::of(record.json)),
                Err(skip) if skip.reason == SkipReason::CutOff => {
                    return Err(broken("it ends too early"));
                }
                Err(skip) => rows.push(PageRow {
                    id: String::new(),
                    updated: None,
                    content: Err(skip),
                }),
            }
        }
        let bytes = u64::try_from(body.len()).unwrap_or(u64::MAX);
        Ok(Self { rows, bytes })
    }
}

impl PageRow {
    fn of(json: Vec<u8>) -> Self {
        // Ignore invalid JSON here; storing the record reports it.
        let known: PagingFields = serde_json::from_slice(&json).unwrap_or_default();
        Self {
            id: id_text(&known.id),
            updated: known.updated_at.as_str().and_then(read_date),
            content: Ok(json),
        }
    }
}

/// The fields of a record that paging uses.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct PagingFields {
    id: Value,
    updated_at: Value,
}

fn id_text(id: &Value) -> String {
    match id {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_a_path_and_a_query() {
        let request = PageRequest {
            resource: Resource::Events,
            order: ListOrder::LastUpdated,
            limit: 100,
            offset: 90,
        };
        let oldest = PageRequest {
            order: ListOrder::Oldest,
            ..request
        };
        assert_eq!(
            request.to_string(),
            "events?limit=100&offset=90&order=updatedAt&ascending=false"
        );
        assert_eq!(
            oldest.to_string(),
            "events?limit=100&offset=90&order=id&ascending=true"
        );
    }

    #[test]
    fn rows_keep_what_paging_needs_and_the_record_whole() {
        let body = r#"[{"id":"7","updatedAt":"2026-02-08T10:00:00.5Z"},{"id":8,"updatedAt":null},{"x":1},3]"#;
        let rows = UpstreamPage::read("u", body.as_bytes()).unwrap().rows;
        let ids: Vec<_> = rows.iter().map(|row| row.id.as_str()).collect();
        assert_eq!(ids, ["7", "8", "", ""]);
        let time: Timestamp = "2026-02-08T10:00:00.5Z".parse().unwrap();
        assert_eq!(rows[0].updated, Some(time));
        assert_eq!(rows[1].updated, None);
        assert!(rows[3].content.is_err());
        assert_eq!(rows[2].content.as_deref(), Ok(br#"{"x":1}"#.as_slice()));
    }

    #[test]
    fn a_page_of_many_rows_is_read_in_part() {
        let body = format!("[{}{{}}]", "{},".repeat(MAX_PAGE_ROWS + 5));
        let page = UpstreamPage::read("u", body.as_bytes()).unwrap();
        assert_eq!(page.rows.len(), MAX_PAGE_ROWS);
        assert_eq!(page.bytes, u64::try_from(body.len()).unwrap());
    }

    #[test]
    fn half_a_page_is_no_page() {
        for body in [
            "[{\"id\":\"7\"},{\"id\":",
            "[{\"id\":\"7\"}",
            "",
            "  ",
            "OK",
            "{\"error\":\"maintenance\"}",
        ] {
            let error = UpstreamPage::read("u", body.as_bytes()).unwrap_err();
            assert!(error.is_transient(), "{body}: {error}");
        }
        for body in ["[]", "{\"data\":[]}"] {
            assert_eq!(UpstreamPage::read("u", body.as_bytes()).unwrap().rows, []);
        }
    }
}
