//! `creator`: whose part of the catalog is asked for.

use foretell_model::WalletAddress;

use super::Sites;

/// Everything, or what these wallets made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Scope {
    /// No `creator` was given.
    All,
    /// These, possibly none: an unknown site has no creators.
    Creators(Vec<WalletAddress>),
}

impl Scope {
    /// Reads `creator`: an address, or the name of a site that the configuration knows.
    pub(super) fn of(creator: Option<&str>, sites: &Sites) -> Self {
        let Some(creator) = creator else {
            return Self::All;
        };
        let mut address = [0; 20];
        let digits = creator.strip_prefix("0x").unwrap_or_default();
        if hex::decode_to_slice(digits, &mut address).is_ok() {
            return Self::Creators(vec![WalletAddress(address)]);
        }
        Self::Creators(sites.get(creator).cloned().unwrap_or_default())
    }
}
