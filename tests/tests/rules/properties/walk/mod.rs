//! One walk over the generated sequences. Core and twin execute every command of a sequence once and must
//! give the same responses, events and state. Observers look at the same commands, states and frames:
//! a view that follows, copies restored from images, and at the end of a sequence, with its whole
//! journal, what the journal says of views, streams and sums.
//!
//! `FORETELL_TWIN_SEQUENCES=n` runs n sequences instead of the ordinary number;
//! `FORETELL_TWIN_SEED=s` runs only the sequence of seed s, as printed by a failure.

pub(crate) mod observer;
mod sequence;
mod shrink;

use foretell_model::command::SetQuotes;
use foretell_model::quote::QuoteWord;
use foretell_model::tail::Tail;
use foretell_model::{Command, MarketNumber};

use crate::properties::spread::over_cores;
use observer::Seen;
use sequence::{Failed, run};
use shrink::shrink;

/// Sequences of an ordinary run; every run of as many shows all cases.
const SEQUENCES: u64 = 4_000;

#[test]
fn every_observer_agrees_on_wide_random_commands() {
    if let Some(seed) = number_from("FORETELL_TWIN_SEED") {
        run(seed, &mut Seen::default()).unwrap_or_else(|failed| report(failed, seed));
        return;
    }
    let sequences = number_from("FORETELL_TWIN_SEQUENCES").unwrap_or(SEQUENCES);
    let parts = over_cores(sequences, run).unwrap_or_else(|(seed, failed)| report(failed, seed));
    let mut seen = Seen::default();
    parts.into_iter().for_each(|part| seen.merge(part));
    println!("{seen:#?}");
    if sequences >= SEQUENCES {
        seen.assert_wide();
    }
}

/// Prints the shortest form of a failing sequence.
fn report(failed: Failed, seed: u64) -> ! {
    // A panicking side would print its message once for each attempt at a shorter sequence.
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let (commands, failure) = shrink(failed, seed);
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
        "seed {seed}: after command {} of the shortened sequence above, {}: {}\n\
         rerun with FORETELL_TWIN_SEED={seed}",
        failure.at, failure.observer, failure.message
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
