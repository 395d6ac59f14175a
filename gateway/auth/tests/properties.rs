//! Whatever is changed about a signed order or request: it is refused, or it is the same one.

#![allow(clippy::unwrap_used, reason = "a test says what it expects by failing")]

mod common;

use common::{KINDS, domain, order, owner, signer};
use foretell_auth::{
    Domains, KeyOrigin, L2Headers, L2Request, MasterSecret, OrderFields, Signer, Window,
    verify_evidence, verify_l2, verify_order,
};
use foretell_model::evidence::OrderEvidence;
use foretell_model::{Side, TimeMs, TokenId, WalletKind};
use proptest::prelude::*;

fn kinds() -> impl Strategy<Value = WalletKind> {
    prop::sample::select(KINDS.to_vec())
}

fn orders() -> impl Strategy<Value = OrderFields> {
    let words = (any::<[u8; 32]>(), any::<[u8; 32]>(), any::<[u8; 32]>());
    let rest = (kinds(), any::<bool>(), any::<(u64, u64, u64)>());
    (words, any::<[u8; 32]>(), rest).prop_map(|((salt, token, metadata), builder, rest)| {
        let (kind, buy, (maker_amount, taker_amount, timestamp)) = rest;
        OrderFields {
            salt,
            token: TokenId(token),
            maker_amount,
            taker_amount,
            side: if buy { Side::Buy } else { Side::Sell },
            timestamp: TimeMs(timestamp),
            metadata,
            builder,
            ..order(kind)
        }
    })
}

proptest! {
    #[test]
    fn what_is_signed_verifies_and_its_evidence_too(
        order in orders(), neg_risk: bool, index in 0_usize..2
    ) {
        let domain = domain(neg_risk, index);
        let signature = signer().sign_order(&order, &domain);
        let verified =
            verify_order(&order, &signature, &owner(), neg_risk, &Domains::default()).unwrap();
        let mut bytes = Vec::new();
        verified.evidence(&signature).encode(&mut bytes);
        let evidence = OrderEvidence::decode(&bytes).unwrap();
        prop_assert_eq!(evidence.domain, domain.number());
        prop_assert_eq!(evidence.maker(), order.maker);
        prop_assert_eq!(
            verify_evidence(&evidence, &domain),
            Ok((verified.order, signer().address()))
        );
    }

    #[test]
    fn a_changed_signature_fails_or_is_the_same_order(
        kind in kinds(), at in any::<prop::sample::Index>(), change in 1_u8..
    ) {
        let order = order(kind);
        let domains = Domains::default();
        let signature = signer().sign_order(&order, &domain(false, 0));
        let id = verify_order(&order, &signature, &owner(), false, &domains).unwrap().order;
        let mut changed = signature.clone();
        let at = at.index(changed.len());
        changed[at] ^= change;
        if let Ok(verified) = verify_order(&order, &changed, &owner(), false, &domains) {
            // Only the two spellings of v.
            prop_assert_eq!(at, 64);
            prop_assert_eq!(changed[64] % 27, signature[64] % 27);
            prop_assert_eq!(verified.order, id);
        }
    }

    #[test]
    fn a_changed_word_fails_or_recovers_somebody_else(
        kind in kinds(), at in any::<prop::sample::Index>(), change in 1_u8..
    ) {
        let order = order(kind);
        let domain = domain(false, 0);
        let signature = signer().sign_order(&order, &domain);
        let verified =
            verify_order(&order, &signature, &owner(), false, &Domains::default()).unwrap();
        let mut changed = verified.clone();
        let at = at.index(changed.words.len());
        changed.words[at] ^= change;
        let audited = verify_evidence(&changed.evidence(&signature), &domain);
        prop_assert!(audited.is_err(), "byte {at}: {audited:?}");
    }

    #[test]
    fn any_bytes_as_a_signature_are_refused_without_a_panic(
        kind in kinds(), signature in prop::collection::vec(any::<u8>(), 0..400)
    ) {
        let refused =
            verify_order(&order(kind), &signature, &owner(), false, &Domains::default());
        prop_assert!(refused.is_err());
    }

    #[test]
    fn every_private_key_signs_for_its_own_address(key in any::<[u8; 32]>(), digest: [u8; 32]) {
        let Some(signer) = Signer::from_bytes(&key) else { return Ok(()) };
        let signature = signer.sign_digest(&digest);
        let recovered = foretell_auth::signature::Signature::parse(&signature)
            .unwrap()
            .recover(&digest);
        prop_assert_eq!(recovered, Ok(signer.address()));
    }

    #[test]
    fn any_headers_are_refused_without_a_panic(
        address in ".*", passphrase in ".*", signature in ".*", path in "/.*",
        body in prop::collection::vec(any::<u8>(), 0..100), known: bool
    ) {
        let origin = KeyOrigin { owner: signer().address(), nonce: [0; 32] };
        let headers = L2Headers {
            address: &address,
            passphrase: &passphrase,
            timestamp: "1710000000",
            signature: &signature,
        };
        let request = L2Request { method: "POST", path: &path, body: &body };
        let refused = verify_l2(
            &headers,
            &request,
            known.then_some(&origin),
            &MasterSecret::from_bytes([1; 32]),
            80_002,
            Window::default(),
            TimeMs(1_710_000_000_000),
        );
        prop_assert!(refused.is_err());
    }
}
