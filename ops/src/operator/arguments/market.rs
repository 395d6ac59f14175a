//! `foretell market`

use std::path::PathBuf;

use clap::{ArgAction, Args, Subcommand};
use serde::{Serialize, Serializer};

use super::words::Role;

/// `foretell market`
#[derive(Debug, Subcommand, Serialize)]
#[serde(untagged)]
pub(crate) enum Market {
    /// Register markets from a JSON file and activate them
    Register {
        /// JSON file (`-` = standard input)
        file: PathBuf,
        /// Register without activating
        #[arg(long)]
        inactive: bool,
    },
    Event {
        /// Event number in the catalog, or `new`
        #[arg(value_name = "ID", value_parser = event_number)]
        event_id: u64,
        /// Title
        title: String,
    },
    /// List markets
    List,
    /// Show one market
    Show(OneMarket),
    Activate(OneMarket),
    Pause(OneMarket),
    Resume {
        /// Condition id or slug
        market: String,
        /// Lift the hold of the upstream, not that of the operator
        #[arg(long)]
        #[serde(rename = "hold", serialize_with = "hold")]
        upstream: bool,
    },
    /// Close a market permanently and cancel its orders; idempotent
    Close {
        /// Condition id or slug
        #[arg(required_unless_present = "file", conflicts_with = "file")]
        market: Option<String>,
        /// CSV with a column market (`-` = standard input)
        #[arg(long, value_name = "FILE")]
        file: Option<PathBuf>,
    },
    /// Resolve a market, closing it if needed; idempotent
    Resolve {
        /// Condition id or slug
        #[arg(required_unless_present = "file", conflicts_with = "file")]
        market: Option<String>,
        /// Label of the outcome, `first`, `second`, `half` or `outside`
        #[arg(required_unless_present = "file")]
        payout: Option<String>,
        /// Number of the disputed proposal that it replaces
        #[arg(long, value_name = "NUMBER", conflicts_with = "file")]
        proposal: Option<u64>,
        /// CSV with columns market and outcome (`-` = standard input)
        #[arg(long, value_name = "FILE")]
        file: Option<PathBuf>,
    },
    Archive {
        /// Condition id or slug
        market: String,
        /// Show the market again
        #[arg(long = "undo", action = ArgAction::SetFalse)]
        archived: bool,
    },
    Tick {
        /// Condition id or slug
        market: String,
        /// 0.01, 0.001 or 0.0001
        #[arg(value_name = "TICK")]
        tick_size: String,
    },
    MinimumSize {
        /// Condition id or slug
        market: String,
        /// Minimum size in shares
        #[arg(value_name = "SHARES")]
        minimum_order_size: String,
    },
    Fee {
        /// Condition id or slug
        market: String,
        /// Rate in parts per million
        rate_ppm: u32,
        /// Exponent: 0, 1 or 2
        #[arg(default_value_t = 1)]
        exponent: u8,
    },
    Terms(Terms),
    Describe(Describe),
    DescribeEvent {
        /// Event number
        #[arg(value_name = "ID")]
        event_id: u64,
        /// Title
        #[arg(long)]
        title: Option<String>,
        /// Name in URLs
        #[arg(long)]
        slug: Option<String>,
        /// Description
        #[arg(long)]
        description: Option<String>,
        /// Tag; repeat for several, which replace all existing ones
        #[arg(long = "tag", value_name = "TAG")]
        tags: Option<Vec<String>>,
    },
    Propose(Propose),
    Dispute {
        /// Condition id or slug
        market: String,
        /// Right outcome: its label, `first`, `second` or `half`
        #[arg(long)]
        counter: Option<String>,
        /// Wallet that disputes [default: the operator]
        #[arg(long)]
        wallet: Option<String>,
    },
    WithdrawProposal {
        /// Condition id or slug
        market: String,
        /// Wallet that proposed [default: the operator]
        #[arg(long)]
        wallet: Option<String>,
    },
    Finalise {
        /// Condition id or slug
        market: String,
        /// Number of the proposal; required for a second person [default: the current one]
        #[arg(long)]
        proposal: Option<u64>,
    },
    /// List proposals, disputes and markets without a proposal
    Review,
    Policy(Policy),
    PolicyClear(OneMarket),
    PolicyWallet {
        /// Wallet address
        wallet: String,
        /// Condition id or slug [default: the site]
        #[arg(long)]
        market: Option<String>,
        /// The wallet may propose
        #[arg(long)]
        propose: bool,
        /// The wallet may dispute
        #[arg(long)]
        dispute: bool,
    },
}

/// A market.
#[derive(Debug, Args, Serialize)]
pub(crate) struct OneMarket {
    /// Condition id or slug
    pub(in crate::operator) market: String,
}

/// `foretell market terms`
#[derive(Debug, Args, Serialize)]
pub(crate) struct Terms {
    /// Condition id or slug
    market: String,
    /// Opening time, ISO 8601; empty = opened by command
    #[arg(long, value_name = "TIME")]
    opens_at: Option<String>,
    /// Closing time, ISO 8601; empty = closed by command
    #[arg(long, value_name = "TIME")]
    closes_at: Option<String>,
    /// Start time of the game, ISO 8601; empty = none
    #[arg(long, value_name = "TIME")]
    game_start_time: Option<String>,
    /// Clear the book when the game starts
    #[arg(long, value_name = "BOOL")]
    clear_book_on_start: Option<bool>,
    /// Milliseconds a taker waits, 0 to 60000
    #[arg(long, value_name = "MS")]
    taker_delay_ms: Option<u32>,
    /// Maker rebate in parts per million of the fee
    #[arg(long, value_name = "PPM")]
    rebate_ppm: Option<u32>,
}

/// `foretell market describe`
#[derive(Debug, Args, Serialize)]
pub(crate) struct Describe {
    /// Condition id or slug
    market: String,
    /// Question
    #[arg(long)]
    question: Option<String>,
    /// Labels of both outcomes
    #[arg(long, num_args = 2, value_names = ["FIRST", "SECOND"])]
    outcomes: Option<Vec<String>>,
    /// Resolution rules
    #[arg(long)]
    description: Option<String>,
    /// New name in URLs
    #[arg(long)]
    slug: Option<String>,
    /// Tag; repeat for several, which replace all existing ones
    #[arg(long = "tag", value_name = "TAG")]
    tags: Option<Vec<String>>,
    /// Category
    #[arg(long)]
    category: Option<String>,
    /// URL of the image
    #[arg(long)]
    image: Option<String>,
    /// End date, ISO 8601; it does not close the market
    #[arg(long)]
    end_date: Option<String>,
    /// Accept an end date in the past
    #[arg(long, num_args = 0, default_missing_value = "true")]
    past_end: Option<bool>,
    /// Resolution source
    #[arg(long)]
    resolution_source: Option<String>,
}

/// `foretell market propose`
#[derive(Debug, Args, Serialize)]
pub(crate) struct Propose {
    /// Condition id or slug
    market: String,
    /// Label of the outcome, `first`, `second`, `half` or `outside`
    payout: String,
    /// Number of the disputed proposal that it replaces
    #[arg(long, value_name = "NUMBER")]
    proposal: Option<u64>,
    /// Resolution source: a URL or text
    #[arg(long, default_value = "")]
    source: String,
    /// SHA-256 of the evidence, 0x and 64 hex digits
    #[arg(long, value_name = "HASH")]
    evidence_sha256: Option<String>,
    /// Challenge window in seconds [default: the policy's]
    #[arg(long = "window", value_name = "SECONDS")]
    window_seconds: Option<u32>,
    /// Wallet that proposes [default: the operator]
    #[arg(long)]
    wallet: Option<String>,
    /// Idempotency key [default: a new one, printed]
    #[arg(long = "reference", value_name = "REFERENCE")]
    idempotency_key: Option<String>,
}

/// `foretell market policy`
#[derive(Debug, Args, Serialize)]
pub(crate) struct Policy {
    /// Condition id or slug [default: the site]
    #[arg(long)]
    market: Option<String>,
    /// Roles that may propose, comma-separated
    #[arg(long, value_delimiter = ',')]
    proposers: Option<Vec<Role>>,
    /// Roles that may dispute, comma-separated
    #[arg(long, value_delimiter = ',')]
    disputers: Option<Vec<Role>>,
    /// Shortest challenge window in seconds
    #[arg(long = "window", value_name = "SECONDS")]
    minimum_window_seconds: Option<u32>,
    /// An operator other than the proposer must finalise it
    #[arg(long, value_name = "BOOL")]
    second_person: Option<bool>,
    /// The exchange finalises it, undisputed, at the window's end
    #[arg(long, value_name = "BOOL")]
    by_time: Option<bool>,
}

/// The number of an event, or 0 for one that the exchange generates.
fn event_number(text: &str) -> Result<u64, String> {
    match text {
        "new" => Ok(0),
        text => text.parse().map_err(|_| "a number, or `new`".to_owned()),
    }
}

/// `"upstream"` for a hold of the upstream; the sender's without.
fn hold<S: Serializer>(upstream: &bool, serializer: S) -> Result<S::Ok, S::Error> {
    upstream.then_some("upstream").serialize(serializer)
}
