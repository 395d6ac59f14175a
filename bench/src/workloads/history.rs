//! A journal with a long history of trades between market makers and a crowd. Activity of wallets
//! and markets follows Zipf's law. The same shape gives the same journal except for its genesis.
//!
//! Every trade is between two buyers of opposite outcomes, so both end up with shares. A round is
//! one to four bids of market makers at one price and a crowd order that takes all of them. Each
//! crowd wallet trades in a few markets only. In addition some orders rest at prices that no order
//! reaches. A [`Shape::lived`] history also closes positions ([`closing_trades`]).

mod closing_trades;

use std::collections::HashMap;
use std::ops::RangeInclusive;
use std::path::Path;

use foretell_engine::JOURNAL_DIRECTORY;
use foretell_matching::Capacity;
use foretell_model::limits::MAX_BALANCE;
use foretell_model::{Command, OrderId, Outcome, Side};
use rand::RngExt as _;
use serde::{Deserialize, Serialize};

use super::journal_writer::{JournalWriter, Written};
use super::random::{Random, Ranks, random_bytes, seeded};
use super::venue::{self, Account, FEE_PPM, LimitOrder, Venue};
use crate::error::MeasureError;

const SEED: u64 = 3;
/// Number of market makers; they have the lowest account numbers.
pub(crate) const MAKERS: u32 = 64;
/// Maximum number of markets per crowd wallet.
const MARKETS_EACH: u64 = 16;
/// Interval between commands: ten million trades are about a month.
const STEP_NS: u64 = 200_000_000;
/// Maximum number of bids in a round.
const MOST_MAKERS: u64 = 4;
/// Trades are at least this many cents from 0 and 1; other orders rest outside.
const LOWEST_CENTS: u64 = 5;
const TRADED_CENTS: RangeInclusive<u64> = LOWEST_CENTS..=100 - LOWEST_CENTS;
/// Total collateral of the market makers, and of the crowd: together half of the maximum, so that
/// later deposits fit.
const FUNDS: u64 = MAX_BALANCE.0 / 4;

/// Size of a history.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Shape {
    pub(crate) trades: u64,
    /// Orders resting at the end.
    pub(crate) live_orders: u32,
    /// Crowd wallets, in addition to the market makers.
    pub(crate) crowd: u32,
    pub(crate) markets: u32,
    /// If set, markets have titles and three in five crowd wallets first buy Yes of market 0. Later
    /// wallets sell all shares of a token, merge, and redeem resolved markets.
    pub(crate) lived: bool,
}

/// Facts about a lived history.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub(crate) struct Census {
    /// Wallets that hold Yes of market 0 at the end.
    pub(crate) holders: u64,
    /// Positions the busiest crowd wallet has closed by selling.
    pub(crate) closed_positions: u64,
}

/// Makes a data directory and writes its journal.
pub(crate) fn write(data: &Path, shape: &Shape) -> Result<(Written, Census), MeasureError> {
    std::fs::create_dir(data).map_err(MeasureError::io("making a data directory"))?;
    let accounts = (shape.crowd + MAKERS) as usize;
    let capacity = Capacity {
        accounts,
        keys: accounts,
        markets: shape.markets as usize,
        orders: shape.live_orders as usize + 1_024,
        references: accounts,
        ..Capacity::default()
    };
    let mut history = History {
        random: seeded(SEED),
        writer: JournalWriter::create(&data.join(JOURNAL_DIRECTORY), capacity, STEP_NS)?,
        crowd: Ranks::new(shape.crowd),
        makers: Ranks::new(MAKERS),
        markets: Ranks::new(shape.markets),
        held: shape.lived.then(HashMap::new),
        census: Census::default(),
        orders: 0,
        references: 0,
    };
    history.open(shape)?;
    for number in 0..shape.live_orders {
        history.rest(number, shape)?;
    }
    let (mut traded, mut round) = (0, 0);
    while traded < shape.trades {
        traded += history.round(round, shape, shape.trades - traded)?;
        round += 1;
    }
    history.redeem_resolved(shape)?;
    Ok((history.writer.finish()?, history.census))
}

struct History {
    random: Random,
    writer: JournalWriter,
    crowd: Ranks,
    makers: Ranks,
    markets: Ranks,
    /// Lots by account and market; only for lived histories.
    held: Option<HashMap<(u32, u32), [u64; 2]>>,
    census: Census,
    /// Number of orders so far; determines the next id.
    orders: u64,
    /// Number of references so far.
    references: u32,
}

impl History {
    fn open(&mut self, shape: &Shape) -> Result<(), MeasureError> {
        let makers = (0..MAKERS).map(|_| FUNDS / u64::from(MAKERS));
        let crowd = (0..shape.crowd).map(|rank| self.crowd.share(rank, FUNDS));
        let accounts = (0..).zip(makers.chain(crowd));
        let venue = Venue {
            settings: Venue::open_settings(0),
            markets: shape.markets,
            fee_ppm: FEE_PPM,
            accounts: accounts
                .map(|(number, funds)| Account::new(venue::wallet(number), funds))
                .collect(),
            shares: Default::default(),
        };
        let mut market = 0;
        for command in venue.commands() {
            let evidence = match command {
                Command::RegisterMarket(_) if shape.lived => {
                    market += 1;
                    closing_trades::description(market - 1)?
                }
                _ => Vec::new(),
            };
            self.writer.apply(&command, &evidence)?;
        }
        self.references = MAKERS + shape.crowd;
        Ok(())
    }

    /// Places an order at a price where no trade occurs.
    fn rest(&mut self, number: u32, shape: &Shape) -> Result<(), MeasureError> {
        let market = number % shape.markets;
        let filled = self.order(LimitOrder {
            account: number % (shape.crowd + MAKERS),
            // A resolved market has no resting order.
            market: market - u32::from(shape.lived && closing_trades::resolves(market)),
            outcome: if number.is_multiple_of(2) {
                Outcome::Yes
            } else {
                Outcome::No
            },
            side: Side::Buy,
            lots: 100,
            cents: 1 + u64::from(number) % (LOWEST_CENTS - 1),
        })?;
        expect(0, filled)
    }

    /// Makes some trades, at most `most`.
    fn round(&mut self, number: u64, shape: &Shape, most: u64) -> Result<u64, MeasureError> {
        let (taker, market, outcome) = match closing_trades::early_buyer(number, shape) {
            Some(taker) => (taker, 0, Outcome::No),
            None => {
                let taker = self.crowd.draw(&mut self.random);
                let favourite = self.random.random_range(0..MARKETS_EACH);
                let mut of_taker = seeded(u64::from(taker) << 8 | favourite);
                (taker, self.markets.draw(&mut of_taker), self.outcome())
            }
        };
        let cents = self.random.random_range(TRADED_CENTS);
        let makers = self.random.random_range(1..=MOST_MAKERS).min(most);
        let mut all = 0;
        for _ in 0..makers {
            let lots = self.random.random_range(100..500);
            let account = self.makers.draw(&mut self.random);
            let filled = self.order(LimitOrder {
                account,
                market,
                outcome,
                side: Side::Buy,
                lots,
                cents,
            })?;
            expect(0, filled)?;
            self.record_received((account, market), outcome, lots);
            all += lots;
        }
        let buyer = MAKERS + taker;
        let filled = self.order(LimitOrder {
            account: buyer,
            market,
            outcome: outcome.opposite(),
            side: Side::Buy,
            lots: all,
            cents: 100 - cents,
        })?;
        expect(makers, filled)?;
        self.record_received((buyer, market), outcome.opposite(), all);
        let sold = match makers < most {
            true => self.close_positions(number, shape, (buyer, market), outcome.opposite())?,
            false => 0,
        };
        Ok(makers + sold)
    }

    fn outcome(&mut self) -> Outcome {
        match self.random.random() {
            true => Outcome::Yes,
            false => Outcome::No,
        }
    }

    /// Places an order; returns its number of trades.
    fn order(&mut self, order: LimitOrder) -> Result<u64, MeasureError> {
        let id = OrderId(random_bytes(self.orders));
        self.orders += 1;
        let placement = order.placement(id, self.writer.time().millis());
        self.writer.apply(&Command::PlaceOrder(placement), &[])
    }

    fn apply(&mut self, command: &Command) -> Result<(), MeasureError> {
        self.writer.apply(command, &[]).map(|_| ())
    }
}

fn expect(fills: u64, filled: u64) -> Result<(), MeasureError> {
    if fills == filled {
        return Ok(());
    }
    Err(MeasureError::Wrong(format!(
        "an order of the history traded with {filled} others, not {fills}"
    )))
}
