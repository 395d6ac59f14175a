//! Processor time of one thread of this process, as the kernel counts it.

use std::fs;
use std::io;
use std::path::PathBuf;

/// A thread found by its name.
pub(crate) struct ThreadTime {
    schedule: PathBuf,
}

impl ThreadTime {
    /// The thread of this process with this name (at most 15 bytes of it are kept by the kernel).
    pub(crate) fn of(name: &str) -> io::Result<Self> {
        for task in fs::read_dir("/proc/self/task")? {
            let path = task?.path();
            // A thread may end while the list is read.
            let named = fs::read_to_string(path.join("comm"));
            if named.is_ok_and(|comm| comm.trim_end() == name) {
                let schedule = path.join("schedstat");
                return Ok(Self { schedule });
            }
        }
        Err(io::Error::other(format!("no thread is named {name}")))
    }

    /// Nanoseconds it ran so far.
    pub(crate) fn nanos(&self) -> io::Result<u64> {
        let text = fs::read_to_string(&self.schedule)?;
        let ran = text.split(' ').next().and_then(|field| field.parse().ok());
        ran.ok_or_else(|| io::Error::other("a schedstat without a number"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_works_has_run() {
        let (done, wait) = std::sync::mpsc::channel::<()>();
        let (ready, started) = std::sync::mpsc::channel();
        let thread = std::thread::Builder::new().name("busy-bee".to_owned());
        let thread = thread.spawn(move || {
            let sum: u64 = (0..200_000_u64).map(std::hint::black_box).sum();
            ready.send(sum).unwrap();
            let _ = wait.recv();
        });
        started.recv().unwrap();
        assert!(ThreadTime::of("busy-bee").unwrap().nanos().unwrap() > 0);
        assert!(ThreadTime::of("nobody").is_err());
        drop(done);
        thread.unwrap().join().unwrap();
    }
}
