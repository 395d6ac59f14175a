//! Arguments of `foretell catalog`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

/// `foretell catalog`
#[derive(Debug, Subcommand)]
pub(crate) enum Catalog {
    /// Read an upstream into the catalog and bring the exchange in step
    Sync(Sync),
    /// Put files of records into the catalog and bring the exchange in step
    Import {
        /// JSON arrays, JSON lines or wrapped lists; plain, gzip or zstd; `-` = standard input
        #[arg(required = true)]
        files: Vec<PathBuf>,
        /// Leave the exchange as it is
        #[arg(long)]
        catalog_only: bool,
    },
    /// List events, markets, series or tags
    List {
        /// Which
        #[arg(value_enum, default_value_t = List::Events)]
        what: List,
        /// Filters and pages as on the catalog surface: `closed=false tag=politics limit=20`
        #[arg(value_name = "NAME=VALUE")]
        filters: Vec<String>,
    },
    /// Show one market or event
    Show {
        /// A market's id, condition id or slug, or an event's slug
        name: String,
        /// Look for an event
        #[arg(long)]
        event: bool,
    },
    /// Compare the catalog with the exchange and change nothing
    Check,
}

/// `foretell catalog sync`
#[derive(Debug, Args)]
pub(crate) struct Sync {
    /// Base URL of the upstream [default: catalog.upstream]
    pub upstream: Option<String>,
    /// Leave the exchange as it is
    #[arg(long)]
    pub catalog_only: bool,
    /// Go on looking for changes
    #[arg(long)]
    pub follow: bool,
    /// Where the operator surface listens
    #[arg(long, hide = true, value_name = "ADDRESS")]
    pub operator_listen: Option<std::net::SocketAddr>,
    /// Stop when this process, which started us, ends
    #[arg(long, hide = true, value_name = "PID")]
    pub supervised: Option<i32>,
}

/// A list of the catalog.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum List {
    /// Events
    Events,
    /// Markets
    Markets,
    /// Series
    Series,
    /// Tags
    Tags,
}
