//! Authentication of requests: L1 and L2 (docs/api/authentication.md §2, §3), order signatures
//! (docs/api/authentication.md §5), and the derivation of API keys.
//!
//! Input is texts and bytes, output is a verdict. The crate deliberately has no HTTP (the gateway
//! parses headers), no clock (callers pass the time), no engine and no store: secrets of API keys
//! are derived from the master secret on use.
//!
//! - [`l1`] and [`l2`] check the headers of a request, [`trio`] the first message of a user stream, [`keys`] derives the secrets they need,
//!   [`master`] loads the one secret of a deployment;
//! - [`order_signature`] checks an order with the help of [`domains`], [`eip712`], [`signature`]
//!   and [`deposit_wallet`]; an auditor uses the same functions;
//! - [`withdrawal`] and [`quotes`] check the signatures of a withdrawal and of a set of quotes;
//! - [`signing`] is the client's side: bots, the command line and tests sign with it.

pub mod deposit_wallet;
pub mod domains;
pub mod eip712;
pub mod keys;
pub mod known_signer;
pub mod l1;
pub mod l2;
pub mod master;
pub mod order;
pub mod order_signature;
pub mod quotes;
pub mod signature;
pub mod signing;
pub mod text;
pub mod timestamp_window;
pub mod trio;
pub mod withdrawal;

pub use secp256k1::PublicKey;

pub use domains::{Domain, Domains, Markets};
pub use keys::{KeyOrigin, KeyTrio};
pub use known_signer::KnownSigner;
pub use l1::{L1Error, L1Headers, L1Identity, verify_l1};
pub use l2::{L2Error, L2Headers, L2Request, verify_l2};
pub use master::{MasterSecret, MasterSecretError};
pub use order::OrderFields;
pub use order_signature::{OwnerWallets, SignatureError, Verified, verify_evidence, verify_order};
pub use signature::address_of;
pub use signing::{L2Credentials, Signer};
pub use timestamp_window::{TimestampError, Window};
pub use trio::verify_trio;
