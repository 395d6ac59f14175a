//! Applies a set: ends and reduces the quotes that it does not want, then places what is new.

use foretell_model::command::SetQuotes;
use foretell_model::event::{QuotePlaced, QuoteRefused, QuotesSet};
use foretell_model::limits::{
    MAX_ORDER_LOTS, MAX_QUOTE_VALIDITY_MS, MAX_QUOTES, QUOTE_GROUPS, QUOTE_REVISIONS_PER_MS,
};
use foretell_model::quote::{Quote, QuotesResult, quote_id};
use foretell_model::state::QuoteGroup;
use foretell_model::tail::Tail;
use foretell_model::{
    AccountNumber, CloseReason, CommandOutcome, Event, Lots, MarketNumber, OrderNumber, OrderType,
    Outcome, Price, Rejection, RejectionReason, Sequence, Side, TimeSeconds, Verdict,
};

use crate::command_context::{CommandContext, HandlerResult, NotApplied, ensure};
use crate::exchange::Exchange;
use crate::id_memory::OrderTerms;
use crate::order_pool::{BookSide, Order, in_yes};
use crate::slab::NONE;

/// What makes two quotes of a group the same: token, side and price.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Key {
    market: MarketNumber,
    outcome: Outcome,
    side: Side,
    yes_price: Price,
}

impl Key {
    const fn of(order: &Order) -> Self {
        Self {
            market: order.market,
            outcome: order.outcome,
            side: order.side,
            yes_price: order.yes_price,
        }
    }

    const fn book_side(self) -> BookSide {
        BookSide::of(self.outcome, self.side)
    }
}

/// A quote of a set, and what becomes of the live ones with its key.
#[derive(Clone, Copy, Debug)]
pub(super) struct WantedQuote {
    quote: Quote,
    key: Key,
    /// What the live ones still may keep.
    keep: Lots,
    /// To place at the back.
    place: Lots,
    /// It would leave what is live below the minimum, so that ends.
    is_too_small: bool,
}

/// Rejects with the index of a quote or a condition and what is allowed.
fn at(reason: RejectionReason, index: usize, allowed: u64) -> NotApplied {
    Rejection::with(reason, index as u64, allowed).into()
}

/// The markets of a set.
struct Listed {
    markets: [MarketNumber; MAX_QUOTES],
    count: usize,
}

impl Listed {
    fn markets(&self) -> &[MarketNumber] {
        &self.markets[..self.count]
    }
}

impl Exchange {
    pub(crate) fn set_quotes(
        &mut self,
        set: &SetQuotes,
        context: &mut CommandContext<'_>,
    ) -> HandlerResult {
        let mut wanted = std::mem::take(&mut self.quotes.wanted);
        let checked = self.check_set(set, &mut wanted, context);
        let answer = checked.and_then(|listed| {
            if let Some(result) = self.result_without_trace(set, &wanted) {
                return Err(NotApplied::already(CommandOutcome::Quotes(result)));
            }
            let result = self.apply_set(set, &listed, &mut wanted, context);
            Ok(CommandOutcome::Quotes(result))
        });
        wanted.clear();
        self.quotes.wanted = wanted;
        answer
    }

    /// The answer to a set that is the newest of its group, as [`Self::apply`] gives it. `None` for any other set, and for
    /// one of an unknown account or key.
    #[must_use]
    pub fn known_set(&self, set: &SetQuotes) -> Option<Verdict> {
        self.ensure_key(set.key, self.account(set.account).ok()?)
            .ok()?;
        let known = self.ensure_not_repeated(set);
        known.err().map(Verdict::from)
    }

    /// Whether a group has live quotes in the markets of a set, which a set without quotes ends.
    #[must_use]
    pub fn ends_quotes(&self, set: &SetQuotes, beside: &[u8]) -> bool {
        let group = self.quotes.find(set.account, set.group);
        let Some((group, lists)) = group.zip(set.lists(beside)) else {
            return false;
        };
        let is_listed = |market| lists.markets.items().any(|it| it == Some(market));
        let mut quotes = self.quotes[group].quotes.iter();
        quotes.any(|quote| is_listed(self.orders[*quote].market))
    }

    /// Checks everything but the book, in the order that [`SetQuotes`] documents.
    fn check_set(
        &self,
        set: &SetQuotes,
        wanted: &mut Vec<WantedQuote>,
        context: &CommandContext<'_>,
    ) -> Result<Listed, NotApplied> {
        self.ensure_key(set.key, self.account(set.account)?)?;
        let (conditions, quotes) = (usize::from(set.conditions), usize::from(set.quotes));
        let are_counts = (1..=MAX_QUOTES).contains(&conditions) && quotes <= MAX_QUOTES;
        let lists = set.lists(context.beside);
        let lists = lists.filter(|_| are_counts && set.group < QUOTE_GROUPS);
        let lists = lists.ok_or(RejectionReason::InvalidQuotes)?;
        self.ensure_newest(set, context)?;
        if quotes > 0 {
            self.ensure_takes_quotes(set)?;
        }
        let listed = self.list_markets(&lists.markets)?;
        for (index, word) in lists.words.items().enumerate() {
            let quote = word.and_then(|word| word.read().ok());
            let quote = quote.ok_or_else(|| at(RejectionReason::InvalidQuotes, index, 0))?;
            let one = self.check_quote(set.account, quote, index, &listed)?;
            ensure_apart(wanted, &one, index)?;
            wanted.push(one);
        }
        Ok(listed)
    }

    /// Rejects a set that is not the newest of its group, or out of its time.
    fn ensure_newest(
        &self,
        set: &SetQuotes,
        context: &CommandContext<'_>,
    ) -> Result<(), NotApplied> {
        let last = self.ensure_not_repeated(set)?;
        self.ensure_timestamp(set.timestamp, context)?;
        let lowest = last.map_or(1, |last| last.revision.saturating_add(1));
        let highest = set.timestamp.0.saturating_mul(QUOTE_REVISIONS_PER_MS);
        ensure(
            (lowest..=highest).contains(&set.revision),
            Rejection::with(RejectionReason::RevisionOutOfRange, lowest, highest),
        )?;
        let earliest = context.now.millis().0 + 1;
        let latest = earliest + MAX_QUOTE_VALIDITY_MS;
        ensure(
            (earliest..=latest).contains(&set.valid_until.0),
            Rejection::with(RejectionReason::ValidityOutOfRange, earliest, latest),
        )
    }

    /// Answers a set that is the newest of its group again. Returns the record of the newest one, if there is a group.
    fn ensure_not_repeated(&self, set: &SetQuotes) -> Result<Option<&QuoteGroup>, NotApplied> {
        let known = self.quotes.find(set.account, set.group);
        let last = known.map(|slot| &self.quotes[slot].record);
        let is_same = last.is_some_and(|last| {
            let is_set = last.set != Sequence(0);
            is_set && (last.revision, last.digest) == (set.revision, set.digest)
        });
        match last {
            Some(last) if is_same => Err(NotApplied::Repeated {
                first: last.set,
                last: last.set,
                outcome: CommandOutcome::Done,
            }),
            _ => Ok(last),
        }
    }

    fn ensure_takes_quotes(&self, set: &SetQuotes) -> Result<(), NotApplied> {
        self.system.ensure_takes_risk()?;
        let known = self.quotes.find(set.account, set.group);
        let is_frozen = known.is_some_and(|slot| self.quotes[slot].record.frozen);
        ensure(!is_frozen, RejectionReason::GroupFrozen)
    }

    fn list_markets(&self, markets: &Tail<'_, MarketNumber>) -> Result<Listed, NotApplied> {
        let mut listed = Listed {
            markets: [MarketNumber(0); MAX_QUOTES],
            count: 0,
        };
        for (index, market) in markets.items().enumerate() {
            let market = market.ok_or_else(|| at(RejectionReason::InvalidQuotes, index, 0))?;
            let unknown = |_| at(RejectionReason::UnknownMarket, index, 0);
            self.markets.get(market).map_err(unknown)?;
            let is_new = !listed.markets().contains(&market);
            ensure(is_new, at(RejectionReason::InvalidQuotes, index, 0))?;
            listed.markets[index] = market;
            listed.count += 1;
        }
        Ok(listed)
    }

    fn check_quote(
        &self,
        account: AccountNumber,
        quote: Quote,
        index: usize,
        listed: &Listed,
    ) -> Result<WantedQuote, NotApplied> {
        let number = listed.markets().get(usize::from(quote.condition));
        let number = *number.ok_or_else(|| at(RejectionReason::InvalidQuotes, index, 0))?;
        let market = &self.markets[number];
        market.ensure_trading().map_err(|why| why.of_quote(index))?;
        let may_buy = quote.side == Side::Sell || !self.accounts[account].closed_only;
        ensure(may_buy, at(RejectionReason::ClosedOnlyAccount, index, 0))?;
        let tick = market.ladder.tick();
        let off_tick = at(RejectionReason::PriceOffTick, index, tick.units().into());
        ensure(quote.price.fits(tick), off_tick)?;
        ensure(
            !quote.lots.is_zero(),
            at(RejectionReason::AmountZero, index, 0),
        )?;
        let too_large = at(RejectionReason::AmountTooLarge, index, MAX_ORDER_LOTS.0);
        ensure(quote.lots <= MAX_ORDER_LOTS, too_large)?;
        let key = Key {
            market: number,
            outcome: quote.outcome,
            side: quote.side,
            yes_price: in_yes(quote.price, quote.outcome),
        };
        Ok(WantedQuote {
            quote,
            key,
            keep: Lots::ZERO,
            place: Lots::ZERO,
            is_too_small: false,
        })
    }

    /// What a set comes to that places nothing in a group without an earlier one: it leaves no trace, so that who
    /// has nothing to quote with writes nothing. `None` of any other set.
    fn result_without_trace(
        &self,
        set: &SetQuotes,
        wanted: &[WantedQuote],
    ) -> Option<QuotesResult> {
        let known = self.quotes.find(set.account, set.group);
        if known.is_some_and(|slot| self.quotes[slot].record.set != Sequence(0)) {
            return None;
        }
        let mut result = QuotesResult::default();
        for (index, one) in (0..).zip(wanted) {
            let whole = WantedQuote {
                place: one.quote.lots,
                ..*one
            };
            result.refuse(index, self.may_place(set, known, &whole).err()?);
        }
        Some(result)
    }

    fn apply_set(
        &mut self,
        set: &SetQuotes,
        listed: &Listed,
        wanted: &mut [WantedQuote],
        context: &mut CommandContext<'_>,
    ) -> QuotesResult {
        let slot = self.quotes.find_or_add(set.account, set.group);
        let is_other = |quote: &u32| !listed.markets().contains(&self.orders[*quote].market);
        let has_others = self.quotes[slot].quotes.iter().any(is_other);
        let group = &mut self.quotes[slot];
        group.record.revision = set.revision;
        group.record.digest = set.digest;
        group.record.set = context.sequence;
        // Quotes of other markets were signed until then, and no set for these moves that.
        group.record.valid_until = match has_others {
            true => set.valid_until.min(group.record.valid_until),
            false => set.valid_until,
        };
        let until = group.renewed(context.now);
        group.record.until = until;
        context.event(Event::QuotesSet(QuotesSet { until }));

        self.divide(slot, wanted);
        let mut result = QuotesResult::default();
        self.end_unwanted(slot, listed, wanted, &mut result, context);
        for (index, one) in (0..).zip(&*wanted) {
            let placed = match one.place {
                _ if one.is_too_small => Err(RejectionReason::SizeBelowMinimum),
                Lots::ZERO => continue,
                _ => self.place_quote(set, (slot, index), one, context),
            };
            match placed {
                Ok(()) => result.placed.insert(index),
                Err(reason) => {
                    result.refuse(index, reason);
                    context.event(Event::QuoteRefused(QuoteRefused { index, reason }));
                }
            }
        }
        self.schedule(slot);
        self.forget_idle_groups(context);
        result
    }

    /// Decides for each wanted quote how much of the live ones stays, and how much is placed.
    fn divide(&self, group: u32, wanted: &mut [WantedQuote]) {
        for one in wanted {
            let orders = self.quotes[group]
                .quotes
                .iter()
                .map(|slot| &self.orders[*slot]);
            let mut pieces = orders.filter(|order| Key::of(order) == one.key);
            let head = pieces.next().map_or(Lots::ZERO, |head| head.lots);
            let live = head + pieces.map(|piece| piece.lots).sum();
            let size = one.quote.lots;
            if size > live {
                one.keep = if one.quote.grow_tail {
                    head
                } else {
                    Lots::ZERO
                };
                one.place = size - one.keep;
            } else if size == live || size >= self.markets[one.key.market].minimum_size {
                one.keep = size;
            } else {
                one.is_too_small = true;
            }
        }
    }

    /// Ends and reduces live quotes of the listed markets, by number.
    fn end_unwanted(
        &mut self,
        group: u32,
        listed: &Listed,
        wanted: &mut [WantedQuote],
        result: &mut QuotesResult,
        context: &mut CommandContext<'_>,
    ) {
        let mut at = 0;
        while let Some(&slot) = self.quotes[group].quotes.get(at) {
            let order = &self.orders[slot];
            if !listed.markets().contains(&order.market) {
                at += 1;
                continue;
            }
            let (key, lots) = (Key::of(order), order.lots);
            let minimum = self.markets[order.market].minimum_size;
            let keep = wanted.iter_mut().find(|one| one.key == key);
            let stays = keep.map_or(Lots::ZERO, |one| {
                let stays = one.keep.min(lots);
                one.keep -= stays;
                stays
            });
            if stays < lots.min(minimum) {
                self.close_order(slot, CloseReason::Requoted, context);
                result.ended += 1;
                continue;
            }
            if stays < lots {
                self.decrease(slot, stays, context);
                result.reduced += 1;
            } else {
                result.kept += 1;
            }
            at += 1;
        }
    }

    /// Places what is new of a quote, unless a check against fills, book or balance fails.
    fn place_quote(
        &mut self,
        set: &SetQuotes,
        (group, index): (u32, u8),
        wanted: &WantedQuote,
        context: &mut CommandContext<'_>,
    ) -> Result<(), RejectionReason> {
        let WantedQuote {
            quote, key, place, ..
        } = *wanted;
        let position = self.may_place(set, Some(group), wanted)?;
        let number = OrderNumber::of(context.sequence, index);
        let id = quote_id(&set.digest, index);
        let terms = OrderTerms {
            expiration: TimeSeconds(0),
            key: set.key,
            order_type: OrderType::Gtc,
            post_only: true,
        };
        let named = (self.ids.hash(&id), id);
        let id_slot = self.ids.name(named, number, set.timestamp, terms);
        let order = Order {
            lots: place,
            number,
            expiration: TimeSeconds(0),
            account: set.account,
            market: key.market,
            position,
            id_slot,
            group,
            next: NONE,
            previous: NONE,
            account_next: NONE,
            account_previous: NONE,
            yes_price: key.yes_price,
            outcome: quote.outcome,
            side: quote.side,
        };
        self.quotes[group].reserve();
        let slot = self.enter_book(order, context);
        self.quotes[group].quotes.push(slot);
        context.event(Event::QuotePlaced(QuotePlaced {
            order: number,
            lots: place,
        }));
        Ok(())
    }

    /// The checks of one quote, in the order of [`QuotesResult::REASONS`]; `None` is a group that nobody has used.
    /// Returns the slot of a seller's position.
    fn may_place(
        &self,
        set: &SetQuotes,
        group: Option<u32>,
        &WantedQuote {
            quote, key, place, ..
        }: &WantedQuote,
    ) -> Result<u32, RejectionReason> {
        let ok = |condition: bool, reason| if condition { Ok(()) } else { Err(reason) };
        let group = group.map(|slot| &self.quotes[slot]);
        let filled = (key.market, key.outcome, key.side);
        let is_filled = group.is_some_and(|group| group.is_filled_after(set.seen, filled));
        ok(!is_filled, RejectionReason::FilledSince)?;
        let market = &self.markets[key.market];
        ok(
            place >= market.minimum_size,
            RejectionReason::SizeBelowMinimum,
        )?;
        let side = key.book_side();
        let best = market.ladder.best_level(side.opposite());
        let crosses = best.is_some_and(|(maker, _)| side.reaches(key.yes_price, maker));
        ok(!crosses, RejectionReason::CrossesBook)?;
        let account = &self.accounts[set.account];
        let cap = self.system.settings.live_orders_per_account;
        ok(
            account.live_orders < cap && group.map_or(0, |group| group.quotes.len()) < MAX_QUOTES,
            RejectionReason::TooManyLiveOrders,
        )?;
        if quote.side == Side::Buy {
            let needed = place.value_at(quote.price);
            ok(account.free >= needed, RejectionReason::NotEnoughCollateral)?;
            return Ok(NONE);
        }
        let position = self.positions.find(set.account, key.market);
        let free = position.map(|slot| self.positions[slot].free[key.outcome.index()]);
        ok(
            free.is_some_and(|free| free >= place),
            RejectionReason::NotEnoughShares,
        )?;
        Ok(position.unwrap_or(NONE))
    }
}

/// Rejects a quote that another one of the set repeats or crosses.
fn ensure_apart(wanted: &[WantedQuote], one: &WantedQuote, index: usize) -> Result<(), NotApplied> {
    let (key, side) = (one.key, one.key.book_side());
    for (earlier, other) in wanted.iter().enumerate() {
        let other = other.key;
        if other == key {
            return Err(at(RejectionReason::DuplicateQuote, index, earlier as u64));
        }
        let crosses = side.reaches(key.yes_price, other.yes_price);
        if crosses && other.market == key.market && other.book_side() != side {
            return Err(at(RejectionReason::QuotesCross, index, earlier as u64));
        }
    }
    Ok(())
}
