//! All limits of syncing an upstream. The catalog crate has the limits of single records.

use std::time::Duration;

use thiserror::Error;

use crate::resource::Resource;

/// Most bytes of one page of an upstream's list.
pub const MAX_PAGE_BYTES: usize = 64 * 1024 * 1024;
/// Most bytes of a page's cursor: it comes back in the URL of the next request, and in log lines.
pub const MAX_CURSOR_BYTES: usize = 2_048;
/// Rows requested per page.
pub const PAGE_ROWS: u64 = 100;
/// Most rows read per page; an upstream may send more than requested.
pub const MAX_PAGE_ROWS: usize = 10_000;
/// Rows of a page that the next page repeats. If none of them is there, rows before them were
/// deleted and the list has shifted past the offset.
pub const PAGE_OVERLAP: u64 = 10;
/// Pages by offset that repeat the rows of the last one, without a new row between: with one more,
/// the upstream repeats itself. Rows that come and go at the front of a list explain a few.
pub const MAX_STALLED_PAGES: u32 = 2;
/// Most redirects of one request.
pub const MAX_REDIRECTS: usize = 5;
/// Most attempts for one page before the pass gives up.
pub const MAX_ATTEMPTS: u32 = 8;
/// Longest honoured pause of an upstream's `Retry-After`.
pub const MAX_RETRY_AFTER: Duration = Duration::from_secs(600);
/// How far before the newest `updatedAt` an incremental pass continues to read, because an
/// upstream's writes become visible out of order.
pub const UPDATE_OVERLAP: Duration = Duration::from_secs(300);

/// Divisor of the list limits for tags and series, which are short lists.
pub const SMALL_LIST_DIVISOR: u64 = 16;
/// Minimum number of early closings applied per day, however few markets there are.
pub const MIN_EARLY_CLOSINGS: u64 = 5;
/// Period over which early closings are counted.
pub const CLOSING_WINDOW: Duration = Duration::from_secs(24 * 3_600);

/// Limits of one round; settings of `[catalog]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Rows of one list per pass.
    pub list_rows: u64,
    /// Bytes of one list per pass.
    pub list_bytes: u64,
    /// Pages per round.
    pub round_pages: u64,
    /// Bytes per round.
    pub round_bytes: u64,
    /// Bytes of the catalog's files.
    pub catalog_bytes: u64,
    /// Bytes that stay free on the disk that the catalog shares with the journal.
    pub disk_reserve_bytes: u64,
    /// Markets registered per round.
    pub new_markets: u64,
}

impl Default for Limits {
    /// Fits an upstream of 300,000 markets: about 6 KB per row and 25 KB of catalog per market.
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
    /// The limit that a pass through a list has reached after this many rows and bytes.
    #[must_use]
    pub fn of_list(&self, list: Resource, rows: u64, bytes: u64) -> Option<LimitReached> {
        let divisor = match list {
            Resource::Tags | Resource::Series => SMALL_LIST_DIVISOR,
            Resource::Events | Resource::Markets => 1,
        };
        if rows >= self.list_rows / divisor {
            return Some(LimitReached::ListRows(list));
        }
        (bytes >= self.list_bytes / divisor).then_some(LimitReached::ListBytes(list))
    }

    /// The limit that a round has reached after this many pages and bytes.
    #[must_use]
    pub fn of_round(&self, pages: u64, bytes: u64) -> Option<LimitReached> {
        if pages >= self.round_pages {
            return Some(LimitReached::RoundPages);
        }
        (bytes >= self.round_bytes).then_some(LimitReached::RoundBytes)
    }
}

/// A reached limit. The text names the setting.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum LimitReached {
    /// The list has more rows.
    #[error("the list of {} reached catalog.list_rows: its rest was not read", .0.name())]
    ListRows(Resource),
    /// The list has more bytes.
    #[error("the list of {} reached catalog.list_mib: its rest was not read", .0.name())]
    ListBytes(Resource),
    /// The round ended after its pages.
    #[error("the round reached catalog.round_pages: the next round continues")]
    RoundPages,
    /// The round ended after its bytes.
    #[error("the round reached catalog.round_mib: the next round continues")]
    RoundBytes,
    /// Writes to the catalog stopped.
    #[error("catalog.db reached catalog.size_mib: reading from the upstream stopped")]
    CatalogBytes,
    /// All writes stopped.
    #[error("less than catalog.disk_reserve_mib is free on the disk: the upstream is not followed")]
    DiskReserve,
    /// This many markets are not registered yet.
    #[error("the round reached catalog.new_markets: {0} markets wait for the next round")]
    NewMarkets(u64),
}

/// Limits or findings as texts, for JSON output.
pub(crate) fn texts(what: &[impl ToString]) -> Vec<String> {
    what.iter().map(ToString::to_string).collect()
}

const _: () = {
    assert!(PAGE_OVERLAP < PAGE_ROWS);
    assert!(foretell_catalog::record::MAX_RECORD_BYTES < MAX_PAGE_BYTES);
};
