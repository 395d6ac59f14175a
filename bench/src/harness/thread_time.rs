//! CPU time of threads, from the kernel.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Threads found by name.
pub(crate) struct ThreadTime {
    schedules: Vec<PathBuf>,
}

impl ThreadTime {
    /// The thread of this process with this name (the kernel keeps at most 15 bytes).
    pub(crate) fn of(name: &str) -> io::Result<Self> {
        let mut found = Self::named(Path::new("/proc/self/task"), |comm| comm == name)?;
        found.schedules.truncate(1);
        found.or_none_like(name)
    }

    /// As [`Self::of`], the one that began last: a process that tests several exchanges at once has others.
    pub(crate) fn newest(name: &str) -> io::Result<Self> {
        let mut found = Self::named(Path::new("/proc/self/task"), |comm| comm == name)?;
        // The kernel lists them in the order of their ids.
        let older = found.schedules.len().saturating_sub(1);
        found.schedules.drain(..older);
        found.or_none_like(name)
    }

    /// The threads of a process with this name prefix.
    pub(crate) fn of_process(process: u32, prefix: &str) -> io::Result<Self> {
        let tasks = format!("/proc/{process}/task");
        Self::named(Path::new(&tasks), |comm| comm.starts_with(prefix))?.or_none_like(prefix)
    }

    fn named(tasks: &Path, is_it: impl Fn(&str) -> bool) -> io::Result<Self> {
        let mut schedules = Vec::new();
        for task in fs::read_dir(tasks)? {
            let path = task?.path();
            // A thread may end while the list is read.
            let named = fs::read_to_string(path.join("comm"));
            if named.is_ok_and(|comm| is_it(comm.trim_end())) {
                schedules.push(path.join("schedstat"));
            }
        }
        Ok(Self { schedules })
    }

    fn or_none_like(self, name: &str) -> io::Result<Self> {
        if self.schedules.is_empty() {
            return Err(io::Error::other(format!("no thread is named {name}")));
        }
        Ok(self)
    }

    /// CPU time so far in nanoseconds.
    pub(crate) fn nanos(&self) -> io::Result<u64> {
        self.schedules.iter().map(nanos).sum()
    }
}

fn nanos(schedule: &PathBuf) -> io::Result<u64> {
    let text = fs::read_to_string(schedule)?;
    let ran = text.split(' ').next().and_then(|field| field.parse().ok());
    ran.ok_or_else(|| io::Error::other("a schedstat without a number"))
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
        assert!(ThreadTime::newest("busy-bee").unwrap().nanos().unwrap() > 0);
        let here = ThreadTime::of_process(std::process::id(), "busy-").unwrap();
        assert!(here.nanos().unwrap() > 0);
        assert!(ThreadTime::of("nobody").is_err());
        assert!(ThreadTime::of_process(std::process::id(), "nobody").is_err());
        drop(done);
        thread.unwrap().join().unwrap();
    }
}
