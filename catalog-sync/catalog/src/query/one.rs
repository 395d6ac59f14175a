//! Endpoints of one record and of what belongs to it.

use foretell_model::WalletAddress;

use super::events::EventExtras;
use super::filters::{Page, owned};
use super::parameters::{Parameters, wrong};
use crate::error::CatalogError;

/// Parameters of an endpoint that returns the record named in its path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OneQuery {
    /// Return it only if it belongs to this creator: an address or a site.
    pub creator: Option<String>,
    /// Whether to add the tags of a market's event.
    pub include_tag: bool,
    /// Stored fields to add to an event or a tag.
    pub extras: EventExtras,
}

impl OneQuery {
    /// Reads the parameters of a market.
    ///
    /// # Errors
    /// [`CatalogError::BadRequest`] names the parameter, its value and the allowed values.
    pub fn of_market(parameters: &Parameters) -> Result<Self, CatalogError> {
        Self::read(parameters, &["include_tag"])
    }

    /// Reads the parameters of an event.
    ///
    /// # Errors
    /// Those of [`Self::of_market`].
    pub fn of_event(parameters: &Parameters) -> Result<Self, CatalogError> {
        Self::read(parameters, &["include_chat", "include_template"])
    }

    /// Reads the parameters of a tag.
    ///
    /// # Errors
    /// Those of [`Self::of_market`].
    pub fn of_tag(parameters: &Parameters) -> Result<Self, CatalogError> {
        Self::read(parameters, &["include_template"])
    }

    /// Reads the parameters of a record without options.
    ///
    /// # Errors
    /// Those of [`Self::of_market`].
    pub fn of(parameters: &Parameters) -> Result<Self, CatalogError> {
        Self::read(parameters, &[])
    }

    fn read(parameters: &Parameters, options: &[&str]) -> Result<Self, CatalogError> {
        parameters.only(&[&["creator", "locale"], options])?;
        parameters.locale()?;
        Ok(Self {
            creator: owned(parameters, &["creator"])?,
            include_tag: parameters.flag("include_tag")?.unwrap_or(false),
            extras: EventExtras::of(parameters)?,
        })
    }
}

/// Parameters of `GET /public-profile`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProfileQuery {
    /// The wallet.
    pub wallet: WalletAddress,
}

impl ProfileQuery {
    /// Reads the parameters.
    ///
    /// # Errors
    /// [`CatalogError::BadRequest`] without an address, or with a wrong one.
    pub fn of(parameters: &Parameters) -> Result<Self, CatalogError> {
        parameters.only(&[&["address"]])?;
        let text = parameters.text(&["address"])?.unwrap_or_default();
        let mut address = [0; 20];
        let digits = text.strip_prefix("0x").unwrap_or_default();
        match hex::decode_to_slice(digits, &mut address) {
            Ok(()) => Ok(Self {
                wallet: WalletAddress(address),
            }),
            Err(_) => Err(wrong("address", text, "0x and 40 hex digits")),
        }
    }
}

/// Parameters of `/tags/…/related-tags`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RelatedQuery {
    /// Count open or closed event groups only: required `closed`.
    pub closed: Option<bool>,
}

impl RelatedQuery {
    /// Reads the parameters. Related tags always have an event group, so `omit_empty` holds for
    /// either value.
    ///
    /// # Errors
    /// [`CatalogError::BadRequest`] names the parameter, its value and the allowed values.
    pub fn of(parameters: &Parameters) -> Result<Self, CatalogError> {
        parameters.only(&[&["omit_empty", "status", "locale"]])?;
        parameters.locale()?;
        parameters.flag("omit_empty")?;
        let status = parameters.word("status", &["active", "closed", "all"])?;
        Ok(Self {
            closed: match status {
                Some("active") => Some(false),
                Some("closed") => Some(true),
                _ => None,
            },
        })
    }
}

/// Parameters of lists of what the exchange does not have: all are checked, none selects a row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EmptyQuery;

impl EmptyQuery {
    /// Reads the parameters of `GET /teams`.
    ///
    /// # Errors
    /// [`CatalogError::BadRequest`] names the parameter, its value and the allowed values.
    pub fn of_teams(parameters: &Parameters) -> Result<Self, CatalogError> {
        const NAMES: &[&str] = &["abbreviation", "league", "name", "provider_id"];
        Self::read(
            parameters,
            &[NAMES, &["limit", "offset", "order", "ascending"]],
        )
    }

    /// Reads the parameters of `GET /comments` and of those of a user.
    ///
    /// # Errors
    /// Those of [`Self::of_teams`].
    pub fn of_comments(parameters: &Parameters) -> Result<Self, CatalogError> {
        const NAMES: &[&str] = &["parent_entity_type", "parent_entity_id", "after_cursor"];
        const FLAGS: &[&str] = &["get_positions", "holders_only"];
        for flag in FLAGS {
            parameters.flag(flag)?;
        }
        let page = &["limit", "offset", "order", "ascending"];
        Self::read(parameters, &[NAMES, FLAGS, page])
    }

    /// Reads the parameters of `GET /sports` and `GET /sports/market-types`, which have none.
    ///
    /// # Errors
    /// Those of [`Self::of_teams`].
    pub fn of(parameters: &Parameters) -> Result<Self, CatalogError> {
        Self::read(parameters, &[&[]])
    }

    fn read(parameters: &Parameters, known: &[&[&str]]) -> Result<Self, CatalogError> {
        parameters.only(known)?;
        Page::of(parameters)?;
        parameters.flag("ascending")?;
        Ok(Self)
    }
}
