//! The read model: a pure fold of journal frames into the state that gateways read.
//!
//! [`View::apply`] takes the next frame; everything else only reads. Each module holds one part of
//! the view (accounts, keys, markets, events, books, orders, trades, midpoints, positions, actions,
//! volume, system) with its queries, independent of the other parts. `fold` routes each event to
//! the parts it concerns; `query` has the queries that join two parts.
//!
//! A view has two halves.
//! - **Live state** is plain data in memory: accounts, keys, markets, books, live orders, open
//!   positions. Its size does not grow with history.
//! - **History** is trades, finished orders, changes of midpoints, closed positions, account
//!   actions, and lists over them. Each is a log of rows of one length (`row`, `log`), cut into
//!   chunks of a fixed number of rows (`chunk`). A full chunk never changes, and the journal alone
//!   determines its bytes. Lists are logs too (`list`): memory holds the newest posting of each
//!   list, and jump pointers reach any other in logarithmic time. Postings of filterable lists hold
//!   the filtered columns of a trade (`trade_entry`) and a summary of the postings they jump over
//!   (`trade_summary`). Rows with an id are found by it (`id_log`): each chunk carries an index,
//!   the tail has a hash table.
//!
//! [`View::image`] gives live state and tails as bytes, and lists the sealed chunks;
//! [`View::from_image`] restores the same view. [`View::adopt_chunk`] replaces a chunk by another
//! copy, such as a mapped file that all gateways share.
//!
//! Balances follow from the events alone, so a reader needs no rule of the exchange. The one
//! recomputed value is an order's limit price, from its signed amounts ([`Order::price`]).
//!
//! Deliberately absent: HTTP, JSON, matching, locks, clocks and files. To share a view between
//! threads, wrap it in a lock and apply one whole frame under it, so that no reader sees half of a
//! command. Bytes of files come in as [`ChunkBytes`]. The caller computes receipts from the
//! journal's bytes at [`Order::place`] and [`TradeRecord::place`].

mod account_market_lists;
mod accounts;
mod actions;
mod balance;
mod books;
mod builders;
mod chunk;
mod current_price;
mod dense;
mod error;
mod events;
mod fold;
mod history;
mod holders;
mod id_index;
mod id_log;
mod image;
mod keys;
mod list;
mod log;
mod markets;
mod merged_search;
mod midpoints;
mod order;
mod orders;
mod position;
mod positions;
mod price_history;
mod query;
mod row;
mod row_filter;
mod skip_rows;
mod slot;
mod slot_index;
mod system;
mod trade;
mod trade_columns;
mod trade_entry;
mod trade_filter;
mod trade_id;
mod trade_list;
mod trade_slot;
mod trade_summary;
mod trades;
mod view;
mod volume;

pub use accounts::{Account, Accounts};
pub use actions::{Action, ActionKind, Actions};
pub use balance::Balance;
pub use books::{Book, Books, LastTrade, Level, Levels, TokenBook};
pub use builders::{Builder, Builders};
pub use chunk::{ChunkBytes, Chunking};
pub use error::{FoldError, Impossible};
pub use events::{EventGroup, EventGroups};
pub use history::{ChunkCopy, ChunkMismatch, ChunkRef, LogName, SeenChunks};
pub use image::{Image, ImageError, VIEW_VERSION};
pub use keys::{Key, Keys};
pub use list::Summary;
pub use markets::{Market, Markets};
pub use merged_search::{MergePosition, MergedSearch};
pub use midpoints::{BucketSize, Midpoint};
pub use order::{Order, OrderState, UserStatus};
pub use orders::{EndedOrder, Orders};
pub use position::{Conversion, NotHeld, Position};
pub use positions::{ClosedPosition, OpenPosition, Positions};
pub use price_history::{PriceHistory, PricePoint};
pub use row_filter::RowFilter;
pub use skip_rows::skip_newest;
pub use system::{Domain, System};
pub use trade::{TradeRecord, TradeSide};
pub use trade_columns::{SideColumns, TradeColumns};
pub use trade_filter::{BuilderFilter, TradeFilter};
pub use trade_id::TradeId;
pub use trade_list::{FilterableTrades, TradeList, TradeSearch};
pub use trade_slot::TradeSlot;
pub use trades::Trades;
pub use view::View;
pub use volume::Volume;
