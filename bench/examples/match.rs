//! `foretell bench match` on its own, for short builds while the core is being worked on.

use std::path::Path;

use foretell_bench::{Stream, compare};

#[global_allocator]
static ALLOCATOR: foretell_memory::Allocator = foretell_memory::Allocator;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let file = arguments.next().ok_or("usage: match FILE [ROUNDS]")?;
    let rounds = arguments.next().map_or(Ok(5), |rounds| rounds.parse())?;
    let stream = Stream::read(Path::new(&file))?;
    print!("{}", compare(&stream, rounds)?);
    Ok(())
}
