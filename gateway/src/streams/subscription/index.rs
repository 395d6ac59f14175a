//! Who receives what: an index from markets and keys to the connections of a thread.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use foldhash::fast::RandomState;
use foretell_model::{AccountNumber, KeyNumber, MarketNumber, Outcome, Sequence};

use crate::streams::fan_out::ring::{MarketMessage, Scope};
use crate::streams::subscription::demand::{Demand, Lease, Subject};
use crate::streams::subscription::member::{Member, MemberId};

/// The tokens of one market that one connection subscribes to.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(crate) struct Tokens {
    /// Whether each token is subscribed, `[Yes, No]`.
    pub(crate) wanted: [bool; 2],
    /// The frame after which its messages are sent; `None` before its first book.
    pub(crate) from: [Option<Sequence>; 2],
}

impl Tokens {
    /// Whether messages of this token and frame are sent.
    fn covers(&self, outcome: Outcome, sequence: Sequence) -> bool {
        self.from[outcome.index()].is_some_and(|from| sequence > from)
    }

    /// Whether a message for `scope` is sent to a connection with these flags: custom, extended.
    pub(crate) fn receives(
        &self,
        scope: Scope,
        sequence: Sequence,
        (is_custom, is_extended): (bool, bool),
    ) -> bool {
        let any = || {
            Outcome::ALL
                .iter()
                .any(|outcome| self.covers(*outcome, sequence))
        };
        match scope {
            Scope::Token(_, outcome) => self.covers(outcome, sequence),
            Scope::OnlyToken(_, outcome) => {
                self.covers(outcome, sequence) && !self.covers(outcome.opposite(), sequence)
            }
            Scope::Market(_) => any(),
            Scope::CustomToken(_, outcome) => is_custom && self.covers(outcome, sequence),
            Scope::ExtendedMarket(_) => is_extended && any(),
            Scope::CustomAll | Scope::ExtendedAll => false,
        }
    }
}

/// The market of a message, unless it is for all.
pub(crate) fn market_of(message: &MarketMessage) -> Option<MarketNumber> {
    match message.scope {
        Scope::Token(market, _)
        | Scope::OnlyToken(market, _)
        | Scope::Market(market)
        | Scope::CustomToken(market, _)
        | Scope::ExtendedMarket(market) => Some(market),
        Scope::CustomAll | Scope::ExtendedAll => None,
    }
}

/// The subscribers of a market.
pub(crate) struct MarketEntry {
    pub(crate) subscribers: HashMap<MemberId, Tokens, RandomState>,
    /// Its messages are encoded while the entry lives.
    _lease: Lease,
}

/// The subscribers of a key.
pub(crate) struct KeyEntry {
    pub(crate) subscribers: HashSet<MemberId, RandomState>,
    _lease: Lease,
}

/// The index.
pub(crate) struct Index {
    demand: Arc<Demand>,
    pub(crate) markets: HashMap<MarketNumber, MarketEntry, RandomState>,
    pub(crate) keys: HashMap<KeyNumber, KeyEntry, RandomState>,
    /// Connections with `custom_feature_enabled`.
    pub(crate) custom: HashSet<MemberId, RandomState>,
    lifecycle: Option<Lease>,
    /// Connections that opted in to the extension.
    pub(crate) extended: HashSet<MemberId, RandomState>,
}

impl Index {
    pub(crate) fn new(demand: Arc<Demand>) -> Self {
        Self {
            demand,
            markets: HashMap::default(),
            keys: HashMap::default(),
            custom: HashSet::default(),
            lifecycle: None,
            extended: HashSet::default(),
        }
    }

    /// The subscription of a connection in a market; new ones cover nothing.
    pub(crate) fn tokens(&mut self, market: MarketNumber, id: MemberId) -> &mut Tokens {
        let entry = self.markets.entry(market).or_insert_with(|| MarketEntry {
            subscribers: HashMap::default(),
            _lease: self.demand.lease(Subject::Market(market)),
        });
        entry.subscribers.entry(id).or_default()
    }

    /// The subscription of a connection in a market, if it has one.
    pub(crate) fn subscribed(&self, market: MarketNumber, id: MemberId) -> Tokens {
        let entry = self.markets.get(&market);
        let tokens = entry.and_then(|entry| entry.subscribers.get(&id));
        tokens.copied().unwrap_or_default()
    }

    /// Ends a connection's subscription in a market.
    pub(crate) fn leave_market(&mut self, market: MarketNumber, id: MemberId) {
        if let Some(entry) = self.markets.get_mut(&market) {
            entry.subscribers.remove(&id);
            if entry.subscribers.is_empty() {
                self.markets.remove(&market);
            }
        }
    }

    pub(crate) fn join_key(&mut self, key: KeyNumber, owner: AccountNumber, id: MemberId) {
        let entry = self.keys.entry(key).or_insert_with(|| KeyEntry {
            subscribers: HashSet::default(),
            _lease: self.demand.lease(Subject::Key(key, owner)),
        });
        entry.subscribers.insert(id);
    }

    fn leave_key(&mut self, key: KeyNumber, id: MemberId) {
        if let Some(entry) = self.keys.get_mut(&key) {
            entry.subscribers.remove(&id);
            if entry.subscribers.is_empty() {
                self.keys.remove(&key);
            }
        }
    }

    /// Sets or clears the custom flag of a connection.
    pub(crate) fn set_custom(&mut self, id: MemberId, on: bool) {
        if on {
            self.custom.insert(id);
            let demand = &self.demand;
            self.lifecycle
                .get_or_insert_with(|| demand.lease(Subject::Lifecycle));
        } else {
            self.custom.remove(&id);
            if self.custom.is_empty() {
                self.lifecycle = None;
            }
        }
    }

    /// Removes a connection.
    pub(crate) fn leave(&mut self, id: MemberId, member: &Member) {
        for market in &member.markets {
            self.leave_market(*market, id);
        }
        if let Some(user) = &member.user {
            self.leave_key(user.key, id);
        }
        self.set_custom(id, false);
        self.extended.remove(&id);
    }
}
