//! The checks before the routes, over sockets: rate limits, trusted proxies, the allowlist, CORS.

use crate::site;

use std::io::Write as _;
use std::net::{SocketAddr, TcpStream};

use foretell_gateway::{
    ConnectionLimits, GatewayConfig, Origin, RateLimits, RequestPolicyConfig, Surface,
};

use site::{ask, config, connect, connect_from, get, start};

fn with(policy: RequestPolicyConfig) -> GatewayConfig {
    GatewayConfig {
        policy,
        ..config(ConnectionLimits::default())
    }
}

/// A `GET` with extra header lines.
fn get_with(path: &str, lines: &[String]) -> String {
    let more: String = lines.iter().map(|line| format!("{line}\r\n")).collect();
    format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n{more}\r\n")
}

fn forwarded(for_whom: &str) -> Vec<String> {
    vec![format!("X-Forwarded-For: {for_whom}")]
}

/// The number in a header of an answer.
fn number(head: &str, name: &str) -> Option<u32> {
    let line = head
        .lines()
        .find_map(|line| line.strip_prefix(&format!("{name}: ")));
    line.map(|value| value.trim().parse().unwrap())
}

#[test]
fn one_request_too_many_is_told_when_to_come_again() {
    let limits = RateLimits {
        health: 3,
        books: 0,
        ..RateLimits::default()
    };
    let (gateway, trading, operator) = start(with(RequestPolicyConfig {
        limits,
        ..RequestPolicyConfig::default()
    }));
    let mut stream = connect(trading);
    for left in [2, 1, 0] {
        let (status, head, _) = ask(&mut stream, &get("/ok"));
        assert_eq!(status, 200);
        assert_eq!(number(&head, "ratelimit-limit"), Some(3));
        assert_eq!(number(&head, "ratelimit-remaining"), Some(left));
        assert!(
            (1..=11).contains(&number(&head, "ratelimit-reset").unwrap()),
            "{head}"
        );
        assert_eq!(number(&head, "retry-after"), None);
    }
    // Another connection, and the other path of the same row.
    let mut other = connect(trading);
    for _ in 0..5 {
        let (status, head, body) = ask(&mut other, &get("/"));
        assert_eq!(status, 429);
        let wait = number(&head, "retry-after").unwrap();
        assert!((1..=11).contains(&wait), "{head}");
        assert_eq!(number(&head, "ratelimit-reset"), Some(wait));
        assert_eq!(number(&head, "ratelimit-remaining"), Some(0));
        assert_eq!(
            body,
            format!(
                "{{\"error\":\"rate limit exceeded: health, allowed: 3 in 10 s, retry in {wait} s\"}}"
            )
        );
    }
    // Other rows are still admitted; rows without a limit report the surface's.
    let books = "POST /books HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{]";
    let (status, head, _) = ask(&mut stream, books);
    assert_eq!(
        (status, number(&head, "ratelimit-limit")),
        (400, Some(5_000))
    );
    let (status, head, _) = ask(&mut stream, &get("/nowhere"));
    assert_eq!(
        (status, number(&head, "ratelimit-limit")),
        (404, Some(5_000))
    );
    let mut stream = connect(operator);
    let (_, head, page) = ask(&mut stream, &get("/metrics"));
    let counted = "foretell_gateway_rate_limited_total{gateway=\"1\",scope=\"health\"} 5";
    assert!(page.contains(counted), "{page}");
    assert_eq!(
        number(&head, "ratelimit-limit"),
        None,
        "the operator is not limited"
    );
    gateway.stop().unwrap();
}

#[test]
fn who_may_ask_how_often_is_decided_before_who_it_is() {
    let limits = RateLimits {
        ledger: 2,
        keys: 1,
        ..RateLimits::default()
    };
    let (gateway, trading, _) = start(with(RequestPolicyConfig {
        limits,
        ..RequestPolicyConfig::default()
    }));
    let mut stream = connect(trading);
    for (path, status) in [
        ("/data/orders", 425),
        ("/data/order/0x12", 425),
        ("/data/trades", 429),
        ("/builder/trades", 429),
    ] {
        assert_eq!(ask(&mut stream, &get(path)).0, status, "{path}");
    }
    let key = "POST /auth/api-key HTTP/1.1\r\nHost: localhost\r\n\r\n";
    assert_eq!(ask(&mut stream, key).0, 401);
    assert_eq!(ask(&mut stream, key).0, 429);
    gateway.stop().unwrap();
}

#[test]
fn behind_a_trusted_proxy_each_client_has_its_own_limits() {
    let limits = RateLimits {
        health: 1,
        ..RateLimits::default()
    };
    let mut policy = RequestPolicyConfig {
        limits,
        trusted_proxies: vec!["127.0.0.0/8".parse().unwrap()],
        ..RequestPolicyConfig::default()
    };
    let (gateway, trading, _) = start(with(policy.clone()));
    let mut stream = connect(trading);
    let mut asks = |lines: &[String]| ask(&mut stream, &get_with("/ok", lines)).0;
    assert_eq!(asks(&forwarded("203.0.113.1")), 200);
    assert_eq!(asks(&forwarded("203.0.113.1")), 429);
    assert_eq!(asks(&forwarded("203.0.113.2")), 200);
    // Hops that a client writes itself are to the left of the proxy's.
    assert_eq!(asks(&forwarded("198.51.100.9, 203.0.113.2")), 429);
    let lines = [forwarded("198.51.100.9"), forwarded("203.0.113.2")].concat();
    assert_eq!(asks(&lines), 429, "two lines");
    // One network of 64 bits is one client.
    assert_eq!(asks(&forwarded("2001:db8::1")), 200);
    assert_eq!(asks(&forwarded("2001:db8::2")), 429);
    gateway.stop().unwrap();

    policy.trusted_proxies.clear();
    let (gateway, trading, _) = start(with(policy));
    let mut stream = connect(trading);
    let mut asks = |lines: &[String]| ask(&mut stream, &get_with("/ok", lines)).0;
    assert_eq!(asks(&forwarded("203.0.113.1")), 200);
    assert_eq!(asks(&forwarded("203.0.113.2")), 429, "nobody is believed");
    gateway.stop().unwrap();
}

/// A gateway with a data surface only, and a connection to it.
fn data_surface(policy: RequestPolicyConfig) -> (foretell_gateway::Gateway, TcpStream) {
    let any = SocketAddr::from(([127, 0, 0, 1], 0));
    let gateway = foretell_gateway::start(GatewayConfig {
        listen: vec![(Surface::Data, any)],
        ..with(policy)
    });
    let gateway = gateway.unwrap();
    let stream = connect(gateway.addresses()[0].1);
    (gateway, stream)
}

#[test]
fn the_data_surface_answers_addresses_on_its_list_only() {
    const REFUSED: &str = "{\"error\":\"unauthorized: ip_not_allowlisted\"}";
    let networks = |texts: &[&str]| texts.iter().map(|text| text.parse().unwrap()).collect();
    let policy = |allowed: &[&str], proxies: &[&str]| RequestPolicyConfig {
        data_allowlist: networks(allowed),
        trusted_proxies: networks(proxies),
        ..RequestPolicyConfig::default()
    };
    let loopback = ["127.0.0.0/8", "::1/128"];
    let local = RequestPolicyConfig::default().data_allowlist;
    assert_eq!(local, policy(&loopback, &[]).data_allowlist, "the default");
    let two_lines = [forwarded("127.0.0.1"), forwarded("203.0.113.9")].concat();
    for (policy, lines, admitted) in [
        (policy(&loopback, &[]), vec![], true),
        // A proxy that is not configured forwards for others.
        (policy(&loopback, &[]), forwarded("203.0.113.9"), false),
        (policy(&loopback, &[]), forwarded("127.0.0.1"), false),
        (
            policy(&loopback, &[]),
            vec!["Forwarded: for=203.0.113.9".to_owned()],
            false,
        ),
        (policy(&["192.0.2.0/24"], &[]), vec![], false),
        // From a peer that is no trusted proxy the header is ignored.
        (
            policy(&["192.0.2.0/24"], &[]),
            forwarded("192.0.2.1"),
            false,
        ),
        (
            policy(&["192.0.2.0/24"], &["127.0.0.1/32"]),
            forwarded("192.0.2.1"),
            true,
        ),
        (
            policy(&["192.0.2.0/24"], &["127.0.0.1/32"]),
            forwarded("::ffff:192.0.2.1"),
            true,
        ),
        (
            policy(&loopback, &["127.0.0.1/32"]),
            forwarded("127.0.0.1, 203.0.113.9"),
            false,
        ),
        (policy(&loopback, &["127.0.0.1/32"]), two_lines, false),
        (
            policy(&loopback, &["127.0.0.1/32"]),
            forwarded("unknown"),
            false,
        ),
        (
            policy(&loopback, &["127.0.0.1/32"]),
            vec!["Forwarded: for=203.0.113.9".to_owned()],
            true,
        ),
    ] {
        let (gateway, mut stream) = data_surface(policy);
        let (status, _, body) = ask(&mut stream, &get_with("/nowhere", &lines));
        let expected = if admitted { 404 } else { 401 };
        assert_eq!(status, expected, "{lines:?}: {body}");
        assert_eq!(body == REFUSED, !admitted, "{lines:?}: {body}");
        gateway.stop().unwrap();
    }
}

#[test]
fn pages_of_listed_origins_may_ask_and_read() {
    const APP: &str = "https://app.example";
    let (gateway, trading, operator) = start(with(RequestPolicyConfig {
        origins: vec![Origin::parse(APP).unwrap()],
        ..RequestPolicyConfig::default()
    }));
    let preflight = |origin: &str| {
        format!(
            "OPTIONS /order HTTP/1.1\r\nHost: localhost\r\nOrigin: {origin}\r\nAccess-Control-Request-Method: POST\r\n\
             Access-Control-Request-Headers: service_signature\r\nContent-Length: 0\r\n\r\n"
        )
    };
    let mut stream = connect(trading);
    let (status, head, _) = ask(&mut stream, &preflight(APP));
    assert_eq!(status, 204);
    let says = |line: &str| head.lines().any(|found| found == line);
    assert!(
        says("access-control-allow-origin: https://app.example"),
        "{head}"
    );
    assert!(
        says("access-control-allow-methods: get, post, put, delete"),
        "{head}"
    );
    let allowed = head
        .lines()
        .find(|line| line.starts_with("access-control-allow-headers: "));
    for name in [
        "address",
        "signature",
        "timestamp",
        "nonce",
        "api_key",
        "passphrase",
        "readonly_api_key",
    ] {
        assert!(
            allowed.unwrap().contains(&format!("service_{name}")),
            "{head}"
        );
    }
    assert!(!head.contains("content-length"), "{head}");
    // Failures are readable too.
    for (path, expected) in [("/ok", 200), ("/nowhere", 404), ("/data/orders", 425)] {
        let (status, head, _) = ask(&mut stream, &get_with(path, &[format!("Origin: {APP}")]));
        assert_eq!(status, expected);
        assert!(
            head.contains("access-control-allow-origin: https://app.example"),
            "{head}"
        );
        assert!(head.contains("vary: origin"), "{head}");
    }
    for origin in ["null", "https://evil.example", "https://x.app.example"] {
        let (status, head, _) = ask(&mut stream, &preflight(origin));
        assert_eq!(status, 405, "{origin}");
        assert!(!head.contains("access-control"), "{head}");
    }
    let mut stream = connect(operator);
    let (_, head, _) = ask(
        &mut stream,
        &get_with("/livez", &[format!("Origin: {APP}")]),
    );
    assert!(!head.contains("access-control"), "{head}");
    gateway.stop().unwrap();
}

#[test]
fn a_connection_ends_after_twenty_refusals_in_a_row() {
    let limits = RateLimits {
        health: 3,
        ..RateLimits::default()
    };
    let (gateway, trading, _) = start(with(RequestPolicyConfig {
        limits,
        ..RequestPolicyConfig::default()
    }));
    let mut stream = connect(trading);
    let pipelined = get("/ok").repeat(40);
    stream.write_all(pipelined.as_bytes()).unwrap();
    let mut text = String::new();
    // The requests that nobody reads may reset the connection; the answers before arrive.
    let _ = std::io::Read::read_to_string(&mut stream, &mut text);
    let count = |status: &str| text.matches(status).count();
    assert_eq!((count(" 200 OK"), count(" 429 ")), (3, 20), "{text}");
    gateway.stop().unwrap();
}

#[test]
fn who_works_the_server_above_its_part_waits_and_others_do_not() {
    let limits = RateLimits {
        trading: 0,
        // A thousandth of the time: what was saved lasts for a thousand requests or so.
        work: 10,
        ..RateLimits::default()
    };
    let (gateway, trading, operator) = start(with(RequestPolicyConfig {
        limits,
        ..RequestPolicyConfig::default()
    }));
    let mut streams: Vec<_> = (0..40).map(|_| connect(trading)).collect();
    let refused = (0..1_000).find_map(|_| {
        for stream in &mut streams {
            stream.write_all(get("/time").as_bytes()).unwrap();
        }
        let answers = streams.iter_mut().map(|stream| ask(stream, ""));
        let answers: Vec<_> = answers.collect();
        answers.into_iter().find(|(status, ..)| *status == 429)
    });
    let (_, head, body) = refused.expect("a turn that does not come in time");
    assert!(body.contains("work, allowed: 10 in 10 s"), "{body}");
    assert!(number(&head, "retry-after").is_some(), "{head}");
    assert_eq!(ask(&mut connect_from(2, trading), &get("/time")).0, 200);
    let (_, _, page) = ask(&mut connect(operator), &get("/metrics"));
    assert!(
        page.contains("rate_limited_total{gateway=\"1\",scope=\"work\"}"),
        "{page}"
    );
    gateway.stop().unwrap();
}
