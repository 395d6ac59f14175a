//! Shared by the tests: well-known development keys and orders.
#![allow(
    dead_code,
    unreachable_pub,
    reason = "every test file is a crate of its own and uses a part of this"
)]

use foretell_auth::text::parse_decimal_256;
use foretell_auth::{Domain, Domains, OrderFields, OwnerWallets, Signer};
use foretell_model::{Side, TimeMs, TokenId, WalletAddress, WalletKind};

/// The first two accounts of the well-known development mnemonic; never fund them.
pub const KEY: &str = "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80";
pub const OTHER_KEY: &str = "0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d";

pub const PROXY: WalletAddress = WalletAddress([0xa1; 20]);
pub const SAFE: WalletAddress = WalletAddress([0xa2; 20]);
pub const DEPOSIT: WalletAddress = WalletAddress([0x11; 20]);

pub const KINDS: [WalletKind; 4] = [
    WalletKind::Eoa,
    WalletKind::Proxy,
    WalletKind::Safe,
    WalletKind::Deposit,
];

pub fn signer() -> Signer {
    Signer::from_hex(KEY).unwrap()
}

pub fn stranger() -> Signer {
    Signer::from_hex(OTHER_KEY).unwrap()
}

/// The owner of [`KEY`] with a wallet of each kind.
pub fn owner() -> OwnerWallets {
    OwnerWallets {
        owner: signer().address(),
        proxy: Some(PROXY),
        safe: Some(SAFE),
        deposit: Some(DEPOSIT),
    }
}

/// The default domain at position `index` of the candidates for markets with this flag.
pub fn domain(neg_risk: bool, index: usize) -> Domain {
    Domains::default()
        .candidates(neg_risk)
        .nth(index)
        .unwrap()
        .clone()
}

/// A valid order of the owner's wallet of a kind: the test vector of docs/api/authentication.md
/// with other parties.
pub fn order(kind: WalletKind) -> OrderFields {
    let maker = owner().wallet(kind).unwrap();
    OrderFields {
        salt: parse_decimal_256("479249096354").unwrap(),
        maker,
        signer: match kind {
            WalletKind::Deposit => maker,
            _ => signer().address(),
        },
        token: TokenId(parse_decimal_256("1234").unwrap()),
        maker_amount: 100_000_000,
        taker_amount: 50_000_000,
        side: Side::Buy,
        signature_type: kind,
        timestamp: TimeMs(1_710_000_000_000),
        metadata: [0; 32],
        builder: [0; 32],
    }
}
