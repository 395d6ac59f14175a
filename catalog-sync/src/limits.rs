//! Every bound of reading an upstream, in one place. What one record may be is the catalog's to say.

use std::time::Duration;

/// Bytes of one page of an upstream's list.
pub const MAX_PAGE_BYTES: usize = 64 * 1024 * 1024;
/// Rows asked for in one page.
pub const PAGE_ROWS: u64 = 100;
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

const _: () = {
    assert!(PAGE_OVERLAP < PAGE_ROWS);
    assert!(foretell_catalog::record::MAX_RECORD_BYTES < MAX_PAGE_BYTES);
};
