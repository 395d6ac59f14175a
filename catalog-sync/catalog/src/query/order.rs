//! `order` and `ascending`.

use super::parameters::{Parameters, wrong};
use crate::error::CatalogError;

/// Sort columns of lists (docs/api/catalog.md §3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
}

impl Column {
    const ALLOWED: &str = "id, slug, startDate, endDate, createdAt, updatedAt, creationDate, \
                           title, question, volume, liquidity";

    fn of(text: &str) -> Option<Self> {
        Some(match text {
            "id" => Self::Id,
            "slug" => Self::Slug,
            "title" | "question" => Self::Title,
            "startDate" => Self::StartDate,
            "endDate" => Self::EndDate,
            "createdAt" => Self::CreatedAt,
            "updatedAt" => Self::UpdatedAt,
            "creationDate" => Self::CreationDate,
            "volume" => Self::Volume,
            "liquidity" => Self::Liquidity,
            _ => return None,
        })
    }
}

/// Sort order of a list: by the columns in turn, then by id, all in one direction. Missing values
/// sort as the smallest.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Order {
    /// Most significant first; empty = by id alone.
    pub columns: Vec<Column>,
    /// Smallest first.
    pub ascending: bool,
}

impl Order {
    pub(super) fn of(parameters: &Parameters) -> Result<Self, CatalogError> {
        let mut columns = Vec::new();
        let text = parameters.text(&["order"])?.unwrap_or_default();
        for name in text
            .split(',')
            .map(str::trim)
            .filter(|name| !name.is_empty())
        {
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
