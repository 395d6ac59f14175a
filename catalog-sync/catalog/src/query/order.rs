//! `order` and `ascending`.

use serde::{Deserialize, Serialize};

use super::parameters::{Parameters, wrong};
use crate::error::CatalogError;

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
    const ALLOWED: &str = "id, slug, startDate, endDate, createdAt, updatedAt, creationDate, \
                           title, question, volume, volumeNum, liquidity, liquidityNum, \
                           volume24hr, competitive, in camelCase or snake_case";

    /// Whether its values are texts.
    pub(crate) const fn is_text(self) -> bool {
        matches!(self, Self::Slug | Self::Title)
    }

    pub(super) fn of(text: &str) -> Option<Self> {
        Some(match text {
            "id" => Self::Id,
            "slug" => Self::Slug,
            "title" | "question" => Self::Title,
            "startDate" | "start_date" => Self::StartDate,
            "endDate" | "end_date" => Self::EndDate,
            "createdAt" | "created_at" => Self::CreatedAt,
            "updatedAt" | "updated_at" => Self::UpdatedAt,
            "creationDate" | "creation_date" => Self::CreationDate,
            "volume" | "volumeNum" | "volume_num" => Self::Volume,
            "liquidity" | "liquidityNum" | "liquidity_num" => Self::Liquidity,
            "volume24hr" | "volume_24hr" => Self::Volume24hr,
            "competitive" => Self::Competitive,
            _ => return None,
        })
    }
}

/// Sort order of a list: by the columns in turn, then by id, all in one direction. Missing values
/// sort as the smallest.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Order {
    /// Most significant first, each once; empty = by id alone.
    pub columns: Vec<Column>,
    /// Smallest first.
    pub ascending: bool,
}

impl Order {
    /// The columns that decide before the id does.
    pub(crate) fn before_id(&self) -> impl Iterator<Item = Column> {
        let columns = self.columns.iter().copied();
        columns.take_while(|column| *column != Column::Id)
    }

    pub(super) fn of(parameters: &Parameters) -> Result<Self, CatalogError> {
        let mut columns = Vec::new();
        for name in parameters.list("order")?.unwrap_or_default() {
            let column = Column::of(name).ok_or_else(|| wrong("order", name, Column::ALLOWED))?;
            if !columns.contains(&column) {
                columns.push(column);
            }
        }
        Ok(Self {
            columns,
            ascending: parameters.flag("ascending")?.unwrap_or(false),
        })
    }
}
