//! The reader against tables, and against the reader of tungstenite.

use super::*;
use proptest::prelude::*;
use tokio_tungstenite::tungstenite::error::{CapacityError, Error, ProtocolError};
use tokio_tungstenite::tungstenite::protocol::{Role, WebSocketConfig};
use tokio_tungstenite::tungstenite::{Message, WebSocket};

const LIMIT: usize = 1_000;

/// A masked frame: first byte, payload.
fn masked(first: u8, payload: &[u8]) -> Vec<u8> {
    let mask = [0x37, 0xFA, 0x21, 0x3D];
    let mut frame = vec![first];
    match u16::try_from(payload.len()) {
        Ok(length @ 0..=125) => frame.push(MASKED | u8::try_from(length).unwrap()),
        Ok(length) => {
            frame.push(MASKED | 126);
            frame.extend(length.to_be_bytes());
        }
        Err(_) => {
            frame.push(MASKED | 127);
            frame.extend((payload.len() as u64).to_be_bytes());
        }
    }
    frame.extend(mask);
    let payload = payload.iter().zip(mask.iter().cycle());
    frame.extend(payload.map(|(byte, mask)| byte ^ mask));
    frame
}

/// What a reader made of bytes: messages, and the code that ended it.
type Outcome = (Vec<ClientMessage>, Option<u16>);

fn read(bytes: &[u8], piece: usize) -> Outcome {
    let mut reader = FrameReader::new(LIMIT);
    let mut messages = Vec::new();
    for mut piece in bytes.chunks(piece) {
        loop {
            match reader.read(&mut piece) {
                Ok(Some(message)) => messages.push(message),
                Ok(None) => break,
                Err(violation) => return (messages, Some(violation.code)),
            }
        }
    }
    (messages, None)
}

fn text(text: &str) -> ClientMessage {
    ClientMessage::Text(text.to_owned())
}

#[test]
fn messages_are_read_whole_from_any_pieces() {
    let long = "x".repeat(LIMIT);
    let stream = [
        masked(0x81, b"{}"),
        masked(0x01, b"{\"a\""),
        masked(0x89, b"are you there"),
        masked(0x00, b":\""),
        masked(0x8A, b""),
        masked(0x80, "ü\"}".as_bytes()),
        masked(0x81, long.as_bytes()),
        masked(0x81, b""),
        masked(0x88, &[0x03, 0xE8]),
        b"nothing after it is read".to_vec(),
    ]
    .concat();
    let expected = vec![
        text("{}"),
        ClientMessage::Ping(b"are you there".to_vec()),
        ClientMessage::Pong,
        text("{\"a\":\"ü\"}"),
        text(&long),
        text(""),
        ClientMessage::Close,
    ];
    for piece in [1, 2, 3, 7, 64, stream.len()] {
        assert_eq!(read(&stream, piece), (expected.clone(), None), "{piece}");
    }
}

#[test]
fn every_broken_rule_has_its_code() {
    let too_long = masked(0x81, &vec![b'x'; LIMIT + 1]);
    let in_parts = [masked(0x01, &vec![b'x'; LIMIT]), masked(0x80, b"y")].concat();
    let endless = [vec![0x81, 0xFF], vec![0xFF; 8], vec![0; 4]].concat();
    for (what, bytes, code) in [
        ("unmasked", vec![0x81, 0x02, b'{', b'}'], 1002),
        ("binary", masked(0x82, b"{}"), 1003),
        ("not UTF-8", masked(0x81, b"\xFF\xFE"), 1007),
        ("surrogate", masked(0x81, b"\xED\xA0\x80"), 1007),
        ("too long", too_long, 1009),
        ("too long in parts", in_parts, 1009),
        ("length of 64 bits", endless, 1009),
        ("fragmented ping", masked(0x09, b"x"), 1002),
        ("long ping", masked(0x89, &[0; 126]), 1002),
        ("reserved bit", masked(0xC1, b"{}"), 1002),
        ("opcode 3", masked(0x83, b"{}"), 1002),
        ("opcode 11", masked(0x8B, b""), 1002),
        ("continuation of nothing", masked(0x80, b"{}"), 1002),
        (
            "text inside of a text",
            [masked(0x01, b"{"), masked(0x81, b"}")].concat(),
            1002,
        ),
        ("close of one byte", masked(0x88, b"x"), 1002),
        ("close code 1005", masked(0x88, &[0x03, 0xED]), 1002),
        ("close code 999", masked(0x88, &[0x03, 0xE7]), 1002),
        ("close reason", masked(0x88, &[0x03, 0xE8, 0xFF]), 1007),
        ("no WebSocket", b"GET / HTTP/1.1\r\n\r\n".to_vec(), 1002),
    ] {
        assert_eq!(read(&bytes, 1), (Vec::new(), Some(code)), "{what}");
        assert_eq!(read(&bytes, bytes.len()).1, Some(code), "{what}");
    }
}

#[test]
fn nothing_is_kept_after_a_broken_rule() {
    let endless = [vec![0x89, 0xFF], vec![0x7F; 8], vec![0; 4]].concat();
    for start in [endless, masked(0x82, b"{}"), masked(0x88, &[0x03, 0xE8])] {
        let mut reader = FrameReader::new(LIMIT);
        let mut bytes = &start[..];
        assert!(!matches!(reader.read(&mut bytes), Ok(None)));
        for _ in 0..4 {
            let mut later = &[0x7F; 1_000][..];
            assert_eq!(reader.read(&mut later), Ok(None));
            assert!(later.is_empty());
        }
        assert_eq!((reader.control.capacity(), reader.held()), (0, 0));
    }
}

#[test]
fn who_looks_for_the_end_holds_no_text() {
    let mut reader = FrameReader::new(LIMIT);
    let first = masked(0x01, &[b'x'; 900]);
    assert_eq!(reader.read(&mut &first[..]), Ok(None));
    assert_eq!(reader.held(), 900);
    reader.drop_texts();
    let later = [masked(0x00, &[b'y'; 900]), masked(0x80, b"z")].concat();
    let mut later = &later[..];
    assert_eq!(reader.read(&mut later), Ok(Some(text(""))));
    assert_eq!(reader.held(), 0);
    let end = masked(0x88, &[0x03, 0xE8]);
    let mut end = &end[..];
    assert_eq!(reader.read(&mut end), Ok(Some(ClientMessage::Close)));
}

#[test]
fn reasons_are_cut_to_a_control_frame() {
    let frame = close_frame(4008, &"ü".repeat(100));
    assert_eq!(frame.len(), 2 + 2 + 122, "no half of a character");
    assert_eq!(frame[1], 124);
    assert_eq!(&close_frame(1000, "")[..], [0x88, 2, 0x03, 0xE8]);
    assert_eq!(&pong_frame(b"ab")[..], [0x8A, 2, b'a', b'b']);
    assert_eq!(&PING_FRAME[..], [0x89, 0]);
}

/// The same bytes through tungstenite.
fn read_by_tungstenite(bytes: &[u8]) -> Outcome {
    let config = WebSocketConfig::default()
        .max_message_size(Some(LIMIT))
        .max_frame_size(Some(LIMIT));
    let stream = OneWay(std::io::Cursor::new(bytes.to_vec()));
    let mut socket = WebSocket::from_raw_socket(stream, Role::Server, Some(config));
    let mut messages = Vec::new();
    loop {
        let message = match socket.read() {
            Ok(Message::Text(text)) => ClientMessage::Text(text.as_str().to_owned()),
            Ok(Message::Ping(payload)) => ClientMessage::Ping(payload.to_vec()),
            Ok(Message::Pong(_)) => ClientMessage::Pong,
            Ok(Message::Binary(_)) => return (messages, Some(1003)),
            // It replaces a close frame with an invalid code by one of its own.
            Ok(Message::Close(Some(frame))) if frame.reason.as_str() == "Protocol violation" => {
                return (messages, Some(1002));
            }
            Ok(Message::Close(_)) => ClientMessage::Close,
            Ok(Message::Frame(_)) => panic!("a reader gives whole messages"),
            Err(Error::Utf8(_)) => return (messages, Some(1007)),
            Err(Error::Capacity(CapacityError::MessageTooLong { .. })) => {
                return (messages, Some(1009));
            }
            Err(Error::Protocol(ProtocolError::ResetWithoutClosingHandshake)) => {
                return (messages, None);
            }
            Err(Error::Protocol(_)) => return (messages, Some(1002)),
            Err(_) => return (messages, None),
        };
        let is_last = message == ClientMessage::Close;
        messages.push(message);
        if is_last {
            return (messages, None);
        }
    }
}

/// Bytes to read; what is written goes nowhere.
struct OneWay(std::io::Cursor<Vec<u8>>);

impl std::io::Read for OneWay {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        self.0.read(buffer)
    }
}

impl std::io::Write for OneWay {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Frames as a client might send them: mostly by the rules.
fn frames() -> impl Strategy<Value = Vec<u8>> {
    let payload = prop_oneof![
        4 => "[a-zü]{0,40}".prop_map(String::into_bytes),
        1 => proptest::collection::vec(any::<u8>(), 0..40),
        1 => (0..1_100_usize).prop_map(|length| vec![b'x'; length]),
        // tungstenite does not know the registered code 1014.
        1 => prop_oneof![990..1_014_u16, 1_015..1_020_u16].prop_map(|code| code.to_be_bytes().to_vec()),
    ];
    let first = prop_oneof![
        8 => proptest::sample::select(vec![0x81, 0x01, 0x00, 0x80, 0x89, 0x8A]),
        1 => Just(0x88),
        1 => any::<u8>(),
    ];
    let frame = (first, payload).prop_map(|(first, payload)| masked(first, &payload));
    let frames = proptest::collection::vec(frame, 1..8).prop_map(|frames| frames.concat());
    prop_oneof![
        8 => frames.clone(),
        1 => (frames, any::<proptest::sample::Index>(), any::<u8>()).prop_map(
            |(mut bytes, at, value)| {
                let at = at.index(bytes.len());
                bytes[at] = value;
                bytes
            }
        ),
        1 => proptest::collection::vec(any::<u8>(), 0..64),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn it_reads_as_tungstenite_does(bytes in frames(), piece in 1..50_usize) {
        let (messages, code) = read(&bytes, piece);
        let (expected, other) = read_by_tungstenite(&bytes);
        // Both end broken streams; tungstenite may report another rule first.
        let common = messages.len().min(expected.len());
        prop_assert_eq!(&messages[..common], &expected[..common]);
        let goes_on_without_text = |later: &[ClientMessage]| {
            let mut later = later[common..].iter();
            !later.any(|it| matches!(it, ClientMessage::Text(_)))
        };
        match (code, other) {
            (Some(_), Some(_)) => {}
            // An unfinished message may break a rule already; one of the two reports it then, the
            // other goes on with the control frames behind.
            (Some(_), None) => prop_assert!(goes_on_without_text(&expected)),
            (None, Some(1007)) => prop_assert!(goes_on_without_text(&messages)),
            (code, other) => {
                prop_assert_eq!(code, other);
                prop_assert_eq!(messages, expected);
            }
        }
    }
}
