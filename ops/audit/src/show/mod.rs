//! The answers of the commands: each is one struct, whose fields are its JSON and whose display is
//! its text.

pub(crate) mod counts;
pub(crate) mod csv_file;
pub(crate) mod diff;
pub(crate) mod export;
pub(crate) mod lookup;
pub(crate) mod operators;
pub(crate) mod replay;
pub(crate) mod report;
pub(crate) mod set_aside;
pub(crate) mod shown_frame;
