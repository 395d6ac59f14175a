//! Commands on wallets and keys.

use crate::id::{ApiKey, KeyNumber, WalletAddress};
use crate::market::WalletKind;
use crate::record::records;

records! {
    /// Bind a wallet to an owner; opens both accounts. The same binding again is `Repeated`.
    pub struct BindWallet {
        /// The owner: an EOA that is not bound itself.
        pub owner: WalletAddress,
        /// The wallet: owns no wallets or keys, has no live orders, is not bound elsewhere.
        pub wallet: WalletAddress,
        /// The wallet kind; `Eoa` is rejected. An owner has at most one wallet of a kind.
        pub kind: WalletKind,
    }

    /// Restrict an account to reducing orders; setting it cancels the account's resting BUYs.
    pub struct SetClosedOnly {
        /// The account's wallet; opened if unknown.
        pub wallet: WalletAddress,
        /// Set or cleared.
        pub closed_only: bool,
    }

    /// Register an issued API key; opens the owner's account. The same key again is `Repeated`.
    pub struct RegisterKey {
        /// The owner; must not be a bound wallet.
        pub owner: WalletAddress,
        /// The nonce that the key was derived from, big-endian.
        #[serde(serialize_with = "crate::id::as_id")]
        pub nonce: [u8; 32],
        /// The key.
        pub api_key: ApiKey,
        /// Whether the key may only read.
        pub read_only: bool,
    }

    /// Revoke a key for ever.
    pub struct RevokeKey {
        /// The key.
        pub key: KeyNumber,
        /// Whether to cancel the owner's live orders too.
        pub cancel_orders: bool,
    }
}
