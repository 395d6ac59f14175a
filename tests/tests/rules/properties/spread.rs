//! Seeds, spread over all cores.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Runs every seed below `seeds` on one thread a core, until all are done or one has failed. Returns
/// what each thread has seen, or the failure of the smallest seed that failed.
pub(crate) fn over_cores<T: Default + Send, E: Send>(
    seeds: u64,
    run: impl Fn(u64, &mut T) -> Result<(), E> + Sync,
) -> Result<Vec<T>, (u64, E)> {
    let next = AtomicU64::new(0);
    let failed = AtomicBool::new(false);
    let work = || {
        let mut seen = T::default();
        while !failed.load(Ordering::Relaxed) {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= seeds {
                break;
            }
            if let Err(failure) = run(seed, &mut seen) {
                failed.store(true, Ordering::Relaxed);
                return Err((seed, failure));
            }
        }
        Ok(seen)
    };
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let results = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..cores).map(|_| scope.spawn(work)).collect();
        let joined = workers.into_iter().map(|worker| worker.join());
        let results = joined.map(|result| result.unwrap_or_else(|panic| resume_unwind(panic)));
        results.collect::<Vec<_>>()
    });
    let (seen, failures): (Vec<_>, Vec<_>) = results.into_iter().partition(Result::is_ok);
    let failures = failures.into_iter().filter_map(Result::err);
    match failures.min_by_key(|(seed, _)| *seed) {
        Some(failure) => Err(failure),
        None => Ok(seen.into_iter().filter_map(Result::ok).collect()),
    }
}
