//! Arguments of `foretell bench`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::load;

/// `foretell bench`
#[derive(Debug, Args)]
pub(crate) struct Bench {
    /// Keep the report as JSON in this file as well, for `bench compare` and `bench report`
    #[arg(long, global = true, value_name = "FILE")]
    pub save: Option<PathBuf>,
    /// Keep the single durations in this file, as an HdrHistogram log
    #[arg(long, global = true, value_name = "FILE")]
    pub hlog: Option<PathBuf>,
    /// What to measure
    #[command(subcommand)]
    pub what: What,
}

/// A measurement, or what belongs to it.
#[derive(Debug, Subcommand)]
pub(crate) enum What {
    /// What ends in a report
    #[command(flatten)]
    Measure(Measurement),
    /// Compare two kept reports: exit code 5 when anything got worse beyond the noise
    Compare {
        /// The earlier report
        before: PathBuf,
        /// The later report
        after: PathBuf,
    },
    /// Draw kept reports and histogram logs (.hlog) as one HTML page that needs nothing beside it
    Report {
        /// Files that --save or --hlog has written
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
        /// File of the page [default: standard output]
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
    },
    /// Write an order stream: the same arguments give the same bytes
    Stream {
        /// File to write
        out: PathBuf,
        /// Markets, drawn by zipf's law
        markets: u32,
        /// Commands
        commands: usize,
        /// Orders that rest, about
        live: u32,
    },
}

/// A measurement: it ends in a report.
#[derive(Debug, Subcommand)]
pub(crate) enum Measurement {
    /// Everything, within a quarter of an hour on two cores, and the table of all goals
    All {
        /// Only these, by the names they are shown with
        #[arg(long, value_name = "NAME", value_delimiter = ';')]
        only: Vec<String>,
        /// Somebody else's floor: a shell command that works through $STREAM and prints `N ns/op`
        #[arg(long, value_name = "COMMAND")]
        reference: Option<String>,
        /// Where temporary directories are made; about 5 GB are needed [default: the system's]
        #[arg(long, value_name = "DIR")]
        scratch: Option<PathBuf>,
    },
    /// Compare the matching core with a bare array book over an order stream
    Match {
        /// File of the stream
        #[arg(long, value_name = "FILE")]
        stream: PathBuf,
        /// Times every lane is run; the medians are reported
        #[arg(long, default_value_t = 5)]
        rounds: usize,
        /// Somebody else's floor: a shell command that works through $STREAM and prints `N ns/op`
        #[arg(long, value_name = "COMMAND")]
        reference: Option<String>,
    },
    /// Encode frames beside copying them, and have orders acknowledged beside a bare sync
    Journal {
        /// Turns of everything; the medians are reported
        #[arg(long, default_value_t = 7)]
        rounds: usize,
        /// Orders of a turn, one after the other
        #[arg(long, default_value_t = 300, value_parser = clap::value_parser!(u32).range(1..))]
        orders: u32,
        /// Seconds of a turn at half load
        #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
        seconds: u64,
        /// Where the temporary directory is made [default: the system's]
        #[arg(long, value_name = "DIR")]
        scratch: Option<PathBuf>,
    },
    /// Execute a journal again, part by part: checksums, records, commands, chain, receipts, signatures
    Replay {
        /// Commands of the journal
        #[arg(long, default_value_t = 1_000_000)]
        commands: usize,
        /// Times it is read; the medians are reported
        #[arg(long, default_value_t = 5)]
        rounds: usize,
        /// Where the temporary directory is made [default: the system's]
        #[arg(long, value_name = "DIR")]
        scratch: Option<PathBuf>,
    },
    /// Match among 1,000 markets and among 100,000 that are registered
    Markets {
        /// Commands of the stream
        #[arg(long, default_value_t = 2_000_000)]
        commands: usize,
        /// Times every lane is run; the medians are reported
        #[arg(long, default_value_t = 5)]
        rounds: usize,
    },
    /// Publish snapshots of three lengths of history over the same live state
    Snapshots {
        /// Trades of the longest history; the others have a tenth and three tenths
        #[arg(long, default_value_t = 1_000_000, value_parser = clap::value_parser!(u32).range(100..))]
        trades: u32,
        /// Where the temporary directory is made [default: the system's]
        #[arg(long, value_name = "DIR")]
        scratch: Option<PathBuf>,
    },
    /// Restart an engine on a journal of resting orders, beside reading its files
    Recover {
        /// Placements in the journal
        #[arg(long, default_value_t = 1_000_000, value_parser = clap::value_parser!(u32).range(1..))]
        orders: u32,
        /// Restarts; the medians are reported
        #[arg(long, default_value_t = 5)]
        rounds: usize,
        /// Where the temporary directory is made [default: the system's]
        #[arg(long, value_name = "DIR")]
        scratch: Option<PathBuf>,
    },
    /// Send signed orders to an engine and a gateway, beside a bare sync and signature check
    Entry {
        /// Orders, one after the other
        #[arg(long, default_value_t = 2_000, value_parser = clap::value_parser!(u32).range(1..))]
        orders: u32,
        /// Turns of orders and floor; the ratio is the median of theirs
        #[arg(long, default_value_t = 10)]
        rounds: u32,
        /// Where the temporary directory is made [default: the system's]
        #[arg(long, value_name = "DIR")]
        scratch: Option<PathBuf>,
    },
    /// Audit a journal of traffic and one of resting orders: bytes, re-execution, rules, signatures
    Audit {
        /// Commands of each journal
        #[arg(long, default_value_t = 1_000_000, value_parser = clap::value_parser!(u32).range(1..))]
        orders: u32,
        /// Sign them, and check the signatures on all cores
        #[arg(long)]
        signatures: bool,
        /// Audits; the median is reported
        #[arg(long, default_value_t = 5)]
        rounds: usize,
        /// Where the temporary directory is made [default: the system's]
        #[arg(long, value_name = "DIR")]
        scratch: Option<PathBuf>,
    },
    /// Start gateways on a long history, and see what snapshots cost
    Start {
        /// Trades of the long history; other histories have a tenth
        #[arg(long, default_value_t = 10_000_000, value_parser = clap::value_parser!(u32).range(1_000..))]
        trades: u32,
        /// Starts on each history, and turns of each lane; the medians are reported
        #[arg(long, default_value_t = 3)]
        rounds: usize,
        /// Seconds of a turn
        #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..))]
        seconds: u64,
        /// Where the temporary directory is made; ten million trades need 20 GB [default: the system's]
        #[arg(long, value_name = "DIR")]
        scratch: Option<PathBuf>,
    },
    /// Send orders, cancels and reads at a constant rate, to an exchange of its own or yours
    #[command(long_about = load::ABOUT)]
    Load(Box<load::Arguments>),
    /// Ask the data surface everything on a long history, beside a bare HTTP server
    Data {
        /// Trades of the history
        #[arg(long, default_value_t = 10_000_000, value_parser = clap::value_parser!(u32).range(1_000..))]
        trades: u32,
        /// Its wallets; their activity follows zipf's law
        #[arg(long, default_value_t = 100_000, value_parser = clap::value_parser!(u32).range(100..))]
        wallets: u32,
        /// Its markets; so does theirs
        #[arg(long, default_value_t = 5_000, value_parser = clap::value_parser!(u32).range(2..))]
        markets: u32,
        /// Rounds of the queries, each asked twenty times in one, and turns with the bare server
        #[arg(long, default_value_t = 5)]
        rounds: usize,
        /// Where the history is made, and kept for the next time; ten million trades need 20 GB
        /// [default: the system's directory of temporary files]
        #[arg(long, value_name = "DIR")]
        cache: Option<PathBuf>,
    },
    /// Import a large catalog and ask it for lists, records and searches, also while a sync writes
    Catalog {
        /// Events of the catalog, each with four markets
        #[arg(long, default_value_t = 50_000, value_parser = clap::value_parser!(u32).range(1..))]
        events: u32,
        /// Times everything is asked
        #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u32).range(1..))]
        rounds: u32,
        /// Where the catalog is made, and kept for the next time; fifty thousand events need 3 GB
        /// [default: foretell-bench-catalog in the system's directory of temporary files]
        #[arg(long, value_name = "DIR")]
        cache: Option<PathBuf>,
    },
    /// Read books and prices beside a bare HTTP server, and see how soon acknowledged orders show
    Reads {
        /// Times every read is measured; the medians are reported
        #[arg(long, default_value_t = 5)]
        rounds: usize,
        /// Seconds for which acknowledgements are followed
        #[arg(long, default_value_t = 10)]
        seconds: u64,
        /// Where the temporary directory is made [default: the system's]
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
