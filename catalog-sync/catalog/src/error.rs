//! What can go wrong between a caller and the catalog.

use std::path::PathBuf;

use thiserror::Error;

/// A refusal of a request, or a failure of the database.
#[derive(Debug, Error)]
pub enum CatalogError {
    /// The request is wrong: 400, `{"type": "bad request", "error": …}`.
    #[error("{0}")]
    BadRequest(String),
    /// Nothing has that name: 404, `{"type": "not found error", "error": …}`.
    #[error("{0} not found")]
    NotFound(NotFound),
    /// There is no catalog at this place yet.
    #[error("no catalog at {}", .0.display())]
    Missing(PathBuf),
    /// Written by a newer build.
    #[error(
        "the catalog has schema {found}, this build knows up to {known}: use the build that wrote it"
    )]
    NewerSchema {
        /// What the file says.
        found: i64,
        /// What this build knows.
        known: i64,
    },
    /// Made by an older build: whoever writes the catalog brings it up to date.
    #[error("the catalog has schema {found}, this build needs {needed}: start catalog-sync once")]
    OlderSchema {
        /// What the file says.
        found: i64,
        /// What this build needs.
        needed: i64,
    },
    /// What lists are made with is still being read into memory.
    #[error("the catalog is being read into memory: ask again in a few seconds")]
    Reading,
    /// The database failed.
    #[error("catalog database: {0}")]
    Database(#[from] rusqlite::Error),
    /// A file of records could not be read.
    #[error("reading records: {0}")]
    Input(#[from] std::io::Error),
}

/// What was looked for in vain; the word stands in the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotFound {
    /// `slug not found`
    Slug,
    /// `id not found`
    Id,
}

impl core::fmt::Display for NotFound {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(match self {
            Self::Slug => "slug",
            Self::Id => "id",
        })
    }
}

impl CatalogError {
    /// The HTTP status of the answer: 400, 404, 500, or 503 while the catalog is not there or not read yet.
    #[must_use]
    pub const fn status(&self) -> u16 {
        match self {
            Self::BadRequest(_) => 400,
            Self::NotFound(_) => 404,
            Self::Missing(_)
            | Self::OlderSchema { .. }
            | Self::NewerSchema { .. }
            | Self::Reading => 503,
            Self::Database(_) | Self::Input(_) => 500,
        }
    }

    /// The body of the answer. What the database said is for the log, not for clients.
    #[must_use]
    pub fn body(&self) -> String {
        let (kind, text) = match self {
            Self::BadRequest(text) => ("bad request", text.clone()),
            Self::NotFound(_) => ("not found error", self.to_string()),
            Self::Missing(_) | Self::OlderSchema { .. } | Self::NewerSchema { .. } => {
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
