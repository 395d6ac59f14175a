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
use crate::demo::offers;
use crate::demo::quotes::{self, LOTS, QuoteParameters};
use crate::demo::random::Random;
use crate::demo::short_markets::{MarketDurations, MarketHost, MarketNotification};
use crate::demo::summary::Summary;
use crate::demo::wallets::{BOTS, DemoWallet};
use crate::failure::Failure;
use crate::processes::process;
use crate::runtime;
use crate::trader::Trader;

/// Pause between two quote updates. About four requests each keep the load of all bots far below a
/// tenth of a core.
const UPDATE_PAUSE: Duration = Duration::from_millis(150);
/// Delay after an error, to spare an exchange that is restarting.
const RETRY: Duration = Duration::from_secs(1);
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
        if offers::are_taken(&mut self.random) {
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
    let orders = quotes::ladder(market.fair, QuoteParameters::usual(market.tick))
        .into_iter()
        .map(|quote| maker.sign(&offers::quoting(market, quote, &mut held)))
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
        offers::taken_lots(random)
    };
    let held = held_lots(taker, &market.texts[outcome]).await?;
    let side = if held >= lots { Side::Sell } else { Side::Buy };
    let order = taker.sign(&offers::taking(market, outcome, lots, side))?;
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
