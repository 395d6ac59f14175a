//! Hostile peers at the connection level: slow, partial, garbled and smuggled requests, and idle
//! connections. Each gets a 4xx or loses its connection; all other clients are served as before,
//! and no process ends.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use foretell_tests::exchange::Exchange;

/// Idle connections of the ordinary run; more by `FORETELL_IDLE_CONNECTIONS`, up to the process's
/// limit of descriptors.
const IDLE: usize = 400;

/// Sends bytes and reads until the gateway closes.
fn exchange_bytes(exchange: &Exchange, request: &[u8]) -> String {
    let mut stream = exchange.connect();
    // The gateway may close while we are still sending.
    let _ = stream.write_all(request);
    read_to_end(&mut stream)
}

fn is_well(exchange: &Exchange) {
    let request = b"GET /ok HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    let answer = exchange_bytes(exchange, request);
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
}

fn finish(exchange: Exchange) {
    is_well(&exchange);
    exchange.end();
}

/// Everything until the end of the stream; a reset counts as the end, a timeout does not.
fn read_to_end(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    let mut buffer = [0; 4_096];
    loop {
        match stream.read(&mut buffer) {
            Ok(0) => break,
            Ok(length) => bytes.extend_from_slice(&buffer[..length]),
            Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => break,
            Err(error) => panic!("the gateway neither answers nor closes: {error}"),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Status of an answer; `None` when the connection was closed without one.
fn status(answer: &str) -> Option<u16> {
    answer.strip_prefix("HTTP/1.1 ")?.get(..3)?.parse().ok()
}

#[test]
fn garbled_and_smuggled_requests_get_a_4xx_or_nothing() {
    let exchange = Exchange::demo();
    let order = "POST /order HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n";
    let long_path = format!(
        "GET /{} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
        "a".repeat(10_000)
    );
    let long_head = format!(
        "GET /ok HTTP/1.1\r\nHost: localhost\r\nX-Long: {}\r\n\r\n",
        "a".repeat(40_000)
    );
    let cases: Vec<(&str, String)> = vec![
        (
            "both lengths",
            format!("{order}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
        ),
        (
            "a length with a sign",
            format!("{order}Content-Length: +2\r\n\r\n{{}}"),
        ),
        (
            "two lengths",
            format!("{order}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{{}}"),
        ),
        (
            "a folded header",
            format!("{order}X-A: b\r\n c\r\nContent-Length: 2\r\n\r\n{{}}"),
        ),
        (
            "an unknown coding",
            format!("{order}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n"),
        ),
        (
            "an absurd length",
            format!("{order}Content-Length: 99999999999\r\n\r\n{{}}"),
        ),
        (
            "a negative length",
            format!("{order}Content-Length: -1\r\n\r\n{{}}"),
        ),
        (
            "much more than its length",
            format!("{order}Content-Length: 10\r\n\r\n{}", "x".repeat(4 << 20)),
        ),
        (
            "chunks without end",
            format!(
                "{order}Transfer-Encoding: chunked\r\n\r\n{}",
                format!("10000\r\n{}\r\n", "x".repeat(65_536)).repeat(64)
            ),
        ),
        (
            "a packed body",
            format!("{order}Content-Encoding: gzip\r\nContent-Length: 2\r\n\r\n\x1f\x1e"),
        ),
        (
            "another host to go to",
            "CONNECT elsewhere.example:443 HTTP/1.1\r\nHost: elsewhere.example\r\n\
             Connection: close\r\n\r\n"
                .to_owned(),
        ),
        ("no version", "GET /ok\r\n\r\n".to_owned()),
        ("another protocol", "SSH-2.0-OpenSSH_9.0\r\n\r\n".to_owned()),
        (
            "NUL in the path",
            "GET /%00 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".to_owned(),
        ),
        (
            "dots in the path",
            "GET /%2e%2e%2fetc HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".to_owned(),
        ),
        (
            "two slashes",
            "GET //markets HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".to_owned(),
        ),
        ("a long path", long_path),
        ("a long head", long_head),
        (
            "a method nobody knows",
            "BREW /ok HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".to_owned(),
        ),
    ];
    for (what, request) in cases {
        let answer = exchange_bytes(&exchange, request.as_bytes());
        let status = status(&answer);
        assert!(
            status.is_none_or(|status| (400..500).contains(&status)),
            "{what}: {answer}"
        );
    }
    let noise: Vec<u8> = (0..20_000_u32)
        .map(|index| index.wrapping_mul(2_654_435_761).to_be_bytes()[0])
        .collect();
    let answer = exchange_bytes(&exchange, &noise);
    assert!(
        status(&answer).is_none_or(|status| (400..500).contains(&status)),
        "{answer}"
    );
    finish(exchange);
}

/// A request that a proxy could parse differently gets one response, and that of this gateway.
#[test]
fn what_may_be_read_in_two_ways_is_read_in_one() {
    let exchange = Exchange::demo();
    for (what, request) in [
        (
            "an absolute target",
            "GET http://elsewhere.example/ok HTTP/1.1\r\nHost: elsewhere.example\r\n\
             Connection: close\r\n\r\n",
        ),
        (
            "bare line feeds",
            "GET /ok HTTP/1.1\nHost: localhost\nConnection: close\n\n",
        ),
        (
            "a length behind a bare line feed",
            "GET /ok HTTP/1.1\r\nHost: localhost\r\nX-A: b\nContent-Length: 34\r\nConnection: close\r\n\r\n\
             GET /nowhere HTTP/1.1\r\nHost: localhost\r\n\r\n",
        ),
    ] {
        let answer = exchange_bytes(&exchange, request.as_bytes());
        assert_eq!(status(&answer), Some(200), "{what}: {answer}");
        assert_eq!(answer.matches("HTTP/1.1 ").count(), 1, "{what}: {answer}");
    }
    finish(exchange);
}

#[test]
fn slow_and_half_sent_requests_lose_their_connection() {
    let exchange = Exchange::demo();
    let mut head = exchange.connect();
    head.write_all(b"GET /ok HTTP/1.1\r\nHost: localhost\r\nX-Slow")
        .expect("sent");
    let mut body = exchange.connect();
    body.write_all(
        b"POST /order HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{\"order\"",
    )
    .expect("sent");
    let mut chunks = exchange.connect();
    chunks
        .write_all(
            b"POST /order HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{\"ord",
        )
        .expect("sent");
    is_well(&exchange);
    for (what, stream) in [
        ("head", &mut head),
        ("body", &mut body),
        ("chunks", &mut chunks),
    ] {
        let answer = read_to_end(stream);
        assert!(
            status(&answer).is_none_or(|status| (400..500).contains(&status)),
            "{what}: {answer}"
        );
    }
    finish(exchange);
}

#[test]
fn idle_connections_and_readers_that_never_read_harm_nobody() {
    let exchange = Exchange::demo();
    let wanted = std::env::var("FORETELL_IDLE_CONNECTIONS")
        .ok()
        .and_then(|text| text.parse().ok());
    let idle: Vec<TcpStream> = (0..wanted.unwrap_or(IDLE))
        .map(|_| exchange.connect())
        .collect();
    // Requests the longest list again and again without reading a response.
    let mut deaf = exchange.connect();
    deaf.set_write_timeout(Some(Duration::from_millis(200)))
        .expect("a timeout");
    for _ in 0..10_000 {
        if deaf
            .write_all(b"GET /markets HTTP/1.1\r\nHost: localhost\r\n\r\n")
            .is_err()
        {
            break;
        }
    }
    for _ in 0..20 {
        is_well(&exchange);
    }
    drop(idle);
    finish(exchange);
}
