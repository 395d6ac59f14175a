//! API keys of owners (docs/verify/rules.md §17).

use foretell_model::command::{RegisterKey, RevokeKey};
use foretell_model::event::KeyRegistered;
use foretell_model::limits::MAX_LIVE_KEYS;
use foretell_model::state::PendingWork;
use foretell_model::{
    AccountNumber, ApiKey, CloseReason, CommandOutcome, Event, KeyNumber, RejectionReason,
};

use crate::exchange::{Exchange, Stamp};
use crate::handler_result::{HandlerResult, NotApplied, ensure};

/// An issued key; it is never removed.
#[derive(Clone, Debug)]
pub(crate) struct Key {
    pub(crate) api_key: ApiKey,
    pub(crate) owner: AccountNumber,
    pub(crate) nonce: [u8; 32],
    pub(crate) read_only: bool,
    pub(crate) live: bool,
}

impl Exchange {
    /// The key with this number, if it may trade.
    pub(crate) fn trading_key(&self, number: KeyNumber) -> Result<&Key, NotApplied> {
        self.keys
            .get(number.0 as usize)
            .filter(|key| key.live && !key.read_only)
            .ok_or_else(|| RejectionReason::UnknownKey.into())
    }

    pub(crate) fn register_key(
        &mut self,
        &RegisterKey {
            owner,
            nonce,
            api_key,
            read_only,
        }: &RegisterKey,
        events: &mut Vec<Event>,
    ) -> HandlerResult {
        if let Some(owner) = self.find_account(owner) {
            ensure(
                self.account(owner)?.owner == owner,
                RejectionReason::NotAnOwner,
            )?;
            let same = self.names.nonces.get(&(owner, nonce, read_only));
            if let Some(number) = same.copied() {
                let key = &self.keys[number.0 as usize];
                ensure(key.live, RejectionReason::NonceRevoked)?;
                ensure(key.api_key == api_key, RejectionReason::KeyTaken)?;
                return Err(NotApplied::already(CommandOutcome::Key(number)));
            }
        }
        let in_use = self.names.api_keys.contains(&api_key);
        ensure(!in_use, RejectionReason::KeyTaken)?;
        if let Some(owner) = self.find_account(owner) {
            let live = self.account(owner)?.live_keys;
            ensure(live < MAX_LIVE_KEYS, RejectionReason::TooManyKeys)?;
        }

        let owner = self.open_account(owner, events);
        let key = key_number(self.keys.len());
        self.keys.push(Key {
            api_key,
            owner,
            nonce,
            read_only,
            live: true,
        });
        self.names.api_keys.insert(api_key);
        self.names.nonces.insert((owner, nonce, read_only), key);
        let account = self.account_mut(owner);
        account.had_keys = true;
        account.live_keys += 1;
        events.push(Event::KeyRegistered(KeyRegistered { key, owner }));
        Ok(CommandOutcome::Key(key))
    }

    /// Revokes a key for ever, and cancels the owner's orders if requested, otherwise the quotes that
    /// this key placed.
    pub(crate) fn revoke_key(
        &mut self,
        &RevokeKey {
            key: number,
            cancel_orders,
        }: &RevokeKey,
        at: Stamp,
        events: &mut Vec<Event>,
    ) -> HandlerResult {
        let key = self
            .keys
            .get_mut(number.0 as usize)
            .filter(|key| key.live)
            .ok_or(RejectionReason::UnknownKey)?;

        key.live = false;
        let owner = key.owner;
        self.account_mut(owner).live_keys -= 1;
        events.push(Event::KeyRevoked { key: number });
        let work = if cancel_orders {
            PendingWork::CancelOwner {
                owner,
                market: None,
                outcome: None,
                reason: CloseReason::User,
                first: at.sequence,
            }
        } else {
            PendingWork::KeyQuotes { key: number }
        };
        let orders = self.do_work(work, at, events);
        Ok(CommandOutcome::Cancelled { orders })
    }
}

pub(crate) fn key_number(index: usize) -> KeyNumber {
    KeyNumber(u32::try_from(index).expect("numbers of keys are u32"))
}
