//! Clients that exhaust the resources of a whole exchange: descriptors, connections, waiting
//! places. They lock out neither other clients nor the operator.

use std::fs::Permissions;
use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::fs::PermissionsExt as _;

use foretell_tests::exchange::{Exchange, Options, PATIENCE, program};
use foretell_tests::operator;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde_json::json;
use tokio::net::TcpSocket;

/// Files each process may open: 216 connections and the reserve.
const OPEN_FILES: u64 = 600;
/// Connections that each of two attackers tries to hold: together far more than the limit.
const TRIED: usize = 400;
/// Maximum connection attempts of an honest client.
const TRIES: usize = 100;

/// A connection from 127.0.0.`host`.
async fn connect_from(host: u8, to: SocketAddr) -> TcpStream {
    let socket = TcpSocket::new_v4().expect("a socket");
    let from = SocketAddr::from(([127, 0, 0, host], 0));
    socket.bind(from).expect("a loopback address");
    let stream = socket.connect(to).await.expect("the kernel accepts");
    let stream = stream.into_std().expect("a socket");
    stream.set_nonblocking(false).expect("it blocks");
    stream.set_read_timeout(Some(PATIENCE)).expect("a timeout");
    stream
}

fn ask(stream: &mut TcpStream, path: &str, header: &str) {
    let request =
        format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{header}\r\n");
    // A closed connection is noticed when its response is read.
    let _ = stream.write_all(request.as_bytes());
}

/// The whole response; empty if the connection is closed without one.
fn answer(mut stream: TcpStream) -> String {
    let mut answer = Vec::new();
    match stream.read_to_end(&mut answer) {
        Err(error) if error.kind() != ErrorKind::ConnectionReset => panic!("no answer: {error}"),
        _ => String::from_utf8(answer).expect("UTF-8"),
    }
}

fn trading(exchange: &Exchange) -> SocketAddr {
    let address = exchange.trading.trim_start_matches("http://");
    address.parse().expect("an address")
}

/// Raises this process's limit of open files to the number that the test needs.
fn raise_own_limit() {
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit {
        current: limit.maximum,
        ..limit
    };
    setrlimit(Resource::Nofile, raised).expect("up to the hard limit");
}

/// A program that starts the exchange with these limits of open files.
fn limited(directory: &std::path::Path, ulimit: &str) -> Options {
    let path = directory.join("limited");
    let program = program();
    let script = format!("#!/bin/sh\n{ulimit}\nexec {} \"$@\"\n", program.display());
    std::fs::write(&path, script).expect("written");
    std::fs::set_permissions(&path, Permissions::from_mode(0o700)).expect("its mode");
    Options {
        program: Some(path),
        ..Options::demo()
    }
}

/// The soft and the hard limit of open files of a process.
fn limits(exchange: &Exchange, name: &str) -> (String, String) {
    let path = format!("/proc/{}/limits", exchange.pid(name));
    let text = std::fs::read_to_string(path).expect("it runs");
    let line = text.lines().find(|line| line.starts_with("Max open files"));
    let mut words = line.expect("a line").split_whitespace().skip(3);
    let mut word = || words.next().expect("a limit").to_owned();
    (word(), word())
}

#[test]
fn every_process_may_open_what_it_is_allowed_to() {
    let directory = tempfile::tempdir().expect("a directory");
    let exchange = Exchange::start(&limited(directory.path(), "ulimit -Sn 256"));
    for name in ["engine", "gateway-1"] {
        let (soft, hard) = limits(&exchange, name);
        assert_eq!(soft, hard, "{name}");
    }
    assert!(exchange.stop().success());
}

#[tokio::test]
async fn two_addresses_use_up_neither_descriptors_nor_the_operators_connections() {
    raise_own_limit();
    let directory = tempfile::tempdir().expect("a directory");
    let options = limited(directory.path(), &format!("ulimit -n {OPEN_FILES}"));
    let mut exchange = Exchange::start(&options);
    let trading = trading(&exchange);
    let mut held = Vec::new();
    for number in 0..2 * TRIED {
        let host = if number % 2 == 0 { 2 } else { 3 };
        let mut stream = connect_from(host, trading).await;
        // A connection that was served once may be idle for long.
        let _ = stream.write_all(b"GET /ok HTTP/1.1\r\nHost: localhost\r\n\r\n");
        held.push(stream);
    }
    for host in 4..=8 {
        // While hundreds of connections are being closed, one may be rejected; the next is
        // accepted.
        let mut answered = String::new();
        for _ in 0..TRIES {
            let mut honest = connect_from(host, trading).await;
            ask(&mut honest, "/ok", "");
            answered = answer(honest);
            if !answered.is_empty() {
                break;
            }
        }
        assert!(
            answered.starts_with("HTTP/1.1 200"),
            "127.0.0.{host}: {answered}"
        );
    }
    operator::done(&exchange, "/system/mode", &json!({ "mode": "paused" })).await;
    // The view still follows: it can open the files of new frames.
    let (status, markets) = operator::get(&exchange, "/markets").await;
    assert_eq!(status, 200, "{markets}");
    assert_eq!(exchange.restarts(), 0, "a process ended");
    drop(held);
    assert!(exchange.stop().success());
}

#[tokio::test]
async fn one_client_cannot_take_every_place_to_wait() {
    /// More than the limit of waiting requests.
    const ASKING: usize = 300;
    const REFUSED: &str = "too many requests wait for a sequence";
    let exchange = Exchange::demo();
    let trading = trading(&exchange);
    let sequence = operator::sequence(&exchange).await;
    let mut greedy = Vec::new();
    for _ in 0..ASKING {
        greedy.push(connect_from(2, trading).await);
    }
    let mut honest = connect_from(3, trading).await;
    let far = format!("x-min-sequence: {}\r\n", sequence + 900_000);
    for stream in &mut greedy {
        ask(stream, "/simplified-markets", &far);
    }
    let near = format!("x-min-sequence: {}\r\n", sequence + 1);
    ask(&mut honest, "/simplified-markets", &near);
    let honest = answer(honest);
    assert!(
        honest.starts_with("HTTP/1.1 503"),
        "nothing happens here: {honest}"
    );
    assert!(!honest.contains(REFUSED), "{honest}");
    let refused = greedy.into_iter().map(answer);
    let refused = refused.filter(|answer| answer.contains(REFUSED)).count();
    assert!(refused > 0, "the client's own places are bounded");
    assert!(exchange.stop().success());
}
