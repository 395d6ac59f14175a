//! Who and what the record names by number: accounts and their owners, keys, markets, events,
//! signing domains.

use std::sync::Arc;

use foretell_auth::Domain;
use foretell_memory::near::bring;
use foretell_model::command::RegisterMarket;
use foretell_model::{
    AccountNumber, Command, ConditionId, Event, EventNumber, FeeSchedule, FrameRef, KeyNumber,
    Lots, MarketNumber, MarketState, Payout, Tick, TokenId, WalletAddress, WalletKind,
};

use super::broken::{Broken, Checked, must};

/// An account as its frames left it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Account {
    pub(crate) wallet: WalletAddress,
    /// Its owner; itself when bound to nobody.
    pub(crate) owner: AccountNumber,
    pub(crate) kind: WalletKind,
    pub(crate) closed_only: bool,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Key {
    pub(crate) owner: AccountNumber,
    /// Neither revoked nor for reading only.
    pub(crate) may_trade: bool,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Market {
    pub(crate) condition: ConditionId,
    /// Of `[Yes, No]`.
    pub(crate) tokens: [TokenId; 2],
    pub(crate) tick: Tick,
    pub(crate) tick_refines: bool,
    pub(crate) minimum_size: Lots,
    pub(crate) fee: FeeSchedule,
    pub(crate) event: Option<EventNumber>,
    pub(crate) state: MarketState,
    pub(crate) payout: Option<Payout>,
}

/// Everything that has a number. What is not registered has none, so that a number beyond the end
/// is a broken record.
#[derive(Debug, Default)]
pub(crate) struct Registry {
    pub(crate) accounts: Vec<Account>,
    keys: Vec<Key>,
    pub(crate) markets: Vec<Market>,
    /// Questions of each event, in order.
    events: Vec<Vec<MarketNumber>>,
    domains: Vec<(u8, Arc<Domain>)>,
}

impl Registry {
    pub(crate) fn account(&self, number: AccountNumber) -> Checked<&Account> {
        find(&self.accounts, number.0, "account")
    }

    pub(crate) fn key(&self, number: KeyNumber) -> Checked<&Key> {
        find(&self.keys, number.0, "key")
    }

    pub(crate) fn market(&self, number: MarketNumber) -> Checked<&Market> {
        find(&self.markets, number.0, "market")
    }

    pub(crate) fn questions(&self, event: EventNumber) -> Checked<&[MarketNumber]> {
        find(&self.events, event.0, "event").map(Vec::as_slice)
    }

    /// Brings an account and a market near.
    pub(crate) fn foresee(&self, account: AccountNumber, market: MarketNumber) {
        self.foresee_account(account);
        if let Some(market) = self.markets.get(market.0 as usize) {
            bring(market);
        }
    }

    /// Brings a key near.
    pub(crate) fn foresee_key(&self, key: KeyNumber) {
        if let Some(key) = self.keys.get(key.0 as usize) {
            bring(key);
        }
    }

    /// Brings an account near.
    pub(crate) fn foresee_account(&self, account: AccountNumber) {
        if let Some(account) = self.accounts.get(account.0 as usize) {
            bring(account);
        }
    }

    /// The domain journalled under a number.
    pub(crate) fn domain(&self, number: u8) -> Checked<&Arc<Domain>> {
        let mut domains = self.domains.iter();
        domains
            .find_map(|(known, domain)| (*known == number).then_some(domain))
            .ok_or_else(|| {
                Broken::evidence(format!("signing domain {number} was never registered"))
            })
    }

    fn account_mut(&mut self, number: AccountNumber) -> Checked<&mut Account> {
        find_mut(&mut self.accounts, number.0, "account")
    }

    fn market_mut(&mut self, number: MarketNumber) -> Checked<&mut Market> {
        find_mut(&mut self.markets, number.0, "market")
    }

    /// Takes in what an event of `frame` registers or changes; true when it was such an event.
    pub(crate) fn fold(&mut self, frame: &FrameRef<'_>, event: &Event) -> Checked<bool> {
        match *event {
            Event::AccountOpened { account, wallet } => self.open(account, wallet)?,
            Event::WalletBound {
                owner,
                wallet,
                kind,
            } => {
                let owner_of_owner = self.account(owner)?.owner;
                must(owner_of_owner == owner, || {
                    format!("account {owner} is bound itself")
                })?;
                let bound = self.account_mut(wallet)?;
                (bound.owner, bound.kind) = (owner, kind);
            }
            Event::WalletUnbound { wallet, .. } => {
                let free = self.account_mut(wallet)?;
                (free.owner, free.kind) = (wallet, WalletKind::Eoa);
            }
            Event::ClosedOnlySet {
                account,
                closed_only,
            } => self.account_mut(account)?.closed_only = closed_only,
            Event::KeyRegistered { key, owner } => self.register_key(frame, key, owner)?,
            Event::KeyRevoked { key } => {
                find_mut(&mut self.keys, key.0, "key")?.may_trade = false;
            }
            Event::EventRegistered { event, .. } => {
                must(count(&self.events) == event.0, || {
                    format!("event {event} is out of order")
                })?;
                self.events.push(Vec::new());
            }
            Event::MarketRegistered {
                market, question, ..
            } => self.register_market(frame, market, question)?,
            Event::MarketStateSet { market, state } => self.market_mut(market)?.state = state,
            Event::MarketResolved { market, payout } => {
                let resolved = self.market_mut(market)?;
                must(resolved.state == MarketState::Closed, || {
                    format!("market {market} is resolved and was not closed")
                })?;
                (resolved.state, resolved.payout) = (MarketState::Resolved, Some(payout));
            }
            Event::TickSet { market, tick } => self.market_mut(market)?.tick = tick,
            Event::MinimumSizeSet {
                market,
                minimum_size,
            } => self.market_mut(market)?.minimum_size = minimum_size,
            Event::FeeSet { market, fee } => self.market_mut(market)?.fee = fee,
            Event::DomainRegistered { domain } => self.register_domain(frame, domain.0)?,
            Event::EventFrozen { .. } | Event::MarketArchived { .. } => {}
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn open(&mut self, account: AccountNumber, wallet: WalletAddress) -> Checked {
        must(count(&self.accounts) == account.0, || {
            format!("account {account} is out of order")
        })?;
        self.accounts.push(Account {
            wallet,
            owner: account,
            kind: WalletKind::Eoa,
            closed_only: false,
        });
        Ok(())
    }

    fn register_key(
        &mut self,
        frame: &FrameRef<'_>,
        key: KeyNumber,
        owner: AccountNumber,
    ) -> Checked {
        let Command::RegisterKey {
            owner: wallet,
            read_only,
            ..
        } = *frame.command
        else {
            return Err(Broken::rule("a key is registered by another command"));
        };
        must(count(&self.keys) == key.0, || {
            format!("key {key} is out of order")
        })?;
        must(self.account(owner)?.wallet == wallet, || {
            format!("key {key} went to account {owner}, which is not {wallet}")
        })?;
        self.keys.push(Key {
            owner,
            may_trade: !read_only,
        });
        Ok(())
    }

    fn register_market(
        &mut self,
        frame: &FrameRef<'_>,
        number: MarketNumber,
        question: u32,
    ) -> Checked {
        let Command::RegisterMarket(RegisterMarket {
            condition,
            tokens,
            tick,
            tick_refines,
            minimum_size,
            fee,
            event,
        }) = *frame.command
        else {
            return Err(Broken::rule("a market is registered by another command"));
        };
        must(count(&self.markets) == number.0, || {
            format!("market {number} is out of order")
        })?;
        if let Some(event) = event {
            let questions = find_mut(&mut self.events, event.0, "event")?;
            must(count(questions) == question, || {
                format!("market {number} is question {question} of event {event}, out of order")
            })?;
            questions.push(number);
        }
        self.markets.push(Market {
            condition,
            tokens,
            tick,
            tick_refines,
            minimum_size,
            fee,
            event,
            state: MarketState::Registered,
            payout: None,
        });
        Ok(())
    }

    /// A domain's evidence is its text, and its separator is computed from that.
    fn register_domain(&mut self, frame: &FrameRef<'_>, number: u8) -> Checked {
        let Command::RegisterDomain { domain, separator } = *frame.command else {
            return Err(Broken::rule("a domain is registered by another command"));
        };
        let text = std::str::from_utf8(frame.evidence).ok();
        let known = text
            .and_then(|text| Domain::from_text(domain, text))
            .filter(|domain| *domain.separator() == separator)
            .ok_or_else(|| {
                Broken::evidence(format!(
                    "the text of signing domain {number} does not give its separator"
                ))
            })?;
        must(self.domain(number).is_err(), || {
            format!("domain {number} is registered twice")
        })?;
        self.domains.push((number, Arc::new(known)));
        Ok(())
    }
}

fn count<T>(things: &[T]) -> u32 {
    u32::try_from(things.len()).unwrap_or(u32::MAX)
}

fn unknown(what: &str, number: u32) -> Broken {
    Broken::rule(format!("{what} {number} was never registered"))
}

fn find<'a, T>(things: &'a [T], number: u32, what: &str) -> Checked<&'a T> {
    things
        .get(number as usize)
        .ok_or_else(|| unknown(what, number))
}

fn find_mut<'a, T>(things: &'a mut [T], number: u32, what: &str) -> Checked<&'a mut T> {
    things
        .get_mut(number as usize)
        .ok_or_else(|| unknown(what, number))
}
