//! The core and its naive twin must give the same responses, events and state for the same
//! commands.
//!
//! `FORETELL_TWIN_SEQUENCES=n` runs n sequences instead of the ordinary number;
//! `FORETELL_TWIN_SEED=s` runs only the sequence of seed s, as printed by a failure.

mod beyond_the_bound;
mod coverage;
pub(crate) mod pair;
mod quotes_seen;
mod shrink;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::properties::generator::{Generator, Sent};
use coverage::Coverage;
use foretell_model::command::SetQuotes;
use foretell_model::quote::QuoteWord;
use foretell_model::tail::Tail;
use foretell_model::{Command, MarketNumber};
use pair::Pair;
use shrink::{shrink, step};

/// Sequences of an ordinary run.
const SEQUENCES: u64 = 3_300;
/// Minimum number of sequences for the check that every kind of rejection occurred.
const ENOUGH_FOR_COVERAGE: u64 = 2_000;

#[test]
fn core_and_twin_agree_on_wide_random_commands() {
    if let Some(seed) = number_from("FORETELL_TWIN_SEED") {
        run(seed).unwrap_or_else(|commands| report(commands, seed));
        return;
    }
    let sequences = number_from("FORETELL_TWIN_SEQUENCES").unwrap_or(SEQUENCES);
    let next = AtomicU64::new(0);
    let failed = AtomicBool::new(false);
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let mut seen = Coverage::default();
    let mut failures = Vec::new();
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..cores)
            .map(|_| scope.spawn(|| work(&next, &failed, sequences)))
            .collect();
        for worker in workers {
            match worker.join().expect("a failure is returned, not thrown") {
                Ok(covered) => seen.merge(covered),
                Err(failure) => failures.push(failure),
            }
        }
    });
    failures.sort_by_key(|(seed, _)| *seed);
    if let Some((seed, commands)) = failures.into_iter().next() {
        report(commands, seed);
    }
    println!("{seen:#?}");
    if sequences >= ENOUGH_FOR_COVERAGE {
        seen.assert_wide();
    }
}

/// Runs sequences until all are done or one failed on any thread.
fn work(
    next: &AtomicU64,
    failed: &AtomicBool,
    sequences: u64,
) -> Result<Coverage, (u64, Vec<Sent>)> {
    let mut seen = Coverage::default();
    while !failed.load(Ordering::Relaxed) {
        let seed = next.fetch_add(1, Ordering::Relaxed);
        if seed >= sequences {
            break;
        }
        match run(seed) {
            Ok(covered) => seen.merge(covered),
            Err(commands) => {
                failed.store(true, Ordering::Relaxed);
                return Err((seed, commands));
            }
        }
    }
    Ok(seen)
}

/// Runs one sequence; on failure returns the commands so far.
fn run(seed: u64) -> Result<Coverage, Vec<Sent>> {
    let mut pair = Pair::cramped(seed);
    let mut generator = Generator::new(seed);
    let mut seen = Coverage::default();
    let mut commands = Vec::new();
    while let Some(sent) = generator.next_sent() {
        let command = sent.command;
        commands.push(sent);
        let Ok(verdict) = step(&mut pair, &commands[commands.len() - 1]) else {
            return Err(commands);
        };
        generator.observe(&command, pair.state());
        seen.record(&command, &verdict, pair.events(), pair.state());
    }
    Ok(seen)
}

/// Prints the shortest form of a failing sequence.
fn report(commands: Vec<Sent>, seed: u64) -> ! {
    // A panicking side would print its message once for each attempt at a shorter sequence.
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let (commands, failure) = shrink(commands, seed);
    std::panic::set_hook(hook);
    for (at, sent) in commands.iter().enumerate() {
        let (command, stamp) = (&sent.command, sent.stamp);
        let (time, operator, touched) = (stamp.time.0, stamp.operator, stamp.touched);
        println!("{at:4} {time} operator {operator} touched {touched} {command:?}");
        if let Command::SetQuotes(set) = command {
            println!("     {}", tail_in_words(set, &sent.beside));
        }
    }
    panic!(
        "seed {seed}: after command {} of the shortened sequence above, {}\n\
         rerun with FORETELL_TWIN_SEED={seed}",
        failure.at, failure.message
    );
}

/// The markets and quotes of a set.
fn tail_in_words(set: &SetQuotes, beside: &[u8]) -> String {
    let markets = Tail::<MarketNumber>::split(beside, set.conditions.into());
    let quotes = markets.and_then(|(markets, rest)| {
        let (words, _) = Tail::<QuoteWord>::split(rest, set.quotes.into())?;
        let quotes: Vec<_> = words.items().flatten().map(|word| word.read()).collect();
        Some(format!(
            "{:?} {quotes:?}",
            markets.items().collect::<Vec<_>>()
        ))
    });
    quotes.unwrap_or_else(|| format!("{} bytes that are no tail", beside.len()))
}

fn number_from(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok()?;
    Some(
        text.parse()
            .unwrap_or_else(|_| panic!("{variable} is not a number: {text}")),
    )
}
