//! Runs the parts of the engine, each on its thread.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use foretell_journal::wall_clock::since_epoch;
use foretell_journal::{JournalError, Syncer};
use foretell_model::Sequence;
use foretell_stages::{RotationThread, StageLog};
use mio::Poll;
use mio::net::UnixListener;

use crate::clock::SystemClocks;
use crate::config::{EngineConfig, Threads};
use crate::directory::Directory;
use crate::error::EngineError;
use crate::gateways::{Gateways, MatcherPlacement, ServeEnd};
use crate::ingress::Ingress;
use crate::matcher::Matcher;
use crate::publisher;
use crate::requests::RequestHandler;
use crate::start_up::{self, until_durable};
use crate::stop::{Stop, StopHandle};
use crate::wait::{PollWaker, ThreadWaker};
use crate::wiring::{Parts, ServingParts};

/// Passed to the supervisor when the engine serves.
#[derive(Clone, Debug)]
pub struct Ready {
    /// The gateways' socket.
    pub socket: PathBuf,
    /// Number of this run's recovery.
    pub epoch: u64,
    /// Hash that identifies the journal.
    pub genesis: [u8; 32],
    /// Last command, durable.
    pub sequence: Sequence,
    /// Stops the engine.
    pub stop: StopHandle,
}

/// Runs an engine that is alone until it is stopped.
pub(crate) fn run_alone(
    config: &EngineConfig,
    directory: &Directory,
    on_ready: impl FnOnce(&Ready),
) -> Result<(), EngineError> {
    let clocks = SystemClocks::start(config.wall_clock_error);
    let mut parts = Parts::wire(config, directory, clocks, &mut random)?;
    let (syncer, helper) = (&mut parts.serving.syncer, parts.helper);
    syncer
        .start_preallocator(helper)
        .map_err(EngineError::Journal)?;
    let publisher = spawn_publisher(parts.publisher)?;
    let served = Serving {
        config,
        directory,
        parts: parts.serving,
        stop: None,
    };
    served.run(publisher, on_ready)
}

/// An engine that may write its journal.
pub(crate) struct Serving<'a> {
    pub(crate) config: &'a EngineConfig,
    pub(crate) directory: &'a Directory,
    pub(crate) parts: ServingParts<SystemClocks>,
    /// `None` = not listening to signals yet.
    pub(crate) stop: Option<Stop>,
}

impl Serving<'_> {
    /// Serves until the end; `publisher` runs already.
    pub(crate) fn run(
        self,
        publisher: JoinHandle<Result<(), EngineError>>,
        on_ready: impl FnOnce(&Ready),
    ) -> Result<(), EngineError> {
        let parts = self.parts;
        let stage_log = self.config.stage_log.as_deref();
        let stage_log =
            stage_log.map(|directory| StageLog::create(directory, "engine", since_epoch()));
        let stage_log = stage_log
            .transpose()
            .map_err(EngineError::process("making the log of stages"))?;
        // Stops when this function returns.
        let _seconds = RotationThread::start(Arc::clone(&parts.handler.durations), stage_log)
            .map_err(EngineError::process("starting a thread"))?;
        let journal = parts.matcher.journal.clone();
        let mailbox = Arc::clone(&parts.handler.mailbox);
        let matcher_waker = parts.matcher.parker.waker();
        let sync = spawn_sync(parts.syncer, Arc::clone(&parts.waker), matcher_waker)?;
        let setup = IngressSetup {
            config: self.config,
            directory: self.directory,
            poll: parts.poll,
            waker: parts.waker,
            handler: parts.handler,
            stop: self.stop,
        };
        let served = setup.run(parts.matcher, parts.newly_accepted, on_ready);
        // The matcher has ended and dropped its appender, so the sync thread writes the rest and
        // ends.
        let synced = sync.join().expect("a panic in it aborts the process");
        mailbox.stop();
        journal.wake_followers();
        let publishing = publisher.join().expect("a panic in it aborts the process");
        synced.map_err(EngineError::Failed)?;
        match served? {
            ServeEnd::Stopped | ServeEnd::PublisherFailed => publishing,
            ServeEnd::JournalFailed => Err(EngineError::Failed(JournalError::Poisoned(
                journal.failure().unwrap_or("no reason given").to_owned(),
            ))),
        }
    }
}

/// The part of the engine before the matcher.
struct IngressSetup<'a> {
    config: &'a EngineConfig,
    directory: &'a Directory,
    poll: Poll,
    waker: Arc<PollWaker>,
    handler: RequestHandler<SystemClocks>,
    stop: Option<Stop>,
}

impl IngressSetup<'_> {
    /// Journals the configuration, listens, reports ready, and serves until the end.
    fn run(
        mut self,
        mut matcher: Matcher<SystemClocks>,
        newly_accepted: Option<Sequence>,
        on_ready: impl FnOnce(&Ready),
    ) -> Result<ServeEnd, EngineError> {
        start_up::journal_configuration(
            &mut matcher,
            self.config,
            newly_accepted,
            &mut until_durable,
        )?;
        let stop = match self.stop.take() {
            Some(stop) => stop,
            None => Stop::new(self.config.handle_signals)
                .map_err(EngineError::process("listening to signals"))?,
        };
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
            Threads::Shared => {
                self.serve(MatcherPlacement::Shared(Box::new(matcher)), stop, listener)
            }
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
    ) -> io::Result<ServeEnd> {
        let wake = matcher.parker.waker();
        let ring = Arc::clone(&self.handler.ring);
        let pin = self.config.pin_matcher;
        let matching = spawn("matcher", move || {
            if pin {
                pin_to_last_core();
            }
            matcher.run();
        })?;
        let ended = self.serve(MatcherPlacement::Apart(wake.clone()), stop, listener);
        ring.stop();
        wake.wake();
        matching.join().expect("a panic in it aborts the process");
        ended
    }

    fn serve(
        self,
        matching: MatcherPlacement<SystemClocks>,
        stop: Stop,
        listener: UnixListener,
    ) -> io::Result<ServeEnd> {
        let _abort = AbortOnPanic;
        let (most, patience) = (self.config.max_connections, self.config.patience);
        Ingress {
            poll: self.poll,
            waker: self.waker,
            stop,
            listener: Some(listener),
            gateways: Gateways::new(self.handler, matching, most, patience),
        }
        .serve()
    }
}

/// The thread that makes frames durable. It wakes ingress and matcher whenever the durable sequence
/// rises, and when it ends.
fn spawn_sync(
    syncer: Syncer,
    waker: Arc<PollWaker>,
    matcher: ThreadWaker,
) -> Result<JoinHandle<Result<(), JournalError>>, EngineError> {
    spawn("sync", move || {
        let wake_all = || {
            waker.wake();
            matcher.wake();
        };
        let ended = syncer.run(|_durable| wake_all());
        wake_all();
        ended
    })
    .map_err(EngineError::process("starting the sync thread"))
}

/// The thread that publishes snapshots; ends at once if publishing is off.
pub(crate) fn spawn_publisher(
    args: publisher::PublisherArgs<SystemClocks>,
) -> Result<JoinHandle<Result<(), EngineError>>, EngineError> {
    let enabled = args.config.publishing.enabled;
    spawn("publisher", move || {
        if enabled {
            publisher::run(args)
        } else {
            Ok(())
        }
    })
    .map_err(EngineError::process("starting the publisher"))
}

pub(crate) fn spawn<T: Send + 'static>(
    name: &str,
    work: impl FnOnce() -> T + Send + 'static,
) -> io::Result<JoinHandle<T>> {
    thread::Builder::new().name(name.to_owned()).spawn(move || {
        let _abort = AbortOnPanic;
        work()
    })
}

pub(crate) fn random() -> Result<u64, EngineError> {
    getrandom::u64()
        .map_err(|error| io::Error::other(error.to_string()))
        .map_err(EngineError::process("drawing a random number"))
}

fn pin_to_last_core() {
    let last = core_affinity::get_core_ids().and_then(|cores| cores.last().copied());
    if !last.is_some_and(core_affinity::set_for_current) {
        tracing::warn!("cannot pin the matcher to a core");
    }
}

/// Aborts the process when its thread panics, so that no gateway is answered by the remaining
/// threads.
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
            // Never returns: the process aborts.
            let _: Result<(), _> = panicking.join();
            return;
        }
        let name = "threads::tests::a_panic_of_a_thread_ends_the_process";
        let child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", name])
            .env(CHILD, "1")
            .output()
            .unwrap();
        const SIGABRT: i32 = 6;
        assert_eq!(child.status.signal(), Some(SIGABRT), "{child:?}");
    }
}
