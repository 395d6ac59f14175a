//! `foretell bench` without the rest of the program, for short builds during work on the core.

use clap::Parser;
use foretell_bench::Measurement;

#[global_allocator]
static ALLOCATOR: foretell_memory::Allocator = foretell_memory::Allocator;

#[derive(Debug, Parser)]
struct Arguments {
    #[command(subcommand)]
    measurement: Measurement,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    print!("{}", Arguments::parse().measurement.run()?);
    Ok(())
}
