//! The one door of the exchange: every command comes in here and is handed to its handler.

use foretell_model::digest::StateDigest;
use foretell_model::limits::MAX_TOUCHED;
use foretell_model::{Command, Event, RefusalReason, Sequence, TimeNs, Verdict};

use crate::accounts::Accounts;
use crate::capacity::Capacity;
use crate::event::Events;
use crate::expiry::{self, ExpiryHeap};
use crate::keys::Keys;
use crate::market::Markets;
use crate::order_index::OrderIndex;
use crate::order_pool::OrderPool;
use crate::positions::Positions;
use crate::references::References;
use crate::requests::Requests;
use crate::step::{Answer, Step, verdict};
use crate::system::System;
use crate::table::KeyHasher;

/// The state of the exchange. [`Self::apply`] is the only way to change it from outside.
#[derive(Debug)]
pub struct Exchange {
    pub(crate) system: System,
    pub(crate) accounts: Accounts,
    pub(crate) keys: Keys,
    pub(crate) events: Events,
    pub(crate) markets: Markets,
    pub(crate) positions: Positions,
    pub(crate) orders: OrderPool,
    pub(crate) expiry: ExpiryHeap,
    pub(crate) index: OrderIndex,
    pub(crate) references: References,
    pub(crate) requests: Requests,
    /// Orders one command is about to end; empty between commands.
    pub(crate) scratch: Vec<u32>,
}

impl Exchange {
    /// An empty exchange. `index_key` should be random: it keys the hash tables, so that nobody
    /// outside can make their keys collide; it changes no answer and no digest.
    #[must_use]
    pub fn new(capacity: Capacity, index_key: u64) -> Self {
        let hasher = KeyHasher::new(index_key);
        Self {
            system: System::default(),
            accounts: Accounts::with_capacity(capacity.accounts, hasher.clone()),
            keys: Keys::with_capacity(capacity.keys, hasher.clone()),
            events: Events::with_capacity(capacity.events, hasher.clone()),
            markets: Markets::with_capacity(capacity.markets, hasher.clone()),
            positions: Positions::with_capacity(capacity.positions, hasher.clone()),
            orders: OrderPool::with_capacity(capacity.orders),
            expiry: ExpiryHeap::with_capacity(capacity.expiring_orders),
            index: OrderIndex::with_capacity(
                capacity.order_ids,
                capacity.timestamp_seconds,
                capacity.accounts,
                hasher.clone(),
            ),
            references: References::with_capacity(
                capacity.references,
                capacity.accounts,
                hasher.clone(),
            ),
            requests: Requests::with_capacity(capacity.requests, hasher),
            scratch: Vec::with_capacity(MAX_TOUCHED + 1),
        }
    }

    /// Applies one command at `time` and appends what happened to `events` (the caller clears it,
    /// and reserves [`foretell_model::limits::MAX_EVENTS`]). Only a command that is
    /// [`Verdict::Applied`] changes anything; it takes the next sequence. A `time` before that of
    /// the state counts as the state's.
    #[inline]
    pub fn apply(&mut self, command: &Command, time: TimeNs, events: &mut Vec<Event>) -> Verdict {
        verdict(self.answer(command, time, events))
    }

    /// [`Self::apply`] before its verdict. Putting that together copies what was just written piece by
    /// piece, for which the processor waits: a caller that wants no more than to know that it was applied
    /// is spared that.
    pub(crate) fn answer(
        &mut self,
        command: &Command,
        time: TimeNs,
        events: &mut Vec<Event>,
    ) -> Answer {
        if self.has_pending_work() && *command != Command::Continue {
            return Err(RefusalReason::WorkPending.into());
        }
        let (sequence, now) = (self.system.sequence.next(), self.system.time.max(time));
        let mut step = Step {
            rules: self.system.rules,
            code: command.code(),
            sequence,
            now,
            events,
        };
        let answer = self.dispatch(command, &mut step);
        if answer.is_ok() {
            self.system.sequence = sequence;
            self.system.time = now;
        }
        answer
    }

    /// One arm a command, in the order of their numbers.
    #[inline(always)]
    fn dispatch(&mut self, command: &Command, step: &mut Step<'_>) -> Answer {
        match *command {
            Command::PlaceOrder(ref order) => self.place_order(order, step),
            Command::CancelOrder { owner, ref order } => self.cancel_order(owner, order, step),
            Command::CancelAll {
                owner,
                heartbeat,
                request,
            } => self.cancel_all(owner, heartbeat, request, step),
            Command::CancelMarketOrders {
                owner,
                market,
                outcome,
                request,
            } => self.cancel_market_orders(owner, market, outcome, request, step),

            Command::Deposit {
                wallet,
                amount,
                reference,
            } => self.deposit(wallet, amount, reference, step),
            Command::Withdraw {
                wallet,
                amount,
                reference,
            } => self.withdraw(wallet, amount, reference, step),
            Command::WithdrawFees { amount, reference } => {
                self.withdraw_fees(amount, reference, step)
            }
            Command::BindWallet {
                owner,
                wallet,
                kind,
            } => self.bind_wallet(owner, wallet, kind, step),
            Command::UnbindWallet { wallet } => self.unbind_wallet(wallet, step),
            Command::SetClosedOnly {
                wallet,
                closed_only,
            } => self.set_closed_only(wallet, closed_only, step),
            Command::RegisterKey {
                owner,
                nonce,
                api_key,
                read_only,
            } => self.register_key(owner, nonce, api_key, read_only, step),
            Command::RevokeKey { key, cancel_orders } => self.revoke_key(key, cancel_orders, step),
            Command::SetHeartbeat { owner, on } => self.set_heartbeat(owner, on, step),
            Command::Split {
                account,
                market,
                lots,
                reference,
            } => self.split(account, market, lots, reference, step),
            Command::Merge {
                account,
                market,
                lots,
                reference,
            } => self.merge(account, market, lots, reference, step),
            Command::Redeem {
                account,
                market,
                reference,
            } => self.redeem(account, market, reference, step),
            Command::Convert {
                account,
                event,
                questions,
                lots,
                reference,
            } => self.convert(account, event, (questions, lots), reference, step),

            Command::RegisterEvent { event } => self.register_event(event, step),
            Command::RegisterMarket(ref market) => self.register_market(market, step),
            Command::ActivateMarket { market } => self.activate_market(market, step),
            Command::PauseMarket { market } => self.pause_market(market, step),
            Command::ResumeMarket { market } => self.resume_market(market, step),
            Command::CloseMarket { market } => self.close_market(market, step),
            Command::ResolveMarket { market, payout } => self.resolve_market(market, payout, step),
            Command::ArchiveMarket { market, archived } => {
                self.archive_market(market, archived, step)
            }
            Command::SetTick { market, tick } => self.set_tick(market, tick, step),
            Command::SetMinimumSize {
                market,
                minimum_size,
            } => self.set_minimum_size(market, minimum_size, step),
            Command::SetFee { market, fee } => self.set_fee(market, fee, step),

            Command::SetMode { mode } => self.set_mode(mode, step),
            Command::ChangeSettings(ref settings) => self.change_settings(settings, step),
            Command::SwitchRules { rules } => self.switch_rules(rules, step),
            Command::AcceptDivergence { .. } => Self::accept_divergence(step),
            Command::RegisterDomain { domain, separator } => {
                self.register_domain(domain, separator, step)
            }
            Command::AdvanceTime => self.advance_time(step),
            Command::Continue => self.continue_work(step),
            Command::AttestState { sequence, .. } => self.attest_state(sequence, step),
        }
    }
}

/// What can be asked without a command.
impl Exchange {
    /// Sequence of the last applied command; 0 before the first.
    #[must_use]
    pub const fn sequence(&self) -> Sequence {
        self.system.sequence
    }

    /// Whether `Continue` must be the next command.
    #[must_use]
    pub const fn has_pending_work(&self) -> bool {
        self.system.pending.is_some()
    }

    /// When the next resting order expires: from then on `AdvanceTime` has something to do.
    #[must_use]
    pub fn next_due(&self) -> Option<TimeNs> {
        let safety = self.system.settings.gtd_safety_seconds;
        let first = self.expiry.first_expiration()?;
        Some(expiry::due(first, safety))
    }

    /// The digest of the state: the same for equal states, whatever their layout in memory.
    #[must_use]
    pub fn digest(&self) -> [u8; 32] {
        let mut digest = StateDigest::default();
        self.visit_state(&mut |record| digest.push(record));
        digest.finish()
    }

    /// Orders that rest.
    #[must_use]
    pub const fn live_orders(&self) -> usize {
        self.orders.len()
    }

    /// Markets registered.
    #[must_use]
    pub const fn markets(&self) -> usize {
        self.markets.len()
    }

    /// Accounts opened.
    #[must_use]
    pub const fn accounts(&self) -> usize {
        self.accounts.len()
    }
}
