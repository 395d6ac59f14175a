//! Requests and answers for one page of a list.

use std::fmt;

use foretell_catalog::import::Records;
use foretell_catalog::record::{Skip, SkipReason, read_date};
use foretell_model::ConditionId;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::UpstreamError;
use crate::limits::{MAX_CURSOR_BYTES, MAX_PAGE_ROWS, PAGE_ROWS};
use crate::resource::List;

/// What upstreams send for the cursor after the last page.
const LAST_CURSORS: [&str; 2] = ["", "LTE="];
/// Most conditions of a request: 81 bytes each in a request line.
pub const NAMED_MARKETS: usize = 40;

/// Order of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListOrder {
    /// By id, oldest first: new rows are appended and shift no others.
    Oldest,
    /// By `updatedAt`, newest first.
    LastUpdated,
}

/// Where a page begins.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Position {
    /// After the row of this cursor; `None` = at the beginning.
    Cursor(Option<String>),
    /// After this number of rows.
    Offset(u64),
}

/// The request for a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageRequest {
    /// The list.
    pub list: List,
    /// The order.
    pub order: ListOrder,
    /// Most rows.
    pub limit: u64,
    /// The beginning of the page.
    pub position: Position,
}

impl fmt::Display for PageRequest {
    /// Writes path and query relative to the base URL.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (order, ascending) = match self.order {
            ListOrder::Oldest => ("id", true),
            ListOrder::LastUpdated => ("updatedAt", false),
        };
        f.write_str(self.list.resource.name())?;
        match &self.position {
            Position::Offset(offset) => write!(f, "?limit={}&offset={offset}", self.limit)?,
            Position::Cursor(cursor) => {
                write!(f, "/keyset?limit={}", self.limit)?;
                if let Some(cursor) = cursor {
                    write!(f, "&after_cursor={}", encoded(cursor))?;
                }
            }
        }
        write!(f, "&order={order}&ascending={ascending}")?;
        match self.list.closed {
            Some(closed) => write!(f, "&closed={closed}"),
            None => Ok(()),
        }
    }
}

/// The request for markets by condition.
#[derive(Clone, Debug)]
pub struct MarketsRequest<'c> {
    /// The conditions, up to [`NAMED_MARKETS`].
    pub conditions: &'c [ConditionId],
    /// The value of `closed`.
    pub closed: bool,
}

impl fmt::Display for MarketsRequest<'_> {
    /// Writes path and query relative to the base URL.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "markets?limit={PAGE_ROWS}&closed={}", self.closed)?;
        let mut conditions = self.conditions.iter();
        conditions.try_for_each(|condition| write!(f, "&condition_ids={condition}"))
    }
}

/// A value of a query, with every byte encoded that has a meaning there.
fn encoded(text: &str) -> String {
    let mut value = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'-' | b'_' | b'.' | b'~' => value.push(char::from(byte)),
            byte if byte.is_ascii_alphanumeric() => value.push(char::from(byte)),
            byte => value.push_str(&format!("%{byte:02X}")),
        }
    }
    value
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
    /// Whether it is an object around the list, as pages by cursor are.
    pub is_wrapped: bool,
    /// The cursor of the next page; `None` on the last page.
    pub next_cursor: Option<String>,
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
        let is_wrapped = text.first() == Some(&b'{');
        let next_cursor = match is_wrapped {
            true => next_cursor(text).map_err(|error| broken(&error.to_string()))?,
            false => None,
        };
        if let Some(length) = next_cursor.as_ref().map(String::len)
            && length > MAX_CURSOR_BYTES
        {
            let reason =
                format!("its cursor has {length} bytes, at most {MAX_CURSOR_BYTES} are allowed");
            return Err(broken(&reason));
        }
        Ok(Self {
            rows,
            is_wrapped,
            next_cursor,
            bytes: u64::try_from(body.len()).unwrap_or(u64::MAX),
        })
    }
}

fn next_cursor(page: &[u8]) -> serde_json::Result<Option<String>> {
    #[derive(Deserialize)]
    struct Wrapper {
        #[serde(default)]
        next_cursor: Value,
    }
    let is_next = |cursor: &String| !LAST_CURSORS.contains(&cursor.as_str());
    Ok(match serde_json::from_slice::<Wrapper>(page)?.next_cursor {
        Value::String(cursor) => Some(cursor).filter(is_next),
        _ => None,
    })
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
    use crate::resource::Resource;

    #[test]
    fn a_request_is_a_path_and_a_query() {
        let text = |resource, closed, order, position| {
            let request = PageRequest {
                list: List::of(resource, closed),
                order,
                limit: 100,
                position,
            };
            request.to_string()
        };
        assert_eq!(
            text(
                Resource::Tags,
                None,
                ListOrder::Oldest,
                Position::Offset(90)
            ),
            "tags?limit=100&offset=90&order=id&ascending=true"
        );
        let open = Some(false);
        assert_eq!(
            text(
                Resource::Events,
                open,
                ListOrder::LastUpdated,
                Position::Cursor(None)
            ),
            "events/keyset?limit=100&order=updatedAt&ascending=false&closed=false"
        );
        let cursor = Position::Cursor(Some("a+/=&Z_".into()));
        assert_eq!(
            text(Resource::Markets, Some(true), ListOrder::Oldest, cursor),
            "markets/keyset?limit=100&after_cursor=a%2B%2F%3D%26Z_&order=id&ascending=true&closed=true"
        );
        let named = MarketsRequest {
            conditions: &[ConditionId([1; 32]), ConditionId([2; 32])],
            closed: true,
        };
        let [one, two] = ["01".repeat(32), "02".repeat(32)];
        assert_eq!(
            named.to_string(),
            format!("markets?limit=100&closed=true&condition_ids=0x{one}&condition_ids=0x{two}")
        );
    }

    #[test]
    fn a_page_names_the_next() {
        for (body, wrapped, next) in [
            (
                r#"{"events":[{"id":"1"}],"next_cursor":"abc"}"#,
                true,
                Some("abc"),
            ),
            (r#"{"next_cursor":"abc","markets":[]}"#, true, Some("abc")),
            (
                r#"{"data":[{"id":1,"next_cursor":"x"}],"next_cursor":null}"#,
                true,
                None,
            ),
            (r#"{"data":[],"next_cursor":""}"#, true, None),
            (r#"{"data":[],"next_cursor":"LTE="}"#, true, None),
            (r#"[{"id":"1","next_cursor":"x"}]"#, false, None),
        ] {
            let page = UpstreamPage::read("u", body.as_bytes()).unwrap();
            assert_eq!(
                (page.is_wrapped, page.next_cursor.as_deref()),
                (wrapped, next),
                "{body}"
            );
        }
        // What comes back in the next request and in log lines is bounded.
        for (length, is_taken) in [(2_048, true), (2_049, false), (3_000_000, false)] {
            let cursor = "c".repeat(length);
            let body = format!(r#"{{"events":[],"next_cursor":"{cursor}"}}"#);
            let page = UpstreamPage::read("u", body.as_bytes());
            assert_eq!(page.is_ok(), is_taken, "{length}");
            let text = page.map_or_else(|error| error.to_string(), |_| String::new());
            assert!(text.len() < 200, "{text}");
        }
        // A record inside may nest as deep as it likes.
        let deep = format!("{}1{}", "[".repeat(10_000), "]".repeat(10_000));
        let body = format!(r#"{{"events":[{{"id":1,"x":{deep}}}],"next_cursor":"abc"}}"#);
        let page = UpstreamPage::read("u", body.as_bytes()).unwrap();
        assert_eq!(page.next_cursor.as_deref(), Some("abc"));
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
