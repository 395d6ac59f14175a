//! Trades: by id, by account, by market, by token, by builder.

use foretell_model::{AccountNumber, MarketNumber, Outcome};

use crate::builders::BuilderSlot;
use crate::error::Impossible;
use crate::slot_index::SlotIndex;
use crate::trade::{Trade, TradeSlot};
use crate::trade_id::TradeId;

/// Trades of a market, oldest first.
#[derive(Debug, Default)]
struct OfMarket {
    all: Vec<TradeSlot>,
    /// Those in which either side traded the token.
    of_token: [Vec<TradeSlot>; 2],
}

/// All trades. Every list is oldest first.
#[derive(Debug, Default)]
pub struct Trades {
    all: Vec<Trade>,
    ids: SlotIndex,
    of_account: Vec<Vec<TradeSlot>>,
    of_market: Vec<OfMarket>,
    of_builder: Vec<Vec<TradeSlot>>,
    built: Vec<TradeSlot>,
}

/// Whom and what a new trade concerns.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Parties {
    pub(crate) id: TradeId,
    pub(crate) market: MarketNumber,
    /// Taker, maker.
    pub(crate) accounts: [AccountNumber; 2],
    pub(crate) outcomes: [Outcome; 2],
    pub(crate) builders: [Option<BuilderSlot>; 2],
}

impl Trades {
    /// How many there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.all.len()
    }

    /// All of them.
    pub fn slots(&self) -> impl DoubleEndedIterator<Item = TradeSlot> + ExactSizeIterator {
        let count = u32::try_from(self.all.len()).expect("push counts trades in 32 bits");
        (0..count).map(TradeSlot)
    }

    /// Those in which an account is taker or maker.
    #[must_use]
    pub fn of_account(&self, account: AccountNumber) -> &[TradeSlot] {
        list(self.of_account.get(account.0 as usize))
    }

    /// Those of a market.
    #[must_use]
    pub fn of_market(&self, market: MarketNumber) -> &[TradeSlot] {
        list(
            self.of_market
                .get(market.0 as usize)
                .map(|trades| &trades.all),
        )
    }

    /// Those in which the taker or the maker traded this token.
    #[must_use]
    pub fn of_token(&self, market: MarketNumber, outcome: Outcome) -> &[TradeSlot] {
        let market = self.of_market.get(market.0 as usize);
        list(market.map(|trades| &trades.of_token[outcome.index()]))
    }

    /// Those in which the taker's or the maker's order carries a builder.
    #[must_use]
    pub fn built(&self) -> &[TradeSlot] {
        &self.built
    }

    pub(crate) fn of_builder(&self, builder: BuilderSlot) -> &[TradeSlot] {
        list(self.of_builder.get(builder.index()))
    }

    pub(crate) fn at(&self, slot: TradeSlot) -> Option<&Trade> {
        self.all.get(slot.0 as usize)
    }

    /// The trade with this id; `is_it` names the id of a candidate.
    pub(crate) fn find(&self, id: TradeId, is_it: impl Fn(TradeSlot) -> bool) -> Option<TradeSlot> {
        self.ids
            .find(id.hash(), |slot| is_it(TradeSlot(slot)))
            .map(TradeSlot)
    }

    /// The place the next trade gets.
    pub(crate) fn next_slot(&self) -> Result<TradeSlot, Impossible> {
        let slot = u32::try_from(self.all.len()).map_err(|_| Impossible::Full)?;
        Ok(TradeSlot(slot))
    }

    pub(crate) fn push(&mut self, trade: Trade, of: &Parties) -> Result<(), Impossible> {
        let slot = self.next_slot()?;
        self.all.push(trade);
        self.ids.insert(of.id.hash(), slot.0);
        for account in of.accounts {
            entry(&mut self.of_account, account.0 as usize).push(slot);
        }
        let market = entry(&mut self.of_market, of.market.0 as usize);
        market.all.push(slot);
        let [taken, made] = of.outcomes;
        market.of_token[taken.index()].push(slot);
        if made != taken {
            market.of_token[made.index()].push(slot);
        }
        self.note_builders(slot, of.builders);
        Ok(())
    }

    fn note_builders(&mut self, slot: TradeSlot, [taker, maker]: [Option<BuilderSlot>; 2]) {
        if taker.is_none() && maker.is_none() {
            return;
        }
        self.built.push(slot);
        let second = maker.filter(|_| maker != taker);
        for builder in [taker, second].into_iter().flatten() {
            entry(&mut self.of_builder, builder.index()).push(slot);
        }
    }
}

fn list(slots: Option<&Vec<TradeSlot>>) -> &[TradeSlot] {
    slots.map_or(&[], Vec::as_slice)
}

/// The entry at a dense index, the list growing to hold it.
fn entry<T: Default>(entries: &mut Vec<T>, index: usize) -> &mut T {
    if entries.len() <= index {
        entries.resize_with(index + 1, T::default);
    }
    &mut entries[index]
}
