//! The read model: a pure fold of journal frames into the state that gateways read.
//!
//! [`View::apply`] takes the next frame; everything else only reads. `rows` has the parts of the view
//! (accounts, holdings, keys, markets, events, books, orders, trades, midpoints, positions, actions,
//! volume, standings, system, people, resolutions, work in the background, rebates), each with its
//! queries, and the byte form of each row.
//! `view` lists the parts, with the section of each in a snapshot; `history` lists their logs: a part is
//! added there and nowhere else.
//! `storage` keeps rows and does not know what they mean. `fold` routes each event to the parts it
//! concerns; `query` has the queries that join two parts.
//!
//! A view has two halves.
//! - **Live state** is plain data in memory: accounts, holdings, keys, markets, books, live orders.
//!   Of a holding without shares a small row remains, with the end of its list of trades.
//! - **History** is trades, finished orders, changes of midpoints, closed positions, account
//!   actions, and lists over them. Each is a log of rows of one length (`row`, `log`), cut into
//!   chunks of a fixed number of rows (`chunk`). A full chunk never changes, and the journal alone
//!   determines its bytes; rows of finished orders are packed in it (`packed_rows`). Lists are trees
//!   of nodes in logs (`list`): memory holds the end of each list, and spans reach any entry in
//!   logarithmic time. The row of a trade is its node in all lists of trades (`trade_nodes`), and
//!   their spans hold a summary of the trades they cover (`trade_summary`). Rows with an id are
//!   found by it (`id_log`): each chunk carries an index, the tail has a hash table.
//!
//! [`View::snapshot`] gives live state and tails as bytes, and lists the sealed chunks;
//! [`View::bootstrap`] restores the same view. [`View::adopt_chunk`] replaces a chunk by another
//! copy, such as a mapped file that all gateways share.
//!
//! An `observer` may watch the fold; `changes` is the one that collects what streams show of a frame.
//!
//! Balances follow from the events alone, so a reader needs no rule of the exchange. The one
//! recomputed value is an order's limit price, from its signed amounts ([`Order::price`]).
//!
//! Deliberately absent: HTTP, JSON, matching, locks, clocks and files. To share a view between
//! threads, wrap it in a lock and apply one whole frame under it, so that no reader sees half of a
//! command. Bytes of files come in as [`ChunkBytes`]. The caller computes receipts from the
//! journal's bytes at [`Order::place`] and [`TradeRecord::place`].

mod bootstrap;
mod changes;
mod error;
mod fold;
mod history;
mod observer;
mod part;
mod query;
mod rows;
mod snapshot;
mod storage;
mod view;

pub use changes::{BookBefore, Change, FrameChanges, LevelChange};
pub use error::{FoldError, Impossible};
pub use history::{ChunkCopy, ChunkMismatch, ChunkRef, LogName, SeenChunks};
pub use observer::Observer;
pub use query::merged_search::{MergePosition, MergedSearch};
pub use query::price_history::{PriceHistory, PricePoint};
pub use query::skip_rows::skip_newest;
pub use query::trade_columns::{SideColumns, TradeColumns};
pub use query::trade_filter::{BuilderFilter, TradeFilter};
pub use rows::accounts::{Account, Accounts};
pub use rows::actions::{Action, ActionKind, Actions, NO_MARKET};
pub use rows::background::{Background, BackgroundTask};
pub use rows::balance::Balance;
pub use rows::books::{Book, Books, LastTrade, Level, Levels, TokenBook};
pub use rows::builder_standings::{BUILDER_DAYS, BuilderStanding, BuilderStandings};
pub use rows::builders::{Builder, Builders};
pub use rows::events::{EventGroup, EventGroups};
pub use rows::holdings::{Holdings, OpenPosition};
pub use rows::keys::{Key, Keys};
pub use rows::markets::{Market, Markets};
pub use rows::midpoints::Midpoint;
pub use rows::order::{Order, OrderState, UserStatus};
pub use rows::orders::{Delay, EndedOrder, Orders};
pub use rows::people::{Operator, People};
pub use rows::position::{Basis, Conversion, NotHeld, Position};
pub use rows::positions::{ClosedPosition, Positions};
pub use rows::profiles::{Profile, Profiles};
pub use rows::rebates::{REBATE_DAYS, Rebate, Rebates};
pub use rows::resolution::{Dispute, ListedWallet, Policy, Proposal, Resolutions};
pub use rows::row_filter::RowFilter;
pub use rows::standings::{ACCOUNT_DAYS, Day, Standing, Standings};
pub use rows::system::{Domain, System};
pub use rows::trade::{TradeRecord, TradeSide, TradeSum};
pub use rows::trade_id::TradeId;
pub use rows::trade_list::{FilterableTrades, TradeList, TradeSearch};
pub use rows::trade_slot::TradeSlot;
pub use rows::trades::Trades;
pub use rows::volume::Volume;
pub use rows::withdrawals::{
    ShortText, WaitingWithdrawals, Withdrawal, WithdrawalStatus, Withdrawals,
};
pub use snapshot::{VIEW_VERSION, ViewSnapshot, ViewSnapshotError};
pub use storage::chunk::{ChunkBytes, Chunking};
pub use storage::list::Summary;
pub use view::View;
