//! The data surface: parameters in, rows out (interface, protocol 12).
//!
//! Every parameter is read by the reader of its endpoint, with its default and its bounds; one that
//! is unknown, missing or wrong is refused in the surface's own shape ([`DataFailure`]). Rows are
//! written straight into the text of the answer ([`Rows`]), numbers from exact integers, rounded
//! once, half away from zero, to six decimals ([`Figures`]).
//!
//! Deliberately absent: which rows there are. Whoever has the view picks them, sorts and pages them
//! with [`page`].

mod activity;
mod failure;
mod figures;
mod holders;
mod market_text;
mod page;
mod parameters;
mod positions;
mod profile;
mod rows;
mod totals;
mod trades;

pub use activity::{Activity, ActivityKind, ActivityQuery};
pub use failure::{DataFailure, coded};
pub use figures::{CurPrice, Figures, Shown};
pub use holders::{Holder, HolderGroup, HoldersQuery};
pub use market_text::{MarketNames, MarketText};
pub use page::{Direction, Page, page};
pub use positions::{
    ClosedKey, ClosedPositionsQuery, ClosedSort, OpenKey, Position, PositionSort, PositionsQuery,
    compare_closed, compare_open,
};
pub use profile::{Profile, WalletText, pseudonym};
pub use rows::Rows;
pub use totals::{
    MarketsQuery, UserQuery, ValueQuery, live_volume_text, open_interest_text, traded_text,
    value_text,
};
pub use trades::{Minimum, Trade, TradesQuery};

#[cfg(test)]
mod query_tests;
#[cfg(test)]
mod row_tests;
