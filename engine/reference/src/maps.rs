//! The maps beside the lists: which number an outside name has, and a check that every map of the
//! exchange says what its list says.

use std::collections::{HashMap, HashSet};

use foretell_model::{
    AccountNumber, ApiKey, ConditionId, EventId, EventNumber, KeyNumber, MarketNumber, SlugDigest,
    TokenId, WalletAddress,
};

use crate::accounts::account_number;
use crate::delayed_orders::DelayedOrders;
use crate::event_groups::event_number;
use crate::exchange::Exchange;
use crate::keys::key_number;
use crate::markets::market_number;
use crate::order_ids::OrderIds;
use crate::orders::LiveOrders;
use crate::rebates::Accrued;
use crate::references::References;

/// The numbers of what has a name, and the names that are taken.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub(crate) struct Names {
    pub(crate) accounts: HashMap<WalletAddress, AccountNumber>,
    pub(crate) api_keys: HashSet<ApiKey>,
    /// Keys by owner, nonce and whether they are read-only.
    pub(crate) nonces: HashMap<(AccountNumber, [u8; 32], bool), KeyNumber>,
    pub(crate) events: HashMap<EventId, EventNumber>,
    pub(crate) conditions: HashMap<ConditionId, MarketNumber>,
    pub(crate) tokens: HashSet<TokenId>,
    pub(crate) slugs: HashMap<SlugDigest, MarketNumber>,
}

impl Exchange {
    /// Makes every map anew from its list and compares.
    pub(crate) fn check_maps(&self) -> Result<(), String> {
        let mut orders = LiveOrders::default();
        let live = self.orders.values().cloned();
        live.for_each(|order| orders.insert(order));
        let mut delayed = DelayedOrders::default();
        let waiting = self.delayed.values().cloned();
        waiting.for_each(|order| delayed.insert(order));
        let mut accrued = Accrued::default();
        for (account, amount) in self.accrued.values() {
            accrued.add(account, amount);
        }
        accrued.since = self.accrued.since;
        let mut order_ids = OrderIds::default();
        let known = self.order_ids.values().cloned();
        known.for_each(|order| order_ids.insert(order));
        let mut references = References::default();
        let used = self.references.values().cloned();
        used.for_each(|used| references.insert(used));
        let maps = [
            ("live orders", orders == self.orders),
            ("delayed orders", delayed == self.delayed),
            ("accrued rebates", accrued == self.accrued),
            ("clocks", self.all_clocks() == self.clocks),
            ("order ids", order_ids == self.order_ids),
            ("references", references == self.references),
            ("names", self.names_of_lists() == self.names),
            ("accounts", self.accounts_are_linked()),
            ("events", self.events_are_linked()),
        ];
        match maps.into_iter().find(|(_, is_right)| !is_right) {
            Some((what, _)) => Err(format!(
                "the maps of the {what} are not those of their list"
            )),
            None => Ok(()),
        }
    }

    fn names_of_lists(&self) -> Names {
        let mut names = Names::default();
        for (index, account) in self.accounts.iter().enumerate() {
            names.accounts.insert(account.wallet, account_number(index));
        }
        for (index, key) in self.keys.iter().enumerate() {
            names.api_keys.insert(key.api_key);
            let nonce = (key.owner, key.nonce, key.read_only);
            names.nonces.insert(nonce, key_number(index));
        }
        for (index, event) in self.event_groups.iter().enumerate() {
            names.events.insert(event.id, event_number(index));
        }
        for (index, market) in self.markets.iter().enumerate() {
            let number = market_number(index);
            names.conditions.insert(market.condition, number);
            names.tokens.extend(market.tokens);
            if let Some(slug) = market.slug {
                names.slugs.insert(slug, number);
            }
        }
        names
    }

    /// The wallets bound to an account are those that name it as their owner, its keys those that do.
    fn accounts_are_linked(&self) -> bool {
        let mut bound = vec![Vec::new(); self.accounts.len()];
        let mut keys = vec![(false, 0); self.accounts.len()];
        for (index, account) in self.accounts.iter().enumerate() {
            if account.owner != account_number(index) {
                bound[account.owner.0 as usize].push(account_number(index));
            }
        }
        for key in &self.keys {
            let (had_keys, live) = &mut keys[key.owner.0 as usize];
            *had_keys = true;
            *live += u32::from(key.live);
        }
        let links = bound.into_iter().zip(keys);
        self.accounts
            .iter()
            .zip(links)
            .all(|(account, (bound, keys))| {
                let mut own = account.bound.clone();
                own.sort_unstable();
                own == bound && (account.had_keys, account.live_keys) == keys
            })
    }

    /// The questions of an event are the markets that name it, in their order.
    fn events_are_linked(&self) -> bool {
        let mut questions = vec![Vec::new(); self.event_groups.len()];
        for (index, market) in self.markets.iter().enumerate() {
            if let Some((event, _)) = market.question {
                questions[event.0 as usize].push(market_number(index));
            }
        }
        let listed = self.event_groups.iter().map(|event| &event.questions);
        listed.eq(&questions)
    }
}
