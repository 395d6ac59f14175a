//! The entry point of the exchange: dispatches each command to its handler.

use foretell_model::digest::StateDigest;
use foretell_model::limits::MAX_VISITED_ORDERS;
use foretell_model::{
    Command, CommandStamp, Event, Rejection, RejectionReason, Sequence, TimeNs, Verdict,
};

use crate::accounts::Accounts;
use crate::cancel_requests::CancelRequests;
use crate::capacity::Capacity;
use crate::command_context::{CommandContext, HandlerResult, verdict};
use crate::event_group::EventGroups;
use crate::expiry::{self, ExpiryHeap};
use crate::id_memory::IdMemory;
use crate::idempotency::References;
use crate::keys::Keys;
use crate::market::Markets;
use crate::order_pool::OrderPool;
use crate::positions::Positions;
use crate::system::System;
use crate::table::KeyHasher;

/// The state of the exchange. Only [`Self::apply`] changes it from outside of the crate.
#[derive(Debug)]
pub struct Exchange {
    pub(crate) system: System,
    pub(crate) accounts: Accounts,
    pub(crate) keys: Keys,
    pub(crate) event_groups: EventGroups,
    pub(crate) markets: Markets,
    pub(crate) positions: Positions,
    pub(crate) orders: OrderPool,
    pub(crate) expiry: ExpiryHeap,
    pub(crate) ids: IdMemory,
    pub(crate) references: References,
    pub(crate) requests: CancelRequests,
    /// Slots of the orders that the current command is about to close; empty between commands.
    pub(crate) scratch: Vec<u32>,
}

impl Exchange {
    /// An empty exchange. `index_key` must be random: it keys the hash tables, so that clients
    /// cannot choose colliding keys. It changes no answer and no digest.
    #[must_use]
    pub fn new(capacity: Capacity, index_key: u64) -> Self {
        let hasher = KeyHasher::new(index_key);
        Self {
            system: System::default(),
            accounts: Accounts::with_capacity(capacity.accounts, hasher.clone()),
            keys: Keys::with_capacity(capacity.keys, hasher.clone()),
            event_groups: EventGroups::with_capacity(capacity.events, hasher.clone()),
            markets: Markets::with_capacity(capacity.markets, hasher.clone()),
            positions: Positions::with_capacity(capacity.positions, hasher.clone()),
            orders: OrderPool::with_capacity(capacity.orders),
            expiry: ExpiryHeap::with_capacity(capacity.expiring_orders),
            ids: IdMemory::with_capacity(
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
            requests: CancelRequests::with_capacity(capacity.requests, hasher),
            scratch: Vec::with_capacity(MAX_VISITED_ORDERS + 1),
        }
    }

    /// Applies one command and appends its events to `events`. The caller clears `events`
    /// and reserves [`foretell_model::limits::MAX_EVENTS`]. Only a command with
    /// [`Verdict::Applied`] changes state and takes the next sequence. A time before the state's
    /// time counts as the state's time.
    #[inline]
    pub fn apply(
        &mut self,
        command: &Command,
        stamp: impl Into<CommandStamp>,
        events: &mut Vec<Event>,
    ) -> Verdict {
        verdict(self.try_apply(command, stamp.into(), events))
    }

    /// [`Self::apply`] without building the [`Verdict`]. Building it copies freshly written data in
    /// pieces, which stalls the CPU. Callers that only need success or failure skip that.
    pub(crate) fn try_apply(
        &mut self,
        command: &Command,
        stamp: CommandStamp,
        events: &mut Vec<Event>,
    ) -> HandlerResult {
        if self.has_pending_work() && *command != Command::Continue {
            return Err(RejectionReason::WorkPending.into());
        }
        let (sequence, now) = (
            self.system.sequence.next(),
            self.system.time.max(stamp.time),
        );
        let mut context = CommandContext {
            rules: self.system.rules,
            code: command.code(),
            sequence,
            now,
            events,
        };
        let answer = self.dispatch(command, &mut context);
        if answer.is_ok() {
            self.system.sequence = sequence;
            self.system.time = now;
        }
        answer
    }

    /// One arm per command, in the order of their codes.
    #[inline(always)]
    fn dispatch(&mut self, command: &Command, context: &mut CommandContext<'_>) -> HandlerResult {
        match *command {
            Command::PlaceOrder(ref order) => self.place_order(order, context),
            Command::CancelOrder { owner, ref order } => self.cancel_order(owner, order, context),
            Command::CancelAll {
                owner,
                heartbeat,
                request,
            } => self.cancel_all(owner, heartbeat, request, context),
            Command::CancelMarketOrders {
                owner,
                market,
                outcome,
                request,
            } => self.cancel_market_orders(owner, market, outcome, request, context),

            Command::Deposit {
                wallet,
                amount,
                reference,
            } => self.deposit(wallet, amount, reference, context),
            Command::Withdraw {
                wallet,
                amount,
                reference,
            } => self.withdraw(wallet, amount, reference, context),
            Command::WithdrawFees { amount, reference } => {
                self.withdraw_fees(amount, reference, context)
            }
            Command::BindWallet {
                owner,
                wallet,
                kind,
            } => self.bind_wallet(owner, wallet, kind, context),
            Command::UnbindWallet { wallet } => self.unbind_wallet(wallet, context),
            Command::SetClosedOnly {
                wallet,
                closed_only,
            } => self.set_closed_only(wallet, closed_only, context),
            Command::RegisterKey {
                owner,
                nonce,
                api_key,
                read_only,
            } => self.register_key(owner, nonce, api_key, read_only, context),
            Command::RevokeKey { key, cancel_orders } => {
                self.revoke_key(key, cancel_orders, context)
            }
            Command::SetHeartbeat { owner, on } => self.set_heartbeat(owner, on, context),
            Command::Split {
                account,
                market,
                lots,
                reference,
            } => self.split(account, market, lots, reference, context),
            Command::Merge {
                account,
                market,
                lots,
                reference,
            } => self.merge(account, market, lots, reference, context),
            Command::Redeem {
                account,
                market,
                reference,
            } => self.redeem(account, market, reference, context),
            Command::Convert {
                account,
                event,
                questions,
                lots,
                reference,
            } => self.convert(account, event, (questions, lots), reference, context),

            Command::RegisterEvent { event } => self.register_event(event, context),
            Command::RegisterMarket(ref market) => self.register_market(market, context),
            Command::ActivateMarket { market } => self.activate_market(market, context),
            Command::PauseMarket { market } => self.pause_market(market, context),
            Command::ResumeMarket { market } => self.resume_market(market, context),
            Command::CloseMarket { market } => self.close_market(market, context),
            Command::ResolveMarket { market, payout } => {
                self.resolve_market(market, payout, context)
            }
            Command::ArchiveMarket { market, archived } => {
                self.archive_market(market, archived, context)
            }
            Command::SetTick { market, tick } => self.set_tick(market, tick, context),
            Command::SetMinimumSize {
                market,
                minimum_size,
            } => self.set_minimum_size(market, minimum_size, context),
            Command::SetFee { market, fee } => self.set_fee(market, fee, context),

            Command::SetMode { mode } => self.set_mode(mode, context),
            Command::ChangeSettings(ref settings) => self.change_settings(settings, context),
            Command::SwitchRules { rules } => self.switch_rules(rules, context),
            Command::AcceptDivergence { .. } => Self::accept_divergence(context),
            Command::RegisterDomain { domain, separator } => {
                self.register_domain(domain, separator, context)
            }
            Command::AdvanceTime => self.advance_time(context),
            Command::Continue => self.continue_work(context),
            Command::AttestState { sequence, .. } => self.attest_state(sequence, context),

            Command::ConfirmWithdrawal { .. }
            | Command::ReleaseWithdrawal { .. }
            | Command::PayRebates
            | Command::SetTerms { .. }
            | Command::Propose(_)
            | Command::Dispute { .. }
            | Command::WithdrawProposal { .. }
            | Command::Finalise { .. }
            | Command::SetPolicy { .. }
            | Command::ClearPolicy { .. }
            | Command::ListWallet { .. }
            | Command::Step
            | Command::SetPayments(_)
            | Command::AddOperator { .. }
            | Command::RevokeOperator { .. }
            | Command::DescribeEvent { .. }
            | Command::DescribeMarket { .. } => {
                let (needed, rules) = (command.first_rules(), context.rules.number());
                let reason = RejectionReason::NotInRules;
                Err(Rejection::with(reason, needed.into(), rules.into()).into())
            }
        }
    }
}

/// Read-only queries.
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

    /// When the next resting order expires; from then on `AdvanceTime` has an effect.
    #[must_use]
    pub fn next_due(&self) -> Option<TimeNs> {
        let safety = self.system.settings.gtd_safety_seconds;
        let first = self.expiry.first_expiration()?;
        Some(expiry::due(first, safety))
    }

    /// The digest of the state; independent of the layout in memory.
    #[must_use]
    pub fn digest(&self) -> [u8; 32] {
        let mut digest = StateDigest::default();
        self.visit_state(&mut |record| digest.push(record));
        digest.finish()
    }

    /// Number of resting orders.
    #[must_use]
    pub const fn live_orders(&self) -> usize {
        self.orders.len()
    }

    /// Number of registered markets.
    #[must_use]
    pub const fn markets(&self) -> usize {
        self.markets.len()
    }

    /// Number of opened accounts.
    #[must_use]
    pub const fn accounts(&self) -> usize {
        self.accounts.len()
    }
}
