//! A journal with a long history of trades between market makers and a crowd. Activity of wallets
//! and markets follows Zipf's law. The same shape gives the same journal except for its genesis.
//!
//! Every trade is between two buyers of opposite outcomes, so both end up with shares. A round is
//! one to four bids of market makers at one price and a crowd order that takes all of them. Each
//! crowd wallet trades in a few markets only. In addition some orders rest at prices that no order
//! reaches. A [`Shape::lived`] history also closes positions ([`closing_trades`]).

mod closing_trades;

use std::collections::HashMap;
use std::path::Path;

use foretell_engine::JOURNAL_DIRECTORY;
use foretell_matching::Capacity;
use foretell_model::command::RegisterMarket;
use foretell_model::limits::MAX_BALANCE;
use foretell_model::{
    AccountNumber, ApiKey, Command, ConditionId, Event, FeeSchedule, KeyNumber, Lots, MarketNumber,
    Micros, OrderId, OrderType, Outcome, PlaceOrder, Reference, Settings, Side, Tick, TimeSeconds,
    TokenId, WalletAddress,
};
use serde::{Deserialize, Serialize};

use crate::error::MeasureError;
use crate::workloads::journal_writer::{JournalWriter, Written, name, random_bytes};
use crate::workloads::workload::{Ranks, scramble};

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
const UNITS_PER_CENT: u64 = 100;
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

/// An order of the history.
struct HistoryOrder {
    account: u32,
    market: u32,
    outcome: Outcome,
    side: Side,
    lots: u64,
    cents: u64,
}

impl History {
    fn open(&mut self, shape: &Shape) -> Result<(), MeasureError> {
        let settings = Settings {
            marketable_minimum: Micros::ZERO,
            live_orders_per_account: u32::MAX,
            ..Settings::default()
        };
        self.apply(&Command::ChangeSettings(settings))?;
        for number in 0..shape.markets {
            let register = Command::RegisterMarket(RegisterMarket {
                condition: condition(number),
                tokens: tokens(number),
                tick: Tick::Hundredth,
                tick_refines: false,
                minimum_size: Lots(1),
                fee: FeeSchedule {
                    rate_ppm: 20_000,
                    exponent: 1,
                },
                event: None,
            });
            let description = match shape.lived {
                true => closing_trades::description(number)?,
                false => Vec::new(),
            };
            self.writer.apply(&register, &description)?;
            let market = MarketNumber(number);
            self.apply(&Command::ActivateMarket { market })?;
        }
        for number in 0..MAKERS {
            self.open_account(number, FUNDS / u64::from(MAKERS))?;
        }
        for rank in 0..shape.crowd {
            let funds = self.crowd.share(rank, FUNDS);
            self.open_account(MAKERS + rank, funds)?;
        }
        Ok(())
    }

    fn open_account(&mut self, number: u32, funds: u64) -> Result<(), MeasureError> {
        let name = name(number, 3);
        let mut api_key = [0; 16];
        api_key.copy_from_slice(&name[..16]);
        let wallet = wallet(number);
        self.apply(&Command::RegisterKey {
            owner: wallet,
            nonce: [0; 32],
            api_key: ApiKey(api_key),
            read_only: false,
        })?;
        self.apply(&Command::Deposit {
            wallet,
            amount: Micros(funds),
            reference: Reference(name),
        })?;
        Ok(())
    }

    /// Places an order at a price where no trade occurs.
    fn rest(&mut self, number: u32, shape: &Shape) -> Result<(), MeasureError> {
        let market = number % shape.markets;
        let filled = self.order(&HistoryOrder {
            account: number % (shape.crowd + MAKERS),
            // A resolved market has no resting order.
            market: market - u32::from(shape.lived && closing_trades::resolves(market)),
            outcome: either(u64::from(number)),
            side: Side::Buy,
            lots: 100,
            cents: 1 + u64::from(number) % (LOWEST_CENTS - 1),
        })?;
        expect(0, filled)
    }

    /// Makes some trades, at most `most`.
    fn round(&mut self, number: u64, shape: &Shape, most: u64) -> Result<u64, MeasureError> {
        let draw = scramble(number);
        let (taker, market, outcome) = match closing_trades::early_buyer(number, shape) {
            Some(taker) => (taker, 0, Outcome::No),
            None => {
                let taker = self.crowd.of(low(draw));
                let favourite = (u64::from(taker) << 8) | ((draw >> 32) % MARKETS_EACH);
                let market = self.markets.of(low(scramble(favourite)));
                (taker, market, either(draw >> 36))
            }
        };
        let cents = LOWEST_CENTS + (draw >> 40) % (101 - 2 * LOWEST_CENTS);
        let makers = (1 + (draw >> 56) % MOST_MAKERS).min(most);
        let mut all = 0;
        for index in 0..makers {
            let draw = scramble(draw ^ index);
            let lots = 100 + (draw >> 40) % 400;
            let account = self.makers.of(low(draw));
            let filled = self.order(&HistoryOrder {
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
        let filled = self.order(&HistoryOrder {
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

    /// Places an order; returns its number of trades.
    fn order(&mut self, order: &HistoryOrder) -> Result<u64, MeasureError> {
        let mut id = [0; 32];
        random_bytes(self.orders << 8, &mut id);
        self.orders += 1;
        let lots = Lots(order.lots);
        let (value, shares) = (lots.0 * order.cents * UNITS_PER_CENT, lots.micro_shares());
        let (maker_amount, taker_amount) = match order.side {
            Side::Buy => (value, shares),
            Side::Sell => (shares, value),
        };
        let command = Command::PlaceOrder(PlaceOrder {
            order: OrderId(id),
            account: AccountNumber(order.account),
            key: KeyNumber(order.account),
            market: MarketNumber(order.market),
            outcome: order.outcome,
            side: order.side,
            order_type: OrderType::Gtc,
            post_only: false,
            maker_amount,
            taker_amount,
            expiration: TimeSeconds(0),
            timestamp: self.writer.time().millis(),
        });
        let events = self.writer.apply(&command, &[])?.iter();
        Ok(events
            .map(|event| u64::from(matches!(event, Event::Fill(_))))
            .sum())
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

/// Condition id of a market.
pub(crate) fn condition(market: u32) -> ConditionId {
    ConditionId(name(market, 0))
}

/// Wallet of an account: market makers first, in each group the busiest first.
pub(crate) fn wallet(account: u32) -> WalletAddress {
    let mut address = [0; 20];
    address.copy_from_slice(&name(account, 3)[..20]);
    WalletAddress(address)
}

/// Token ids of a market.
pub(crate) fn tokens(market: u32) -> [TokenId; 2] {
    [1, 2].map(|kind| TokenId(name(market, kind)))
}

const fn either(bits: u64) -> Outcome {
    if bits & 1 == 0 {
        Outcome::Yes
    } else {
        Outcome::No
    }
}

fn low(draw: u64) -> u32 {
    u32::try_from(draw & u64::from(u32::MAX)).expect("32 bits")
}
