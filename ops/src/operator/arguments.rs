//! Arguments of the operator's commands.

use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand};
use foretell_model::{OperatorRole, SystemMode, WalletKind};

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
        /// Event number in the catalog, or `new`
        #[arg(value_parser = event_number)]
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
    /// Resume trading, once no other hold is left
    Resume {
        /// Condition id or slug
        market: String,
        /// Lift the hold of the upstream instead of the operator's
        #[arg(long)]
        upstream: bool,
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
        /// Label of the outcome, `first`, `second`, `half` or `outside`
        #[arg(required_unless_present = "file")]
        payout: Option<String>,
        /// Number of the disputed proposal that it replaces
        #[arg(long, value_name = "NUMBER", conflicts_with = "file")]
        proposal: Option<u64>,
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
    /// Set clock, taker delay and maker rebate
    Terms(Terms),
    /// Change the words of an own market
    Describe(Describe),
    /// Change the words of an own event group
    DescribeEvent {
        /// Event number
        id: u64,
        /// Title
        #[arg(long)]
        title: Option<String>,
        /// Name in URLs
        #[arg(long)]
        slug: Option<String>,
        /// Description
        #[arg(long)]
        description: Option<String>,
        /// Tag; repeat it for several, they replace all
        #[arg(long = "tag", value_name = "TAG")]
        tags: Option<Vec<String>>,
    },
    /// Propose the payout of a closed market
    Propose(Propose),
    /// Dispute a proposal; give --reason
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
    /// Withdraw a proposal
    WithdrawProposal {
        /// Condition id or slug
        market: String,
        /// Wallet that proposed [default: the operator]
        #[arg(long)]
        wallet: Option<String>,
    },
    /// Finalise a proposal: the payout is then final
    Finalise {
        /// Condition id or slug
        market: String,
        /// Number of the proposal; a second person names it [default: the current one]
        #[arg(long)]
        proposal: Option<u64>,
    },
    /// List proposals, disputes, markets that wait for one
    Review,
    /// Set the resolution policy of the site or a market
    Policy(Policy),
    /// Remove the policy of a market
    PolicyClear {
        /// Condition id or slug
        market: String,
    },
    /// Let a wallet propose or dispute
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

/// `foretell market terms`
#[derive(Debug, Args)]
pub(crate) struct Terms {
    /// Condition id or slug
    pub(super) market: String,
    /// When it opens, ISO 8601; empty = by command
    #[arg(long, value_name = "TIME")]
    pub(super) opens_at: Option<String>,
    /// When it closes, ISO 8601; empty = by command
    #[arg(long, value_name = "TIME")]
    pub(super) closes_at: Option<String>,
    /// When its game starts, ISO 8601; empty = none
    #[arg(long, value_name = "TIME")]
    pub(super) game_start_time: Option<String>,
    /// Clear the book when the game starts
    #[arg(long, value_name = "BOOL")]
    pub(super) clear_book_on_start: Option<bool>,
    /// Milliseconds a taker waits, 0 to 60000
    #[arg(long, value_name = "MS")]
    pub(super) taker_delay_ms: Option<u32>,
    /// Share of the fee for makers, in parts per million
    #[arg(long, value_name = "PPM")]
    pub(super) rebate_ppm: Option<u32>,
}

/// `foretell market describe`
#[derive(Debug, Args)]
pub(crate) struct Describe {
    /// Condition id or slug
    pub(super) market: String,
    /// Question
    #[arg(long)]
    pub(super) question: Option<String>,
    /// Labels of both outcomes
    #[arg(long, num_args = 2, value_names = ["FIRST", "SECOND"])]
    pub(super) outcomes: Option<Vec<String>>,
    /// Resolution rules
    #[arg(long)]
    pub(super) description: Option<String>,
    /// New name in URLs
    #[arg(long)]
    pub(super) slug: Option<String>,
    /// Tag; repeat it for several, they replace all
    #[arg(long = "tag", value_name = "TAG")]
    pub(super) tags: Option<Vec<String>>,
    /// Category word
    #[arg(long)]
    pub(super) category: Option<String>,
    /// URL of the image
    #[arg(long)]
    pub(super) image: Option<String>,
    /// End date, ISO 8601; it ends no trading
    #[arg(long)]
    pub(super) end_date: Option<String>,
    /// Source that decides the answer
    #[arg(long)]
    pub(super) resolution_source: Option<String>,
}

/// `foretell market propose`
#[derive(Debug, Args)]
pub(crate) struct Propose {
    /// Condition id or slug
    pub(super) market: String,
    /// Label of the outcome, `first`, `second`, `half` or `outside`
    pub(super) payout: String,
    /// Number of the disputed proposal that it replaces
    #[arg(long, value_name = "NUMBER")]
    pub(super) proposal: Option<u64>,
    /// Source that decides the answer: a URL or text
    #[arg(long, default_value = "")]
    pub(super) source: String,
    /// SHA-256 of the evidence, 0x and 64 hex digits
    #[arg(long, value_name = "HASH")]
    pub(super) evidence_sha256: Option<String>,
    /// Challenge window in seconds [default: the policy's]
    #[arg(long, value_name = "SECONDS")]
    pub(super) window: Option<u32>,
    /// Wallet that proposes [default: the operator]
    #[arg(long)]
    pub(super) wallet: Option<String>,
    /// Idempotency key [default: a new one, printed]
    #[arg(long)]
    pub(super) reference: Option<String>,
}

/// `foretell market policy`
#[derive(Debug, Args)]
pub(crate) struct Policy {
    /// Condition id or slug [default: the site]
    #[arg(long)]
    pub(super) market: Option<String>,
    /// Roles that propose, with commas
    #[arg(long, value_delimiter = ',', value_parser = words(ROLES))]
    pub(super) proposers: Option<Vec<OperatorRole>>,
    /// Roles that dispute, with commas
    #[arg(long, value_delimiter = ',', value_parser = words(ROLES))]
    pub(super) disputers: Option<Vec<OperatorRole>>,
    /// Shortest challenge window in seconds
    #[arg(long, value_name = "SECONDS")]
    pub(super) window: Option<u32>,
    /// Another operator than the proposer finalises
    #[arg(long, value_name = "BOOL")]
    pub(super) second_person: Option<bool>,
    /// Time finalises an undisputed proposal
    #[arg(long, value_name = "BOOL")]
    pub(super) by_time: Option<bool>,
}

/// The number of an event, or 0 for one that the exchange generates.
fn event_number(text: &str) -> Result<u64, String> {
    match text {
        "new" => Ok(0),
        text => text.parse().map_err(|_| "a number, or `new`".to_owned()),
    }
}

/// Values of an argument: each with its word and its help.
type Words<T> = &'static [(T, &'static str, &'static str)];

/// Kinds of a bound wallet.
const WALLET_KINDS: Words<WalletKind> = &[
    (WalletKind::Proxy, "proxy", "Signature type 1"),
    (WalletKind::Safe, "safe", "Signature type 2"),
    (WalletKind::Deposit, "deposit", "Signature type 3"),
];

/// Roles of operators.
const ROLES: Words<OperatorRole> = &[
    (OperatorRole::Admin, "admin", "Everything"),
    (
        OperatorRole::Markets,
        "markets",
        "Markets, event groups, mode",
    ),
    (OperatorRole::Resolver, "resolver", "Proposals and payouts"),
    (
        OperatorRole::Cashier,
        "cashier",
        "Deposits, withdrawals, rebates",
    ),
    (
        OperatorRole::Support,
        "support",
        "Wallets and keys of users",
    ),
    (OperatorRole::ReadOnly, "read-only", "Reads"),
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
    /// List withdrawals that wait for a second person
    Held,
    /// Pay a held withdrawal, as the second person
    Confirm {
        /// Reference of the withdrawal, or its hash from `held`
        reference: String,
    },
    /// Give up a held withdrawal
    Release {
        /// Reference of the withdrawal, or its hash from `held`
        reference: String,
    },
}

/// `foretell operators`
#[derive(Debug, Subcommand)]
pub(crate) enum Operators {
    /// Add an operator; its token is shown once
    Add {
        /// Name: 1 to 32 of a-z, 0-9, -, _ and .
        name: String,
        /// Role
        #[arg(value_parser = words(ROLES))]
        role: OperatorRole,
        /// Write the token to this new file, mode 600
        #[arg(long, value_name = "FILE")]
        token_file: Option<PathBuf>,
    },
    /// List operators
    List,
    /// Revoke an operator for ever
    Revoke {
        /// Name
        name: String,
    },
    /// Show the operator of this token and its rights
    Me,
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
    /// Show or set limits of payments
    Payments {
        /// Larger withdrawals need two persons; 0 = none does
        #[arg(long, value_name = "AMOUNT")]
        withdrawal_limit: Option<String>,
        /// Pay rebates at 00:00 UTC
        #[arg(long, value_name = "BOOL")]
        rebates_daily: Option<bool>,
    },
    /// Pay all accrued rebates
    PayRebates,
    /// Withdraw collected fees
    WithdrawFees {
        /// Amount in whole units, up to six decimals
        amount: String,
        /// Idempotency key [default: a new one, printed]
        #[arg(long)]
        reference: Option<String>,
    },
}
