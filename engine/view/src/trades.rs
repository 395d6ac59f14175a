//! Trades: by id, by account, by market, by both, by token, by builder.

use foretell_model::{AccountNumber, MarketNumber, Outcome};

use crate::builders::BuilderSlot;
use crate::error::Impossible;
use crate::list::Lists;
use crate::named::NamedLog;
use crate::pairs::Pairs;
use crate::slot::count;
use crate::slots::{Slots, ToldSlots};
use crate::span::Span;
use crate::trade::{Trade, TradeSlot};
use crate::trade_id::TradeId;
use crate::trade_rows::{MOST_LOTS, TradeRows};

/// In the lists of builders, the list of all trades in which an order carries one; the builders'
/// own begin at 1.
const BUILT: usize = 0;

/// The list of all trades is the only one of its kind.
const ALL: usize = 0;

/// All trades.
#[derive(Debug)]
pub struct Trades {
    pub(crate) all: NamedLog<Trade>,
    pub(crate) of_all: Lists<Span>,
    pub(crate) of_account: Lists<Span>,
    pub(crate) of_market: Lists<Span>,
    pub(crate) of_pair: Pairs,
    pub(crate) of_token: Lists,
    pub(crate) of_builder: Lists,
}

impl Trades {
    /// How many there are.
    #[must_use]
    pub fn count(&self) -> usize {
        count(self.all.log().len())
    }

    /// All of them.
    pub fn slots(&self) -> impl DoubleEndedIterator<Item = TradeSlot> + use<> {
        (0..self.all.log().len()).map(TradeSlot)
    }

    /// All of them, both rows of each told.
    #[must_use]
    pub fn told(&self) -> ToldSlots<'_> {
        Slots::of(self.of_all.list(ALL))
    }

    /// Those in which an account is taker or maker; told is its own row of each.
    #[must_use]
    pub fn of_account(&self, account: AccountNumber) -> ToldSlots<'_> {
        Slots::of(self.of_account.list(account.0 as usize))
    }

    /// Those of them in a market.
    #[must_use]
    pub fn of_account_in(&self, account: AccountNumber, market: MarketNumber) -> ToldSlots<'_> {
        Slots::of(self.of_pair.list(account, market))
    }

    /// In how many markets an account has traded.
    #[must_use]
    pub fn markets_of(&self, account: AccountNumber) -> usize {
        self.of_pair.markets_of(account)
    }

    /// Those of a market, both rows of each told.
    #[must_use]
    pub fn of_market(&self, market: MarketNumber) -> ToldSlots<'_> {
        Slots::of(self.of_market.list(market.0 as usize))
    }

    /// Those in which the taker or the maker traded this token.
    #[must_use]
    pub fn of_token(&self, market: MarketNumber, outcome: Outcome) -> Slots<'_> {
        Slots::of(self.of_token.list(token(market, outcome)))
    }

    /// Those in which the taker's or the maker's order carries a builder.
    #[must_use]
    pub fn built(&self) -> Slots<'_> {
        Slots::of(self.of_builder.list(BUILT))
    }

    /// None when nobody ever carried it.
    pub(crate) fn of_builder(&self, builder: Option<BuilderSlot>) -> Slots<'_> {
        Slots::of(match builder {
            Some(builder) => self.of_builder.list(builder.number()),
            None => self.of_builder.empty(),
        })
    }

    pub(crate) fn at(&self, slot: TradeSlot) -> Option<Trade> {
        self.all.log().get(slot.0)
    }

    pub(crate) fn find(&self, id: TradeId) -> Option<TradeSlot> {
        self.all.find(&id.0).map(TradeSlot)
    }

    /// The place the next trade gets.
    pub(crate) fn next_slot(&self) -> TradeSlot {
        TradeSlot(self.all.log().len())
    }

    pub(crate) fn push(&mut self, trade: &Trade) -> Result<(), Impossible> {
        let TradeSlot(slot) = self.next_slot();
        if trade.lots > MOST_LOTS {
            return Err(Impossible::AmountOutOfRange);
        }
        let (taker, maker, market) = (&trade.taker, &trade.maker, trade.market);
        self.all.push(trade)?;
        let both = TradeRows::of_both(trade);
        self.of_all.push_with(ALL, both)?;
        for (party, own) in [
            (taker, TradeRows::of_taker(trade)),
            (maker, TradeRows::of_maker(trade)),
        ] {
            let number = party.account.0 as usize;
            self.of_account.push_with(number, own)?;
            self.of_pair.push((party.account, market), own)?;
        }
        self.of_market.push_with(market.0 as usize, both)?;
        self.of_token.push(token(market, taker.outcome), slot)?;
        if maker.outcome != taker.outcome {
            self.of_token.push(token(market, maker.outcome), slot)?;
        }
        self.note_builders(slot, [taker.builder, maker.builder])
    }

    fn note_builders(
        &mut self,
        slot: u64,
        [taker, maker]: [Option<BuilderSlot>; 2],
    ) -> Result<(), Impossible> {
        if taker.is_none() && maker.is_none() {
            return Ok(());
        }
        self.of_builder.push(BUILT, slot)?;
        let second = maker.filter(|_| maker != taker);
        for builder in [taker, second].into_iter().flatten() {
            self.of_builder.push(builder.number(), slot)?;
        }
        Ok(())
    }
}

/// The list of a token.
fn token(market: MarketNumber, outcome: Outcome) -> usize {
    market.0 as usize * Outcome::ALL.len() + outcome.index()
}
