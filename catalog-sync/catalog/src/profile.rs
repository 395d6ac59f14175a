//! What operators call a wallet (protocol 12).

use foretell_model::WalletAddress;
use rusqlite::{Connection, OptionalExtension, Row, params};

use crate::error::CatalogError;

/// Names and images of a wallet; what is unknown is empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Profile {
    /// Display name.
    pub name: String,
    /// Second name; empty = the caller derives one from the address.
    pub pseudonym: String,
    /// A few words.
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
        connection: &Connection,
        wallet: &WalletAddress,
    ) -> Result<(), CatalogError> {
        connection.execute(
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
