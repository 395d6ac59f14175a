//! Compares our exchange with baseline servers that make the same checks, alternating in one run:
//! throughput at the knee, latency at half of that load, CPU cost of an order in the gateway, and
//! trading beside a settlement.

use std::hint::black_box;
use std::time::Duration;

use foretell_auth::{Domains, L2Request};
use foretell_gateway::SIGNER_CACHE_MIB;
use foretell_wire::limits::{MAX_ORDERS, PAGE_MARKETS};
use hdrhistogram::Histogram;
use http::{HeaderMap, HeaderName, HeaderValue, Method};

use super::endpoint::{Endpoint, Trader};
use super::figures::Outcome;
use super::knee_search::{KneeSearch, search};
use super::latency_record::histogram;
use super::list_reader::ListReader;
use super::request_mix::RequestMix;
use super::server_under_test::ServerUnderTest;
use super::settlement::{self, Settlements};
use super::{FACTOR, LoadScope, Plan, SEARCH_PATIENCE, run, script};
use crate::baselines::checking_server::Checks;
use crate::error::MeasureError;
use crate::harness::latency::{NANOS_PER_US, Quantiles, processor_nanos, ratio};
use crate::harness::live_exchange::PREFIX;
use crate::report::{Goal, Measure, Report};

/// Minimum throughput at the knee as a fraction of the checks alone.
const KNEE_GOAL: f64 = 0.75;
/// Maximum ratios of order latency to the baseline at half load, at p50 and p99.9.
const WAIT_GOALS: [f64; 2] = [1.4, 1.5];
/// Minimum rate of single orders as a fraction of hyper with the same checks, per core.
const SINGLE_GOAL: f64 = 1.0;
/// Minimum rate of orders in batches of 15 as a fraction of the checks alone, per core.
const BATCH_GOAL: f64 = 0.8;
/// Maximum ratio of p99 of orders at half load with a client that reads lists to without one.
const LISTS_GOAL: f64 = 2.0;
/// First rate of the first search.
const FIRST_RATE: u32 = 1_000;
/// Later searches start at the knee of the previous round, stepping by this factor.
const LATER_FACTOR: f64 = 1.15;
const HALF: &str = "half load";
const HALF_FLOOR: &str = "half load on checks and sync";
const HALF_LISTS: &str = "half load and lists";
/// Limit of a run that must finish.
const LONG_PATIENCE: Duration = Duration::from_secs(30);
/// A rate at which all requests are due within milliseconds.
const AT_ONCE: u32 = 1_000_000;
/// Orders per measurement of the CPU cost of one.
const COST_ORDERS: usize = 6_000;
/// Signers that become known during a measurement: a gateway builds 20 tables a second.
const KNOWN_EACH: u32 = 8;
/// A cache with fewer tables than a load has signers.
const CROWDED_MIB: u32 = 2;

/// Results of one round.
struct Round {
    exchange: KneeSearch,
    checks: KneeSearch,
    /// The exchange at half of its knee.
    half: Outcome,
    /// The checks and a sync of what came together, at the same rate.
    half_floor: Outcome,
    /// The exchange at the same rate, with a client that reads lists of markets.
    half_lists: Outcome,
    /// Lists a second.
    lists: f64,
    costs: Costs,
}

/// In each round, starts an exchange and the baseline servers, and measures all of them.
///
/// # Errors
/// A server does not start, an answer is wrong, or the lowest rate cannot be sustained.
pub(super) fn compare(scope: &LoadScope) -> Result<Report, MeasureError> {
    let mut report = Report::begin("load", "disk");
    report.scope = format!("{}, p99 <= {} ms at the knee", scope.words(), scope.p99);
    let mut rounds: Vec<Round> = Vec::new();
    for number in 0..scope.rounds {
        let scratch = scope.scratch().directory("load")?;
        let (path, signers) = (scratch.path(), scope.signers);
        let exchange = ServerUnderTest::exchange(&path.join("data"), signers, SIGNER_CACHE_MIB)?;
        let crowded = ServerUnderTest::exchange(&path.join("crowded"), signers, CROWDED_MIB)?;
        let checks = ServerUnderTest::checks(signers)?;
        let synced = ServerUnderTest::checks_and_sync(signers, path)?;
        let before = rounds.last();
        let knee = |server: &ServerUnderTest, before: Option<&KneeSearch>| {
            let (first, factor) = match before.and_then(|search| search.knee) {
                Some(knee) => (knee, LATER_FACTOR),
                None => (FIRST_RATE, FACTOR),
            };
            let run = |rate| run(&server.endpoint, &scope.plan(rate, SEARCH_PATIENCE));
            search(scope.steps(first, factor), scope.bound(), run)
        };
        let exchange_knee = knee(&exchange, before.map(|round| &round.exchange))?;
        let checks_knee = knee(&checks, before.map(|round| &round.checks))?;
        let half = exchange_knee
            .knee
            .ok_or_else(|| MeasureError::wrong("the exchange kept up with no rate at all"))?
            / 2;
        let plan = scope.plan(half.max(1), LONG_PATIENCE);
        // Alternate the order: the second one finds a warmer machine.
        let mut at_half = |server: &ServerUnderTest, name| {
            let began = report.elapsed();
            let outcome = run(&server.endpoint, &plan)?;
            outcome.record(&mut report, name, began);
            Ok::<_, MeasureError>(outcome)
        };
        let (half, half_floor) = if number % 2 == 0 {
            let half = at_half(&exchange, HALF)?;
            (half, at_half(&synced, HALF_FLOOR)?)
        } else {
            let floor = at_half(&synced, HALF_FLOOR)?;
            (at_half(&exchange, HALF)?, floor)
        };
        let page = u32::try_from(PAGE_MARKETS).expect("some hundred");
        let registered = exchange.register_markets(page)?;
        let reader = ListReader::start(exchange.endpoint.address, registered);
        let half_lists = at_half(&exchange, HALF_LISTS)?;
        let lists = reader.stop()?;
        let costs = Costs::measure(&exchange, &crowded, &checks, scope)?;
        rounds.push(Round {
            exchange: exchange_knee,
            checks: checks_knee,
            half,
            half_floor,
            half_lists,
            lists,
            costs,
        });
        exchange.stop()?;
        crowded.stop()?;
        checks.stop()?;
        synced.stop()?;
    }
    fill(&mut report, &rounds);
    let settlements = Settlements {
        holders: scope.holders,
        rounds: scope.rounds,
    };
    let half = rounds.iter().map(|round| round.half.rate).min();
    let rate = half.unwrap_or(1);
    settlement::measure(&mut report, &scope.scratch(), settlements, rate)?;
    Ok(report.end())
}

/// CPU time per order in microseconds.
#[derive(Clone, Copy, Debug)]
struct Costs {
    /// Single orders: the gateway's serving threads.
    single_us: f64,
    /// The same, all of one signer.
    one_signer_us: f64,
    /// The same with more signers than the gateway has tables for.
    crowded_us: f64,
    /// Baseline: hyper with the same checks.
    single_floor_us: f64,
    /// Orders in batches of 15: the gateway's serving threads.
    batch_us: f64,
    /// Baseline: the checks of such a batch in a loop, without a server.
    check_us: f64,
}

impl Costs {
    fn measure(
        exchange: &ServerUnderTest,
        crowded: &ServerUnderTest,
        checks: &ServerUnderTest,
        scope: &LoadScope,
    ) -> Result<Self, MeasureError> {
        let (place, batch) = (RequestMix::PLACE, RequestMix::BATCH);
        for server in [exchange, crowded] {
            for _ in 0..scope.signers.div_ceil(KNOWN_EACH) {
                cost(server, scope.at_once(place))?;
            }
        }
        let one = Plan {
            signers: 1,
            ..scope.at_once(place)
        };
        Ok(Self {
            single_us: cost(exchange, scope.at_once(place))?,
            single_floor_us: cost(checks, scope.at_once(place))?,
            one_signer_us: cost(exchange, one)?,
            crowded_us: cost(crowded, scope.at_once(place))?,
            batch_us: cost(exchange, scope.at_once(batch))?,
            check_us: check(&exchange.endpoint)?,
        })
    }
}

impl LoadScope {
    /// A run of [`COST_ORDERS`] in requests of one kind, all due at once.
    fn at_once(&self, mix: RequestMix) -> Plan {
        let requests = COST_ORDERS.div_ceil(orders_of(mix)) as u64;
        Plan {
            warm_up: Duration::ZERO,
            measured: Duration::from_micros(requests),
            mix,
            ..self.plan(AT_ONCE, LONG_PATIENCE)
        }
    }
}

/// Orders of a request in a mix of one kind.
fn orders_of(mix: RequestMix) -> usize {
    let kind = mix.kinds().next();
    kind.map_or(1, |kind| mix.orders(kind))
}

fn cost(server: &ServerUnderTest, plan: Plan) -> Result<f64, MeasureError> {
    let before = server.serving_nanos()?;
    let outcome = run(&server.endpoint, &plan)?;
    let nanos = server.serving_nanos()? - before;
    if outcome.latencies.unanswered > 0 {
        return Err(MeasureError::wrong("a server did not answer in 30 s"));
    }
    Ok(micros_each(
        nanos,
        outcome.latencies.answered * orders_of(plan.mix) as u64,
    ))
}

/// HMAC and signature checks of batches in sequence.
fn check(endpoint: &Endpoint) -> Result<f64, MeasureError> {
    let wrong = || MeasureError::wrong("an order of ours fails its check");
    let traders = endpoint.traders.iter();
    let owners: Vec<_> = traders.map(|trader| trader.signer.address()).collect();
    let checks = Checks::new(&owners, &Domains::default());
    let turns = endpoint.traders.iter().cycle();
    let turns = turns.flat_map(|trader| std::iter::repeat_n(trader, MAX_ORDERS));
    let traders: Vec<&Trader> = turns.take(COST_ORDERS).collect();
    let signed = endpoint.sign(&traders)?;
    let requests = signed.chunks(MAX_ORDERS).zip(traders.chunks(MAX_ORDERS));
    let batches = requests.map(|(orders, traders)| {
        let body = script::batch(orders);
        let request = L2Request {
            method: "POST",
            path: "/orders",
            body: body.as_bytes(),
        };
        let seconds = orders[0].fields.timestamp.0 / 1_000;
        let headers = traders[0].credentials.headers(PREFIX, seconds, &request);
        let headers = headers.into_iter().filter_map(|(name, value)| {
            let name: HeaderName = name.parse().ok()?;
            Some((name, HeaderValue::from_str(&value).ok()?))
        });
        (headers.collect::<HeaderMap>(), body, orders)
    });
    let mut nanos = 0;
    for (headers, body, orders) in batches.collect::<Vec<_>>() {
        let before = processor_nanos();
        (checks.hmac(&Method::POST, "/orders", &headers, body.as_bytes())).map_err(|_| wrong())?;
        for order in orders {
            let id = checks.genuine(&order.fields, &order.signature);
            black_box(id.ok_or_else(wrong)?);
        }
        nanos += processor_nanos() - before;
    }
    Ok(micros_each(nanos, signed.len() as u64))
}

fn micros_each(nanos: u64, orders: u64) -> f64 {
    ratio(nanos, orders) / NANOS_PER_US
}

/// Adds measures, goals and notes.
fn fill(report: &mut Report, rounds: &[Round]) {
    report.rounds = rounds.len();
    knees(report, rounds);
    waits(report, rounds);
    beside_lists(report, rounds);
    costs(report, rounds);
    let notes = rounds.iter().map(|round| {
        let (half, answered) = (round.half.rate, round.half.latencies.answered);
        format!("half load was {half} requests/s, {answered} of them answered rightly")
    });
    report.notes.extend(notes);
}

fn knees(report: &mut Report, rounds: &[Round]) {
    let knee = |name: &str, of: fn(&Round) -> &KneeSearch| {
        let knee = |round| of(round).knee.map_or(f64::NAN, f64::from);
        Measure::of(name, "requests/s", rounds.iter().map(knee).collect()).higher()
    };
    let floor = knee("knee, checks alone", |round| &round.checks);
    let exchange = knee("knee", |round| &round.exchange).over(&floor);
    let goal = Goal::at_least("knee / checks alone", KNEE_GOAL, exchange.ratio());
    report.goals.push(goal);
    report.measures.extend([floor, exchange]);
}

/// Selects a quantile.
type Quantile = fn(Quantiles) -> f64;
/// Selects latencies of a round.
type Times = fn(&Round) -> &Histogram<u64>;

fn waits(report: &mut Report, rounds: &[Round]) {
    let quantiles: [(&str, Quantile); 2] =
        [("p50", |times| times.p50), ("p99.9", |times| times.p999)];
    for ((word, value), most) in quantiles.into_iter().zip(WAIT_GOALS) {
        let floor = wait(&format!("{HALF_FLOOR}, {word}"), rounds, value, |round| {
            round.half_floor.latencies.orders()
        });
        let exchange = wait(&format!("{HALF}, {word}"), rounds, value, |round| {
            round.half.latencies.orders()
        })
        .over(&floor);
        let goal = format!("{word} of orders at half load / checks and sync");
        let goal = Goal::at_most(goal, most, exchange.ratio());
        report.goals.push(goal);
        report.measures.extend([floor, exchange]);
    }
    let beside: [(&str, Times); 2] = [
        ("the generator's lateness", |round| {
            &round.half.latencies.lateness
        }),
        ("the machine's lateness", |round| &round.half.machine),
    ];
    let beside = beside.map(|(name, of)| wait(name, rounds, |times| times.p50, of));
    report.measures.extend(beside);
}

fn beside_lists(report: &mut Report, rounds: &[Round]) {
    let p99 = |name: &str, of| wait(&format!("{name}, p99"), rounds, |times| times.p99, of);
    let floor = p99(HALF, |round| round.half.latencies.orders());
    let orders = p99(HALF_LISTS, |round| round.half_lists.latencies.orders()).over(&floor);
    let goal = "p99 of orders at half load, with lists / without";
    let goal = Goal::at_most(goal, LISTS_GOAL, orders.ratio());
    report.goals.push(goal);
    let lists = rounds.iter().map(|round| round.lists).collect();
    let lists = Measure::of("lists of 500 markets", "requests/s", lists).higher();
    report.measures.extend([floor, orders, lists]);
}

/// A quantile of each round, and the quantiles of all rounds combined.
fn wait(name: &str, rounds: &[Round], value: Quantile, of: Times) -> Measure {
    let values = rounds
        .iter()
        .map(|round| Quantiles::of(of(round), NANOS_PER_US));
    let values = values.map(value).collect();
    let mut all = histogram();
    for round in rounds {
        all.add(of(round)).expect("all have the same bounds");
    }
    Measure::of(name, "us", values).quantiles(Quantiles::of(&all, NANOS_PER_US))
}

fn costs(report: &mut Report, rounds: &[Round]) {
    let orders = |name: &str, us: fn(&Costs) -> f64| {
        let orders = |round: &Round| 1e6 / us(&round.costs);
        Measure::of(name, "orders/s", rounds.iter().map(orders).collect()).higher()
    };
    let bare = orders("a core of bare hyper with the same checks", |it| {
        it.single_floor_us
    });
    let single = orders("a core of the gateway", |it| it.single_us).over(&bare);
    let one = orders("a core of the gateway, one signer", |it| it.one_signer_us).over(&bare);
    let crowded = orders("a core of the gateway, signers that do not fit", |it| {
        it.crowded_us
    })
    .over(&bare);
    let check = orders("a core checking alone", |it| it.check_us);
    let batch = orders("a core of the gateway, batches of 15", |it| it.batch_us).over(&check);
    report.goals.extend([
        Goal::at_least("orders a core / bare hyper", SINGLE_GOAL, single.ratio()),
        Goal::at_least(
            "orders a core in batches / checks",
            BATCH_GOAL,
            batch.ratio(),
        ),
    ]);
    report
        .measures
        .extend([bare, single, one, crowded, check, batch]);
}
