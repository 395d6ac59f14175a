//! The demo's past: 30 days of the sample's markets with bots that trade them, written into the new journal
//! before the engine starts (docs/verify/rules.md §29). The bots quote and take as the running ones do; a
//! crowd of wallets takes their quotes. Start, settings and master secret give the commands: nothing else is
//! drawn.

mod exchange;

use foretell_model::{MarketNumber, Outcome, Payout, Sequence, Side, TimeNs};
use foretell_wire::text::time::iso;
use tracing::info;

use crate::config::Config;
use crate::demo::market::BotMarket;
use crate::demo::quotes::{self, LOTS, QuoteParameters};
use crate::demo::random::Random;
use crate::demo::sample::{Sample, SampleMarket};
use crate::demo::wallets::BOTS;
use crate::demo::{BOT_FUNDS, funding, offers};
use crate::failure::Failure;
use crate::trader::Terms;
use exchange::{Client, PastExchange};

const SEED: u64 = 0x5eed_0f0d_ea1e_d0d5;
const HOUR: u64 = 3_600_000_000_000;
const DAY: u64 = 24 * HOUR;
const DAYS: u64 = 30;
/// Time between two quotes of a market: before the last day, and in it.
const STEP: u64 = 6 * HOUR;
const LAST_STEP: u64 = HOUR / 2;
/// The first bots quote, as when the demo runs.
const MAKERS: usize = 2;
/// Wallets that trade in the past alone, and their collateral. Their keys are public: they follow from
/// their number.
const CROWD: usize = 12;
const CROWD_FUNDS: &str = "250000";
/// The busiest market trades this many times the quietest one's lots.
const MOST_WEIGHT: u64 = 120;
/// Largest change of a price in a step, and of its beginning from its end.
const NOISE: u16 = 150;
const REACH: u16 = 1_500;
/// Fair price of the outcome that is paid, before the end.
const NEARLY_CERTAIN: u16 = 9_700;

/// Writes the past of a demo that starts now, unless there is a journal. Returns its last sequence.
///
/// # Errors
/// The journal cannot be written.
pub(crate) fn write(config: &Config, now: TimeNs) -> Result<Option<Sequence>, Failure> {
    let from = TimeNs(now.0.saturating_sub(DAYS * DAY));
    let Some(exchange) = PastExchange::begin(config, from, now)? else {
        return Ok(None);
    };
    let mut past = Past::open(exchange, now)?;
    past.trade(&steps(from, now))?;
    let orders = past.exchange.orders;
    let sequence = past.exchange.finish()?;
    info!(
        days = DAYS,
        orders,
        sequence = sequence.0,
        "simulated past written"
    );
    Ok(Some(sequence))
}

/// The beginnings of all steps, and the end of the last.
fn steps(from: TimeNs, until: TimeNs) -> Vec<TimeNs> {
    let last_day = until.0 - DAY;
    let mut steps = vec![from];
    while let Some(TimeNs(at)) = steps.last().copied().filter(|at| *at < until) {
        let step = if at < last_day { STEP } else { LAST_STEP };
        steps.push(TimeNs(at + step).min(until));
    }
    steps
}

/// A market of the past.
struct PastMarket {
    market: BotMarket,
    number: MarketNumber,
    /// What its price ends at.
    target: u16,
    /// When it ends, and how; the others trade on.
    end: Option<(TimeNs, Payout)>,
    is_over: bool,
    /// Multiplies the lots of its orders.
    weight: u64,
}

/// A wallet that trades, by market: the lots it holds, and the order of its bid and of its ask.
struct Bot {
    client: Client,
    held: Vec<[u64; 2]>,
    quotes: Vec<[(usize, Side); 2]>,
}

struct Past {
    exchange: PastExchange,
    random: Random,
    markets: Vec<PastMarket>,
    /// The makers, the taker, the crowd.
    bots: Vec<Bot>,
}

impl Past {
    /// Registers the markets, funds the wallets.
    fn open(mut exchange: PastExchange, until: TimeNs) -> Result<Self, Failure> {
        let mut sample = Sample::load()?;
        let end = |market: &SampleMarket| Some(TimeNs(until.0 - market.ended?.days_ago * DAY));
        sample.date_ended(|market| end(market).map(iso));
        let labels = sample.labels();
        let count: usize = sample.events.iter().map(|event| event.markets.len()).sum();
        let mut random = Random::of(SEED);
        let mut markets = Vec::with_capacity(count);
        for event in &sample.events {
            exchange.register(&event.record(&labels))?;
            for (place, market) in (0..).zip(&event.markets) {
                let number = exchange.market(&market.condition()?)?;
                let mut known = BotMarket::of(event, place, market)?;
                let (fair, target) = ends_of(market, &mut random);
                known.fair = fair;
                markets.push(PastMarket {
                    market: known,
                    number,
                    target,
                    end: end(market).zip(payout(market)),
                    is_over: false,
                    weight: weight(markets.len(), count),
                });
            }
        }
        let of_bots = BOTS.map(|bot| (bot.private_key.to_owned(), BOT_FUNDS));
        let crowd = (0..CROWD).map(|number| (crowd_key(number), CROWD_FUNDS));
        let mut bots = Vec::new();
        for (key, funds) in of_bots.into_iter().chain(crowd) {
            bots.push(Bot {
                client: exchange.connect(&key, &funding(&address_of(&key)?, funds)?)?,
                held: vec![[0; 2]; count],
                quotes: vec![[(0, Side::Buy), (1, Side::Buy)]; count],
            });
        }
        Ok(Self {
            exchange,
            random,
            markets,
            bots,
        })
    }

    fn trade(&mut self, steps: &[TimeNs]) -> Result<(), Failure> {
        let last = steps.len() - 2;
        for (step, span) in steps.windows(2).enumerate() {
            for index in 0..self.markets.len() {
                let share = (span[1].0 - span[0].0) / self.markets.len() as u64;
                let time = TimeNs(span[0].0 + share * index as u64);
                self.exchange.set_time(time);
                if self.ends(index, time)? {
                    continue;
                }
                self.move_price(index, steps, step);
                let usual = QuoteParameters::usual(self.markets[index].market.tick);
                if step == last {
                    // The books that the running bots find.
                    for maker in 0..MAKERS {
                        self.requote(maker, index, usual)?;
                    }
                    continue;
                }
                let levels = 1;
                self.requote(step % MAKERS, index, QuoteParameters { levels, ..usual })?;
                if offers::are_taken(&mut self.random) {
                    self.take(index)?;
                }
            }
        }
        Ok(())
    }

    /// Ends a market that is due; whether it has ended.
    fn ends(&mut self, index: usize, time: TimeNs) -> Result<bool, Failure> {
        let market = &mut self.markets[index];
        let Some((_, payout)) = market.end.filter(|(end, _)| *end <= time) else {
            return Ok(false);
        };
        if !market.is_over {
            market.is_over = true;
            self.exchange.resolve(market.number, payout)?;
        }
        Ok(true)
    }

    /// Moves the fair price by chance, and towards its target by the steps that are left.
    fn move_price(&mut self, index: usize, steps: &[TimeNs], step: usize) {
        let PastMarket {
            market,
            target,
            end,
            ..
        } = &mut self.markets[index];
        let end = end.map_or(steps[steps.len() - 1], |(end, _)| end);
        let left = steps[step..].iter().filter(|at| **at < end).count();
        if left <= 1 {
            market.fair = *target;
            return;
        }
        let edge = market.fair.min(10_000 - market.fair);
        let pull = (i32::from(*target) - i32::from(market.fair)) / i32::try_from(left).unwrap_or(1);
        let moved = i32::from(market.fair) + pull + self.random.around(NOISE.min(edge / 6));
        let lowest = i32::from(market.tick);
        let moved = moved.clamp(lowest, 10_000 - lowest);
        market.fair = u16::try_from(moved).unwrap_or(market.fair);
    }

    /// Replaces a maker's quotes, as the running bots do, and merges full sets that are worth a quote.
    fn requote(
        &mut self,
        maker: usize,
        index: usize,
        parameters: QuoteParameters,
    ) -> Result<(), Failure> {
        let market = &self.markets[index];
        let parameters = QuoteParameters {
            lots: LOTS * market.weight,
            ..parameters
        };
        let bot = &mut self.bots[maker];
        self.exchange.cancel(&bot.client, market.number)?;
        let sets = bot.held[index][0].min(bot.held[index][1]);
        if sets >= parameters.lots {
            self.exchange.merge(&bot.client, market.number, sets)?;
            bot.held[index] = bot.held[index].map(|held| held - sets);
        }
        let mut free = bot.held[index];
        for quote in quotes::ladder(market.market.fair, parameters) {
            let terms = offers::quoting(&self.markets[index].market, quote, &mut free);
            let outcome = self.outcome(index, &terms);
            self.bots[maker].quotes[index][usize::from(!quote.bid)] = (outcome, terms.side);
            self.place(maker, index, &terms)?;
        }
        Ok(())
    }

    /// Takes the quotes of a market: sells all of an outcome sometimes, else buys.
    fn take(&mut self, index: usize) -> Result<(), Failure> {
        let takers = self.bots.len() - MAKERS;
        let random = &mut self.random;
        let taker = MAKERS + usize::try_from(random.below(takers as u64)).unwrap_or(0);
        let outcome = usize::from(random.below(2) == 1);
        let bought = offers::taken_lots(random) * self.markets[index].weight;
        let held = self.bots[taker].held[index][outcome];
        let (lots, side) = match held > 0 && random.below(3) == 0 {
            true => (held, Side::Sell),
            false => (bought, Side::Buy),
        };
        let terms = offers::taking(&self.markets[index].market, outcome, lots, side);
        self.place(taker, index, &terms)
    }

    /// Places an order and notes what changed hands.
    fn place(&mut self, bot: usize, index: usize, terms: &Terms<'_>) -> Result<(), Failure> {
        let outcome = self.outcome(index, terms);
        let of_market = (self.markets[index].number, Outcome::ALL[outcome]);
        let traded = (self.exchange).place(&self.bots[bot].client, of_market, terms)?;
        note(
            &mut self.bots[bot].held[index][outcome],
            terms.side,
            traded.lots,
        );
        // A buyer of Yes and a seller of No meet asks.
        let meets_asks = (outcome == 0) == (terms.side == Side::Buy);
        for fill in traded.fills {
            let mut makers = self.bots.iter_mut();
            if let Some(maker) = makers.find(|bot| bot.client.account == fill.maker) {
                let (outcome, side) = maker.quotes[index][usize::from(meets_asks)];
                note(&mut maker.held[index][outcome], side, fill.lots.0);
            }
        }
        Ok(())
    }

    fn outcome(&self, index: usize, terms: &Terms<'_>) -> usize {
        usize::from(terms.token != self.markets[index].market.tokens[0])
    }
}

fn note(held: &mut u64, side: Side, lots: u64) {
    *held = match side {
        Side::Buy => *held + lots,
        Side::Sell => held.saturating_sub(lots),
    };
}

/// Where the fair price of a market begins and ends.
fn ends_of(market: &SampleMarket, random: &mut Random) -> (u16, u16) {
    let price = market.price_units();
    match market.ended {
        Some(end) if end.first => (price, NEARLY_CERTAIN),
        Some(_) => (price, 10_000 - NEARLY_CERTAIN),
        None => {
            let edge = price.min(10_000 - price);
            let begins = i32::from(price) + random.around(REACH.min(edge / 2));
            (u16::try_from(begins).unwrap_or(price), price)
        }
    }
}

fn payout(market: &SampleMarket) -> Option<Payout> {
    market.ended.map(|end| match end.first {
        true => Payout::Yes,
        false => Payout::No,
    })
}

/// A few markets are busy, many are quiet; which ones is scattered over the sample.
fn weight(index: usize, count: usize) -> u64 {
    let (place, count) = ((index * 5 % count) as u64, count as u64);
    1 + (MOST_WEIGHT - 1) * place * place / ((count - 1) * (count - 1))
}

fn crowd_key(number: usize) -> String {
    alloy_primitives::keccak256(format!("foretell demo crowd {number}")).to_string()
}

fn address_of(key: &str) -> Result<String, Failure> {
    let signer = foretell_auth::Signer::from_hex(key);
    let signer = signer.ok_or_else(|| Failure::new("not a private key"))?;
    Ok(foretell_auth::text::checksum_address(signer.address()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: TimeNs = TimeNs(1_790_000_000_123_456_789);

    #[test]
    fn the_same_start_and_secret_give_the_same_past() {
        let directories = [(); 2].map(|()| tempfile::tempdir().unwrap());
        let [first, second] = directories.each_ref().map(|directory| {
            let mut config = Config::default();
            config.data.directory = directory.path().join("data");
            std::fs::create_dir(&config.data.directory).unwrap();
            config
        });
        let last = write(&first, NOW).unwrap().unwrap();
        // An interrupted start leaves this; the secret makes the keys.
        std::fs::create_dir(second.data.directory.join("past.tmp")).unwrap();
        std::fs::copy(first.master_secret_file(), second.master_secret_file()).unwrap();
        assert_eq!(write(&second, NOW).unwrap(), Some(last));

        let options = foretell_audit::Options::default();
        let [report, again] = [&first, &second].map(|config| {
            let journal = config.data.directory.join("journal");
            foretell_audit::verify(&journal, &options).unwrap()
        });
        assert!(report.sound, "{report}");
        assert_eq!(report.digest, again.digest);
        assert_eq!(report.simulated_until, Some(NOW));
        assert!(report.time <= NOW, "{report}");

        // A journal that is there stays as it is.
        assert_eq!(write(&first, TimeNs(NOW.0 + 1)).unwrap(), None);
        assert!(!first.data.directory.join("past.tmp").exists());
    }

    #[test]
    fn steps_are_fine_in_the_last_day_and_end_now() {
        let steps = steps(TimeNs(NOW.0 - DAYS * DAY), NOW);
        assert_eq!(steps.last(), Some(&NOW));
        let of_last_day = steps.iter().filter(|at| at.0 >= NOW.0 - DAY).count();
        assert_eq!((of_last_day, steps.len()), (49, 116 + 49));
        assert!(steps.is_sorted());
    }

    #[test]
    fn the_busiest_market_trades_many_times_the_quietest_one() {
        let weights: Vec<u64> = (0..28).map(|index| weight(index, 28)).collect();
        assert_eq!(weights.iter().min(), Some(&1));
        assert_eq!(weights.iter().max(), Some(&MOST_WEIGHT));
    }
}
