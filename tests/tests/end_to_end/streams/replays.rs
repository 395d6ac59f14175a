//! Resumes that wait for the journal: nothing is promised before its messages are sent.

use foretell_tests::operator;
use foretell_tests::random::Random;
use foretell_tests::streams::{Connection, number, sequence};
use serde_json::json;

use super::{Site, count, is_common};
use foretell_tests::exchange::Options;

/// Clients that wait for a replay; a gateway reads for one at a time.
const CLIENTS: u64 = 48;
/// Responses of the random load before.
const COMMANDS: u64 = 200;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_resume_that_waits_for_the_journal_promises_nothing_meanwhile() {
    let mut random = Random::new(Random::seed("FORETELL_STREAM_SEED"));
    let mut site = Site::start(Options::demo()).await;
    let market = site.market(1).await;
    let from = operator::sequence(&site.exchange).await;
    let load = site.load(&[&market], &mut random);
    load.shared
        .wait_answers(count("FORETELL_STREAM_COMMANDS", COMMANDS))
        .await;
    load.end().await;
    let last = operator::sequence(&site.exchange).await;
    // The new gateway's ring is empty.
    site.exchange.kill_and_wait("gateway-1");
    site.shown(&market.tokens[0]).await;

    let mut waiting = Vec::new();
    for client in 0..CLIENTS {
        let mut subscription = match client % 2 {
            0 => site.own(0),
            _ => Site::both(&market),
        };
        let channel = subscription["type"].as_str().expect("a channel").to_owned();
        subscription["resume_from"] = json!(from.to_string());
        let host = u8::try_from(2 + client).expect("an address");
        let trading = &site.exchange.trading;
        let opened = Connection::open_from(host, trading, &channel).await;
        let mut connection = opened.expect("an upgrade");
        connection.send(&subscription).await.expect("sent");
        waiting.push(connection);
    }
    let mut streams = [Vec::new(), Vec::new()];
    for (client, mut connection) in waiting.into_iter().enumerate() {
        let read = connection.until_type("heartbeat").await;
        assert_eq!(read[0]["event_type"], "subscribed", "{}", read[0]);
        assert_eq!(read[1]["mode"], "replay", "{}", read[1]);
        assert_eq!(number(&read[1], "from"), from);
        let told: Vec<_> = read[2..].iter().filter(|it| is_common(it)).collect();
        assert!(told.len() > 20, "{} messages: too few to tell", told.len());
        let ordered = told.is_sorted_by_key(|message| sequence(message));
        assert!(ordered, "{told:#?}");
        let heartbeat = sequence(read.last().expect("a heartbeat"));
        assert!(heartbeat >= last, "{heartbeat} before {last}");
        streams[client % 2].push(super::common(&read, from));
    }
    for alike in streams {
        assert!(alike.iter().all(|read| *read == alike[0]), "clients differ");
    }
    assert!(site.exchange.stop().success());
}
