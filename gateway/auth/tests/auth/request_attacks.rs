//! Attacks on the headers of a request: every row is rejected.

use crate::common;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE};
use common::{signer, stranger};
use foretell_auth::l2::Hint;
use foretell_auth::text::checksum_address;
use foretell_auth::{
    KeyOrigin, L1Error, L1Headers, L2Credentials, L2Error, L2Headers, L2Request, MasterSecret,
    Window, verify_l1, verify_l2,
};
use foretell_model::TimeMs;

const CHAIN: u64 = 80_002;
const SECONDS: u64 = 1_710_000_000;
const NOW: TimeMs = TimeMs(SECONDS * 1_000 + 500);

/// The five headers of a request as a client would send them, for modification.
#[derive(Clone)]
struct Sent {
    address: String,
    passphrase: String,
    timestamp: String,
    signature: String,
    method: &'static str,
    path: &'static str,
    body: Vec<u8>,
}

fn master() -> MasterSecret {
    MasterSecret::from_bytes([42; 32])
}

fn origin() -> KeyOrigin {
    KeyOrigin {
        owner: signer().address(),
        nonce: [0; 32],
    }
}

fn send_at(timestamp: u64, method: &'static str, path: &'static str, body: &[u8]) -> Sent {
    let trio = master().trio(&origin(), CHAIN);
    let credentials = L2Credentials::from_trio(origin().owner, &trio);
    let request = L2Request { method, path, body };
    let headers = credentials.headers("POLY", timestamp, &request);
    let value = |name: &str| {
        let found = headers.iter().find(|(header, _)| header == name);
        found.unwrap().1.clone()
    };
    Sent {
        address: value("POLY_ADDRESS"),
        passphrase: value("POLY_PASSPHRASE"),
        timestamp: value("POLY_TIMESTAMP"),
        signature: value("POLY_SIGNATURE"),
        method,
        path,
        body: body.to_vec(),
    }
}

fn send(body: &[u8]) -> Sent {
    send_at(SECONDS, "POST", "/order", body)
}

fn check(sent: &Sent, origin: Option<&KeyOrigin>) -> Result<[u8; 32], L2Error> {
    let headers = L2Headers {
        address: &sent.address,
        passphrase: &sent.passphrase,
        timestamp: &sent.timestamp,
        signature: &sent.signature,
    };
    let request = L2Request {
        method: sent.method,
        path: sent.path,
        body: &sent.body,
    };
    verify_l2(
        &headers,
        &request,
        origin,
        &master(),
        CHAIN,
        Window::default(),
        NOW,
    )
}

#[test]
fn a_signed_request_passes_in_every_spelling_of_its_hmac() {
    let sent = send(b"{\"a\":1}");
    let proven = check(&sent, Some(&origin())).unwrap();
    let hmac = hex::decode(&sent.signature).unwrap();
    assert_eq!(proven.to_vec(), hmac);
    let padded = [URL_SAFE.encode(&hmac), STANDARD.encode(&hmac)];
    for text in &padded {
        for signature in [text.as_str(), text.trim_end_matches('=')] {
            let respelled = Sent {
                signature: signature.to_owned(),
                address: sent.address.to_lowercase(),
                ..sent.clone()
            };
            assert_eq!(
                check(&respelled, Some(&origin())),
                Ok(proven),
                "{signature}"
            );
        }
    }
}

#[test]
fn tampered_hmacs_are_refused() {
    let sent = send(b"{\"a\":1}");
    let hex = &sent.signature;
    let mut flipped = hex::decode(hex).unwrap();
    flipped[31] ^= 1;
    let url = URL_SAFE.encode(hex::decode(hex).unwrap());
    for signature in [
        hex::encode(&flipped),
        URL_SAFE.encode(&flipped),
        hex.to_uppercase(),
        hex[..63].to_owned(),
        hex[..62].to_owned(),
        format!("{hex}0"),
        format!("{hex}00"),
        url[..42].to_owned(),
        url.to_lowercase(),
        "0".repeat(64),
        String::new(),
    ] {
        let tampered = Sent {
            signature,
            ..sent.clone()
        };
        assert_eq!(
            check(&tampered, Some(&origin())),
            Err(L2Error::Credentials(Hint::Signature)),
            "{}",
            tampered.signature
        );
    }
}

#[test]
fn a_hmac_is_for_one_method_path_body_and_timestamp() {
    let sent = send(br#"{"a":1,"b":2}"#);
    let other = |change: &dyn Fn(&mut Sent)| {
        let mut changed = sent.clone();
        change(&mut changed);
        check(&changed, Some(&origin()))
    };
    let refused = Err(L2Error::Credentials(Hint::Signature));
    assert_eq!(other(&|sent| sent.method = "DELETE"), refused);
    assert_eq!(other(&|sent| sent.method = "post"), refused);
    assert_eq!(other(&|sent| sent.path = "/orders"), refused);
    assert_eq!(other(&|sent| sent.path = "/order/"), refused);
    assert_eq!(other(&|sent| sent.path = "/order?a=1"), refused);
    assert_eq!(
        other(&|sent| sent.body = br#"{"a": 1, "b": 2}"#.to_vec()),
        refused
    );
    assert_eq!(
        other(&|sent| sent.body = br#"{"b":2,"a":1}"#.to_vec()),
        refused
    );
    assert_eq!(other(&|sent| sent.body.clear()), refused);
    assert_eq!(
        other(&|sent| sent.timestamp = (SECONDS + 1).to_string()),
        refused
    );
    assert!(other(&|_| {}).is_ok());
}

/// The HMAC of `signed` sent with `body`.
fn check_body(signed: &str, body: &str) -> Result<[u8; 32], L2Error> {
    let sent = Sent {
        body: body.as_bytes().to_vec(),
        ..send(signed.as_bytes())
    };
    check(&sent, Some(&origin()))
}

#[test]
fn a_body_with_apostrophes_may_be_signed_in_either_form() {
    for text in ["it's", "rock 'n' roll", "'tis", "the dogs'", "''", "5'10"] {
        let body = format!(r#"{{"reference":"{text}","wallet": "0x1" }}"#);
        let quoted = body.replace('\'', "\"");
        assert!(check_body(&body, &body).is_ok(), "{body}");
        assert!(check_body(&quoted, &body).is_ok(), "{body}");
        // The reverse (signed with `'`, sent with `"`) is a form that no client uses.
        let reversed = check_body(&body, &quoted);
        assert_eq!(reversed, Err(L2Error::Credentials(Hint::Signature)));
    }
}

#[test]
fn a_hmac_of_one_body_fits_no_other_of_its_quotes() {
    let one = r#"{"wallet":"0x1","reference":"r1","note":"x","more":"y"}"#;
    let apostrophe = r#"{"wallet":"0x1","reference":"it's","note":"x"}"#;
    let refused = Err(L2Error::Credentials(Hint::Signature));
    for (signed, body) in [
        (
            one,
            r#"{"wallet":"0x1","reference":"r1','note':'x","more":"y"}"#,
        ),
        (
            one,
            r#"{"wallet":"0x1","reference":"r1","note":"x','more':'y"}"#,
        ),
        (
            one,
            r#"{"wallet':'0x1','reference":"r1","note":"x","more":"y"}"#,
        ),
        (one, &one.replace('"', "'")),
        (r#"{"a":"b" , "c":"d"}"#, r#"{"a":"b' , 'c":"d"}"#),
        (r#"["a","b"]"#, r#"["a','b"]"#),
        (r#"{"a":"\"","b":1}"#, r#"{"a":"\'","b":1}"#),
        (
            &apostrophe.replace('\'', "\""),
            r#"{"wallet":"0x1","reference":"it's','note':'x"}"#,
        ),
    ] {
        assert_eq!(check_body(signed, body), refused, "{signed} as {body}");
    }
}

#[test]
fn timestamps_of_l2() {
    let at = |timestamp| {
        check(
            &send_at(timestamp, "GET", "/data/orders", b""),
            Some(&origin()),
        )
    };
    for good in [SECONDS, SECONDS - 60, SECONDS + 10] {
        assert!(at(good).is_ok(), "{good}");
        assert!(at(good * 1_000).is_ok(), "{good} in milliseconds");
    }
    for bad in [SECONDS - 61, SECONDS + 11, 0, u64::MAX, SECONDS * 1_000_000] {
        assert!(matches!(at(bad), Err(L2Error::Timestamp(_))), "{bad}");
    }
    for text in [
        "-1",
        "1e9",
        "1710000000.5",
        "01710000000",
        "",
        "18446744073709551616",
    ] {
        let sent = Sent {
            timestamp: text.to_owned(),
            ..send(b"")
        };
        let refused = check(&sent, Some(&origin()));
        assert!(matches!(refused, Err(L2Error::Timestamp(_))), "{text}");
    }
}

#[test]
fn wrong_credentials_all_give_one_error() {
    let sent = send(b"{}");
    let change = |change: &dyn Fn(&mut Sent)| {
        let mut changed = sent.clone();
        change(&mut changed);
        changed
    };
    let other_key = KeyOrigin {
        owner: origin().owner,
        nonce: [1; 32],
    };
    let good = Some(origin());
    let address = checksum_address(stranger().address());
    let cases = [
        (sent.clone(), None, Hint::Key),
        (change(&|sent| sent.passphrase.clear()), None, Hint::Key),
        (
            change(&|sent| sent.address = address.clone()),
            good,
            Hint::Address,
        ),
        (change(&|sent| _ = sent.address.pop()), good, Hint::Address),
        (change(&|sent| sent.address.push('0')), good, Hint::Address),
        (change(&|sent| sent.address.clear()), good, Hint::Address),
        (
            change(&|sent| sent.passphrase.clear()),
            good,
            Hint::Passphrase,
        ),
        (
            change(&|sent| _ = sent.passphrase.pop()),
            good,
            Hint::Passphrase,
        ),
        (sent.clone(), Some(other_key), Hint::Passphrase),
        (
            change(&|sent| sent.signature.clear()),
            good,
            Hint::Signature,
        ),
    ];
    for (sent, origin, hint) in cases {
        let error = check(&sent, origin.as_ref()).unwrap_err();
        assert_eq!(error, L2Error::Credentials(hint));
        assert_eq!(error.to_string(), "Unauthorized/Invalid api key");
    }
}

#[test]
fn nobody_can_sign_for_the_key_that_does_not_exist() {
    // The secrets that unknown keys are checked against, as if they had leaked.
    let nobody = KeyOrigin {
        owner: foretell_model::WalletAddress::ZERO,
        nonce: [0xff; 32],
    };
    let credentials = L2Credentials::from_trio(nobody.owner, &master().trio(&nobody, CHAIN));
    let request = L2Request {
        method: "POST",
        path: "/order",
        body: b"",
    };
    let headers = credentials.headers("POLY", SECONDS, &request);
    let sent = Sent {
        address: headers[0].1.clone(),
        passphrase: headers[2].1.clone(),
        timestamp: headers[3].1.clone(),
        signature: headers[4].1.clone(),
        ..send(b"")
    };
    assert_eq!(check(&sent, None), Err(L2Error::Credentials(Hint::Key)));
}

/// The L1 headers of the development key, for modification.
fn l1(chain: u64, timestamp: u64, nonce: u64) -> [String; 4] {
    let headers = signer().l1_headers("POLY", chain, timestamp, nonce);
    let values: Vec<String> = headers.into_iter().map(|(_, value)| value).collect();
    values.try_into().unwrap()
}

fn check_l1(
    [address, signature, timestamp, nonce]: &[String; 4],
    chain_header: Option<&str>,
) -> Result<KeyOrigin, L1Error> {
    let headers = L1Headers {
        address,
        signature,
        timestamp,
        nonce: Some(nonce),
        chain_id: chain_header,
    };
    verify_l1(&headers, CHAIN, Window::default(), NOW)
}

#[test]
fn an_l1_statement_is_for_one_address_chain_time_and_nonce() {
    let good = l1(CHAIN, SECONDS, 7);
    let identity = check_l1(&good, None).unwrap();
    assert_eq!(identity.owner, signer().address());
    assert_eq!(identity.nonce[31], 7);
    assert_eq!(check_l1(&good, Some("80002")), Ok(identity));
    for other in ["137", "080002", "0x13882", ""] {
        assert_eq!(check_l1(&good, Some(other)), Err(L1Error::Chain(CHAIN)));
    }
    assert_eq!(
        check_l1(&l1(137, SECONDS, 7), None),
        Err(L1Error::OtherSigner)
    );
    let with = |index: usize, text: &str| {
        let mut changed = good.clone();
        changed[index] = text.to_owned();
        check_l1(&changed, None)
    };
    assert_eq!(with(3, "8"), Err(L1Error::OtherSigner));
    assert_eq!(
        with(0, &checksum_address(stranger().address())),
        Err(L1Error::OtherSigner)
    );
    assert_eq!(
        with(2, &(SECONDS + 1).to_string()),
        Err(L1Error::OtherSigner)
    );
    for nonce in [
        "-1",
        "07",
        "1.0",
        "",
        "0x7",
        "115792089237316195423570985008687907853269984665640564039457584007913129639936", // 2^256
        &format!("1{}", "0".repeat(78)),
    ] {
        assert_eq!(with(3, nonce), Err(L1Error::Nonce), "{nonce}");
    }
    for address in ["", "0x", &good[0][..41], &format!("{}0", good[0])] {
        assert_eq!(with(0, address), Err(L1Error::Address), "{address}");
    }
    for signature in [
        "",
        "0x",
        &good[1][..131],
        &good[1][2..],
        &format!("{}0", good[1]),
    ] {
        let refused = with(1, signature);
        assert_eq!(refused, Err(L1Error::SignatureText), "{signature}");
    }
}

#[test]
fn an_l1_statement_cannot_be_replayed_later_and_absent_nonce_is_zero() {
    for timestamp in [SECONDS - 61, SECONDS + 11, SECONDS * 1_000] {
        let refused = check_l1(&l1(CHAIN, timestamp, 0), None);
        assert!(matches!(refused, Err(L1Error::Timestamp(_))), "{timestamp}");
    }
    let [address, signature, timestamp, _] = l1(CHAIN, SECONDS - 60, 0);
    let headers = L1Headers {
        address: &address,
        signature: &signature,
        timestamp: &timestamp,
        nonce: None,
        chain_id: None,
    };
    let identity = verify_l1(&headers, CHAIN, Window::default(), NOW).unwrap();
    assert_eq!(identity.nonce, [0; 32]);
}
