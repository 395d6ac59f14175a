//! The server without an engine: routes that need none, limits of connections, shutdown.

use crate::site;

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use foretell_gateway::{ConnectionLimits, Gateway, GatewayError, Surface};

use site::{TOKEN, ask, config, connect, connect_from, get};

fn start(connections: ConnectionLimits) -> (Gateway, SocketAddr, SocketAddr) {
    site::start(config(connections))
}

fn with_body(line: &str, bytes: usize) -> String {
    let body = "x".repeat(bytes);
    format!("{line} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {bytes}\r\n\r\n{body}")
}

/// Whether the server closed the connection without sending more.
fn is_ended(stream: &mut TcpStream) -> bool {
    match stream.read(&mut [0; 64]) {
        Ok(0) => true,
        Ok(_) => false,
        Err(error) => error.kind() == ErrorKind::ConnectionReset,
    }
}

#[test]
fn one_connection_serves_many_requests_and_every_refusal_is_json() {
    let (gateway, trading, operator) = start(ConnectionLimits::default());
    let mut stream = connect(trading);
    assert_eq!(ask(&mut stream, &get("/")).2, "\"OK\"");
    assert_eq!(ask(&mut stream, &get("/version")).2, "{\"version\":2}");
    let (status, head, _) = ask(&mut stream, "HEAD /ok HTTP/1.1\r\nHost: localhost\r\n\r\n");
    assert_eq!((status, head.contains("content-length: 4")), (200, true));
    for (request, expected) in [
        (get("/nowhere"), 404),
        (get("/%2e%2e%2fok"), 404),
        (get("//ok"), 404),
        (get(&format!("/{}", "x".repeat(3_000))), 414),
        (get("/order"), 405),
        (get("/book?token_id=%zz"), 400),
        (get("/book?token_id=1"), 425),
        (get("/data/orders"), 425),
        ("POST /order HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\nContent-Type: text/plain\r\n\r\n{}".to_owned(), 415),
        ("POST /books HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{]".to_owned(), 400),
        ("DELETE /order HTTP/1.1\r\nHost: localhost\r\n\r\n".to_owned(), 425),
        // Their bodies are read: the connection goes on.
        (with_body("POST /nowhere", 60_000), 404),
        (with_body("PUT /order", 60_000), 405),
        (get("/nowhere"), 404),
    ] {
        let (status, head, body) = ask(&mut stream, &request);
        assert_eq!(status, expected, "{request}: {body}");
        assert!(head.contains("content-type: application/json"), "{head}");
        assert!(body.starts_with("{\"error\":"), "{body}");
        assert_eq!(head.contains("allow: delete, post"), status == 405, "{head}");
        assert_eq!(head.contains("retry-after: "), status == 425, "{head}");
    }
    let mut stream = connect(operator);
    assert_eq!(ask(&mut stream, &get("/livez")).0, 200);
    assert_eq!(ask(&mut stream, &get("/readyz")).0, 503);
    assert_eq!(ask(&mut stream, &get("/status")).0, 401);
    let page = ask(&mut stream, &get("/metrics")).2;
    let counted =
        "foretell_gateway_requests_total{gateway=\"1\",route=\"/books\",status=\"400\"} 1";
    assert!(page.contains(counted), "{page}");
    let deposit = format!(
        "POST /accounts/deposit HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {TOKEN}\r\nContent-Length: 84\r\n\r\n{:84}",
        "{\"wallet\":\"0x1111111111111111111111111111111111111111\",\"amount\":\"1\",\"reference\":\"r\"}",
    );
    assert_eq!(
        ask(&mut stream, &deposit).0,
        503,
        "the engine is unavailable"
    );
    gateway.stop().unwrap();
}

/// A page of a foreign name that resolves to this machine sends that name.
#[test]
fn the_operator_surface_answers_to_its_own_names_alone() {
    let mut config = config(ConnectionLimits::default());
    config.policy.operator_hosts = vec!["admin.example.org".to_owned()];
    let (gateway, trading, operator) = site::start(config);
    let mut stream = connect(operator);
    for (host, status) in [
        ("Host: localhost:8090\r\n", 200),
        ("Host: 127.0.0.1\r\n", 200),
        ("Host: [::1]:8090\r\n", 200),
        ("Host: Admin.example.org\r\n", 200),
        ("Host: rebound.example.org:8090\r\n", 403),
        ("Host: localhost.example.org\r\n", 403),
        ("Host: localhost\r\nHost: rebound.example.org\r\n", 403),
        ("", 403),
    ] {
        let request = format!("GET /metrics HTTP/1.1\r\n{host}\r\n");
        assert_eq!(ask(&mut stream, &request).0, status, "{host}");
    }
    let foreign = "GET /ok HTTP/1.1\r\nHost: trade.example.org\r\n\r\n";
    assert_eq!(ask(&mut connect(trading), foreign).0, 200);
    gateway.stop().unwrap();
}

/// Whoever fills the health listener takes no connection of operators or traders, and no body is read.
#[test]
fn the_health_listener_has_bounds_of_its_own_and_reads_no_bodies() {
    let any = SocketAddr::from(([127, 0, 0, 1], 0));
    let mut config = config(ConnectionLimits::default());
    config.listen.push((Surface::Health, any));
    let gateway = foretell_gateway::start(config).unwrap();
    let [trading, operator, health] = [0, 1, 2].map(|index| gateway.addresses()[index].1);
    let mut traders: Vec<_> = (0..4).map(|_| connect(trading)).collect();
    let served = |stream: &mut TcpStream, path: &str| ask(stream, &get(path)).0;
    for stream in &mut traders {
        assert_eq!(served(stream, "/ok"), 200);
    }
    let hosts = (2..6).flat_map(|host| [host; 32]);
    let _idle: Vec<_> = hosts.map(|host| connect_from(host, health)).collect();
    for stream in &mut traders {
        assert_eq!(served(stream, "/ok"), 200, "it is still open");
    }
    let mut operators: Vec<_> = (0..64).map(|_| connect(operator)).collect();
    for stream in &mut operators {
        assert_eq!(served(stream, "/livez"), 200);
    }
    // The answer comes before the body.
    let body = "GET /livez HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n";
    assert_eq!(ask(&mut operators[0], body).0, 413);
    gateway.stop().unwrap();
}

#[test]
fn a_head_that_does_not_end_is_cut_off_and_an_idle_connection_is_not() {
    let head = Duration::from_millis(100);
    let (gateway, trading, _) = start(ConnectionLimits {
        head,
        ..ConnectionLimits::default()
    });
    let mut idle = connect(trading);
    assert_eq!(ask(&mut idle, &get("/ok")).0, 200);
    let mut silent = connect(trading);
    let mut half = connect(trading);
    half.write_all(b"GET /ok HTTP/1.1\r\nHost").unwrap();
    let mut half_http2 = connect(trading);
    half_http2.write_all(b"PRI * HTTP/2").unwrap();
    for stream in [&mut silent, &mut half, &mut half_http2] {
        assert!(is_ended(stream));
    }
    // The other connections took several times the limit, and this one was idle meanwhile.
    assert_eq!(ask(&mut idle, &get("/ok")).0, 200);
    gateway.stop().unwrap();
}

#[test]
fn a_body_that_does_not_end_is_answered() {
    let body = Duration::from_millis(50);
    let (gateway, trading, _) = start(ConnectionLimits {
        body,
        ..ConnectionLimits::default()
    });
    let mut stream = connect(trading);
    let request = "POST /books HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n[";
    assert_eq!(ask(&mut stream, request).0, 408);
    gateway.stop().unwrap();
}

#[test]
fn a_client_over_its_cap_loses_its_idlest_connection() {
    let limits = ConnectionLimits {
        per_address: 2,
        ..ConnectionLimits::default()
    };
    let (gateway, trading, _) = start(limits);
    let mut idle = [connect(trading), connect(trading)];
    for stream in &mut idle {
        assert_eq!(ask(stream, &get("/ok")).0, 200);
    }
    let mut third = connect(trading);
    assert_eq!(ask(&mut third, &get("/ok")).0, 200);
    let ended = idle.each_mut().map(|stream| {
        // The server may have closed it already.
        let _ = stream.write_all(get("/ok").as_bytes());
        is_ended(stream)
    });
    assert_ne!(ended[0], ended[1], "one of them makes room");
    assert_eq!(ask(&mut third, &get("/ok")).0, 200);
    gateway.stop().unwrap();
}

#[test]
fn http2_is_spoken_with_prior_knowledge_where_it_is_on() {
    let (gateway, trading, _) = start(ConnectionLimits {
        http2: true,
        ..ConnectionLimits::default()
    });
    let mut stream = connect(trading);
    // The preface and an empty SETTINGS frame.
    stream
        .write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0")
        .unwrap();
    let mut frame = [0; 9];
    stream.read_exact(&mut frame).unwrap();
    assert_eq!(
        (frame[3], &frame[5..]),
        (4, &[0; 4][..]),
        "the server's SETTINGS on stream 0"
    );
    drop(stream);
    gateway.stop().unwrap();
}

#[test]
fn clients_without_a_token_share_a_scrape_for_half_a_second() {
    let (gateway, trading, operator) = start(ConnectionLimits::default());
    let (mut stream, mut scraper) = (connect(trading), connect(operator));
    let mut scrape = |line: &str| {
        let request = format!("GET /metrics HTTP/1.1\r\nHost: localhost\r\n{line}\r\n");
        let (status, _, page) = ask(&mut scraper, &request);
        assert_eq!(status, 200, "{page}");
        page
    };
    let with_token = format!("Authorization: Bearer {TOKEN}\r\n");
    // Each request of a trader changes the page.
    let first = scrape(&with_token);
    assert_eq!(ask(&mut stream, &get("/ok")).0, 200);
    assert_eq!(scrape(""), first);
    assert_ne!(scrape(&with_token), first);
    gateway.stop().unwrap();
}

#[test]
fn http2_is_off_by_default() {
    let (gateway, trading, _) = start(ConnectionLimits::default());
    let mut stream = connect(trading);
    stream
        .write_all(
            b"PRI * HTTP/2.0

SM

",
        )
        .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 400 "), "{answer}");
    assert!(answer.contains("not an HTTP request"), "{answer}");
    gateway.stop().unwrap();
}

#[test]
fn stopping_ends_idle_connections_and_frees_the_port() {
    let (gateway, trading, _) = start(ConnectionLimits::default());
    let mut idle = connect(trading);
    assert_eq!(ask(&mut idle, &get("/ok")).0, 200);
    gateway.stop().unwrap();
    assert!(is_ended(&mut idle));
    assert!(TcpStream::connect(trading).is_err());
}

#[test]
fn the_operator_surface_is_never_exposed() {
    let mut without_token = config(ConnectionLimits::default());
    without_token.operator_token = None;
    let mut outside = config(ConnectionLimits::default());
    outside.listen = vec![(Surface::Operator, SocketAddr::from(([0, 0, 0, 0], 0)))];
    for config in [without_token, outside] {
        assert!(matches!(
            foretell_gateway::start(config),
            Err(GatewayError::OperatorExposed)
        ));
    }
}
