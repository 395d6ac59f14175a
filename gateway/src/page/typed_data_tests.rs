use foretell_auth::eip712::ORDER_TYPE;
use foretell_auth::signing::Signer;
use serde_json::json;

use super::*;

const TIMESTAMP: u64 = 1_700_000_000;

fn signer() -> Signer {
    Signer::from_bytes(&[7; 32]).expect("a key")
}

/// The fields of a type, as typed data lists them.
fn fields(type_text: &str) -> Value {
    let inner = type_text.split_once('(').expect("fields").1;
    let pairs = inner.trim_end_matches(')').split(',');
    let field = |pair: &str| {
        let (kind, name) = pair.split_once(' ').expect("type and name");
        json!({ "name": name, "type": kind })
    };
    pairs.map(field).collect()
}

fn order_fields() -> OrderFields {
    let wallet = signer().address();
    OrderFields {
        salt: {
            let mut salt = [0; 32];
            salt[31] = 5;
            salt
        },
        maker: wallet,
        signer: wallet,
        token: TokenId([9; 32]),
        maker_amount: 4_200_000,
        taker_amount: 10_000_000,
        side: Side::Buy,
        signature_type: WalletKind::Eoa,
        timestamp: TimeMs(TIMESTAMP * 1_000),
        metadata: [0; 32],
        builder: [0; 32],
    }
}

/// An order for plain markets as stock clients give it to a wallet.
fn order_data() -> Value {
    let wallet = signer().address().to_string();
    json!({
        "types": { "EIP712Domain": fields(DOMAIN_TYPE), "Order": fields(ORDER_TYPE) },
        "primaryType": "Order",
        "domain": {
            "name": "Polymarket CTF Exchange",
            "version": "2",
            "chainId": 80_002,
            "verifyingContract": "0xE111180000d2663C0091e4f400237545B87B996B",
        },
        "message": {
            "salt": "5",
            "maker": wallet,
            "signer": wallet,
            "tokenId": foretell_wire::text::decimal::uint256_text(&[9; 32]),
            "makerAmount": "4200000",
            "takerAmount": 10_000_000,
            "side": 0,
            "signatureType": 0,
            "timestamp": (TIMESTAMP * 1_000).to_string(),
            "metadata": format!("0x{}", "0".repeat(64)),
            "builder": format!("0x{}", "0".repeat(64)),
        },
    })
}

fn statement_data() -> Value {
    json!({
        "types": {
            "EIP712Domain": fields(DOMAIN_TYPE_WITHOUT_CONTRACT),
            "ClobAuth": fields(L1_TYPE),
        },
        "primaryType": "ClobAuth",
        "domain": { "name": "ClobAuthDomain", "version": "1", "chainId": "0x13882" },
        "message": {
            "address": signer().address().to_string(),
            "timestamp": TIMESTAMP.to_string(),
            "nonce": 0,
            "message": L1_MESSAGE,
        },
    })
}

const SALT: [u8; 32] = [7; 32];

fn withdrawal_data() -> Value {
    json!({
        "types": { "EIP712Domain": fields(DOMAIN_TYPE_WITH_SALT), "Withdrawal": fields(WITHDRAWAL_TYPE) },
        "primaryType": "Withdrawal",
        "domain": {
            "name": "Foretell Withdrawals",
            "version": "1",
            "chainId": 80_002,
            "salt": format!("0x{}", "07".repeat(32)),
        },
        "message": {
            "wallet": signer().address().to_string(),
            "destination": "bank account 7",
            "amount": "2500000",
            "reference": "rent",
            "validUntil": "1795774800000",
        },
    })
}

/// As `a_withdrawal_with_the_genesis_as_salt` of the crate `foretell-auth` knows it.
#[test]
fn a_withdrawal_is_signed_for_this_journal_alone() {
    let data = withdrawal_data();
    let message = WithdrawalMessage {
        wallet: signer().address(),
        destination: "bank account 7",
        amount: Micros(2_500_000),
        reference: "rent",
        valid_until: TimeMs(1_795_774_800_000),
    };
    assert_eq!(digest_for(&data), Ok(message.digest(80_002, &SALT)));
    for (pointer, value, part) in [
        (
            "/domain/salt",
            json!(format!("0x{}", "08".repeat(32))),
            "domain",
        ),
        ("/domain/name", json!("Foretell"), "domain"),
        ("/message/amount", json!("-1"), "message.amount"),
        ("/message/destination", json!(7), "message.destination"),
        (
            "/types/Withdrawal/2/type",
            json!("uint64"),
            "types.Withdrawal",
        ),
    ] {
        let mut wrong = data.clone();
        *wrong.pointer_mut(pointer).expect("a field") = value;
        let why = digest_for(&wrong).expect_err(pointer).to_string();
        assert!(why.contains(part), "{pointer}: {why}");
    }
}

fn digest_for(data: &Value) -> Result<Hash, TypedDataError> {
    digest_of(data, signer().address(), &Domains::default(), &SALT)
}

#[test]
fn the_digests_are_those_of_stock_clients() {
    let domains = Domains::default();
    let domain = domains.iter().next().expect("a domain");
    let digest = digest_for(&order_data()).expect("an order");
    let signed = signer().sign_order(&order_fields(), domain);
    assert_eq!(signer().sign_digest(&digest).to_vec(), signed);

    let digest = digest_for(&statement_data()).expect("a statement");
    let expected = l1_digest(signer().address(), &TIMESTAMP.to_string(), &[0; 32], 80_002);
    assert_eq!(digest, expected);
}

#[test]
fn the_domains_type_may_be_absent() {
    for mut data in [order_data(), statement_data()] {
        let with = digest_for(&data).expect("signable");
        let types = data["types"].as_object_mut().expect("types");
        types.remove("EIP712Domain");
        assert_eq!(digest_for(&data), Ok(with));
    }
}

#[test]
fn other_chains_domains_types_and_signers_are_refused() {
    let other = json!("0x00000000000000000000000000000000000000aa");
    for (pointer, value, part) in [
        ("/domain/chainId", json!(1), "chainId"),
        ("/domain/chainId", json!("137"), "chainId"),
        ("/domain/chainId", Value::Null, "chainId"),
        ("/domain/name", json!("USD Coin"), "domain"),
        ("/domain/version", json!("4"), "domain"),
        ("/domain/verifyingContract", other.clone(), "domain"),
        ("/domain/salt", json!("0x00"), "domain"),
        ("/primaryType", json!("Permit"), "primaryType"),
        ("/types/Order/0/type", json!("uint128"), "types.Order"),
        ("/types/Order", json!([]), "types.Order"),
        ("/types/EIP712Domain/0/name", json!("salt"), "EIP712Domain"),
        ("/message/signer", other.clone(), "signer"),
        ("/message/makerAmount", json!(-1), "makerAmount"),
        ("/message/takerAmount", json!(1.5), "takerAmount"),
        ("/message/side", json!(2), "side"),
        ("/message/signatureType", json!(9), "signatureType"),
        ("/message/salt", json!("0x5"), "salt"),
        ("/message/builder", json!("0x"), "builder"),
    ] {
        check_refused(order_data(), pointer, &value, part);
    }
    for (pointer, value, part) in [
        ("/domain/chainId", json!(137), "chainId"),
        ("/domain/name", json!("ClobAuth"), "domain"),
        ("/domain/verifyingContract", other.clone(), "domain"),
        ("/types/ClobAuth/2/type", json!("uint64"), "types.ClobAuth"),
        ("/message/address", other, "address"),
        (
            "/message/message",
            json!("I give everything away"),
            "message",
        ),
        ("/message/timestamp", json!("now"), "timestamp"),
        ("/message/nonce", json!("-1"), "nonce"),
    ] {
        check_refused(statement_data(), pointer, &value, part);
    }
}

fn check_refused(mut data: Value, pointer: &str, value: &Value, part: &str) {
    let (parent, field) = pointer.rsplit_once('/').expect("a pointer");
    data.pointer_mut(parent).expect("a parent")[field] = value.clone();
    let refused = digest_for(&data).expect_err(pointer).to_string();
    assert!(refused.contains(part), "{pointer} {value}: {refused}");
}

#[test]
fn what_is_no_typed_data_is_refused() {
    for data in [
        json!(null),
        json!([]),
        json!("{}"),
        json!({}),
        json!({"domain": 1}),
    ] {
        assert!(digest_for(&data).is_err(), "{data}");
    }
}
