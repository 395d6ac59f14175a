//! What a figure is compared with, in the same run.

pub(crate) mod array_book;
pub(crate) mod bare_publish;
pub(crate) mod bare_server;
pub(crate) mod checking_server;
pub(crate) mod group_sync;
pub(crate) mod serving_thread;
pub(crate) mod stream_servers;
pub(crate) mod sync_file;
