//! Clients that take all they can get must barely affect the others.

use crate::site;

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use foretell_gateway::ConnectionLimits;

use site::{PATIENCE, ask, config, connect, connect_from, get, start};

/// An HTTP/2 client that sends requests and frames explicitly.
struct Http2 {
    stream: TcpStream,
    next: u32,
}

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const PING: u8 = 6;

impl Http2 {
    /// Lets each stream send `window` bytes before a window update.
    fn new(mut stream: TcpStream, window: u32) -> Self {
        stream
            .write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
            .unwrap();
        let mut http2 = Self { stream, next: 1 };
        let setting = [&[0, 4][..], &window.to_be_bytes()].concat();
        http2.frame(4, 0, 0, &setting).unwrap();
        http2
    }

    fn frame(&mut self, kind: u8, flags: u8, id: u32, payload: &[u8]) -> std::io::Result<()> {
        let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
        let head = [&length[1..], &[kind, flags], &id.to_be_bytes()].concat();
        self.stream.write_all(&[&head, payload].concat())
    }

    fn ping(&mut self) -> std::io::Result<()> {
        self.frame(PING, 0, 0, &[7; 8])
    }

    /// Requests a path on a new stream.
    fn get(&mut self, path: &str) {
        // GET and http as static table indices; path and authority as literals.
        let length = u8::try_from(path.len()).unwrap();
        let headers = [&[0x82, 0x86, 0x04, length], path.as_bytes(), b"\x01\x01x"].concat();
        let id = self.next;
        self.next += 2;
        self.frame(HEADERS, 5, id, &headers).unwrap();
    }

    /// Kind of the next frame; `None` when the connection has ended.
    fn read(&mut self) -> std::io::Result<Option<u8>> {
        let mut head = [0; 9];
        match self.stream.read_exact(&mut head) {
            Ok(()) => {}
            Err(error) if is_end(&error) => return Ok(None),
            Err(error) => return Err(error),
        }
        let length = u32::from_be_bytes([0, head[0], head[1], head[2]]);
        let mut payload = vec![0; length as usize];
        self.stream.read_exact(&mut payload).unwrap();
        Ok(Some(head[3]))
    }

    fn read_until(&mut self, kind: u8) {
        while self.read().unwrap().expect("the connection is open") != kind {}
    }
}

fn is_end(error: &std::io::Error) -> bool {
    use ErrorKind::{BrokenPipe, ConnectionReset, UnexpectedEof};
    [BrokenPipe, ConnectionReset, UnexpectedEof].contains(&error.kind())
}

/// Waits for a condition that another thread will soon make true.
fn until(mut happened: impl FnMut() -> bool) {
    let began = Instant::now();
    while !happened() {
        assert!(began.elapsed() < PATIENCE, "it does not happen");
    }
}

/// Whether a request is answered 200; false when the connection is closed instead.
fn is_served(mut stream: TcpStream, path: &str) -> bool {
    if stream.write_all(get(path).as_bytes()).is_err() {
        return false;
    }
    match stream.peek(&mut [0]) {
        Ok(0) => false,
        Err(error) if is_end(&error) => false,
        _ => ask(&mut stream, "").0 == 200,
    }
}

#[test]
fn a_stream_that_takes_nothing_ends_whatever_is_pinged() {
    let (gateway, trading, operator) = start(config(ConnectionLimits {
        http2: true,
        write_stall: Duration::from_millis(200),
        ..ConnectionLimits::default()
    }));
    let mut honest = Http2::new(connect(trading), 65_535);
    honest.get("/ok");
    honest.read_until(DATA);
    let mut deaf = Http2::new(connect(trading), 0);
    deaf.get("/ok");
    deaf.get("/version");
    let began = Instant::now();
    // The answer to each PING shows that the connection moves.
    while deaf.ping().is_ok() && deaf.read().unwrap().is_some() {
        assert!(began.elapsed() < PATIENCE, "its answers are kept for ever");
        honest.ping().unwrap();
        honest.read_until(PING);
    }
    honest.get("/ok");
    honest.read_until(DATA);
    let mut operator = connect(operator);
    until(|| {
        let (_, _, page) = ask(&mut operator, &get("/metrics"));
        page.lines()
            .any(|line| line == "foretell_gateway_unread_bytes{gateway=\"1\"} 0")
    });
    drop(honest);
    gateway.stop().unwrap();
}

#[test]
fn who_leaves_answers_unread_gets_no_more_until_they_are_gone() {
    let (gateway, trading, operator) = start(config(ConnectionLimits {
        http2: true,
        unread: 1_000,
        unread_per_address: 30,
        ..ConnectionLimits::default()
    }));
    let mut deaf = Http2::new(connect(trading), 0);
    for _ in 0..4 {
        deaf.get("/version");
    }
    for _ in 0..4 {
        deaf.read_until(HEADERS);
    }
    let mut same = connect(trading);
    let (status, head, body) = ask(&mut same, &get("/version"));
    assert_eq!(status, 503, "{body}");
    assert!(head.contains("retry-after: 1"), "{head}");
    assert!(body.starts_with("{\"error\":"), "{body}");
    assert!(is_served(connect_from(2, trading), "/version"), "another");
    assert!(is_served(connect(operator), "/livez"), "the operator");
    drop(deaf);
    until(|| ask(&mut same, &get("/version")).0 == 200);
    gateway.stop().unwrap();
}

#[test]
fn two_that_hold_every_connection_keep_neither_others_nor_the_operator_out() {
    let (gateway, trading, operator) = start(config(ConnectionLimits {
        http2: true,
        total: 8,
        per_address: 6,
        ..ConnectionLimits::default()
    }));
    let mut held = Vec::new();
    for host in [1, 2] {
        for _ in 0..6 {
            let mut stream = connect_from(host, trading);
            // It was served, so idleness is the only reason to end it.
            let _ = stream.write_all(get("/ok").as_bytes());
            let _ = stream.read(&mut [0; 1_024]);
            held.push(stream);
        }
    }
    assert!(
        is_served(connect_from(1, operator), "/livez"),
        "the operator"
    );
    for host in 3..=6 {
        let honest = connect_from(host, trading);
        assert!(is_served(honest, "/ok"), "127.0.0.{host} is shut out");
    }
    gateway.stop().unwrap();
}
