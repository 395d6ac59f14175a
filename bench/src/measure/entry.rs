//! Response time of a durable order: signed orders sent one at a time on a keep-alive connection to
//! gateway and engine. Baseline, alternating with the orders: a bare write with `fdatasync` of as
//! many bytes on the same file system, and one check of the same signature.

use clap::Args;
use foretell_auth::{Domains, L2Credentials, OwnerWallets, verify_order};
use foretell_journal::PAGE;
use serde_json::Value;

use super::ScratchDir;
use crate::baselines::sync_file::SyncFile;
use crate::error::MeasureError;
use crate::harness::http::Connection;
use crate::harness::latency::Stopwatch;
use crate::harness::live_exchange::LiveExchange;
use crate::harness::rounds::Rounds;
use crate::report::{Goal, Report};
use crate::workloads::signed_orders::{self, Sender, SignedOrder, Terms};

/// Maximum ratio of the response time to the baseline, both medians.
const GOAL_RATIO: f64 = 3.0;
/// Orders sent first and not counted, to warm up connections, caches and branch predictors.
const WARM_UP: u32 = 50;
/// Timed lanes; the response comes after its baseline.
const LANES: [&str; 4] = [
    "write and fdatasync",
    "signature check",
    "floor, both",
    "answer",
];
/// The batch of a single order (a frame of about 700 bytes) is one page.
const BATCH: [u8; PAGE] = [0x5A; PAGE];

/// Arguments of `foretell-bench entry`.
#[derive(Debug, Args)]
pub struct EntryScope {
    /// Orders, one at a time
    #[arg(long, default_value_t = 2_000, value_parser = clap::value_parser!(u32).range(1..))]
    orders: u32,
    /// Rounds; the ratio to the baseline is their median
    #[arg(long, default_value_t = 10)]
    rounds: u32,
    #[command(flatten)]
    scratch: ScratchDir,
}

/// Sends orders to an exchange of its own, in rounds.
pub(super) fn measure(scope: &EntryScope) -> Result<Report, MeasureError> {
    let mut report = Report::begin("entry", "disk");
    let scratch = scope.scratch.directory("entry")?;
    let (signer, domains) = (signed_orders::signer()?, Domains::default());
    let exchange = LiveExchange::start(&scratch.path().join("data"), &domains, signer.address())?;
    let credentials = L2Credentials::from_trio(signer.address(), &exchange.key);
    let (domain, sender) = (signed_orders::domain(false)?, Sender::bench(&credentials));
    let sign = |salt: u32| {
        let (key, terms) = (credentials.api_key(), &Terms::LIVE_EXCHANGE);
        let order = signed_orders::sign(&signer, key, &domain, terms, u64::from(salt));
        let seconds = order.fields.timestamp.0 / 1_000;
        let request = sender.request("POST", "/order", &order.body, seconds);
        (order, request)
    };
    let signed: Vec<_> = (0..WARM_UP + scope.orders).map(sign).collect();
    let (warm_up, signed) = signed.split_at(WARM_UP as usize);

    let connection = Connection::open(exchange.trading);
    let file = SyncFile::create(&scratch.path().join("floor"));
    let mut lanes = Lanes {
        connection: connection.map_err(MeasureError::io("connecting"))?,
        file: file.map_err(MeasureError::io("preparing the floor's file"))?,
        owner: OwnerWallets::alone(signer.address()),
        domains,
    };
    lanes.round(warm_up)?;

    let rounds = scope.rounds.clamp(1, scope.orders) as usize;
    let mut timed = LANES.map(Rounds::new);
    for orders in signed.chunks(signed.len().div_ceil(rounds)) {
        let begun = report.elapsed();
        let round = lanes.round(orders)?;
        for (lane, times) in timed.iter_mut().zip(&round) {
            lane.push(&mut report, begun, times);
        }
    }
    exchange.stop()?;
    report.scope = format!(
        "{} orders, each acknowledged as live under its id",
        scope.orders
    );
    report.measures = timed.iter().map(Rounds::medians).collect();
    report.rounds = report.measures[0].rounds.len();
    if let [.., floor, answer] = &mut report.measures[..] {
        *answer = answer.clone().over(floor);
        let name = "answer / sync and check, p50";
        let goal = Goal::at_most_of_part(name, GOAL_RATIO, answer.ratio());
        report.goals.push(goal);
    }
    Ok(report.end())
}

/// The exchange's connection, and the minimum cost of an order: its bytes on disk, its signature
/// checked.
struct Lanes {
    connection: Connection,
    file: SyncFile,
    owner: OwnerWallets,
    domains: Domains,
}

impl Lanes {
    /// Times orders with their requests; alternates per order, because another program that takes
    /// the CPU for a while disturbs both.
    fn round(
        &mut self,
        orders: &[(SignedOrder, Vec<u8>)],
    ) -> Result<[Stopwatch; LANES.len()], MeasureError> {
        let mut times = LANES.map(|_| Stopwatch::new());
        let [sync, check, floor, answer] = &mut times;
        for (order, request) in orders {
            let answer = answer
                .time(|| self.connection.ask(request))
                .map_err(MeasureError::io("waiting for an answer"))?;
            if !is_live(answer.status, answer.body, &order.id) {
                let (status, body) = (answer.status, String::from_utf8_lossy(answer.body));
                let text = format!("order {}: {status} {body}", order.id);
                return Err(MeasureError::Wrong(text));
            }
            let (file, owner, domains) = (&mut self.file, &self.owner, &self.domains);
            let (synced, checked) = floor.time(|| {
                let synced = sync.time(|| file.write_and_sync(&BATCH));
                let (fields, signature) = (&order.fields, &order.signature);
                let checked =
                    check.time(|| verify_order(fields, signature, owner, false, domains, None));
                (synced, checked)
            });
            synced.map_err(MeasureError::io("the floor's sync"))?;
            checked.map_err(|error| MeasureError::Wrong(format!("{}: {error:?}", order.id)))?;
        }
        Ok(times)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_order_of_a_run_is_live() {
        let scope = EntryScope {
            orders: 7,
            rounds: 2,
            scratch: ScratchDir::default(),
        };
        let report = measure(&scope).unwrap();
        let answer = report.measure("answer").unwrap();
        assert_eq!((report.rounds, answer.rounds.len()), (2, 2));
        let timed: u64 = report.recordings[3].total().unwrap().len();
        assert_eq!(timed, 7);
        let of = |name| report.measure(name).unwrap().quantiles.unwrap().p50;
        assert!(of("answer") > 0.0 && of("write and fdatasync") <= of("floor, both"));
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
