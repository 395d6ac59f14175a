//! What a journal's events say of payments, delayed orders and replaces: each is done once, and
//! none is forgotten.

use std::collections::{BTreeMap, BTreeSet};

use foretell_model::event::{
    MarketResolved, MarketSettled, OrderClosed, OrderReleased, RebatePaid, Redeemed,
    SettlementStarted, WithdrawalReleased, WithdrawalRequested,
};
use foretell_model::limits::MAX_VISITED_ORDERS;
use foretell_model::{
    AccountNumber, Command, Event, MarketNumber, Micros, OperatorNumber, Sequence,
};

use super::audit::Frame;

/// Follows everything that one frame starts and a later one ends.
#[derive(Default)]
pub(super) struct Payments {
    accrued: BTreeMap<AccountNumber, Micros>,
    /// Accounts that the running payment of rebates has to pay.
    owed: Option<BTreeSet<AccountNumber>>,
    /// Running settlements, with the sum that their steps paid.
    settling: BTreeMap<MarketNumber, Micros>,
    resolved: BTreeSet<MarketNumber>,
    redeemed: BTreeSet<(AccountNumber, MarketNumber)>,
    held: BTreeMap<Sequence, (AccountNumber, Micros, OperatorNumber)>,
    delayed: BTreeSet<Sequence>,
}

impl Payments {
    /// Follows all frames of a journal.
    ///
    /// # Errors
    /// Something is done twice, or not at all.
    pub(super) fn of(frames: &[Frame]) -> Result<Self, String> {
        let mut payments = Self::default();
        for frame in frames {
            let followed = payments.follow(frame);
            followed.map_err(|what| format!("at {}: {what}", frame.sequence))?;
        }
        Ok(payments)
    }

    /// A market that is not settled, or a payment that has not ended.
    pub(super) fn unfinished(&self) -> Option<String> {
        let settling = self.settling.keys().next();
        let market = settling.map(|market| format!("market {market} is not settled"));
        market.or_else(|| self.owed.is_some().then(|| "rebates are not paid".into()))
    }

    /// Whether a settlement, a payment of rebates runs.
    pub(super) fn runs(&self) -> (bool, bool) {
        (!self.settling.is_empty(), self.owed.is_some())
    }

    /// Withdrawals that wait for a second person.
    pub(super) fn held(&self) -> usize {
        self.held.len()
    }

    fn follow(&mut self, frame: &Frame) -> Result<(), String> {
        for event in &frame.events {
            match *event {
                Event::Fill(fill) if !fill.rebate.is_zero() => {
                    *self.accrued.entry(fill.maker).or_default() += fill.rebate;
                }
                Event::RebatePaymentStarted { .. } => {
                    let owed = self.accrued.keys().copied().collect();
                    let before = self.owed.replace(owed);
                    ensure(before.is_none(), || "two payments of rebates".into())?;
                }
                Event::RebatePaid(RebatePaid { account, amount }) => {
                    self.pay_rebate(account, amount)?
                }
                Event::RebatePaymentEnded { .. } => {
                    let left = self.owed.take().ok_or("no payment of rebates runs")?;
                    ensure(left.is_empty(), || format!("rebates of {left:?} not paid"))?;
                }
                Event::OrderDelayed(_) => {
                    self.delayed.insert(frame.sequence);
                }
                Event::OrderReleased(OrderReleased { order, .. }) => {
                    let is_delayed = self.delayed.remove(&Sequence(order.0));
                    ensure(is_delayed, || format!("order {order} released twice"))?;
                }
                Event::OrderClosed(OrderClosed { order, .. }) => {
                    self.delayed.remove(&Sequence(order.0));
                }
                Event::WithdrawalRequested(WithdrawalRequested { account, amount }) => {
                    let held = (account, amount, frame.stamp.operator);
                    self.held.insert(frame.sequence, held);
                }
                Event::WithdrawalReleased(WithdrawalReleased {
                    account,
                    amount,
                    asked,
                }) => self.release(asked, (account, amount), frame)?,
                _ => self.follow_settlement(event, frame)?,
            }
        }
        Ok(())
    }

    fn pay_rebate(&mut self, account: AccountNumber, amount: Micros) -> Result<(), String> {
        let owed = self.owed.as_mut().ok_or("no payment of rebates runs")?;
        owed.remove(&account);
        let accrued = self.accrued.remove(&account).unwrap_or_default();
        ensure(accrued == amount, || {
            format!("account {account} accrued {accrued:?}, is paid {amount:?}")
        })
    }

    fn release(
        &mut self,
        asked: Sequence,
        (account, amount): (AccountNumber, Micros),
        frame: &Frame,
    ) -> Result<(), String> {
        let held = self.held.remove(&asked);
        let (whose, how_much, operator) =
            held.ok_or_else(|| format!("withdrawal {asked} released twice"))?;
        ensure((whose, how_much) == (account, amount), || {
            format!("withdrawal {asked} released as another")
        })?;
        let confirms = matches!(frame.command, Command::PayWithdrawal(_));
        ensure(!confirms || operator != frame.stamp.operator, || {
            format!("withdrawal {asked} confirmed by who asked for it")
        })
    }

    fn follow_settlement(&mut self, event: &Event, frame: &Frame) -> Result<(), String> {
        match *event {
            Event::MarketResolved(MarketResolved { market, .. }) => {
                let is_new = self.resolved.insert(market);
                ensure(is_new, || format!("market {market} resolved twice"))
            }
            Event::SettlementStarted(SettlementStarted { market, .. }) => {
                self.settling.insert(market, Micros::ZERO);
                Ok(())
            }
            Event::Redeemed(Redeemed {
                account,
                market,
                payout,
                ..
            }) => {
                let is_new = self.redeemed.insert((account, market));
                ensure(is_new, || format!("account {account} paid twice"))?;
                if frame.command == Command::Step {
                    let sum = self.settling.get_mut(&market);
                    *sum.ok_or("no settlement runs")? += payout;
                }
                Ok(())
            }
            Event::MarketSettled(MarketSettled { market, paid }) => {
                let sum = self.settling.remove(&market).unwrap_or_default();
                ensure(sum == paid, || {
                    format!("market {market} paid {sum:?}, states {paid:?}")
                })
            }
            _ => Ok(()),
        }
    }
}

/// The commands of a replace share a time and a batch, and each frame counts what those before
/// touched. Returns the number of frames that follow one of their replace.
///
/// # Errors
/// They do not.
pub(super) fn replaces(frames: &[Frame]) -> Result<usize, String> {
    let (mut touched, mut followers) = (0, 0);
    for (at, frame) in frames.iter().enumerate() {
        if frame.stamp.touched == 0 {
            touched = 0;
        } else {
            let before = &frames[at - 1];
            let is_next = before.stamp.time == frame.stamp.time
                && before.place.segment == frame.place.segment
                && before.place.offset + before.place.length == frame.place.offset;
            let is_of_group = |frame: &Frame| {
                matches!(
                    frame.command,
                    Command::CancelOrder(_) | Command::PlaceOrder(_)
                )
            };
            let stated = usize::from(frame.stamp.touched);
            // What was visited without an effect counts, too.
            let least = touched.max(before.stamp.touched.into());
            let is_right = (least.min(MAX_VISITED_ORDERS)..=MAX_VISITED_ORDERS).contains(&stated)
                && is_next
                && is_of_group(before)
                && is_of_group(frame);
            ensure(is_right, || {
                let (sequence, place) = (frame.sequence, frame.place);
                format!(
                    "frame {sequence} of a replace: touched {touched}, {place:?} after {:?}",
                    before.place
                )
            })?;
            followers += 1;
        }
        let is_touched = |event: &&Event| matches!(event, Event::Fill(_) | Event::OrderClosed(_));
        touched += frame.events.iter().filter(is_touched).count();
    }
    Ok(followers)
}

fn ensure(holds: bool, what: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(what()) }
}
