//! Simulation of the engine: the real ingress, matcher, sync, publisher, followers and recovery run
//! as steps of one scheduler, with simulated disk, clock, randomness and sockets. A seed determines
//! the schedule and all faults. After every crash the promises are checked against all acknowledged
//! and shown frames. `README.md` describes the fault model.
//!
//! `FORETELL_SIMULATION_SEEDS=n` runs n seeds instead of the default number,
//! `FORETELL_SIMULATION_FROM=s` begins with seed s. `FORETELL_SIMULATION_SEED=s` runs seed s alone
//! and prints its trace.

mod audit;
mod checks;
mod clients;
mod context;
mod coverage;
mod crowd;
mod disk;
mod engine;
mod faults;
mod intents;
mod ledger;
mod lives;
mod operator_intents;
mod pages;
mod payments;
mod readers;
#[allow(dead_code, reason = "the twin's tests use the rest of it")]
#[path = "../../../tests/tests/rules/properties/rng.rs"]
pub(crate) mod rng;
mod rot;
mod time;
mod wire;
mod world;

use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use context::SimContext;
use coverage::Coverage;
use world::World;

/// Seeds of a default run.
const SEEDS: u64 = 300;
/// Runs with fewer seeds are not checked for coverage.
const ENOUGH_FOR_COVERAGE: u64 = 300;

/// The result of a seed.
struct SeedResult {
    coverage: Coverage,
    trace: Vec<String>,
    broken: Option<String>,
}

fn run(seed: u64, is_traced: bool) -> SeedResult {
    let context = SimContext::new(seed, is_traced);
    let lived = std::panic::catch_unwind(AssertUnwindSafe(|| {
        let world = World::begin(&context);
        lives::run(&world);
    }));
    World::end();
    let (coverage, trace, broken) = context.end();
    let panicked = lived.err().map(|thrown| {
        let text = thrown.downcast_ref::<String>().cloned();
        let text = text.or_else(|| thrown.downcast_ref::<&str>().map(|it| (*it).to_owned()));
        format!("a panic: {}", text.unwrap_or_default())
    });
    SeedResult {
        coverage,
        trace,
        broken: broken.or(panicked),
    }
}

#[test]
fn every_promise_holds_through_every_crash() {
    if let Some(seed) = number_from("FORETELL_SIMULATION_SEED") {
        let lived = run(seed, true);
        println!("{}\n\n{}", lived.trace.join("\n"), lived.coverage);
        assert_eq!(lived.broken, None, "seed {seed}");
        return;
    }
    let seeds = number_from("FORETELL_SIMULATION_SEEDS").unwrap_or(SEEDS);
    let from = number_from("FORETELL_SIMULATION_FROM").unwrap_or(0);
    let (coverage, failure) = run_all(from, seeds);
    println!("{seeds} seeds from {from}\n{coverage}");
    if let Some((seed, what)) = failure {
        panic!(
            "seed {seed}: {what}\nreplay it: FORETELL_SIMULATION_SEED={seed} cargo test -p \
             foretell-engine --lib simulation -- --nocapture every_promise"
        );
    }
    if seeds >= ENOUGH_FOR_COVERAGE {
        assert_eq!(coverage.missing(), [], "these never came up");
    }
}

/// Runs seeds on every core until one fails; returns the lowest failed seed.
fn run_all(from: u64, seeds: u64) -> (Coverage, Option<(u64, String)>) {
    let (next, failed) = (AtomicU64::new(from), AtomicBool::new(false));
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let work = || {
        let mut seen = Coverage::default();
        while !failed.load(Ordering::Relaxed) {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= from + seeds {
                break;
            }
            let lived = run(seed, false);
            seen.merge(&lived.coverage);
            if let Some(what) = lived.broken {
                failed.store(true, Ordering::Relaxed);
                return (seen, Some((seed, what)));
            }
        }
        (seen, None)
    };
    let mut all = Coverage::default();
    let mut failures = Vec::new();
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..cores).map(|_| scope.spawn(work)).collect();
        for worker in workers {
            let (seen, failure) = worker.join().expect("a failure is returned, not thrown");
            all.merge(&seen);
            failures.extend(failure);
        }
    });
    (all, failures.into_iter().min())
}

#[test]
fn a_seed_is_one_run() {
    for seed in [3, 17, 40] {
        let (once, again) = (run(seed, true), run(seed, true));
        let mut pairs = once.trace.iter().zip(&again.trace);
        if let Some((once, again)) = pairs.find(|(once, again)| once != again) {
            panic!("seed {seed}: {once}\nand then: {again}");
        }
        assert_eq!(once.trace.len(), again.trace.len(), "seed {seed}");
    }
}

fn number_from(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok()?;
    let number = text.parse();
    Some(number.unwrap_or_else(|_| panic!("{variable} is not a number: {text}")))
}
