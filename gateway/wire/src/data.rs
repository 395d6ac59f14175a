//! The data surface: parameters in, rows out (docs/api/data.md).
//!
//! Each endpoint has a reader for its parameters with their defaults and bounds. An unknown,
//! missing or wrong parameter is rejected in the data surface's error shape ([`with_class`]). Rows
//! are written straight into the text of the answer ([`RowWriter`]). Numbers come from exact
//! integers, rounded once, half away from zero, to six decimals ([`PositionFigures`]).
//!
//! Not here: the selection of rows. The gateway filters its view's rows, then sorts and pages them
//! with [`page`].

mod activity;
mod builders;
mod figures;
mod holders;
mod leaderboard;
mod market_fields;
mod positions;
mod profile;
pub mod read;
mod rows;
mod totals;
mod trades;
mod v2;

pub use activity::{ActivityFilter, ActivityKind, ActivityQuery, ActivityRow, ActivitySort};
pub use builders::{BuilderDaysQuery, BuilderRow, BuildersQuery, builder_wallet};
pub use figures::{CurPrice, PositionFigures, RoundedFigures};
pub use holders::{HolderGroup, HolderRow, HoldersQuery};
pub use leaderboard::{
    LeaderboardQuery, LeaderboardRow, LeaderboardSort, TimePeriod, V2LeaderboardQuery,
};
pub use market_fields::{MarketNames, MarketText};
pub use positions::{
    ClosedKey, ClosedPositionsQuery, ClosedSort, OpenKey, PositionRow, PositionSort,
    PositionsQuery, compare_closed, compare_open,
};
pub use profile::{Profile, WalletText, pseudonym};
pub use read::errors::with_class;
pub use read::market_selection::{AssetIds, MarketRef, MarketSelection};
pub use read::page::{Direction, LimitOffset, Listed, Paged, V1List, V2, V2List, page};
pub use read::time_range::TimeRange;
pub use rows::RowWriter;
pub use totals::{
    EventVolumeQuery, LiveVolumeQuery, OpenInterestQuery, UserQuery, ValueQuery, live_volume_text,
    open_interest_text, traded_text, value_text,
};
pub use trades::{FillRow, FillsQuery, MinimumFill};

pub use v2::holders::{V2HolderGroup, V2HolderRow, V2HoldersQuery};
pub use v2::positions::{PositionStatus, V2PositionRow, V2PositionSort, V2PositionsQuery};
pub use v2::prices::{V2PricePoint, V2PricesQuery, V2PricesRange, v2_prices_text};
pub use v2::{v2_page_text, v2_rows, v2_text, v2_written};

#[cfg(test)]
mod query_tests;
#[cfg(test)]
mod row_tests;
