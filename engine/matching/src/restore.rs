//! Rebuilds an exchange from the list of its records.
//!
//! A record is inserted where it belongs, and links between items are made once all are read. What
//! could not be indexed, summed or linked is refused; nothing else is checked here. That the exchange
//! is the one whose records these are is proven by its digest ([`Exchange::read_image`]).

mod life;
mod orders;
mod quotes;
mod registry;

use foretell_model::state::StateRecord;
use foretell_model::{AccountNumber, MarketNumber, OrderNumber};

use crate::capacity::Capacity;
use crate::exchange::Exchange;
use crate::market::Market;
use crate::operators::Operators;

/// Err: what is wrong with a record.
type Put<T = ()> = Result<T, &'static str>;

fn check(condition: bool, what: &'static str) -> Put {
    condition.then_some(()).ok_or(what)
}

/// The exchange so far, and links that wait for later records.
pub(crate) struct Restorer {
    exchange: Exchange,
    /// Live orders with their slots, in any order.
    live: Vec<(OrderNumber, u32)>,
    /// Ids of live orders with their slots, in any order.
    live_ids: Vec<(OrderNumber, u32)>,
    /// Quotes with their slots and groups, in any order.
    quotes: Vec<(OrderNumber, u32, u8)>,
}

impl Restorer {
    pub(crate) fn new(capacity: Capacity, index_key: u64) -> Self {
        let mut exchange = Exchange::new(capacity, index_key);
        exchange.operators = Operators::none();
        Self {
            exchange,
            live: Vec::new(),
            live_ids: Vec::new(),
            quotes: Vec::new(),
        }
    }

    /// Adds the next record.
    pub(crate) fn put(&mut self, record: &StateRecord) -> Put {
        match record {
            StateRecord::System(system) => self.put_system(system),
            StateRecord::Domain(domain) => self.put_domain(domain),
            StateRecord::Account(account) => self.put_account(account),
            StateRecord::Key(key) => self.put_key(key)?,
            StateRecord::Event(group) => self.put_event_group(group),
            StateRecord::Market(market) => self.put_market(market)?,
            StateRecord::Position(position) => self.put_position(position),
            StateRecord::Order(order) => self.put_order(order)?,
            StateRecord::RememberedOrder(remembered) => self.put_order_id(remembered)?,
            StateRecord::RememberedReference(used) => self.put_reference(used)?,
            StateRecord::Site(site) => self.put_site(site),
            StateRecord::Operator(operator) => self.exchange.operators.restore(*operator),
            StateRecord::Terms(terms) => self.put_terms(terms)?,
            StateRecord::Policy(policy) => self.put_policy(policy),
            StateRecord::ListedWallet(listed) => self.put_listed(listed)?,
            StateRecord::Proposal(proposal) => self.exchange.resolution.put(*proposal),
            StateRecord::Accrued(accrued) => self.put_accrued(accrued)?,
            StateRecord::DelayedOrder(delayed) => self.put_delayed(delayed)?,
            StateRecord::PendingWithdrawal(withdrawal) => self.put_withdrawal(withdrawal)?,
            StateRecord::Background(work) => self.exchange.background.push(*work),
            StateRecord::QuoteGroup(group) => self.put_quote_group(group)?,
            StateRecord::QuoteFill(fill) => self.put_quote_fill(fill)?,
            StateRecord::QuoteNet(net) => self.put_quote_net(net)?,
        }
        Ok(())
    }

    /// The exchange, with every link made.
    pub(crate) fn finish(mut self) -> Put<Exchange> {
        self.bind_wallets()?;
        self.link_orders()?;
        self.link_quotes()?;
        let markets = u32::try_from(self.exchange.markets.len()).expect("numbers have 32 bits");
        for market in (0..markets).map(MarketNumber) {
            self.exchange.reschedule(market);
        }
        Ok(self.exchange)
    }

    fn check_account(&self, account: AccountNumber) -> Put {
        let known = self.exchange.accounts.get(account);
        check(known.is_some(), "unknown account")
    }

    fn market(&self, market: MarketNumber) -> Put<&Market> {
        let known = self.exchange.markets.get_any(market);
        known.ok_or("unknown market")
    }
}
