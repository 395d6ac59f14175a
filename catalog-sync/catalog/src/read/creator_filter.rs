//! The `creator` filter of requests.

use foretell_model::WalletAddress;

use super::Sites;

/// All records, or those of some wallets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum CreatorFilter {
    /// No `creator` was given.
    All,
    /// These creators; empty for an unknown site.
    Creators(Vec<WalletAddress>),
}

impl CreatorFilter {
    /// Reads `creator`: an address, or the name of a configured site.
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
