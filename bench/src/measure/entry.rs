//! Response time of a durable order: signed orders sent one at a time on a keep-alive connection to
//! gateway and engine. Baseline, alternating with the orders: a bare write with `fdatasync` of as
//! many bytes on the same file system, and one check of the same signature.

use std::io;
use std::path::Path;

use foretell_auth::{Domains, L2Credentials, OwnerWallets, Signer, verify_order};
use foretell_journal::PAGE;
use serde_json::Value;

use crate::baselines::sync_file::SyncFile;
use crate::error::MeasureError;
use crate::harness::http::Connection;
use crate::harness::latency::Stopwatch;
use crate::harness::live_exchange::LiveExchange;
use crate::report::{Goal, Interval, Measure, Report};
use crate::workloads::signed_orders::{self, Sender, SignedOrder, Terms};

/// Maximum ratio of the response time to the baseline, both medians.
const GOAL_RATIO: f64 = 3.0;
/// Orders sent first and not counted, to warm up connections, caches and branch predictors.
const WARM_UP: u32 = 50;
/// Timed lanes, in the order of [`Round::lanes`].
const LANES: [&str; 4] = [
    "write and fdatasync",
    "signature check",
    "floor, both",
    "answer",
];
const NANOS_PER_US: f64 = 1e3;
/// Private key of no value.
const PRIVATE_KEY: [u8; 32] = [0x42; 32];
/// The batch of a single order (a frame of about 700 bytes) is one page.
const BATCH_BYTES: usize = PAGE;

/// Starts an exchange in a temporary directory under `directory` and sends it `orders` orders in
/// `rounds` rounds; a remainder is not sent.
///
/// # Errors
/// The exchange does not start, or a response is wrong.
pub fn measure(directory: &Path, orders: u32, rounds: u32) -> Result<Report, MeasureError> {
    let rounds = rounds.clamp(1, orders.max(1));
    let mut report = Report::begin("entry", "disk");
    let scratch = tempfile::Builder::new()
        .prefix("foretell-entry-")
        .tempdir_in(directory)
        .map_err(MeasureError::io("making a temporary directory"))?;
    let domains = Domains::default();
    let signer = Signer::from_bytes(&PRIVATE_KEY)
        .ok_or_else(|| MeasureError::Wrong("the private key is invalid".to_owned()))?;
    let exchange = LiveExchange::start(&scratch.path().join("data"), &domains, signer.address())?;
    let credentials = L2Credentials::from_trio(signer.address(), &exchange.key);
    let domain = domains
        .candidates(false)
        .next()
        .ok_or_else(|| MeasureError::Wrong("no domain for the market".to_owned()))?;
    let (api_key, sender) = (credentials.api_key(), Sender::bench(&credentials));
    let mut signed = (0..WARM_UP + orders.max(1)).map(|salt| {
        let terms = &Terms::LIVE_EXCHANGE;
        let order = signed_orders::sign(&signer, api_key, domain, terms, u64::from(salt));
        let seconds = order.fields.timestamp.0 / 1_000;
        let request = sender.request("POST", "/order", &order.body, seconds);
        PreparedOrder { order, request }
    });

    let mut connection =
        Connection::open(exchange.trading).map_err(MeasureError::io("connecting"))?;
    let mut floor = BaselineOperation::new(scratch.path(), &domains, &signer)
        .map_err(MeasureError::io("preparing the floor's file"))?;
    let warm_up: Vec<_> = signed.by_ref().take(WARM_UP as usize).collect();
    Round::default().run(&mut connection, &mut floor, &warm_up)?;

    let signed: Vec<_> = signed.collect();
    let mut total = Round::default();
    let mut medians = [const { Vec::new() }; LANES.len()];
    for orders in signed.chunks(signed.len().div_ceil(rounds as usize)) {
        let begun = report.elapsed();
        let mut round = Round::default();
        round.run(&mut connection, &mut floor, orders)?;
        let length = report.elapsed() - begun;
        for ((name, lane), medians) in LANES.into_iter().zip(round.lanes()).zip(&mut medians) {
            medians.push(lane.quantiles(NANOS_PER_US).p50);
            report.record(name, Interval::new(begun, length, lane.times()));
        }
        total.add(&round);
    }
    exchange.stop()?;
    report.scope = format!(
        "{} orders, each acknowledged as live under its id",
        orders.max(1)
    );
    report.rounds = medians[0].len();
    let lanes = LANES.into_iter().zip(medians).zip(total.lanes());
    report.measures = lanes
        .map(|((name, medians), lane)| {
            Measure::of(name, "us", medians).quantiles(lane.quantiles(NANOS_PER_US))
        })
        .collect();
    // The last lane is the response time, the one before it the baseline.
    if let [.., floor, answer] = &mut report.measures[..] {
        *answer = answer.clone().over(floor);
        report.goals.push(goal(answer.ratio()));
    }
    Ok(report.end())
}

/// A response includes a sync and a check, so one faster than the baseline shows that the machine
/// was too busy: the ratio is not measured then.
fn goal(ratio: Option<f64>) -> Goal {
    let found = ratio.filter(|ratio| *ratio >= 1.0);
    let goal = Goal::at_most("answer / sync and check, p50", GOAL_RATIO, found);
    match found {
        Some(_) => goal,
        None => goal
            .note("the baseline was slower than the answers that include it: use an idle machine"),
    }
}

/// Times of one round, or of all rounds.
#[derive(Default)]
struct Round {
    answer: Stopwatch,
    floor: Stopwatch,
    sync: Stopwatch,
    check: Stopwatch,
}

impl Round {
    fn run(
        &mut self,
        connection: &mut Connection,
        floor: &mut BaselineOperation<'_>,
        orders: &[PreparedOrder],
    ) -> Result<(), MeasureError> {
        for PreparedOrder { order, request } in orders {
            let answer = self
                .answer
                .time(|| connection.ask(request))
                .map_err(MeasureError::io("waiting for an answer"))?;
            if !is_live(answer.status, answer.body, &order.id) {
                return Err(MeasureError::Wrong(format!(
                    "order {}: {} {}",
                    order.id,
                    answer.status,
                    String::from_utf8_lossy(answer.body)
                )));
            }
            // Alternate per order: another program that takes the CPU for a while disturbs both.
            let Self { sync, check, .. } = self;
            let genuine = self.floor.time(|| {
                sync.time(|| floor.file.write_and_sync(&floor.bytes))?;
                Ok(check.time(|| floor.is_genuine(order)))
            });
            match genuine {
                Ok(true) => {}
                Ok(false) => return Err(MeasureError::Wrong(format!("order {}", order.id))),
                Err(error) => return Err(MeasureError::io("the floor's sync")(error)),
            }
        }
        Ok(())
    }

    const fn lanes(&self) -> [&Stopwatch; LANES.len()] {
        [&self.sync, &self.check, &self.floor, &self.answer]
    }

    fn add(&mut self, other: &Self) {
        self.answer.add(&other.answer);
        self.floor.add(&other.floor);
        self.sync.add(&other.sync);
        self.check.add(&other.check);
    }
}

/// Whether the response reports a resting order.
fn is_live(status: u16, body: &[u8], id: &str) -> bool {
    let answer: Value = serde_json::from_slice(body).unwrap_or_default();
    status == 200
        && answer["success"] == true
        && answer["status"] == "live"
        && answer["orderID"] == id
}

/// An order and its request.
struct PreparedOrder {
    order: SignedOrder,
    request: Vec<u8>,
}

/// The minimum cost of an order: its bytes on disk, its signature checked.
struct BaselineOperation<'a> {
    file: SyncFile,
    bytes: Vec<u8>,
    owner: OwnerWallets,
    domains: &'a Domains,
}

impl<'a> BaselineOperation<'a> {
    fn new(directory: &Path, domains: &'a Domains, signer: &Signer) -> io::Result<Self> {
        Ok(Self {
            file: SyncFile::create(&directory.join("floor"))?,
            bytes: vec![0x5A; BATCH_BYTES],
            owner: OwnerWallets::alone(signer.address()),
            domains,
        })
    }

    fn is_genuine(&self, order: &SignedOrder) -> bool {
        verify_order(
            &order.fields,
            &order.signature,
            &self.owner,
            false,
            self.domains,
        )
        .is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_order_of_a_run_is_live() {
        let report = measure(&std::env::temp_dir(), 7, 2).unwrap();
        let answer = report.measure("answer").unwrap();
        assert_eq!((report.rounds, answer.rounds.len()), (2, 2));
        let timed: u64 = report.recordings[3].total().unwrap().len();
        assert_eq!(timed, 7);
        let of = |name| report.measure(name).unwrap().quantiles.unwrap().p50;
        assert!(of("answer") > 0.0 && of("write and fdatasync") <= of("floor, both"));
    }

    #[test]
    fn an_answer_faster_than_its_floor_meets_no_goal() {
        assert!(goal(Some(2.9)).is_met());
        assert!(!goal(Some(3.1)).is_met());
        assert!(!goal(Some(0.08)).is_met());
        assert!(goal(Some(0.08)).note.unwrap().contains("idle machine"));
    }

    #[test]
    fn only_a_live_answer_with_the_right_id_counts() {
        let body = |status: &str, id: &str| {
            format!(r#"{{"success":true,"orderID":"{id}","status":"{status}"}}"#)
        };
        assert!(is_live(200, body("live", "0x1").as_bytes(), "0x1"));
        assert!(!is_live(200, body("live", "0x2").as_bytes(), "0x1"));
        assert!(!is_live(200, body("matched", "0x1").as_bytes(), "0x1"));
        assert!(!is_live(503, body("live", "0x1").as_bytes(), "0x1"));
        assert!(!is_live(200, b"nothing", "0x1"));
    }
}
