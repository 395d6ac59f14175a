//! Midpoints of the books over time, in buckets as price history shows them, each with the midpoint
//! at its end (docs/api/market-data.md §4).
//!
//! A row is written when a bucket ends with another midpoint than the row before. Buckets without a
//! row repeat the row before them. So storage grows with changes of midpoints, not with time. The
//! open bucket is part of the market's current state, shared by all bucket sizes.

use foretell_model::codec::{CodecError, Stored, fixed, newtypes};
use foretell_model::quantity::PRICE_ONE;
use foretell_model::{MarketNumber, Price, TimeNs};

use crate::error::Impossible;
use crate::part::Part;
use crate::storage::by_number::ByNumber;
use crate::storage::chunk::Chunking;
use crate::storage::listed_log::ListedLog;
use crate::storage::row::LogRow;

/// The mean of best bid and best ask, exactly: their sum, in 0.0001.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Midpoint(pub(crate) u16);

impl Midpoint {
    /// The maximum: bid and ask at 1.
    pub(crate) const MAX: u16 = 2 * PRICE_ONE;

    /// The midpoint of a bid and an ask.
    #[must_use]
    pub const fn between(bid: Price, ask: Price) -> Self {
        let sum = bid.0.saturating_add(ask.0);
        Self(if sum < Self::MAX { sum } else { Self::MAX })
    }

    /// In units of 0.00005.
    #[must_use]
    pub const fn half_units(self) -> u16 {
        self.0
    }

    /// The midpoint of the other outcome: 1 − this.
    #[must_use]
    pub const fn complement(self) -> Self {
        Self(Self::MAX - self.0)
    }
}

newtypes! {
    // The complement must exist.
    Midpoint: u16, at most Midpoint::MAX;
}

/// The length of a bucket. Buckets are aligned to the unix epoch.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum BucketSize {
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
    /// All sizes, ascending.
    pub(crate) const ALL: [Self; 5] = [
        Self::Minute,
        Self::FiveMinutes,
        Self::HalfHour,
        Self::ThreeHours,
        Self::HalfDay,
    ];

    /// Its length.
    pub(crate) const fn minutes(self) -> u32 {
        match self {
            Self::Minute => 1,
            Self::FiveMinutes => 5,
            Self::HalfHour => 30,
            Self::ThreeHours => 180,
            Self::HalfDay => 720,
        }
    }

    /// The largest size of which buckets of so many minutes are a multiple.
    pub(crate) fn dividing(minutes: u32) -> Self {
        let mut sizes = Self::ALL.into_iter().rev();
        let divides = sizes.find(|size| minutes.is_multiple_of(size.minutes()));
        divides.unwrap_or(Self::Minute)
    }

    /// The bucket that contains a minute.
    pub(crate) const fn bucket(self, minute: u32) -> u32 {
        minute / self.minutes()
    }
}

/// The minute of an instant. All of time has fewer than 2^32.
pub(crate) fn minute_of(time: TimeNs) -> u32 {
    const MINUTE_NS: u64 = 60 * 1_000_000_000;
    const _: () = assert!(u64::MAX / MINUTE_NS <= u32::MAX as u64);
    u32::try_from(time.0 / MINUTE_NS).expect("2^64 ns are fewer than 2^32 minutes")
}

fixed! {
    /// A bucket that ended with another midpoint than the bucket before it.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub(crate) struct MidpointChange {
        pub(crate) bucket: u32,
        /// In Yes prices; `None` when a side of the book was empty.
        pub(crate) midpoint: Option<Midpoint>,
    }
}

impl LogRow for MidpointChange {
    const CHUNK_BITS: u32 = 17;
}

fixed! {
    /// A market's current midpoint.
    #[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
    pub(crate) struct CurrentMidpoint {
        pub(crate) midpoint: Option<Midpoint>,
        /// The minute of its last change; the open buckets contain it.
        pub(crate) minute: u32,
        /// The midpoint in the last row of each size.
        written: [Option<Midpoint>; BucketSize::ALL.len()],
    }
}

/// The midpoints of all markets.
#[derive(Debug)]
pub(crate) struct Midpoints {
    pub(crate) current: ByNumber<MarketNumber, CurrentMidpoint>,
    /// Listed by market and size ([`list_of`]).
    pub(crate) changes: ListedLog<MidpointChange>,
}

impl Part for Midpoints {
    fn new(chunking: Chunking) -> Self {
        Self {
            current: ByNumber::default(),
            changes: ListedLog::new(chunking),
        }
    }

    fn put_live(&self, out: &mut Vec<u8>) {
        self.current.put(out);
    }

    fn take_live(&mut self, from: &mut &[u8]) -> Result<(), CodecError> {
        self.current = Stored::take(from)?;
        Ok(())
    }
}

impl Midpoints {
    /// Adds a market with an empty book.
    pub(crate) fn open(&mut self, market: MarketNumber) -> Result<(), Impossible> {
        self.current.push(market, CurrentMidpoint::default())
    }

    /// Records the midpoint of a market after a command. `minute` never decreases.
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
        for (size, written) in BucketSize::ALL.into_iter().zip(&mut current.written) {
            let open = size.bucket(current.minute);
            if open < size.bucket(minute) && *written != current.midpoint {
                *written = current.midpoint;
                let change = MidpointChange {
                    bucket: open,
                    midpoint: current.midpoint,
                };
                self.changes.push(list_of(market, size), &change)?;
            }
        }
        current.midpoint = midpoint;
        current.minute = minute;
        Ok(())
    }
}

/// The number of the list of a market and size.
pub(crate) fn list_of(market: MarketNumber, size: BucketSize) -> usize {
    market.0 as usize * BucketSize::ALL.len() + size as usize
}
