//! The `foretell` binary.

fn main() -> std::process::ExitCode {
    foretell_ops::run()
}
