//! Messages of the streams.

pub(crate) mod book_copy;
pub(crate) mod encoder;
pub(crate) mod facts;
pub(crate) mod price_levels;
pub(crate) mod text_frame;
pub(crate) mod user_encoder;
pub(crate) mod user_facts;
