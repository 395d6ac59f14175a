//! Lists of series and tags: thousands of rows at most, so the database filters and sorts them.

use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};

use crate::error::CatalogError;
use crate::query::{Page, SmallColumn};

/// A statement that selects ids.
pub(super) struct SmallList {
    table: &'static str,
    order: String,
    conditions: Vec<String>,
    values: Vec<Value>,
}

impl SmallList {
    /// All rows of a table; `title` is its column of display names.
    pub(super) fn new(
        [table, title]: [&'static str; 2],
        order: SmallColumn,
        ascending: bool,
    ) -> Self {
        let direction = if ascending { "ASC" } else { "DESC" };
        let column = match order {
            SmallColumn::Id => None,
            SmallColumn::Slug => Some("slug".to_owned()),
            SmallColumn::Title => Some(format!("json ->> '{title}'")),
            // The JSON drops trailing zeros of times, which texts would order wrongly.
            SmallColumn::CreatedAt => Some("unixepoch(json ->> 'createdAt', 'subsec')".to_owned()),
            SmallColumn::UpdatedAt => Some("updated_at".to_owned()),
        };
        let column = column.map(|column| format!("{column} {direction}, "));
        Self {
            table,
            order: format!("{}id {direction}", column.unwrap_or_default()),
            conditions: Vec::new(),
            values: Vec::new(),
        }
    }

    /// Adds a condition; `?` stands for the values in turn.
    pub(super) fn and(&mut self, condition: &str, values: impl IntoIterator<Item = Value>) {
        self.conditions.push(condition.to_owned());
        self.values.extend(values);
    }

    /// Adds a condition that `expression` equals one of the texts; `?` ends the expression.
    pub(super) fn and_one_of(&mut self, column: &str, texts: &[String]) {
        let list = serde_json::Value::from(texts).to_string();
        let condition = format!("{column} IN (SELECT value FROM json_each(?))");
        self.and(&condition, [Value::Text(list)]);
    }

    /// Keeps these ids only.
    pub(super) fn only(&mut self, ids: &[i64]) {
        let list = serde_json::Value::from(ids).to_string();
        self.and(
            "id IN (SELECT value FROM json_each(?))",
            [Value::Text(list)],
        );
    }

    /// The ids of a page.
    pub(super) fn page(
        &self,
        connection: &Connection,
        page: Page,
    ) -> Result<Vec<i64>, CatalogError> {
        let conditions = match self.conditions.is_empty() {
            true => "1".to_owned(),
            false => self.conditions.join(" AND "),
        };
        let Self { table, order, .. } = self;
        let statement =
            format!("SELECT id FROM {table} WHERE {conditions} ORDER BY {order} LIMIT ? OFFSET ?");
        let mut statement = connection.prepare_cached(&statement)?;
        let rows = |rows: usize| Value::Integer(i64::try_from(rows).unwrap_or(i64::MAX));
        let page = [page.limit, page.offset].map(rows);
        let values = self.values.iter().cloned().chain(page);
        let ids = statement.query_map(params_from_iter(values), |row| row.get(0))?;
        Ok(ids.collect::<Result<_, _>>()?)
    }
}
