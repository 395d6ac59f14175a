//! Resumes that miss much: nothing is promised before their messages are sent, and the messages come
//! in parts, as the client reads them.

use foretell_tests::exchange::Options;
use foretell_tests::operator;
use foretell_tests::random::Random;
use foretell_tests::streams::{Connection, number, sequence};
use serde_json::{Value, json};

use super::{Market, Site, common, count, is_common};

/// Clients that wait for the journal; a gateway reads it for one at a time.
const CLIENTS: u8 = 8;
/// Responses of the random load before.
const COMMANDS: u64 = 900;
/// Bytes that may wait for a client, in MiB. Half of it is one part of a replay.
const MAX_LAG_MIB: usize = 1;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_long_resume_promises_nothing_before_its_messages() {
    let mut random = Random::new(Random::seed("FORETELL_STREAM_SEED"));
    let limit = MAX_LAG_MIB.to_string();
    let options = Options::demo().with("FORETELL_STREAMS_MAX_LAG_MIB", &limit);
    let mut site = Site::start(options).await;
    let market = site.market(1).await;
    let from = operator::sequence(&site.exchange).await;
    let subscriptions = [Site::both(&market), site.own(0)];
    let mut uninterrupted = Vec::new();
    for subscription in &subscriptions {
        uninterrupted.push(site.record(subscription).await);
    }
    let load = site.load(&[&market], &mut random);
    let commands = count("FORETELL_STREAM_COMMANDS", COMMANDS);
    load.shared.wait_answers(commands).await;
    load.end().await;
    let last = operator::sequence(&site.exchange).await;
    let mut expected = Vec::new();
    for recording in uninterrupted {
        let (read, end) = recording.end(last).await;
        assert_eq!(end, None);
        expected.push(common(&read, from));
    }
    let bytes: usize = expected[0].iter().map(|it| it.to_string().len()).sum();
    println!("{} messages, {bytes} bytes", expected[0].len());
    assert!(bytes > MAX_LAG_MIB << 20, "{bytes}: too few to tell");

    // From the ring, and from the journal: a new gateway's ring is empty.
    for clients in [2, CLIENTS] {
        let mut waiting = Vec::new();
        for client in 0..clients {
            let which = usize::from(client % 2);
            let mut subscription = subscriptions[which].clone();
            let channel = subscription["type"].as_str().expect("a channel").to_owned();
            subscription["resume_from"] = json!(from.to_string());
            let opened = Connection::open_from(2 + client, &site.exchange.trading, &channel).await;
            let mut connection = opened.expect("an upgrade");
            connection.send(&subscription).await.expect("sent");
            let task = tokio::spawn(async move { connection.until_type("heartbeat").await });
            waiting.push((which, task));
        }
        for (which, task) in waiting {
            let read = task.await.expect("a heartbeat");
            is_whole(&read, (from, last), &expected[which]);
        }
        site.exchange.kill_and_wait("gateway-1");
        site.shown(&market.tokens[0]).await;
    }
    resumes_in_order_while_orders_come(&site, &market, from, &mut random).await;
    assert!(site.exchange.stop().success());
}

/// A resume of tokens that are sent live: no later message comes before a missed one.
async fn resumes_in_order_while_orders_come(
    site: &Site,
    market: &Market,
    from: u64,
    random: &mut Random,
) {
    let subscription = Site::both(market);
    let mut live = site.connect(&subscription).await;
    live.until_type("subscribed").await;
    let load = site.load(&[market], random);
    load.shared.wait_answers(20).await;
    let mut resume = subscription;
    resume["resume_from"] = json!(from.to_string());
    live.send(&resume).await.expect("sent");
    load.shared.wait_answers(200).await;
    load.end().await;
    let last = operator::sequence(&site.exchange).await;
    let read = live
        .until(|message| message["event_type"] == "heartbeat" && sequence(message) >= last)
        .await;
    let resumed = read.iter().position(|it| it["event_type"] == "resumed");
    let sent = read[resumed.expect("an answer")..]
        .iter()
        .filter(|it| is_common(it));
    assert!(sent.is_sorted_by_key(sequence), "out of order");
}

/// The answer, then every message, and only then a heartbeat.
fn is_whole(read: &[Value], (from, last): (u64, u64), expected: &[Value]) {
    assert_eq!(read[0]["event_type"], "subscribed", "{}", read[0]);
    assert_eq!(read[1]["mode"], "replay", "{}", read[1]);
    assert_eq!(number(&read[1], "from"), from);
    assert!(read[2..].iter().all(|it| it["event_type"] != "resumed"));
    let told = common(read, from);
    let sent = read
        .iter()
        .filter(|it| is_common(it) && sequence(it) > from);
    assert!(sent.is_sorted_by_key(sequence), "out of order");
    assert!(told == expected, "{} of {}", told.len(), expected.len());
    let heartbeat = sequence(read.last().expect("a heartbeat"));
    assert!(heartbeat >= last, "{heartbeat} before {last}");
}
