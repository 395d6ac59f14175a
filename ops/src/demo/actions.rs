//! Account actions of the bots: an occasional split, merge or convert, and a redeem of every short
//! market that ended.

use std::time::{Duration, Instant};

use tracing::{debug, info};

use crate::demo::market::BotMarket;
use crate::failure::Failure;
use crate::trader::{Sets, Trader};

/// Delay before the first action. It doubles after each action: a visitor soon sees some, and a
/// demo of weeks stays far below an account's monthly limit of references.
const FIRST_PAUSE: Duration = Duration::from_secs(10);
const LONGEST_PAUSE: Duration = Duration::from_secs(600);
/// Full sets per split, in lots.
const SPLIT: u64 = 2_000;
/// Lots of No per convert.
const CONVERT: u64 = 500;

/// An account action; they are taken in rotation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Split,
    Merge,
    Convert,
}

/// The next action and when it is due.
pub(super) struct Actions {
    due: Instant,
    pause: Duration,
    next: Kind,
}

impl Actions {
    pub(super) fn new() -> Self {
        Self {
            due: Instant::now() + FIRST_PAUSE,
            pause: FIRST_PAUSE,
            next: Kind::Split,
        }
    }

    /// Performs the due action if this maker can do it in this market with these free lots of both
    /// outcomes; otherwise waits for another market. Returns whether something moved.
    pub(super) async fn act(
        &mut self,
        maker: &Trader,
        market: &BotMarket,
        held: [u64; 2],
    ) -> Result<bool, Failure> {
        if Instant::now() < self.due {
            return Ok(false);
        }
        let reference = reference();
        let answer = match (self.next, market.question) {
            (Kind::Split, _) => {
                let sets = sets(market, SPLIT, &reference);
                maker.split(&sets).await?
            }
            (Kind::Merge, _) if held[0].min(held[1]) >= 2 => {
                let sets = sets(market, held[0].min(held[1]) / 2, &reference);
                maker.merge(&sets).await?
            }
            (Kind::Convert, Some((event, place))) if held[1] > 0 => {
                let lots = held[1].min(CONVERT);
                maker.convert(event, 1 << place, lots, &reference).await?
            }
            _ => return Ok(false),
        };
        debug!(market = market.condition, kind = ?self.next, answer = %answer.1, "an action");
        self.next = match self.next {
            Kind::Split => Kind::Merge,
            Kind::Merge => Kind::Convert,
            Kind::Convert => Kind::Split,
        };
        self.pause = (self.pause * 2).min(LONGEST_PAUSE);
        self.due = Instant::now() + self.pause;
        Ok(answer.0 == 200)
    }
}

/// Redeems each bot's shares of a resolved market. A bot without shares gets a rejection, which is
/// ignored.
pub(super) async fn redeem(traders: &[&Trader], condition: &str) -> Result<(), Failure> {
    for trader in traders {
        let (status, answer) = trader.redeem(condition, &reference()).await?;
        match status {
            200 => {
                let (bot, paid) = (trader.address(), &answer["collateral"]);
                info!(bot, condition, %paid, "redeemed");
            }
            409 => debug!(condition, %answer, "nothing redeemed"),
            _ => return Err(Failure::new(format!("{status}: {answer}"))),
        }
    }
    Ok(())
}

fn sets<'a>(market: &'a BotMarket, lots: u64, reference: &'a str) -> Sets<'a> {
    Sets {
        condition: &market.condition,
        lots,
        reference,
    }
}

fn reference() -> String {
    uuid::Uuid::new_v4().to_string()
}
