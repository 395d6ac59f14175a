//! Profiles of wallets: the words that operators gave them (docs/verify/rules.md §26).

use std::collections::BTreeMap;

use foretell_model::codec::stored;
use foretell_model::{Sequence, WalletAddress, words};

stored! {
    /// The profile of a wallet.
    #[derive(Clone, PartialEq, Eq, Default, Debug)]
    pub struct Profile {
        /// Its words ([`foretell_model::words`]).
        pub words: Box<[u8]>,
        /// The sequence of the last change.
        pub changed: Sequence,
    }
}

/// All profiles, by wallet.
pub type Profiles = BTreeMap<WalletAddress, Profile>;

pub(crate) fn edit(profiles: &mut Profiles, wallet: WalletAddress, edit: &[u8], changed: Sequence) {
    let profile = profiles.entry(wallet).or_default();
    profile.words = words::edited(&profile.words, edit).into();
    profile.changed = changed;
}
