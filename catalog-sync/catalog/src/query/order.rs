//! `order` and `ascending`.

use serde::{Deserialize, Serialize};

use foretell_wire::parameters;
use foretell_wire::read::query::text_form::Words;

use super::forms::{Flag, MAX_ENTRIES};

/// Sort columns of lists (docs/api/catalog.md §3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Column {
    /// The id.
    Id,
    /// The name in URLs.
    Slug,
    /// `title` of events, `question` of markets; both words work for both.
    Title,
    /// `startDate`
    StartDate,
    /// `endDate`
    EndDate,
    /// `createdAt`
    CreatedAt,
    /// `updatedAt`
    UpdatedAt,
    /// `creationDate` of events; markets lack it and sort by `createdAt`.
    CreationDate,
    /// Traded collateral.
    Volume,
    /// Resting collateral.
    Liquidity,
    /// Traded collateral of a day, as the upstream counted it.
    Volume24hr,
    /// The upstream's measure of how open the answer is.
    Competitive,
    /// Smallest rewarded order of markets; events lack it.
    RewardsMinSize,
}

impl Column {
    /// Whether its values are texts.
    pub(crate) const fn is_text(self) -> bool {
        matches!(self, Self::Slug | Self::Title)
    }
}

const COLUMN: Words<Column> = Words(&[
    ("id", Column::Id),
    ("slug", Column::Slug),
    ("title", Column::Title),
    ("question", Column::Title),
    ("startDate", Column::StartDate),
    ("start_date", Column::StartDate),
    ("endDate", Column::EndDate),
    ("end_date", Column::EndDate),
    ("createdAt", Column::CreatedAt),
    ("created_at", Column::CreatedAt),
    ("updatedAt", Column::UpdatedAt),
    ("updated_at", Column::UpdatedAt),
    ("creationDate", Column::CreationDate),
    ("creation_date", Column::CreationDate),
    ("volume", Column::Volume),
    ("volumeNum", Column::Volume),
    ("volume_num", Column::Volume),
    ("liquidity", Column::Liquidity),
    ("liquidityNum", Column::Liquidity),
    ("liquidity_num", Column::Liquidity),
    ("volume24hr", Column::Volume24hr),
    ("volume_24hr", Column::Volume24hr),
    ("competitive", Column::Competitive),
]);

parameters! {
    /// Sort order of a list: by the columns in turn, then by id, all in one direction. Missing values
    /// sort as the smallest.
    #[derive(Default)]
    pub struct Order: Catalog {
        /// Sort columns, in camelCase or snake_case.
        pub columns: Vec<Column> = list(COLUMN, MAX_ENTRIES) as "order",
        /// Sort ascending.
        pub ascending: bool = or(Flag, "false"),
    }
}

impl Order {
    /// The columns that decide before the id does.
    pub(crate) fn before_id(&self) -> impl Iterator<Item = Column> {
        let columns = self.columns.iter().copied();
        columns.take_while(|column| *column != Column::Id)
    }
}
