//! API keys: by text, by number, and by owner.

use std::collections::HashMap;

use foldhash::fast::RandomState;
use foretell_model::codec::{CodecError, Stored, stored};
use foretell_model::{AccountNumber, ApiKey, KeyNumber, TimeNs};

use crate::error::Impossible;
use crate::storage::by_number::ByNumber;

stored! {
    /// One API key.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub struct Key {
        /// Its text, a UUID.
        pub api_key: ApiKey,
        /// The account that owns it.
        pub owner: AccountNumber,
        /// The nonce it was derived from, big-endian.
        pub nonce: [u8; 32],
        /// Whether it may only read.
        pub read_only: bool,
        /// When it was registered.
        pub created: TimeNs,
        /// When it was revoked; `None` = it is live.
        pub revoked: Option<TimeNs>,
    }
}

impl Key {
    /// Whether it is not revoked.
    #[must_use]
    pub fn is_live(&self) -> bool {
        self.revoked.is_none()
    }
}

/// All API keys.
#[derive(Debug, Default)]
pub struct Keys {
    all: ByNumber<KeyNumber, Key>,
    by_text: HashMap<ApiKey, KeyNumber, RandomState>,
    by_owner: HashMap<AccountNumber, Vec<KeyNumber>, RandomState>,
}

impl Keys {
    /// The key with this number.
    #[must_use]
    pub fn get(&self, number: KeyNumber) -> Option<&Key> {
        self.all.get(number)
    }

    /// The key with this text, live or revoked.
    #[must_use]
    pub fn by_text(&self, api_key: &ApiKey) -> Option<(KeyNumber, &Key)> {
        let number = *self.by_text.get(api_key)?;
        Some((number, self.get(number)?))
    }

    /// The keys of an owner, live and revoked, by number.
    pub fn of_owner(&self, owner: AccountNumber) -> impl Iterator<Item = (KeyNumber, &Key)> {
        self.of_owner_from(owner, 0)
    }

    /// The keys of an owner without the `oldest` first ones.
    pub fn of_owner_from(
        &self,
        owner: AccountNumber,
        oldest: usize,
    ) -> impl Iterator<Item = (KeyNumber, &Key)> {
        let numbers = self.by_owner.get(&owner).map_or(&[][..], Vec::as_slice);
        let numbers = numbers.get(oldest..).unwrap_or_default().iter();
        numbers.filter_map(|&number| Some((number, self.get(number)?)))
    }

    /// Number of keys an owner ever had.
    #[must_use]
    pub fn count_of(&self, owner: AccountNumber) -> usize {
        self.by_owner.get(&owner).map_or(0, Vec::len)
    }

    /// Number of keys, revoked ones included.
    #[must_use]
    pub fn count(&self) -> usize {
        self.all.len()
    }

    /// All keys, by number.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (KeyNumber, &Key)> {
        self.all.iter()
    }

    pub(crate) fn register(&mut self, number: KeyNumber, key: Key) -> Result<(), Impossible> {
        self.all.push(number, key)?;
        self.by_owner.entry(key.owner).or_default().push(number);
        match self.by_text.insert(key.api_key, number) {
            None => Ok(()),
            Some(_) => Err(Impossible::DuplicateName),
        }
    }

    pub(crate) fn revoke(&mut self, number: KeyNumber, now: TimeNs) -> Result<(), Impossible> {
        let key = (self.all.get_mut(number)).ok_or(Impossible::UnknownKey(number))?;
        key.revoked = Some(now);
        Ok(())
    }
}

impl Stored for Keys {
    fn put(&self, out: &mut Vec<u8>) {
        self.all.put(out);
    }

    fn take(from: &mut &[u8]) -> Result<Self, CodecError> {
        let mut keys = Self::default();
        for (number, key) in ByNumber::<KeyNumber, Key>::take(from)?.iter() {
            let registered = keys.register(number, *key);
            registered.map_err(|_| CodecError::Inconsistent("keys"))?;
        }
        Ok(keys)
    }
}
