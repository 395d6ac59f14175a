//! Upgrades to a stream that are refused, and requests that are none.

use crate::site::{self, ask, config, connect, get};

use foretell_gateway::ConnectionLimits;

const KEY: &str = "dGhlIHNhbXBsZSBub25jZQ==";

/// An upgrade with these headers.
fn upgrade(path: &str, headers: &[(&str, &str)]) -> String {
    let headers = headers
        .iter()
        .map(|(name, value)| format!("{name}: {value}\r\n"));
    format!(
        "GET {path} HTTP/1.1\r\nHost: localhost\r\n{}\r\n",
        headers.collect::<String>()
    )
}

#[test]
fn refused_upgrades_have_the_surface_s_form_and_the_connection_goes_on() {
    let (gateway, trading, operator) = site::start(config(ConnectionLimits::default()));
    let mut stream = connect(trading);
    let with = |version, key| {
        let connection = [("Connection", "Upgrade"), ("Upgrade", "websocket")];
        let rest = [
            ("Sec-WebSocket-Version", version),
            ("Sec-WebSocket-Key", key),
        ];
        [connection, rest].concat()
    };
    for path in [
        "/ws",
        "/ws/",
        "/ws/market",
        "/ws/market/",
        "/ws/user",
        "/ws/user/",
    ] {
        for (request, status, code) in [
            (get(path), 426, "websocket_required"),
            (upgrade(path, &with("8", KEY)), 426, "websocket_version"),
            (upgrade(path, &with("13", "short")), 400, "websocket_key"),
            (upgrade(path, &with("13", KEY)), 425, "recovering"),
            (get(path).replace("GET", "POST"), 405, "method_not_allowed"),
        ] {
            let (found, head, body) = ask(&mut stream, &request);
            assert_eq!(found, status, "{request}: {body}");
            assert!(
                head.contains(&format!("x-error-code: {code}\r\n")),
                "{head}"
            );
            assert!(body.starts_with("{\"error\":"), "{body}");
            let names = head.contains("\r\nupgrade: websocket\r\n");
            assert_eq!(names, code == "websocket_required", "{head}");
            let version = head.contains("\r\nsec-websocket-version: 13\r\n");
            assert_eq!(version, code == "websocket_version", "{head}");
        }
    }
    assert_eq!(ask(&mut stream, &get("/ws/orders")).0, 404);
    assert_eq!(ask(&mut connect(operator), &get("/ws/market")).0, 404);
    gateway.stop().unwrap();
}
