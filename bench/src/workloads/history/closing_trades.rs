//! Ways positions end: sales of all shares of a token, merges, and redeems of resolved markets.
//! Also the titles of the markets, by which positions are searched.

use foretell_model::command::{Merge, Redeem, ResolveMarket};
use foretell_model::{
    AccountNumber, Command, Lots, MarketNumber, Outcome, Payout, Reference, Side,
};
use foretell_wire::operator::{EventSummary, MarketDescription};
use rand::RngExt as _;

use super::{History, MAKERS, Shape, TRADED_CENTS, expect};
use crate::error::MeasureError;
use crate::workloads::venue::{self, LimitOrder};

/// Once per this many rounds the buyer sells all shares of the token it just bought.
const ROUNDS_A_SALE: u32 = 8;
/// Once per this many rounds a market maker merges.
const ROUNDS_A_MERGE: u64 = 64;
/// One market in this many is resolved.
const MARKETS_A_PAYOUT: u32 = 50;

/// Whether a market is resolved at the end.
pub(super) const fn resolves(market: u32) -> bool {
    market % MARKETS_A_PAYOUT == MARKETS_A_PAYOUT - 1
}

/// The buyer of a round while three in five crowd wallets buy Yes of market 0, from the least busy
/// on. These wallets keep their shares.
pub(super) fn early_buyer(round: u64, shape: &Shape) -> Option<u32> {
    let early = u64::from(shape.crowd) * 3 / 5;
    if !shape.lived || round >= early {
        return None;
    }
    let round = u32::try_from(round).expect("below the crowd");
    Some(shape.crowd - 1 - round)
}

/// Evidence of a market's registration.
pub(super) fn description(market: u32) -> Result<Vec<u8>, MeasureError> {
    let series = market % 97;
    let description = MarketDescription {
        question: format!("Will candidate {} carry district {market}?", market % 1_009),
        slug: format!("district-{market}"),
        icon: format!("https://images.example/district-{market}.png"),
        end_date: Some(format!("2027-{:02}-01T00:00:00Z", 1 + market % 12)),
        event: Some(EventSummary {
            slug: format!("elections-{series}"),
            ..EventSummary::default()
        }),
        ..MarketDescription::default()
    };
    description.to_evidence().map_err(MeasureError::wrong)
}

impl History {
    /// Records shares received by an account.
    pub(super) fn record_received(&mut self, holder: (u32, u32), outcome: Outcome, lots: u64) {
        if let Some(held) = &mut self.held {
            held.entry(holder).or_default()[outcome.index()] += lots;
        }
    }

    /// After some rounds the buyer sells the token it bought, and a market maker merges. Returns
    /// the number of trades.
    pub(super) fn close_positions(
        &mut self,
        round: u64,
        shape: &Shape,
        buyer: (u32, u32),
        outcome: Outcome,
    ) -> Result<u64, MeasureError> {
        if self.held.is_none() || early_buyer(round, shape).is_some() {
            return Ok(0);
        }
        let maker = self.random.random_range(0..MAKERS);
        if round.is_multiple_of(ROUNDS_A_MERGE) {
            self.merge((maker, buyer.1))?;
        }
        if !self.random.random_ratio(1, ROUNDS_A_SALE) {
            return Ok(0);
        }
        let cents = self.random.random_range(TRADED_CENTS);
        self.sell_out(buyer, outcome, (maker, cents))?;
        Ok(1)
    }

    /// A wallet sells all its shares of a token to a market maker.
    fn sell_out(
        &mut self,
        seller: (u32, u32),
        outcome: Outcome,
        (maker, cents): (u32, u64),
    ) -> Result<(), MeasureError> {
        let lots = self.take_all_shares(seller, outcome);
        let mut order = LimitOrder {
            account: maker,
            market: seller.1,
            outcome,
            side: Side::Buy,
            lots,
            cents,
        };
        expect(0, self.order(order)?)?;
        (order.account, order.side) = (seller.0, Side::Sell);
        expect(1, self.order(order)?)?;
        self.record_received((maker, seller.1), outcome, lots);
        self.census.closed_positions += u64::from(seller.0 == MAKERS);
        Ok(())
    }

    /// An account merges all its full sets of a market.
    fn merge(&mut self, holder: (u32, u32)) -> Result<(), MeasureError> {
        let held = self.held.as_mut().and_then(|held| held.get_mut(&holder));
        let Some(held) = held else { return Ok(()) };
        let sets = held[0].min(held[1]);
        if sets == 0 {
            return Ok(());
        }
        *held = held.map(|lots| lots - sets);
        let reference = self.reference();
        self.apply(&Command::Merge(Merge {
            account: AccountNumber(holder.0),
            market: MarketNumber(holder.1),
            lots: Lots(sets),
            reference,
        }))
    }

    /// Resolves some markets; then every other wallet redeems its shares.
    pub(super) fn redeem_resolved(&mut self, shape: &Shape) -> Result<(), MeasureError> {
        let Some(held) = self.held.take() else {
            return Ok(());
        };
        let of_first = held
            .iter()
            .filter(|((_, market), lots)| *market == 0 && lots[0] > 0);
        self.census.holders = of_first.count() as u64;
        for number in (0..shape.markets).filter(|number| resolves(*number)) {
            let market = MarketNumber(number);
            let payout = match number / MARKETS_A_PAYOUT % 5 {
                0 | 1 => Payout::Yes,
                2 | 3 => Payout::No,
                _ => Payout::Half,
            };
            self.apply(&Command::CloseMarket { market })?;
            self.apply(&Command::ResolveMarket(ResolveMarket {
                market,
                payout,
                replaces: None,
            }))?;
        }
        let resolved = held
            .into_iter()
            .filter(|((_, market), lots)| resolves(*market) && *lots != [0, 0]);
        let mut holders: Vec<_> = resolved.map(|(holder, _)| holder).collect();
        holders.sort_unstable();
        for (account, market) in holders {
            if self.random.random() {
                continue;
            }
            let reference = self.reference();
            self.apply(&Command::Redeem(Redeem {
                account: AccountNumber(account),
                market: MarketNumber(market),
                reference,
            }))?;
        }
        Ok(())
    }

    /// Records that an account gave all its shares of a token; returns their number.
    fn take_all_shares(&mut self, holder: (u32, u32), outcome: Outcome) -> u64 {
        let held = self.held.as_mut().and_then(|held| held.get_mut(&holder));
        held.map_or(0, |held| std::mem::take(&mut held[outcome.index()]))
    }

    fn reference(&mut self) -> Reference {
        self.references += 1;
        venue::reference(self.references)
    }
}
