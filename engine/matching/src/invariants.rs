//! Checks of the whole state: money, shares, reservations (promises 8 to 10), books and links.
//!
//! Those of a market's life are in `invariants/market_life.rs`, those of quotes in `invariants/quotes.rs`.
//!
//! Slow: tests run it after every command, the publisher before every snapshot.

mod market_life;
mod quotes;

use std::collections::{BTreeMap, BTreeSet};

use foretell_model::limits::{MAX_BALANCE, MAX_QUESTIONS};
use foretell_model::outside::{OUTSIDE_INDEX, outside_names};
use foretell_model::state::PendingWork;
use foretell_model::{
    AccountNumber, HoldSet, Lots, MarketNumber, MarketState, Micros, Payout, Price, Side,
};

use crate::event_group::EventGroup;
use crate::exchange::Exchange;
use crate::market::Market;
use crate::order_pool::{BookSide, Order};
use crate::slab::NONE;

/// Err: a description of the first inconsistency. Sums are wider than the fields that they are
/// compared with, so a corrupt state fails the check instead of overflowing.
type Check = Result<(), String>;

fn holds(condition: bool, otherwise: impl FnOnce() -> String) -> Check {
    if condition { Ok(()) } else { Err(otherwise()) }
}

/// Reservations that the live orders require.
struct RequiredReservations {
    /// By account number: collateral, and number of orders.
    accounts: Vec<(u128, u32)>,
    /// By position slot: shares of `[Yes, No]`.
    positions: Vec<[Lots; 2]>,
}

impl Exchange {
    /// Checks the whole state: conservation of money and shares, reservations, books, and every
    /// link between structures.
    ///
    /// # Errors
    /// A description of the first inconsistency. No sequence of commands leads to one.
    pub fn check_invariants(&self) -> Result<(), String> {
        self.check_names()?;
        self.check_money()?;
        self.check_supplies()?;
        let needs = self.check_account_lists()?;
        self.check_reserves(&needs)?;
        self.check_books()?;
        self.check_order_links()?;
        self.check_owners()?;
        self.check_references()?;
        self.check_pending()?;
        self.check_quotes()?;
        self.check_market_life()
    }

    /// Promise 8: free + reserved + accrued + locked in sets + fees = deposits − withdrawals.
    fn check_money(&self) -> Check {
        let system = &self.system;
        let accounts = self.accounts.iter();
        let held: u128 = accounts
            .map(|(_, account, _)| wide(account.free) + wide(account.reserved))
            .sum();
        let plain: u128 = self
            .markets
            .iter()
            .filter(|(_, market, _)| market.question.is_none())
            .map(|(_, market, _)| wide(locked_in_plain(market)))
            .sum();
        let events = self.event_groups.iter();
        let neg_risk: u128 = events
            .map(|(_, event)| wide(self.locked_in_event(event)))
            .sum();
        let accrued = wide(self.rebates.total());
        let total = held + accrued + plain + neg_risk + wide(system.fees);
        holds(total == wide(system.collateral), || {
            format!(
                "held {held:?} + accrued {accrued:?} + locked {plain:?} + {neg_risk:?} + fees {:?} is \
                 not {:?}",
                system.fees, system.collateral
            )
        })?;
        holds(system.collateral <= MAX_BALANCE, || {
            format!("collateral {:?} is above the maximum", system.collateral)
        })
    }

    /// Protocol 5: Σ supply(No) + supply(Yes of outside), and once question j is Yes, supply(Yes j) + the
    /// others' No.
    fn locked_in_event(&self, event: &EventGroup) -> Micros {
        let questions = event.questions.iter().map(|market| &self.markets[*market]);
        let has_yes = questions
            .clone()
            .any(|question| question.payout == Some(Payout::Yes));
        let sets: Lots = questions
            .map(|question| match question.payout {
                Some(Payout::Yes) => question.supply[0],
                _ => question.supply[1],
            })
            .sum();
        let outside = &self.markets[event.outside];
        let of_outside = if has_yes {
            Lots::ZERO
        } else {
            outside.supply[0]
        };
        (sets + of_outside).full_value()
    }

    /// Promise 9: the shares held of a token add up to its supply, and supplies balance.
    fn check_supplies(&self) -> Check {
        let mut held = vec![[0_u128; 2]; self.markets.len()];
        for (_, position) in self.positions.iter() {
            let Some(sums) = held.get_mut(position.market.0 as usize) else {
                return Err(format!("shares of no market: {position:?}"));
            };
            for (index, sum) in sums.iter_mut().enumerate() {
                *sum += u128::from(position.free[index].0) + u128::from(position.reserved[index].0);
            }
        }
        for ((number, market, _), held) in self.markets.iter().zip(held) {
            holds(held == wide_pair(market.supply), || {
                format!("market {number}: held {held:?}, supply {:?}", market.supply)
            })?;
            let converted = match market.question {
                Some((event, _)) => self.event_groups[event].converted,
                None => Lots::ZERO,
            };
            let [yes, no] = market.supply;
            let is_resolved = market.state == MarketState::Resolved;
            holds(is_resolved || yes == no + converted, || {
                format!("market {number}: Yes {yes:?}, No {no:?}, converted {converted:?}")
            })?;
            holds(is_resolved == market.payout.is_some(), || {
                format!(
                    "market {number}: {:?} pays {:?}",
                    market.state, market.payout
                )
            })?;
        }
        Ok(())
    }

    /// Checks that accounts' lists are sorted, doubly linked, and hold only the account's orders,
    /// each with its position, and together all live orders. Returns the required reservations.
    fn check_account_lists(&self) -> Result<RequiredReservations, String> {
        let mut needs = RequiredReservations {
            accounts: Vec::with_capacity(self.accounts.len()),
            positions: vec![Default::default(); self.positions.slots()],
        };
        let mut listed = vec![false; self.orders.slots()];
        for (number, account, _) in self.accounts.iter() {
            let (mut previous, mut last_number) = (NONE, None);
            let (mut collateral, mut orders) = (0, 0);
            for slot in self.accounts.orders_of(number, &self.orders) {
                let order = &self.orders[slot];
                let is_linked = order.account == number
                    && order.account_previous == previous
                    && last_number < Some(order.number);
                holds(is_linked, || {
                    format!(
                        "order {} is misplaced in the list of account {number}",
                        order.number
                    )
                })?;
                (previous, last_number) = (slot, Some(order.number));
                listed[slot as usize] = true;
                let position = match order.side {
                    Side::Buy => None,
                    Side::Sell => self.positions.find(number, order.market),
                };
                holds(order.position == position.unwrap_or(NONE), || {
                    format!("order {} refers to another position", order.number)
                })?;
                let reserved = self.reserved_by(order);
                match position {
                    None => collateral += u128::from(reserved),
                    Some(slot) => {
                        let sum = &mut needs.positions[slot as usize][order.outcome.index()];
                        let more = sum.0.checked_add(reserved);
                        *sum = Lots(more.ok_or("orders need more shares than can be counted")?);
                    }
                }
                orders += 1;
            }
            holds(account.last_order == previous, || {
                format!("account {number}: wrong tail of its order list")
            })?;
            needs.accounts.push((collateral, orders));
        }
        self.check_listed(&listed)?;
        let mut withdrawals = vec![0_u8; needs.accounts.len()];
        for withdrawal in self.withdrawals.sorted() {
            let account = withdrawal.account.0 as usize;
            needs.accounts[account].0 += wide(withdrawal.amount);
            withdrawals[account] += 1;
        }
        for ((number, account, _), waiting) in self.accounts.iter().zip(withdrawals) {
            holds(account.withdrawals == waiting, || {
                format!(
                    "account {number}: counts {} withdrawals",
                    account.withdrawals
                )
            })?;
        }
        Ok(needs)
    }

    /// What a live order reserves: micros of a BUY, lots of a SELL.
    fn reserved_by(&self, order: &Order) -> u64 {
        match (order.delayed(), order.side) {
            (Some(at), _) => self.delayed[at].reserved,
            (None, Side::Buy) => order.reserved_value().0,
            (None, Side::Sell) => order.lots.0,
        }
    }

    /// Checks that the lists hold exactly the live orders.
    fn check_listed(&self, listed: &[bool]) -> Check {
        let listed_in_all = listed.iter().filter(|listed| **listed).count();
        holds(listed_in_all == self.orders.len(), || {
            format!(
                "{listed_in_all} orders in lists, {} live",
                self.orders.len()
            )
        })?;
        for (slot, order) in self.orders.iter() {
            holds(listed[slot as usize], || {
                format!("order {} is in no account's list", order.number)
            })?;
        }
        Ok(())
    }

    /// Promise 10: reserved amounts equal what the live orders require.
    fn check_reserves(&self, needs: &RequiredReservations) -> Check {
        for ((number, account, _), needed) in self.accounts.iter().zip(&needs.accounts) {
            let stated = (wide(account.reserved), account.live_orders);
            holds(stated == *needed, || {
                format!("account {number} states {stated:?}, its orders need {needed:?}")
            })?;
        }
        self.positions.check()?;
        for (slot, position) in self.positions.iter() {
            let (account, market) = (position.account, position.market);
            let (stated, needed) = (position.reserved, needs.positions[slot as usize]);
            holds(stated == needed, || {
                format!("position {account}/{market} reserves {stated:?}, orders need {needed:?}")
            })?;
        }
        Ok(())
    }

    /// Checks books: level lists, bitmaps, sides, prices, and that no book is crossed.
    fn check_books(&self) -> Check {
        let mut in_books = 0;
        for (number, market, _) in self.markets.iter() {
            for (price, level, is_bid, is_ask) in market.ladder.levels() {
                holds(
                    level.is_empty() != (is_bid || is_ask) && !(is_bid && is_ask),
                    || format!("market {number}: level {price:?} is marked {is_bid}/{is_ask}"),
                )?;
                let side = if is_bid { BookSide::Bid } else { BookSide::Ask };
                let (mut slot, mut previous) = (level.first, NONE);
                while slot != NONE {
                    self.check_order(slot, (number, price, side))?;
                    holds(self.orders[slot].previous == previous, || {
                        format!("market {number}: level {price:?} is not linked back")
                    })?;
                    in_books += 1;
                    (previous, slot) = (slot, self.orders[slot].next);
                }
                holds(level.last == previous, || {
                    format!("market {number}: level {price:?} has a wrong tail")
                })?;
            }
            holds(market.ladder.is_best_cached(), || {
                format!("market {number}: the cached best level differs from the bitmap")
            })?;
            let best = [BookSide::Bid, BookSide::Ask].map(|side| {
                let slot = market.ladder.best(side);
                slot.map(|slot| self.orders[slot].yes_price)
            });
            if let [Some(bid), Some(ask)] = best {
                holds(bid < ask, || {
                    format!("market {number} is crossed: {bid:?} {ask:?}")
                })?;
            }
        }
        let resting = self.orders.len() - self.delayed.len();
        holds(in_books == resting, || {
            format!("{in_books} orders in books, {resting} rest")
        })
    }

    fn check_order(&self, slot: u32, at: (MarketNumber, Price, BookSide)) -> Check {
        let order = &self.orders[slot];
        let stated = (order.market, order.yes_price, order.book_side());
        holds(stated == at && !order.lots.is_zero(), || {
            format!("order {} has {stated:?}, is at {at:?}", order.number)
        })?;
        holds(self.may_have_orders(order.market), || {
            format!("order {} rests in a market that is over", order.number)
        })
    }

    /// Whether live orders of a market are possible.
    pub(crate) fn may_have_orders(&self, market: MarketNumber) -> bool {
        let closing = PendingWork::CloseMarket { market };
        match self.markets[market].state {
            MarketState::Active | MarketState::Paused => true,
            MarketState::Closed => self.system.pending == Some(closing),
            MarketState::Resolved => match (self.markets[market].question, self.system.pending) {
                (Some((group, _)), Some(PendingWork::CloseQuestions { event })) => group == event,
                _ => false,
            },
            MarketState::Registered => false,
        }
    }

    /// Checks that each live order, its id entry and its heap entry refer to each other.
    fn check_order_links(&self) -> Check {
        self.ids.check()?;
        let mut counted = vec![0; self.accounts.len()];
        for (_, entry) in self.ids.iter().filter(|(_, entry)| entry.in_expiry_queue) {
            if let Some(owner) = self.keys.owner_of(entry.terms.key) {
                counted[owner.0 as usize] += 1;
            }
        }
        let stated = self
            .accounts
            .iter()
            .map(|(_, account, _)| account.order_ids);
        holds(stated.eq(counted), || {
            "accounts: wrong count of an owner's order ids".into()
        })?;
        self.expiry.check()?;
        let mut expiring = 0;
        for (slot, order) in self.orders.iter() {
            let entry = self.ids.at(order.id_slot);
            let is_linked = (entry.order, entry.number) == (slot, order.number)
                && entry.terms.expiration == order.expiration;
            holds(is_linked, || {
                format!("order {} and its remembered id differ", order.number)
            })?;
            let expires = order.expiration.0 != 0;
            let key = expires.then_some((order.expiration, order.number));
            holds(self.expiry.get(slot) == key, || {
                format!("order {} is wrongly in or out of the heap", order.number)
            })?;
            expiring += usize::from(expires);
        }
        let live = self.ids.iter().filter(|(_, entry)| entry.order != NONE);
        holds(live.count() == self.orders.len(), || {
            "ids are remembered as live without an order".into()
        })?;
        holds(expiring == self.expiry.len(), || {
            format!(
                "{expiring} orders expire, {} in the heap",
                self.expiry.len()
            )
        })?;
        holds(self.scratch.is_empty(), || {
            "the scratch list is not empty".into()
        })
    }

    /// Checks the address index, and that owners, wallets and keys refer to each other.
    fn check_owners(&self) -> Check {
        let mut keys: BTreeMap<AccountNumber, (u32, u32)> = BTreeMap::new();
        for (_, key, _) in self.keys.iter() {
            let (all, live) = keys.entry(key.owner).or_default();
            *all += 1;
            *live += u32::from(key.live);
        }
        for (number, account, identity) in self.accounts.iter() {
            let is_found = self.accounts.find(identity.wallet) == Some(number);
            let is_owned = self.accounts[account.owner].owner == account.owner
                && self
                    .accounts
                    .wallets_of(account.owner)
                    .any(|wallet| wallet == number);
            holds(is_found && is_owned, || {
                format!("account {number} is not found by wallet or owner")
            })?;
            let counts = keys.get(&number).copied().unwrap_or_default();
            let stated = (identity.keys, identity.live_keys);
            holds(counts == stated, || {
                format!("account {number} states keys {stated:?}, has {counts:?}")
            })?;
        }
        Ok(())
    }

    /// Checks the indexes of keys, event groups and markets, and the links of groups and questions.
    fn check_names(&self) -> Check {
        for (number, key, names) in self.keys.iter() {
            let origin = self
                .keys
                .find_origin(key.owner, &names.nonce, key.read_only);
            let is_found = self.keys.find(names.api_key) == Some(number) && origin == Some(number);
            holds(is_found, || format!("key {number} is not found"))?;
        }
        for (number, event) in self.event_groups.iter() {
            let is_found = self.event_groups.find(event.id) == Some(number);
            let count = event.questions.len();
            holds(is_found && count <= MAX_QUESTIONS as usize, || {
                format!("event group {number} is not indexed, or has {count} questions")
            })?;
            let outside = self.markets.get_any(event.outside);
            let is_its_own = outside.is_some_and(|market| {
                let names = self.markets.names(event.outside);
                market.question == Some((number, OUTSIDE_INDEX))
                    && (names.condition, names.tokens) == outside_names(event.id)
                    && market.supply[1].is_zero()
                    && matches!(market.state, MarketState::Closed | MarketState::Resolved)
            });
            holds(is_its_own, || {
                format!(
                    "market {} is not the outside question of event group {number}",
                    event.outside
                )
            })?;
            let indexes = event
                .questions
                .iter()
                .map(|market| self.markets.names(*market).index);
            let own: BTreeSet<_> = indexes.clone().flatten().collect();
            holds(
                own.is_empty() || own.len() == count && indexes.flatten().count() == count,
                || {
                    format!(
                        "event group {number} has {} indexes of {count} questions",
                        own.len()
                    )
                },
            )?;
            let questions = event.questions.iter().chain([&event.outside]);
            let payouts = questions.map(|market| self.markets[*market].payout);
            let yes = payouts.clone().filter(|paid| *paid == Some(Payout::Yes));
            let is_decided = payouts.clone().any(|paid| paid == Some(Payout::Yes));
            holds(
                !is_decided || payouts.clone().all(|paid| paid.is_some()),
                || format!("event group {number} is decided, and a question of it is open"),
            )?;
            let is_half = payouts
                .clone()
                .any(|paid| matches!(paid, Some(Payout::Half | Payout::Outside)));
            holds(yes.count() <= 1 && !is_half, || {
                format!("event group {number} has more than one Yes, or a half payout")
            })?;
            let may_convert = event.frozen || event.converted.is_zero();
            holds(may_convert, || {
                format!("event group {number} was converted before it was frozen")
            })?;
        }
        for (number, market, names) in self.markets.iter() {
            let is_found = self.markets.find(names.condition) == Some(number)
                && names
                    .tokens
                    .iter()
                    .all(|token| self.markets.token_in_use(*token))
                && self
                    .markets
                    .with_slug(names.slug)
                    .is_none_or(|has| has == number);
            let is_listed = market.question.is_none_or(|(event, index)| {
                let event = &self.event_groups[event];
                let listed = match index {
                    OUTSIDE_INDEX => Some(&event.outside),
                    index => event.questions.get(index as usize),
                };
                listed == Some(&number)
            });
            let is_held = market.holds != HoldSet::NONE;
            holds(is_held == (market.state == MarketState::Paused), || {
                format!(
                    "market {number} is {:?} with {:?}",
                    market.state, market.holds
                )
            })?;
            holds(is_found && is_listed, || {
                format!("market {number} is not found by name or event")
            })?;
        }
        Ok(())
    }

    /// Checks that each account's count matches its remembered references.
    fn check_references(&self) -> Check {
        let mut held: BTreeMap<AccountNumber, u32> = BTreeMap::new();
        for account in self.references.iter().filter_map(|used| used.scope) {
            *held.entry(account).or_default() += 1;
        }
        for (number, _, _) in self.accounts.iter() {
            let (counted, stated) = (
                held.get(&number).copied().unwrap_or(0),
                self.references.count_of(number),
            );
            holds(counted == stated, || {
                format!("account {number} states {stated} references, has {counted}")
            })?;
        }
        Ok(())
    }

    /// Checks that pending work has orders left to close.
    fn check_pending(&self) -> Check {
        let Some(work) = self.system.pending else {
            return Ok(());
        };
        let mut slots = Vec::new();
        self.collect(&work, &mut slots);
        holds(!slots.is_empty(), || {
            format!("pending work without orders: {work:?}")
        })
    }
}

fn wide(amount: Micros) -> u128 {
    amount.0.into()
}

fn wide_pair(shares: [Lots; 2]) -> [u128; 2] {
    shares.map(|lots| lots.0.into())
}

/// Collateral that backs a plain market: full sets, or the payouts still due.
fn locked_in_plain(market: &Market) -> Micros {
    match market.payout {
        None => market.supply[0].full_value(),
        Some(payout) => market
            .supply
            .iter()
            .zip(payout.price_units())
            .map(|(supply, units)| supply.value_at(Price(units)))
            .sum(),
    }
}
