//! Query strings, decoded and bounded. [`crate::read::query::parameters`] reads them into structs.

use std::borrow::Cow;

use percent::decode;

use crate::compatibility::Compatibility;
use crate::errors::api_error::ApiError;
use crate::errors::error_code::ErrorCode;
use crate::limits::{MAX_PARAMETERS, MAX_QUERY};

pub mod family;
pub mod fields;
pub mod parameter;
pub mod parameters;
mod percent;
pub mod reader;
pub mod text_form;
pub mod trading;

/// The decoded parameters of a request in their original order. Unencoded text is borrowed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Query<'t> {
    pairs: Vec<(Cow<'t, str>, Cow<'t, str>)>,
    /// Whose forms it is read in.
    pub(crate) compatibility: Compatibility,
}

impl<'t> Query<'t> {
    /// Reads the text after the `?`.
    ///
    /// # Errors
    /// [`ErrorCode::InvalidQuery`]: longer than [`MAX_QUERY`], more than [`MAX_PARAMETERS`], an
    /// incomplete `%`, or invalid UTF-8 after decoding.
    pub fn parse(text: Option<&'t str>) -> Result<Self, ApiError> {
        let text = text.unwrap_or("");
        if text.len() > MAX_QUERY {
            return Err(ErrorCode::InvalidQuery.with([&"longer than 8192 bytes"]));
        }
        let mut parameters = Vec::new();
        for pair in text.split('&').filter(|pair| !pair.is_empty()) {
            if parameters.len() == MAX_PARAMETERS {
                return Err(ErrorCode::InvalidQuery.with([&"more than 200 parameters"]));
            }
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            parameters.push((decode(name)?, decode(value)?));
        }
        Ok(Self {
            pairs: parameters,
            ..Self::default()
        })
    }

    /// All parameters in their original order.
    pub fn pairs(&self) -> impl Iterator<Item = (&str, &str)> {
        let pairs = self.pairs.iter();
        pairs.map(|(name, value)| (&**name, &**value))
    }
}

/// Parameters that are not encoded, such as those of a command line.
impl<'t> FromIterator<(&'t str, &'t str)> for Query<'t> {
    fn from_iter<I: IntoIterator<Item = (&'t str, &'t str)>>(pairs: I) -> Self {
        let pairs = pairs.into_iter();
        Self {
            pairs: pairs
                .map(|(name, value)| (name.into(), value.into()))
                .collect(),
            ..Self::default()
        }
    }
}

#[cfg(test)]
#[path = "query/query_tests.rs"]
mod tests;
