//! Typed data (EIP-712): the hashes of domains, orders, L1 statements and nested signatures.
//!
//! Every digest that is compared or used for key recovery is computed here from configuration and
//! parsed fields. None is taken from a client.

use std::sync::LazyLock;

use alloy_primitives::{Keccak256, keccak256};
use foretell_model::evidence::WORDS_BYTES;
use foretell_model::{OrderId, WalletAddress};

/// A keccak-256 hash.
pub type Hash = [u8; 32];

/// The type of a signed order (docs/api/authentication.md §5).
pub const ORDER_TYPE: &str = "Order(uint256 salt,address maker,address signer,uint256 tokenId,uint256 makerAmount,uint256 takerAmount,uint8 side,uint8 signatureType,uint256 timestamp,bytes32 metadata,bytes32 builder)";
/// The text of an L1 statement (docs/api/authentication.md §2).
pub const L1_MESSAGE: &str = "This message attests that I control the given wallet";

/// The type of a domain with a contract, such as those of orders.
pub const DOMAIN_TYPE: &str =
    "EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)";
/// The type of a domain without a contract: that of L1 statements.
pub const DOMAIN_TYPE_WITHOUT_CONTRACT: &str =
    "EIP712Domain(string name,string version,uint256 chainId)";
/// The type of an L1 statement.
pub const L1_TYPE: &str = "ClobAuth(address address,string timestamp,uint256 nonce,string message)";
/// `name` of the domain of L1 statements.
pub const L1_DOMAIN_NAME: &str = "ClobAuthDomain";
/// `version` of that domain.
pub const L1_DOMAIN_VERSION: &str = "1";
/// The nested type of a deposit wallet's signature, without the type of its contents.
const NESTED_TYPE: &str = "TypedDataSign(Order contents,string name,string version,uint256 chainId,address verifyingContract,bytes32 salt)";
const DEPOSIT_WALLET_NAME: &str = "DepositWallet";
const DEPOSIT_WALLET_VERSION: &str = "1";

static ORDER_TYPE_HASH: LazyLock<Hash> = LazyLock::new(|| keccak256(ORDER_TYPE).0);
static L1_TYPE_HASH: LazyLock<Hash> = LazyLock::new(|| keccak256(L1_TYPE).0);
static NESTED_TYPE_HASH: LazyLock<Hash> =
    LazyLock::new(|| keccak256([NESTED_TYPE, ORDER_TYPE].concat()).0);

/// keccak-256 of the concatenated parts.
pub(crate) fn hash_parts(parts: &[&[u8]]) -> Hash {
    let mut hasher = Keccak256::new();
    for part in parts {
        hasher.update(part);
    }
    hasher.finalize().0
}

pub(crate) fn word_of_u64(value: u64) -> Hash {
    let mut word = [0; 32];
    word[24..].copy_from_slice(&value.to_be_bytes());
    word
}

pub(crate) fn word_of_address(address: WalletAddress) -> Hash {
    let mut word = [0; 32];
    word[12..].copy_from_slice(&address.0);
    word
}

/// Separator of a domain with name, version, chain and, if it has one, contract; no salt.
#[must_use]
pub fn domain_separator(
    name: &str,
    version: &str,
    chain_id: u64,
    contract: Option<WalletAddress>,
) -> Hash {
    let name = keccak256(name);
    let version = keccak256(version);
    let chain = word_of_u64(chain_id);
    match contract {
        Some(contract) => hash_parts(&[
            keccak256(DOMAIN_TYPE).as_slice(),
            name.as_slice(),
            version.as_slice(),
            &chain,
            &word_of_address(contract),
        ]),
        None => hash_parts(&[
            keccak256(DOMAIN_TYPE_WITHOUT_CONTRACT).as_slice(),
            name.as_slice(),
            version.as_slice(),
            &chain,
        ]),
    }
}

/// The type of a domain of this exchange alone: its salt names the journal.
pub const DOMAIN_TYPE_WITH_SALT: &str =
    "EIP712Domain(string name,string version,uint256 chainId,bytes32 salt)";

/// Separator of a domain with name, version, chain and salt; no contract.
#[must_use]
pub fn domain_separator_with_salt(
    name: &str,
    version: &str,
    chain_id: u64,
    salt: &[u8; 32],
) -> Hash {
    hash_parts(&[
        keccak256(DOMAIN_TYPE_WITH_SALT).as_slice(),
        keccak256(name).as_slice(),
        keccak256(version).as_slice(),
        &word_of_u64(chain_id),
        salt,
    ])
}

/// The hash that is signed: a struct hash under a domain.
#[must_use]
pub fn digest(separator: &Hash, struct_hash: &Hash) -> Hash {
    hash_parts(&[b"\x19\x01", separator, struct_hash])
}

/// Struct hash of an order, from its eleven 32-byte words.
#[must_use]
pub fn order_struct_hash(words: &[u8; WORDS_BYTES]) -> Hash {
    hash_parts(&[ORDER_TYPE_HASH.as_slice(), words])
}

/// Identity of an order under a domain (docs/api/authentication.md §5); signature types 0 to 2 sign
/// it.
#[must_use]
pub fn order_id(separator: &Hash, words: &[u8; WORDS_BYTES]) -> OrderId {
    OrderId(digest(separator, &order_struct_hash(words)))
}

/// The hash that the owner of a deposit wallet signs for an order (type 3): the order's struct
/// hash, nested in a statement of the wallet's own domain, under the exchange's domain.
#[must_use]
pub fn nested_digest(
    separator: &Hash,
    contents: &Hash,
    chain_id: u64,
    wallet: WalletAddress,
) -> Hash {
    let nested = hash_parts(&[
        NESTED_TYPE_HASH.as_slice(),
        contents,
        keccak256(DEPOSIT_WALLET_NAME).as_slice(),
        keccak256(DEPOSIT_WALLET_VERSION).as_slice(),
        &word_of_u64(chain_id),
        &word_of_address(wallet),
        &[0; 32],
    ]);
    digest(separator, &nested)
}

/// The hash that an L1 signature signs. `timestamp` is the header's text; `nonce` is big-endian.
#[must_use]
pub fn l1_digest(address: WalletAddress, timestamp: &str, nonce: &[u8; 32], chain_id: u64) -> Hash {
    let statement = hash_parts(&[
        L1_TYPE_HASH.as_slice(),
        &word_of_address(address),
        keccak256(timestamp).as_slice(),
        nonce,
        keccak256(L1_MESSAGE).as_slice(),
    ]);
    digest(
        &domain_separator(L1_DOMAIN_NAME, L1_DOMAIN_VERSION, chain_id, None),
        &statement,
    )
}
