//! The read model: a pure fold of journal frames into what gateways answer from.
//!
//! [`View::apply`] takes the next frame; everything else only reads. One file holds one view
//! (accounts, keys, markets, events, books, orders, trades, midpoints, positions, actions,
//! turnover, system), knows no other, and lists its queries; `fold` routes each event to the views it concerns; `query` has the few
//! answers that join two views.
//!
//! A view has two halves.
//! - **What lives** is plain data in memory: accounts, keys, markets, books, live orders, open
//!   positions. Only the present sets its size.
//! - **History** is trades, finished orders, changes of midpoints, closed positions, account
//!   actions, and the lists of what concerns whom. Each is a log of rows of one length (`row`, `log`), cut into chunks of a fixed number
//!   of rows (`chunk`). A full chunk never changes, and its bytes follow from the journal alone.
//!   Lists are logs too (`list`): memory holds the newest entry of each, jumps lead back to any
//!   place in logarithmic time. The lists that queries filter tell what each trade is (`trade_rows`), and
//!   count and bound what they jump over (`span`). Rows with a name are found by it (`named`): each chunk carries an
//!   index, the open tail has a table.
//!
//! [`View::image`] gives what lives and the open tails as bytes, and lists the sealed chunks;
//! [`View::from_image`] makes the same view of them. [`View::adopt_chunk`] exchanges a chunk for
//! another copy of it, such as the mapping of a file that all gateways share.
//!
//! Balances follow from the events alone, so a reader needs no rule of the exchange. The one
//! thing recomputed is an order's limit price, which its signed amounts give
//! ([`Order::price`]).
//!
//! Deliberately absent: HTTP, JSON, matching, locks, clocks and files. Whoever shares a view
//! between threads wraps it in a lock of its own and applies one whole frame under it, so that a
//! reader never sees half of a command. Whoever has files gives their bytes as [`ChunkBytes`].
//! Receipts are computed by the caller from the journal's bytes at [`Order::place`] and
//! [`TradeRecord::place`].

mod accounts;
mod actions;
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
mod holding;
mod image;
mod keys;
mod list;
mod log;
mod markets;
mod merged;
mod midpoints;
mod named;
mod order;
mod orders;
mod pairs;
mod passing;
mod position;
mod positions;
mod price_history;
mod query;
mod row;
mod slot;
mod slot_index;
mod slots;
mod sought;
mod span;
mod system;
mod trade;
mod trade_filter;
mod trade_glance;
mod trade_id;
mod trade_rows;
mod trades;
mod turnover;
mod view;

pub use accounts::{Account, Accounts};
pub use actions::{Action, ActionKind, Actions};
pub use books::{Book, Books, LastTrade, Level, Levels, TokenBook};
pub use builders::{Builder, Builders};
pub use chunk::{ChunkBytes, Chunking};
pub use error::{FoldError, Impossible};
pub use events::{EventEntry, Events};
pub use history::{ChunkCopy, ChunkRef, LogName, OtherContent, Seen};
pub use holding::Holding;
pub use image::{Image, ImageError, VIEW_VERSION};
pub use keys::{Key, Keys};
pub use list::Summary;
pub use markets::{Market, Markets};
pub use merged::{Merged, Paused};
pub use midpoints::{BucketSize, Midpoint};
pub use order::{Order, OrderState, UserStatus};
pub use orders::{Ended, Orders};
pub use passing::pass_newest;
pub use position::{Conversion, NotHeld, Position};
pub use positions::{ClosedPosition, OpenPosition, Positions};
pub use price_history::{PriceHistory, PricePoint};
pub use slots::{Search, Slots, ToldSlots};
pub use sought::Sought;
pub use system::{Domain, System};
pub use trade::{TradeRecord, TradeSide, TradeSlot};
pub use trade_filter::{CarriedBuilder, TradeFilter};
pub use trade_glance::{SideGlance, TradeGlance};
pub use trade_id::TradeId;
pub use trades::Trades;
pub use turnover::Turnover;
pub use view::View;
