//! Closes the durations second by second, on a thread of its own, and writes them down where the
//! operator wants that.

use std::fs::File;
use std::io::{LineWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant, SystemTime};

use hdrhistogram::Histogram;
use hdrhistogram::serialization::V2DeflateSerializer;
use hdrhistogram::serialization::interval_log::{IntervalLogWriter, IntervalLogWriterBuilder, Tag};

use crate::{Durations, Stages};

/// Logs tell the highest value in milliseconds, as their readers expect.
const NANOS_PER_MS: f64 = 1e6;
/// How long an interval is.
const SECOND: Duration = Duration::from_secs(1);

/// A file for the durations of one process, as an HdrHistogram log (version 2): one line for each
/// second and stage in which something happened, tagged with the stage.
#[derive(Debug)]
pub struct StageLog {
    path: PathBuf,
    file: File,
}

impl StageLog {
    /// A new file in `directory`, which is made if need be: `<process>-<Unix seconds>-<pid>.hlog`.
    ///
    /// # Errors
    /// The directory or the file cannot be made.
    pub fn create(directory: &Path, process: &str) -> std::io::Result<Self> {
        std::fs::create_dir_all(directory)?;
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let seconds = since.unwrap_or_default().as_secs();
        let name = format!("{process}-{seconds}-{}.hlog", std::process::id());
        let path = directory.join(name);
        let file = File::create_new(&path)?;
        Ok(Self { path, file })
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// The thread that closes the seconds; it ends, and closes the last one, when this is dropped.
#[derive(Debug)]
pub struct Seconds {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Seconds {
    /// Starts the thread.
    ///
    /// # Errors
    /// The thread cannot be started.
    pub fn start<S: Stages>(
        durations: Arc<Durations<S>>,
        log: Option<StageLog>,
    ) -> std::io::Result<Self> {
        let (stop, stopped) = channel();
        let thread = std::thread::Builder::new()
            .name("stages".to_owned())
            .spawn(move || match log {
                Some(log) => close_into(&durations, &stopped, log),
                None => close(&stopped, |_, _| durations.close_second(|_, _| ())),
            })?;
        Ok(Self {
            stop: Some(stop),
            thread: Some(thread),
        })
    }
}

impl Drop for Seconds {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // A panic there was reported and is nothing to those who end.
            let _ = thread.join();
        }
    }
}

/// Calls `second` with the beginning (since the start) and the length of every interval.
fn close(stopped: &Receiver<()>, mut second: impl FnMut(Duration, Duration)) {
    let start = Instant::now();
    let mut begin = Duration::ZERO;
    loop {
        let due = begin + SECOND;
        let left = due.saturating_sub(start.elapsed());
        let ended = stopped.recv_timeout(left) != Err(RecvTimeoutError::Timeout);
        let now = start.elapsed();
        second(begin, now.saturating_sub(begin));
        if ended {
            return;
        }
        begin = now;
    }
}

fn close_into<S: Stages>(durations: &Durations<S>, stopped: &Receiver<()>, log: StageLog) {
    // A line at a time, so that a killed process leaves whole ones.
    let mut out = LineWriter::new(log.file);
    let mut serializer = V2DeflateSerializer::new();
    let begun = IntervalLogWriterBuilder::new()
        .add_comment("[Histogram log format version 1.3]")
        .add_comment("foretell stages, nanoseconds")
        .with_start_time(SystemTime::now())
        .with_max_value_divisor(NANOS_PER_MS)
        .begin_log_with(&mut out, &mut serializer);
    let mut writer = match begun {
        Ok(writer) => Some(writer),
        Err(error) => {
            tracing::error!(%error, path = %log.path.display(), "the log of stages is given up");
            None
        }
    };
    close(stopped, |begin, length| {
        let mut failed = false;
        durations.close_second(|stage, histogram| {
            if let Some(writer) = &mut writer {
                failed |= !write(writer, stage, begin, length, histogram);
            }
        });
        if failed {
            tracing::error!(path = %log.path.display(), "the log of stages is given up");
            writer = None;
        }
    });
}

fn write<S: Stages, W: Write>(
    writer: &mut IntervalLogWriter<'_, '_, W, V2DeflateSerializer>,
    stage: S,
    begin: Duration,
    length: Duration,
    histogram: &Histogram<u64>,
) -> bool {
    let tag = Tag::new(stage.name()).expect("names of stages are plain words");
    writer
        .write_histogram(histogram, begin, length, Some(tag))
        .is_ok()
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;
    use foretell_link::Stage;
    use hdrhistogram::serialization::Deserializer;
    use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};

    use super::*;

    #[test]
    fn the_log_holds_every_duration_under_its_stage() {
        let directory = tempfile::tempdir().expect("a directory");
        let log = StageLog::create(&directory.path().join("new"), "engine").expect("a file");
        let path = log.path().to_owned();
        let durations = Arc::new(Durations::<Stage>::default());
        let seconds = Seconds::start(Arc::clone(&durations), Some(log)).expect("a thread");
        durations.note(Stage::Apply, 800);
        durations.note(Stage::Reply, 9_000);
        durations.note(Stage::Reply, 9_000);
        drop(seconds);
        let bytes = std::fs::read(path).expect("the log");
        let mut found = Vec::new();
        for entry in IntervalLogIterator::new(&bytes) {
            let LogEntry::Interval(line) = entry.expect("a well-formed log") else {
                continue;
            };
            let bytes = STANDARD.decode(line.encoded_histogram()).expect("base64");
            let histogram: Histogram<u64> = Deserializer::new()
                .deserialize(&mut bytes.as_slice())
                .expect("a histogram");
            let tag = line.tag().expect("a tag").as_str().to_owned();
            found.push((tag, histogram.len(), histogram.max()));
        }
        assert_eq!(found.len(), 2, "{found:?}");
        assert_eq!((&*found[0].0, found[0].1, found[0].2), ("apply", 1, 800));
        assert_eq!((&*found[1].0, found[1].1), ("reply", 2));
    }
}
