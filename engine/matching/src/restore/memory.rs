//! What makes requests safe to repeat, and the work that is pending.

use foretell_model::digest::PendingWork;
use foretell_model::{
    AccountNumber, CloseReason, CommandOutcome, Digest16, EventNumber, MarketNumber, MarketState,
    Micros,
};

use crate::references::Used;
use crate::requests::Request;
use crate::restore::{Checked, Restoring, check};

/// Codes of the commands that have a reference: [`foretell_model::Command::code`].
const DEPOSIT: u16 = 10;
const WITHDRAW: u16 = 11;
const WITHDRAW_FEES: u16 = 12;
const SPLIT: u16 = 19;
const MERGE: u16 = 20;
const REDEEM: u16 = 21;
const CONVERT: u16 = 22;

/// What a command that had a reference answered.
pub(super) fn outcome_of(
    code: u16,
    account: AccountNumber,
    collateral: Micros,
) -> Result<CommandOutcome, &'static str> {
    match code {
        DEPOSIT | WITHDRAW if collateral.is_zero() => Ok(CommandOutcome::Account(account)),
        WITHDRAW_FEES if collateral.is_zero() => Ok(CommandOutcome::Done),
        SPLIT | MERGE | REDEEM | CONVERT => Ok(CommandOutcome::Collateral(collateral)),
        _ => Err("no command with this code answers so"),
    }
}

impl Restoring {
    pub(super) fn put_reference(&mut self, used: Used) -> Checked {
        self.check_sequence(used.sequence.0)?;
        self.check_time(used.time)?;
        let (account, object) = (used.content.account, used.content.object);
        let scope = match used.code {
            WITHDRAW_FEES => {
                check(account == AccountNumber(0), "fees are of no account")?;
                None
            }
            DEPOSIT | WITHDRAW => {
                self.check_account(account)?;
                None
            }
            CONVERT => {
                self.check_account(account)?;
                let event = self.exchange.events.get(EventNumber(object));
                check(event.is_ok(), "its event is not known")?;
                Some(account)
            }
            _ => {
                self.check_pair(account, MarketNumber(object))?;
                Some(account)
            }
        };
        check(used.scope == scope, "its scope is not that of its command")?;
        let is_new = self.exchange.references.put_back(used);
        check(is_new, "its reference is used already")
    }

    pub(super) fn put_request(&mut self, request: Request) -> Checked {
        self.check_sequence(request.sequence.0)?;
        self.check_sequence(request.last.0)?;
        self.check_time(request.time)?;
        self.check_account(request.owner)?;
        check(
            request.sequence <= request.last,
            "its work ends before it begins",
        )?;
        check(
            request.digest != Digest16::ZERO,
            "no request has the digest zero",
        )?;
        let live = self.exchange.orders.len();
        let most = u32::try_from(live)
            .ok()
            .and_then(|live| request.cancelled.checked_add(live));
        check(most.is_some(), "it ended more orders than can be counted")?;
        let is_new = self.exchange.requests.put_back(request);
        check(is_new, "its request is remembered already, or too many are")
    }

    /// Pending work names what is there and is in a state to have it; that some remains is one of
    /// the invariants.
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
                check(is_asked, "no pending work ends orders for this reason")
            }
            Some(PendingWork::CloseMarket { market }) => {
                let state = exchange.markets.get(market).map(|market| market.state);
                check(
                    state == Ok(MarketState::Closed),
                    "pending work closes a market that is not closed",
                )
            }
            Some(PendingWork::ClosedOnly { account }) => {
                let is_marked = exchange
                    .accounts
                    .get(account)
                    .is_some_and(|account| account.closed_only);
                check(
                    is_marked,
                    "pending work ends orders of an account that may trade",
                )
            }
        }
    }
}
