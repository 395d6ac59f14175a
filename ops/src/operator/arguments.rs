//! Arguments of the operator's commands.

use std::path::PathBuf;

use clap::{Subcommand, ValueEnum};

/// `foretell market`
#[derive(Debug, Subcommand)]
pub(crate) enum Market {
    /// Register a market from a JSON file (`-` = standard input) and activate it
    Register {
        /// File with one market or an array of them; see docs/operating.md for the fields
        file: PathBuf,
        /// Leave it registered, not yet active
        #[arg(long)]
        inactive: bool,
    },
    /// Register a neg-risk event, before its questions
    Event {
        /// Its number in the catalog
        id: u64,
        /// Its title
        title: String,
    },
    /// List markets
    List,
    /// Show one market
    Show {
        /// Condition id or slug
        market: String,
    },
    /// Let a registered market trade
    Activate {
        /// Condition id or slug
        market: String,
    },
    /// Interrupt trading
    Pause {
        /// Condition id or slug
        market: String,
    },
    /// Go on trading
    Resume {
        /// Condition id or slug
        market: String,
    },
    /// End trading for good and cancel the market's orders; safe to repeat
    Close {
        /// Condition id or slug
        #[arg(required_unless_present = "file", conflicts_with = "file")]
        market: Option<String>,
        /// Close every market of a file instead (`-` = standard input); see docs/operating.md
        #[arg(long, value_name = "FILE")]
        file: Option<PathBuf>,
    },
    /// Pay out a market, closing it first where needed; safe to repeat
    Resolve {
        /// Condition id or slug
        #[arg(required_unless_present = "file", conflicts_with = "file")]
        market: Option<String>,
        /// Which outcome pays
        #[arg(value_enum, required_unless_present = "file")]
        payout: Option<Payout>,
        /// Resolve every market of a file instead (`-` = standard input): lines of CSV
        /// (market,outcome) or of JSON; see docs/operating.md
        #[arg(long, value_name = "FILE")]
        file: Option<PathBuf>,
    },
    /// Hide a market
    Archive {
        /// Condition id or slug
        market: String,
        /// Show it again
        #[arg(long)]
        undo: bool,
    },
    /// Make the tick finer
    Tick {
        /// Condition id or slug
        market: String,
        /// 0.01, 0.001 or 0.0001
        tick: String,
    },
    /// Change the smallest order
    MinimumSize {
        /// Condition id or slug
        market: String,
        /// Shares
        shares: String,
    },
    /// Change the taker fee
    Fee {
        /// Condition id or slug
        market: String,
        /// Parts per million
        rate_ppm: u32,
        /// 0, 1 or 2
        #[arg(default_value_t = 1)]
        exponent: u8,
    },
}

/// Which outcome pays.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum Payout {
    /// Outcome 0 pays 1
    Yes,
    /// Outcome 1 pays 1
    No,
    /// Both pay ½ (plain markets only)
    Half,
}

/// `foretell account`
#[derive(Debug, Subcommand)]
pub(crate) enum Account {
    /// Add collateral
    Deposit {
        /// Wallet address
        wallet: String,
        /// Amount in whole units, up to six decimals
        amount: String,
        /// Makes a repeat safe [default: a fresh one, printed]
        #[arg(long)]
        reference: Option<String>,
    },
    /// Take out free collateral
    Withdraw {
        /// Wallet address
        wallet: String,
        /// Amount in whole units, up to six decimals
        amount: String,
        /// Makes a repeat safe [default: a fresh one, printed]
        #[arg(long)]
        reference: Option<String>,
    },
    /// Bind a wallet to its owner
    Bind {
        /// Owner address (an EOA, which signs)
        owner: String,
        /// Wallet address (which trades)
        wallet: String,
        /// What the wallet is
        #[arg(value_enum)]
        kind: WalletKind,
    },
    /// Undo a binding
    Unbind {
        /// Wallet address
        wallet: String,
    },
    /// Show collateral, shares, bindings and live orders
    Balance {
        /// Wallet address
        wallet: String,
    },
    /// Let an account only reduce
    ClosedOnly {
        /// Wallet address
        wallet: String,
        /// Lift it
        #[arg(long)]
        undo: bool,
    },
}

/// What a bound wallet is.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum WalletKind {
    /// Signature type 1
    Proxy,
    /// Signature type 2
    Safe,
    /// Signature type 3
    Deposit,
}

/// `foretell keys`
#[derive(Debug, Subcommand)]
pub(crate) enum Keys {
    /// Create (or show again) the API key of a private key, through the public interface
    Create {
        /// File with the private key, 64 hex digits; must be readable by its owner only
        #[arg(long, value_name = "FILE")]
        private_key_file: PathBuf,
        /// Nonce of the key
        #[arg(long, default_value_t = 0)]
        nonce: u64,
    },
    /// List an owner's keys
    List {
        /// Owner address
        owner: String,
    },
    /// Revoke a key for ever
    Revoke {
        /// API key (a UUID)
        api_key: String,
        /// Cancel the owner's live orders too
        #[arg(long)]
        cancel_orders: bool,
    },
}

/// `foretell system`
#[derive(Debug, Subcommand)]
pub(crate) enum System {
    /// Show or set what the whole system accepts
    Mode {
        /// The new mode [default: show the present one]
        #[arg(value_enum)]
        mode: Option<Mode>,
    },
    /// Have the engine write an image of everything that is durable now, and wait for it
    Snapshot,
    /// Take collected fees out
    WithdrawFees {
        /// Amount in whole units, up to six decimals
        amount: String,
        /// Makes a repeat safe [default: a fresh one, printed]
        #[arg(long)]
        reference: Option<String>,
    },
}

/// What the system accepts.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Mode {
    /// Everything
    Running,
    /// Only post-only orders and cancels
    PostOnly,
    /// Only cancels
    CancelOnly,
    /// No new orders
    Paused,
}
