//! Arguments of `foretell bench`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::load;

/// `foretell bench`
#[derive(Debug, Args)]
pub(crate) struct Bench {
    /// Save the report as JSON for `compare` and `report`
    #[arg(long, global = true, value_name = "FILE")]
    pub save: Option<PathBuf>,
    /// Save all single durations as an HdrHistogram log
    #[arg(long, global = true, value_name = "FILE")]
    pub hlog: Option<PathBuf>,
    /// Measurement
    #[command(subcommand)]
    pub what: What,
}

/// A measurement, or a command about reports and streams.
#[derive(Debug, Subcommand)]
pub(crate) enum What {
    /// Measurements
    #[command(flatten)]
    Measure(Measurement),
    /// Compare two saved reports; exit code 5 = worse beyond noise
    Compare {
        /// Earlier report
        before: PathBuf,
        /// Later report
        after: PathBuf,
    },
    /// Draw saved reports and .hlog files as an HTML page
    Report {
        /// Files written by --save or --hlog
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
        /// HTML file [default: standard output]
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
    },
    /// Write an order stream: equal arguments give equal bytes
    Stream {
        /// Output file
        out: PathBuf,
        /// Number of markets, drawn by Zipf's law
        markets: u32,
        /// Number of commands
        commands: usize,
        /// Approximate number of resting orders
        live: u32,
    },
}

/// A measurement, which produces a report.
#[derive(Debug, Subcommand)]
pub(crate) enum Measurement {
    /// Run every measurement (within 15 minutes on two cores)
    All {
        /// Run only these parts, by the names in the output
        #[arg(long, value_name = "NAME", value_delimiter = ';')]
        only: Vec<String>,
        /// Baseline command: processes $STREAM, prints `N ns/op`
        #[arg(long, value_name = "COMMAND")]
        reference: Option<String>,
        /// Directory for temporary data, about 5 GB [default: the system's]
        #[arg(long, value_name = "DIR")]
        scratch: Option<PathBuf>,
    },
    /// Compare the matching core with a bare array book
    Match {
        /// Order stream file
        #[arg(long, value_name = "FILE")]
        stream: PathBuf,
        /// Runs of every lane; medians are reported
        #[arg(long, default_value_t = 5)]
        rounds: usize,
        /// Baseline command: processes $STREAM, prints `N ns/op`
        #[arg(long, value_name = "COMMAND")]
        reference: Option<String>,
    },
    /// Measure frame encoding and durable acknowledgements
    Journal {
        /// Rounds; medians are reported
        #[arg(long, default_value_t = 7)]
        rounds: usize,
        /// Orders per round, one at a time
        #[arg(long, default_value_t = 300, value_parser = clap::value_parser!(u32).range(1..))]
        orders: u32,
        /// Seconds per round at half load
        #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
        seconds: u64,
        /// Directory for temporary data [default: the system's]
        #[arg(long, value_name = "DIR")]
        scratch: Option<PathBuf>,
    },
    /// Re-execute a journal and time each part of the replay
    Replay {
        /// Commands in the journal
        #[arg(long, default_value_t = 1_000_000)]
        commands: usize,
        /// Runs; medians are reported
        #[arg(long, default_value_t = 5)]
        rounds: usize,
        /// Directory for temporary data [default: the system's]
        #[arg(long, value_name = "DIR")]
        scratch: Option<PathBuf>,
    },
    /// Compare matching with 1,000 and 100,000 registered markets
    Markets {
        /// Commands in the stream
        #[arg(long, default_value_t = 2_000_000)]
        commands: usize,
        /// Runs of every lane; medians are reported
        #[arg(long, default_value_t = 5)]
        rounds: usize,
    },
    /// Publish snapshots of histories of three lengths
    Snapshots {
        /// Trades of the longest history; the others have 10% and 30%
        #[arg(long, default_value_t = 1_000_000, value_parser = clap::value_parser!(u32).range(100..))]
        trades: u32,
        /// Directory for temporary data [default: the system's]
        #[arg(long, value_name = "DIR")]
        scratch: Option<PathBuf>,
    },
    /// Restart an engine on a journal of resting orders
    Recover {
        /// Placements in the journal
        #[arg(long, default_value_t = 1_000_000, value_parser = clap::value_parser!(u32).range(1..))]
        orders: u32,
        /// Restarts; medians are reported
        #[arg(long, default_value_t = 5)]
        rounds: usize,
        /// Directory for temporary data [default: the system's]
        #[arg(long, value_name = "DIR")]
        scratch: Option<PathBuf>,
    },
    /// Time durable signed orders through gateway and engine
    Entry {
        /// Orders, one at a time
        #[arg(long, default_value_t = 2_000, value_parser = clap::value_parser!(u32).range(1..))]
        orders: u32,
        /// Rounds; the ratio to the baseline is their median
        #[arg(long, default_value_t = 10)]
        rounds: u32,
        /// Directory for temporary data [default: the system's]
        #[arg(long, value_name = "DIR")]
        scratch: Option<PathBuf>,
    },
    /// Audit a journal of mixed traffic and one of resting orders
    Audit {
        /// Commands in each journal
        #[arg(long, default_value_t = 1_000_000, value_parser = clap::value_parser!(u32).range(1..))]
        orders: u32,
        /// Sign the orders and check the signatures on all cores
        #[arg(long)]
        signatures: bool,
        /// Execute every command by the reference exchange, too
        #[arg(long, conflicts_with = "signatures")]
        reference: bool,
        /// Audits; medians are reported
        #[arg(long, default_value_t = 5)]
        rounds: usize,
        /// Directory for temporary data [default: the system's]
        #[arg(long, value_name = "DIR")]
        scratch: Option<PathBuf>,
    },
    /// Start gateways on a long history and time snapshots
    Start {
        /// Trades of the long history; other histories have 10%
        #[arg(long, default_value_t = 10_000_000, value_parser = clap::value_parser!(u32).range(1_000..))]
        trades: u32,
        /// Starts per history, rounds per lane; medians are reported
        #[arg(long, default_value_t = 3)]
        rounds: usize,
        /// Seconds per round
        #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..))]
        seconds: u64,
        /// Directory; 10 million trades need 20 GB [default: the system's]
        #[arg(long, value_name = "DIR")]
        scratch: Option<PathBuf>,
    },
    /// Send orders, cancels and reads at a constant rate
    #[command(long_about = load::ABOUT)]
    Load(Box<load::Arguments>),
    /// Time every data surface query on a long history
    Data {
        /// Trades in the history
        #[arg(long, default_value_t = 10_000_000, value_parser = clap::value_parser!(u32).range(1_000..))]
        trades: u32,
        /// Wallets in the history; activity follows Zipf's law
        #[arg(long, default_value_t = 100_000, value_parser = clap::value_parser!(u32).range(100..))]
        wallets: u32,
        /// Markets in the history; activity follows Zipf's law
        #[arg(long, default_value_t = 5_000, value_parser = clap::value_parser!(u32).range(2..))]
        markets: u32,
        /// Rounds of 20 requests per query, and of the baseline server
        #[arg(long, default_value_t = 5)]
        rounds: usize,
        /// Cache directory; 10 million trades need 20 GB [default: the system's directory of
        /// temporary files]
        #[arg(long, value_name = "DIR")]
        cache: Option<PathBuf>,
    },
    /// Import a large catalog and time its queries
    Catalog {
        /// Events in the catalog, four markets each
        #[arg(long, default_value_t = 50_000, value_parser = clap::value_parser!(u32).range(1..))]
        events: u32,
        /// Requests per query
        #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u32).range(1..))]
        rounds: u32,
        /// Cache directory; 50,000 events need 3 GB [default: foretell-bench-catalog in the
        /// system's directory of temporary files]
        #[arg(long, value_name = "DIR")]
        cache: Option<PathBuf>,
    },
    /// Time public reads, and from acknowledgement to read
    Reads {
        /// Rounds of every read; medians are reported
        #[arg(long, default_value_t = 5)]
        rounds: usize,
        /// Seconds to sample the delay
        #[arg(long, default_value_t = 10)]
        seconds: u64,
        /// Directory for temporary data [default: the system's]
        #[arg(long, value_name = "DIR")]
        scratch: Option<PathBuf>,
    },
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Debug, Parser)]
    struct Alone {
        #[command(flatten)]
        bench: Bench,
    }

    fn bench(arguments: &[&str]) -> Result<Bench, clap::Error> {
        let words = ["bench"].iter().chain(arguments);
        Alone::try_parse_from(words).map(|alone| alone.bench)
    }

    #[test]
    fn measurements_have_defaults_and_need_an_order() {
        let entry = bench(&["entry", "--save", "/r"]).unwrap();
        assert_eq!((entry.save, entry.hlog), (Some(PathBuf::from("/r")), None));
        let What::Measure(Measurement::Entry {
            orders: 2_000,
            rounds: 10,
            scratch: None,
        }) = entry.what
        else {
            panic!("{:?}", entry.what);
        };
        let recover = bench(&["recover", "--orders", "7", "--scratch", "/x"]).unwrap();
        let What::Measure(Measurement::Recover {
            orders: 7,
            rounds: 5,
            scratch: Some(scratch),
        }) = recover.what
        else {
            panic!("{:?}", recover.what);
        };
        assert_eq!(scratch, PathBuf::from("/x"));
        assert!(bench(&["recover", "--orders", "0"]).is_err());
        assert!(bench(&["entry", "--orders", "0"]).is_err());
    }
}
