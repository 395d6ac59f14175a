//! Conditions of a statement with the values they are asked with.
//!
//! Whoever asks decides nothing but values: every name of a table, column or index is a constant
//! of this crate.

use rusqlite::Connection;
use rusqlite::types::Value;

use crate::error::CatalogError;
use crate::ids;
use crate::query::{Column, FlagFilter, Order, Page};

/// Rows that are cheaper gathered and sorted than found by walking a whole order. Unit tests have
/// few records, and walk both ways.
const FEW: u64 = if cfg!(test) { 3 } else { 6_000 };

/// A list in the making: `SELECT id FROM table WHERE …` and how to walk it.
pub(super) struct Filter {
    table: &'static str,
    clauses: Vec<String>,
    values: Vec<Value>,
    /// Whether some clause leaves few rows, which an index finds.
    narrow: bool,
}

impl Filter {
    pub(super) fn on(table: &'static str) -> Self {
        Self {
            table,
            clauses: Vec::new(),
            values: Vec::new(),
            narrow: false,
        }
    }

    /// Adds a clause in which each `?` stands for one of the values.
    pub(super) fn clause(
        &mut self,
        clause: impl Into<String>,
        values: impl IntoIterator<Item = Value>,
    ) {
        self.clauses.push(clause.into());
        self.values.extend(values);
    }

    /// Says that a clause leaves few rows, as `rows` tells.
    pub(super) fn leaves(&mut self, rows: u64) {
        self.narrow |= rows <= FEW;
    }

    /// Whether few rows are left so far.
    pub(super) const fn is_narrow(&self) -> bool {
        self.narrow
    }

    /// Adds `column` being one of the values, of which each leaves few rows.
    pub(super) fn one_of(&mut self, column: &str, values: Vec<Value>) {
        self.narrow = true;
        self.clause(format!("{column} IN {}", marks(values.len())), values);
    }

    pub(super) fn flags(&mut self, flags: FlagFilter) {
        for (column, wanted) in [
            ("active", flags.active),
            ("closed", flags.closed),
            ("archived", flags.archived),
        ] {
            if let Some(wanted) = wanted {
                self.clause(format!("{column} = ?"), [Value::from(wanted)]);
            }
        }
    }

    /// The ids of one page.
    ///
    /// Few rows are gathered by the index of what makes them few, and sorted; many are walked in
    /// order along the index of the first column, which holds all that is filtered by.
    pub(super) fn ids(
        mut self,
        connection: &Connection,
        order: &Order,
        page: Page,
    ) -> Result<Vec<i64>, CatalogError> {
        let direction = if order.ascending { "ASC" } else { "DESC" };
        // A unary plus keeps the sort from choosing the index.
        let plus = if self.narrow { "+" } else { "" };
        let mut columns: Vec<String> = Vec::new();
        // Ids differ, so nothing behind one matters.
        for column in order
            .columns
            .iter()
            .take_while(|column| **column != Column::Id)
        {
            columns.push(format!("{plus}{} {direction}", self.column(*column).0));
        }
        columns.push(format!("{plus}id {direction}"));
        let first = order.columns.first().copied().unwrap_or(Column::Id);
        let index = if self.narrow {
            String::new()
        } else {
            format!("INDEXED BY {}_by_{}", self.table, self.column(first).1)
        };
        let condition = if self.clauses.is_empty() {
            String::new()
        } else {
            format!("WHERE {}", self.clauses.join(" AND "))
        };
        let statement = format!(
            "SELECT id FROM {} {index} {condition} ORDER BY {} LIMIT ? OFFSET ?",
            self.table,
            columns.join(", ")
        );
        self.values
            .extend([Value::from(page.limit), Value::from(page.offset)]);
        let mut statement = connection.prepare_cached(&statement)?;
        let rows =
            statement.query_map(rusqlite::params_from_iter(self.values), |row| row.get(0))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// The column of a table, and the word in its index's name.
    fn column(&self, column: Column) -> (&'static str, &'static str) {
        let markets = self.table == "markets";
        match column {
            Column::Id => ("id", "id"),
            Column::Slug => ("slug", "slug"),
            Column::Title if markets => ("question", "title"),
            Column::Title => ("title", "title"),
            Column::StartDate => ("start_date", "start"),
            Column::EndDate => ("end_date", "end"),
            Column::CreationDate if !markets => ("creation_date", "creation"),
            Column::CreatedAt | Column::CreationDate => ("created_at", "created"),
            Column::UpdatedAt => ("updated_at", "updated"),
            Column::Volume => ("volume", "volume"),
            Column::Liquidity => ("liquidity", "liquidity"),
        }
    }
}

/// `(?, ?, …)`
pub(super) fn marks(count: usize) -> String {
    format!("({})", vec!["?"; count].join(", "))
}

/// The ids of the rows with this slug: slugs are not unique.
pub(super) fn ids_of_slug(
    connection: &Connection,
    table: &'static str,
    slug: &str,
) -> Result<Vec<Value>, CatalogError> {
    let statement = format!("SELECT id FROM {table} WHERE slug = ?1");
    let mut statement = connection.prepare_cached(&statement)?;
    let rows = statement.query_map([slug], |row| row.get(0))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// How many events have one of these tags.
pub(super) fn events_of_tags(connection: &Connection, tags: &[Value]) -> Result<u64, CatalogError> {
    let mut statement = connection.prepare_cached("SELECT event_count FROM tags WHERE id = ?1")?;
    let mut count = 0;
    for tag in tags {
        let mut rows = statement.query([tag])?;
        if let Some(row) = rows.next()? {
            count += ids::of_row(row.get(0)?);
        }
    }
    Ok(count)
}
