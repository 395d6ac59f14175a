//! What an auditor may ask.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::text::{Until, parse_hash, parse_until};

/// `foretell audit`
#[derive(Debug, Args)]
#[command(
    after_help = "Exit codes: 0 sound · 1 cannot be read · 2 wrong arguments · 3 damaged · \
4 contradicts re-execution · 5 signature · 6 rule broken · 7 journals differ · 8 not found"
)]
pub(crate) struct Audit {
    /// Directory of the segments, a copy included [default: journal in the data directory]
    #[arg(long, global = true, value_name = "DIR")]
    pub journal: Option<PathBuf>,
    /// What to do
    #[command(subcommand)]
    pub what: What,
}

/// The auditor's commands.
#[derive(Debug, Subcommand)]
pub(crate) enum What {
    /// Check bytes, chain, every event by re-execution, money, priority and limits
    Verify {
        /// Check every order's signature too, on all cores
        #[arg(long)]
        signatures: bool,
        /// Threads that check signatures [default: one a core]
        #[arg(long, value_name = "COUNT", requires = "signatures",
              value_parser = clap::value_parser!(u16).range(1..=1024))]
        threads: Option<u16>,
        /// Signed checkpoints that were kept elsewhere, as `/audit/checkpoint(s)` gives them (JSON)
        #[arg(long, value_name = "FILE", requires = "checkpoint_key")]
        checkpoints: Option<PathBuf>,
        /// The public key they must be signed with: 64 hex digits, or a file that holds them
        #[arg(long, value_name = "KEY|FILE", requires = "checkpoints")]
        checkpoint_key: Option<String>,
        /// Compare the states that the journal attests with those of re-execution; reads it once more
        #[arg(long)]
        attestations: bool,
    },
    /// Execute the commands again up to a point: digest, books, balances there
    Replay {
        /// A sequence, or a time such as 2026-11-20T12:00:00Z [default: the end]
        #[arg(long, value_name = "SEQUENCE|TIME", value_parser = parse_until)]
        until: Option<Until>,
    },
    /// One frame in words: command, events, evidence, receipt, place in the chain
    Show {
        /// Its sequence
        #[arg(value_parser = clap::value_parser!(u64).range(1..))]
        sequence: u64,
    },
    /// The frame, and so the trades, behind a transaction hash, and its place in the chain
    Receipt {
        /// 0x and 64 hex digits
        #[arg(value_parser = parse_hash)]
        hash: [u8; 32],
    },
    /// Write tables as CSV
    Export(Export),
    /// Where two journals part; a copy and the journal that went on are no difference
    Diff {
        /// Directory of one journal
        first: PathBuf,
        /// Directory of the other
        second: PathBuf,
    },
}

/// `foretell audit export`
#[derive(Debug, Args)]
#[group(required = true, multiple = true)]
pub(crate) struct Export {
    /// Every trade
    #[arg(long, value_name = "FILE")]
    pub trades: Option<PathBuf>,
    /// Every order and how it ended
    #[arg(long, value_name = "FILE")]
    pub orders: Option<PathBuf>,
    /// What every wallet has at the end
    #[arg(long, value_name = "FILE")]
    pub balances: Option<PathBuf>,
}
