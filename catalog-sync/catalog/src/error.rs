//! Errors of catalog calls.

use std::path::PathBuf;

use foretell_wire::ErrorCode;
use thiserror::Error;

/// Why a call gives no answer.
#[derive(Debug, Error)]
pub enum CatalogError {
    /// No record has that name.
    #[error("{0} not found")]
    NotFound(NotFound),
    /// No catalog file at this path yet.
    #[error("no catalog at {}", .0.display())]
    Missing(PathBuf),
    /// Another build wrote the file, or none yet: a [`crate::Writer`] makes the tables of an empty one.
    #[error(
        "the catalog has schema {found}, this build needs {needed}: use the build that wrote it, or \
         move the file away, start catalog-sync once and set the profiles again"
    )]
    OtherSchema {
        /// Schema version of the file; 0 = empty.
        found: i64,
        /// Version that this build reads and writes.
        needed: i64,
    },
    /// The first table for lists is still being read into memory.
    #[error("the catalog is being read into memory: retry in a few seconds")]
    Reading,
    /// The database failed.
    #[error("catalog database: {0}")]
    Database(#[from] rusqlite::Error),
    /// A file of records could not be read.
    #[error("reading records: {0}")]
    Input(#[from] std::io::Error),
}

/// The missing name; its word is part of the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotFound {
    /// `slug not found`
    Slug,
    /// `id not found`
    Id,
    /// `profile not found`
    Profile,
}

impl core::fmt::Display for NotFound {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(match self {
            Self::Slug => "slug",
            Self::Id => "id",
            Self::Profile => "profile",
        })
    }
}

impl CatalogError {
    /// Its code in answers. What the database said goes to the log, not to clients.
    #[must_use]
    pub const fn code(&self) -> ErrorCode {
        match self {
            Self::NotFound(NotFound::Slug) => ErrorCode::SlugNotFound,
            Self::NotFound(NotFound::Id | NotFound::Profile) => ErrorCode::IdNotFound,
            Self::Missing(_) | Self::OtherSchema { .. } => ErrorCode::CatalogUnavailable,
            Self::Reading => ErrorCode::CatalogLoading,
            Self::Database(_) | Self::Input(_) => ErrorCode::CatalogFailed,
        }
    }
}
