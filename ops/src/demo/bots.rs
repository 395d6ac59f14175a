//! Market-making bots: two quote both sides of every market, one takes their quotes.
//!
//! They are ordinary users: they use the public interface with their own keys and see only public
//! data. Only the start and end of short markets come from the host (`demo::short_markets`) in the same
//! process.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use foretell_auth::Domains;
use foretell_model::Side;
use reqwest::Method;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tracing::{debug, info, warn};

use crate::cli::DemoBots;
use crate::config::Config;
use crate::demo::actions::{Actions, redeem};
use crate::demo::catalog_updates::CatalogUpdates;
use crate::demo::market::BotMarket;
use crate::demo::quotes::{self, Quote, QuoteParameters};
use crate::demo::short_markets::{MarketDurations, MarketHost, MarketNotification};
use crate::demo::summary::Summary;
use crate::demo::wallets::{BOTS, DemoWallet};
use crate::failure::Failure;
use crate::processes::process;
use crate::runtime;
use crate::trader::{Terms, Trader};

/// Pause between two quote updates. About four requests each keep the load of all bots far below a
/// tenth of a core.
const UPDATE_PAUSE: Duration = Duration::from_millis(150);
/// Delay after an error, to spare an exchange that is restarting.
const RETRY: Duration = Duration::from_secs(1);
const LEVELS: u16 = 3;
const LOTS: u64 = 5_000;
const HALF_SPREAD: u16 = 100;
/// Updates after which the taker trades, out of 16.
const TAKER_SHARE: u64 = 9;
/// Every fourth update is for the open short market, which lives only minutes.
const SHORT_MARKET_PERIOD: usize = 4;

/// Runs the bots and the host of the short markets until SIGTERM.
///
/// # Errors
/// The sample does not parse, or a bot cannot get an API key.
pub(crate) fn run(config: &Config, arguments: &DemoBots) -> Result<ExitCode, Failure> {
    process::stop_with_parent(arguments.supervised)?;
    let runtime = runtime::small()?;
    runtime.block_on(async {
        let mut stop = process::StopSignal::install()?;
        let (sender, news) = mpsc::unbounded_channel();
        let host = MarketHost::new(config, &arguments.trading, sender)?;
        let updates = CatalogUpdates::new(config)?;
        let lengths = MarketDurations {
            first: Duration::from_secs(arguments.first_round_seconds),
            others: Duration::from_secs(arguments.round_seconds),
        };
        let domains = config.signing.parsed()?;
        let mut bots = Bots::connect(&domains, &arguments.trading, news).await?;
        tokio::select! {
            () = bots.trade() => Ok(ExitCode::SUCCESS),
            () = host.run(lengths) => Ok(ExitCode::SUCCESS),
            () = updates.follow() => Ok(ExitCode::SUCCESS),
            () = stop.wait() => Ok(ExitCode::SUCCESS),
        }
    })
}

struct Bots {
    makers: [Trader; 2],
    taker: Trader,
    sample: Vec<BotMarket>,
    /// The open short market.
    short_market: Option<BotMarket>,
    /// Condition ids of ended short markets that are not redeemed yet.
    ended: Vec<String>,
    news: mpsc::UnboundedReceiver<MarketNotification>,
    actions: Actions,
    random: Random,
    summary: Summary,
}

impl Bots {
    async fn connect(
        domains: &Domains,
        base: &str,
        news: mpsc::UnboundedReceiver<MarketNotification>,
    ) -> Result<Self, Failure> {
        let [first, second, third] = BOTS;
        let sample = BotMarket::of_sample()?;
        let trader =
            |wallet: DemoWallet| Trader::signing(domains.clone(), base, wallet.private_key, 0);
        let bots = Self {
            makers: [trader(first).await?, trader(second).await?],
            taker: trader(third).await?,
            sample,
            short_market: None,
            ended: Vec::new(),
            news,
            actions: Actions::new(),
            random: Random::seeded()?,
            summary: Summary::new(),
        };
        process::report_ready("demo-bots", &json!({ "markets": bots.sample.len() }));
        info!(markets = bots.sample.len(), "bots trade");
        Ok(bots)
    }

    /// Updates quotes forever.
    async fn trade(&mut self) {
        for number in 0_usize.. {
            let outcome = match self.receive_news().await {
                Ok(()) => self.update_market(number).await,
                failed => failed,
            };
            let pause = match outcome {
                Ok(()) => UPDATE_PAUSE,
                Err(failure) => {
                    warn!("updating quotes failed: {failure}");
                    RETRY
                }
            };
            self.summary.draw_if_due();
            tokio::time::sleep(pause).await;
        }
    }

    /// Receives market news: trades in the new short market, redeems the ended ones.
    async fn receive_news(&mut self) -> Result<(), Failure> {
        while let Ok(news) = self.news.try_recv() {
            match news {
                MarketNotification::Opened(event) => {
                    self.short_market = Some(BotMarket::of(&event, 0, &event.markets[0])?);
                }
                MarketNotification::Ended(market) => {
                    let condition = market.condition_id();
                    self.short_market
                        .take_if(|round| round.condition == condition);
                    self.ended.push(condition);
                }
            }
        }
        let traders = [&self.makers[0], &self.makers[1], &self.taker];
        while let Some(condition) = self.ended.last() {
            redeem(&traders, condition).await?;
            self.ended.pop();
        }
        Ok(())
    }

    /// Replaces the quotes of one market; sometimes the taker trades.
    async fn update_market(&mut self, number: usize) -> Result<(), Failure> {
        let index = number % self.sample.len();
        let market = match &mut self.short_market {
            Some(round) if number.is_multiple_of(SHORT_MARKET_PERIOD) => round,
            _ => &mut self.sample[index],
        };
        market.fair = quotes::drift(market.fair, self.random.next(), market.tick);
        let maker = &self.makers[(number / 7) % self.makers.len()];
        requote(maker, market, &mut self.actions, &mut self.summary).await?;
        if self.random.below(16) < TAKER_SHARE {
            take(&self.taker, market, &mut self.random, &mut self.summary).await?;
        }
        Ok(())
    }
}

/// Replaces the maker's quotes around the fair price. Bids buy Yes. Asks sell Yes while the maker
/// has enough, else buy No, which is the same ask in the ladder.
async fn requote(
    maker: &Trader,
    market: &BotMarket,
    actions: &mut Actions,
    summary: &mut Summary,
) -> Result<(), Failure> {
    let body = json!({ "market": market.condition }).to_string();
    expect_ok(
        maker
            .signed(Method::DELETE, "/cancel-market-orders", "", &body)
            .await?,
    )?;
    let mut held = held_of_both(maker, market).await?;
    if actions.act(maker, market, held).await? {
        held = held_of_both(maker, market).await?;
    }
    let parameters = QuoteParameters {
        tick: market.tick,
        levels: LEVELS,
        half_spread: HALF_SPREAD,
        lots: LOTS,
    };
    let orders = quotes::ladder(market.fair, parameters)
        .into_iter()
        .map(|quote| maker.sign(&terms(market, quote, &mut held)))
        .collect::<Result<Vec<_>, _>>()?;
    let asked = Instant::now();
    let results = expect_ok(maker.place_all(&orders).await?)?;
    let trades = results
        .as_array()
        .into_iter()
        .flatten()
        .map(trades_of)
        .sum();
    summary.note(orders.len(), trades, asked.elapsed());
    for result in results
        .as_array()
        .into_iter()
        .flatten()
        .filter(|result| result["success"] == false)
    {
        debug!(market = market.condition, error = %result["errorMsg"], "a quote was refused");
    }
    Ok(())
}

/// The order for a quote: sells free shares before it buys the other outcome.
fn terms(market: &BotMarket, quote: Quote, held: &mut [u64; 2]) -> Terms<'static> {
    // A bid in Yes prices sells No at the complement, an ask sells Yes.
    let sold = usize::from(quote.bid);
    let own_price = |outcome: usize| {
        if outcome == 0 {
            quote.price
        } else {
            10_000 - quote.price
        }
    };
    if held[sold] >= quote.lots {
        held[sold] -= quote.lots;
        return Terms::limit(
            market.tokens[sold],
            market.is_neg_risk(),
            Side::Sell,
            quote.lots,
            own_price(sold),
        );
    }
    let bought = 1 - sold;
    Terms::limit(
        market.tokens[bought],
        market.is_neg_risk(),
        Side::Buy,
        quote.lots,
        own_price(bought),
    )
}

/// Sends a small FAK order, sometimes a large one: sells the taker's shares, else buys.
async fn take(
    taker: &Trader,
    market: &BotMarket,
    random: &mut Random,
    summary: &mut Summary,
) -> Result<(), Failure> {
    let outcome = usize::from(random.below(2) == 1);
    let lots = if random.below(40) == 0 {
        LOTS * 4
    } else {
        500 + random.below(1_500)
    };
    let held = held_lots(taker, &market.texts[outcome]).await?;
    // Extreme limits: the book determines the price.
    let (low, high) = (market.tick, 10_000 - market.tick);
    let mut order = if held >= lots {
        Terms::limit(
            market.tokens[outcome],
            market.is_neg_risk(),
            Side::Sell,
            lots,
            low,
        )
    } else {
        Terms::limit(
            market.tokens[outcome],
            market.is_neg_risk(),
            Side::Buy,
            lots,
            high,
        )
    };
    order.order_type = "FAK";
    if order.side == Side::Buy {
        // A FAK BUY spends a budget: the cost of the lots at about the fair price.
        let fair = if outcome == 0 {
            market.fair
        } else {
            10_000 - market.fair
        };
        let budget = (lots * u64::from(fair)).max(1_100_000) / 10_000 * 10_000;
        order.maker_amount = budget;
        order.taker_amount = budget / u64::from(high) * 10_000;
    }
    let order = taker.sign(&order)?;
    let asked = Instant::now();
    let (status, answer) = taker.place(&order).await?;
    summary.note(1, trades_of(&answer), asked.elapsed());
    if status != 200 {
        debug!(market = market.condition, status, %answer, "nothing taken");
    }
    Ok(())
}

/// Free lots of both tokens of a market.
async fn held_of_both(trader: &Trader, market: &BotMarket) -> Result<[u64; 2], Failure> {
    Ok([
        held_lots(trader, &market.texts[0]).await?,
        held_lots(trader, &market.texts[1]).await?,
    ])
}

/// Number of trades in an order's result.
fn trades_of(result: &Value) -> usize {
    result["tradeIDs"].as_array().map_or(0, Vec::len)
}

/// Free lots of a token.
async fn held_lots(trader: &Trader, token: &str) -> Result<u64, Failure> {
    let query = format!("?asset_type=CONDITIONAL&token_id={token}&signature_type=0");
    let answer = expect_ok(
        trader
            .signed(Method::GET, "/balance-allowance", &query, "")
            .await?,
    )?;
    let available = answer["available"]
        .as_str()
        .and_then(|text| text.parse::<u64>().ok())
        .unwrap_or(0);
    Ok(available / 10_000)
}

fn expect_ok((status, answer): (u16, Value)) -> Result<Value, Failure> {
    if status == 200 {
        Ok(answer)
    } else {
        Err(Failure::new(format!("{status}: {answer}")))
    }
}

/// A xorshift generator; the bots need no cryptographic randomness.
struct Random(u64);

impl Random {
    fn seeded() -> Result<Self, Failure> {
        let mut seed = [0; 8];
        getrandom::fill(&mut seed)
            .map_err(|error| Failure::new(format!("no randomness: {error}")))?;
        Ok(Self(u64::from_le_bytes(seed) | 1))
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, bound: u64) -> u64 {
        (self.next() >> 16) % bound
    }
}
