//! The entry point of the exchange: dispatches each command to its handler.

use foretell_model::digest::StateDigest;
use foretell_model::limits::MAX_VISITED_ORDERS;
use foretell_model::{
    Command, CommandStamp, Event, OperatorNumber, RejectionReason, SandboxClock, Sequence, TimeNs,
    Verdict,
};

use crate::accounts::Accounts;
use crate::background::BackgroundQueue;
use crate::capacity::Capacity;
use crate::clock::Clock;
use crate::command_context::{CommandContext, HandlerResult, NotApplied, ensure, verdict};
use crate::delayed_queue::DelayedQueue;
use crate::event_group::EventGroups;
use crate::expiry::ExpiryHeap;
use crate::id_memory::IdMemory;
use crate::idempotency::References;
use crate::keys::Keys;
use crate::market::Markets;
use crate::operators::Operators;
use crate::order_pool::OrderPool;
use crate::placement::plan::Step;
use crate::policies::Policies;
use crate::positions::Positions;
use crate::quotes::QuoteGroups;
use crate::rebates::Rebates;
use crate::resolution::Resolution;
use crate::system::System;
use crate::table::KeyHasher;
use crate::withdrawals::Withdrawals;

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
    pub(crate) delayed: DelayedQueue,
    pub(crate) clock: Clock,
    pub(crate) ids: IdMemory,
    pub(crate) references: References,
    pub(crate) rebates: Rebates,
    pub(crate) policies: Policies,
    pub(crate) resolution: Resolution,
    pub(crate) background: BackgroundQueue,
    pub(crate) operators: Operators,
    pub(crate) withdrawals: Withdrawals,
    pub(crate) quotes: QuoteGroups,
    /// Slots of the orders that the current command is about to close; empty between commands.
    pub(crate) scratch: Vec<u32>,
    /// Steps of the last plan; used again by the next.
    pub(crate) steps: Vec<Step>,
    /// Of the last applied command; not part of the state.
    visited: usize,
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
            expiry: ExpiryHeap::with_capacity(capacity.expiring_orders, capacity.orders),
            delayed: DelayedQueue::with_capacity(capacity.delayed_orders, capacity.markets),
            clock: Clock::with_capacity(capacity.markets),
            ids: IdMemory::with_capacity(
                capacity.order_ids,
                capacity.timestamp_seconds,
                hasher.clone(),
            ),
            references: References::with_capacity(
                capacity.references,
                capacity.accounts,
                hasher.clone(),
            ),
            rebates: Rebates::with_capacity(capacity.accounts),
            policies: Policies::default(),
            resolution: Resolution::default(),
            background: BackgroundQueue::with_capacity(capacity.markets),
            operators: Operators::new(),
            withdrawals: Withdrawals::with_capacity(capacity.accounts, hasher.clone()),
            quotes: QuoteGroups::new(hasher),
            scratch: Vec::with_capacity(MAX_VISITED_ORDERS + 1),
            steps: Vec::with_capacity(MAX_VISITED_ORDERS),
            visited: 0,
        }
    }

    /// Applies one command and appends its events to `events`. The caller clears `events`
    /// and reserves [`foretell_model::limits::MAX_EVENTS`]. Only a command with
    /// [`Verdict::Applied`] changes state and takes the next sequence. A time before the state's
    /// time counts as the state's time. `beside` begins with the command's [`foretell_model::tail`].
    #[inline]
    pub fn apply_with(
        &mut self,
        command: &Command,
        beside: &[u8],
        stamp: impl Into<CommandStamp>,
        events: &mut Vec<Event>,
    ) -> Verdict {
        verdict(self.try_apply(command, beside, stamp.into(), events))
    }

    /// [`Self::apply_with`] for a command without a tail.
    #[inline]
    pub fn apply(
        &mut self,
        command: &Command,
        stamp: impl Into<CommandStamp>,
        events: &mut Vec<Event>,
    ) -> Verdict {
        self.apply_with(command, &[], stamp, events)
    }

    /// [`Self::apply`] without building the [`Verdict`]. Building it copies freshly written data in
    /// pieces, which stalls the CPU. Callers that only need success or failure skip that.
    pub(crate) fn try_apply(
        &mut self,
        command: &Command,
        beside: &[u8],
        stamp: CommandStamp,
        events: &mut Vec<Event>,
    ) -> HandlerResult {
        // The checks before those of the command itself: docs/verify/rules.md §2.
        let (sequence, now) = (
            self.system.sequence.next(),
            self.system.time.max(stamp.time),
        );
        if self.has_pending_work() && *command != Command::Continue {
            return Err(RejectionReason::WorkPending.into());
        }
        if self.is_time_due(now) {
            Self::ensure_takes_time(command)?;
        }
        if stamp.operator != OperatorNumber::NONE {
            self.ensure_operator(stamp.operator, command)?;
        }
        let mut context = CommandContext {
            kind: command.kind(),
            sequence,
            now,
            operator: stamp.operator,
            touched: stamp.touched,
            visited: stamp.touched.into(),
            beside,
            events,
        };
        let answer = self.dispatch(command, &mut context);
        if answer.is_ok() {
            self.visited = context.visited;
            self.system.sequence = sequence;
            // A move of a sandbox's clock has set a later one.
            self.system.time = self.system.time.max(now);
        }
        answer
    }

    /// While a thing is due, a command is applied only if it advances time or continues work.
    #[cold]
    fn ensure_takes_time(command: &Command) -> Result<(), NotApplied> {
        let takes_time = matches!(command, Command::AdvanceTime | Command::Continue);
        ensure(takes_time, RejectionReason::TimeDue)
    }

    /// One arm per command, in the order of their codes.
    #[inline(always)]
    fn dispatch(&mut self, command: &Command, context: &mut CommandContext<'_>) -> HandlerResult {
        match *command {
            Command::PlaceOrder(ref order) => self.place_order(order, context),
            Command::CancelOrder(ref command) => self.cancel_order(command, context),
            Command::CancelAll(ref command) => self.cancel_all(command, context),
            Command::CancelMarketOrders(ref command) => self.cancel_market_orders(command, context),
            Command::DecreaseOrder(ref command) => self.decrease_order(command, context),

            Command::SetQuotes(ref set) => self.set_quotes(set, context),
            Command::RenewQuotes(ref command) => self.renew_quotes(command, context),
            Command::SetQuoteLimits(ref command) => self.set_quote_limits(command, context),

            Command::Deposit(ref command) => self.deposit(command, context),
            Command::Withdraw(ref command) => self.withdraw(command, context),
            Command::WithdrawFees(ref command) => self.withdraw_fees(command, context),
            Command::BindWallet(ref command) => self.bind_wallet(command, context),
            Command::UnbindWallet { wallet } => self.unbind_wallet(wallet, context),
            Command::SetClosedOnly(ref command) => self.set_closed_only(command, context),
            Command::RegisterKey(ref command) => self.register_key(command, context),
            Command::RevokeKey(ref command) => self.revoke_key(command, context),
            Command::SetHeartbeat(ref command) => self.set_heartbeat(command, context),
            Command::Split(ref command) => self.split(command, context),
            Command::Merge(ref command) => self.merge(command, context),
            Command::Redeem(ref command) => self.redeem(command, context),
            Command::Convert(ref command) => self.convert(command, context),

            Command::RegisterEvent { event } => self.register_event(event, context),
            Command::RegisterMarket(ref market) => self.register_market(market, context),
            Command::ActivateMarket { market } => self.activate_market(market, context),
            Command::PauseMarket(ref command) => self.pause_market(command, context),
            Command::ResumeMarket(ref command) => self.resume_market(command, context),
            Command::CloseMarket { market } => self.close_market(market, context),
            Command::ResolveMarket(ref command) => self.resolve_market(command, context),
            Command::ArchiveMarket(ref command) => self.archive_market(command, context),
            Command::SetTick(ref command) => self.set_tick(command, context),
            Command::SetMinimumSize(ref command) => self.set_minimum_size(command, context),
            Command::SetFee(ref command) => self.set_fee(command, context),

            Command::SetMode { mode } => self.set_mode(mode, context),
            Command::ChangeSettings { ref settings } => self.change_settings(settings, context),
            Command::SwitchRules { rules } => self.switch_rules(rules, context),
            Command::AcceptDivergence { .. } => Self::accept_divergence(context),
            Command::RegisterDomain(ref command) => self.register_domain(command, context),
            Command::AdvanceTime => self.advance_clock(context),
            Command::Continue => self.continue_work(context),
            Command::AttestState(ref command) => self.attest_state(command, context),

            Command::RequestWithdrawal(ref command) => self.request_withdrawal(command, context),
            Command::CancelWithdrawal(ref command) => self.cancel_withdrawal(command, context),
            Command::ClaimWithdrawal { withdrawal } => self.claim_withdrawal(withdrawal, context),
            Command::PayWithdrawal(ref command) => self.pay_withdrawal(command, context),
            Command::FailWithdrawal { withdrawal } => self.fail_withdrawal(withdrawal, context),
            Command::PayRebates => self.pay_rebates(context),
            Command::SetTerms(ref command) => self.set_terms(command, context),
            Command::Propose(ref propose) => self.propose(propose, context),
            Command::Dispute(ref command) => self.dispute(command, context),
            Command::WithdrawProposal(ref command) => self.withdraw_proposal(command, context),
            Command::Finalise(ref command) => self.finalise(command, context),
            Command::SetPolicy(ref command) => self.set_policy(command, context),
            Command::ClearPolicy { market } => self.clear_policy(market, context),
            Command::ListWallet(ref command) => self.list_wallet(command, context),
            Command::Step => self.step(context),
            Command::SetPayments { ref payments } => self.set_payments(payments, context),
            Command::AddOperator(ref command) => self.add_operator(command, context),
            Command::RevokeOperator { operator } => self.revoke_operator(operator, context),
            Command::DescribeEvent { event } => self.describe_event(event, context),
            Command::DescribeMarket(ref edit) => self.describe_market(edit, context),
            Command::DescribeWallet { wallet } => Self::describe_wallet(wallet, context),
            Command::Begin(ref begin) => self.begin(begin, context),
            Command::Restore { branch } => self.restore(branch, context),
            Command::OpenWithdrawals => self.open_withdrawals(context),
            Command::Reopen { at } => self.reopen(at, context),
            Command::MoveClock(ref command) => self.move_clock(command, context),
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

    /// When the next thing falls due (docs/verify/rules.md §21); from then on `AdvanceTime`
    /// must precede every other command.
    #[must_use]
    pub const fn next_due(&self) -> Option<TimeNs> {
        self.clock.next
    }

    /// The clock of a sandbox; `None` on an exchange that is none.
    #[must_use]
    pub const fn sandbox_clock(&self) -> Option<SandboxClock> {
        match self.system.beginning.sandbox {
            true => Some(self.system.clock),
            false => None,
        }
    }

    /// Resting orders that the last applied command visited, and those that its stamp says were touched
    /// before. With what it ended, this bounds the next command of its group.
    #[must_use]
    pub const fn visited(&self) -> usize {
        self.visited
    }

    /// The digest of the state; independent of the layout in memory.
    #[must_use]
    pub fn digest(&self) -> [u8; 32] {
        let mut digest = StateDigest::default();
        self.visit_state(&mut |record| digest.push(record));
        digest.finish()
    }

    /// Number of live orders.
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
