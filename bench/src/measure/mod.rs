//! One measurement a file. Each scope is the arguments of its command; [`Measurement`] lists all.

mod all;
mod audit;
mod core_step;
mod data;
mod entry;
mod fold;
mod journal;
mod lap;
pub mod load;
mod quotes;
mod reads;
mod recover;
pub mod replay;
mod replicate;
mod signatures;
mod streams;

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, Subcommand};
use tempfile::TempDir;

use crate::error::MeasureError;
use crate::report::Report;
use crate::workloads::history::{MAKERS, Shape};

/// A measurement, which produces a report.
#[derive(Debug, Subcommand)]
pub enum Measurement {
    /// Run every measurement but replicate, in 15 minutes
    All(all::AllScope),
    /// Compare the matching core with a bare array book
    Match(core_step::MatchScope),
    /// Measure durable acknowledgements
    Journal(journal::JournalScope),
    /// Re-execute a journal and time each part of the replay
    Replay(replay::ReplayScope),
    /// Time what a command costs publisher and gateways
    Fold(fold::FoldScope),
    /// Start engines on resting orders and gateways on a long history
    Recover(recover::RecoverScope),
    /// Compare the check of a known signer with a recovery
    Signatures(signatures::SignaturesScope),
    /// Time durable signed orders through gateway and engine
    Entry(entry::EntryScope),
    /// Compare signed sets of quotes with single orders and batches
    Quotes(quotes::QuotesScope),
    /// Send orders, cancels and reads at a constant rate
    #[command(long_about = load::ABOUT)]
    Load(Box<load::LoadScope>),
    /// Time every query of the data surface and of a catalog
    Data(data::DataScope),
    /// Time public reads, and from acknowledgement to read
    Reads(reads::ReadsScope),
    /// Send stream messages to many connections
    Streams(streams::StreamsScope),
    /// Compare replicated acknowledgements with a bare client
    Replicate(replicate::ReplicateScope),
    /// Audit a journal of mixed traffic and one of resting orders
    Audit(audit::AuditScope),
}

impl Measurement {
    /// Runs it. Gateways are started as processes of the running program.
    ///
    /// # Errors
    /// The disk, an engine, a gateway or the network fails, or an answer is wrong.
    pub fn run(&self) -> Result<Report, MeasureError> {
        match self {
            Self::All(scope) => scope.run(),
            Self::Match(scope) => core_step::measure(scope),
            Self::Journal(scope) => journal::measure(scope),
            Self::Replay(scope) => replay::measure(scope),
            Self::Fold(scope) => fold::measure(scope),
            Self::Recover(scope) => recover::measure(scope),
            Self::Signatures(scope) => signatures::measure(scope),
            Self::Entry(scope) => entry::measure(scope),
            Self::Quotes(scope) => quotes::measure(scope),
            Self::Load(scope) => load::measure(scope),
            Self::Data(scope) => data::measure(scope),
            Self::Reads(scope) => reads::measure(scope),
            Self::Streams(scope) => streams::measure(scope),
            Self::Replicate(scope) => replicate::measure(scope),
            Self::Audit(scope) => audit::measure(scope),
        }
    }
}

/// Parses a duration in seconds; the longest is a week.
fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok();
    let seconds = seconds.filter(|seconds| (0.1..=604_800.0).contains(seconds));
    let seconds = seconds.map(Duration::from_secs_f64);
    seconds.ok_or_else(|| "not a number of seconds from 0.1 to 604800".to_owned())
}

/// Wallets and markets of a history.
#[derive(Clone, Copy, Default, Debug, Args)]
pub struct HistorySize {
    /// Wallets in the history [default: by the number of trades]
    #[arg(long, value_parser = clap::value_parser!(u32).range(100..))]
    wallets: Option<u32>,
    /// Markets in the history [default: by the number of trades]
    #[arg(long, value_parser = clap::value_parser!(u32).range(2..))]
    markets: Option<u32>,
}

impl HistorySize {
    /// The history with this number of trades and few live orders.
    fn shape(self, trades: u32) -> Shape {
        Shape {
            trades: trades.into(),
            live_orders: trades / 1_000,
            crowd: match self.wallets {
                Some(wallets) => wallets - MAKERS,
                None => (trades / 100).min(100_000),
            },
            markets: (self.markets).unwrap_or_else(|| (trades / 2_000).clamp(2, 5_000)),
            lived: false,
        }
    }
}

/// Where temporary data is written.
#[derive(Clone, Default, Debug, Args)]
pub struct ScratchDir {
    /// Directory for temporary data [default: the system's]
    #[arg(long = "scratch", value_name = "DIR")]
    parent: Option<PathBuf>,
}

impl ScratchDir {
    /// Temporary data under `parent`.
    #[must_use]
    pub fn under(parent: &Path) -> Self {
        Self {
            parent: Some(parent.to_owned()),
        }
    }

    /// The parent of temporary directories, as an absolute path.
    ///
    /// # Errors
    /// There is no working directory.
    pub fn parent(&self) -> Result<PathBuf, MeasureError> {
        let parent = self.parent.clone().unwrap_or_else(std::env::temp_dir);
        std::path::absolute(parent).map_err(MeasureError::io("finding the working directory"))
    }

    /// Makes a temporary directory named after `bench`.
    pub(crate) fn directory(&self, bench: &str) -> Result<TempDir, MeasureError> {
        tempfile::Builder::new()
            .prefix(&format!("foretell-{bench}-"))
            .tempdir_in(self.parent()?)
            .map_err(MeasureError::io("making a temporary directory"))
    }
}
