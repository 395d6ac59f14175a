//! Loads on servers that stall, answer wrongly, and work.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener};
use std::time::{Duration, Instant};

use foretell_auth::Domains;
use foretell_wire::orders::order::OrderBatch;
use foretell_wire::read::RequestBody as _;

use super::endpoint::Trader;
use super::*;
use crate::workloads::venue;

/// A server of one connection; `answer` maps each request to the body of the response.
fn fake(mut answer: impl FnMut(&str) -> (u16, String) + Send + 'static) -> SocketAddr {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let (mut text, mut bytes) = (String::new(), [0; 64 * 1024]);
        loop {
            match stream.read(&mut bytes) {
                Ok(count) if count > 0 => {
                    text.push_str(std::str::from_utf8(&bytes[..count]).unwrap())
                }
                _ => return,
            }
            if let Some(end) = end_of_request(&text) {
                let (status, body) = answer(&text[..end]);
                text.drain(..end);
                let length = body.len();
                let answer =
                    format!("HTTP/1.1 {status} X\r\ncontent-length: {length}\r\n\r\n{body}");
                if stream.write_all(answer.as_bytes()).is_err() {
                    return;
                }
            }
        }
    });
    address
}

fn end_of_request(text: &str) -> Option<usize> {
    let head = text.find("\r\n\r\n")? + 4;
    let length = text[..head]
        .lines()
        .find_map(|line| line.strip_prefix("Content-Length: "));
    let end = head + length.map_or(0, |length| length.parse().unwrap());
    (text.len() >= end).then_some(end)
}

fn endpoint(address: SocketAddr) -> Endpoint {
    let domains = Domains::default();
    let trader = Trader::numbered(0, &domains).unwrap();
    Endpoint::bench(address, &domains, vec![trader]).unwrap()
}

fn plan(rate: u32, mix: &str, measured: Duration) -> Plan {
    Plan {
        rate,
        warm_up: Duration::ZERO,
        measured,
        mix: mix.parse().unwrap(),
        connections: 1,
        signers: usize::MAX,
        threads: 1,
        patience: Duration::from_secs(60),
    }
}

fn book(endpoint: &Endpoint) -> String {
    format!(r#"{{"asset_id":"{}"}}"#, endpoint.terms.token_text())
}

#[test]
fn a_stall_delays_every_request_due_during_it() {
    const STALL: Duration = Duration::from_millis(200);
    let book_endpoint = endpoint(SocketAddr::from(([127, 0, 0, 1], 1)));
    let (body, mut asked) = (book(&book_endpoint), 0);
    let address = fake(move |_| {
        asked += 1;
        if asked == 100 {
            // The stall is measured on the server's own clock.
            let began = Instant::now();
            while began.elapsed() < STALL {
                std::thread::park_timeout(STALL - began.elapsed().min(STALL));
            }
        }
        (200, body.clone())
    });
    let outcome = run(
        &endpoint(address),
        &plan(1_000, "read=1", Duration::from_secs(1)),
    )
    .unwrap();
    assert_eq!(
        (outcome.latencies.answered, outcome.latencies.unanswered),
        (1_000, 0)
    );
    // One request was open; the 100 due in the first half of the stall waited at least for the
    // second half. A closed-loop generator would show one slow request.
    let waited = u64::try_from(STALL.as_nanos() / 2).unwrap();
    let slow = outcome.latencies.all().count_between(waited, u64::MAX);
    assert!(slow >= 100, "{slow} requests were charged");
    assert!(outcome.latencies.all().max() >= 2 * waited);
    let timeline: u64 = outcome
        .latencies
        .seconds
        .iter()
        .map(|second| second.len())
        .sum();
    assert_eq!(timeline, 1_000);
}

#[test]
fn a_silent_server_is_charged_for_all_due_requests() {
    let book_endpoint = endpoint(SocketAddr::from(([127, 0, 0, 1], 1)));
    let (body, (never, hold)) = (book(&book_endpoint), std::sync::mpsc::channel::<()>());
    let mut asked = 0;
    let address = fake(move |_| {
        asked += 1;
        if asked > 10 {
            // Until the test is over.
            let _ = hold.recv();
        }
        (200, body.clone())
    });
    let plan = Plan {
        patience: Duration::from_millis(100),
        ..plan(1_000, "read=1", Duration::from_secs(5))
    };
    let outcome = run(&endpoint(address), &plan).unwrap();
    assert_eq!(outcome.latencies.answered, 10);
    assert!(outcome.latencies.unanswered >= 90, "{outcome:?}");
    assert!(!outcome.kept_up(u64::MAX));
    drop(never);
}

/// Runs a load on a server that answers placements by `answer`, given the ids in order.
fn wrong_run(mix: &str, answer: impl FnMut(&str) -> (u16, String) + Send + 'static) -> String {
    let endpoint = endpoint(fake(answer));
    match run(&endpoint, &plan(2_000, mix, Duration::from_millis(20))) {
        Err(MeasureError::Wrong(text)) => text,
        other => panic!("a wrong answer passed: {other:?}"),
    }
}

fn placed(id: &str) -> String {
    format!(r#"{{"success":true,"orderID":"{id}","status":"live"}}"#)
}

#[test]
fn the_first_wrong_answer_ends_a_run_and_is_shown() {
    let other = "0x".to_owned() + &"ab".repeat(32);
    let (id, batch) = (
        placed(&other),
        format!("[{},{}]", placed(&other), placed(&other)),
    );
    let refused = format!(r#"{{"success":false,"orderID":"{other}","status":"error"}}"#);
    for (mix, status, body) in [
        ("place=1", 200, id.clone()),
        ("place=1", 200, refused),
        ("place=1", 503, "busy".to_owned()),
        ("place=1", 302, id),
        ("batch=1x2", 200, batch),
        ("read=1", 200, r#"{"asset_id":"1"}"#.to_owned()),
    ] {
        let said = body.clone();
        let text = wrong_run(mix, move |_| (status, said.clone()));
        assert!(
            text.contains(&body) && text.contains(&status.to_string()),
            "{text}"
        );
        assert!(!text.contains("PASSPHRASE"), "{text}");
    }
}

#[test]
fn a_batch_in_another_order_is_wrong() {
    // The bare server names the orders in order; this one reverses them.
    let text = wrong_run("batch=1x2", |request| {
        let body = request.split_once("\r\n\r\n").unwrap().1;
        let OrderBatch(mut orders) = OrderBatch::read(body.as_bytes()).unwrap();
        orders.reverse();
        let domains = Domains::default();
        let separator = domains.candidates(false).next().unwrap().separator();
        let results: Vec<_> = orders
            .into_iter()
            .map(|order| {
                let order = order.unwrap().order;
                let token = venue::tokens(0)[0];
                let id = foretell_auth::eip712::order_id(separator, &order.words(&token));
                placed(&id.to_string())
            })
            .collect();
        (200, format!("[{}]", results.join(",")))
    });
    assert!(text.contains("result 0: orderID is not 0x"), "{text}");
}

#[test]
fn every_kind_is_answered_by_an_exchange() {
    let plan = Plan {
        warm_up: Duration::from_millis(50),
        connections: 4,
        threads: 2,
        ..plan(
            200,
            "place=3,batch=1x3,cancel=3,read=1",
            Duration::from_millis(300),
        )
    };
    let scratch = ScratchDir::default().directory("load").unwrap();
    let server =
        ServerUnderTest::exchange(&scratch.path().join("data"), 5, SIGNER_CACHE_MIB).unwrap();
    let outcome = run(&server.endpoint, &plan).unwrap();
    server.stop().unwrap();
    assert_eq!(
        (outcome.latencies.answered, outcome.latencies.unanswered),
        (60, 0)
    );
    assert_eq!(outcome.latencies.kinds().count(), 4);
    assert!(!outcome.machine.is_empty());
}

#[test]
fn an_exchange_and_its_floors_are_compared() {
    let words = "--rounds 1 --connections 4 --p99 400 --precision 100 --holders 3000";
    let mut scope = scope(&words.split(' ').collect::<Vec<_>>()).unwrap();
    // A busy machine must not prevent finding a rate.
    scope.measured = Duration::from_millis(50);
    let report = compare::compare(&scope).unwrap();
    assert_eq!((report.rounds, report.goals.len()), (1, 7));
    assert!(
        report
            .goals
            .iter()
            .all(|goal| goal.found.is_some_and(|found| found > 0.0))
    );
    assert_eq!(report.recordings.len(), 5);
    // Three steps of a thousand accounts for each of four markets.
    let settled = report.notes.last().unwrap();
    assert!(
        settled.ends_with(" of 12 steps within the turns"),
        "{settled}"
    );
}

fn scope(words: &[&str]) -> Result<LoadScope, clap::Error> {
    use clap::Parser as _;
    #[derive(Debug, clap::Parser)]
    struct Alone {
        #[command(flatten)]
        scope: LoadScope,
    }
    let words = ["load"].iter().chain(words);
    Alone::try_parse_from(words).map(|alone| alone.scope)
}

#[test]
fn a_load_is_described_by_its_arguments() {
    let plain = scope(&[]).unwrap();
    assert_eq!((plain.rate, plain.connections, plain.rounds), (None, 32, 3));
    let own = scope(&["--rate", "500", "--mix", "batch=1x5", "--threads", "2"]).unwrap();
    let plan = own.plan(500, PATIENCE);
    assert_eq!(
        (plan.mix.to_string().as_str(), plan.threads),
        ("batch=1x5", 2)
    );
    for wrong in [
        &["--rate", "0"][..],
        &["--mix", "buy=1"],
        &["--url", "http://localhost"],
        &["--server-is-mine"],
        &["--token", "7"],
        &["--rate", "5", "--rounds", "2"],
        &["--private-key", "0x1"],
        &["--seconds", "0"],
    ] {
        assert!(scope(wrong).is_err(), "{wrong:?}");
    }
}

#[test]
fn a_foreign_server_is_rejected() {
    let others = ["--url", "http://192.0.2.1", "--token", "7"];
    let error = measure(&scope(&others).unwrap()).unwrap_err().to_string();
    assert!(error.contains("192.0.2.1"), "{error}");
}
