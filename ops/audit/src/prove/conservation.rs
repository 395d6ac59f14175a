//! Conservation of money and shares, folded from the events alone.
//!
//! Each event moves balances of its parties; matches, splits, merges and conversions also change the
//! supplies of a market. After every frame the two must agree, and everything together must be the
//! deposits less the withdrawals (docs/verify/rules.md §19). A balance is what an account has in all, free
//! and reserved: reserving moves nothing, and neither does a delay or a withdrawal that waits.

use std::collections::HashMap;
use std::fmt::Display;

use foldhash::fast::RandomState;
use foretell_model::command::{CancelWithdrawal, Deposit, PayWithdrawal, Withdraw, WithdrawFees};
use foretell_model::event::{
    Converted, Deposited, OrderClosed, OrderReleased, RebatePaid, Withdrawn,
};
use foretell_model::limits::{MAX_BALANCE, MAX_ORDER_LOTS};
use foretell_model::quantity::PRICE_ONE;
use foretell_model::{
    AccountNumber, Command, Event, EventNumber, Fill, FrameRef, Lots, MarketNumber, MatchKind,
    Micros, OrderNumber, Outcome, Payout, PlaceOrder, Sequence, Side, WalletAddress,
};

use crate::finding::{Check, Violation, ensure};
use crate::prove::registry::Registry;

/// Lots of `[Yes, No]`.
pub(crate) type Shares = [u64; 2];

/// Totals of a market.
#[derive(Clone, Copy, Default, Debug)]
struct MarketTotals {
    /// Shares in existence.
    supply: Shares,
    /// The sum of all holdings.
    held: Shares,
    /// Collateral that backs them, unless the market belongs to an event.
    locked: u64,
}

/// Totals of a neg-risk event.
#[derive(Clone, Copy, Default, Debug)]
struct EventTotals {
    /// Lots ever converted.
    converted: u64,
    /// Collateral that backs the shares of all questions.
    locked: u64,
}

/// Everybody's money and shares.
#[derive(Debug, Default)]
pub(crate) struct Conservation {
    cash: Vec<u64>,
    holdings: HashMap<(AccountNumber, MarketNumber), Shares, RandomState>,
    markets: Vec<MarketTotals>,
    events: Vec<EventTotals>,
    /// Deposits less withdrawals.
    pub(crate) collateral: u64,
    pub(crate) fees: u64,
    /// Rebates that accounts accrued and were not paid.
    accrued: Vec<u64>,
    /// Their sum.
    in_accrued: u64,
    /// Orders that wait out a delay.
    delayed: HashMap<OrderNumber, PlaceOrder, RandomState>,
    /// The delayed order that the frame released.
    released: Option<PlaceOrder>,
    /// Withdrawals that wait, by number.
    waiting: HashMap<Sequence, (WalletAddress, Micros), RandomState>,
    /// The withdrawal that the frame ended.
    paid: Option<(WalletAddress, Micros)>,
    /// The sum of all cash.
    in_cash: u64,
    /// The sum of all that is locked.
    in_locked: u64,
    /// Markets whose shares the frame changed.
    touched: Vec<MarketNumber>,
    /// The frame moved money in or out of the exchange.
    has_transfer: bool,
    /// The frame split, merged, redeemed or converted shares.
    has_set_change: bool,
}

impl Conservation {
    /// What an account has, free and reserved.
    pub(crate) fn cash_of(&self, account: AccountNumber) -> u64 {
        self.cash.get(account.0 as usize).copied().unwrap_or(0)
    }

    /// What an account holds of a market, free and reserved.
    pub(crate) fn holding(&self, account: AccountNumber, market: MarketNumber) -> Shares {
        let held = self.holdings.get(&(account, market));
        held.copied().unwrap_or_default()
    }

    /// How many holdings are not empty.
    pub(crate) fn count_holdings(&self) -> usize {
        let held = self.holdings.values();
        held.filter(|held| **held != Shares::default()).count()
    }

    pub(crate) fn supply(&self, market: MarketNumber) -> Shares {
        let totals = self.markets.get(market.0 as usize);
        totals.map_or([0; 2], |totals| totals.supply)
    }

    /// Takes in an event.
    pub(crate) fn fold(
        &mut self,
        frame: &FrameRef<'_>,
        event: &Event,
        registry: &Registry,
    ) -> Check {
        match *event {
            Event::Fill(ref fill) => self.fill(frame, fill, registry),
            Event::Deposited(Deposited { account, amount }) => {
                self.check_transfer(frame, (account, amount), registry)?;
                self.collateral += amount.0;
                self.pay(account, amount.0)
            }
            Event::Withdrawn(Withdrawn { account, amount }) => {
                self.check_transfer(frame, (account, amount), registry)?;
                take(
                    &mut self.collateral,
                    amount.0,
                    Micros,
                    "the exchange's collateral",
                )?;
                self.charge(account, amount.0)
            }
            Event::FeesWithdrawn { amount } => {
                let is_asked = matches!(*frame.command, Command::WithdrawFees(WithdrawFees { amount: asked, .. }) if asked == amount);
                self.count_transfer(is_asked, amount)?;
                take(
                    &mut self.collateral,
                    amount.0,
                    Micros,
                    "the exchange's collateral",
                )?;
                take(&mut self.fees, amount.0, Micros, "the fee account")
            }
            Event::Split(split) => {
                self.count_set_change(frame)?;
                let (account, market, lots) = (split.account, split.market, split.lots);
                check_known(registry, account, market, lots)?;
                self.create_sets(market, lots);
                self.charge(account, lots.full_value().0)?;
                self.credit(account, market, Outcome::Yes, lots);
                self.credit(account, market, Outcome::No, lots);
                Ok(())
            }
            Event::Merged(merged) => {
                self.count_set_change(frame)?;
                check_known(registry, merged.account, merged.market, merged.lots)?;
                self.give_back(merged.account, merged.market, [merged.lots; 2])?;
                self.pay(merged.account, merged.lots.full_value().0)
            }
            Event::Redeemed(redeemed) => {
                self.count_set_change(frame)?;
                check_known(registry, redeemed.account, redeemed.market, Lots::ZERO)?;
                self.give_back(redeemed.account, redeemed.market, redeemed.lots)?;
                self.pay(redeemed.account, redeemed.payout.0)
            }
            Event::Converted(ref converted) => {
                self.count_set_change(frame)?;
                self.convert(converted, registry)?;
                self.pay(converted.account, converted.collateral.0)
            }
            Event::MarketResolved(resolved) => {
                self.touched.push(resolved.market);
                Ok(())
            }
            Event::RebatePaid(RebatePaid { account, amount }) => {
                let accrued = grown(&mut self.accrued, account.0);
                take(accrued, amount.0, Micros, "an account's accrued rebates")?;
                take(
                    &mut self.in_accrued,
                    amount.0,
                    Micros,
                    "all accrued rebates",
                )?;
                self.pay(account, amount.0)
            }
            Event::WithdrawalRequested(_) | Event::WithdrawalReleased(_) => {
                self.fold_withdrawal(frame, event, registry)
            }
            _ => {
                self.fold_delay(frame, event);
                Ok(())
            }
        }
    }

    /// A withdrawal waits as it was asked for, and ends by its number.
    fn fold_withdrawal(
        &mut self,
        frame: &FrameRef<'_>,
        event: &Event,
        registry: &Registry,
    ) -> Check {
        let wallet_of = |account| Ok(registry.account(account)?.wallet);
        match (event, *frame.command) {
            (Event::WithdrawalRequested(waits), command) => {
                let asked = match command {
                    Command::Withdraw(asked) => Some((asked.wallet, asked.amount)),
                    Command::RequestWithdrawal(asked) => {
                        Some((wallet_of(asked.account)?, asked.amount))
                    }
                    _ => None,
                };
                let transfer = (wallet_of(waits.account)?, waits.amount);
                ensure(asked == Some(transfer), || {
                    "another withdrawal waits than was asked for".to_owned()
                })?;
                self.waiting.insert(frame.sequence, transfer);
                Ok(())
            }
            (
                Event::WithdrawalReleased(released),
                Command::PayWithdrawal(PayWithdrawal { withdrawal, .. })
                | Command::FailWithdrawal { withdrawal }
                | Command::CancelWithdrawal(CancelWithdrawal { withdrawal, .. }),
            ) => {
                self.paid = self.waiting.remove(&withdrawal);
                let transfer = (wallet_of(released.account)?, released.amount);
                ensure(self.paid == Some(transfer), || {
                    "a withdrawal ended that did not wait".to_owned()
                })
            }
            _ => Err(Violation::rule(
                "a withdrawal began or ended by another command",
            )),
        }
    }

    /// Keeps delayed orders until they are released or end: their trades carry no terms.
    fn fold_delay(&mut self, frame: &FrameRef<'_>, event: &Event) {
        match (*event, *frame.command) {
            (Event::OrderDelayed(_), Command::PlaceOrder(order)) => {
                self.delayed
                    .insert(OrderNumber::of(frame.sequence, 0), order);
            }
            (Event::OrderReleased(OrderReleased { order, .. }), _) => {
                self.released = self.delayed.remove(&order)
            }
            (Event::OrderClosed(OrderClosed { order, .. }), _) => {
                self.delayed.remove(&order);
            }
            _ => {}
        }
    }

    /// Both parties of a trade. The kind of the match gives side and outcome of the maker.
    fn fill(&mut self, frame: &FrameRef<'_>, fill: &Fill, registry: &Registry) -> Check {
        let order = match (*frame.command, self.released) {
            (Command::PlaceOrder(order), _) | (_, Some(order)) => order,
            _ => return Err(Violation::rule("a trade without an order that takes")),
        };
        let (account, market) = (order.account, order.market);
        let (outcome, side) = (order.outcome, order.side);
        let (lots, fee) = (fill.lots, fill.fee.0);
        check_known(registry, account, market, lots)?;
        registry.account(fill.maker)?;
        ensure(
            fill.yes_price.0 <= PRICE_ONE && fee <= MAX_BALANCE.0,
            || format!("a trade at {} with a fee of {}", fill.yes_price, fill.fee),
        )?;
        let price = match outcome {
            Outcome::Yes => fill.yes_price,
            Outcome::No => fill.yes_price.complement(),
        };
        let value = lots.value_at(price).0;
        let other_value = lots.full_value().0 - value;
        match side {
            Side::Buy => {
                self.charge(account, value + fee)?;
                self.credit(account, market, outcome, lots);
            }
            Side::Sell => {
                self.debit(account, market, outcome, lots)?;
                ensure(fee <= value, || {
                    format!("a fee of {} on proceeds of {}", fill.fee, Micros(value))
                })?;
                self.pay(account, value - fee)?;
            }
        }
        let kept = fee.checked_sub(fill.rebate.0);
        self.fees += kept.ok_or_else(|| Violation::rule("a rebate above its fee"))?;
        *grown(&mut self.accrued, fill.maker.0) += fill.rebate.0;
        self.in_accrued += fill.rebate.0;
        match (fill.kind, side) {
            (MatchKind::Complementary, Side::Buy) => {
                self.debit(fill.maker, market, outcome, lots)?;
                self.pay(fill.maker, value)
            }
            (MatchKind::Complementary, Side::Sell) => {
                self.charge(fill.maker, value)?;
                self.credit(fill.maker, market, outcome, lots);
                Ok(())
            }
            (MatchKind::Mint, _) => {
                self.create_sets(market, lots);
                self.charge(fill.maker, other_value)?;
                self.credit(fill.maker, market, other(outcome), lots);
                Ok(())
            }
            (MatchKind::Merge, _) => {
                self.destroy(market, [lots.0; 2])?;
                self.debit(fill.maker, market, other(outcome), lots)?;
                self.pay(fill.maker, other_value)
            }
        }
    }

    /// No of the named questions goes, Yes of the others and of the outside question comes into existence.
    fn convert(&mut self, converted: &Converted, registry: &Registry) -> Check {
        let &Converted {
            account,
            event,
            questions,
            lots,
            ..
        } = converted;
        let markets = registry.questions(event)?;
        let is_named = questions.count() > 0 && questions.end() as usize <= markets.len();
        ensure(is_named, || {
            format!(
                "a conversion of {} of the {} questions of event {event}",
                questions.count(),
                markets.len()
            )
        })?;
        for (question, market) in (0..).zip(markets) {
            check_known(registry, account, *market, lots)?;
            // A question that is over gets nothing (docs/verify/rules.md §26).
            if registry.market(*market)?.payout.is_some() {
                ensure(!questions.contains(question), || {
                    format!("a conversion of market {market}, which is resolved")
                })?;
            } else if questions.contains(question) {
                self.destroy(*market, [0, lots.0])?;
                self.debit(account, *market, Outcome::No, lots)?;
            } else {
                self.touched.push(*market);
                self.totals(*market).supply[0] += lots.0;
                self.credit(account, *market, Outcome::Yes, lots);
            }
        }
        let outside = registry.outside(event)?;
        self.touched.push(outside);
        self.totals(outside).supply[0] += lots.0;
        self.credit(account, outside, Outcome::Yes, lots);
        grown(&mut self.events, event.0).converted += lots.0;
        Ok(())
    }

    /// Money comes in and goes out once in a command, as it was asked for.
    fn check_transfer(
        &mut self,
        frame: &FrameRef<'_>,
        (account, amount): (AccountNumber, Micros),
        registry: &Registry,
    ) -> Check {
        let asked: Option<(WalletAddress, Micros)> = match *frame.command {
            Command::Deposit(Deposit { wallet, amount, .. })
            | Command::Withdraw(Withdraw { wallet, amount, .. }) => Some((wallet, amount)),
            Command::PayWithdrawal(_) => self.paid,
            _ => None,
        };
        let wallet = registry.account(account)?.wallet;
        self.count_transfer(asked == Some((wallet, amount)), amount)
    }

    /// A command changes sets of shares once; a step of a settlement pays many holders.
    fn count_set_change(&mut self, frame: &FrameRef<'_>) -> Check {
        if matches!(frame.command, Command::Step) {
            return Ok(());
        }
        let is_second = std::mem::replace(&mut self.has_set_change, true);
        ensure(!is_second, || "one command changed sets twice".to_owned())
    }

    fn count_transfer(&mut self, is_asked: bool, amount: Micros) -> Check {
        ensure(is_asked && amount <= MAX_BALANCE, || {
            format!("{amount} came or went that nobody asked for")
        })?;
        let is_second = std::mem::replace(&mut self.has_transfer, true);
        ensure(!is_second, || "one command moved money twice".to_owned())
    }

    /// Checks the totals after a frame.
    #[inline]
    pub(crate) fn check(&mut self, registry: &Registry) -> Check {
        (self.has_transfer, self.has_set_change) = (false, false);
        (self.released, self.paid) = (None, None);
        self.touched.sort_unstable();
        self.touched.dedup();
        while let Some(market) = self.touched.pop() {
            self.check_supply(market, registry)?;
            self.lock_again(market, registry)?;
        }
        ensure(self.collateral <= MAX_BALANCE.0, || {
            let collateral = Micros(self.collateral);
            format!("{collateral} is in the exchange, allowed is {MAX_BALANCE}")
        })?;
        let total = self.in_cash + self.in_locked + self.fees + self.in_accrued;
        ensure(total == self.collateral, || {
            let [cash, locked, fees, accrued, total, collateral] = [
                self.in_cash,
                self.in_locked,
                self.fees,
                self.in_accrued,
                total,
                self.collateral,
            ]
            .map(Micros);
            format!(
                "accounts have {cash}, {locked} are locked behind shares, {fees} are fees, {accrued} \
                 are accrued: {total} in all, but deposits less withdrawals are {collateral}"
            )
        })
    }

    /// Every share has an owner. Until it is resolved, Yes and No of a market differ by what its event
    /// converted.
    fn check_supply(&mut self, market: MarketNumber, registry: &Registry) -> Check {
        let known = registry.market(market)?;
        let converted = known.event.map_or(0, |event| self.converted(event));
        let MarketTotals { supply, held, .. } = *self.totals(market);
        ensure(supply == held, || {
            let [supply, held] = [supply, held].map(|shares| {
                let [yes, no] = shares.map(Lots);
                format!("{yes} Yes and {no} No")
            });
            format!("of market {market} {supply} exist, {held} are held")
        })?;
        let [yes, no] = supply;
        ensure(known.payout.is_some() || yes == no + converted, || {
            let [yes, no, converted] = [yes, no, converted].map(Lots);
            format!(
                "of market {market} {yes} Yes and {no} No exist, which do not differ by the \
                 {converted} converted"
            )
        })
    }

    /// Computes the collateral of a market, or of all questions of its event.
    fn lock_again(&mut self, market: MarketNumber, registry: &Registry) -> Check {
        let known = registry.market(market)?;
        let (locked, now) = match known.event {
            None => {
                let now = locked_in_plain(self.supply(market), known.payout);
                (&mut self.totals(market).locked, now)
            }
            Some(event) => {
                let now = self.locked_in_event(event, registry)?;
                (&mut grown(&mut self.events, event.0).locked, now)
            }
        };
        let before = std::mem::replace(locked, now);
        self.in_locked = self.in_locked - before + now;
        Ok(())
    }

    /// Every No and every Yes of the outside question, until a question resolves Yes; from then on that
    /// Yes and the No of all others, which resolve with it (docs/verify/rules.md §11).
    fn locked_in_event(&self, event: EventNumber, registry: &Registry) -> Check<u64> {
        let (mut no, mut is_one_open) = (0, false);
        let mut after_yes = None;
        let outside = registry.outside(event)?;
        for question in registry.questions(event)?.iter().chain([&outside]) {
            let supply = self.supply(*question);
            no += supply[1];
            let payout = registry.market(*question)?.payout;
            is_one_open |= payout.is_none();
            if payout == Some(Payout::Yes) {
                ensure(after_yes.is_none(), || {
                    format!("two questions of event {event} are Yes")
                })?;
                after_yes = Some(supply);
            }
        }
        ensure(!is_one_open || after_yes.is_none(), || {
            format!("a question of event {event} is Yes, another one is open")
        })?;
        let lots = match after_yes {
            Some([yes_of_winner, no_of_winner]) => no - no_of_winner + yes_of_winner,
            None => no + self.supply(outside)[0],
        };
        Ok(lots * u64::from(PRICE_ONE))
    }

    fn converted(&self, event: EventNumber) -> u64 {
        let totals = self.events.get(event.0 as usize);
        totals.map_or(0, |totals| totals.converted)
    }

    fn create_sets(&mut self, market: MarketNumber, lots: Lots) {
        self.touched.push(market);
        let supply = &mut self.totals(market).supply;
        supply[0] += lots.0;
        supply[1] += lots.0;
    }

    fn destroy(&mut self, market: MarketNumber, lots: Shares) -> Check {
        self.touched.push(market);
        let supply = &mut self.totals(market).supply;
        take(&mut supply[0], lots[0], Lots, "the supply of Yes")?;
        take(&mut supply[1], lots[1], Lots, "the supply of No")
    }

    /// An account's lots of Yes and No cease to exist.
    fn give_back(
        &mut self,
        account: AccountNumber,
        market: MarketNumber,
        [yes, no]: [Lots; 2],
    ) -> Check {
        self.destroy(market, [yes.0, no.0])?;
        self.debit(account, market, Outcome::Yes, yes)?;
        self.debit(account, market, Outcome::No, no)
    }

    fn pay(&mut self, account: AccountNumber, amount: u64) -> Check {
        ensure(amount <= MAX_BALANCE.0, || {
            format!("{} at once", Micros(amount))
        })?;
        *grown(&mut self.cash, account.0) += amount;
        self.in_cash += amount;
        Ok(())
    }

    fn charge(&mut self, account: AccountNumber, amount: u64) -> Check {
        let cash = grown(&mut self.cash, account.0);
        take(cash, amount, Micros, "an account's collateral")?;
        self.in_cash -= amount;
        Ok(())
    }

    fn credit(
        &mut self,
        account: AccountNumber,
        market: MarketNumber,
        outcome: Outcome,
        lots: Lots,
    ) {
        let held = self.holdings.entry((account, market)).or_default();
        held[outcome.index()] += lots.0;
        self.totals(market).held[outcome.index()] += lots.0;
    }

    fn debit(
        &mut self,
        account: AccountNumber,
        market: MarketNumber,
        outcome: Outcome,
        lots: Lots,
    ) -> Check {
        let held = self.holdings.entry((account, market)).or_default();
        take(
            &mut held[outcome.index()],
            lots.0,
            Lots,
            "an account's shares",
        )?;
        self.totals(market).held[outcome.index()] -= lots.0;
        Ok(())
    }

    fn totals(&mut self, market: MarketNumber) -> &mut MarketTotals {
        grown(&mut self.markets, market.0)
    }
}

/// A full set each until the market is resolved; then what is still to be paid out.
fn locked_in_plain([yes, no]: Shares, payout: Option<Payout>) -> u64 {
    match payout {
        None => yes * u64::from(PRICE_ONE),
        Some(payout) => {
            let [pays_yes, pays_no] = payout.price_units();
            yes * u64::from(pays_yes) + no * u64::from(pays_no)
        }
    }
}

/// Account and market are registered, and the lots are few enough for every product of theirs.
fn check_known(
    registry: &Registry,
    account: AccountNumber,
    market: MarketNumber,
    lots: Lots,
) -> Check {
    registry.account(account)?;
    registry.market(market)?;
    ensure(lots <= MAX_ORDER_LOTS, || format!("{lots} shares at once"))
}

const fn other(outcome: Outcome) -> Outcome {
    match outcome {
        Outcome::Yes => Outcome::No,
        Outcome::No => Outcome::Yes,
    }
}

/// The element of a number that was registered.
fn grown<T: Clone + Default>(list: &mut Vec<T>, number: u32) -> &mut T {
    let index = number as usize;
    if list.len() <= index {
        list.resize(index + 1, T::default());
    }
    &mut list[index]
}

/// Takes an amount of a unit, which its finding names.
fn take<U: Display>(from: &mut u64, amount: u64, unit: fn(u64) -> U, what: &str) -> Check {
    let Some(left) = from.checked_sub(amount) else {
        let [amount, from] = [amount, *from].map(unit);
        let text = format!("{amount} are taken from {what}, which is {from}");
        return Err(Violation::rule(text));
    };
    *from = left;
    Ok(())
}
