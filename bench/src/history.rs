//! A journal with a long history: so many trades, between market makers and a crowd whose activity
//! follows zipf's law, in markets that do too. The same shape gives the same journal but for its
//! genesis.
//!
//! Every trade is between two buyers of opposite outcomes, so that everybody ends up with shares. A
//! round is one to four bids of market makers at one price and an order of the crowd that takes
//! them all. Each of the crowd keeps to a few markets. Beside that orders rest that nobody reaches.

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

use crate::dress::{Ranks, scramble};
use crate::error::MeasureError;
use crate::journal_writer::{JournalWriter, Written, name, random_bytes};

/// Market makers; they have the lowest account numbers.
const MAKERS: u32 = 64;
/// Markets one of the crowd trades in, at most.
const MARKETS_EACH: u64 = 16;
/// What passes between two commands: ten million trades are about a month.
const STEP_NS: u64 = 200_000_000;
/// Bids of a round, at most.
const MOST_MAKERS: u64 = 4;
/// Trades are from this many cents to as many below a whole; what rests lies outside.
const LOWEST_CENTS: u64 = 5;
const UNITS_PER_CENT: u64 = 100;
/// What the market makers have together, and the crowd as well: half of what may be, so that more
/// can be paid in.
const FUNDS: u64 = MAX_BALANCE.0 / 4;

/// How much of everything.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Shape {
    pub(crate) trades: u64,
    /// Orders that rest at the end.
    pub(crate) live_orders: u32,
    /// Beside the market makers.
    pub(crate) crowd: u32,
    pub(crate) markets: u32,
}

/// Makes a data directory and writes its journal.
pub(crate) fn write(data: &Path, shape: &Shape) -> Result<Written, MeasureError> {
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
        orders: 0,
    };
    history.open(shape)?;
    for number in 0..shape.live_orders {
        history.rest(number, shape)?;
    }
    let (mut traded, mut round) = (0, 0);
    while traded < shape.trades {
        traded += history.round(round, shape.trades - traded)?;
        round += 1;
    }
    history.writer.finish()
}

struct History {
    writer: JournalWriter,
    crowd: Ranks,
    makers: Ranks,
    markets: Ranks,
    /// Orders so far: names the next.
    orders: u64,
}

/// A bid of the history.
struct Bid {
    account: u32,
    market: u32,
    outcome: Outcome,
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
            self.apply(&Command::RegisterMarket(RegisterMarket {
                condition: ConditionId(name(number, 0)),
                tokens: tokens(number),
                tick: Tick::Hundredth,
                tick_refines: false,
                minimum_size: Lots(1),
                fee: FeeSchedule {
                    rate_ppm: 20_000,
                    exponent: 1,
                },
                event: None,
            }))?;
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
        let (mut owner, mut api_key) = ([0; 20], [0; 16]);
        owner.copy_from_slice(&name[..20]);
        api_key.copy_from_slice(&name[..16]);
        let wallet = WalletAddress(owner);
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

    /// An order that rests where nobody trades.
    fn rest(&mut self, number: u32, shape: &Shape) -> Result<(), MeasureError> {
        let filled = self.bid(&Bid {
            account: number % (shape.crowd + MAKERS),
            market: number % shape.markets,
            outcome: either(u64::from(number)),
            lots: 100,
            cents: 1 + u64::from(number) % (LOWEST_CENTS - 1),
        })?;
        expect(0, filled)
    }

    /// Some trades, `most` at most.
    fn round(&mut self, number: u64, most: u64) -> Result<u64, MeasureError> {
        let draw = scramble(number);
        let taker = self.crowd.of(low(draw));
        let favourite = (u64::from(taker) << 8) | ((draw >> 32) % MARKETS_EACH);
        let market = self.markets.of(low(scramble(favourite)));
        let outcome = either(draw >> 36);
        let cents = LOWEST_CENTS + (draw >> 40) % (101 - 2 * LOWEST_CENTS);
        let makers = (1 + (draw >> 56) % MOST_MAKERS).min(most);
        let mut all = 0;
        for index in 0..makers {
            let draw = scramble(draw ^ index);
            let lots = 100 + (draw >> 40) % 400;
            let filled = self.bid(&Bid {
                account: self.makers.of(low(draw)),
                market,
                outcome,
                lots,
                cents,
            })?;
            expect(0, filled)?;
            all += lots;
        }
        let filled = self.bid(&Bid {
            account: MAKERS + taker,
            market,
            outcome: outcome.opposite(),
            lots: all,
            cents: 100 - cents,
        })?;
        expect(makers, filled)?;
        Ok(makers)
    }

    /// Places a bid and says with how many orders it traded.
    fn bid(&mut self, bid: &Bid) -> Result<u64, MeasureError> {
        let mut order = [0; 32];
        random_bytes(self.orders << 8, &mut order);
        self.orders += 1;
        let lots = Lots(bid.lots);
        let command = Command::PlaceOrder(PlaceOrder {
            order: OrderId(order),
            account: AccountNumber(bid.account),
            key: KeyNumber(bid.account),
            market: MarketNumber(bid.market),
            outcome: bid.outcome,
            side: Side::Buy,
            order_type: OrderType::Gtc,
            post_only: false,
            maker_amount: lots.0 * bid.cents * UNITS_PER_CENT,
            taker_amount: lots.micro_shares(),
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
        "a bid of the history traded with {filled} orders, not {fills}"
    )))
}

/// The tokens of a market.
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
