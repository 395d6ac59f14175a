//! Bounds of a single request and its answer: bytes, lengths, counts. The gateway reads no more bytes
//! of a body than its route allows; the readers of this crate check the rest.

use foretell_model::limits::MAX_EVIDENCE_BYTES;

// The head.

/// Bytes of a request's head: the request line and all header fields
/// (docs/internals/decisions/0011).
pub const MAX_HEAD_BYTES: usize = 16 * 1024;
/// Header fields of a request: the maximum of the HTTP library.
pub const MAX_HEADERS: usize = 100;
/// Bytes of a path; all routes are far shorter, and answers that echo a path stay short.
pub const MAX_PATH_BYTES: usize = 2 * 1024;
/// Bytes of a query string.
pub const MAX_QUERY: usize = 8 * 1024;
/// Parameters of a query string.
pub const MAX_PARAMETERS: usize = 200;
/// Bytes of a cursor: [`MAX_OFFSET`] in base64, padding included.
pub const MAX_CURSOR: usize = 28;
/// Most conditions or events in a filter of the data surface.
pub const MAX_MARKETS: usize = 200;
/// Characters of the filter `title`.
pub const MAX_TITLE: usize = 100;

// Bodies.

/// Bytes of one cancel, account action or key; also of requests without a body.
pub const SMALL_BODY_BYTES: usize = 4 * 1024;
/// Bytes of a conversion: 128 condition ids.
pub const CONVERT_BODY_BYTES: usize = 16 * 1024;
/// Bytes of one order and its wrapper.
pub const ORDER_BODY_BYTES: usize = 16 * 1024;
/// Bytes of a set of quotes: 64 condition ids and 64 words.
pub const QUOTES_BODY_BYTES: usize = 16 * 1024;
/// Bytes of a batch of orders, each up to the limit of a single order.
pub const ORDERS_BODY_BYTES: usize = ORDER_BODY_BYTES * MAX_ORDERS;
/// Bytes of a replace: its orders, and the ids to cancel.
pub const REPLACE_BODY_BYTES: usize = ORDERS_BODY_BYTES + SMALL_BODY_BYTES;
/// Bytes of a list: a thousand order ids, or five hundred token ids of 78 digits with their sides.
pub const LIST_BODY_BYTES: usize = 128 * 1024;
/// Bytes of an operator's registration. Its description becomes the evidence of a frame, and spaces
/// and escapes may lengthen the body.
pub const OPERATOR_BODY_BYTES: usize = 4 * MAX_EVIDENCE_BYTES;
/// Most nested arrays and objects of a body. The deepest valid body has four.
pub const MAX_DEPTH: usize = 32;
/// Orders of a batch.
pub const MAX_ORDERS: usize = 15;
/// Orders of a cancel.
pub const MAX_CANCELS: usize = 1_000;
/// Entries of a batch read.
pub const MAX_BATCH: usize = 500;
/// Markets of `GET /ui/api/markets/summary`.
pub const MAX_SUMMARY_MARKETS: usize = 100;
/// Tokens of a price history.
pub const MAX_HISTORY_TOKENS: usize = 20;
/// Bytes of an order id as a client names it.
pub const MAX_ORDER_ID_TEXT: usize = 128;
/// Bytes of a heartbeat id.
pub const MAX_HEARTBEAT_ID: usize = 64;

/// Requests in an array that a stream client sends as one message.
pub const MAX_STREAM_REQUESTS: usize = 1_000;

// Answers.

/// Ids in the list `unknown` of a stream subscription.
pub const MAX_UNKNOWN_IDS: usize = 100;

/// Characters of a client's text that an answer repeats.
pub const MAX_QUOTED_CHARACTERS: usize = 48;
/// Rows of a page of orders or trades.
pub const PAGE_ROWS: usize = 1_000;
/// Rows of a page of markets.
pub const PAGE_MARKETS: usize = 500;
/// Rows of `GET /builder/trades` as a bare array, newest first.
pub const BARE_BUILDER_ROWS: usize = 500;
/// Above every number in use; this exchange issues no cursor above it.
pub const MAX_OFFSET: u64 = 1_000_000_000_000_000_000;
/// Points of a price history, over all its tokens: about 3 MB. A week in minutes has 10,080 points,
/// ten years in half days 7,305.
pub const MAX_HISTORY_POINTS: usize = 100_000;

/// Largest `limit` of `GET /holders`.
pub const MAX_HOLDERS: u32 = 500;

/// Bounds of `limit` and `offset` of a list of the data surface.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PageBounds {
    /// Rows without a `limit`.
    pub default_rows: u32,
    /// Largest `limit`.
    pub max_rows: u32,
    /// Largest `offset`.
    pub max_offset: u32,
}

const fn page(default_rows: u32, max_rows: u32, max_offset: u32) -> PageBounds {
    PageBounds {
        default_rows,
        max_rows,
        max_offset,
    }
}

/// `GET /trades`
pub const TRADES_PAGE: PageBounds = page(100, 10_000, 10_000);
/// `GET /positions`
pub const POSITIONS_PAGE: PageBounds = page(100, 500, 10_000);
/// `GET /closed-positions`
pub const CLOSED_POSITIONS_PAGE: PageBounds = page(10, 50, 100_000);
/// `GET /v1/leaderboard` and `/v1/builders/leaderboard`
pub const LEADERBOARD_PAGE: PageBounds = page(25, 50, 1_000);
/// Builders of a day in `GET /v1/builders/volume`.
pub const MAX_BUILDERS_OF_DAY: usize = 50;
/// Rows of a page of version 2 of a list.
pub const MAX_V2_ROWS: u32 = 1_000;
/// Markets of `GET /v2/holders`: a cursor names the last holder of each of their tokens, and fits into
/// a query together with them.
pub const MAX_V2_HOLDER_MARKETS: usize = 50;
/// Characters of the `title` filter of `GET /v2/positions`.
pub const MAX_V2_TITLE: usize = 200;
/// Largest `limit` of `GET /v2/holders` with `include_pnl`.
pub const MAX_V2_PROFIT_HOLDERS: usize = 100;
/// Largest `limit` of `GET /v2/prices-history`, also the default.
pub const MAX_V2_POINTS: u32 = 10_000;
/// Days of `GET /v2/builders/volume`.
pub const MAX_V2_DAYS: u32 = 90;
/// `GET /activity`
pub const ACTIVITY_PAGE: PageBounds = page(100, 500, 10_000);
