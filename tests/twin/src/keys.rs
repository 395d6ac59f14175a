//! API keys of owners (protocol 7).

use foretell_model::digest::PendingWork;
use foretell_model::limits::MAX_LIVE_KEYS;
use foretell_model::{
    AccountNumber, ApiKey, CloseReason, CommandOutcome, Digest16, Event, KeyNumber, RefusalReason,
    WalletAddress,
};

use crate::answer::{Answer, Stop, ensure};
use crate::exchange::{At, Exchange};

/// A key that was issued; it is never forgotten.
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
    pub(crate) fn trading_key(&self, number: KeyNumber) -> Result<&Key, Stop> {
        self.keys
            .get(number.0 as usize)
            .filter(|key| key.live && !key.read_only)
            .ok_or_else(|| RefusalReason::UnknownKey.into())
    }

    pub(crate) fn register_key(
        &mut self,
        owner: WalletAddress,
        nonce: [u8; 32],
        api_key: ApiKey,
        read_only: bool,
        events: &mut Vec<Event>,
    ) -> Answer {
        if let Some(owner) = self.find_account(owner) {
            ensure(
                self.account(owner)?.owner == owner,
                RefusalReason::NotAnOwner,
            )?;
            let same = self.keys.iter().position(|key| {
                key.owner == owner && key.nonce == nonce && key.read_only == read_only
            });
            if let Some(index) = same {
                let key = &self.keys[index];
                ensure(key.live, RefusalReason::NonceRevoked)?;
                ensure(key.api_key == api_key, RefusalReason::KeyTaken)?;
                return Err(Stop::already(CommandOutcome::Key(key_number(index))));
            }
        }
        let in_use = self.keys.iter().any(|key| key.api_key == api_key);
        ensure(!in_use, RefusalReason::KeyTaken)?;
        if let Some(owner) = self.find_account(owner) {
            let live = self
                .keys
                .iter()
                .filter(|key| key.owner == owner && key.live);
            ensure(
                live.count() < MAX_LIVE_KEYS as usize,
                RefusalReason::TooManyKeys,
            )?;
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
        events.push(Event::KeyRegistered { key, owner });
        Ok(CommandOutcome::Key(key))
    }

    /// Ends a key for ever, and the owner's orders with it if that is asked.
    pub(crate) fn revoke_key(
        &mut self,
        number: KeyNumber,
        cancel_orders: bool,
        at: At,
        events: &mut Vec<Event>,
    ) -> Answer {
        let key = self
            .keys
            .get_mut(number.0 as usize)
            .filter(|key| key.live)
            .ok_or(RefusalReason::UnknownKey)?;

        key.live = false;
        let owner = key.owner;
        events.push(Event::KeyRevoked { key: number });
        let mut orders = 0;
        if cancel_orders {
            let work = PendingWork::CancelOwner {
                owner,
                market: None,
                outcome: None,
                reason: CloseReason::User,
                first: at.sequence,
                request: Digest16::ZERO,
            };
            orders = self.work_on(work, at, events);
        }
        Ok(CommandOutcome::Cancelled { orders })
    }
}

fn key_number(index: usize) -> KeyNumber {
    KeyNumber(u32::try_from(index).expect("tests register few keys"))
}
