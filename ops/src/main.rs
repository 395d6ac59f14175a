//! The `foretell` binary.

/// Counts per thread, so that `foretell bench` can show that the matcher allocates nothing.
#[global_allocator]
static ALLOCATOR: foretell_bench::CountingAllocator = foretell_bench::CountingAllocator;

fn main() -> std::process::ExitCode {
    foretell_ops::run()
}
