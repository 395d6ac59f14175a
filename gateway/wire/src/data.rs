//! The data surface: parameters in, rows out (docs/api/data.md).
//!
//! A list has one row, with two views: version 1 and version 2 of its JSON. Fills of version 1 are
//! written field by field ([`FillWriter`]). Numbers come from exact integers, rounded once, half away
//! from zero, to six decimals ([`PositionFigures`]).
//!
//! Not here: the selection of rows. The gateway filters its view's rows, then sorts and pages them
//! with [`page`].

mod activity;
mod builders;
mod holders;
mod leaderboard;
mod positions;
mod profile;
pub mod read;
mod rows;
mod totals;
mod trades;
mod v2;

pub use activity::{
    ActivityFilter, ActivityKind, ActivityQuery, ActivityRow, ActivitySort, ActivityV1, ActivityV2,
    Fill, FillV1, FillV2,
};
pub use builders::{
    BuilderDaysQuery, BuilderRow, BuilderV1, BuilderV2, BuildersQuery, builder_wallet,
};
pub use holders::{HolderGroup, HolderRow, HolderV1, HoldersQuery};
pub use leaderboard::{
    LeaderboardQuery, LeaderboardRow, LeaderboardSort, LeaderboardV1, LeaderboardV2, TimePeriod,
    V2Leaderboard, V2LeaderboardQuery,
};
pub use positions::{ClosedPositionsQuery, PositionRow, PositionSort, PositionV1, PositionsQuery};
pub use profile::{Profile, pseudonym};
pub use read::cursor::{FrameRow, HolderKey, PointKey, PositionKey, RankKey, RowKey};
pub use read::errors::{V2Error, with_class};
pub use read::market_selection::{MarketRef, MarketSelection};
pub use read::page::{Direction, LimitOffset, Listed, V1List, V1Walk, V2, V2List, V2Listed, page};
pub use read::time_range::TimeRange;
pub use rows::figures::{CurPrice, PositionFigures, RoundedFigures};
pub use rows::fill_writer::FillWriter;
pub use rows::market_text::{AssetIds, MarketText};
pub use rows::view::{V2Answer, V2Page};
pub use totals::{
    AmountV1, AmountV2, EventVolumeQuery, LiveVolumeQuery, MarketAmounts, OpenInterestQuery,
    TradedAnswer, UserQuery, ValueQuery, ValueV1, ValueV2, VolumesV1, VolumesV2,
};
pub use trades::{FillsQuery, MinimumFill};
pub use v2::holders::{HolderV2, V2HolderGroup, V2HoldersQuery};
pub use v2::positions::{PositionStatus, PositionV2, V2PositionsQuery};
pub use v2::prices::{V2PricePoint, V2PricesQuery, V2PricesRange};

#[cfg(test)]
mod query_tests;
#[cfg(test)]
mod row_tests;
