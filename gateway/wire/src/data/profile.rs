//! Profiles of wallets: the operator's entry, or a generated pseudonym.

use std::borrow::Cow;

use foretell_model::WalletAddress;

/// A row of the operators' profile table; unknown fields are empty.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Profile<'a> {
    /// Display name.
    pub name: &'a str,
    /// Second name; if empty, generated from the address.
    pub pseudonym: &'a str,
    /// A short text.
    pub bio: &'a str,
    /// URL of an image.
    pub image: &'a str,
    /// URL of a smaller image.
    pub image_optimized: &'a str,
    /// Whether the name may be shown in public.
    pub is_public: bool,
}

impl<'a> Profile<'a> {
    /// `pseudonym`
    pub(crate) fn pseudonym_of(&self, wallet: &WalletAddress) -> Cow<'a, str> {
        match self.pseudonym {
            "" => Cow::Owned(pseudonym(wallet)),
            given => Cow::Borrowed(given),
        }
    }
}

/// A name generated from the address, always the same: two words and a number, such as
/// `Quiet-Heron-417`. It is not an identity: wallets may share a name.
#[must_use]
pub fn pseudonym(wallet: &WalletAddress) -> String {
    // FNV-1a over the bytes, then the finalizer of MurmurHash3, so that addresses that differ only
    // in the last byte, or are mostly zeros, get different words too.
    let mut hash = wallet
        .0
        .iter()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
        });
    for factor in [0xff51_afd7_ed55_8ccd, 0xc4ce_b9fe_1a85_ec53] {
        hash = (hash ^ hash >> 33).wrapping_mul(factor);
    }
    hash ^= hash >> 33;
    let word = |words: &[&'static str; 64], shift: u32| words[(hash >> shift & 63) as usize];
    let number = (hash >> 20) % 1_000;
    let number = number.to_string();
    [word(&QUALITIES, 58), word(&ANIMALS, 52), &number].join("-")
}

const QUALITIES: [&str; 64] = [
    "Able", "Agile", "Amber", "Ample", "Azure", "Bold", "Brave", "Brisk", "Bright", "Calm",
    "Candid", "Careful", "Cheerful", "Clear", "Clever", "Copper", "Coral", "Crisp", "Curious",
    "Daring", "Eager", "Early", "Fair", "Fleet", "Fond", "Frank", "Gentle", "Glad", "Golden",
    "Grand", "Green", "Happy", "Hardy", "Honest", "Humble", "Ivory", "Jolly", "Keen", "Kind",
    "Light", "Lively", "Lucid", "Lucky", "Mellow", "Merry", "Mild", "Modest", "Neat", "Nimble",
    "Noble", "Patient", "Placid", "Plain", "Proud", "Quick", "Quiet", "Ready", "Sage", "Silver",
    "Steady", "Sunny", "Swift", "Warm", "Witty",
];

const ANIMALS: [&str; 64] = [
    "Badger",
    "Bear",
    "Beaver",
    "Bison",
    "Bittern",
    "Bobcat",
    "Camel",
    "Caribou",
    "Cheetah",
    "Condor",
    "Cormorant",
    "Cougar",
    "Crane",
    "Cricket",
    "Curlew",
    "Deer",
    "Dolphin",
    "Dove",
    "Eagle",
    "Egret",
    "Elk",
    "Falcon",
    "Ferret",
    "Finch",
    "Fox",
    "Gazelle",
    "Gecko",
    "Goose",
    "Grouse",
    "Gull",
    "Hare",
    "Hawk",
    "Hedgehog",
    "Heron",
    "Ibex",
    "Ibis",
    "Jackdaw",
    "Jaguar",
    "Kestrel",
    "Kingfisher",
    "Lark",
    "Lemur",
    "Lynx",
    "Magpie",
    "Marmot",
    "Marten",
    "Mole",
    "Newt",
    "Nuthatch",
    "Ocelot",
    "Osprey",
    "Otter",
    "Owl",
    "Panther",
    "Pelican",
    "Plover",
    "Puffin",
    "Raven",
    "Robin",
    "Salmon",
    "Seal",
    "Stork",
    "Swan",
    "Wren",
];

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn a_pseudonym_is_the_same_for_ever() {
        let of = |byte| pseudonym(&WalletAddress([byte; 20]));
        let names: Vec<_> = [0, 1, 0xff].map(of).into();
        insta::assert_debug_snapshot!(names);
    }

    #[test]
    fn neighbours_have_other_names_and_all_words_are_used() {
        let names: Vec<_> = (0..5_000_u32)
            .map(|number| {
                let mut wallet = [0; 20];
                wallet[16..].copy_from_slice(&number.to_be_bytes());
                pseudonym(&WalletAddress(wallet))
            })
            .collect();
        let distinct: HashSet<_> = names.iter().collect();
        assert!(distinct.len() > 4_900, "{}", distinct.len());
        for place in 0..2 {
            let words = names.iter().map(|name| name.split('-').nth(place));
            assert_eq!(words.collect::<HashSet<_>>().len(), 64);
        }
    }

    #[test]
    fn every_word_stands_once() {
        for words in [QUALITIES, ANIMALS] {
            assert_eq!(words.iter().collect::<HashSet<_>>().len(), 64);
        }
    }
}
