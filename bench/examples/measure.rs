//! `foretell bench match` and `replay` alone, for short builds during work on the core.

use std::path::Path;

use foretell_bench::Stream;
use foretell_bench::measure::{matching::compare, replay};

#[global_allocator]
static ALLOCATOR: foretell_memory::Allocator = foretell_memory::Allocator;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let what = arguments
        .next()
        .ok_or("usage: measure replay|FILE [ROUNDS]")?;
    let rounds = arguments.next().map_or(Ok(5), |rounds| rounds.parse())?;
    let report = if what == "replay" {
        replay::measure(&std::env::temp_dir(), 1_000_000, rounds)?
    } else {
        compare(&Stream::read(Path::new(&what))?, rounds, None)?
    };
    print!("{report}");
    Ok(())
}
