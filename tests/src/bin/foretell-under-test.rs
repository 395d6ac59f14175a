//! The `foretell` binary, built with the tests so that they can start real processes.

/// The same allocator as in the binary.
#[global_allocator]
static ALLOCATOR: foretell_memory::Allocator = foretell_memory::Allocator;

fn main() -> std::process::ExitCode {
    foretell_ops::run_on(foretell_tests::failing_disk::of_this_process())
}
