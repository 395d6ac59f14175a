//! What the bots do with their shares beside trading them: now and then a split, a merge, a
//! convert, and a redeem of every round that ended.

use std::time::{Duration, Instant};

use tracing::{debug, info};

use crate::demo::market::BotMarket;
use crate::failure::Failure;
use crate::trader::{Sets, Trader};

/// Pause before the first action; each one doubles it, so that a visitor soon sees some and a demo
/// that runs for weeks stays far below the references an account may use in a month.
const FIRST_PAUSE: Duration = Duration::from_secs(10);
const LONGEST_PAUSE: Duration = Duration::from_secs(600);
/// Full sets of one split, in lots.
const SPLIT: u64 = 2_000;
/// No of one convert, in lots.
const CONVERT: u64 = 500;

/// An action; each has its turn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Split,
    Merge,
    Convert,
}

/// When the next action is due, and which.
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

    /// Does the action that is due, if this maker can do it in this market with these free lots of
    /// both outcomes; else another turn will. True when something moved.
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

/// Turns what each bot holds of a resolved market into collateral. Who holds nothing is told so.
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
