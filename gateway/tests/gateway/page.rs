//! The page over sockets: its files, the mounted reads, and attacks on the development wallets.

use crate::site;

use std::sync::Arc;

use foretell_auth::{Domains, Signer};
use foretell_gateway::{
    ConnectionLimits, Gateway, GatewayConfig, PageConfig, RateLimits, RequestPolicyConfig,
};
use serde_json::{Value, json};
use site::{ask, config, connect, get, start};

fn signer() -> Signer {
    Signer::from_bytes(&[7; 32]).unwrap()
}

fn with_page(wallets: Vec<Arc<Signer>>) -> GatewayConfig {
    GatewayConfig {
        page: Some(PageConfig {
            development_wallets: wallets,
            ..PageConfig::default()
        }),
        ..config(ConnectionLimits::default())
    }
}

fn demo() -> GatewayConfig {
    with_page(vec![Arc::new(signer())])
}

fn get_with(path: &str, line: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n{line}\r\n\r\n")
}

fn header<'h>(head: &'h str, name: &str) -> Option<&'h str> {
    let line = |line: &'h str| line.strip_prefix(name)?.strip_prefix(": ");
    head.lines().find_map(line)
}

#[test]
fn files_are_served_with_their_policy_and_asked_for_once() {
    let (gateway, trading, _) = start(demo());
    let mut stream = connect(trading);
    let (status, head, body) = ask(&mut stream, &get("/ui/"));
    assert_eq!(status, 200);
    assert!(body.starts_with("<!doctype html>"), "{body}");
    assert_eq!(
        header(&head, "content-type"),
        Some("text/html; charset=utf-8")
    );
    let policy = header(&head, "content-security-policy").unwrap();
    assert!(policy.starts_with("default-src 'self';"), "{policy}");
    assert!(!policy.contains("unsafe"), "{policy}");
    assert_eq!(header(&head, "x-content-type-options"), Some("nosniff"));
    assert_eq!(header(&head, "referrer-policy"), Some("no-referrer"));

    // A view of the page is the same file.
    let (status, _, view) = ask(&mut stream, &get("/ui/market/will-it-rain"));
    assert_eq!((status, view), (200, body));

    let tag = header(&head, "etag").unwrap();
    let known = get_with("/ui/", &format!("If-None-Match: {tag}"));
    let (status, head, body) = ask(&mut stream, &known);
    assert_eq!((status, body.as_str()), (304, ""));
    assert_eq!(header(&head, "etag"), Some(tag));

    let compressed = "HEAD /ui/ HTTP/1.1\r\nHost: localhost\r\nAccept-Encoding: br, gzip\r\n\r\n";
    let (status, head, _) = ask(&mut stream, compressed);
    assert_eq!(
        (status, header(&head, "content-encoding")),
        (200, Some("gzip"))
    );
    assert_ne!(header(&head, "etag"), Some(tag));
    assert_eq!(header(&head, "vary"), Some("accept-encoding"));
    gateway.stop().unwrap();
}

#[test]
fn missing_files_and_reads_are_json_errors() {
    let (gateway, trading, _) = start(demo());
    let mut stream = connect(trading);
    for path in [
        "/ui/missing.js",
        "/ui/api",
        "/ui/api/nothing",
        "/ui/logo",
        "/ui/../Cargo.toml",
    ] {
        let (status, head, body) = ask(&mut stream, &get(path));
        assert_eq!(
            (status, body.as_str()),
            (404, r#"{"error":"not found"}"#),
            "{path}"
        );
        assert_eq!(header(&head, "x-error-code"), Some("not_found"), "{path}");
    }
    gateway.stop().unwrap();
}

#[test]
fn browsers_are_sent_to_the_page_and_clients_are_not() {
    let (gateway, trading, _) = start(demo());
    let mut stream = connect(trading);
    let browser = get_with(
        "/",
        "Accept: text/html,application/xhtml+xml;q=0.9,*/*;q=0.8",
    );
    let (status, head, _) = ask(&mut stream, &browser);
    assert_eq!((status, header(&head, "location")), (307, Some("/ui/")));
    for request in [
        get("/"),
        get_with("/", "Accept: */*"),
        get_with("/", "Accept: application/json"),
    ] {
        let (status, _, body) = ask(&mut stream, &request);
        assert_eq!((status, body.as_str()), (200, "\"OK\""), "{request}");
    }
    gateway.stop().unwrap();
}

#[test]
fn without_the_page_no_path_of_it_exists() {
    let (gateway, trading, _) = start(config(ConnectionLimits::default()));
    let mut stream = connect(trading);
    for path in [
        "/ui",
        "/ui/",
        "/ui/api/site",
        "/ui/api/data/trades",
        "/ui/api/engine",
    ] {
        let (status, _, _) = ask(&mut stream, &get(path));
        assert_eq!(status, 404, "{path}");
    }
    let (status, _, body) = ask(&mut stream, &get_with("/", "Accept: text/html"));
    assert_eq!((status, body.as_str()), (200, "\"OK\""));
    gateway.stop().unwrap();
}

#[test]
fn mounted_reads_ignore_the_allowlist_and_keep_the_shape_of_their_surface() {
    let policy = RequestPolicyConfig {
        data_allowlist: Vec::new(),
        ..RequestPolicyConfig::default()
    };
    let (gateway, trading, _) = start(GatewayConfig { policy, ..demo() });
    let mut stream = connect(trading);
    let (status, head, body) = ask(&mut stream, &get("/ui/api/data/positions"));
    assert_eq!(
        (status, body.as_str()),
        (400, r#"{"error":"missing_field: user"}"#)
    );
    assert_eq!(header(&head, "x-error-code"), Some("missing_parameter"));
    let (status, _, body) = ask(&mut stream, &get("/ui/api/catalog/public-search"));
    let body: Value = serde_json::from_str(&body).unwrap();
    assert_eq!(
        (status, &body["type"]),
        (400, &json!("bad request")),
        "{body}"
    );
    for path in ["/ui/api/data/traded", "/ui/api/catalog/series"] {
        let (status, _, _) = ask(&mut stream, &get(path));
        assert_eq!(status, 404, "{path} is not needed");
    }
    gateway.stop().unwrap();
}

#[test]
fn each_family_of_reads_has_a_limit_of_its_own() {
    let limits = RateLimits {
        page_data: 1,
        page_catalog: 1,
        page_summary: 1,
        page_proof: 1,
        page_engine: 1,
        page_wallet: 1,
        ..RateLimits::default()
    };
    let policy = RequestPolicyConfig {
        limits,
        ..RequestPolicyConfig::default()
    };
    let (gateway, trading, _) = start(GatewayConfig { policy, ..demo() });
    let mut stream = connect(trading);
    for (request, scope) in [
        (get("/ui/api/data/oi"), "page_data"),
        (get("/ui/api/catalog/tags"), "page_catalog"),
        (get("/ui/api/markets/summary"), "page_summary"),
        (get("/ui/api/proof/x"), "page_proof"),
        (get("/ui/api/site"), "page_engine"),
        (call("eth_chainId", &json!([]), &OWN), "page_wallet"),
    ] {
        let (status, _, body) = ask(&mut stream, &request);
        assert_ne!(status, 429, "{scope}: {body}");
        let (status, _, body) = ask(&mut stream, &request);
        assert_eq!(status, 429, "{scope}");
        assert!(body.contains(scope), "{body}");
    }
    let (status, _, _) = ask(&mut stream, &get("/ui/"));
    assert_eq!(status, 200, "files go on");
    gateway.stop().unwrap();
}

#[test]
fn summaries_name_what_is_wrong() {
    let (gateway, trading, _) = start(demo());
    let mut stream = connect(trading);
    let many = vec![format!("0x{}", "0".repeat(64)); 101].join(",");
    for (query, text) in [
        ("", "condition_ids is missing"),
        ("?condition_ids=abc", "condition_ids is"),
        (
            &*format!("?condition_ids={many}"),
            "condition_ids has 101 entries",
        ),
    ] {
        let request = get(&format!("/ui/api/markets/summary{query}"));
        let (status, _, body) = ask(&mut stream, &request);
        assert_eq!(status, 400, "{body}");
        assert!(body.contains(text), "{body}");
    }
    gateway.stop().unwrap();
}

/// Headers of the page's own request.
const OWN: [&str; 4] = [
    "Host: 127.0.0.1:8080",
    "Origin: http://127.0.0.1:8080",
    "Sec-Fetch-Site: same-origin",
    "Content-Type: application/json",
];

fn post(body: &str, lines: &[&str]) -> String {
    format!(
        "POST /ui/wallet HTTP/1.1\r\n{}\r\nContent-Length: {}\r\n\r\n{body}",
        lines.join("\r\n"),
        body.len()
    )
}

fn call(method: &str, params: &Value, lines: &[&str]) -> String {
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    post(&body.to_string(), lines)
}

fn fields(pairs: &[(&str, &str)]) -> Value {
    let field = |(kind, name): &(&str, &str)| json!({ "name": name, "type": kind });
    pairs.iter().map(field).collect()
}

/// The statement that asks for an API key.
fn statement() -> Value {
    json!({
        "types": { "ClobAuth": fields(&[
            ("address", "address"), ("string", "timestamp"), ("uint256", "nonce"), ("string", "message"),
        ]) },
        "primaryType": "ClobAuth",
        "domain": { "name": "ClobAuthDomain", "version": "1", "chainId": 80_002 },
        "message": {
            "address": signer().address().to_string(),
            "timestamp": "1700000000",
            "nonce": 0,
            "message": "This message attests that I control the given wallet",
        },
    })
}

fn signing(lines: &[&str]) -> String {
    let params = json!([signer().address().to_string(), statement().to_string()]);
    call("eth_signTypedData_v4", &params, lines)
}

fn signed_answer(request: &str) -> (u16, String, Value) {
    let (gateway, trading, _) = start(demo());
    let answered = answer_of(&gateway, trading, request);
    gateway.stop().unwrap();
    answered
}

fn answer_of(_: &Gateway, trading: std::net::SocketAddr, request: &str) -> (u16, String, Value) {
    let (status, head, body) = ask(&mut connect(trading), request);
    (
        status,
        head,
        serde_json::from_str(&body).unwrap_or_default(),
    )
}

#[test]
fn the_page_s_wallet_signs_as_a_client_does() {
    let (status, _, answer) = signed_answer(&signing(&OWN));
    assert_eq!(status, 200);
    let headers = signer().l1_headers("X", Domains::default().chain_id(), 1_700_000_000, 0);
    assert_eq!(answer["result"], json!(headers[1].1), "{answer}");
    // A program of this machine sends neither Origin nor Sec-Fetch-Site.
    let program = [
        "Host: localhost:8080",
        "Content-Type: application/json; charset=utf-8",
    ];
    let (_, _, same) = signed_answer(&signing(&program));
    assert_eq!(same["result"], answer["result"]);
    let (_, _, accounts) = signed_answer(&call("eth_accounts", &json!([]), &OWN));
    let address = foretell_auth::text::checksum_address(signer().address());
    assert_eq!(accounts["result"], json!([address]));
    let (_, _, chain) = signed_answer(&call("eth_chainId", &Value::Null, &OWN));
    assert_eq!(
        chain,
        json!({ "jsonrpc": "2.0", "id": 1, "result": "0x13882" })
    );
}

#[test]
fn other_pages_hosts_and_content_types_are_refused() {
    let (gateway, trading, _) = start(demo());
    let [host, origin, site, json_type] = OWN;
    for (lines, status, code) in [
        (
            vec![host, "Origin: http://evil.example", json_type],
            403,
            "wallet_foreign_origin",
        ),
        (
            vec![host, "Origin: null", json_type],
            403,
            "wallet_foreign_origin",
        ),
        (
            vec![host, "Origin: http://127.0.0.1:8081", json_type],
            403,
            "wallet_foreign_origin",
        ),
        (
            vec![host, "Origin: http://localhost:8080", json_type],
            403,
            "wallet_foreign_origin",
        ),
        (
            vec![host, origin, "Origin: http://evil.example", json_type],
            403,
            "wallet_foreign_origin",
        ),
        (
            vec![host, origin, "Sec-Fetch-Site: cross-site", json_type],
            403,
            "wallet_foreign_origin",
        ),
        (
            vec![host, "Sec-Fetch-Site: same-site", json_type],
            403,
            "wallet_foreign_origin",
        ),
        // A foreign name that resolves to this machine.
        (
            vec![
                "Host: evil.example:8080",
                "Origin: http://evil.example:8080",
                json_type,
            ],
            403,
            "wallet_foreign_origin",
        ),
        (
            vec!["Host: 192.0.2.1", json_type],
            403,
            "wallet_foreign_origin",
        ),
        (
            vec!["Host: localhost.evil.example", json_type],
            403,
            "wallet_foreign_origin",
        ),
        (
            vec![host, origin, site, "Content-Type: text/plain"],
            415,
            "unsupported_media_type",
        ),
        (vec![host, origin, site], 415, "unsupported_media_type"),
    ] {
        let (found, head, answer) = answer_of(&gateway, trading, &signing(&lines));
        assert_eq!(found, status, "{lines:?}: {answer}");
        assert_eq!(header(&head, "x-error-code"), Some(code), "{lines:?}");
        assert!(answer.get("result").is_none(), "{lines:?}: {answer}");
    }
    gateway.stop().unwrap();
}

#[test]
fn clients_of_other_machines_are_refused() {
    let proxy: RequestPolicyConfig = RequestPolicyConfig {
        trusted_proxies: vec!["127.0.0.1/32".parse().unwrap()],
        ..RequestPolicyConfig::default()
    };
    for (policy, line) in [
        (proxy.clone(), "X-Forwarded-For: 192.0.2.1"),
        (proxy.clone(), "X-Forwarded-For: 127.0.0.2, 192.0.2.1"),
        (proxy, "X-Forwarded-For: unknown"),
        (RequestPolicyConfig::default(), "X-Forwarded-For: 127.0.0.1"),
        (RequestPolicyConfig::default(), "Forwarded: for=127.0.0.1"),
    ] {
        let (gateway, trading, _) = start(GatewayConfig { policy, ..demo() });
        let lines: Vec<_> = OWN.into_iter().chain([line]).collect();
        let (status, head, _) = answer_of(&gateway, trading, &signing(&lines));
        assert_eq!(status, 403, "{line}");
        assert_eq!(
            header(&head, "x-error-code"),
            Some("wallet_not_local"),
            "{line}"
        );
        gateway.stop().unwrap();
    }
}

#[test]
fn an_allowed_origin_of_another_page_may_not_sign_either() {
    let policy = RequestPolicyConfig {
        origins: vec![foretell_gateway::Origin::parse("http://app.example").unwrap()],
        ..RequestPolicyConfig::default()
    };
    let (gateway, trading, _) = start(GatewayConfig { policy, ..demo() });
    let lines = [OWN[0], "Origin: http://app.example", OWN[3]];
    let (status, _, _) = answer_of(&gateway, trading, &signing(&lines));
    assert_eq!(status, 403);
    gateway.stop().unwrap();
}

#[test]
fn foreign_accounts_chains_domains_and_methods_are_not_signed() {
    let (gateway, trading, _) = start(demo());
    let own = signer().address().to_string();
    let altered = |pointer: &str, value: Value| {
        let mut data = statement();
        *data.pointer_mut(pointer).unwrap() = value;
        data
    };
    let permit = json!({
        "types": { "Permit": [] }, "primaryType": "Permit", "message": {},
        "domain": { "name": "USD Coin", "version": "2", "chainId": 80_002 },
    });
    let sign = "eth_signTypedData_v4";
    for (method, params, code) in [
        (
            sign,
            json!(["0x00000000000000000000000000000000000000aa", statement()]),
            4100,
        ),
        (
            sign,
            json!([own, altered("/domain/chainId", json!(1))]),
            4901,
        ),
        (
            sign,
            json!([own, altered("/domain/name", json!("Other"))]),
            -32602,
        ),
        (
            sign,
            json!([own, altered("/message/message", json!("Other"))]),
            -32602,
        ),
        (sign, json!([own, permit]), -32602),
        (sign, json!([own, "no JSON"]), -32602),
        (sign, json!([own]), -32602),
        (sign, json!(null), -32602),
        ("eth_sign", json!([own, "0x00"]), 4200),
        ("personal_sign", json!(["0x00", own]), 4200),
        ("eth_sendTransaction", json!([]), 4200),
    ] {
        let request = call(method, &params, &OWN);
        let (status, _, answer) = answer_of(&gateway, trading, &request);
        assert_eq!(
            (status, &answer["error"]["code"]),
            (200, &json!(code)),
            "{answer}"
        );
        assert!(answer.get("result").is_none(), "{answer}");
    }
    for (body, code) in [
        ("{", -32700),
        ("[]", -32600),
        ("{}", -32600),
        (r#"{"jsonrpc":"1.0","method":"eth_accounts"}"#, -32600),
    ] {
        let (status, _, answer) = answer_of(&gateway, trading, &post(body, &OWN));
        assert_eq!(
            (status, &answer["error"]["code"]),
            (200, &json!(code)),
            "{body}"
        );
    }
    let long = post(&" ".repeat(16 * 1024 + 1), &OWN);
    let (status, _, _) = answer_of(&gateway, trading, &long);
    assert_eq!(status, 413);
    gateway.stop().unwrap();
}

#[test]
fn outside_the_demo_nothing_signs() {
    let (gateway, trading, _) = start(with_page(Vec::new()));
    let (status, _, answer) = answer_of(&gateway, trading, &signing(&OWN));
    assert_eq!(status, 405, "{answer}");
    let (_, _, site) = answer_of(&gateway, trading, &get("/ui/api/site"));
    assert_eq!(
        (&site["demo"], &site["wallet"]),
        (&json!(false), &Value::Null)
    );
    gateway.stop().unwrap();
    let (gateway, trading, _) = start(config(ConnectionLimits::default()));
    let (status, _, answer) = answer_of(&gateway, trading, &signing(&OWN));
    assert_eq!(status, 404, "{answer}");
    gateway.stop().unwrap();
}
