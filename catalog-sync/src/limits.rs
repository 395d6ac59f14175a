//! Every bound of following an upstream, in one place. What one record may be is the catalog's to say.

use std::time::Duration;

use thiserror::Error;

use crate::resource::Resource;

/// Bytes of one page of an upstream's list.
pub const MAX_PAGE_BYTES: usize = 64 * 1024 * 1024;
/// Rows asked for in one page.
pub const PAGE_ROWS: u64 = 100;
/// Rows of one page that are read; an upstream may send more than was asked for.
pub const MAX_PAGE_ROWS: usize = 10_000;
/// Rows of a page that are asked for again with the next one: when none of them is there, rows went
/// away in between and the list has shifted past us.
pub const PAGE_OVERLAP: u64 = 10;
/// Redirects that one request follows.
pub const MAX_REDIRECTS: usize = 5;
/// Times one page is asked for before the pass gives up.
pub const MAX_ATTEMPTS: u32 = 8;
/// The longest pause that an upstream's `Retry-After` may ask of us.
pub const MAX_RETRY_AFTER: Duration = Duration::from_secs(600);
/// How far behind the newest `updatedAt` an incremental pass reads on: writes of the upstream become
/// visible out of order.
pub const UPDATE_OVERLAP: Duration = Duration::from_secs(300);

/// Tags and series are few: their lists have this part of a list's bounds.
pub const SMALL_LIST_PART: u64 = 16;
/// Closings before the end date that are taken over in a day, however few markets there are.
pub const LEAST_EARLY_CLOSINGS: u64 = 5;
/// The time that early closings are counted over.
pub const CLOSING_WINDOW: Duration = Duration::from_secs(24 * 3_600);

/// What one round may take from an upstream; settings of `[catalog]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Rows of one list in one reading of it.
    pub list_rows: u64,
    /// Bytes of one list in one reading of it.
    pub list_bytes: u64,
    /// Pages of a round.
    pub round_pages: u64,
    /// Bytes of a round.
    pub round_bytes: u64,
    /// Bytes of the catalog's files.
    pub catalog_bytes: u64,
    /// Bytes that stay free on the disk of the catalog, which is the journal's.
    pub disk_reserve_bytes: u64,
    /// Markets registered in a round.
    pub new_markets: u64,
}

impl Default for Limits {
    /// Fits an upstream of 300,000 markets: about 6 KB a row and 25 KB of catalog a market.
    fn default() -> Self {
        Self {
            list_rows: 1_000_000,
            list_bytes: 8 << 30,
            round_pages: 5_000,
            round_bytes: 4 << 30,
            catalog_bytes: 8 << 30,
            disk_reserve_bytes: 1 << 30,
            new_markets: 5_000,
        }
    }
}

impl Limits {
    /// The bound that a reading of a list has reached with so many rows and bytes.
    #[must_use]
    pub fn of_list(&self, list: Resource, rows: u64, bytes: u64) -> Option<LimitReached> {
        let part = match list {
            Resource::Tags | Resource::Series => SMALL_LIST_PART,
            Resource::Events | Resource::Markets => 1,
        };
        if rows >= self.list_rows / part {
            return Some(LimitReached::ListRows(list));
        }
        (bytes >= self.list_bytes / part).then_some(LimitReached::ListBytes(list))
    }

    /// The bound that a round has reached with so many pages and bytes.
    #[must_use]
    pub fn of_round(&self, pages: u64, bytes: u64) -> Option<LimitReached> {
        if pages >= self.round_pages {
            return Some(LimitReached::RoundPages);
        }
        (bytes >= self.round_bytes).then_some(LimitReached::RoundBytes)
    }
}

/// A bound that a round reached. The text names the setting.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum LimitReached {
    /// A list has more rows.
    #[error("the list of {} reached catalog.list_rows: the rest of it is not read", .0.name())]
    ListRows(Resource),
    /// A list has more bytes.
    #[error("the list of {} reached catalog.list_mib: the rest of it is not read", .0.name())]
    ListBytes(Resource),
    /// The round ended.
    #[error("the round reached catalog.round_pages: the next one goes on from there")]
    RoundPages,
    /// The round ended.
    #[error("the round reached catalog.round_mib: the next one goes on from there")]
    RoundBytes,
    /// Nothing more is written to the catalog.
    #[error("catalog.db reached catalog.size_mib: nothing more is read from the upstream")]
    CatalogBytes,
    /// Nothing is written at all.
    #[error("less than catalog.disk_reserve_mib is free on the disk: the upstream is not followed")]
    DiskReserve,
    /// Some markets are not registered yet.
    #[error("the round reached catalog.new_markets: {0} markets wait for the next one")]
    NewMarkets(u64),
}

/// Reached bounds for programs.
pub(crate) fn texts(limits: &[LimitReached]) -> Vec<String> {
    limits.iter().map(ToString::to_string).collect()
}

const _: () = {
    assert!(PAGE_OVERLAP < PAGE_ROWS);
    assert!(foretell_catalog::record::MAX_RECORD_BYTES < MAX_PAGE_BYTES);
};
