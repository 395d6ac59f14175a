//! Wallet profiles from the catalog's file: all of them in memory, reloaded after a change
//! (`catalog_watcher.rs`), so that no request waits for a database.

use std::collections::HashMap;
use std::sync::Arc;

use foldhash::fast::RandomState;
use foretell_catalog::{CatalogError, Profile};
use foretell_model::WalletAddress;
use foretell_wire::data;
use parking_lot::RwLock;

use crate::catalog::catalog_pool::CatalogPool;

type Known = HashMap<WalletAddress, Profile, RandomState>;
/// The wallets of each public name in lower case, ascending.
type Named = HashMap<String, Vec<WalletAddress>, RandomState>;

/// The profiles of the process.
#[derive(Default)]
pub(crate) struct Profiles {
    known: RwLock<(Arc<Known>, Arc<Named>)>,
}

impl Profiles {
    /// A snapshot of the profiles, for the rows of one answer.
    pub(crate) fn texts(&self) -> ProfileTexts {
        let (known, named) = self.known.read().clone();
        ProfileTexts { known, named }
    }

    /// Reloads the profiles from the catalog's file if one changed since version `seen`.
    pub(crate) fn refresh(
        &self,
        pool: &CatalogPool,
        seen: &mut Option<String>,
    ) -> Result<(), CatalogError> {
        if let Some(changed) = pool.catalog()?.profiles(seen.as_deref())? {
            let known = changed.profiles.into_iter().collect();
            let named = named(&known);
            *self.known.write() = (Arc::new(known), Arc::new(named));
            *seen = Some(changed.version);
        }
        Ok(())
    }
}

/// The profiles that the rows of one answer use.
pub(crate) struct ProfileTexts {
    known: Arc<Known>,
    named: Arc<Named>,
}

impl ProfileTexts {
    /// Up to `limit` wallets with this public name, in any case, ascending.
    pub(crate) fn named(&self, name: &str, limit: usize) -> Vec<WalletAddress> {
        let wallets = self.named.get(&name.to_lowercase());
        let wallets = wallets.into_iter().flatten();
        wallets.take(limit).copied().collect()
    }

    /// The profile of a wallet; empty for a wallet without one.
    pub(crate) fn profile(&self, wallet: &WalletAddress) -> data::Profile<'_> {
        profile(&self.known, wallet)
    }
}

/// The wallets by name. A name that is not public finds no wallet.
fn named(known: &Known) -> Named {
    let mut named = Named::default();
    for (wallet, profile) in known {
        if profile.display_username_public && !profile.name.is_empty() {
            let wallets = named.entry(profile.name.to_lowercase()).or_default();
            wallets.push(*wallet);
        }
    }
    named
        .values_mut()
        .for_each(|wallets| wallets.sort_unstable());
    named
}

fn profile<'a>(known: &'a Known, wallet: &WalletAddress) -> data::Profile<'a> {
    let Some(profile) = known.get(wallet) else {
        return data::Profile::default();
    };
    data::Profile {
        // A name that is not public is never shown.
        name: match profile.display_username_public {
            true => &profile.name,
            false => "",
        },
        pseudonym: &profile.pseudonym,
        bio: &profile.bio,
        image: &profile.image,
        image_optimized: &profile.image_optimized,
        is_public: profile.display_username_public,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ANN: WalletAddress = WalletAddress([1; 20]);

    fn known(is_public: bool) -> Known {
        let profile = Profile {
            name: "Ann".to_owned(),
            bio: "trades rain".to_owned(),
            display_username_public: is_public,
            ..Profile::default()
        };
        [(ANN, profile)].into_iter().collect()
    }

    #[test]
    fn a_name_is_shown_when_it_is_public() {
        for (is_public, name) in [(true, "Ann"), (false, "")] {
            let known = known(is_public);
            let shown = profile(&known, &ANN);
            assert_eq!((shown.name, shown.bio), (name, "trades rain"));
            assert_eq!(shown.is_public, is_public);
            let found = named(&known);
            let expected = if is_public { vec![ANN] } else { Vec::new() };
            assert_eq!(found.into_values().flatten().collect::<Vec<_>>(), expected);
        }
    }

    #[test]
    fn nobody_knows_a_stranger() {
        let stranger = profile(&known(true), &WalletAddress([2; 20]))
            .name
            .to_owned();
        assert_eq!(stranger, "");
    }
}
