//! Any change to a signed order or request makes it invalid or leaves its meaning the same.

use crate::common;

use common::{KINDS, domain, order, owner, signer, verify_order};
use foretell_auth::l2::request_hmac;
use foretell_auth::{
    Domains, KeyOrigin, L2Headers, L2Request, MasterSecret, OrderFields, Signer, Window,
    verify_evidence, verify_l2,
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

/// JSON texts whose strings contain apostrophes and all characters that may adjoin a quote.
fn json_texts() -> impl Strategy<Value = String> {
    let text = prop::collection::vec(
        prop::sample::select(vec![
            "'", "'", "a", " ", ",", ":", "{", "}", "[", "]", "\\\"", "\\\\",
        ]),
        0..6,
    )
    .prop_map(|pieces| format!("\"{}\"", pieces.concat()));
    let space = prop::sample::select(vec!["", "", " ", "\n\t"]);
    text.prop_recursive(2, 6, 3, move |inner| {
        let members = prop::collection::vec((inner, space.clone()), 1..4);
        (members, any::<bool>()).prop_map(|(members, object)| {
            let separated = |(value, space): (String, &str)| match object {
                true => format!("{space}\"k\"{space}:{space}{value}{space}"),
                false => format!("{space}{value}{space}"),
            };
            let members: Vec<String> = members.into_iter().map(separated).collect();
            let members = members.join(",");
            if object {
                format!("{{{members}}}")
            } else {
                format!("[{members}]")
            }
        })
    })
}

/// Replaces some double quotes by single ones; each bit of `choice` decides for one quote.
fn requoted(quoted: &str, mut choice: u64) -> String {
    let turn = |letter| match letter {
        '"' => {
            let single = choice & 1 == 1;
            choice >>= 1;
            if single { '\'' } else { '"' }
        }
        other => other,
    };
    quoted.chars().map(turn).collect()
}

fn accepts(signed: &str, body: &str) -> bool {
    let master = MasterSecret::from_bytes([1; 32]);
    let origin = KeyOrigin {
        owner: signer().address(),
        nonce: [0; 32],
    };
    let trio = master.trio(&origin, 80_002);
    let request = |body| L2Request {
        method: "POST",
        path: "/positions/split",
        body,
    };
    let hmac = request_hmac(&trio.secret, "1710000000", &request(signed.as_bytes()));
    let headers = L2Headers {
        address: &origin.owner.to_string(),
        passphrase: &trio.passphrase.text(),
        timestamp: "1710000000",
        signature: &hex::encode(hmac),
    };
    let now = TimeMs(1_710_000_000_000);
    let request = request(body.as_bytes());
    let window = Window::default();
    verify_l2(
        &headers,
        &request,
        Some(&origin),
        &master,
        80_002,
        window,
        now,
    )
    .is_ok()
}

proptest! {
    /// Of all JSON bodies that differ in quotes only, at most one passes with a given HMAC.
    #[test]
    fn one_hmac_fits_one_json_body(body in json_texts(), choices: [u64; 16]) {
        let quoted = body.replace('\'', "\"");
        let quotes = quoted.matches('"').count();
        let all: Vec<u64> = if quotes <= 8 { (0..1 << quotes).collect() } else { choices.to_vec() };
        let is_json = |text: &String| serde_json::from_str::<serde_json::Value>(text).is_ok();
        let mut meant: Vec<String> = all.iter().map(|choice| requoted(&quoted, *choice)).collect();
        meant.push(body.clone());
        meant.retain(|other| is_json(other) && accepts(&quoted, other));
        meant.sort();
        meant.dedup();
        prop_assert!(meant.len() <= 1, "{quoted}: {meant:?}");
        // A body that is sent as signed always passes, and no other body passes with its HMAC.
        prop_assert!(accepts(&body, &body));
        let mut others = all.iter().map(|choice| requoted(&quoted, *choice));
        let other = others.find(|other| *other != body && is_json(other) && accepts(&body, other));
        prop_assert!(body == quoted || other.is_none(), "{body}: {other:?}");
    }

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
