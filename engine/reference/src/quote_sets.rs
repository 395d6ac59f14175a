//! Checks of a set of quotes (docs/verify/rules.md §32).

use foretell_model::command::SetQuotes;
use foretell_model::limits::{
    MAX_ORDER_LOTS, MAX_QUOTE_VALIDITY_MS, MAX_QUOTES, QUOTE_GROUPS, QUOTE_REVISIONS_PER_MS,
};
use foretell_model::quote::{Quote, QuoteWord, QuotesResult};
use foretell_model::tail::Tail;
use foretell_model::{
    CommandOutcome, Event, Lots, MarketNumber, Outcome, Price, Rejection, RejectionReason, Side,
    SystemMode,
};

use crate::admission::not_trading;
use crate::exchange::{Exchange, Stamp};
use crate::handler_result::{HandlerResult, NotApplied, ensure};
use crate::orders::{in_outcome, is_bid};

/// A quote, with the number of its market.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WantedQuote {
    pub(crate) market: MarketNumber,
    pub(crate) quote: Quote,
}

impl WantedQuote {
    /// Token, side and price: a group has one quote for each.
    pub(crate) const fn key(&self) -> QuoteKey {
        let Quote {
            outcome,
            side,
            price,
            ..
        } = self.quote;
        (self.market, outcome, side, price)
    }

    fn is_bid(&self) -> bool {
        is_bid(self.quote.outcome, self.quote.side)
    }

    fn yes_price(&self) -> Price {
        in_outcome(self.quote.price, self.quote.outcome, Outcome::Yes)
    }

    /// Whether one is a bid at or above the other, an ask of the same market.
    fn crosses(&self, other: &Self) -> bool {
        self.market == other.market
            && match (self.is_bid(), other.is_bid()) {
                (true, false) => self.yes_price() >= other.yes_price(),
                (false, true) => other.yes_price() >= self.yes_price(),
                _ => false,
            }
    }
}

/// Token, side and price of a quote.
pub(crate) type QuoteKey = (MarketNumber, Outcome, Side, Price);

impl Exchange {
    pub(crate) fn set_quotes(
        &mut self,
        set: &SetQuotes,
        beside: &[u8],
        at: Stamp,
        events: &mut Vec<Event>,
    ) -> HandlerResult {
        self.check_maker(set.account, set.key)?;
        let (markets, words) = read_tail(set, beside).ok_or(RejectionReason::InvalidQuotes)?;
        self.check_last_set(set)?;
        self.check_window(set.timestamp, at.time)?;
        self.check_revision(set)?;
        check_validity(set, at)?;
        if !words.is_empty() {
            self.check_takes_quotes(set)?;
        }
        self.check_markets(&markets)?;
        let quotes = self.check_quotes(set, &markets, &words)?;
        self.check_leaves_trace(set, &quotes)?;
        let outcome = self.requote(set, &markets, &quotes, at, events);
        self.forget_quote_groups(at.time);
        Ok(outcome)
    }

    /// A set that is sent again is answered with the sequence of the first.
    fn check_last_set(&self, set: &SetQuotes) -> Result<(), NotApplied> {
        let group = self.quote_groups.get(&(set.account, set.group));
        let last = group.and_then(|group| group.last);
        match last {
            Some(last) if (last.revision, last.digest) == (set.revision, set.digest) => {
                Err(NotApplied::Repeated {
                    first: last.sequence,
                    last: last.sequence,
                    outcome: CommandOutcome::Done,
                })
            }
            _ => Ok(()),
        }
    }

    fn check_revision(&self, set: &SetQuotes) -> Result<(), NotApplied> {
        let group = self.quote_groups.get(&(set.account, set.group));
        let lowest = group.map_or(0, |group| group.revision()) + 1;
        let highest = set.timestamp.0.saturating_mul(QUOTE_REVISIONS_PER_MS);
        ensure(
            (lowest..=highest).contains(&set.revision),
            Rejection::with(RejectionReason::RevisionOutOfRange, lowest, highest),
        )
    }

    /// A set that places nothing in a group without an earlier set is answered and leaves no frame.
    fn check_leaves_trace(
        &self,
        set: &SetQuotes,
        quotes: &[WantedQuote],
    ) -> Result<(), NotApplied> {
        let group = self.quote_groups.get(&(set.account, set.group));
        if group.is_some_and(|group| group.last.is_some()) {
            return Ok(());
        }
        let refusals = quotes
            .iter()
            .map(|quote| self.refusal(set, quote, quote.quote.lots));
        let refusals: Vec<_> = refusals.collect();
        let places_one = refusals.contains(&None);
        let mut result = QuotesResult::default();
        for (index, reason) in (0..).zip(refusals.into_iter().flatten()) {
            result.refuse(index, reason);
        }
        ensure(
            places_one,
            NotApplied::already(CommandOutcome::Quotes(result)),
        )
    }

    /// Whether quotes are placed in this mode and group.
    fn check_takes_quotes(&self, set: &SetQuotes) -> Result<(), NotApplied> {
        match self.mode {
            SystemMode::Running | SystemMode::PostOnly => {}
            SystemMode::CancelOnly => ensure(false, RejectionReason::CancelOnly)?,
            SystemMode::Paused => ensure(false, RejectionReason::SystemPaused)?,
        }
        let group = self.quote_groups.get(&(set.account, set.group));
        let frozen = group.is_some_and(|group| group.frozen);
        ensure(!frozen, RejectionReason::GroupFrozen)
    }

    fn check_markets(&self, markets: &[MarketNumber]) -> Result<(), NotApplied> {
        for (index, market) in markets.iter().enumerate() {
            let rejected = |reason| Rejection::with(reason, index as u64, 0);
            ensure(
                self.market(*market).is_ok(),
                rejected(RejectionReason::UnknownMarket),
            )?;
            ensure(
                !markets[..index].contains(market),
                rejected(RejectionReason::InvalidQuotes),
            )?;
        }
        Ok(())
    }

    fn check_quotes(
        &self,
        set: &SetQuotes,
        markets: &[MarketNumber],
        words: &[QuoteWord],
    ) -> Result<Vec<WantedQuote>, NotApplied> {
        let mut quotes: Vec<WantedQuote> = Vec::new();
        for (index, word) in words.iter().enumerate() {
            let quote = self.check_quote(set, markets, word, index as u64)?;
            for (earlier, other) in quotes.iter().enumerate() {
                let rejected = |reason| Rejection::with(reason, index as u64, earlier as u64);
                let is_twice = quote.key() == other.key();
                ensure(!is_twice, rejected(RejectionReason::DuplicateQuote))?;
                ensure(
                    !quote.crosses(other),
                    rejected(RejectionReason::QuotesCross),
                )?;
            }
            quotes.push(quote);
        }
        Ok(quotes)
    }

    /// The checks of one quote by itself.
    fn check_quote(
        &self,
        set: &SetQuotes,
        markets: &[MarketNumber],
        word: &QuoteWord,
        index: u64,
    ) -> Result<WantedQuote, NotApplied> {
        let rejected = |reason, allowed| Rejection::with(reason, index, allowed);
        let malformed = rejected(RejectionReason::InvalidQuotes, 0);
        let quote = word.read().map_err(|_| malformed)?;
        let market = markets.get(usize::from(quote.condition));
        let number = *market.ok_or(malformed)?;

        let market = self.market(number)?;
        if let Some(reason) = not_trading(market.state) {
            return Err(rejected(reason, 0).into());
        }
        ensure(
            quote.side == Side::Sell || !self.account(set.account)?.closed_only,
            rejected(RejectionReason::ClosedOnlyAccount, 0),
        )?;
        ensure(
            quote.price.fits(market.tick),
            rejected(
                RejectionReason::PriceOffTick,
                u64::from(market.tick.units()),
            ),
        )?;
        ensure(
            quote.lots > Lots::ZERO,
            rejected(RejectionReason::AmountZero, 0),
        )?;
        ensure(
            quote.lots <= MAX_ORDER_LOTS,
            rejected(RejectionReason::AmountTooLarge, MAX_ORDER_LOTS.0),
        )?;
        Ok(WantedQuote {
            market: number,
            quote,
        })
    }
}

/// Markets and words of a set; `None` when the group, a count or the length of the tail is wrong.
fn read_tail(set: &SetQuotes, beside: &[u8]) -> Option<(Vec<MarketNumber>, Vec<QuoteWord>)> {
    let (conditions, quotes) = (usize::from(set.conditions), usize::from(set.quotes));
    let counts_fit = (1..=MAX_QUOTES).contains(&conditions) && quotes <= MAX_QUOTES;
    if set.group >= QUOTE_GROUPS || !counts_fit {
        return None;
    }
    let (markets, rest) = Tail::<MarketNumber>::split(beside, conditions)?;
    let (words, _) = Tail::<QuoteWord>::split(rest, quotes)?;
    Some((
        markets.items().collect::<Option<_>>()?,
        words.items().collect::<Option<_>>()?,
    ))
}

fn check_validity(set: &SetQuotes, at: Stamp) -> Result<(), NotApplied> {
    let earliest = at.time.millis().0 + 1;
    let latest = earliest + MAX_QUOTE_VALIDITY_MS;
    ensure(
        (earliest..=latest).contains(&set.valid_until.0),
        Rejection::with(RejectionReason::ValidityOutOfRange, earliest, latest),
    )
}
