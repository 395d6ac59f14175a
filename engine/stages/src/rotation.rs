//! A thread that rotates the durations every second and writes them to a log if the operator
//! configured one.

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

/// Logs give the maximum in milliseconds, as their readers expect.
const NANOS_PER_MS: f64 = 1e6;
/// Length of an interval.
const SECOND: Duration = Duration::from_secs(1);

/// A log file of the durations of one process (HdrHistogram log, version 2): one line per second
/// and stage with durations, tagged with the stage.
#[derive(Debug)]
pub struct StageLog {
    path: PathBuf,
    file: File,
    begun: SystemTime,
}

impl StageLog {
    /// Creates `<process>-<Unix seconds>-<pid>.hlog` in `directory`, which is created if missing. `now`: time since 1970.
    ///
    /// # Errors
    /// The directory or the file cannot be created.
    pub fn create(directory: &Path, process: &str, now: Duration) -> std::io::Result<Self> {
        std::fs::create_dir_all(directory)?;
        let seconds = now.as_secs();
        let name = format!("{process}-{seconds}-{}.hlog", std::process::id());
        let path = directory.join(name);
        let file = File::create_new(&path)?;
        Ok(Self {
            path,
            file,
            begun: SystemTime::UNIX_EPOCH + now,
        })
    }

    /// The path of the file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// The rotation thread. Dropping this ends the last second and joins the thread.
#[derive(Debug)]
pub struct RotationThread {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl RotationThread {
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

impl Drop for RotationThread {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // The panic hook has reported a panic of the thread already.
            let _ = thread.join();
        }
    }
}

/// Calls `second` with the start (since the thread's start) and the length of every interval.
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
    // Line-buffered, so that a killed process leaves whole lines.
    let mut out = LineWriter::new(log.file);
    let mut serializer = V2DeflateSerializer::new();
    let begun = IntervalLogWriterBuilder::new()
        .add_comment("[Histogram log format version 1.3]")
        .add_comment("foretell stages, nanoseconds")
        .with_start_time(log.begun)
        .with_max_value_divisor(NANOS_PER_MS)
        .begin_log_with(&mut out, &mut serializer);
    let mut writer = match begun {
        Ok(writer) => Some(writer),
        Err(error) => {
            tracing::error!(%error, path = %log.path.display(), "stage log failed, logging stopped");
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
            tracing::error!(path = %log.path.display(), "stage log failed, logging stopped");
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

    /// When the log begins, since 1970.
    const NOW: Duration = Duration::from_secs(1_700_000_000);

    #[test]
    fn the_log_holds_every_duration_under_its_stage() {
        let directory = tempfile::tempdir().expect("a directory");
        let log = StageLog::create(&directory.path().join("new"), "engine", NOW).expect("a file");
        let path = log.path().to_owned();
        let durations = Arc::new(Durations::<Stage>::default());
        let seconds = RotationThread::start(Arc::clone(&durations), Some(log)).expect("a thread");
        durations.record(Stage::Apply, 800);
        durations.record(Stage::Reply, 9_000);
        durations.record(Stage::Reply, 9_000);
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
