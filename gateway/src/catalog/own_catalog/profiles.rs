//! Profiles of wallets in the catalog: its row of a wallet, with the fields that the journal has.

use foretell_catalog::{CatalogError, Profile, Writer};
use foretell_model::{Sequence, WalletAddress, words};
use foretell_view::View;

use crate::catalog::catalog_pool::CatalogPool;

/// A wallet and its words.
pub(crate) type Described = (WalletAddress, Box<[u8]>);

/// The profiles that changed after a sequence.
pub(crate) fn changed_profiles(view: &View, written: Sequence) -> Vec<Described> {
    let profiles = view.profiles().iter();
    profiles
        .filter(|(_, profile)| profile.changed > written)
        .map(|(wallet, profile)| (*wallet, profile.words.clone()))
        .collect()
}

/// Writes the profiles whose rows differ.
pub(crate) fn put(
    writer: &mut Writer,
    pool: &CatalogPool,
    changed: &[Described],
) -> Result<(), CatalogError> {
    let catalog = pool.catalog()?;
    for (wallet, words) in changed {
        let known = catalog.profile(wallet)?;
        let profile = edited(known.clone().unwrap_or_else(shown), words);
        if known.as_ref() != Some(&profile) {
            writer.set_profile(wallet, &profile)?;
        }
    }
    Ok(())
}

/// A new profile: its name is shown.
fn shown() -> Profile {
    Profile {
        display_username_public: true,
        ..Profile::default()
    }
}

/// The profile with the fields that an operator edited; the others stay.
fn edited(mut profile: Profile, words: &[u8]) -> Profile {
    for (name, value) in words::parts(words).1 {
        let text = match name {
            b"name" => &mut profile.name,
            b"pseudonym" => &mut profile.pseudonym,
            b"bio" => &mut profile.bio,
            b"image" => &mut profile.image,
            b"image_optimized" => &mut profile.image_optimized,
            b"public" => {
                profile.display_username_public = value == b"true";
                continue;
            }
            _ => continue,
        };
        *text = serde_json::from_slice(value).unwrap_or_default();
    }
    profile
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_takes_the_fields_of_the_journal() {
        let earlier = Profile {
            name: "Ann".into(),
            bio: "rain".into(),
            ..shown()
        };
        let words = b"\0bio\0\"sun \\u00e9\"\0colour\0\"red\"\0public\0false";
        let profile = edited(earlier, words);
        assert_eq!(
            (profile.name.as_str(), profile.bio.as_str()),
            ("Ann", "sun é")
        );
        assert!(!profile.display_username_public);
        assert!(edited(shown(), b"").display_username_public);
    }
}
