//! A page of a list: what is asked for, and what came.

use std::fmt;

use foretell_catalog::import::Records;
use foretell_catalog::record::{Skip, SkipReason, read_date};
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::Value;

use super::Failure;
use crate::limits::MAX_PAGE_ROWS;
use crate::resource::Resource;

/// In which order a list is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// By id, oldest first: new rows come at the end and shift nothing.
    Oldest,
    /// By `updatedAt`, newest first.
    LastUpdated,
}

/// What to ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageRequest {
    /// Of which list.
    pub resource: Resource,
    /// In which order.
    pub order: Order,
    /// Rows, at most.
    pub limit: u64,
    /// Rows passed over.
    pub offset: u64,
}

impl fmt::Display for PageRequest {
    /// Path and query below the base URL.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (order, ascending) = match self.order {
            Order::Oldest => ("id", true),
            Order::LastUpdated => ("updatedAt", false),
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
pub struct Row {
    /// Its id as text, empty when it has none.
    pub id: String,
    /// When it was changed last, as far as it can be read.
    pub updated: Option<Timestamp>,
    /// The record's JSON, or why there is none.
    pub content: Result<Vec<u8>, Skip>,
}

/// The rows of one answer, in its order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Page {
    /// The rows.
    pub rows: Vec<Row>,
    /// Bytes of the answer.
    pub bytes: u64,
}

impl Page {
    /// Reads the body of an answer: a bare array, or one wrapped in an object. Rows beyond
    /// [`MAX_PAGE_ROWS`] are left to the next page.
    ///
    /// # Errors
    /// It is no list, or ends before it should: then no row of it counts.
    pub fn read(url: &str, body: &[u8]) -> Result<Self, Failure> {
        let broken = |reason: &str| Failure::Broken {
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
                Ok(record) => rows.push(Row::of(record.json)),
                Err(skip) if skip.reason == SkipReason::CutOff => {
                    return Err(broken("it ends too early"));
                }
                Err(skip) => rows.push(Row {
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

impl Row {
    fn of(json: Vec<u8>) -> Self {
        // Of a record that is not JSON nothing is known here; putting it says what is wrong.
        let known: Known = serde_json::from_slice(&json).unwrap_or_default();
        Self {
            id: id_text(&known.id),
            updated: known.updated_at.as_str().and_then(read_date),
            content: Ok(json),
        }
    }
}

/// What paging itself needs to know of a record.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Known {
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
            order: Order::LastUpdated,
            limit: 100,
            offset: 90,
        };
        let oldest = PageRequest {
            order: Order::Oldest,
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
        let rows = Page::read("u", body.as_bytes()).unwrap().rows;
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
        let page = Page::read("u", body.as_bytes()).unwrap();
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
            let failure = Page::read("u", body.as_bytes()).unwrap_err();
            assert!(failure.is_transient(), "{body}: {failure}");
        }
        for body in ["[]", "{\"data\":[]}"] {
            assert_eq!(Page::read("u", body.as_bytes()).unwrap().rows, []);
        }
    }
}
