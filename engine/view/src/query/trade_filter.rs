//! Filters trades by party, market, token, builder and time.
//!
//! No list holds exactly the trades of every combination. So the shortest set of lists that
//! contains all matches is read from new to old, and the caller bounds the number of trades read.

use foretell_model::{AccountNumber, MarketNumber, Outcome, TimeNs};

use crate::rows::builders::Builder;
use crate::rows::trade::{TradeRecord, TradeSide};
use crate::rows::trade_list::{FilterableTrades, TradeList};
use crate::rows::trade_slot::TradeSlot;
use crate::storage::list::Summary;
use crate::view::View;

/// A filter for trades; a condition of `None` matches all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TradeFilter {
    /// A wallet of this owner is taker or maker.
    pub owner: Option<AccountNumber>,
    /// An order carries a builder.
    pub builder: Option<BuilderFilter>,
    /// The taker.
    pub taker: Option<AccountNumber>,
    /// The maker.
    pub maker: Option<AccountNumber>,
    /// The taker or the maker.
    pub wallet: Option<AccountNumber>,
    /// The market.
    pub market: Option<MarketNumber>,
    /// The token of the taker or the maker.
    pub token: Option<(MarketNumber, Outcome)>,
    /// It happened after this moment.
    pub after: Option<TimeNs>,
    /// It happened before this moment.
    pub before: Option<TimeNs>,
}

/// The builder to match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BuilderFilter {
    /// Any builder.
    Any,
    /// This one.
    Code(Builder),
}

impl TradeFilter {
    /// Whether a trade matches.
    #[must_use]
    pub fn matches(&self, view: &View, trade: &TradeRecord) -> bool {
        let sides = [&trade.taker, &trade.maker];
        let either = |matches: &dyn Fn(&TradeSide) -> bool| sides.into_iter().any(matches);
        let owned = |side: &TradeSide, owner| {
            let account = view.accounts().get(side.account);
            account.is_some_and(|account| account.owner == owner)
        };
        self.taker.is_none_or(|taker| taker == trade.taker.account)
            && self.maker.is_none_or(|maker| maker == trade.maker.account)
            && (self.wallet).is_none_or(|wallet| either(&|side| side.account == wallet))
            && self.market.is_none_or(|market| market == trade.market)
            && (self.token)
                .is_none_or(|token| either(&|side| (trade.market, side.outcome) == token))
            && self.after.is_none_or(|after| trade.time > after)
            && self.before.is_none_or(|before| trade.time < before)
            && (self.builder).is_none_or(|builder| either(&|side| builder.is_of(side)))
            && (self.owner).is_none_or(|owner| either(&|side| owned(side, owner)))
    }

    /// All sets of lists that contain every match in at least one list.
    fn choices<'v>(&self, view: &'v View) -> Vec<Vec<AnyTradeList<'v>>> {
        let trades = view.trades();
        let market = self.market.or(self.token.map(|(market, _)| market));
        let of_wallet = |wallet| {
            AnyTradeList::Filterable(match market {
                Some(market) => view.trades_of_account_in(wallet, market),
                None => trades.of_account(wallet),
            })
        };
        let mut choices = vec![vec![AnyTradeList::Filterable(trades.filterable())]];
        if let Some(owner) = self.owner {
            choices.push(view.accounts().wallets_of(owner).map(of_wallet).collect());
        }
        for wallet in [self.taker, self.maker, self.wallet].into_iter().flatten() {
            choices.push(vec![of_wallet(wallet)]);
        }
        for market in [self.market, self.token.map(|(market, _)| market)] {
            let Some(market) = market else { continue };
            choices.push(vec![AnyTradeList::Filterable(trades.of_market(market))]);
        }
        if let Some(builder) = &self.builder {
            choices.push(vec![AnyTradeList::Plain(match builder {
                BuilderFilter::Any => trades.with_builder(),
                BuilderFilter::Code(code) => view.trades_of_builder(code),
            })]);
        }
        choices
    }
}

impl BuilderFilter {
    /// Whether the order of a side carries it.
    #[must_use]
    pub fn is_of(self, side: &TradeSide) -> bool {
        match self {
            Self::Any => side.builder.is_some(),
            Self::Code(code) => side.builder == Some(code),
        }
    }
}

/// A list of trades of either kind.
#[derive(Clone, Copy)]
enum AnyTradeList<'v> {
    Filterable(FilterableTrades<'v>),
    Plain(TradeList<'v>),
}

impl<'v> AnyTradeList<'v> {
    fn len(&self) -> usize {
        match self {
            Self::Filterable(slots) => slots.len(),
            Self::Plain(slots) => slots.len(),
        }
    }

    fn newest_first(self, within: &Within<'v>) -> Box<dyn Iterator<Item = TradeSlot> + 'v> {
        match self {
            Self::Filterable(slots) => Box::new(within.of(slots).newest_first()),
            Self::Plain(slots) => Box::new(within.of(slots).newest_first()),
        }
    }
}

/// The part of a list to read.
struct Within<'v> {
    view: &'v View,
    from: TimeNs,
    before: TimeNs,
    older_than: Option<TradeSlot>,
}

impl Within<'_> {
    fn of<'a, S: Summary>(&self, slots: TradeList<'a, S>) -> TradeList<'a, S> {
        let slots = match self.older_than {
            Some(bound) => slots.older_than(bound),
            None => slots,
        };
        self.view.trades_within(slots, self.from, self.before)
    }
}

impl View {
    /// Candidates for a filter before `older_than`, newest first, each once. They contain all
    /// matches, and are the trades of the shortest set of lists that does.
    pub fn trade_candidates(
        &self,
        filter: &TradeFilter,
        older_than: Option<TradeSlot>,
    ) -> impl Iterator<Item = TradeSlot> {
        let within = Within {
            view: self,
            from: filter.after.unwrap_or_default(),
            before: filter.before.unwrap_or(TimeNs(u64::MAX)),
            older_than,
        };
        let choices = filter.choices(self).into_iter();
        let shortest =
            choices.min_by_key(|lists| lists.iter().map(AnyTradeList::len).sum::<usize>());
        let lists = shortest.into_iter().flatten();
        newest_of(lists.map(move |list| list.newest_first(&within)))
    }
}

/// Merges lists, newest first; a trade in more than one of them appears once.
pub(crate) fn newest_of<I: Iterator<Item = TradeSlot>>(
    lists: impl Iterator<Item = I>,
) -> impl Iterator<Item = TradeSlot> {
    let mut lists: Vec<_> = lists.map(Iterator::peekable).collect();
    core::iter::from_fn(move || {
        let newest = lists.iter_mut().filter_map(|list| list.peek().copied());
        let newest = newest.max()?;
        for list in &mut lists {
            while list.next_if_eq(&newest).is_some() {}
        }
        Some(newest)
    })
}
