//! The `foretell` binary, built with the tests so that they can start real processes.

fn main() -> std::process::ExitCode {
    foretell_ops::run()
}
