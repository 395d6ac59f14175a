//! Opens a journal and reads its frames, verifying bytes, chain, sequences and times on the way.

pub(crate) mod inclusion;
pub(crate) mod source;
