//! Arguments of the operator's commands.

use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand};
use foretell_model::{Payout, SystemMode, WalletKind};

/// `foretell market`
#[derive(Debug, Subcommand)]
pub(crate) enum Market {
    /// Register markets from a JSON file and activate them
    Register {
        /// JSON file (`-` = standard input)
        file: PathBuf,
        /// Register without activating
        #[arg(long)]
        inactive: bool,
    },
    /// Register a neg-risk event, before its questions
    Event {
        /// Event number in the catalog
        id: u64,
        /// Title
        title: String,
    },
    /// List markets
    List,
    /// Show one market
    Show {
        /// Condition id or slug
        market: String,
    },
    /// Start trading in a registered market
    Activate {
        /// Condition id or slug
        market: String,
    },
    /// Suspend trading
    Pause {
        /// Condition id or slug
        market: String,
    },
    /// Resume trading
    Resume {
        /// Condition id or slug
        market: String,
    },
    /// End trading for good, cancel its orders; safe to repeat
    Close {
        /// Condition id or slug
        #[arg(required_unless_present = "file", conflicts_with = "file")]
        market: Option<String>,
        /// File of markets (`-` = standard input)
        #[arg(long, value_name = "FILE")]
        file: Option<PathBuf>,
    },
    /// Pay out a market, closing it if needed; safe to repeat
    Resolve {
        /// Condition id or slug
        #[arg(required_unless_present = "file", conflicts_with = "file")]
        market: Option<String>,
        /// Outcome that pays
        #[arg(value_parser = words(PAYOUTS), required_unless_present = "file")]
        payout: Option<Payout>,
        /// File of `market,outcome` lines (`-` = standard input)
        #[arg(long, value_name = "FILE")]
        file: Option<PathBuf>,
    },
    /// Hide a market
    Archive {
        /// Condition id or slug
        market: String,
        /// Show the market again
        #[arg(long)]
        undo: bool,
    },
    /// Set a finer tick
    Tick {
        /// Condition id or slug
        market: String,
        /// 0.01, 0.001 or 0.0001
        tick: String,
    },
    /// Set the minimum order size
    MinimumSize {
        /// Condition id or slug
        market: String,
        /// Minimum size in shares
        shares: String,
    },
    /// Set the taker fee
    Fee {
        /// Condition id or slug
        market: String,
        /// Rate in parts per million
        rate_ppm: u32,
        /// Exponent: 0, 1 or 2
        #[arg(default_value_t = 1)]
        exponent: u8,
    },
}

/// Values of an argument: each with its word and its help.
type Words<T> = &'static [(T, &'static str, &'static str)];

/// Outcomes that pay.
pub(super) const PAYOUTS: Words<Payout> = &[
    (Payout::Yes, "yes", "Outcome 0 pays 1"),
    (Payout::No, "no", "Outcome 1 pays 1"),
    (Payout::Half, "half", "Both pay ½ (plain markets only)"),
];

/// Kinds of a bound wallet.
const WALLET_KINDS: Words<WalletKind> = &[
    (WalletKind::Proxy, "proxy", "Signature type 1"),
    (WalletKind::Safe, "safe", "Signature type 2"),
    (WalletKind::Deposit, "deposit", "Signature type 3"),
];

const MODES: Words<SystemMode> = &[
    (SystemMode::Running, "running", "All orders and cancels"),
    (
        SystemMode::PostOnly,
        "post-only",
        "Only post-only orders and cancels",
    ),
    (SystemMode::CancelOnly, "cancel-only", "Only cancels"),
    (SystemMode::Paused, "paused", "No new orders"),
];

fn words<T: Copy + Send + Sync + 'static>(values: Words<T>) -> impl TypedValueParser<Value = T> {
    let possible = values
        .iter()
        .map(|(_, word, help)| PossibleValue::new(*word).help(*help));
    PossibleValuesParser::new(possible).try_map(move |text| {
        let mut all = values.iter();
        all.find(|(_, word, _)| *word == text)
            .map(|(value, _, _)| *value)
            .ok_or("not a possible value")
    })
}

/// `foretell account`
#[derive(Debug, Subcommand)]
pub(crate) enum Account {
    /// Deposit collateral
    Deposit(Transfer),
    /// Withdraw free collateral
    Withdraw(Transfer),
    /// Bind a wallet to its owner
    Bind {
        /// Owner address (an EOA, which signs)
        owner: String,
        /// Wallet address (which trades)
        wallet: String,
        /// Kind of the wallet
        #[arg(value_parser = words(WALLET_KINDS))]
        kind: WalletKind,
    },
    /// Remove a wallet's binding
    Unbind {
        /// Wallet address
        wallet: String,
    },
    /// Show collateral, shares, bindings and live orders
    Balance {
        /// Wallet address
        wallet: String,
    },
    /// Restrict an account to reducing its positions
    ClosedOnly {
        /// Wallet address
        wallet: String,
        /// Remove the restriction
        #[arg(long)]
        undo: bool,
    },
}

/// Arguments of a deposit or a withdrawal.
#[derive(Debug, Args)]
pub(crate) struct Transfer {
    /// Wallet address
    pub(super) wallet: String,
    /// Amount in whole units, up to six decimals
    pub(super) amount: String,
    /// Idempotency key [default: a new one, printed]
    #[arg(long)]
    pub(super) reference: Option<String>,
}

/// `foretell keys`
#[derive(Debug, Subcommand)]
pub(crate) enum Keys {
    /// Create or re-derive the API key of a private key
    Create {
        /// File with the private key (64 hex digits), mode 600
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
    /// Revoke an API key permanently
    Revoke {
        /// API key (a UUID)
        api_key: String,
        /// Also cancel the owner's live orders
        #[arg(long)]
        cancel_orders: bool,
    },
}

/// `foretell system`
#[derive(Debug, Subcommand)]
pub(crate) enum System {
    /// Show or set the system mode
    Mode {
        /// New mode [default: show the current mode]
        #[arg(value_parser = words(MODES))]
        mode: Option<SystemMode>,
    },
    /// Write a snapshot of the durable state and wait for it
    Snapshot,
    /// Withdraw collected fees
    WithdrawFees {
        /// Amount in whole units, up to six decimals
        amount: String,
        /// Idempotency key [default: a new one, printed]
        #[arg(long)]
        reference: Option<String>,
    },
}
