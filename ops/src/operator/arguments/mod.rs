//! Arguments of the operator's commands. They are the body of the request: each serializes as the field
//! of its name, save `market` and `idempotency_key`, which the sender replaces.

pub(crate) mod days;
mod market;
mod words;

use std::path::PathBuf;

use clap::{ArgAction, Args, Subcommand};
use serde::Serialize;

pub(crate) use days::Days;
pub(crate) use market::Market;
use words::{BoundKind, Mode, Role};

/// `foretell account`
#[derive(Debug, Subcommand, Serialize)]
#[serde(untagged)]
pub(crate) enum Account {
    Deposit(Transfer),
    Withdraw(Transfer),
    Bind {
        /// Owner address (an EOA, which signs)
        owner: String,
        /// Wallet address (which trades)
        wallet: String,
        /// Kind of the wallet
        kind: BoundKind,
    },
    Unbind {
        /// Wallet address
        wallet: String,
    },
    /// Show collateral, shares, bindings and live orders
    Balance {
        /// Wallet address
        wallet: String,
    },
    /// Export a wallet's collateral movements as CSV
    #[serde(skip)]
    Statement(Statement),
    ClosedOnly {
        /// Wallet address
        wallet: String,
        /// Remove the restriction
        #[arg(long = "undo", action = ArgAction::SetFalse)]
        closed_only: bool,
    },
}

/// `foretell account statement`
#[derive(Debug, Args)]
pub(crate) struct Statement {
    /// Wallet address
    pub wallet: String,
    /// Its period
    #[command(flatten)]
    pub days: Days,
}

/// `foretell withdrawals`
#[derive(Debug, Subcommand, Serialize)]
#[serde(untagged)]
pub(crate) enum Withdrawals {
    /// List pending withdrawals by amount, or completed ones
    List {
        /// List completed withdrawals, newest first
        #[arg(long)]
        ended: bool,
        /// Maximum rows, 1 to 500
        #[arg(long, default_value_t = 100)]
        limit: u32,
    },
    Claim(WithdrawalName),
    Pay {
        /// Number of the withdrawal
        withdrawal: u64,
        /// Reference of the payment, such as that of the bank
        payment: String,
    },
    Fail(WithdrawalName),
    Open {},
    /// Compare a bank statement with the recorded payments
    Reconcile {
        /// CSV with columns payment and amount (`-` = stdin)
        file: PathBuf,
        /// The list's period
        #[command(flatten)]
        #[serde(skip)]
        days: Days,
    },
}

/// The name of a withdrawal.
#[derive(Debug, Args, Serialize)]
pub(crate) struct WithdrawalName {
    /// Number of the withdrawal
    pub withdrawal: u64,
}

/// `foretell operators`
#[derive(Debug, Subcommand, Serialize)]
#[serde(untagged)]
pub(crate) enum Operators {
    /// Add an operator; its token is shown once
    Add(NewOperator),
    /// List operators
    List,
    Revoke {
        /// Name
        name: String,
    },
    /// Show the operator of this token and its permissions
    Me,
}

/// `foretell operators add`
#[derive(Debug, Args, Serialize)]
pub(crate) struct NewOperator {
    /// Name: 1 to 32 of a-z, 0-9, ., _ and -
    pub(super) name: String,
    /// Role
    role: Role,
    /// Write the token to this new file, mode 600
    #[arg(long, value_name = "FILE")]
    #[serde(skip)]
    pub(super) token_file: Option<PathBuf>,
}

/// Arguments of a deposit or a withdrawal.
#[derive(Debug, Args, Serialize)]
pub(crate) struct Transfer {
    /// Wallet address
    wallet: String,
    /// Amount in whole units, up to six decimals
    amount: String,
    /// Idempotency key [default: a new one, printed]
    #[arg(long = "reference", value_name = "REFERENCE")]
    idempotency_key: Option<String>,
}

/// `foretell keys`
#[derive(Debug, Subcommand, Serialize)]
#[serde(untagged)]
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
    Revoke {
        /// API key (a UUID)
        api_key: String,
        /// Also cancel the owner's live orders
        #[arg(long)]
        cancel_orders: bool,
    },
}

/// `foretell system`
#[derive(Debug, Subcommand, Serialize)]
#[serde(untagged)]
pub(crate) enum System {
    /// Show or set the system mode
    Mode {
        /// New mode [default: show the current mode]
        mode: Option<Mode>,
    },
    /// Write a snapshot of the durable state and wait for it
    Snapshot,
    /// Show or set limits of payments
    Payments {
        /// Larger withdrawals require two persons; 0 = no limit
        #[arg(long, value_name = "AMOUNT")]
        withdrawal_limit: Option<String>,
        /// Pay rebates at 00:00 UTC
        #[arg(long, value_name = "BOOL")]
        rebates_daily: Option<bool>,
    },
    PayRebates {},
    WithdrawFees {
        /// Amount in whole units, up to six decimals
        amount: String,
        /// Idempotency key [default: a new one, printed]
        #[arg(long = "reference", value_name = "REFERENCE")]
        idempotency_key: Option<String>,
    },
}
