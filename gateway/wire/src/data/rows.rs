//! What rows are made of, and their JSON.

pub(crate) mod figures;
pub(crate) mod fill_writer;
pub(crate) mod market_text;
pub(crate) mod view;
