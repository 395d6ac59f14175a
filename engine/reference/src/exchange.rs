//! The whole state as plain collections, and its only entry point.

use std::collections::BTreeMap;

use foretell_model::digest::PendingWork;
use foretell_model::{
    AccountNumber, Command, CommandStamp, DomainNumber, Event, MarketNumber, Micros, Sequence,
    Settings, SystemMode, TimeMs, TimeNs, Verdict,
};

use crate::accounts::Account;
use crate::event_groups::EventGroup;
use crate::handler_result::{HandlerResult, NotApplied};
use crate::keys::Key;
use crate::maps::Names;
use crate::markets::{Market, Shares};
use crate::order_ids::OrderIds;
use crate::orders::LiveOrders;
use crate::references::References;
use crate::requests::Requests;

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
    pub(crate) domains: BTreeMap<DomainNumber, [u8; 32]>,
    pub(crate) accounts: Vec<Account>,
    pub(crate) keys: Vec<Key>,
    pub(crate) event_groups: Vec<EventGroup>,
    pub(crate) markets: Vec<Market>,
    /// Free shares.
    pub(crate) free_shares: BTreeMap<(AccountNumber, MarketNumber), Shares>,
    /// Live orders; reserved amounts are computed from them.
    pub(crate) orders: LiveOrders,
    pub(crate) order_ids: OrderIds,
    pub(crate) references: References,
    pub(crate) requests: Requests,
    pub(crate) names: Names,
}

/// A command's position in the journal: the sequence that it takes if applied, and its time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stamp {
    pub(crate) sequence: Sequence,
    pub(crate) time: TimeNs,
}

impl Default for Exchange {
    fn default() -> Self {
        Self::new()
    }
}

impl Exchange {
    /// An exchange before its first command: running, rules 1, default settings, empty.
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
            event_groups: Vec::new(),
            markets: Vec::new(),
            free_shares: BTreeMap::new(),
            orders: LiveOrders::default(),
            order_ids: OrderIds::default(),
            references: References::default(),
            requests: Requests::default(),
            names: Names::default(),
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

    /// When the first live order expires under the current settings.
    #[must_use]
    pub fn next_due(&self) -> Option<TimeNs> {
        let first = self.orders.expiring().next()?;
        first.due(&self.settings)
    }

    /// Applies one command and appends its events to `events`. A command that is not
    /// applied changes nothing. A time before the last one counts as the last.
    pub fn apply(
        &mut self,
        command: &Command,
        stamp: impl Into<CommandStamp>,
        events: &mut Vec<Event>,
    ) -> Verdict {
        let CommandStamp { time, .. } = stamp.into();
        let at = Stamp {
            sequence: self.sequence.next(),
            time: time.max(self.time),
        };
        match self.dispatch(command, at, events) {
            Ok(outcome) => {
                self.sequence = at.sequence;
                self.time = at.time;
                Verdict::Applied(outcome)
            }
            Err(stop) => stop.into(),
        }
    }

    /// One line per command. While work is pending, only `Continue` is accepted.
    fn dispatch(&mut self, command: &Command, at: Stamp, events: &mut Vec<Event>) -> HandlerResult {
        if self.has_pending_work() && *command != Command::Continue {
            return Err(NotApplied::from(
                foretell_model::RejectionReason::WorkPending,
            ));
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
                let (needed, rules) = (command.first_rules(), self.rules);
                let reason = foretell_model::RejectionReason::NotInRules;
                let rejection =
                    foretell_model::Rejection::with(reason, needed.into(), rules.into());
                Err(NotApplied::from(rejection))
            }
        }
    }
}

/// Whether something of this time has been kept for longer than that.
pub(crate) fn is_over(since: TimeNs, kept: u64, now: TimeNs) -> bool {
    since.0.saturating_add(kept) < now.0
}
