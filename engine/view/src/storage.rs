//! How rows are kept: logs in chunks, lists over them, ids. Nothing here knows what a row means.

pub(crate) mod by_number;
pub(crate) mod chunk;
pub(crate) mod history;
pub(crate) mod id_index;
pub(crate) mod id_log;
pub(crate) mod list;
pub(crate) mod listed_log;
pub(crate) mod log;
pub(crate) mod packed_rows;
pub(crate) mod row;
pub(crate) mod slot;
pub(crate) mod tail_index;
