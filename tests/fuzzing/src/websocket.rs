//! Frames of a stream client: the reader never panics, its messages do not depend on the sizes of
//! reads, and no message is longer than the bound. The requests in its texts are read, too.

use foretell_gateway::{ClientMessage, FrameReader, MAX_REASON, Violation};
use foretell_wire::streams::request::read_requests;

use crate::Seed;

/// Bytes of a message.
const LIMIT: usize = 1_024;

type Outcome = (Vec<ClientMessage>, Option<Violation>);

/// The first byte is the size of the second run's reads.
pub(crate) fn run(input: &[u8]) {
    let Some((piece, bytes)) = input.split_first() else {
        return;
    };
    let whole = read(bytes, bytes.len().max(1));
    assert_eq!(read(bytes, usize::from(*piece).max(1)), whole);
    let (messages, violation) = whole;
    for message in &messages {
        match message {
            ClientMessage::Text(text) => {
                assert!(text.len() <= LIMIT);
                for request in read_requests(text) {
                    let message = request.err().map(|error| error.message);
                    assert!(message.is_none_or(|it| it.contains("allowed: ")));
                }
            }
            ClientMessage::Ping(payload) => assert!(payload.len() <= 125),
            ClientMessage::Pong | ClientMessage::Close => {}
        }
    }
    if let Some(violation) = violation {
        assert!([1002, 1003, 1007, 1009].contains(&violation.code));
        assert!(violation.reason.len() <= MAX_REASON);
    }
    let ends = messages.iter().filter(|it| **it == ClientMessage::Close);
    assert!(ends.count() <= 1);
}

fn read(bytes: &[u8], piece: usize) -> Outcome {
    let mut reader = FrameReader::new(LIMIT);
    let mut messages = Vec::new();
    for mut piece in bytes.chunks(piece) {
        loop {
            match reader.read(&mut piece) {
                Ok(Some(message)) => messages.push(message),
                Ok(None) => break,
                Err(violation) => return (messages, Some(violation)),
            }
        }
    }
    (messages, None)
}

/// A frame with the mask 1, 2, 3, 4, after the byte for the size of reads.
fn frame(first: u8, payload: &[u8]) -> Vec<u8> {
    let mut frame = vec![first];
    match u8::try_from(payload.len()) {
        Ok(length @ 0..=125) => frame.push(0x80 | length),
        _ => {
            let length = u16::try_from(payload.len()).expect("a short seed");
            frame.push(0x80 | 126);
            frame.extend(length.to_be_bytes());
        }
    }
    let mask = [1, 2, 3, 4];
    frame.extend(mask);
    let masked = payload.iter().zip(mask.iter().cycle());
    frame.extend(masked.map(|(byte, mask)| byte ^ mask));
    frame
}

pub(crate) fn seeds() -> Vec<Seed> {
    let subscription = br#"{"type":"market","assets_ids":["1","2"],"custom_feature_enabled":true}"#;
    let user =
        br#"{"type":"user","auth":{"apiKey":"k","secret":"s","passphrase":"p"},"markets":[]}"#;
    let all = [
        frame(0x81, b"PING"),
        frame(0x01, &subscription[..20]),
        frame(0x89, b"still there"),
        frame(0x00, &subscription[20..40]),
        frame(0x80, &subscription[40..]),
        frame(0x8A, b""),
        frame(0x88, &[0x03, 0xE8, b'b', b'y', b'e']),
    ]
    .concat();
    let inputs = [
        ("subscription", frame(0x81, subscription)),
        ("user", frame(0x81, user)),
        ("everything", all),
        ("long", frame(0x81, &[b'['; 1_000])),
        ("binary", frame(0x82, b"{}")),
        ("not-utf8", frame(0x81, b"\xFF")),
        ("unmasked", vec![0x81, 2, b'{', b'}']),
    ];
    let with_size = |(name, bytes): (&'static str, Vec<u8>)| (name, [vec![7], bytes].concat());
    inputs.into_iter().map(with_size).collect()
}
