//! Attacks on signed orders. The check that a row names rejects it, unless the row is the same
//! order.

use crate::common;

use common::{DEPOSIT, KINDS, PROXY, SAFE, domain, order, owner, signer, stranger, verify_order};
use foretell_auth::signature::MalformedSignature;
use foretell_auth::{
    Domain, Domains, Markets, OrderFields, OwnerWallets, SignatureError, Verified, verify_evidence,
};
use foretell_model::{DomainNumber, Side, TimeMs, TokenId, WalletAddress, WalletKind};

fn verify(order: &OrderFields, signature: &[u8]) -> Result<Verified, SignatureError> {
    verify_order(order, signature, &owner(), false, &Domains::default())
}

#[test]
fn every_kind_of_signature_is_taken_under_every_domain_of_its_market() {
    for kind in KINDS {
        for neg_risk in [false, true] {
            for index in [0, 1] {
                let (order, domain) = (order(kind), domain(neg_risk, index));
                let signature = signer().sign_order(&order, &domain);
                let verified =
                    verify_order(&order, &signature, &owner(), neg_risk, &Domains::default())
                        .unwrap();
                assert_eq!(verified.domain, domain.number());
                assert_eq!(verified.words, order.words());
            }
        }
    }
}

#[test]
fn a_malleated_twin_is_refused_and_another_spelling_of_v_is_the_same_order() {
    for kind in KINDS {
        let order = order(kind);
        let signature = signer().sign_order(&order, &domain(false, 0));
        let id = verify(&order, &signature).unwrap().order;

        let mut spelled = signature.clone();
        spelled[64] -= 27;
        assert_eq!(verify(&order, &spelled).unwrap().order, id);

        let mut twin = signature;
        let s: [u8; 32] = twin[32..64].try_into().unwrap();
        twin[32..64].copy_from_slice(&group_order_minus(s));
        twin[64] = 27 + 28 - twin[64];
        assert_eq!(
            verify(&order, &twin),
            Err(SignatureError::Malformed(MalformedSignature::HighS))
        );
    }
}

/// n − s, big-endian.
fn group_order_minus(s: [u8; 32]) -> [u8; 32] {
    use alloy_primitives::U256;
    let order = "0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141";
    (order.parse::<U256>().unwrap() - U256::from_be_bytes(s)).to_be_bytes()
}

#[test]
fn other_chain_contract_name_or_version() {
    let ours = domain(false, 0);
    let make = |name: &str, version: &str, chain: u64, contract| {
        Domain::new(
            DomainNumber(1),
            name,
            version,
            chain,
            contract,
            Markets::Both,
        )
        .unwrap()
    };
    let name = "Polymarket CTF Exchange";
    let others = [
        make(name, "2", 137, ours.contract()),
        make(name, "2", 80_002, WalletAddress([9; 20])),
        make("Other CTF Exchange", "2", 80_002, ours.contract()),
        make(name, "1", 80_002, ours.contract()),
        domain(true, 0), // the neg-risk contract, for a plain market
    ];
    for other in others {
        for kind in KINDS {
            let order = order(kind);
            let signature = signer().sign_order(&order, &other);
            let expected = match kind {
                WalletKind::Deposit => SignatureError::DomainSeparator,
                _ => SignatureError::OtherSigner,
            };
            assert_eq!(verify(&order, &signature), Err(expected), "{other:?}");
        }
    }
}

#[test]
fn malformed_signatures() {
    let order = order(WalletKind::Eoa);
    let good = signer().sign_order(&order, &domain(false, 0));
    let with = |at: std::ops::Range<usize>, byte: u8| {
        let mut bytes = good.clone();
        bytes[at].fill(byte);
        bytes
    };
    let cases = [
        (with(0..32, 0), MalformedSignature::R),
        (with(0..32, 0xff), MalformedSignature::R),
        (with(32..64, 0), MalformedSignature::S),
        (with(32..64, 0xff), MalformedSignature::S),
        (with(64..65, 26), MalformedSignature::V(26)),
        (with(64..65, 29), MalformedSignature::V(29)),
        (with(64..65, 255), MalformedSignature::V(255)),
        (good[..64].to_vec(), MalformedSignature::Length(64)),
        (
            [good.as_slice(), &[0]].concat(),
            MalformedSignature::Length(66),
        ),
        (Vec::new(), MalformedSignature::Length(0)),
    ];
    for (signature, expected) in cases {
        let error = verify(&order, &signature).unwrap_err();
        assert_eq!(error, SignatureError::Malformed(expected));
        assert!(error.to_string().starts_with("invalid signature: "));
    }
    // v = 0 and 1 are spellings of 27 and 28; the wrong one recovers another address.
    let wrong_v = with(64..65, 28 - good[64]);
    assert_eq!(verify(&order, &wrong_v), Err(SignatureError::OtherSigner));
}

#[test]
fn parties_that_do_not_fit() {
    let (me, other) = (signer().address(), stranger().address());
    let change = |kind, maker, signer| OrderFields {
        maker,
        signer,
        ..order(kind)
    };
    use SignatureError::{MakerIsNotSigner, SignerIsNotKeyOwner, WalletNotBound};
    let (eoa, proxy, safe, deposit) = (KINDS[0], KINDS[1], KINDS[2], KINDS[3]);
    let cases = [
        // another owner's order, with our key
        (change(eoa, other, other), SignerIsNotKeyOwner),
        (change(proxy, PROXY, other), SignerIsNotKeyOwner),
        // type 0 for a wallet
        (change(eoa, PROXY, me), MakerIsNotSigner),
        // types 1 to 3 without this binding, or with a wallet of another kind
        (change(proxy, other, me), WalletNotBound(proxy)),
        (change(proxy, SAFE, me), WalletNotBound(proxy)),
        (change(safe, PROXY, me), WalletNotBound(safe)),
        (change(safe, me, me), WalletNotBound(safe)),
        (change(deposit, PROXY, PROXY), WalletNotBound(deposit)),
        (change(deposit, DEPOSIT, me), MakerIsNotSigner),
        (change(deposit, me, me), WalletNotBound(deposit)),
    ];
    for (order, expected) in cases {
        let signature = signer().sign_order(&order, &domain(false, 0));
        assert_eq!(verify(&order, &signature), Err(expected), "{order:?}");
    }
    for kind in [proxy, safe, deposit] {
        let order = order(kind);
        let signature = signer().sign_order(&order, &domain(false, 0));
        let alone = OwnerWallets::alone(me);
        let refused = verify_order(&order, &signature, &alone, false, &Domains::default());
        assert_eq!(refused, Err(WalletNotBound(kind)));
    }
}

#[test]
fn signed_by_a_stranger() {
    for kind in KINDS {
        let order = order(kind);
        let signature = stranger().sign_order(&order, &domain(false, 0));
        assert_eq!(verify(&order, &signature), Err(SignatureError::OtherSigner));
    }
}

#[test]
fn type_3_with_a_wrong_tail() {
    let order = order(WalletKind::Deposit);
    let good = signer().sign_order(&order, &domain(false, 0));
    let flip = |at: usize| {
        let mut bytes = good.clone();
        bytes[at] ^= 1;
        bytes
    };
    let cases = [
        (good[..65].to_vec(), SignatureError::DepositLength(65)),
        (good[..316].to_vec(), SignatureError::DepositLength(316)),
        (
            [good.as_slice(), &[0]].concat(),
            SignatureError::DepositLength(318),
        ),
        (flip(65), SignatureError::DomainSeparator),
        (flip(96), SignatureError::DomainSeparator),
        (flip(97), SignatureError::ContentsHash),
        (flip(128), SignatureError::ContentsHash),
        (flip(129), SignatureError::ContentsType),
        (flip(314), SignatureError::ContentsType),
        (flip(315), SignatureError::ContentsTypeLength),
        (flip(316), SignatureError::ContentsTypeLength),
    ];
    for (signature, expected) in cases {
        assert_eq!(verify(&order, &signature), Err(expected));
    }
    // A plain signature is not accepted as a nested one, nor the reverse.
    let plain = OrderFields {
        signature_type: WalletKind::Eoa,
        ..order
    };
    let plain = signer().sign_order(&plain, &domain(false, 0));
    assert_eq!(
        verify(&order, &plain),
        Err(SignatureError::DepositLength(65))
    );
    let eoa = common::order(WalletKind::Eoa);
    assert_eq!(
        verify(&eoa, &good),
        Err(SignatureError::Malformed(MalformedSignature::Length(317)))
    );
    // Signed for another wallet of the same owner: the tail is valid, the recovery fails.
    let elsewhere = OrderFields {
        maker: WalletAddress([0x12; 20]),
        signer: WalletAddress([0x12; 20]),
        ..order
    };
    let mut signature = signer().sign_order(&elsewhere, &domain(false, 0));
    signature[65..].copy_from_slice(&good[65..]);
    assert_eq!(verify(&order, &signature), Err(SignatureError::OtherSigner));
}

#[test]
fn a_signature_covers_every_field() {
    for kind in KINDS {
        let signed = order(kind);
        let signature = signer().sign_order(&signed, &domain(false, 0));
        let mut changed = [signed; 8];
        changed[0].salt[0] ^= 1;
        changed[1].token = TokenId([3; 32]);
        changed[2].maker_amount += 1;
        changed[3].taker_amount -= 1;
        changed[4].side = Side::Sell;
        changed[5].timestamp = TimeMs(signed.timestamp.0 + 1);
        changed[6].metadata[31] = 1;
        changed[7].builder[31] = 1;
        let expected = match kind {
            WalletKind::Deposit => SignatureError::ContentsHash,
            _ => SignatureError::OtherSigner,
        };
        for order in changed {
            assert_eq!(verify(&order, &signature), Err(expected), "{order:?}");
        }
    }
}

#[test]
fn evidence_with_impossible_words_is_refused() {
    let order = order(WalletKind::Eoa);
    let signature = signer().sign_order(&order, &domain(false, 0));
    let verified = verify(&order, &signature).unwrap();
    for (at, byte, expected) in [
        (8 * 32 - 1, 4, SignatureError::UnknownType),
        (7 * 32, 1, SignatureError::UnknownType), // 2^248: code 0 with a higher bit set
        (2 * 32 - 1, 0, SignatureError::MakerIsNotSigner),
        (32 - 1, 0, SignatureError::OtherSigner),
    ] {
        let mut changed = verified.clone();
        changed.words[at] = byte;
        let refused = verify_evidence(&changed.evidence(&signature), &domain(false, 0));
        assert_eq!(refused, Err(expected), "byte {at}");
    }
}
