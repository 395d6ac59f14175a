//! Restores the system, accounts and keys, event groups, markets.

use foretell_model::WalletKind;
use foretell_model::command::Begin;
use foretell_model::state;

use crate::accounts::Account;
use crate::keys::{Key, KeyNames};
use crate::ladder::Ladder;
use crate::market::{Market, MarketNames};
use crate::restore::{Put, Restorer, check};
use crate::system::System;

impl Restorer {
    pub(super) fn put_system(&mut self, system: &state::System) {
        self.exchange.system = System {
            rules: system.rules,
            sequence: system.sequence,
            time: system.time,
            mode: system.mode,
            settings: system.settings,
            timestamp_floor: system.timestamp_floor,
            collateral: system.collateral,
            fees: system.fees,
            pending: system.pending,
            beginning: Begin {
                sandbox: system.sandbox,
                pays_on_redeem: system.pays_on_redeem,
                simulated_until: system.simulated_until,
            },
            clock: system.clock,
            branch: system.branch,
            withdrawals_shut: system.withdrawals_shut,
            reopened: system.reopened,
            ..System::default()
        };
    }

    pub(super) fn put_domain(&mut self, domain: &state::Domain) {
        let number = usize::from(domain.domain.0);
        self.exchange.system.domains[number] = Some(domain.separator);
    }

    pub(super) fn put_account(&mut self, account: &state::Account) {
        let number = self.exchange.accounts.open(account.wallet);
        self.exchange.accounts[number] = Account {
            free: account.free,
            reserved: account.reserved,
            owner: account.owner,
            kind: account.kind,
            closed_only: account.closed_only,
            heartbeat: account.heartbeat,
            ..Account::new(number)
        };
        let identity = self.exchange.accounts.identity_mut(number);
        identity.withdrawal_valid_until = account.withdrawal_valid_until;
    }

    /// Adds bound wallets to their owners, once every account is there.
    pub(super) fn bind_wallets(&mut self) -> Put {
        let accounts = &mut self.exchange.accounts;
        let bound: Vec<_> = accounts
            .iter()
            .filter(|(_, account, _)| account.kind != WalletKind::Eoa)
            .map(|(number, account, _)| (number, account.owner, account.kind))
            .collect();
        for (wallet, owner, kind) in bound {
            check(accounts.get(owner).is_some(), "unknown owner of a wallet")?;
            if let Some(place) = accounts.identity_mut(owner).bound_mut(kind) {
                *place = Some(wallet);
            }
        }
        Ok(())
    }

    pub(super) fn put_key(&mut self, key: &state::Key) -> Put {
        self.check_account(key.owner)?;
        let identity = self.exchange.accounts.identity_mut(key.owner);
        identity.keys += 1;
        identity.live_keys += u32::from(key.live);
        let marks = Key {
            owner: key.owner,
            read_only: key.read_only,
            live: key.live,
        };
        let names = KeyNames {
            api_key: key.api_key,
            nonce: key.nonce,
        };
        self.exchange.keys.add(marks, names);
        Ok(())
    }

    pub(super) fn put_event_group(&mut self, group: &state::Event) {
        let groups = &mut self.exchange.event_groups;
        let number = groups.add(group.id, group.outside);
        groups[number].frozen = group.frozen;
        groups[number].converted = group.converted;
    }

    pub(super) fn put_market(&mut self, record: &state::Market) -> Put {
        let market = Market {
            ladder: Ladder::new(record.tick),
            supply: record.supply,
            minimum_size: record.minimum_size,
            fee: record.fee,
            delay_ms: 0,
            rebate_ppm: 0,
            state: record.state,
            tick_refines: record.tick_refines,
            question: record.question,
            holds: record.holds,
            payout: record.payout,
            archived: record.archived,
        };
        let names = MarketNames {
            condition: record.condition,
            tokens: record.tokens,
            index: record.index,
            slug: record.slug,
            content: record.content,
        };
        let is_taken = self.exchange.markets.with_slug(names.slug).is_some();
        check(!is_taken, "two markets with one slug")?;
        let is_listed = !market.is_outside();
        let number = self.exchange.markets.add(market, names);
        if let Some((event, _)) = record.question {
            let groups = &mut self.exchange.event_groups;
            check(groups.get(event).is_ok(), "unknown event group")?;
            if is_listed {
                groups[event].questions.push(number);
            }
        }
        Ok(())
    }
}
