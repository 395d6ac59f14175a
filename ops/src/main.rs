//! The `foretell` binary.

/// Large blocks on huge pages, for the tables of the matcher; counted, for `foretell bench`.
#[global_allocator]
static ALLOCATOR: foretell_memory::Allocator = foretell_memory::Allocator;

fn main() -> std::process::ExitCode {
    foretell_ops::run()
}
