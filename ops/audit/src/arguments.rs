//! Arguments of `foretell audit`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use foretell_journal::frame::Frame;
use foretell_model::{Sequence, TimeNs};

use crate::digits::parse_hex;

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
    /// Directory of the segments that were archived
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) archive: Option<PathBuf>,
    /// Command
    #[command(subcommand)]
    pub(crate) what: AuditCommand,
}

/// Commands of the auditor.
#[derive(Debug, Subcommand)]
pub(crate) enum AuditCommand {
    /// Verify checksums, hash chain, replay, evidence and balances
    Verify(Verify),
    /// Replay up to a point and print digest, books and balances
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
    /// List operator commands: time, operator, role, reason
    Operators {
        /// Only list commands of this operator
        #[arg(long, value_name = "NAME")]
        name: Option<String>,
    },
    /// Export tables as CSV
    Export(ExportFiles),
    /// Find where two journals diverge, ignoring a shorter end
    Diff {
        /// Directory of the first journal
        first: PathBuf,
        /// Directory of the second journal
        second: PathBuf,
    },
}

/// `foretell audit verify`
#[derive(Debug, Args)]
pub(crate) struct Verify {
    /// Also verify every order's signature, on all cores
    #[arg(long)]
    pub(crate) signatures: bool,
    /// Threads that check signatures [default: one per core]
    #[arg(long, value_name = "COUNT", requires = "signatures",
          value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) threads: Option<u16>,
    /// Also execute every command in the reference exchange
    #[arg(long)]
    pub(crate) reference: bool,
    /// JSON file of checkpoints from `/audit/checkpoints`
    #[arg(long, value_name = "FILE", requires = "checkpoint_key")]
    pub(crate) checkpoints: Option<PathBuf>,
    /// Public key of the checkpoints: 64 hex digits or a file
    #[arg(long, value_name = "KEY|FILE", requires = "checkpoints")]
    pub(crate) checkpoint_key: Option<String>,
    /// Skip attested states; the journal is then read once
    #[arg(long)]
    pub(crate) no_attestations: bool,
}

/// `foretell audit export`
#[derive(Debug, Args)]
#[group(required = true, multiple = true)]
pub(crate) struct ExportFiles {
    /// CSV of all trades
    #[arg(long, value_name = "FILE")]
    pub(crate) trades: Option<PathBuf>,
    /// CSV of all orders with their final states
    #[arg(long, value_name = "FILE")]
    pub(crate) orders: Option<PathBuf>,
    /// CSV of all wallets' final balances
    #[arg(long, value_name = "FILE")]
    pub(crate) balances: Option<PathBuf>,
}

/// End of a replay: after this sequence, or before the first frame later than this time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Until {
    Sequence(Sequence),
    Time(TimeNs),
}

impl Until {
    /// Whether a frame is not too late; a sequence ends after its frame, not before one.
    pub(crate) fn includes(self, frame: &Frame<'_>) -> bool {
        !matches!(self, Self::Time(limit) if frame.time() > limit)
    }
}

/// A sequence in digits, or a time such as `2026-11-20T12:00:00Z`.
fn parse_until(text: &str) -> Result<Until, String> {
    if text.bytes().all(|byte| byte.is_ascii_digit()) {
        return text
            .parse()
            .map(|sequence| Until::Sequence(Sequence(sequence)))
            .map_err(|error| error.to_string());
    }
    let time: jiff::Timestamp = text
        .parse()
        .map_err(|_| "neither a sequence nor a time such as 2026-11-20T12:00:00Z".to_owned())?;
    let nanoseconds = time.as_nanosecond();
    if nanoseconds < 0 {
        return Err("no frame is that old".to_owned());
    }
    // A time later than any frame never comes: the replay runs to the end.
    let nanoseconds = u64::try_from(nanoseconds).unwrap_or(u64::MAX);
    Ok(Until::Time(TimeNs(nanoseconds)))
}

/// 32 bytes as 64 hex digits, with or without `0x`.
fn parse_hash(text: &str) -> Result<[u8; 32], String> {
    parse_hex(text).ok_or_else(|| "64 hex digits are expected".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_a_sequence_and_the_rest_is_a_time() {
        assert_eq!(parse_until("17"), Ok(Until::Sequence(Sequence(17))));
        let second = Until::Time(TimeNs(1_700_000_000_000_000_000));
        assert_eq!(parse_until("2023-11-14T22:13:20Z"), Ok(second));
        let never = Until::Time(TimeNs(u64::MAX));
        assert_eq!(parse_until("2555-01-01T00:00:00Z"), Ok(never));
        for text in ["", "x", "-1", "1.5", "2023-11-14", "1960-01-01T00:00:00Z"] {
            assert!(parse_until(text).is_err() || text.is_empty(), "{text}");
        }
    }
}
