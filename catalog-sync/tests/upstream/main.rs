//! A mock upstream on a real socket, with every fault observed at real upstreams.

mod exchange;
mod family;
mod faults;
mod limits;
mod mock;
mod recorded;
mod rounds;
mod world;

/// Runs a test on its own runtime.
fn run<T>(test: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a fixture of ours");
    runtime.block_on(test)
}
