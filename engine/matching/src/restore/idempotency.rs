//! Restores references (for idempotency) and pending work.

use foretell_model::limits::REFERENCES_PER_ACCOUNT;
use foretell_model::state::PendingWork;
use foretell_model::{
    AccountNumber, CloseReason, CommandKind, CommandOutcome, EventNumber, MarketNumber,
    MarketState, Micros,
};

use crate::idempotency::UsedReference;
use crate::restore::{Checked, Restorer, check};

/// Rebuilds the outcome of a command with a reference.
pub(super) fn outcome_of(
    kind: CommandKind,
    account: AccountNumber,
    collateral: Micros,
) -> Result<CommandOutcome, &'static str> {
    use CommandKind::{Convert, Deposit, Merge, Propose, Redeem, Split, Withdraw, WithdrawFees};
    match kind {
        Deposit | Withdraw if collateral.is_zero() => Ok(CommandOutcome::Account(account)),
        WithdrawFees | Propose if collateral.is_zero() => Ok(CommandOutcome::Done),
        Split | Merge | Redeem | Convert => Ok(CommandOutcome::Collateral(collateral)),
        _ => Err("no command of this kind has this outcome"),
    }
}

impl Restorer {
    pub(super) fn put_reference(&mut self, used: UsedReference) -> Checked {
        self.check_sequence(used.sequence.0)?;
        self.check_time(used.time)?;
        let (account, object) = (used.content.account, used.content.object);
        let scope = match used.kind {
            CommandKind::WithdrawFees => {
                check(
                    account == AccountNumber(0),
                    "a fee withdrawal names an account",
                )?;
                None
            }
            CommandKind::Deposit | CommandKind::Withdraw => {
                self.check_account(account)?;
                None
            }
            CommandKind::Propose => {
                let market = self.exchange.markets.get(MarketNumber(object));
                check(market.is_ok(), "unknown market")?;
                None
            }
            CommandKind::Convert => {
                self.check_account(account)?;
                let event = self.exchange.event_groups.get(EventNumber(object));
                check(event.is_ok(), "unknown event group")?;
                Some(account)
            }
            _ => {
                self.check_pair(account, MarketNumber(object))?;
                Some(account)
            }
        };
        check(used.scope == scope, "scope does not match the command")?;
        let held = scope.map_or(0, |account| self.exchange.references.count_of(account));
        check(
            held < REFERENCES_PER_ACCOUNT,
            "an account has too many references",
        )?;
        let is_new = self.exchange.references.restore(used);
        check(is_new, "duplicate reference")
    }

    /// Checks that pending work refers to existing items in a valid state. The invariants check
    /// that orders remain.
    pub(super) fn check_pending(&self) -> Checked {
        let exchange = &self.exchange;
        match exchange.system.pending {
            None => Ok(()),
            Some(PendingWork::CancelOwner {
                owner,
                market,
                reason,
                first,
                ..
            }) => {
                self.check_account(owner)?;
                self.check_sequence(first.0)?;
                if let Some(market) = market {
                    self.check_pair(owner, market)?;
                }
                let is_asked = matches!(reason, CloseReason::User | CloseReason::Heartbeat);
                check(is_asked, "pending work has an invalid reason")
            }
            Some(PendingWork::CloseMarket { market }) => {
                let state = exchange.markets.get(market).map(|market| market.state);
                check(
                    state == Ok(MarketState::Closed),
                    "pending work names a market that is not closed",
                )
            }
            Some(PendingWork::ClearMarket { market }) => {
                let state = exchange.markets.get(market).map(|market| market.state);
                let is_open = matches!(state, Ok(MarketState::Active | MarketState::Paused));
                check(is_open, "pending work names a market that is not open")
            }
            Some(PendingWork::ClosedOnly { account }) => {
                let is_marked = exchange
                    .accounts
                    .get(account)
                    .is_some_and(|account| account.closed_only);
                check(
                    is_marked,
                    "pending work names an account that is not closed-only",
                )
            }
        }
    }
}
