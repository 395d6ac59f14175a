//! The whole machine: the parts, each on its thread.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use foretell_journal::{JournalError, Syncer};
use foretell_model::Sequence;
use foretell_stages::{Seconds, StageLog};
use mio::Poll;
use mio::net::UnixListener;

use crate::clock::SystemClocks;
use crate::config::{EngineConfig, Threads};
use crate::directory::Directory;
use crate::error::EngineError;
use crate::gateways::{Ended, Gateways, Matching};
use crate::ingress::Ingress;
use crate::matcher::Matcher;
use crate::parts::Parts;
use crate::publisher;
use crate::requests::Desk;
use crate::start_up::{self, until_durable};
use crate::stop::{Stop, StopHandle};
use crate::wait::{Bell, Wake};

/// Told to the supervisor when the engine serves.
#[derive(Clone, Debug)]
pub struct Ready {
    /// Where gateways connect.
    pub socket: PathBuf,
    /// Number of this run's recovery.
    pub epoch: u64,
    /// Hash that names the journal.
    pub genesis: [u8; 32],
    /// Last command, durable.
    pub sequence: Sequence,
    /// Stops the engine.
    pub stop: StopHandle,
}

/// Runs the engine until it is stopped; `on_ready` is called once, when gateways can connect.
///
/// A panic of one of its threads aborts the process: what the exchange would answer after it
/// cannot be trusted, what recovery makes of the journal can.
///
/// # Errors
/// Every [`EngineError`]; [`EngineError::exit_code`] is for the process.
pub fn run(config: &EngineConfig, on_ready: impl FnOnce(&Ready)) -> Result<(), EngineError> {
    let directory = Directory::lock(&config.data_directory)?;
    let clocks = SystemClocks::start();
    let mut parts = Parts::wire(config, &directory, clocks, &mut random)?;
    let (syncer, helper) = (&mut parts.syncer, parts.helper);
    syncer.employ(helper).map_err(EngineError::Journal)?;
    let stage_log = config.stage_log.as_deref();
    let stage_log = stage_log.map(|directory| StageLog::create(directory, "engine"));
    let stage_log = stage_log
        .transpose()
        .map_err(EngineError::process("making the log of stages"))?;
    // Ends with this function.
    let _seconds = Seconds::start(Arc::clone(&parts.desk.durations), stage_log)
        .map_err(EngineError::process("starting a thread"))?;
    let journal = parts.matcher.journal.clone();
    let published = Arc::clone(&parts.desk.published);
    let publisher = spawn_publisher(parts.publisher)?;
    let wake_matcher = parts.matcher.sleeper.wake();
    let sync = spawn_sync(parts.syncer, Arc::clone(&parts.bell), wake_matcher)?;
    let line = Line {
        config,
        directory: &directory,
        poll: parts.poll,
        bell: parts.bell,
        desk: parts.desk,
    };
    let served = line.work(parts.matcher, parts.newly_accepted, on_ready);
    // The matcher, and with it the appender, is gone: the sync thread has written the rest.
    let synced = sync.join().expect("a panic in it aborts the process");
    published.stop();
    journal.wake_followers();
    let publishing = publisher.join().expect("a panic in it aborts the process");
    synced.map_err(EngineError::Failed)?;
    match served? {
        Ended::Stopped | Ended::PublisherFailed => publishing,
        Ended::JournalFailed => Err(EngineError::Failed(JournalError::Poisoned(
            journal.failure().unwrap_or("no reason given").to_owned(),
        ))),
    }
}

/// The part of the machine before the matcher.
struct Line<'a> {
    config: &'a EngineConfig,
    directory: &'a Directory,
    poll: Poll,
    bell: Arc<Bell>,
    desk: Desk<SystemClocks>,
}

impl Line<'_> {
    /// Journals what the start needs, listens, says so, and serves until the end.
    fn work(
        self,
        mut matcher: Matcher<SystemClocks>,
        newly_accepted: Option<Sequence>,
        on_ready: impl FnOnce(&Ready),
    ) -> Result<Ended, EngineError> {
        start_up::journal_configuration(
            &mut matcher,
            self.config,
            newly_accepted,
            &mut until_durable,
        )?;
        let stop = Stop::new(self.config.handle_signals)
            .map_err(EngineError::process("listening to signals"))?;
        let listener = self.directory.listen()?;
        let directory = self.directory;
        on_ready(&Ready {
            socket: directory.socket(),
            epoch: matcher.journal.epoch(),
            genesis: matcher.journal.genesis(),
            sequence: matcher.exchange.sequence(),
            stop: stop.handle.clone(),
        });
        let ended = match self.config.threads {
            Threads::Shared => self.serve(Matching::Shared(Box::new(matcher)), stop, listener),
            Threads::Apart => self.serve_apart(matcher, stop, listener),
        };
        directory.remove_socket();
        ended.map_err(EngineError::process("serving gateways"))
    }

    fn serve_apart(
        self,
        matcher: Matcher<SystemClocks>,
        stop: Stop,
        listener: UnixListener,
    ) -> io::Result<Ended> {
        let wake = matcher.sleeper.wake();
        let hand_off = Arc::clone(&self.desk.hand_off);
        let pin = self.config.pin_matcher;
        let matching = spawn("matcher", move || {
            if pin {
                pin_to_last_core();
            }
            matcher.run();
        })?;
        let ended = self.serve(Matching::Apart(wake.clone()), stop, listener);
        hand_off.stop();
        wake.wake();
        matching.join().expect("a panic in it aborts the process");
        ended
    }

    fn serve(
        self,
        matching: Matching<SystemClocks>,
        stop: Stop,
        listener: UnixListener,
    ) -> io::Result<Ended> {
        let _abort = AbortOnPanic;
        let (most, patience) = (self.config.max_connections, self.config.patience);
        Ingress {
            poll: self.poll,
            bell: self.bell,
            stop,
            listener: Some(listener),
            gateways: Gateways::new(self.desk, matching, most, patience),
        }
        .serve()
    }
}

/// The thread that makes frames durable. Every rise of the durable sequence, and its end, wakes
/// whoever waits for it.
fn spawn_sync(
    syncer: Syncer,
    bell: Arc<Bell>,
    matcher: Wake,
) -> Result<JoinHandle<Result<(), JournalError>>, EngineError> {
    spawn("sync", move || {
        let wake_all = || {
            bell.ring();
            matcher.wake();
        };
        let ended = syncer.run(|_durable| wake_all());
        wake_all();
        ended
    })
    .map_err(EngineError::process("starting the sync thread"))
}

/// The thread that publishes snapshots; without publishing it ends at once.
fn spawn_publisher(
    setting: publisher::Setting<SystemClocks>,
) -> Result<JoinHandle<Result<(), EngineError>>, EngineError> {
    let enabled = setting.config.publishing.enabled;
    spawn("publisher", move || {
        if enabled {
            publisher::run(setting)
        } else {
            Ok(())
        }
    })
    .map_err(EngineError::process("starting the publisher"))
}

fn spawn<T: Send + 'static>(
    name: &str,
    work: impl FnOnce() -> T + Send + 'static,
) -> io::Result<JoinHandle<T>> {
    thread::Builder::new().name(name.to_owned()).spawn(move || {
        let _abort = AbortOnPanic;
        work()
    })
}

fn random() -> Result<u64, EngineError> {
    getrandom::u64()
        .map_err(|error| io::Error::other(error.to_string()))
        .map_err(EngineError::process("drawing a random number"))
}

fn pin_to_last_core() {
    let last = core_affinity::get_core_ids().and_then(|cores| cores.last().copied());
    if !last.is_some_and(core_affinity::set_for_current) {
        tracing::warn!("the matcher could not be pinned to a core");
    }
}

/// Ends the process when its thread panics: nobody may be answered by half a machine.
struct AbortOnPanic;

impl Drop for AbortOnPanic {
    fn drop(&mut self) {
        if thread::panicking() {
            std::process::abort();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt;
    use std::process::Command;

    use super::*;

    const CHILD: &str = "FORETELL_TEST_PANIC";

    #[test]
    fn a_panic_of_a_thread_ends_the_process() {
        if std::env::var_os(CHILD).is_some() {
            let panicking = spawn("matcher", || panic!("on purpose")).unwrap();
            // Ends with the process.
            let _: Result<(), _> = panicking.join();
            return;
        }
        let name = "machine::tests::a_panic_of_a_thread_ends_the_process";
        let child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", name])
            .env(CHILD, "1")
            .output()
            .unwrap();
        const SIGABRT: i32 = 6;
        assert_eq!(child.status.signal(), Some(SIGABRT), "{child:?}");
    }
}
