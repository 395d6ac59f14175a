//! The public JSON, in and out: the only crate that knows it.
