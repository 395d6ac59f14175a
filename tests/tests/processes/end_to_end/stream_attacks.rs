//! Clients that attack the streams: thousands of silent ones, handshakes and messages that never
//! end. They end as `docs/api/streams.md` says; memory stays bounded, and others are served.

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::time::Duration;

use foretell_tests::exchange::{Exchange, Options, PATIENCE};
use foretell_tests::streams::Connection;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde_json::json;
use tokio::net::TcpSocket;

/// Silent connections of the ordinary run; more by `FORETELL_SILENT_STREAMS`.
const SILENT: usize = 400;
/// Streams of one address: fewer than it may have.
const STREAMS_PER_ADDRESS: usize = 300;
/// Memory of a silent stream; kernel buffers are not counted.
const SILENT_BYTES: usize = 32 << 10;

/// Unfinished messages of one client, and the length of each: together twice what it may have.
const UNFINISHED: usize = 64;
const UNFINISHED_BYTES: usize = 500 << 10;
/// What all of them may cost: far less than the messages, more than the bound.
const UNFINISHED_COST: usize = 28 << 20;

const HEAD: &str = "GET /ws/market HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\n\
    Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";

/// A connection from 127.0.0.`client` that sent these bytes.
async fn connect(exchange: &Exchange, client: u8, sent: &[u8]) -> TcpStream {
    let socket = TcpSocket::new_v4().expect("a socket");
    let from = SocketAddr::from((Ipv4Addr::new(127, 0, 0, client), 0));
    socket.bind(from).expect("a loopback address");
    let stream = socket.connect(exchange.address()).await.expect("accepted");
    let mut stream = stream.into_std().expect("a socket");
    stream.set_nonblocking(false).expect("it blocks");
    stream.set_read_timeout(Some(PATIENCE)).expect("a timeout");
    stream.write_all(sent).expect("sent");
    stream
}

/// An upgraded connection.
async fn upgraded(exchange: &Exchange, client: u8) -> TcpStream {
    let request = format!("{HEAD}\r\n");
    let mut stream = connect(exchange, client, request.as_bytes()).await;
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte).expect("an answer");
        head.push(byte[0]);
    }
    let head = String::from_utf8(head).expect("a head");
    assert!(head.starts_with("HTTP/1.1 101"), "{head}");
    stream
}

/// Anonymous memory of the gateway.
fn memory(exchange: &Exchange) -> usize {
    let path = format!("/proc/{}/smaps_rollup", exchange.pid("gateway-1"));
    let text = std::fs::read_to_string(path).expect("it runs");
    let line = text.lines().find(|line| line.starts_with("Anonymous:"));
    let kibibytes = line.and_then(|line| line.split_whitespace().nth(1)?.parse::<usize>().ok());
    kibibytes.expect("a figure") << 10
}

/// Others are served.
async fn is_well(exchange: &Exchange) {
    let mut honest = Connection::open(&exchange.trading, "market").await;
    let honest = honest.as_mut().expect("an upgrade");
    let request = json!({"type": "market", "assets_ids": ["1"], "acks": true});
    honest.send(&request).await.expect("sent");
    honest.until_type("subscribed").await;
}

async fn finish(exchange: Exchange) {
    is_well(&exchange).await;
    exchange.end();
}

/// Everything until the end of the stream; a reset is an end, too.
fn rest(stream: &mut TcpStream) -> Vec<u8> {
    let mut rest = Vec::new();
    match stream.read_to_end(&mut rest) {
        Err(error) if error.kind() != ErrorKind::ConnectionReset => panic!("no end: {error}"),
        _ => rest,
    }
}

/// The close frame of a server.
fn close_frame(code: u16, reason: &str) -> Vec<u8> {
    let length = u8::try_from(2 + reason.len()).expect("short");
    [&[0x88, length][..], &code.to_be_bytes(), reason.as_bytes()].concat()
}

/// Raises this process's limit of open files.
fn raise_own_limit() {
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit {
        current: limit.maximum,
        ..limit
    };
    setrlimit(Resource::Nofile, raised).expect("up to the hard limit");
}

#[tokio::test]
async fn thousands_of_silent_streams_cost_little_and_end() {
    raise_own_limit();
    let given = std::env::var("FORETELL_SILENT_STREAMS").ok();
    let count = given.and_then(|it| it.parse().ok()).unwrap_or(SILENT);
    // All must be open at once.
    let idle = 3 + count / 200;
    let options = Options::demo()
        .with("FORETELL_GATEWAY_CONNECTIONS", &(2 * count).to_string())
        .with(
            "FORETELL_STREAMS_PER_ADDRESS",
            &STREAMS_PER_ADDRESS.to_string(),
        )
        .with("FORETELL_STREAMS_IDLE_SECONDS", &idle.to_string());
    let exchange = Exchange::start(&options);
    is_well(&exchange).await;
    let before = memory(&exchange);
    let mut silent = Vec::new();
    for number in 0..count {
        let client = 2 + number / STREAMS_PER_ADDRESS;
        silent.push(upgraded(&exchange, u8::try_from(client).expect("an address")).await);
    }
    let each = memory(&exchange).saturating_sub(before) / count;
    println!("{count} silent streams of {each} bytes");
    assert!(each < SILENT_BYTES, "{each} bytes each");
    is_well(&exchange).await;
    let idle = close_frame(1008, "idle");
    for stream in &mut silent {
        let rest = rest(stream);
        assert!(rest.ends_with(&idle), "{rest:?}");
    }
    finish(exchange).await;
}

#[tokio::test]
async fn a_handshake_that_never_ends_is_cut() {
    let exchange = Exchange::demo();
    let mut half = connect(&exchange, 2, HEAD.as_bytes()).await;
    let mut slow = connect(&exchange, 2, HEAD.as_bytes()).await;
    let mut writer = slow.try_clone().expect("a socket");
    let drip = std::thread::spawn(move || {
        while writer.write_all(b"x").is_ok() {
            std::thread::park_timeout(Duration::from_millis(100));
        }
    });
    is_well(&exchange).await;
    for stream in [&mut half, &mut slow] {
        let rest = String::from_utf8(rest(stream)).expect("text");
        assert!(!rest.starts_with("HTTP/1.1 101"), "{rest}");
    }
    drip.join().expect("it ends with its connection");
    finish(exchange).await;
}

#[tokio::test]
async fn messages_that_never_end_are_bounded_for_a_client() {
    let streams = STREAMS_PER_ADDRESS.to_string();
    let options = Options::demo().with("FORETELL_STREAMS_PER_ADDRESS", &streams);
    let exchange = Exchange::start(&options);
    is_well(&exchange).await;
    let before = memory(&exchange);
    let mut held = Vec::new();
    let (mut kept, mut refused) = (0, 0);
    // The first fragment of a text, masked with zeros, and then a ping.
    let length = u32::try_from(UNFINISHED_BYTES)
        .expect("short")
        .to_be_bytes();
    let head = [&[0x01, 0xFF, 0, 0, 0, 0][..], &length, &[0; 4]].concat();
    let sent = [
        head,
        vec![b' '; UNFINISHED_BYTES],
        vec![0x89, 0x80, 0, 0, 0, 0],
    ]
    .concat();
    for _ in 0..UNFINISHED {
        let mut stream = upgraded(&exchange, 2).await;
        stream.write_all(&sent).expect("it is read");
        let mut answer = [0; 2];
        stream.read_exact(&mut answer).expect("an answer");
        match answer {
            [0x8A, 0] => kept += 1,
            [0x88, length] => {
                let mut reason = vec![0; usize::from(length)];
                stream.read_exact(&mut reason).expect("a reason");
                let whole = [&answer[..], &reason].concat();
                assert_eq!(whole, close_frame(1013, "try again later"));
                refused += 1;
            }
            other => panic!("{other:?}"),
        }
        held.push(stream);
    }
    println!("{kept} kept, {refused} refused");
    assert!(kept > 0 && refused >= UNFINISHED / 3);
    let cost = memory(&exchange).saturating_sub(before);
    assert!(cost < UNFINISHED_COST, "{cost} bytes");
    is_well(&exchange).await;
    drop(held);
    finish(exchange).await;
}
