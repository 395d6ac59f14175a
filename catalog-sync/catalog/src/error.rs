//! Errors of catalog calls.

use std::path::PathBuf;

use thiserror::Error;

/// A rejected request or a database error.
#[derive(Debug, Error)]
pub enum CatalogError {
    /// Invalid request: 400, `{"type": "bad request", "error": …}`.
    #[error("{0}")]
    BadRequest(String),
    /// No record has that name: 404, `{"type": "not found error", "error": …}`.
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
    #[error("the catalog is being read into memory: ask again in a few seconds")]
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
    /// The HTTP status: 400, 404, 500, or 503 while the catalog does not exist or is not loaded.
    #[must_use]
    pub const fn status(&self) -> u16 {
        match self {
            Self::BadRequest(_) => 400,
            Self::NotFound(_) => 404,
            Self::Missing(_) | Self::OtherSchema { .. } | Self::Reading => 503,
            Self::Database(_) | Self::Input(_) => 500,
        }
    }

    /// The body of the answer. Database messages go to the log, not to clients.
    #[must_use]
    pub fn body(&self) -> String {
        let (kind, text) = match self {
            Self::BadRequest(text) => ("bad request", text.clone()),
            Self::NotFound(_) => ("not found error", self.to_string()),
            Self::Missing(_) | Self::OtherSchema { .. } => {
                ("unavailable", "the catalog is not there yet".to_owned())
            }
            Self::Reading => ("unavailable", self.to_string()),
            Self::Database(_) | Self::Input(_) => {
                ("internal error", "the catalog could not be read".to_owned())
            }
        };
        serde_json::json!({ "type": kind, "error": text }).to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies_have_the_surface_s_shape() {
        let wrong = CatalogError::BadRequest("q is required".into());
        assert_eq!(wrong.status(), 400);
        assert_eq!(
            wrong.body(),
            r#"{"type":"bad request","error":"q is required"}"#
        );
        let nothing = CatalogError::NotFound(NotFound::Slug);
        assert_eq!(nothing.status(), 404);
        assert_eq!(
            nothing.body(),
            r#"{"type":"not found error","error":"slug not found"}"#
        );
        let failed = CatalogError::Database(rusqlite::Error::QueryReturnedNoRows);
        assert_eq!(failed.status(), 500);
        assert!(!failed.body().contains("rows"));
    }
}
