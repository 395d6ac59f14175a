//! `GET /series`, `GET /tags`, and the endpoints that return one record.

use super::filters::{Page, owned};
use super::parameters::Parameters;
use crate::error::CatalogError;

macro_rules! page_and_creator {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Default, PartialEq, Eq)]
        pub struct $name {
            /// The page.
            pub page: Page,
            /// Filter by creator of one of its events: an address or a site.
            pub creator: Option<String>,
        }

        impl $name {
            /// Reads the parameters.
            ///
            /// # Errors
            /// [`CatalogError::BadRequest`] names the parameter, its value and the allowed values.
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

/// Parameters of an endpoint that returns the record named in its path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OneQuery {
    /// Return it only if it belongs to this creator: an address or a site.
    pub creator: Option<String>,
}

impl OneQuery {
    /// Reads the parameters.
    ///
    /// # Errors
    /// [`CatalogError::BadRequest`] names the parameter, its value and the allowed values.
    pub fn of(parameters: &Parameters) -> Result<Self, CatalogError> {
        parameters.only(&["creator"])?;
        Ok(Self {
            creator: owned(parameters, &["creator"])?,
        })
    }
}
