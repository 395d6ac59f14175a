//! Lists of version 2, `/v2/…`, that version 1 lacks (docs/api/data.md §7).

pub(crate) mod holders;
pub(crate) mod positions;
pub(crate) mod prices;
