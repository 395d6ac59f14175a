//! Malformed signatures, and the malleated form of a valid one.

use foretell_ops::trader::SignedOrder;
use serde_json::json;

use crate::end_to_end::bad_input::orders::Case;
use crate::end_to_end::bad_input::with;

/// The bytes of an order's signature.
pub(crate) fn signature(order: &SignedOrder) -> Vec<u8> {
    let text = order.body["order"]["signature"].as_str();
    hex::decode(&text.expect("a signature")[2..]).expect("hex")
}

/// The body of an order under another signature.
pub(crate) fn signed_with(order: &SignedOrder, signature: &[u8]) -> String {
    let text = format!("0x{}", hex::encode(signature));
    with(order, "signature", json!(text))
}

/// The fault, the body, and the expected part of the error.
pub(crate) fn bad_signatures(valid: &SignedOrder) -> Vec<Case> {
    let mut bytes = signature(valid);
    let v = bytes[64];
    let mut cases = Vec::new();
    let mut case = |what: &str, bytes: &[u8]| {
        cases.push((
            format!("signature {what}"),
            signed_with(valid, bytes),
            "invalid signature",
        ));
    };
    case("truncated", &bytes[..64]);
    case("of one byte more", &[&bytes[..], &[0]].concat());
    case("of zeros", &[0; 65]);
    case("empty", &[]);
    for wrong in [2, 26, 29, 255] {
        bytes[64] = wrong;
        case(&format!("with v {wrong}"), &bytes);
    }
    bytes[64] = v;
    case("with r zero", &[&[0; 32], &bytes[32..]].concat());
    case(
        "with s zero",
        &[&bytes[..32], &[0; 32], &bytes[64..]].concat(),
    );
    case("malleated", &malleated(&bytes));
    bytes[3] ^= 1;
    case("with a flipped bit", &bytes);
    cases
}

/// The malleated signature that recovers to the same key: n − s and the other parity.
pub(crate) fn malleated(signature: &[u8]) -> Vec<u8> {
    use alloy_primitives::{U256, uint};
    let order = uint!(0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141_U256);
    let s = order - U256::from_be_slice(&signature[32..64]);
    let mut twin = signature.to_vec();
    twin[32..64].copy_from_slice(&s.to_be_bytes::<32>());
    twin[64] = 27 + 28 - signature[64];
    twin
}
