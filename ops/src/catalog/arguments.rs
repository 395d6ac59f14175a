//! Arguments of `foretell catalog`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

/// `foretell catalog`
#[derive(Debug, Subcommand)]
pub(crate) enum Catalog {
    /// Read an upstream into the catalog and update the exchange
    Sync(Sync),
    /// Import files into the catalog and update the exchange
    Import {
        /// JSON files, plain, gzip or zstd (`-` = standard input)
        #[arg(required = true)]
        files: Vec<PathBuf>,
        /// Leave the exchange unchanged
        #[arg(long)]
        catalog_only: bool,
    },
    /// List events, markets, series or tags
    List {
        /// List to print
        #[arg(value_enum, default_value_t = List::Events)]
        what: List,
        /// Query parameters, such as `closed=false limit=20`
        #[arg(value_name = "NAME=VALUE")]
        filters: Vec<String>,
    },
    /// Show one market or event
    Show {
        /// Market id, condition id or slug, or event slug
        name: String,
        /// Show an event
        #[arg(long)]
        event: bool,
    },
    /// Compare the catalog with the exchange; change nothing
    Check,
}

/// `foretell catalog sync`
#[derive(Debug, Args)]
pub(crate) struct Sync {
    /// Base URL of the upstream [default: catalog.upstream]
    pub upstream: Option<String>,
    /// Leave the exchange unchanged
    #[arg(long)]
    pub catalog_only: bool,
    /// Keep following changes
    #[arg(long)]
    pub follow: bool,
    /// Listen address of the operator surface
    #[arg(long, hide = true, value_name = "ADDRESS")]
    pub operator_listen: Option<std::net::SocketAddr>,
    /// Stop when this parent process ends
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
