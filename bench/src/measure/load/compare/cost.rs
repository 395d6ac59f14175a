//! CPU cost of an order in the gateway: all connections are kept busy, so no wake-up is waited for,
//! and the CPU time of the serving threads is measured.

use std::hint::black_box;
use std::time::Duration;

use foretell_auth::Domains;
use http::{HeaderMap, HeaderName, HeaderValue, Method};

use super::{CompareScope, LONG_PATIENCE};
use crate::baselines::checking_server::Checks;
use crate::error::MeasureError;
use crate::harness::latency::processor_nanos;
use crate::harness::live_exchange::PREFIX;
use crate::measure::load::endpoint::Endpoint;
use crate::measure::load::server_under_test::ServerUnderTest;
use crate::measure::load::{Plan, RequestMix, run};
use foretell_auth::L2Request;
use foretell_wire::order::MAX_ORDERS;

/// A rate at which all requests are due within milliseconds.
const AT_ONCE: u32 = 1_000_000;

/// CPU time per order in microseconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Costs {
    /// Single orders: the gateway's serving threads.
    pub(super) single_us: f64,
    /// Baseline: hyper with the same checks.
    pub(super) single_floor_us: f64,
    /// Orders in batches of 15: the gateway's serving threads.
    pub(super) batch_us: f64,
    /// Baseline: the checks of such a batch in a loop, without a server.
    pub(super) check_us: f64,
}

pub(super) fn measure(
    exchange: &ServerUnderTest,
    checks: &ServerUnderTest,
    scope: &CompareScope,
) -> Result<Costs, MeasureError> {
    Ok(Costs {
        single_us: cost(exchange, scope, RequestMix::PLACE)?,
        single_floor_us: cost(checks, scope, RequestMix::PLACE)?,
        batch_us: cost(exchange, scope, RequestMix::BATCH)?,
        check_us: check(&exchange.endpoint, scope.orders as usize)?,
    })
}

fn cost(
    server: &ServerUnderTest,
    scope: &CompareScope,
    mix: RequestMix,
) -> Result<f64, MeasureError> {
    let kind = mix.kinds().next();
    let orders = kind.map_or(1, |kind| mix.orders(kind));
    let requests = scope.orders.div_ceil(u32::try_from(orders).unwrap_or(1));
    let plan = Plan {
        rate: AT_ONCE,
        warm_up: Duration::ZERO,
        measured: Duration::from_micros(u64::from(requests)),
        mix,
        connections: scope.connections,
        threads: scope.threads,
        patience: LONG_PATIENCE,
    };
    let before = server.serving_nanos()?;
    let outcome = run(&server.endpoint, &plan)?;
    let nanos = server.serving_nanos()? - before;
    if outcome.unanswered > 0 {
        return Err(MeasureError::Wrong(
            "a server did not answer in 30 s".to_owned(),
        ));
    }
    Ok(micros(nanos, outcome.answered * orders as u64))
}

/// HMAC and signature checks of batches in sequence.
fn check(endpoint: &Endpoint, orders: usize) -> Result<f64, MeasureError> {
    let wrong = || MeasureError::Wrong("an order of ours fails its check".to_owned());
    let checks = Checks::new(endpoint.signer.address(), &Domains::default());
    let signed = endpoint.sign(orders);
    let batches = signed.chunks(MAX_ORDERS).map(|batch| {
        let bodies: Vec<_> = batch.iter().map(|order| order.body.as_str()).collect();
        let body = format!("[{}]", bodies.join(","));
        let request = L2Request {
            method: "POST",
            path: "/orders",
            body: body.as_bytes(),
        };
        let seconds = batch[0].fields.timestamp.0 / 1_000;
        let headers = endpoint.credentials.headers(PREFIX, seconds, &request);
        let headers = headers.into_iter().filter_map(|(name, value)| {
            let name: HeaderName = name.parse().ok()?;
            Some((name, HeaderValue::from_str(&value).ok()?))
        });
        (headers.collect::<HeaderMap>(), body, batch)
    });
    let mut nanos = 0;
    for (headers, body, batch) in batches.collect::<Vec<_>>() {
        let before = processor_nanos();
        (checks.hmac(&Method::POST, "/orders", &headers, body.as_bytes())).map_err(|_| wrong())?;
        for order in batch {
            let id = checks.genuine(&order.fields, &order.signature);
            black_box(id.ok_or_else(wrong)?);
        }
        nanos += processor_nanos() - before;
    }
    Ok(micros(nanos, signed.len() as u64))
}

#[allow(
    clippy::cast_precision_loss,
    reason = "counts and times far below 2^53"
)]
fn micros(nanos: u64, orders: u64) -> f64 {
    nanos as f64 / 1_000.0 / orders.max(1) as f64
}
