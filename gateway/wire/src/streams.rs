//! The messages of the streams (docs/api/streams.md).
