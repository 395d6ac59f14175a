//! Midpoints of the books over time, kept as price history shows them: cut into buckets, each with
//! the midpoint at its end (protocol 11).
//!
//! A bucket's row is written when the bucket is over, and only when its midpoint is another than
//! that of the row before; buckets without a row repeat the one before them. So a market costs
//! what its midpoint moves, not what time passes. The bucket that is still open is the state of
//! its market: there is one for all sizes.

use foretell_model::quantity::PRICE_ONE;
use foretell_model::{MarketNumber, Price, TimeNs};

use crate::dense::Dense;
use crate::error::Impossible;
use crate::list::{List, Lists};
use crate::log::Log;
use crate::row::{Row, fixed};

/// The middle between best bid and best ask, exactly: their sum, in 0.0001.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Midpoint(pub(crate) u16);

impl Midpoint {
    /// The largest: a bid and an ask at 1.
    pub(crate) const MOST: u16 = 2 * PRICE_ONE;

    /// Between a bid and an ask.
    #[must_use]
    pub const fn between(bid: Price, ask: Price) -> Self {
        let sum = bid.0.saturating_add(ask.0);
        Self(if sum < Self::MOST { sum } else { Self::MOST })
    }

    /// In units of 0.00005.
    #[must_use]
    pub const fn half_units(self) -> u16 {
        self.0
    }

    /// That of the other outcome: 1 − this.
    #[must_use]
    pub const fn complement(self) -> Self {
        Self(Self::MOST - self.0)
    }
}

/// The length of a bucket. Buckets of a size follow each other from the unix epoch on.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum BucketSize {
    /// One minute.
    Minute,
    /// Five minutes.
    FiveMinutes,
    /// Half an hour.
    HalfHour,
    /// Three hours.
    ThreeHours,
    /// Half a day: from 00:00 and 12:00 UTC.
    HalfDay,
}

impl BucketSize {
    /// All of them, rising.
    pub const ALL: [Self; 5] = [
        Self::Minute,
        Self::FiveMinutes,
        Self::HalfHour,
        Self::ThreeHours,
        Self::HalfDay,
    ];

    /// Its length.
    #[must_use]
    pub const fn minutes(self) -> u32 {
        match self {
            Self::Minute => 1,
            Self::FiveMinutes => 5,
            Self::HalfHour => 30,
            Self::ThreeHours => 180,
            Self::HalfDay => 720,
        }
    }

    /// The smallest that is at least so many minutes long; the largest when none is.
    #[must_use]
    pub fn at_least(minutes: u32) -> Self {
        let mut sizes = Self::ALL.into_iter();
        let long_enough = sizes.find(|size| size.minutes() >= minutes);
        long_enough.unwrap_or(Self::HalfDay)
    }

    /// The bucket a minute falls in.
    pub(crate) const fn bucket(self, minute: u32) -> u32 {
        minute / self.minutes()
    }
}

/// The minute an instant falls in. All of time has fewer than 2^32.
pub(crate) fn minute_of(time: TimeNs) -> u32 {
    const MINUTE_NS: u64 = 60 * 1_000_000_000;
    const _: () = assert!(u64::MAX / MINUTE_NS <= u32::MAX as u64);
    u32::try_from(time.0 / MINUTE_NS).expect("2^64 ns are fewer than 2^32 minutes")
}

/// A bucket that ended with another midpoint than the bucket before it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Turn {
    pub(crate) bucket: u32,
    /// In Yes prices; `None` when a side of the book was empty.
    pub(crate) midpoint: Option<Midpoint>,
}

fixed!(Turn {
    bucket: u32,
    midpoint: Option<Midpoint>,
});

impl Row for Turn {
    const CHUNK_BITS: u32 = 17;
}

/// A market's midpoint now.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Current {
    pub(crate) midpoint: Option<Midpoint>,
    /// The minute of its last move; the buckets with that minute are the open ones.
    pub(crate) minute: u32,
    /// That of the last turn of each size.
    turned: [Option<Midpoint>; BucketSize::ALL.len()],
}

fixed!(Current {
    midpoint: Option<Midpoint>,
    minute: u32,
    turned: [Option<Midpoint>; BucketSize::ALL.len()],
});

/// The midpoints of all markets.
#[derive(Debug)]
pub(crate) struct Midpoints {
    pub(crate) current: Dense<MarketNumber, Current>,
    /// Turns of all markets and sizes.
    pub(crate) turns: Log<Turn>,
    /// Those of each market and size.
    pub(crate) of_market: Lists,
}

impl Midpoints {
    /// A market whose book is empty.
    pub(crate) fn open(&mut self, market: MarketNumber) -> Result<(), Impossible> {
        self.current.push(market, Current::default())
    }

    /// After a command the midpoint of a market is this. Minutes never fall.
    pub(crate) fn note(
        &mut self,
        market: MarketNumber,
        minute: u32,
        midpoint: Option<Midpoint>,
    ) -> Result<(), Impossible> {
        let current = self.current.get_mut(market);
        let current = current.ok_or(Impossible::UnknownMarket(market))?;
        if current.midpoint == midpoint {
            return Ok(());
        }
        for (size, turned) in BucketSize::ALL.into_iter().zip(&mut current.turned) {
            let open = size.bucket(current.minute);
            if open < size.bucket(minute) && *turned != current.midpoint {
                *turned = current.midpoint;
                let turn = Turn {
                    bucket: open,
                    midpoint: current.midpoint,
                };
                self.of_market
                    .push(number(market, size), self.turns.len())?;
                self.turns.push(&turn)?;
            }
        }
        current.midpoint = midpoint;
        current.minute = minute;
        Ok(())
    }

    /// The turns of a market and size, oldest first.
    pub(crate) fn turns_of(&self, market: MarketNumber, size: BucketSize) -> List<'_> {
        self.of_market.list(number(market, size))
    }
}

/// The number of a list.
fn number(market: MarketNumber, size: BucketSize) -> usize {
    market.0 as usize * BucketSize::ALL.len() + size as usize
}
