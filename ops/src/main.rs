//! The `foretell` binary.

/// Puts large blocks on huge pages for the matcher's tables and counts memory.
#[global_allocator]
static ALLOCATOR: foretell_memory::Allocator = foretell_memory::Allocator;

fn main() -> std::process::ExitCode {
    foretell_ops::run()
}
