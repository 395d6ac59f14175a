//! API keys of owners. The core holds no secret; a gateway has checked the signature.

use foretell_model::command::{RegisterKey, RevokeKey};
use foretell_model::event::KeyRegistered;
use foretell_model::limits::MAX_LIVE_KEYS;
use foretell_model::state::PendingWork;
use foretell_model::{
    AccountNumber, ApiKey, CloseReason, CommandOutcome, Event, KeyNumber, RejectionReason,
};

use crate::command_context::{CommandContext, HandlerResult, NotApplied, ensure};
use crate::exchange::Exchange;
use crate::table::{KeyHasher, Table};

/// The hot fields of a key: every order reads them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Key {
    pub(crate) owner: AccountNumber,
    pub(crate) read_only: bool,
    pub(crate) live: bool,
}

/// The cold fields of a key: only registration reads them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KeyNames {
    pub(crate) api_key: ApiKey,
    pub(crate) nonce: [u8; 32],
}

/// All keys ever registered, indexed by dense number.
#[derive(Debug)]
pub(crate) struct Keys {
    keys: Vec<Key>,
    names: Vec<KeyNames>,
    by_api_key: Table,
    /// Index by (owner, nonce, read-only).
    by_origin: Table,
    hasher: KeyHasher,
}

impl Keys {
    pub(crate) fn with_capacity(keys: usize, hasher: KeyHasher) -> Self {
        Self {
            keys: Vec::with_capacity(keys),
            names: Vec::with_capacity(keys),
            by_api_key: Table::with_capacity(keys),
            by_origin: Table::with_capacity(keys),
            hasher,
        }
    }

    pub(crate) fn get(&self, key: KeyNumber) -> Option<&Key> {
        self.keys.get(key.0 as usize)
    }

    /// The owner of a key, which never changes.
    pub(crate) fn owner_of(&self, key: KeyNumber) -> Option<AccountNumber> {
        self.get(key).map(|key| key.owner)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (KeyNumber, &Key, &KeyNames)> {
        (0..)
            .zip(&self.keys)
            .zip(&self.names)
            .map(|((number, key), names)| (KeyNumber(number), key, names))
    }

    pub(crate) fn find(&self, api_key: ApiKey) -> Option<KeyNumber> {
        self.by_api_key
            .find(self.api_key_hash(api_key), |key| {
                self.names[key as usize].api_key == api_key
            })
            .map(KeyNumber)
    }

    pub(crate) fn find_origin(
        &self,
        owner: AccountNumber,
        nonce: &[u8; 32],
        read_only: bool,
    ) -> Option<KeyNumber> {
        self.by_origin
            .find(self.hasher.scoped(owner.0, nonce), |number| {
                let (key, names) = (&self.keys[number as usize], &self.names[number as usize]);
                key.owner == owner && key.read_only == read_only && names.nonce == *nonce
            })
            .map(KeyNumber)
    }

    pub(crate) fn add(&mut self, key: Key, names: KeyNames) -> KeyNumber {
        let number = u32::try_from(self.keys.len()).expect("memory ends before 2^32 keys");
        self.keys.push(key);
        self.names.push(names);
        self.by_api_key
            .insert(self.api_key_hash(names.api_key), number);
        self.by_origin
            .insert(self.hasher.scoped(key.owner.0, &names.nonce), number);
        KeyNumber(number)
    }

    fn api_key_hash(&self, api_key: ApiKey) -> u32 {
        self.hasher.number(u128::from_le_bytes(api_key.0))
    }
}

impl Exchange {
    pub(crate) fn register_key(
        &mut self,
        &RegisterKey {
            owner,
            nonce,
            api_key,
            read_only,
        }: &RegisterKey,
        context: &mut CommandContext<'_>,
    ) -> HandlerResult {
        let known = self.accounts.find(owner);
        if let Some(owner) = known {
            let is_own = self.accounts[owner].owner == owner;
            ensure(is_own, RejectionReason::NotAnOwner)?;
            self.ensure_new_origin(owner, &nonce, api_key, read_only)?;
        }
        ensure(self.keys.find(api_key).is_none(), RejectionReason::KeyTaken)?;
        let live_keys = known.map_or(0, |owner| self.accounts.identity(owner).live_keys);
        ensure(live_keys < MAX_LIVE_KEYS, RejectionReason::TooManyKeys)?;

        let owner = self.account_or_open(owner, context);
        let identity = self.accounts.identity_mut(owner);
        identity.keys += 1;
        identity.live_keys += 1;
        let key = Key {
            owner,
            read_only,
            live: true,
        };
        let key = self.keys.add(key, KeyNames { api_key, nonce });
        context.event(Event::KeyRegistered(KeyRegistered { key, owner }));
        Ok(CommandOutcome::Key(key))
    }

    fn ensure_new_origin(
        &self,
        owner: AccountNumber,
        nonce: &[u8; 32],
        api_key: ApiKey,
        read_only: bool,
    ) -> Result<(), NotApplied> {
        let Some(number) = self.keys.find_origin(owner, nonce, read_only) else {
            return Ok(());
        };
        let is_live = self.keys.get(number).is_some_and(|key| key.live);
        ensure(is_live, RejectionReason::NonceRevoked)?;
        let is_same = self.keys.find(api_key) == Some(number);
        ensure(is_same, RejectionReason::KeyTaken)?;
        Err(NotApplied::already(CommandOutcome::Key(number)))
    }

    pub(crate) fn revoke_key(
        &mut self,
        &RevokeKey { key, cancel_orders }: &RevokeKey,
        context: &mut CommandContext<'_>,
    ) -> HandlerResult {
        let revoked = self.keys.keys.get_mut(key.0 as usize);
        let revoked = revoked
            .filter(|key| key.live)
            .ok_or(RejectionReason::UnknownKey)?;
        revoked.live = false;
        let owner = revoked.owner;
        self.accounts.identity_mut(owner).live_keys -= 1;
        context.event(Event::KeyRevoked { key });
        let work = if cancel_orders {
            PendingWork::CancelOwner {
                owner,
                market: None,
                outcome: None,
                reason: CloseReason::User,
                first: context.sequence,
            }
        } else {
            PendingWork::KeyQuotes { key }
        };
        let orders = self.do_work(work, context);
        Ok(CommandOutcome::Cancelled { orders })
    }
}
