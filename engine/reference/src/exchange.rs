//! The whole state as plain collections, and its only entry point.

use std::collections::{BTreeMap, BTreeSet};

use foretell_model::command::Begin;
use foretell_model::limits::FIRST_RULES;
use foretell_model::limits::MAX_VISITED_ORDERS;
use foretell_model::state::PendingWork;
use foretell_model::{
    AccountNumber, Branch, Command, CommandStamp, DomainNumber, Event, MarketNumber, Micros,
    OperatorNumber, PaymentSettings, RejectionReason, ResolutionPolicy, SandboxClock, Sequence,
    Settings, SystemMode, TimeMs, TimeNs, Verdict,
};

use crate::accounts::Account;
use crate::background::Background;
use crate::clock::Thing;
use crate::delayed_orders::DelayedOrders;
use crate::event_groups::EventGroup;
use crate::handler_result::{HandlerResult, NotApplied, ensure};
use crate::keys::Key;
use crate::maps::Names;
use crate::markets::{Market, Shares};
use crate::operators::Operator;
use crate::order_ids::OrderIds;
use crate::orders::LiveOrders;
use crate::policies::Permissions;
use crate::quote_groups::{GroupName, QuoteGroup};
use crate::rebates::Accrued;
use crate::references::References;
use crate::withdrawals::Withdrawal;

/// The reference exchange. Accounts, keys, event groups and markets are indexed by their number.
#[derive(Clone, Debug)]
pub struct Exchange {
    pub(crate) rules: u32,
    pub(crate) sequence: Sequence,
    pub(crate) time: TimeNs,
    pub(crate) mode: SystemMode,
    pub(crate) settings: Settings,
    pub(crate) timestamp_floor: TimeMs,
    /// Deposits minus withdrawals, withdrawn fees included.
    pub(crate) collateral: Micros,
    pub(crate) fees: Micros,
    pub(crate) pending: Option<PendingWork>,
    pub(crate) beginning: Begin,
    pub(crate) clock: SandboxClock,
    /// Of the last restore.
    pub(crate) branch: Branch,
    pub(crate) domains: BTreeMap<DomainNumber, [u8; 32]>,
    pub(crate) accounts: Vec<Account>,
    pub(crate) keys: Vec<Key>,
    pub(crate) event_groups: Vec<EventGroup>,
    pub(crate) markets: Vec<Market>,
    /// Free shares.
    pub(crate) free_shares: BTreeMap<(AccountNumber, MarketNumber), Shares>,
    /// Resting orders; reserved amounts are computed from them.
    pub(crate) orders: LiveOrders,
    /// Orders that wait out a delay; they reserve, too.
    pub(crate) delayed: DelayedOrders,
    pub(crate) quote_groups: BTreeMap<GroupName, QuoteGroup>,
    pub(crate) order_ids: OrderIds,
    pub(crate) references: References,
    pub(crate) names: Names,
    pub(crate) payments: PaymentSettings,
    /// Of the site.
    pub(crate) policy: ResolutionPolicy,
    /// What listed wallets may do, by list (the site's is `None`) and account.
    pub(crate) listed: BTreeMap<(Option<MarketNumber>, AccountNumber), Permissions>,
    /// By number, from 1.
    pub(crate) operators: Vec<Operator>,
    pub(crate) accrued: Accrued,
    /// By number; their amounts are reserved.
    pub(crate) withdrawals: BTreeMap<Sequence, Withdrawal>,
    /// Since a restore, until an operator reconciles.
    pub(crate) withdrawals_shut: bool,
    /// Since when somebody can dispute again.
    pub(crate) reopened: TimeNs,
    /// The queue of work for `Step`, the first entry first.
    pub(crate) background: Vec<Background>,
    /// What falls due because of the markets' terms and proposals.
    pub(crate) clocks: BTreeSet<(TimeNs, Thing)>,
}

/// A command's position in the journal: the sequence that it takes if applied, and its stamp.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stamp {
    pub(crate) sequence: Sequence,
    pub(crate) time: TimeNs,
    pub(crate) operator: OperatorNumber,
    /// Orders touched by earlier commands of the group.
    pub(crate) touched: u16,
}

impl Stamp {
    /// Resting orders that the command may visit or end.
    pub(crate) fn visits(&self) -> usize {
        MAX_VISITED_ORDERS.saturating_sub(usize::from(self.touched))
    }
}

impl Default for Exchange {
    fn default() -> Self {
        Self::new()
    }
}

impl Exchange {
    /// An exchange before its first command: running, the first rules, default settings, the first admin.
    #[must_use]
    pub fn new() -> Self {
        Self {
            rules: FIRST_RULES,
            sequence: Sequence(0),
            time: TimeNs(0),
            mode: SystemMode::Running,
            settings: Settings::default(),
            timestamp_floor: TimeMs(0),
            collateral: Micros::ZERO,
            fees: Micros::ZERO,
            pending: None,
            beginning: Begin::default(),
            clock: SandboxClock::default(),
            branch: Branch::ZERO,
            domains: BTreeMap::new(),
            accounts: Vec::new(),
            keys: Vec::new(),
            event_groups: Vec::new(),
            markets: Vec::new(),
            free_shares: BTreeMap::new(),
            orders: LiveOrders::default(),
            delayed: DelayedOrders::default(),
            quote_groups: BTreeMap::new(),
            order_ids: OrderIds::default(),
            references: References::default(),
            names: Names::default(),
            payments: PaymentSettings::default(),
            policy: ResolutionPolicy::default(),
            listed: BTreeMap::new(),
            operators: Operator::first(),
            accrued: Accrued::default(),
            withdrawals: BTreeMap::new(),
            withdrawals_shut: false,
            reopened: TimeNs(0),
            background: Vec::new(),
            clocks: BTreeSet::new(),
        }
    }

    /// Sequence of the last applied command; 0 before the first.
    #[must_use]
    pub const fn sequence(&self) -> Sequence {
        self.sequence
    }

    /// Whether `Continue` must be the next command.
    #[must_use]
    pub const fn has_pending_work(&self) -> bool {
        self.pending.is_some()
    }

    /// When the first thing falls due: the expiry of a live order, or any of
    /// docs/verify/rules.md §21.
    #[must_use]
    pub fn next_due(&self) -> Option<TimeNs> {
        self.first_due().map(|(due, _)| due)
    }

    /// [`Self::apply_with`] for a command without a tail.
    pub fn apply(
        &mut self,
        command: &Command,
        stamp: impl Into<CommandStamp>,
        events: &mut Vec<Event>,
    ) -> Verdict {
        self.apply_with(command, &[], stamp, events)
    }

    /// Applies one command and appends its events to `events`. A command that is not
    /// applied changes nothing. A time before the last one counts as the last. `beside` begins with the
    /// command's [`foretell_model::tail`].
    pub fn apply_with(
        &mut self,
        command: &Command,
        beside: &[u8],
        stamp: impl Into<CommandStamp>,
        events: &mut Vec<Event>,
    ) -> Verdict {
        let stamp = stamp.into();
        let at = Stamp {
            sequence: self.sequence.next(),
            time: stamp.time.max(self.time),
            operator: stamp.operator,
            touched: stamp.touched,
        };
        let accrued = self.accrued.total();
        let checked = self.check_order_of_commands(command, at);
        match checked.and_then(|()| self.dispatch(command, beside, at, events)) {
            Ok(outcome) => {
                self.note_accrued(accrued, at);
                self.sequence = at.sequence;
                self.time = self.time.max(at.time);
                Verdict::Applied(outcome)
            }
            Err(stop) => stop.into(),
        }
    }

    /// What comes before a command's own checks. While work is pending, only `Continue` is accepted;
    /// while a thing is due, only `AdvanceTime`.
    fn check_order_of_commands(&self, command: &Command, at: Stamp) -> Result<(), NotApplied> {
        let continues = *command == Command::Continue;
        ensure(
            continues || !self.has_pending_work(),
            RejectionReason::WorkPending,
        )?;
        let takes_time = continues || *command == Command::AdvanceTime;
        ensure(
            takes_time || !self.is_anything_due(at.time),
            RejectionReason::TimeDue,
        )?;
        self.check_operator(at.operator, command)
    }

    /// One line per command.
    fn dispatch(
        &mut self,
        command: &Command,
        beside: &[u8],
        at: Stamp,
        events: &mut Vec<Event>,
    ) -> HandlerResult {
        match *command {
            Command::PlaceOrder(placed) => self.place_order(&placed, at, events),
            Command::CancelOrder(ref command) => self.cancel_order(command, events),
            Command::CancelAll(ref command) => self.cancel_all(command, at, events),
            Command::CancelMarketOrders(ref command) => {
                self.cancel_market_orders(command, at, events)
            }
            Command::DecreaseOrder(ref command) => self.decrease_order(command, events),
            Command::SetQuotes(set) => self.set_quotes(&set, beside, at, events),
            Command::RenewQuotes(ref command) => self.renew_quotes(command, at, events),
            Command::SetQuoteLimits(ref command) => self.set_quote_limits(command, events),

            Command::Deposit(ref command) => self.deposit(command, at, events),
            Command::Withdraw(ref command) => self.withdraw(command, at, events),
            Command::WithdrawFees(ref command) => self.withdraw_fees(command, at, events),
            Command::BindWallet(ref command) => self.bind_wallet(command, at, events),
            Command::UnbindWallet { wallet } => self.unbind_wallet(wallet, events),
            Command::SetClosedOnly(ref command) => self.set_closed_only(command, at, events),
            Command::RegisterKey(ref command) => self.register_key(command, events),
            Command::RevokeKey(ref command) => self.revoke_key(command, at, events),
            Command::SetHeartbeat(ref command) => self.set_heartbeat(command, events),
            Command::Split(ref command) => self.split(command, at, events),
            Command::Merge(ref command) => self.merge(command, at, events),
            Command::Redeem(ref command) => self.redeem(command, at, events),
            Command::Convert(ref command) => self.convert(command, at, events),

            Command::RegisterEvent { event } => self.register_event(event, events),
            Command::RegisterMarket(market) => self.register_market(&market, beside, at, events),
            Command::ActivateMarket { market } => self.activate_market(market, events),
            Command::PauseMarket(ref command) => self.pause_market(command, at, events),
            Command::ResumeMarket(ref command) => self.resume_market(command, at, events),
            Command::CloseMarket { market } => self.close_market(market, at, events),
            Command::ResolveMarket(ref command) => self.resolve_market(command, at, events),
            Command::ArchiveMarket(ref command) => self.archive_market(command, events),
            Command::SetTick(ref command) => self.set_tick(command, events),
            Command::SetMinimumSize(ref command) => self.set_minimum_size(command, events),
            Command::SetFee(ref command) => self.set_fee(command, at, events),

            Command::SetMode { mode } => self.set_mode(mode, events),
            Command::ChangeSettings { settings } => self.change_settings(settings, at, events),
            Command::SwitchRules { rules } => self.switch_rules(rules, events),
            Command::AcceptDivergence { .. } => Ok(Self::accept_divergence(events)),
            Command::RegisterDomain(ref command) => self.register_domain(command, events),
            Command::AdvanceTime => self.advance_time(at, events),
            Command::Continue => self.continue_work(at, events),
            Command::AttestState(ref command) => self.attest_state(command, events),

            Command::RequestWithdrawal(ref command) => self.request_withdrawal(command, at, events),
            Command::CancelWithdrawal(ref command) => self.cancel_withdrawal(command, events),
            Command::ClaimWithdrawal { withdrawal } => {
                self.claim_withdrawal(withdrawal, at, events)
            }
            Command::PayWithdrawal(ref command) => self.pay_withdrawal(command, at, events),
            Command::FailWithdrawal { withdrawal } => self.fail_withdrawal(withdrawal, at, events),
            Command::PayRebates => self.pay_rebates(at, events),
            Command::SetTerms(ref command) => self.set_terms(command, at, events),
            Command::Propose(proposed) => self.propose(&proposed, at, events),
            Command::Dispute(ref command) => self.dispute(command, at, events),
            Command::WithdrawProposal(ref command) => self.withdraw_proposal(command, at, events),
            Command::Finalise(ref command) => self.finalise(command, at, events),
            Command::SetPolicy(ref command) => self.set_policy(command, events),
            Command::ClearPolicy { market } => self.clear_policy(market, events),
            Command::ListWallet(ref command) => self.list_wallet(command, events),
            Command::Step => self.step(at, events),
            Command::SetPayments { payments } => self.set_payments(payments, events),
            Command::AddOperator(ref command) => self.add_operator(command, at, events),
            Command::RevokeOperator { operator } => self.revoke_operator(operator, at, events),
            Command::DescribeEvent { event } => self.describe_event(event, at, events),
            Command::DescribeMarket(ref command) => self.describe_market(command, at, events),
            Command::DescribeWallet { wallet } => Self::describe_wallet(wallet, events),
            Command::Begin(beginning) => self.begin_journal(beginning, events),
            Command::Restore { branch } => self.restore(branch, at, events),
            Command::OpenWithdrawals => self.open_withdrawals(at, events),
            Command::Reopen { at: since } => self.reopen(since, at, events),
            Command::MoveClock(ref command) => self.move_clock(command, at, events),
        }
    }
}

/// Whether something of this time has been kept for longer than that.
pub(crate) fn is_over(since: TimeNs, kept: u64, now: TimeNs) -> bool {
    since.0.saturating_add(kept) < now.0
}
