//! Restores exchange-wide state, accounts and owners, keys, event groups, markets.

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
use crate::restore::{Checked, Restorer, check};
use crate::system::System;

/// Largest supply of a token: all collateral in full sets.
pub(super) const MAX_SUPPLY: Lots = Lots(MAX_BALANCE.0 / PRICE_ONE as u64);

pub(super) fn check_shares(shares: [Lots; 2]) -> Checked {
    let are_bounded = shares.iter().all(|lots| *lots <= MAX_SUPPLY);
    check(are_bounded, "shares exceed the maximum supply")
}

fn check_money(micros: Micros) -> Checked {
    check(
        micros <= MAX_BALANCE,
        "collateral exceeds the maximum balance",
    )
}

impl Restorer {
    pub(super) fn put_system(&mut self, system: System) -> Checked {
        check(system.sequence.0 < u64::MAX, "sequence is the maximum")?;
        check(system.settings.are_valid(), "invalid settings")?;
        let floor = system.timestamp_floor;
        check(
            floor <= system.time.millis(),
            "timestamp floor is after the time",
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
        check(accounts.open(wallet) == number, "number is not the next")?;
        accounts[number] = marks;
        Ok(())
    }

    /// Adds bound wallets to their owners after the last account.
    pub(super) fn bind_wallets(&mut self) -> Checked {
        let accounts = &mut self.exchange.accounts;
        let wallets: Vec<_> = accounts
            .iter()
            .map(|(number, account, _)| (number, account.owner, account.kind))
            .filter(|(number, owner, kind)| number != owner || *kind != WalletKind::Eoa)
            .collect();
        for (number, owner, kind) in wallets {
            let owners_owner = accounts.get(owner).map(|account| account.owner);
            check(
                owners_owner == Some(owner),
                "an account's owner is unknown or bound",
            )?;
            let bound = accounts.identity_mut(owner).bound_mut(kind);
            let bound = bound.ok_or("a bound wallet has no wallet kind")?;
            check(
                number != owner && bound.is_none(),
                "an owner has two wallets of one kind",
            )?;
            *bound = Some(number);
        }
        Ok(())
    }

    pub(super) fn put_key(&mut self, number: KeyNumber, key: Key, names: KeyNames) -> Checked {
        let accounts = &mut self.exchange.accounts;
        let owner = accounts.get(key.owner).map(|account| account.owner);
        check(
            owner == Some(key.owner),
            "the key's owner is unknown or bound",
        )?;
        let identity = accounts.identity_mut(key.owner);
        identity.keys += 1;
        identity.live_keys += u32::from(key.live);
        check(
            identity.live_keys <= MAX_LIVE_KEYS,
            "the owner has too many live keys",
        )?;
        let added = self.exchange.keys.add(key, names);
        check(added == number, "number is not the next")
    }

    pub(super) fn put_event(
        &mut self,
        number: EventNumber,
        id: EventId,
        frozen: bool,
        converted: Lots,
        outside: MarketNumber,
    ) -> Checked {
        check_shares([converted; 2])?;
        let events = &mut self.exchange.event_groups;
        check(events.add(id, outside) == number, "number is not the next")?;
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
        check(has_rules, "fee or minimum size out of range")?;
        check_shares(market.supply)?;
        let [yes, no] = names.tokens;
        let markets = &mut self.exchange.markets;
        let is_taken = yes == no || markets.token_in_use(yes) || markets.token_in_use(no);
        check(!is_taken, "duplicate token")?;
        if let Some((event, index)) = market.question {
            self.exchange
                .event_groups
                .get(event)
                .map_err(|_| "unknown event group")?;
            let group = &mut self.exchange.event_groups[event];
            if market.is_outside() {
                let is_stated = group.outside == number;
                check(
                    is_stated,
                    "another outside question than its event group states",
                )?;
            } else {
                check(
                    index as usize == group.questions.len(),
                    "not the next question of its event group",
                )?;
                group.questions.push(number);
            }
        }
        check(
            markets.add(market, names) == number,
            "number is not the next",
        )
    }

    /// Checks the counts that accounts and event groups stated.
    pub(super) fn check_stated_counts(&self) -> Checked {
        let accounts = self.exchange.accounts.iter();
        let live_orders = accounts.map(|(_, account, _)| account.live_orders);
        check(
            live_orders.eq(self.live_orders.iter().copied()),
            "an account has another number of live orders than stated",
        )?;
        let events = self.exchange.event_groups.iter();
        let questions = events.map(|(_, event)| event.questions.len());
        check(
            questions.eq(self.questions.iter().map(|questions| *questions as usize)),
            "an event group has another number of questions than stated",
        )
    }
}
