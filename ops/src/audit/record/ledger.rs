//! Money and shares by the record alone: what every event moves, and whether it all adds up.
//!
//! Balances are moved party by party; supplies are moved by the kind of the match, the split, the
//! merge. The two are compared after every frame, as running totals, so that neither can drift
//! from the other (promises 8 to 10).

use std::collections::HashMap;

use foldhash::fast::RandomState;
use foretell_memory::near::bring;
use foretell_model::limits::MAX_BALANCE;
use foretell_model::quantity::PRICE_ONE;
use foretell_model::{
    AccountNumber, EventNumber, Lots, MarketNumber, Micros, Outcome, Payout, Price, Side,
};

use super::broken::{Checked, must};
use super::holdings::Holdings;
use super::registry::Registry;

/// Collateral of an account.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(crate) struct Purse {
    pub(crate) free: u64,
    pub(crate) reserved: u64,
}

/// Shares of a market.
#[derive(Clone, Copy, Default, Debug)]
struct Shares {
    /// In existence, of `[Yes, No]`.
    supply: [u64; 2],
    /// In somebody's hands.
    held: [u64; 2],
}

/// What stands behind shares: a plain market, or a neg-risk event as a whole.
type Backing = Result<MarketNumber, EventNumber>;

/// Everybody's money and shares.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    purses: Vec<Purse>,
    pub(crate) holdings: Holdings,
    shares: Vec<Shares>,
    /// Converted in each event.
    converted: Vec<u64>,
    /// What each plain market and each event has locked, as last added up.
    locked: HashMap<Backing, u64, RandomState>,
    /// All deposits less all withdrawals.
    pub(crate) collateral: u64,
    pub(crate) fees: u64,
    /// Sums over all accounts and over everything locked.
    in_purses: u64,
    in_locked: u64,
    /// Markets whose supply this frame changed.
    touched: Vec<MarketNumber>,
}

impl Ledger {
    pub(crate) fn purse(&self, account: AccountNumber) -> Purse {
        self.purses
            .get(account.0 as usize)
            .copied()
            .unwrap_or_default()
    }

    /// Brings an account's money near, and where its shares of a market are found.
    pub(crate) fn foresee(&self, account: AccountNumber, market: MarketNumber) {
        if let Some(purse) = self.purses.get(account.0 as usize) {
            bring(purse);
        }
        self.holdings.foresee(account, market);
    }

    /// Once that is near: the shares.
    pub(crate) fn foresee_shares(&self, account: AccountNumber, market: MarketNumber) {
        self.holdings.foresee_found(account, market);
        if let Some(shares) = self.shares.get(market.0 as usize) {
            bring(shares);
        }
    }

    pub(crate) fn supply(&self, market: MarketNumber) -> [u64; 2] {
        self.shares
            .get(market.0 as usize)
            .map_or([0; 2], |shares| shares.supply)
    }

    /// Collateral comes into the exchange.
    pub(crate) fn deposit(&mut self, account: AccountNumber, amount: Micros) -> Checked {
        self.collateral += amount.0;
        must(self.collateral <= MAX_BALANCE.0, || {
            format!(
                "{} micros are in the exchange, more than may be",
                self.collateral
            )
        })?;
        self.pay(account, amount.0);
        Ok(())
    }

    /// Free collateral leaves it.
    pub(crate) fn withdraw(&mut self, account: AccountNumber, amount: Micros) -> Checked {
        self.charge(account, amount.0)?;
        take(&mut self.collateral, amount.0, "the exchange's collateral")
    }

    pub(crate) fn withdraw_fees(&mut self, amount: Micros) -> Checked {
        take(&mut self.fees, amount.0, "the fee account")?;
        take(&mut self.collateral, amount.0, "the exchange's collateral")
    }

    /// One party of a fill, of its free amounts: the taker.
    pub(crate) fn trade_free(
        &mut self,
        party: Party,
        lots: Lots,
        price: Price,
        fee: Micros,
    ) -> Checked {
        let value = lots.value_at(price).0;
        let place = party.outcome.index();
        match party.side {
            Side::Buy => {
                self.charge(party.account, value + fee.0)?;
                self.credit(party.account, party.market, place, lots.0);
            }
            Side::Sell => {
                must(fee.0 <= value, || {
                    format!("a fee of {} on proceeds of {value}", fee.0)
                })?;
                self.pay(party.account, value - fee.0);
                self.debit(party.account, party.market, place, lots.0)?;
            }
        }
        self.fees += fee.0;
        Ok(())
    }

    /// One party of a fill, of what its order reserved: the maker.
    pub(crate) fn trade_reserved(&mut self, party: Party, lots: Lots, price: Price) -> Checked {
        let value = lots.value_at(price).0;
        let place = party.outcome.index();
        match party.side {
            Side::Buy => {
                let purse = self.purse_mut(party.account);
                take(&mut purse.reserved, value, "reserved collateral")?;
                self.in_purses -= value;
                self.credit(party.account, party.market, place, lots.0);
            }
            Side::Sell => {
                let holding = self.holdings.of_mut(party.account, party.market);
                take(&mut holding.reserved[place], lots.0, "reserved shares")?;
                self.shares_mut(party.market).held[place] -= lots.0;
                self.pay(party.account, value);
            }
        }
        Ok(())
    }

    /// Sets aside what a resting order needs.
    pub(crate) fn reserve(&mut self, party: Party, lots: Lots, price: Price) -> Checked {
        match party.side {
            Side::Buy => {
                let value = lots.value_at(price).0;
                let purse = self.purse_mut(party.account);
                take(&mut purse.free, value, "free collateral")?;
                purse.reserved += value;
            }
            Side::Sell => {
                let place = party.outcome.index();
                let holding = self.holdings.of_mut(party.account, party.market);
                take(&mut holding.free[place], lots.0, "free shares")?;
                holding.reserved[place] += lots.0;
            }
        }
        Ok(())
    }

    /// Gives back what an order that ended had left.
    pub(crate) fn release(&mut self, party: Party, lots: Lots, price: Price) -> Checked {
        match party.side {
            Side::Buy => {
                let value = lots.value_at(price).0;
                let purse = self.purse_mut(party.account);
                take(&mut purse.reserved, value, "reserved collateral")?;
                purse.free += value;
            }
            Side::Sell => {
                let place = party.outcome.index();
                let holding = self.holdings.of_mut(party.account, party.market);
                take(&mut holding.reserved[place], lots.0, "reserved shares")?;
                holding.free[place] += lots.0;
            }
        }
        Ok(())
    }

    /// Full sets come into existence; whoever gets them is credited elsewhere.
    pub(crate) fn create_sets(&mut self, market: MarketNumber, lots: Lots) {
        self.touched.push(market);
        let supply = &mut self.shares_mut(market).supply;
        supply[0] += lots.0;
        supply[1] += lots.0;
    }

    /// Full sets go.
    pub(crate) fn destroy_sets(&mut self, market: MarketNumber, lots: Lots) -> Checked {
        self.touched.push(market);
        let supply = &mut self.shares_mut(market).supply;
        take(&mut supply[0], lots.0, "the supply of Yes")?;
        take(&mut supply[1], lots.0, "the supply of No")
    }

    pub(crate) fn split(
        &mut self,
        account: AccountNumber,
        market: MarketNumber,
        lots: Lots,
    ) -> Checked {
        self.charge(account, lots.full_value().0)?;
        self.create_sets(market, lots);
        self.credit(account, market, 0, lots.0);
        self.credit(account, market, 1, lots.0);
        Ok(())
    }

    pub(crate) fn merge(
        &mut self,
        account: AccountNumber,
        market: MarketNumber,
        lots: Lots,
    ) -> Checked {
        self.debit(account, market, 0, lots.0)?;
        self.debit(account, market, 1, lots.0)?;
        self.destroy_sets(market, lots)?;
        self.pay(account, lots.full_value().0);
        Ok(())
    }

    /// Burns what an account holds of a resolved market; `lots` must be all of it.
    pub(crate) fn redeem(
        &mut self,
        account: AccountNumber,
        market: MarketNumber,
        lots: [Lots; 2],
        paid: Micros,
        payout: Payout,
    ) -> Checked {
        let held = self.holdings.of_mut(account, market).free;
        must(held == lots.map(|lots| lots.0), || {
            format!("{lots:?} are redeemed, and {held:?} are held")
        })?;
        let prices = payout.price_units();
        let due: u64 = (0..2)
            .map(|place| held[place] * u64::from(prices[place]))
            .sum();
        must(due == paid.0, || {
            format!("{} micros are paid, {due} are due", paid.0)
        })?;
        for (place, lots) in held.into_iter().enumerate() {
            self.debit(account, market, place, lots)?;
            take(&mut self.shares_mut(market).supply[place], lots, "a supply")?;
        }
        self.touched.push(market);
        self.pay(account, paid.0);
        Ok(())
    }

    /// One question of a conversion: its No is given, or its Yes received.
    pub(crate) fn convert_question(
        &mut self,
        account: AccountNumber,
        market: MarketNumber,
        gives_no: bool,
        lots: Lots,
    ) -> Checked {
        self.touched.push(market);
        if gives_no {
            self.debit(account, market, 1, lots.0)?;
            take(
                &mut self.shares_mut(market).supply[1],
                lots.0,
                "the supply of No",
            )
        } else {
            self.credit(account, market, 0, lots.0);
            self.shares_mut(market).supply[0] += lots.0;
            Ok(())
        }
    }

    /// The money of a conversion, and its count.
    pub(crate) fn convert_event(
        &mut self,
        account: AccountNumber,
        event: EventNumber,
        lots: Lots,
        collateral: Micros,
    ) {
        *grown(&mut self.converted, event.0) += lots.0;
        self.pay(account, collateral.0);
    }

    /// A market's payout is known now: what is locked behind it counts otherwise.
    pub(crate) fn resolved(&mut self, market: MarketNumber) {
        self.touched.push(market);
    }

    /// Adds up what the frame touched, and compares the totals.
    #[inline]
    pub(crate) fn settle_frame(&mut self, registry: &Registry) -> Checked {
        while let Some(market) = self.touched.pop() {
            self.check_supply(market, registry)?;
            self.lock_again(market, registry)?;
        }
        let total = self.in_purses + self.in_locked + self.fees;
        must(total == self.collateral, || {
            format!(
                "accounts hold {}, {} are locked behind shares, {} are fees: {total} in all, but \
                 deposits less withdrawals are {}",
                self.in_purses, self.in_locked, self.fees, self.collateral
            )
        })
    }

    /// Every share is somebody's, and unresolved pairs differ by what was converted alone.
    fn check_supply(&self, market: MarketNumber, registry: &Registry) -> Checked {
        let known = registry.market(market)?;
        let shares = self
            .shares
            .get(market.0 as usize)
            .copied()
            .unwrap_or_default();
        must(shares.supply == shares.held, || {
            format!(
                "of market {market} {:?} lots exist, {:?} are held",
                shares.supply, shares.held
            )
        })?;
        let converted = known.event.map_or(0, |event| self.converted_in(event));
        let [yes, no] = shares.supply;
        must(known.payout.is_some() || yes == no + converted, || {
            format!("the supplies of market {market}, {yes} and {no}, do not differ by {converted}")
        })
    }

    /// What is locked behind a market, or behind all questions of its event.
    fn lock_again(&mut self, market: MarketNumber, registry: &Registry) -> Checked {
        let known = registry.market(market)?;
        let (backing, lots_at_one) = match known.event {
            None => (Ok(market), self.locked_in_plain(market, known.payout)),
            Some(event) => (Err(event), self.locked_in_event(event, registry)?),
        };
        let before = self.locked.insert(backing, lots_at_one).unwrap_or(0);
        self.in_locked = self.in_locked - before + lots_at_one;
        Ok(())
    }

    fn locked_in_plain(&self, market: MarketNumber, payout: Option<Payout>) -> u64 {
        let [yes, no] = self.supply(market);
        match payout {
            None => yes * u64::from(PRICE_ONE),
            Some(payout) => {
                let [pays_yes, pays_no] = payout.price_units();
                yes * u64::from(pays_yes) + no * u64::from(pays_no)
            }
        }
    }

    /// Every No and what was converted, until a question resolves Yes; from then on that Yes and
    /// the No of all others (protocol 5).
    fn locked_in_event(&self, event: EventNumber, registry: &Registry) -> Checked<u64> {
        let questions = registry.questions(event)?;
        let mut winner = None;
        for question in questions {
            if registry.market(*question)?.payout == Some(Payout::Yes) {
                must(winner.is_none(), || {
                    format!("two questions of event {event} are Yes")
                })?;
                winner = Some(*question);
            }
        }
        let side = |question: MarketNumber| usize::from(Some(question) != winner);
        let lots: u64 = questions
            .iter()
            .map(|question| self.supply(*question)[side(*question)])
            .sum();
        let converted = if winner.is_none() {
            self.converted_in(event)
        } else {
            0
        };
        Ok((lots + converted) * u64::from(PRICE_ONE))
    }

    fn converted_in(&self, event: EventNumber) -> u64 {
        self.converted.get(event.0 as usize).copied().unwrap_or(0)
    }

    fn pay(&mut self, account: AccountNumber, amount: u64) {
        self.purse_mut(account).free += amount;
        self.in_purses += amount;
    }

    fn charge(&mut self, account: AccountNumber, amount: u64) -> Checked {
        take(&mut self.purse_mut(account).free, amount, "free collateral")?;
        self.in_purses -= amount;
        Ok(())
    }

    fn credit(&mut self, account: AccountNumber, market: MarketNumber, place: usize, lots: u64) {
        self.holdings.of_mut(account, market).free[place] += lots;
        self.shares_mut(market).held[place] += lots;
    }

    fn debit(
        &mut self,
        account: AccountNumber,
        market: MarketNumber,
        place: usize,
        lots: u64,
    ) -> Checked {
        let holding = self.holdings.of_mut(account, market);
        take(&mut holding.free[place], lots, "free shares")?;
        self.shares_mut(market).held[place] -= lots;
        Ok(())
    }

    fn purse_mut(&mut self, account: AccountNumber) -> &mut Purse {
        grown(&mut self.purses, account.0)
    }

    fn shares_mut(&mut self, market: MarketNumber) -> &mut Shares {
        grown(&mut self.shares, market.0)
    }
}

/// Whose order a movement belongs to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Party {
    pub(crate) account: AccountNumber,
    pub(crate) market: MarketNumber,
    pub(crate) outcome: Outcome,
    pub(crate) side: Side,
}

fn grown<T: Clone + Default>(list: &mut Vec<T>, number: u32) -> &mut T {
    let place = number as usize;
    if list.len() <= place {
        list.resize(place + 1, T::default());
    }
    &mut list[place]
}

fn take(from: &mut u64, amount: u64, what: &str) -> Checked {
    let left = from.checked_sub(amount);
    must(left.is_some(), || {
        format!("{amount} are taken from {what}, which is {from}")
    })?;
    *from = left.unwrap_or_default();
    Ok(())
}
