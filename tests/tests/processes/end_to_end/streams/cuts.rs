//! Connections that end anywhere: resumed on either gateway, also after a kill, they give the
//! uninterrupted stream.

use foretell_tests::operator;
use foretell_tests::random::Random;
use foretell_tests::streams::{Connection, sequence};
use serde_json::{Value, json};
use tokio::sync::watch;

use super::{Recording, Site, common, complete, count, follow};

/// Cuts of each connection in a round, and every how many cuts a gateway is killed. A test of more cuts has
/// more rounds, each with its own exchange: a round keeps every message, and the engine every order id.
const CUTS: u64 = 40;
const KILL_EVERY: u64 = 20;
/// A client that reads little in each part falls behind: it catches up every so many cuts.
const CATCH_UP_EVERY: u64 = 10;
/// Longest part of a stream that a connection reads before its cut.
const LONGEST_BYTES: u64 = 30_000;
/// Uninterrupted connections of each kind: one must be on the gateway that is not killed.
const REFERENCES: usize = 16;

/// A client that is cut and resumes.
struct CutClient {
    trading: String,
    subscription: Value,
    read: Vec<Value>,
    /// Answers `snapshot`: this gateway does not reach back far enough.
    snapshots: u64,
}

impl CutClient {
    /// Reads until a random cut, or until everything up to the goal was read.
    async fn part(&mut self, bytes: Option<u64>, goal: &watch::Receiver<u64>) {
        let from = complete(&self.read);
        // A cut may fall inside a frame: the frame is sent again as a whole.
        self.read.retain(|message| sequence(message) <= from);
        self.subscription["resume_from"] = json!(from.to_string());
        let channel = self.subscription["type"].as_str().expect("a channel");
        let mut connection =
            Connection::subscribe(&self.trading, channel, &self.subscription).await;
        if let Some(bytes) = bytes {
            connection.cut_after(usize::try_from(bytes).expect("a size"));
        }
        let mut part = Vec::new();
        // The end is the cut, or the kill of the gateway.
        let _ = follow(&mut connection, &mut part, goal).await;
        let refused = part
            .iter()
            .any(|message| message["event_type"] == "error" || message["mode"] == "snapshot");
        if refused {
            self.snapshots += 1;
        } else {
            self.read.extend(part);
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stream_that_is_cut_and_resumed_is_the_uninterrupted_one() {
    let mut random = Random::new(Random::seed("FORETELL_STREAM_SEED"));
    for _ in 0..count("FORETELL_STREAM_CUTS", CUTS).div_ceil(CUTS) {
        cut_and_compare(&mut random).await;
    }
}

/// Cuts one client of each channel under a load, and compares them with connections that are not cut.
async fn cut_and_compare(random: &mut Random) {
    let mut site = Site::two_gateways().await;
    let market = site.market(1).await;
    let subscriptions = [Site::both(&market), site.own(0)];
    let mut references: Vec<Vec<Recording>> = Vec::new();
    let mut clients = Vec::new();
    for subscription in &subscriptions {
        let mut recordings = Vec::new();
        for _ in 0..REFERENCES {
            recordings.push(site.record(subscription).await);
        }
        references.push(recordings);
        clients.push(client(&site, subscription).await);
    }
    let (goal, goals) = watch::channel(u64::MAX);
    let load = site.load(&[&market], random);
    for cut in 1..=CUTS {
        // A part also ends when it has caught up: the load may be out of money, and the stream quiet.
        goal.send_replace(operator::sequence(&site.exchange).await);
        for client in &mut clients {
            let bytes = (cut % CATCH_UP_EVERY != 0).then(|| random.below(LONGEST_BYTES));
            client.part(bytes, &goals).await;
        }
        if cut % KILL_EVERY == 0 {
            site.exchange.kill_and_wait("gateway-1");
        }
    }
    load.end().await;
    let end = operator::sequence(&site.exchange).await;
    goal.send_replace(end);
    for (mut client, recordings) in clients.into_iter().zip(references) {
        while complete(&client.read) < end {
            client.part(None, &goals).await;
        }
        let from = sequence(&client.read[0]);
        let expected = uninterrupted(recordings, end, from).await;
        let read = common(&client.read, from);
        println!("{} messages, {} snapshots", read.len(), client.snapshots);
        assert!(read.len() > 50, "{} messages: too few to tell", read.len());
        if let Some(at) =
            (0..read.len().max(expected.len())).find(|&at| read.get(at) != expected.get(at))
        {
            panic!(
                "message {at} is {:?}, expected {:?}",
                read.get(at),
                expected.get(at)
            );
        }
    }
    assert!(site.exchange.stop().success());
}

/// A client that has read up to a first heartbeat.
async fn client(site: &Site, subscription: &Value) -> CutClient {
    let mut connection = site.connect(subscription).await;
    let mut first = connection.until_type("heartbeat").await;
    let heartbeat = first.pop().expect("a heartbeat");
    let mut subscription = subscription.clone();
    subscription["stream_id"] = heartbeat["stream_id"].clone();
    CutClient {
        trading: site.exchange.trading.clone(),
        subscription,
        read: vec![heartbeat],
        snapshots: 0,
    }
}

/// What a connection read that nothing interrupted.
async fn uninterrupted(recordings: Vec<Recording>, goal: u64, after: u64) -> Vec<Value> {
    let mut whole = Vec::new();
    for recording in recordings {
        let (read, end) = recording.end(goal).await;
        if end.is_none() {
            whole.push(common(&read, after));
        }
    }
    assert!(
        !whole.is_empty(),
        "every connection was on the killed gateway"
    );
    assert!(
        whole.iter().all(|read| *read == whole[0]),
        "connections differ"
    );
    whole.swap_remove(0)
}
