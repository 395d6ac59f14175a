//! Operators' profiles of wallets (docs/api/data.md §2).

use foretell_model::WalletAddress;
use rusqlite::{Connection, OptionalExtension, Row, params};

use crate::error::CatalogError;
use crate::sync_state;

/// Names and images of a wallet; unknown fields are empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Profile {
    /// Display name.
    pub name: String,
    /// Second name; empty = the caller derives one from the address.
    pub pseudonym: String,
    /// A short text.
    pub bio: String,
    /// URL.
    pub image: String,
    /// URL.
    pub image_optimized: String,
    /// Whether the name may be shown.
    pub display_username_public: bool,
}

impl Profile {
    pub(crate) fn store(
        &self,
        connection: &mut Connection,
        wallet: &WalletAddress,
    ) -> Result<(), CatalogError> {
        let transaction = connection.transaction()?;
        transaction.execute(
            "INSERT OR REPLACE INTO profiles VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            params![
                wallet.as_bytes(),
                self.name,
                self.pseudonym,
                self.bio,
                self.image,
                self.image_optimized,
                self.display_username_public
            ],
        )?;
        transaction.execute(
            "INSERT INTO sync_state VALUES (?1, '1') ON CONFLICT (key) DO UPDATE
             SET value = CAST(CAST(value AS INTEGER) + 1 AS TEXT)",
            [VERSION],
        )?;
        transaction.commit()?;
        Ok(())
    }

    pub(crate) fn load(
        connection: &Connection,
        wallet: &WalletAddress,
    ) -> Result<Option<Self>, CatalogError> {
        Ok(connection
            .prepare_cached(
                "SELECT name, pseudonym, bio, image, image_optimized, display_username_public
                 FROM profiles WHERE wallet = ?1",
            )?
            .query_row([wallet.as_bytes()], Self::of_row)
            .optional()?)
    }

    fn of_row(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            name: row.get(0)?,
            pseudonym: row.get(1)?,
            bio: row.get(2)?,
            image: row.get(3)?,
            image_optimized: row.get(4)?,
            display_username_public: row.get(5)?,
        })
    }
}

/// Key of the change counter in the table of states.
const VERSION: &str = "profiles";

/// All profiles at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profiles {
    /// Differs after every change.
    pub version: String,
    /// By wallet.
    pub profiles: Vec<(WalletAddress, Profile)>,
}

impl Profiles {
    /// All profiles, or `None` if `seen` is still their version. A profile that changes during the
    /// read is included but counts as unseen, so the next call reads it again.
    pub(crate) fn load(
        connection: &Connection,
        seen: Option<&str>,
    ) -> Result<Option<Self>, CatalogError> {
        let version = sync_state::read(connection, VERSION)?.unwrap_or_default();
        if seen == Some(&version) {
            return Ok(None);
        }
        let mut statement = connection.prepare_cached(
            "SELECT name, pseudonym, bio, image, image_optimized, display_username_public, wallet
             FROM profiles",
        )?;
        let profiles = statement
            .query_map([], |row| {
                Ok((WalletAddress(row.get(6)?), Profile::of_row(row)?))
            })?
            .collect::<Result<_, _>>()?;
        Ok(Some(Self { version, profiles }))
    }
}
