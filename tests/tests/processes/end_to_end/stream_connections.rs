//! Stream connections over processes: input rules, credentials, subscriptions that race with
//! commands, resumes, and the end of a gateway (docs/api/streams.md).

use std::collections::VecDeque;
use std::io::Write as _;
use std::net::TcpStream;
use std::time::Instant;

use foretell_ops::trader::Trader;
use foretell_tests::demo::Demo;
use foretell_tests::exchange::Options;
use foretell_tests::random::Random;
use foretell_tests::streams::{number, timeless};
use reqwest::Method;
use rustix::process::Signal;
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::{Error, Message, WebSocket, client};

fn connect(site: &Demo, path: &str) -> Client {
    let stream = site.exchange.connect();
    let url = format!("ws://{}{path}", site.exchange.address());
    let (socket, _) = client(url, stream).expect("an upgrade");
    Client {
        link: socket,
        array: VecDeque::new(),
    }
}

/// A connection with this first request.
fn subscribe(site: &Demo, path: &str, request: &Value) -> Client {
    let mut client = connect(site, path);
    client.send(request);
    client
}

/// Places a BUY of the first token; returns the sequence of its frame.
async fn buy(site: &Demo, trader: &Trader, price: u16) -> u64 {
    site.buy(trader, 0, 1_000, price).await;
    trader.seen().0
}

struct Client {
    link: WebSocket<TcpStream>,
    /// The rest of an array of messages.
    array: VecDeque<Value>,
}

impl Client {
    fn send(&mut self, request: &Value) {
        self.text(&request.to_string());
    }

    fn text(&mut self, text: &str) {
        self.link.send(Message::text(text)).expect("sent");
    }

    /// Sends bytes as they are.
    fn raw(&mut self, bytes: &[u8]) {
        self.link.get_mut().write_all(bytes).expect("sent");
    }

    /// The next text; pings are answered on the way.
    fn next_text(&mut self) -> String {
        loop {
            match self.link.read().expect("a message") {
                Message::Text(text) => return text.as_str().to_owned(),
                Message::Ping(_) | Message::Pong(_) => {}
                other => panic!("{other:?}"),
            }
        }
    }

    /// The next message, also of an array.
    fn next(&mut self) -> Value {
        loop {
            if let Some(message) = self.array.pop_front() {
                return message;
            }
            let text = self.next_text();
            match serde_json::from_str(&text).unwrap_or_else(|_| panic!("{text}")) {
                Value::Array(messages) => self.array.extend(messages),
                message => return message,
            }
        }
    }

    /// The next message, which has this type.
    fn expect(&mut self, event_type: &str) -> Value {
        let message = self.next();
        assert_eq!(message["event_type"], event_type, "{message}");
        message
    }

    /// Reads up to a heartbeat at this sequence or later, without it and other heartbeats.
    fn up_to(&mut self, sequence: u64) -> Vec<Value> {
        let mut read = Vec::new();
        loop {
            let message = self.next();
            match message["event_type"] == "heartbeat" {
                true if number(&message, "sequence") >= sequence => return read,
                true => {}
                false => read.push(message),
            }
        }
    }

    /// The close code and reason; messages before it are skipped.
    fn end(&mut self) -> (u16, String) {
        loop {
            match self.link.read() {
                Ok(Message::Close(Some(frame))) => {
                    return (frame.code.into(), frame.reason.as_str().to_owned());
                }
                Ok(_) => {}
                Err(Error::Io(error)) => panic!("no close frame: {error}"),
                Err(error) => panic!("{error}"),
            }
        }
    }
}

/// A masked frame with a mask of zeros.
fn frame(first: u8, payload: &[u8]) -> Vec<u8> {
    let length = u8::try_from(payload.len()).expect("a short payload");
    [&[first, 0x80 | length, 0, 0, 0, 0], payload].concat()
}

#[tokio::test]
async fn bad_input_ends_in_what_its_rule_says() {
    let site = Demo::start_with(&Options::demo().with("FORETELL_STREAMS_MESSAGE_KIB", "1")).await;
    let mut client = connect(&site, "/ws/market/");
    for text in ["PING", " ping\n"] {
        client.text(text);
        assert_eq!(client.next_text(), "PONG", "before a subscription");
    }
    // Without the extension nothing is told.
    client.text("garbage");
    client.text("PONG");
    client.send(&json!({"acks": true, "type": "market", "assets_ids": ["1", site.tokens[0]]}));
    let subscribed = client.expect("subscribed");
    assert_eq!(
        (&subscribed["assets"], &subscribed["unknown"]),
        (&json!("1"), &json!(["1"]))
    );
    assert_eq!(client.expect("book")["asset_id"], site.tokens[0]);
    for (text, code) in [
        ("garbage", "bad_json"),
        ("[1]", "bad_json"),
        (r#"{"assets_ids":[1]}"#, "bad_field"),
        (r#"{"operation":"jump"}"#, "unknown_operation"),
        (r#"{"type":"user"}"#, "wrong_channel"),
        (r#"{"resume_from":"9000000000000"}"#, "not_subscribed"),
    ] {
        client.text(text);
        let error = client.expect("error");
        assert_eq!(
            (&error["code"], &error["request"]),
            (&json!(code), &json!(text)),
            "{error}"
        );
    }
    client.text("PING");
    assert_eq!(client.next_text(), "PONG", "it still lives");

    let long = frame(0x81, &[b'x'; 125]);
    for (what, bytes, code) in [
        ("binary", frame(0x82, b"{}"), 1003),
        ("unmasked", vec![0x81, 2, b'{', b'}'], 1002),
        ("not UTF-8", frame(0x81, b"\xFF"), 1007),
        ("fragmented PING", frame(0x09, b"x"), 1002),
        (
            "too long",
            [&[0x81, 0xFE, 0x04, 0x01, 0, 0, 0, 0][..], &long].concat(),
            1009,
        ),
        ("close", frame(0x88, &[0x03, 0xE8]), 1000),
    ] {
        let mut client = connect(&site, "/ws");
        client.raw(&bytes);
        assert_eq!(client.end().0, code, "{what}");
    }
    // Fragments are one message, also with a ping in between.
    let mut client = connect(&site, "/ws");
    client.raw(&[frame(0x01, b"PI"), frame(0x89, b"?"), frame(0x80, b"NG")].concat());
    assert_eq!(client.next_text(), "PONG");
    assert!(site.exchange.stop().success());
}

#[tokio::test]
async fn a_connection_over_a_limit_or_silent_is_closed() {
    let options = Options::demo()
        .with("FORETELL_STREAMS_ASSETS", "1")
        .with("FORETELL_STREAMS_IDLE_SECONDS", "1")
        .with("FORETELL_STREAMS_PER_ADDRESS", "7");
    let site = Demo::start_with(&options).await;
    let both = json!({"type": "market", "assets_ids": site.tokens});
    let end = subscribe(&site, "/ws/market", &both).end();
    assert_eq!(end, (4008, "too many assets: 2, max 1".to_owned()));
    // Later tokens above the limit are refused, and the first one goes on.
    let one = json!({"type": "market", "assets_ids": [site.tokens[0]], "acks": true});
    let mut client = subscribe(&site, "/ws/market", &one);
    client.expect("subscribed");
    assert_eq!(client.expect("book")["asset_id"], site.tokens[0]);
    client.send(&json!({"assets_ids": [site.tokens[1]], "initial_dump": true}));
    assert_eq!(client.expect("subscribed")["assets"], "1");
    let refused = client.expect("error");
    assert_eq!(
        (&refused["code"], &refused["message"]),
        (
            &json!("bad_field"),
            &json!("2 assets are subscribed, allowed: 1; the last ones are refused")
        )
    );
    client.send(&json!({"assets_ids": [site.tokens[0]], "initial_dump": true}));
    client.expect("subscribed");
    assert_eq!(client.expect("book")["asset_id"], site.tokens[0]);
    drop(client);
    let began = Instant::now();
    let end = connect(&site, "/ws/market").end();
    assert_eq!(end, (1008, "idle".to_owned()));
    assert!(began.elapsed().as_millis() >= 1_000);
    let held: Vec<Client> = (0..7).map(|_| connect(&site, "/ws/market")).collect();
    let request = reqwest::Client::new().get(format!("{}/ws/market", site.exchange.trading));
    let request = request
        .header("connection", "upgrade")
        .header("upgrade", "websocket")
        .header("sec-websocket-version", "13")
        .header("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ==");
    let answer = request.send().await.expect("an answer");
    assert_eq!(answer.status(), 429);
    assert_eq!(answer.headers()["x-error-code"], "too_many_streams");
    assert_eq!(answer.headers()["retry-after"], "5");
    drop(held);
    assert!(site.exchange.stop().success());
}

#[tokio::test]
async fn a_user_sees_its_own_and_ends_with_its_key() {
    let site = Demo::start().await;
    let (alice, bob) = (&site.trader, &site.other);
    let (_, auth) = alice.derive_key(0).await.expect("the key");
    for wrong in ["none", "apiKey", "secret", "passphrase"] {
        let mut bad = json!({"type": "user", "auth": auth});
        match wrong {
            "none" => drop(bad.as_object_mut().expect("an object").remove("auth")),
            field => bad["auth"][field] = json!("0071e705-7f26-4786-8057-6a371e29d143"),
        }
        let end = subscribe(&site, "/ws/user", &bad).end();
        assert_eq!(end, (4001, "unauthorized".to_owned()), "{wrong}");
    }
    let first = json!({"type": "user", "auth": auth, "heartbeat_ms": 500});
    let mut own = subscribe(&site, "/ws/user/", &first);
    assert_eq!(own.expect("subscribed")["markets"], "0");
    let mut filtered = first.clone();
    filtered["markets"] = json!([format!("0x{}", "ab".repeat(32))]);
    let mut nothing = subscribe(&site, "/ws", &filtered);
    assert_eq!(nothing.expect("subscribed")["unknown"], filtered["markets"]);
    // Later requests name no credentials, or the same ones.
    own.send(&json!({"operation": "subscribe", "markets": [site.condition]}));
    assert_eq!(
        own.expect("subscribed")["markets"],
        "1",
        "named ones narrow"
    );

    buy(&site, bob, 4_000).await;
    let last = buy(&site, alice, 3_000).await;
    let read = own.up_to(last);
    let orders: Vec<_> = read
        .iter()
        .map(|it| (&it["event_type"], &it["type"]))
        .collect();
    assert_eq!(
        orders,
        [(&json!("order"), &json!("PLACEMENT"))],
        "nothing of Bob"
    );
    assert_eq!(read[0]["owner"], alice.api_key());
    assert!(nothing.up_to(last).is_empty());

    let revoked = alice.signed(Method::DELETE, "/auth/api-key", "", "").await;
    assert_eq!(revoked.expect("an answer").0, 200);
    for client in [&mut own, &mut nothing] {
        assert_eq!(client.end(), (4001, "key revoked".to_owned()));
    }
    let end = subscribe(&site, "/ws/user", &first).end();
    assert_eq!(end, (4001, "unauthorized".to_owned()));
    assert!(site.exchange.stop().success());
}

#[tokio::test]
async fn repeated_subscriptions_add_nothing_and_dumps_are_as_asked() {
    let site = Demo::start().await;
    let trader = &site.trader;
    let [yes, no] = &site.tokens;
    let mut client = subscribe(
        &site,
        "/ws/market",
        &json!({"assets_ids": [yes], "acks": true}),
    );
    assert_eq!(client.expect("subscribed")["assets"], "1");
    let first = client.expect("book");
    client.send(&json!({"assets_ids": [yes]}));
    assert_eq!(client.expect("subscribed")["assets"], "1", "no second book");
    client.send(&json!({"assets_ids": [yes], "initial_dump": true}));
    client.expect("subscribed");
    assert_eq!(client.expect("book")["hash"], first["hash"]);
    client.send(&json!({"asset_ids": [no], "initial_dump": false, "heartbeat_ms": 500}));
    assert_eq!(client.expect("subscribed")["assets"], "2");
    let sequence = buy(&site, trader, 1_000).await;
    let types =
        |read: &[Value]| -> Vec<Value> { read.iter().map(|it| it["event_type"].clone()).collect() };
    assert_eq!(
        types(&client.up_to(sequence)),
        ["price_change"],
        "one for both tokens"
    );
    client.send(&json!({"operation": "subscribe", "custom_feature_enabled": true}));
    client.expect("subscribed");
    let sequence = buy(&site, trader, 9_000).await;
    let found = types(&client.up_to(sequence));
    assert_eq!(
        found.iter().filter(|it| **it == "best_bid_ask").count(),
        2,
        "{found:?}"
    );
    client.send(&json!({"operation": "unsubscribe", "markets": [site.condition]}));
    client.text("PING");
    assert_eq!(client.next_text(), "PONG");
    let sequence = buy(&site, trader, 1_100).await;
    assert!(client.up_to(sequence).is_empty());
    assert!(site.exchange.stop().success());
}

/// Orders at random prices while connections subscribe, and resume from random frames.
#[tokio::test]
async fn subscriptions_and_resumes_among_commands_lose_and_repeat_nothing() {
    let site = Demo::start().await;
    let trader = &site.trader;
    let mut random = Random::new(Random::seed("FORETELL_STREAMS_SEED"));
    let request = json!({"type": "market", "assets_ids": site.tokens, "heartbeat_ms": 500});
    let mut clients = vec![subscribe(&site, "/ws/market", &request)];
    let mut last = 0;
    for order in 0..120 {
        last = buy(
            &site,
            trader,
            100 * u16::try_from(1 + random.below(40)).expect("small"),
        )
        .await;
        if order % 12 == 0 {
            clients.push(subscribe(&site, "/ws/market", &request));
        }
    }
    let streams: Vec<Vec<Value>> = clients.iter_mut().map(|it| it.up_to(last)).collect();
    let is_link = |it: &&Value| !it["prev_sequence"].is_null();
    let book_at = |stream: &&Vec<Value>| {
        let book = stream.iter().find(|it| it["event_type"] == "book");
        number(book.expect("a book"), "sequence")
    };
    // The first two connections race for the earlier book.
    let longest = streams.iter().min_by_key(book_at).expect("connections");
    let all: Vec<&Value> = longest.iter().filter(is_link).collect();
    // The first orders may be in the first book.
    assert!(all.len() >= 60, "{}", all.len());
    let mut previous = None;
    for link in &all {
        let (sequence, before) = (number(link, "sequence"), number(link, "prev_sequence"));
        assert!(
            previous.is_none_or(|it| it == before || it == sequence),
            "{link}"
        );
        previous = Some(sequence);
    }
    for stream in &streams {
        let from = book_at(&stream);
        let own: Vec<Value> = stream.iter().filter(is_link).map(timeless).collect();
        let expected = all.iter().filter(|it| number(it, "sequence") > from);
        assert_eq!(own, expected.map(|it| timeless(it)).collect::<Vec<_>>());
    }
    for _ in 0..30 {
        let &from = random.pick(&all);
        let from = number(from, "sequence");
        let mut resumed = request.clone();
        resumed["resume_from"] = json!(from.to_string());
        resumed["stream_id"] = all[0]["stream_id"].clone();
        let read = subscribe(&site, "/ws/market", &resumed).up_to(last);
        assert_eq!(read[0]["event_type"], "subscribed");
        assert_eq!(
            (&read[1]["mode"], number(&read[1], "from")),
            (&json!("replay"), from),
            "{}",
            read[1]
        );
        let expected = all.iter().filter(|it| number(it, "sequence") > from);
        let expected: Vec<Value> = expected.map(|it| timeless(it)).collect();
        assert_eq!(read[2..].iter().map(timeless).collect::<Vec<_>>(), expected);
    }
    let mut other = request.clone();
    other["resume_from"] = json!(last);
    other["stream_id"] = json!("0000000000000000");
    let read = subscribe(&site, "/ws/market", &other).up_to(last);
    assert_eq!(
        (&read[1]["mode"], &read[1]["reason"]),
        (&json!("snapshot"), &json!("other stream"))
    );
    assert_eq!(read[2]["event_type"], "book");
    assert!(site.exchange.stop().success());
}

#[tokio::test]
async fn a_gateway_that_ends_drains_its_streams() {
    let site = Demo::start().await;
    let trader = &site.trader;
    let request = json!({"type": "market", "assets_ids": site.tokens});
    let mut client = subscribe(&site, "/ws/market", &request);
    client.expect("book");
    client.expect("book");
    let sequence = buy(&site, trader, 1_000).await;
    let first = client.next();
    assert_eq!(number(&first, "sequence"), sequence);
    site.exchange.signal("gateway-1", Signal::TERM);
    let (code, reason) = client.end();
    let last = reason
        .strip_prefix("draining; last_sequence=")
        .expect("the last sequence");
    assert_eq!(code, 4003);
    assert!(last.parse::<u64>().expect("digits") >= sequence, "{reason}");
    drop(site.exchange);
}
