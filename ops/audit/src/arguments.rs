//! Arguments of `foretell audit`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::text::{Until, parse_hash, parse_until};

/// `foretell audit`
#[derive(Debug, Args)]
#[command(
    after_help = "Exit codes: 0 sound · 1 cannot be read · 2 wrong arguments · 3 damaged · \
4 contradicts re-execution · 5 signature · 6 rule broken · 7 journals differ · 8 not found"
)]
pub struct Audit {
    /// Journal directory or a copy of it [default: journal in the data directory]
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) journal: Option<PathBuf>,
    /// Command
    #[command(subcommand)]
    pub(crate) what: AuditCommand,
}

/// Commands of the auditor.
#[derive(Debug, Subcommand)]
pub(crate) enum AuditCommand {
    /// Verify bytes, chain, re-execution, evidence, money
    Verify {
        /// Check every order's signature too, on all cores
        #[arg(long)]
        signatures: bool,
        /// Threads that check signatures [default: one per core]
        #[arg(long, value_name = "COUNT", requires = "signatures",
              value_parser = clap::value_parser!(u16).range(1..=1024))]
        threads: Option<u16>,
        /// Execute every command by the reference exchange, too
        #[arg(long)]
        reference: bool,
        /// JSON file of checkpoints saved from `/audit/checkpoint(s)`
        #[arg(long, value_name = "FILE", requires = "checkpoint_key")]
        checkpoints: Option<PathBuf>,
        /// Public key of the checkpoints: 64 hex digits or a file
        #[arg(long, value_name = "KEY|FILE", requires = "checkpoints")]
        checkpoint_key: Option<String>,
        /// Compare attested states too; reads the journal twice
        #[arg(long)]
        attestations: bool,
    },
    /// Re-execute up to a point and print digest, books, balances
    Replay {
        /// Sequence or time such as 2026-11-20T12:00:00Z [default: the end]
        #[arg(long, value_name = "SEQUENCE|TIME", value_parser = parse_until)]
        until: Option<Until>,
    },
    /// Print a frame: command, events, evidence, receipt, chain
    Show {
        /// Sequence of the frame
        #[arg(value_parser = clap::value_parser!(u64).range(1..), required_unless_present = "set_aside")]
        sequence: Option<u64>,
        /// Print frames of this file of `journal/set-aside` instead
        #[arg(long, value_name = "FILE")]
        set_aside: Option<PathBuf>,
    },
    /// Find the frame of a transaction hash and its chain position
    Receipt {
        /// 0x and 64 hex digits
        #[arg(value_parser = parse_hash)]
        hash: [u8; 32],
    },
    /// List operators' acts: time, actor, role, command, reason
    Operators {
        /// Acts of this operator only
        #[arg(long, value_name = "NAME")]
        name: Option<String>,
    },
    /// Export tables as CSV
    Export(Export),
    /// Find where two journals diverge; a prefix is no difference
    Diff {
        /// Directory of the first journal
        first: PathBuf,
        /// Directory of the second journal
        second: PathBuf,
    },
}

/// `foretell audit export`
#[derive(Debug, Args)]
#[group(required = true, multiple = true)]
pub(crate) struct Export {
    /// CSV of all trades
    #[arg(long, value_name = "FILE")]
    pub trades: Option<PathBuf>,
    /// CSV of all orders with their final states
    #[arg(long, value_name = "FILE")]
    pub orders: Option<PathBuf>,
    /// CSV of all wallets' final balances
    #[arg(long, value_name = "FILE")]
    pub balances: Option<PathBuf>,
}
