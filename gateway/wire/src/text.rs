//! Numbers, times, ids and names as text.

pub mod decimal;
pub mod ids;
pub mod printable;
pub mod time;
pub mod words;
