//! `GET /series`, `GET /tags`, and the endpoints that answer with one record.

use super::filters::{Page, owned};
use super::parameters::Parameters;
use crate::error::CatalogError;

macro_rules! page_and_creator {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Default, PartialEq, Eq)]
        pub struct $name {
            /// Which part.
            pub page: Page,
            /// By who made one of its events: an address or a site.
            pub creator: Option<String>,
        }

        impl $name {
            /// Reads them.
            ///
            /// # Errors
            /// [`CatalogError::BadRequest`] names the parameter, its value and what is allowed.
            pub fn of(parameters: &Parameters) -> Result<Self, CatalogError> {
                parameters.only(&["limit", "offset", "creator"])?;
                Ok(Self {
                    page: Page::of(parameters)?,
                    creator: owned(parameters, &["creator"])?,
                })
            }
        }
    };
}
page_and_creator!(
    /// Parameters of `GET /series`.
    SeriesQuery
);
page_and_creator!(
    /// Parameters of `GET /tags`.
    TagsQuery
);

/// Parameters of an endpoint that answers with one record, named in its path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OneQuery {
    /// Only when it belongs to this creator: an address or a site.
    pub creator: Option<String>,
}

impl OneQuery {
    /// Reads them.
    ///
    /// # Errors
    /// [`CatalogError::BadRequest`] names the parameter, its value and what is allowed.
    pub fn of(parameters: &Parameters) -> Result<Self, CatalogError> {
        parameters.only(&["creator"])?;
        Ok(Self {
            creator: owned(parameters, &["creator"])?,
        })
    }
}
