//! Hostile peers at the connection level: slow, partial, garbled and smuggled requests, and idle
//! connections. Each gets a 4xx or loses its connection; all other clients are served as before,
//! and no process ends.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use foretell_tests::exchange::{Exchange, Options, PATIENCE};

/// Idle connections of the ordinary run; more by `FORETELL_IDLE_CONNECTIONS`, up to the process's
/// limit of descriptors.
const IDLE: usize = 400;

struct Site {
    exchange: Exchange,
    address: SocketAddr,
}

impl Site {
    fn start() -> Self {
        let exchange = Exchange::start(env!("CARGO_BIN_EXE_foretell-under-test"), &Options::demo());
        let address = exchange
            .trading
            .trim_start_matches("http://")
            .parse()
            .expect("an address");
        Self { exchange, address }
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).expect("the gateway accepts");
        stream.set_read_timeout(Some(PATIENCE)).expect("a timeout");
        stream
    }

    /// Sends bytes and reads until the gateway closes.
    fn exchange_bytes(&self, request: &[u8]) -> String {
        let mut stream = self.connect();
        // The gateway may close while we are still sending.
        let _ = stream.write_all(request);
        read_to_end(&mut stream)
    }

    fn is_well(&self) {
        let answer = self
            .exchange_bytes(b"GET /ok HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    }

    fn finish(mut self) {
        self.is_well();
        assert_eq!(self.exchange.restarts(), 0, "a process died");
        assert!(self.exchange.stop().success());
    }
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
    let site = Site::start();
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
        let answer = site.exchange_bytes(request.as_bytes());
        let status = status(&answer);
        assert!(
            status.is_none_or(|status| (400..500).contains(&status)),
            "{what}: {answer}"
        );
    }
    let noise: Vec<u8> = (0..20_000_u32)
        .map(|index| index.wrapping_mul(2_654_435_761).to_be_bytes()[0])
        .collect();
    let answer = site.exchange_bytes(&noise);
    assert!(
        status(&answer).is_none_or(|status| (400..500).contains(&status)),
        "{answer}"
    );
    site.finish();
}

/// A request that a proxy could parse differently gets one response, and that of this gateway.
#[test]
fn what_may_be_read_in_two_ways_is_read_in_one() {
    let site = Site::start();
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
        let answer = site.exchange_bytes(request.as_bytes());
        assert_eq!(status(&answer), Some(200), "{what}: {answer}");
        assert_eq!(answer.matches("HTTP/1.1 ").count(), 1, "{what}: {answer}");
    }
    site.finish();
}

#[test]
fn slow_and_half_sent_requests_lose_their_connection() {
    let site = Site::start();
    let mut head = site.connect();
    head.write_all(b"GET /ok HTTP/1.1\r\nHost: localhost\r\nX-Slow")
        .expect("sent");
    let mut body = site.connect();
    body.write_all(
        b"POST /order HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{\"order\"",
    )
    .expect("sent");
    let mut chunks = site.connect();
    chunks
        .write_all(
            b"POST /order HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{\"ord",
        )
        .expect("sent");
    site.is_well();
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
    site.finish();
}

#[test]
fn idle_connections_and_readers_that_never_read_harm_nobody() {
    let site = Site::start();
    let wanted = std::env::var("FORETELL_IDLE_CONNECTIONS")
        .ok()
        .and_then(|text| text.parse().ok());
    let idle: Vec<TcpStream> = (0..wanted.unwrap_or(IDLE))
        .map(|_| site.connect())
        .collect();
    // Requests the longest list again and again without reading a response.
    let mut deaf = site.connect();
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
        site.is_well();
    }
    drop(idle);
    site.finish();
}
