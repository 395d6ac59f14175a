//! Shared by the tests: well-known development keys and orders.
#![allow(
    dead_code,
    unreachable_pub,
    reason = "every test file is a crate of its own and uses a part of this"
)]

use std::sync::LazyLock;

use foretell_auth::quotes::QuotesMessage;
use foretell_auth::text::parse_decimal_256;
use foretell_auth::{Domain, Domains, OrderFields, OwnerWallets, Signer};
use foretell_auth::{KnownSigner, SignatureError, Verified};
use foretell_model::{OrderId, Side, TimeMs, TokenId, WalletAddress, WalletKind};

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

/// The two signers, known.
static KNOWN: LazyLock<[KnownSigner; 2]> =
    LazyLock::new(|| [signer(), stranger()].map(|it| KnownSigner::new(&it.public_key()).unwrap()));

/// Checks an order by recovery, and with each of the two signers known: all decide alike.
pub fn verify_order(
    order: &OrderFields,
    signature: &[u8],
    owner: &OwnerWallets,
    neg_risk: bool,
    domains: &Domains,
) -> Result<Verified, SignatureError> {
    let check =
        |known| foretell_auth::verify_order(order, signature, owner, neg_risk, domains, known);
    let recovered = check(None);
    for known in KNOWN.iter() {
        let mut checked = check(Some(known));
        if let (Ok(checked), Ok(recovered)) = (&mut checked, &recovered) {
            assert_eq!(checked.recovered.is_none(), known.address() == owner.owner);
            checked.recovered = recovered.recovered;
        }
        assert_eq!(checked, recovered);
    }
    recovered
}

/// Checks a set of quotes by recovery, and with each of the two signers known: all decide alike.
pub fn verify_set(
    set: &QuotesMessage<'_>,
    separator: &[u8; 32],
    owner: &OwnerWallets,
    signature: &[u8],
) -> Result<OrderId, SignatureError> {
    let recovered = set.verify(separator, owner, signature, None);
    for known in KNOWN.iter() {
        let checked = set.verify(separator, owner, signature, Some(known));
        if let Ok((key, _)) = checked {
            assert_eq!(key.is_none(), known.address() == owner.owner);
        }
        assert_eq!(checked.map(|(_, id)| id), recovered.map(|(_, id)| id));
    }
    recovered.map(|(_, id)| id)
}
