//! Accounts, wallets and keys.

use crate::id::{AccountNumber, KeyNumber, WalletAddress};
use crate::market::WalletKind;
use crate::record::records;

records! {
    /// An account was opened.
    pub struct AccountOpened {
        /// Its number.
        pub account: AccountNumber,
        /// Its address.
        pub wallet: WalletAddress,
    }

    /// A wallet was bound to an owner.
    pub struct WalletBound {
        /// The owner.
        pub owner: AccountNumber,
        /// The wallet.
        pub wallet: AccountNumber,
        /// The wallet kind.
        pub kind: WalletKind,
    }

    /// A wallet was unbound and is its own owner again.
    pub struct WalletUnbound {
        /// The previous owner.
        pub owner: AccountNumber,
        /// The wallet.
        pub wallet: AccountNumber,
    }

    /// An account's closed-only flag changed.
    pub struct ClosedOnlySet {
        /// The account.
        pub account: AccountNumber,
        /// Set or cleared.
        pub closed_only: bool,
    }

    /// A key was registered; the key and its nonce are in the command.
    pub struct KeyRegistered {
        /// Its number.
        pub key: KeyNumber,
        /// Its owner.
        pub owner: AccountNumber,
    }

    /// An owner's heartbeat chain started or ended.
    pub struct HeartbeatSet {
        /// The owner.
        pub owner: AccountNumber,
        /// Started or ended.
        pub on: bool,
    }
}
