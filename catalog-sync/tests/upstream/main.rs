//! An upstream on a real socket, with every fault an upstream has been seen to have.

mod exchange;
mod faults;
mod limits;
mod mock;
mod recorded;
mod rounds;
mod world;

/// Runs a test on a runtime of its own.
fn run<T>(test: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a fixture of ours");
    runtime.block_on(test)
}
