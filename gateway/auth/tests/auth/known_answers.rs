//! Answers known from elsewhere: those of docs/api/authentication.md always, the recorded vectors
//! where they are available. Their signatures are deterministic, so signing is compared too.

use crate::common;

use common::verify_order;
use foretell_auth::eip712::{
    domain_separator, l1_digest, nested_digest, order_id, order_struct_hash,
};
use foretell_auth::signing::signed_order_id;
use foretell_auth::text::{parse_address, parse_decimal_256, parse_hex_bytes};
use foretell_auth::withdrawal::WithdrawalMessage;
use foretell_auth::{
    Domain, Domains, L1Headers, Markets, OrderFields, OwnerWallets, Signer, Window,
    verify_evidence, verify_l1,
};
use foretell_model::{DomainNumber, Micros, Side, TimeMs, TokenId, WalletAddress, WalletKind};
use serde_json::Value;

#[test]
fn the_order_of_the_documentation() {
    let order = common::order(WalletKind::Deposit);
    let domain = common::domain(false, 0);
    assert_eq!(
        signed_order_id(&order, &domain).to_string(),
        "0x2afca94626db91b2d556c351584a4cd93e13da32e377dc48c7983e43afa5ab47"
    );
    let signature = common::signer().sign_order(&order, &domain);
    assert_eq!(signature.len(), 317);
    assert_eq!(
        hex::encode(&signature[..65]),
        "a3a093c83b6c20c83355c16ce94c92e6e9fcbdeb840618cc74f6c57a42ad145b\
         2b98db73d2c73cbf1f2b6af288566ae81960ddbc3a13921027358a8bff3be6ff1c"
    );
    let verified = verify_order(
        &order,
        &signature,
        &common::owner(),
        false,
        &Domains::default(),
    )
    .unwrap();
    assert_eq!(verified.order, signed_order_id(&order, &domain));
    assert_eq!(verified.domain, domain.number());
    let evidence = verified.evidence(&signature);
    assert_eq!(
        verify_evidence(&evidence, &domain),
        Ok((verified.order, common::signer().address()))
    );
}

/// As eth-account signs it.
#[test]
fn a_withdrawal_with_the_genesis_as_salt() {
    let signer = common::signer();
    let message = WithdrawalMessage {
        wallet: signer.address(),
        destination: "bank account 7",
        amount: Micros(2_500_000),
        reference: "rent",
        valid_until: TimeMs(1_795_774_800_000),
    };
    let digest = message.digest(80_002, &[7; 32]);
    assert_eq!(
        hex::encode(digest),
        "ec06f88e1d17183d3f4544454879636fd674a90cfce80b07b506508422e6254a"
    );
    let signature = signer.sign_digest(&digest);
    assert_eq!(
        hex::encode(signature),
        "281726aad4f157a1624a4414ba541472e32bec65f81454c03f84de2a960b02cc\
         71d154d1aa193a93df342c57cd445e595eacbfb9524ade4ec1293c2517c4b60d1b"
    );
    let signed_by = message.signer(80_002, &[7; 32], &signature);
    assert_eq!(signed_by, Ok(signer.address()));
    for (chain, genesis) in [(80_003, [7; 32]), (80_002, [8; 32])] {
        let signed_by = message.signer(chain, &genesis, &signature);
        assert_ne!(signed_by, Ok(signer.address()), "another exchange");
    }
}

#[test]
fn the_l1_statement_of_the_development_key() {
    let signer = common::signer();
    let headers = signer.l1_headers("POLY", 80_002, 10_000_000, 23);
    assert_eq!(
        headers[1].1,
        "0xf62319a987514da40e57e2f4d7529f7bac38f0355bd88bb5adbb3768d80de6c1\
         682518e0af677d5260366425f4361e7b70c25ae232aff0ab2331e2b164a1aedc1b"
    );
}

#[test]
fn recorded_vectors() {
    let Some(path) = foretell_fixtures::recorded("signing/signing-vectors.json") else {
        return;
    };
    let text = std::fs::read_to_string(path).unwrap();
    let file: Value = serde_json::from_str(&text).unwrap();
    let vectors = file["vectors"].as_array().unwrap();
    assert_eq!(vectors.len(), 21);
    for vector in vectors {
        let kind = text_of(&vector["kind"]);
        println!("{}: {kind}", vector["id"]);
        match kind.split(' ').next().unwrap() {
            "L1" => check_l1(vector),
            "L2" => check_l2(vector),
            "EIP-712" => check_separator(vector),
            "V1" => check_old_order(vector),
            "V2" | "V3" => check_order(vector),
            other => panic!("a vector of unknown kind {other}"),
        }
    }
}

fn text_of(value: &Value) -> &str {
    value.as_str().unwrap()
}

fn address(value: &Value) -> WalletAddress {
    parse_address(text_of(value)).unwrap()
}

fn bytes(value: &Value) -> Vec<u8> {
    parse_hex_bytes(text_of(value), 1_024).unwrap()
}

fn bytes32(value: &Value) -> [u8; 32] {
    bytes(value).try_into().unwrap()
}

fn decimal(value: &Value) -> [u8; 32] {
    match value {
        Value::String(text) => parse_decimal_256(text).unwrap(),
        number => parse_decimal_256(&number.to_string()).unwrap(),
    }
}

fn small(value: &Value) -> u64 {
    let word = decimal(value);
    assert_eq!(word[..24], [0; 24]);
    u64::from_be_bytes(word[24..].try_into().unwrap())
}

fn check_l1(vector: &Value) {
    let message = &vector["message"];
    let timestamp = text_of(&message["timestamp"]);
    let nonce = message["nonce"].to_string();
    let claimed = address(&message["address"]);
    assert_eq!(message["message"], foretell_auth::eip712::L1_MESSAGE);
    assert_eq!(
        l1_digest(claimed, timestamp, &decimal(&message["nonce"]), 80_002).to_vec(),
        bytes(&vector["digest"])
    );
    let headers = L1Headers {
        address: text_of(&message["address"]),
        signature: text_of(&vector["signature"]),
        timestamp,
        nonce: Some(&nonce),
        chain_id: None,
    };
    let now = TimeMs(timestamp.parse::<u64>().unwrap() * 1_000);
    let identity = verify_l1(&headers, 80_002, Window::default(), now).unwrap();
    assert_eq!(identity.owner, claimed);
    let signer = Signer::from_hex(text_of(&vector["privateKey"])).unwrap();
    let signed = signer.l1_headers("POLY", 80_002, 10_000_000, 23);
    assert_eq!(signed[1].1, text_of(&vector["signature"]));
}

fn check_l2(vector: &Value) {
    use base64::Engine as _;
    let secret = foretell_auth::keys::ApiSecret::parse(text_of(&vector["secret"])).unwrap();
    let request = foretell_auth::L2Request {
        method: text_of(&vector["method"]),
        path: text_of(&vector["path"]),
        body: text_of(&vector["body"]).as_bytes(),
    };
    let hmac = foretell_auth::l2::request_hmac(&secret, text_of(&vector["timestamp"]), &request);
    assert_eq!(
        base64::engine::general_purpose::URL_SAFE.encode(hmac),
        text_of(&vector["signature"])
    );
}

fn separator(domain: &Value) -> [u8; 32] {
    domain_separator(
        text_of(&domain["name"]),
        text_of(&domain["version"]),
        small(&domain["chainId"]),
        domain.get("verifyingContract").map(address),
    )
}

fn check_separator(vector: &Value) {
    assert_eq!(
        separator(&vector["domain"]).to_vec(),
        bytes(&vector["domainSeparator"])
    );
}

/// Orders of the old version are rejected because of their fields, and their hash is of another
/// struct. Domain, digest and recovery are the same as ours.
fn check_old_order(vector: &Value) {
    use alloy_primitives::keccak256;
    let message = &vector["message"];
    let side = [small(&message["side"]), small(&message["signatureType"])];
    let word = |value: u64| parse_decimal_256(&value.to_string()).unwrap();
    let padded = |field: &str| {
        let mut word = [0; 32];
        word[12..].copy_from_slice(&address(&message[field]).0);
        word
    };
    let words = [
        keccak256(text_of(&vector["type"])).0,
        decimal(&message["salt"]),
        padded("maker"),
        padded("signer"),
        padded("taker"),
        decimal(&message["tokenId"]),
        decimal(&message["makerAmount"]),
        decimal(&message["takerAmount"]),
        decimal(&message["expiration"]),
        decimal(&message["nonce"]),
        decimal(&message["feeRateBps"]),
        word(side[0]),
        word(side[1]),
    ];
    let digest =
        foretell_auth::eip712::digest(&separator(&vector["domain"]), &keccak256(words.concat()).0);
    assert_eq!(digest.to_vec(), bytes(&vector["orderHash"]));
    let signer = Signer::from_hex(text_of(&vector["privateKey"])).unwrap();
    let signature = bytes(&vector["signature"]);
    assert_eq!(signer.sign_digest(&digest).to_vec(), signature);
    let recovered = foretell_auth::signature::Signature::parse(&signature)
        .unwrap()
        .recover(&digest);
    assert_eq!(recovered, Ok(signer.address()));
}

fn check_order(vector: &Value) {
    let message = &vector["message"];
    let fields = OrderFields {
        salt: decimal(&message["salt"]),
        maker: address(&message["maker"]),
        signer: address(&message["signer"]),
        token: TokenId(decimal(&message["tokenId"])),
        maker_amount: small(&message["makerAmount"]),
        taker_amount: small(&message["takerAmount"]),
        side: Side::from_code(u8::try_from(small(&message["side"])).unwrap()).unwrap(),
        signature_type: WalletKind::from_code(
            u8::try_from(small(&message["signatureType"])).unwrap(),
        )
        .unwrap(),
        timestamp: TimeMs(small(&message["timestamp"])),
        metadata: bytes32(&message["metadata"]),
        builder: bytes32(&message["builder"]),
    };
    let described = &vector["domain"];
    let domain = Domain::new(
        DomainNumber(7),
        text_of(&described["name"]),
        text_of(&described["version"]),
        small(&described["chainId"]),
        address(&described["verifyingContract"]),
        Markets::Both,
    )
    .unwrap();
    assert_eq!(*domain.separator(), separator(described));
    let words = fields.words();
    let struct_hash = order_struct_hash(&words);
    if fields.signature_type == WalletKind::Deposit {
        assert_eq!(struct_hash.to_vec(), bytes(&vector["contentsHash"]));
        let nested = nested_digest(
            domain.separator(),
            &struct_hash,
            domain.chain_id(),
            fields.maker,
        );
        assert_eq!(nested.to_vec(), bytes(&vector["digest"]));
    } else {
        assert_eq!(struct_hash.to_vec(), bytes(&vector["structHash"]));
        assert_eq!(
            order_id(domain.separator(), &words).to_string(),
            text_of(&vector["orderHash"])
        );
    }
    let signer = Signer::from_hex(text_of(&vector["privateKey"])).unwrap();
    let signature = bytes(&vector["signature"]);
    assert_eq!(signer.sign_order(&fields, &domain), signature);

    let owner = OwnerWallets {
        owner: signer.address(),
        proxy: Some(fields.maker),
        safe: Some(fields.maker),
        deposit: Some(fields.maker),
    };
    let domains = Domains::new(domain.chain_id(), vec![domain.clone()], true).unwrap();
    let verified = verify_order(&fields, &signature, &owner, false, &domains).unwrap();
    let audited = verify_evidence(&verified.evidence(&signature), &domain);
    assert_eq!(audited, Ok((verified.order, signer.address())));
}
