//! An engine in this process, with its own directory.

use std::path::Path;
use std::sync::mpsc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use foretell_engine::client::{Client, ClientError};
use foretell_engine::{EngineConfig, EngineError, Ready, Threads, Waiting};
use foretell_journal::{Options, Scratch};
use foretell_link::{Answer, Replace, Reply, Request, Role, Status, Submit};
use foretell_model::{Command, CommandStamp, Event, OperatorNumber, Sequence};

/// Longer than anything that is awaited takes.
const PATIENCE: Duration = Duration::from_secs(120);
/// Pause between two looks at what reports itself by no event.
const LOOK_PAUSE: Duration = Duration::from_millis(2);

/// The first thing that a look finds.
pub(crate) fn found<T>(mut look: impl FnMut() -> Option<T>) -> T {
    let began = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(began.elapsed() < PATIENCE, "what is awaited does not come");
        std::thread::park_timeout(LOOK_PAUSE);
    }
}

/// A running engine.
pub(crate) struct Engine {
    pub(crate) ready: Ready,
    thread: JoinHandle<Result<(), EngineError>>,
}

/// All combinations of thread layout and waiting.
pub(crate) const MACHINES: [(Threads, Waiting); 3] = [
    (Threads::Shared, Waiting::Park),
    (Threads::Apart, Waiting::Park),
    (Threads::Apart, Waiting::Yield),
];

/// Small and quick. The peer timeout is long, so that it ends no connection by accident.
pub(crate) fn config(directory: &Path) -> EngineConfig {
    EngineConfig {
        journal: Options {
            segment_bytes: 4 << 20,
            staging_bytes: 1 << 20,
            disk_reserve_bytes: 0,
            ..Options::default()
        },
        ring_capacity: 1_024,
        patience: Duration::from_secs(600),
        handle_signals: false,
        pin_matcher: false,
        ..EngineConfig::new(directory.to_path_buf())
    }
}

impl Engine {
    /// An engine on one of [`MACHINES`].
    pub(crate) fn on((threads, waiting): (Threads, Waiting), directory: &Path) -> Self {
        Self::start(EngineConfig {
            threads,
            waiting,
            ..config(directory)
        })
    }

    pub(crate) fn try_start(config: EngineConfig) -> Result<Self, EngineError> {
        let (send, receive) = mpsc::channel();
        let thread = std::thread::spawn(move || {
            foretell_engine::run(&config, |ready| {
                send.send(ready.clone()).expect("the test waits");
            })
        });
        match receive.recv() {
            Ok(ready) => Ok(Self { ready, thread }),
            Err(_) => Err(thread
                .join()
                .expect("it does not panic")
                .expect_err("it ended before it was ready")),
        }
    }

    pub(crate) fn start(config: EngineConfig) -> Self {
        Self::try_start(config).expect("the engine starts")
    }

    pub(crate) fn client(&self, role: Role) -> TestClient {
        TestClient::connect(&self.ready.socket, role)
    }

    /// Stops cleanly.
    pub(crate) fn stop(self) {
        self.ready.stop.stop();
        self.end().expect("a clean stop");
    }

    /// The result of the run.
    pub(crate) fn end(self) -> Result<(), EngineError> {
        self.thread.join().expect("it does not panic")
    }
}

/// A client that numbers its requests.
pub(crate) struct TestClient {
    pub(crate) client: Client,
    next: u64,
}

impl TestClient {
    pub(crate) fn connect(socket: &Path, role: Role) -> Self {
        Self {
            client: Client::connect(socket, "test", role).expect("the engine welcomes"),
            next: 1,
        }
    }

    /// Sends without waiting; returns the request's number.
    pub(crate) fn send(&mut self, command: Command, evidence: &[u8]) -> Result<u64, ClientError> {
        self.send_as(OperatorNumber::NONE, command, evidence)
    }

    /// Sends as an operator; `evidence` begins with the reason.
    fn send_as(
        &mut self,
        operator: OperatorNumber,
        command: Command,
        evidence: &[u8],
    ) -> Result<u64, ClientError> {
        let request = self.next;
        self.next += 1;
        self.client.send(&[Request::Submit(Submit {
            request,
            operator,
            command,
            evidence,
        })])?;
        Ok(request)
    }

    /// Sends and waits for the reply.
    pub(crate) fn ask(&mut self, command: Command, evidence: &[u8]) -> Reply {
        let request = self.send(command, evidence).expect("the engine reads");
        self.reply_to(request)
    }

    /// Sends as an operator and waits for the reply.
    pub(crate) fn ask_as(&mut self, operator: OperatorNumber, command: Command) -> Reply {
        let sent = self.send_as(operator, command, &[0, 0]);
        self.reply_to(sent.expect("the engine reads"))
    }

    /// Sends a replace without waiting; returns the number of its first request.
    pub(crate) fn send_replace(&mut self, if_all_canceled: bool, commands: &[Command]) -> u64 {
        let request = self.next;
        self.next += commands.len() as u64;
        let commands: Vec<(Command, &[u8])> = commands
            .iter()
            .map(|command| match command {
                Command::PlaceOrder(_) => (*command, &b"signed"[..]),
                _ => (*command, &b""[..]),
            })
            .collect();
        let mut buffer = Vec::new();
        let replace = Replace::new(request, if_all_canceled, &commands, &mut buffer);
        let replace = Request::Replace(replace.expect("it is within bounds"));
        self.client.send(&[replace]).expect("the engine reads");
        request
    }

    /// Sends a replace and waits for the replies to its commands.
    pub(crate) fn replace(&mut self, if_all_canceled: bool, commands: &[Command]) -> Vec<Reply> {
        let first = self.send_replace(if_all_canceled, commands);
        let requests = (first..).take(commands.len());
        requests.map(|request| self.reply_to(request)).collect()
    }

    /// Waits for the next answer, which is the reply to `request`.
    pub(crate) fn reply_to(&mut self, request: u64) -> Reply {
        match self.client.receive().expect("the engine answers") {
            Answer::Reply(reply) => {
                assert_eq!(reply.request, request);
                reply
            }
            other => panic!("request {request} was answered with {other:?}"),
        }
    }

    /// The status, once every earlier answer was received.
    pub(crate) fn status(&mut self) -> Status {
        match self
            .client
            .ask(Request::Status { request: 0 })
            .expect("the engine answers")
        {
            Answer::Status(status) => *status,
            other => panic!("the status is {other:?}"),
        }
    }

    /// Requests the status until it satisfies `wanted`.
    pub(crate) fn wait_for(&mut self, wanted: impl Fn(&Status) -> bool) -> Status {
        loop {
            let status = self.status();
            if wanted(&status) {
                return status;
            }
        }
    }
}

/// A frame of the journal, owned.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct OwnedFrame {
    pub(crate) sequence: Sequence,
    pub(crate) stamp: CommandStamp,
    pub(crate) command: Command,
    pub(crate) events: Vec<Event>,
    pub(crate) evidence: Vec<u8>,
    pub(crate) place: foretell_model::FramePosition,
}

/// Every frame in the journal of a stopped engine.
pub(crate) fn frames(directory: &Path) -> Vec<OwnedFrame> {
    let journal = directory.join(foretell_engine::JOURNAL_DIRECTORY);
    let mut scratch = Scratch::default();
    let mut frames = Vec::new();
    foretell_journal::scan(&journal, Sequence(0), &mut |frame| {
        let frame = frame.decode(&mut scratch).map_err(|e| e.to_string())?;
        frames.push(OwnedFrame {
            sequence: frame.sequence,
            stamp: frame.stamp(),
            command: *frame.command,
            events: frame.events.to_vec(),
            evidence: frame.evidence.to_vec(),
            place: frame.place,
        });
        Ok(())
    })
    .expect("the journal is whole");
    frames
}
