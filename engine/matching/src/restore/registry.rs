//! What is registered: the exchange as a whole, accounts and their owners, keys, events, markets.

use foretell_model::limits::{MAX_BALANCE, MAX_LIVE_KEYS};
use foretell_model::quantity::PRICE_ONE;
use foretell_model::{
    AccountNumber, EventId, EventNumber, KeyNumber, Lots, MarketNumber, Micros, WalletAddress,
    WalletKind,
};

use crate::accounts::Account;
use crate::keys::{Key, KeyNames};
use crate::lifecycle::{ensure_fee, ensure_minimum_size};
use crate::market::{Market, MarketNames};
use crate::restore::{Checked, Restoring, check};
use crate::system::System;

/// The most shares of a token there can be: all of the collateral in full sets.
pub(super) const MOST_SHARES: Lots = Lots(MAX_BALANCE.0 / PRICE_ONE as u64);

pub(super) fn check_shares(shares: [Lots; 2]) -> Checked {
    let are_bounded = shares.iter().all(|lots| *lots <= MOST_SHARES);
    check(are_bounded, "it has more shares than there can be")
}

fn check_money(micros: Micros) -> Checked {
    check(micros <= MAX_BALANCE, "it has more money than there can be")
}

impl Restoring {
    pub(super) fn put_system(&mut self, system: System) -> Checked {
        check(system.sequence.0 < u64::MAX, "no command can follow it")?;
        check(system.settings.are_valid(), "its settings are not valid")?;
        let floor = system.timestamp_floor;
        check(
            floor <= system.time.millis(),
            "its timestamp floor is later than its time",
        )?;
        check_money(system.collateral)?;
        check_money(system.fees)?;
        self.exchange.system = system;
        Ok(())
    }

    pub(super) fn put_account(
        &mut self,
        number: AccountNumber,
        wallet: WalletAddress,
        marks: Account,
    ) -> Checked {
        check_money(marks.free)?;
        check_money(marks.reserved)?;
        let accounts = &mut self.exchange.accounts;
        check(
            accounts.open(wallet) == number,
            "its number is not the next",
        )?;
        accounts[number] = marks;
        Ok(())
    }

    /// Tells owners which wallets are theirs, once all accounts are there.
    pub(super) fn bind_wallets(&mut self) -> Checked {
        let accounts = &mut self.exchange.accounts;
        let bound: Vec<_> = accounts
            .iter()
            .map(|(number, account, _)| (number, account.owner, account.kind))
            .filter(|(number, owner, kind)| number != owner || *kind != WalletKind::Eoa)
            .collect();
        for (number, owner, kind) in bound {
            let owners_owner = accounts.get(owner).map(|account| account.owner);
            check(
                owners_owner == Some(owner),
                "an account's owner is no owner",
            )?;
            let place = accounts.identity_mut(owner).bound_mut(kind);
            let place = place.ok_or("a bound account has no kind of wallet")?;
            check(
                number != owner && place.is_none(),
                "an owner has two wallets of a kind",
            )?;
            *place = Some(number);
        }
        Ok(())
    }

    pub(super) fn put_key(&mut self, number: KeyNumber, key: Key, names: KeyNames) -> Checked {
        let accounts = &mut self.exchange.accounts;
        let owner = accounts.get(key.owner).map(|account| account.owner);
        check(owner == Some(key.owner), "its owner is no owner")?;
        let identity = accounts.identity_mut(key.owner);
        identity.keys += 1;
        identity.live_keys += u32::from(key.live);
        check(
            identity.live_keys <= MAX_LIVE_KEYS,
            "its owner has too many live keys",
        )?;
        let added = self.exchange.keys.add(key, names);
        check(added == number, "its number is not the next")
    }

    pub(super) fn put_event(
        &mut self,
        number: EventNumber,
        id: EventId,
        frozen: bool,
        converted: Lots,
    ) -> Checked {
        check_shares([converted; 2])?;
        let events = &mut self.exchange.events;
        check(events.add(id) == number, "its number is not the next")?;
        events[number].frozen = frozen;
        events[number].converted = converted;
        Ok(())
    }

    pub(super) fn put_market(
        &mut self,
        number: MarketNumber,
        market: Market,
        names: MarketNames,
    ) -> Checked {
        let has_rules =
            ensure_fee(market.fee).is_ok() && ensure_minimum_size(market.minimum_size).is_ok();
        check(has_rules, "its fee or its minimum size is out of range")?;
        check_shares(market.supply)?;
        let [yes, no] = names.tokens;
        let markets = &mut self.exchange.markets;
        let is_taken = yes == no || markets.token_in_use(yes) || markets.token_in_use(no);
        check(!is_taken, "one of its tokens is taken")?;
        if let Some((event, index)) = market.question {
            self.exchange
                .events
                .get(event)
                .map_err(|_| "its event is not known")?;
            let questions = &mut self.exchange.events[event].questions;
            check(
                index as usize == questions.len(),
                "it is not the next question of its event",
            )?;
            questions.push(number);
        }
        check(
            markets.add(market, names) == number,
            "its number is not the next",
        )
    }

    /// What accounts and events said of what was to come.
    pub(super) fn check_promises(&self) -> Checked {
        let accounts = self.exchange.accounts.iter();
        let live_orders = accounts.map(|(_, account, _)| account.live_orders);
        check(
            live_orders.eq(self.live_orders.iter().copied()),
            "an account has not the live orders it stated",
        )?;
        let events = self.exchange.events.iter();
        let questions = events.map(|(_, event)| event.questions.len());
        check(
            questions.eq(self.questions.iter().map(|questions| *questions as usize)),
            "an event has not the questions it stated",
        )
    }
}
