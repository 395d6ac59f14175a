//! The whole state in plain sight, and the one door into it.

use std::collections::BTreeMap;

use foretell_model::digest::PendingWork;
use foretell_model::{
    AccountNumber, Command, DomainNumber, Event, MarketNumber, Micros, OrderNumber, Sequence,
    Settings, SystemMode, TimeMs, TimeNs, Verdict,
};

use crate::accounts::Account;
use crate::answer::{Answer, Stop};
use crate::events::NegRiskEvent;
use crate::keys::Key;
use crate::markets::{Market, Shares};
use crate::memory::{RememberedOrder, RememberedReference, RememberedRequest};
use crate::orders::Order;

/// The naive exchange. Accounts, keys, events and markets stand at the index of their number.
#[derive(Clone, Debug)]
pub struct Exchange {
    pub(crate) rules: u32,
    pub(crate) sequence: Sequence,
    pub(crate) time: TimeNs,
    pub(crate) mode: SystemMode,
    pub(crate) settings: Settings,
    pub(crate) timestamp_floor: TimeMs,
    /// Deposits less withdrawals, fees withdrawn included.
    pub(crate) collateral: Micros,
    pub(crate) fees: Micros,
    pub(crate) pending: Option<PendingWork>,
    pub(crate) domains: BTreeMap<DomainNumber, [u8; 32]>,
    pub(crate) accounts: Vec<Account>,
    pub(crate) keys: Vec<Key>,
    pub(crate) events: Vec<NegRiskEvent>,
    pub(crate) markets: Vec<Market>,
    /// Shares not reserved.
    pub(crate) free_shares: BTreeMap<(AccountNumber, MarketNumber), Shares>,
    /// Live orders; what they reserve is nowhere else.
    pub(crate) orders: BTreeMap<OrderNumber, Order>,
    pub(crate) remembered_orders: BTreeMap<OrderNumber, RememberedOrder>,
    pub(crate) references: Vec<RememberedReference>,
    pub(crate) requests: Vec<RememberedRequest>,
}

/// Where in the journal a command stands: the sequence it takes if it is applied, and its time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct At {
    pub(crate) sequence: Sequence,
    pub(crate) time: TimeNs,
}

impl Default for Exchange {
    fn default() -> Self {
        Self::new()
    }
}

impl Exchange {
    /// An exchange before its first command: running, rules 1, default settings, nothing in it.
    #[must_use]
    pub fn new() -> Self {
        Self {
            rules: 1,
            sequence: Sequence(0),
            time: TimeNs(0),
            mode: SystemMode::Running,
            settings: Settings::default(),
            timestamp_floor: TimeMs(0),
            collateral: Micros::ZERO,
            fees: Micros::ZERO,
            pending: None,
            domains: BTreeMap::new(),
            accounts: Vec::new(),
            keys: Vec::new(),
            events: Vec::new(),
            markets: Vec::new(),
            free_shares: BTreeMap::new(),
            orders: BTreeMap::new(),
            remembered_orders: BTreeMap::new(),
            references: Vec::new(),
            requests: Vec::new(),
        }
    }

    /// Sequence of the last applied command; 0 before the first.
    #[must_use]
    pub const fn sequence(&self) -> Sequence {
        self.sequence
    }

    /// Whether `Continue` must come next.
    #[must_use]
    pub const fn has_pending_work(&self) -> bool {
        self.pending.is_some()
    }

    /// When the first live order expires, by the current settings.
    #[must_use]
    pub fn next_due(&self) -> Option<TimeNs> {
        self.orders
            .values()
            .filter_map(|order| order.due(&self.settings))
            .min()
    }

    /// Carries out one command at a time; what happened is appended to `events`. A command that is
    /// not applied changes nothing. Time never goes back: an earlier one counts as the last.
    pub fn apply(&mut self, command: &Command, time: TimeNs, events: &mut Vec<Event>) -> Verdict {
        let at = At {
            sequence: self.sequence.next(),
            time: time.max(self.time),
        };
        match self.carry_out(command, at, events) {
            Ok(outcome) => {
                self.sequence = at.sequence;
                self.time = at.time;
                Verdict::Applied(outcome)
            }
            Err(stop) => stop.into(),
        }
    }

    /// One line a command. Nothing but `Continue` is taken while work is pending.
    fn carry_out(&mut self, command: &Command, at: At, events: &mut Vec<Event>) -> Answer {
        if self.has_pending_work() && *command != Command::Continue {
            return Err(Stop::from(foretell_model::RefusalReason::WorkPending));
        }
        match *command {
            Command::PlaceOrder(placed) => self.place_order(&placed, at, events),
            Command::CancelOrder { owner, order } => self.cancel_order(owner, order, events),
            Command::CancelAll {
                owner,
                heartbeat,
                request,
            } => self.cancel_all(owner, heartbeat, request, at, events),
            Command::CancelMarketOrders {
                owner,
                market,
                outcome,
                request,
            } => self.cancel_market_orders(owner, market, outcome, request, at, events),

            Command::Deposit {
                wallet,
                amount,
                reference,
            } => self.deposit(wallet, amount, reference, at, events),
            Command::Withdraw {
                wallet,
                amount,
                reference,
            } => self.withdraw(wallet, amount, reference, at, events),
            Command::WithdrawFees { amount, reference } => {
                self.withdraw_fees(amount, reference, at, events)
            }
            Command::BindWallet {
                owner,
                wallet,
                kind,
            } => self.bind_wallet(owner, wallet, kind, events),
            Command::UnbindWallet { wallet } => self.unbind_wallet(wallet, events),
            Command::SetClosedOnly {
                wallet,
                closed_only,
            } => self.set_closed_only(wallet, closed_only, at, events),
            Command::RegisterKey {
                owner,
                nonce,
                api_key,
                read_only,
            } => self.register_key(owner, nonce, api_key, read_only, events),
            Command::RevokeKey { key, cancel_orders } => {
                self.revoke_key(key, cancel_orders, at, events)
            }
            Command::SetHeartbeat { owner, on } => self.set_heartbeat(owner, on, events),
            Command::Split {
                account,
                market,
                lots,
                reference,
            } => self.split(account, market, lots, reference, at, events),
            Command::Merge {
                account,
                market,
                lots,
                reference,
            } => self.merge(account, market, lots, reference, at, events),
            Command::Redeem {
                account,
                market,
                reference,
            } => self.redeem(account, market, reference, at, events),
            Command::Convert {
                account,
                event,
                questions,
                lots,
                reference,
            } => self.convert(account, event, questions, lots, reference, at, events),

            Command::RegisterEvent { event } => self.register_event(event, events),
            Command::RegisterMarket(market) => self.register_market(&market, events),
            Command::ActivateMarket { market } => self.activate_market(market, events),
            Command::PauseMarket { market } => self.pause_market(market, events),
            Command::ResumeMarket { market } => self.resume_market(market, events),
            Command::CloseMarket { market } => self.close_market(market, at, events),
            Command::ResolveMarket { market, payout } => {
                self.resolve_market(market, payout, events)
            }
            Command::ArchiveMarket { market, archived } => {
                self.archive_market(market, archived, events)
            }
            Command::SetTick { market, tick } => self.set_tick(market, tick, events),
            Command::SetMinimumSize {
                market,
                minimum_size,
            } => self.set_minimum_size(market, minimum_size, events),
            Command::SetFee { market, fee } => self.set_fee(market, fee, events),

            Command::SetMode { mode } => self.set_mode(mode, events),
            Command::ChangeSettings(settings) => self.change_settings(settings, at, events),
            Command::SwitchRules { rules } => self.switch_rules(rules, events),
            Command::AcceptDivergence { .. } => Ok(Self::accept_divergence(events)),
            Command::RegisterDomain { domain, separator } => {
                self.register_domain(domain, separator, events)
            }
            Command::AdvanceTime => self.advance_time(at, events),
            Command::Continue => self.continue_work(at, events),
            Command::AttestState { sequence, .. } => self.attest_state(sequence, events),
        }
    }
}
