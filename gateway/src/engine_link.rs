//! The lines of this process to the engine: requests out, answers back to whoever asked.
//!
//! Each thread that serves has a line of its own and runs it among its requests, so that neither an
//! order nor its answer crosses threads. A request is encoded straight into the outgoing bytes
//! under a short lock, so requests of one caller reach the engine in the order of its calls. One
//! task writes and reads. What was asked when the connection broke has an unknown outcome, which
//! is said so.

use std::cell::Cell;
use std::collections::HashMap;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use foretell_link::{
    Answer, AnswerDecoder, BusyReason, Goodbye, Heartbeat, HeartbeatAnswer, HeartbeatId, Hello,
    PROTOCOL_VERSION, Reply, Request, Role, SnapshotResult, Status, Submit, Violation, Welcome,
};
use foretell_model::{AccountNumber, Command, Sequence};
use parking_lot::Mutex;
use thiserror::Error;
use tokio::io::AsyncWriteExt;
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::{Notify, oneshot, watch};
use tokio::time::Instant;

use crate::limits::{ENGINE_ANSWER, MAX_IN_FLIGHT, SNAPSHOT_ANSWER};
use crate::signatures::SignatureGate;

/// First pause after a connection broke or could not be made; it doubles up to [`MAX_PAUSE`].
const MIN_PAUSE: Duration = Duration::from_millis(20);
/// Longest pause between two attempts.
const MAX_PAUSE: Duration = Duration::from_secs(1);
/// The part of a line's room that is kept free for cancels: an eighth.
const FOR_CANCELS: usize = 8;
/// Turns of the thread, each with a check of a signature, that what is to be sent waits for orders
/// that follow: a quarter of a millisecond or so. Each waking of the engine takes processor time from
/// those checks, and a sync takes as long.
const GATHERING: u32 = 6;

thread_local! {
    /// The line of this thread; threads without one use the first.
    static LINE: Cell<usize> = const { Cell::new(0) };
}

/// Why there is no answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub(crate) enum LinkFailure {
    /// No connection; nothing was sent.
    #[error("the engine is away")]
    Away,
    /// Too much is under way, here or in the engine; nothing was done.
    #[error("busy")]
    Busy,
    /// The disk is nearly full: cancels only; nothing was done.
    #[error("the disk is nearly full")]
    DiskLow,
    /// It was sent, and what became of it is not known.
    #[error("outcome unknown")]
    Unknown,
}

/// A handle for any thread.
#[derive(Clone)]
pub(crate) struct EngineLink {
    shared: Arc<Shared>,
}

struct Shared {
    /// One for each thread that serves.
    lines: Box<[Line]>,
    /// Lines that are connected.
    connected: AtomicUsize,
    welcome: watch::Sender<Option<Welcome>>,
    acknowledged: AtomicU64,
    /// Process id at the other end of the newest connection; 0 when nobody knows.
    engine: AtomicI32,
    known: Mutex<Known>,
}

/// The engine that acknowledged, by its last greeting; zeros before the first.
#[derive(Clone, Copy, Default)]
struct Known {
    genesis: [u8; 32],
    epoch: u64,
}

/// A connection, present or to be made.
#[derive(Default)]
struct Line {
    outbox: Mutex<Outbox>,
    /// There are bytes to write.
    wake: Notify,
}

/// What is to be sent and who waits for what. Both belong to the present connection.
#[derive(Default)]
struct Outbox {
    connected: bool,
    next_request: u64,
    bytes: Vec<u8>,
    waiting: HashMap<u64, oneshot::Sender<Result<Answer, LinkFailure>>>,
}

/// An answer on its way.
pub(crate) struct PendingAnswer {
    answer: oneshot::Receiver<Result<Answer, LinkFailure>>,
    sent: Instant,
    /// Counted from the sending: of many that were sent together, all are overdue together.
    due: Instant,
}

impl PendingAnswer {
    async fn answer(self) -> Result<Answer, LinkFailure> {
        match tokio::time::timeout_at(self.due, self.answer).await {
            Ok(Ok(answer)) => answer,
            Ok(Err(_)) | Err(_) => Err(LinkFailure::Unknown),
        }
    }

    /// When it was sent.
    pub(crate) fn sent(&self) -> std::time::Instant {
        self.sent.into_std()
    }

    /// The exchange's answer to a command.
    ///
    /// # Errors
    /// As [`LinkFailure`] says.
    pub(crate) async fn reply(self) -> Result<Reply, LinkFailure> {
        match self.answer().await? {
            Answer::Reply(reply) => Ok(reply),
            other => Err(unexpected(&other)),
        }
    }
}

/// The engine answered with another kind of message than the request has.
fn unexpected(answer: &Answer) -> LinkFailure {
    match answer {
        Answer::Busy(busy) => match busy.reason {
            BusyReason::RingFull => LinkFailure::Busy,
            BusyReason::DiskLow => LinkFailure::DiskLow,
            BusyReason::Stopping => LinkFailure::Away,
        },
        _ => {
            tracing::error!("the engine answered with another kind of message");
            LinkFailure::Unknown
        }
    }
}

impl EngineLink {
    /// So many lines, at least one; each is connected once [`Self::run`] runs it.
    #[must_use]
    pub(crate) fn new(lines: usize) -> Self {
        Self {
            shared: Arc::new(Shared {
                lines: (0..lines.max(1)).map(|_| Line::default()).collect(),
                connected: AtomicUsize::new(0),
                welcome: watch::Sender::new(None),
                acknowledged: AtomicU64::new(0),
                engine: AtomicI32::new(0),
                known: Mutex::default(),
            }),
        }
    }

    /// Sends a command. Commands of one thread are applied in the order of its calls.
    ///
    /// # Errors
    /// [`LinkFailure::Away`] or [`LinkFailure::Busy`]; nothing was sent then.
    pub(crate) fn submit(
        &self,
        command: Command,
        evidence: &[u8],
    ) -> Result<PendingAnswer, LinkFailure> {
        let room = self.room();
        let kept = if command.is_cancel() {
            0
        } else {
            room / FOR_CANCELS
        };
        self.send(room - kept, |request| {
            Request::Submit(Submit {
                request,
                command,
                evidence,
            })
        })
    }

    /// Tells of an owner's heartbeat.
    ///
    /// # Errors
    /// As [`LinkFailure`] says. The inner error is the exchange's refusal.
    pub(crate) async fn heartbeat(
        &self,
        owner: AccountNumber,
        id: HeartbeatId,
    ) -> Result<Result<HeartbeatAnswer, Reply>, LinkFailure> {
        let beat = |request| Request::Heartbeat(Heartbeat { request, owner, id });
        match self.send(self.room(), beat)?.answer().await? {
            Answer::Heartbeat(answer) => Ok(Ok(answer)),
            Answer::Reply(reply) => Ok(Err(reply)),
            other => Err(unexpected(&other)),
        }
    }

    /// Asks for the facts of the engine process.
    ///
    /// # Errors
    /// As [`LinkFailure`] says.
    pub(crate) async fn status(&self) -> Result<Box<Status>, LinkFailure> {
        match self
            .send(self.room(), |request| Request::Status { request })?
            .answer()
            .await?
        {
            Answer::Status(status) => Ok(status),
            other => Err(unexpected(&other)),
        }
    }

    /// Asks for an image of everything that is durable now. An operator's link may.
    ///
    /// # Errors
    /// As [`LinkFailure`] says; [`LinkFailure::Unknown`] also when it takes longer than
    /// [`SNAPSHOT_ANSWER`].
    pub(crate) async fn snapshot(&self) -> Result<SnapshotResult, LinkFailure> {
        let mut asked = self.send(self.room(), |request| Request::Snapshot { request })?;
        asked.due = Instant::now() + SNAPSHOT_ANSWER;
        match asked.answer().await? {
            Answer::Snapshot(answer) => Ok(answer.result),
            other => Err(unexpected(&other)),
        }
    }

    /// The newest greeting; `None` as long as not every line is connected.
    #[must_use]
    pub(crate) fn welcome(&self) -> Option<Welcome> {
        *self.shared.welcome.borrow()
    }

    /// Process id of the connected engine.
    #[must_use]
    pub(crate) fn engine_process(&self) -> Option<i32> {
        let process = self.shared.engine.load(Ordering::Relaxed);
        (process > 0 && self.welcome().is_some()).then_some(process)
    }

    /// The hash that names the journal, as the last greeting told; zero before the first.
    #[must_use]
    pub(crate) fn genesis(&self) -> [u8; 32] {
        self.shared.known.lock().genesis
    }

    /// Highest sequence an answer of this process has named: reads wait until they show it.
    #[must_use]
    pub(crate) fn acknowledged(&self) -> Sequence {
        Sequence(self.shared.acknowledged.load(Ordering::Acquire))
    }

    /// Requests the engine owes an answer.
    #[must_use]
    pub(crate) fn in_flight(&self) -> usize {
        let lines = self.shared.lines.iter();
        lines.map(|line| line.outbox.lock().waiting.len()).sum()
    }

    /// Requests the engine may owe an answer on one line.
    fn room(&self) -> usize {
        MAX_IN_FLIGHT / self.shared.lines.len()
    }

    /// The line of the calling thread.
    fn line(&self) -> &Line {
        let lines = &self.shared.lines;
        lines.get(LINE.get()).unwrap_or(&lines[0])
    }

    fn send<'a>(
        &self,
        room: usize,
        request: impl FnOnce(u64) -> Request<'a>,
    ) -> Result<PendingAnswer, LinkFailure> {
        let (sender, receiver) = oneshot::channel();
        let line = self.line();
        let mut outbox = line.outbox.lock();
        if !outbox.connected {
            return Err(LinkFailure::Away);
        }
        if outbox.waiting.len() >= room {
            return Err(LinkFailure::Busy);
        }
        let id = outbox.next_request;
        outbox.next_request += 1;
        request(id).encode(&mut outbox.bytes).map_err(|error| {
            // Evidence is bounded where it is made; a longer one is a mistake of ours.
            tracing::error!(%error, "a request that cannot be sent");
            LinkFailure::Busy
        })?;
        outbox.waiting.insert(id, sender);
        drop(outbox);
        line.wake.notify_one();
        let sent = Instant::now();
        Ok(PendingAnswer {
            answer: receiver,
            sent,
            due: sent + ENGINE_ANSWER,
        })
    }

    /// Keeps a line connected until `stop` says true, and makes it the one of this thread, which
    /// must be the only one that polls this; `gate` is that thread's. Never fails: an engine that is
    /// away comes back.
    pub(crate) async fn run(
        self,
        line: usize,
        gate: Arc<SignatureGate>,
        socket: PathBuf,
        role: Role,
        mut stop: watch::Receiver<bool>,
    ) {
        LINE.set(line);
        let line = &self.shared.lines[line];
        let mut pause = MIN_PAUSE;
        loop {
            let session = async {
                let stream = UnixStream::connect(&socket).await.map_err(Broken::Io)?;
                self.session(line, &gate, stream, role).await
            };
            let broken = tokio::select! {
                Err(broken) = session => broken,
                _ = stop.wait_for(|stop| *stop) => return self.disconnected(line),
            };
            if line.outbox.lock().connected {
                tracing::warn!(%broken, "lost the engine");
                pause = MIN_PAUSE;
            } else {
                tracing::debug!(%broken, "no engine yet");
            }
            self.disconnected(line);
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                _ = stop.wait_for(|stop| *stop) => return,
            }
            pause = (pause * 2).min(MAX_PAUSE);
        }
    }

    /// One connection, to its end.
    async fn session(
        &self,
        line: &Line,
        gate: &SignatureGate,
        stream: UnixStream,
        role: Role,
    ) -> Result<(), Broken> {
        let engine = stream.peer_cred().ok().and_then(|peer| peer.pid());
        (self.shared.engine).store(engine.unwrap_or_default(), Ordering::Relaxed);
        let (mut reader, mut writer) = stream.into_split();
        let mut hello = Vec::new();
        let name = format!("gateway {}", std::process::id());
        Request::Hello(Hello {
            version: PROTOCOL_VERSION,
            role,
            name: &name,
        })
        .encode(&mut hello)
        .expect("the name is shorter than its bound");
        writer.write_all(&hello).await.map_err(Broken::Io)?;
        let mut decoder = AnswerDecoder::new();
        tokio::select! {
            result = self.read(line, &mut reader, &mut decoder) => result,
            result = write(line, gate, &mut writer) => result,
        }
    }

    async fn read(
        &self,
        line: &Line,
        reader: &mut OwnedReadHalf,
        decoder: &mut AnswerDecoder,
    ) -> Result<(), Broken> {
        loop {
            reader.readable().await.map_err(Broken::Io)?;
            match reader.try_read(decoder.space()) {
                Ok(0) => return Err(Broken::Closed),
                Ok(count) => decoder.filled(count),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => continue,
                Err(error) => return Err(Broken::Io(error)),
            }
            while let Some(answer) = decoder.next_answer().map_err(Broken::Violation)? {
                self.take(line, answer)?;
            }
        }
    }

    fn take(&self, line: &Line, answer: Answer) -> Result<(), Broken> {
        let request = match &answer {
            Answer::Welcome(welcome) => {
                self.connected(line, *welcome);
                return Ok(());
            }
            Answer::Goodbye(goodbye) => return Err(Broken::Goodbye(*goodbye)),
            Answer::Reply(reply) => {
                let last = reply.sequence.max(reply.last_sequence);
                self.shared.acknowledged.fetch_max(last.0, Ordering::AcqRel);
                reply.request
            }
            Answer::Busy(busy) => busy.request,
            Answer::Heartbeat(answer) => answer.request,
            Answer::Status(status) => status.request,
            Answer::Snapshot(answer) => answer.request,
        };
        // Nobody waits any more when the client went away; that is no fault.
        if let Some(sender) = line.outbox.lock().waiting.remove(&request) {
            let _ = sender.send(Ok(answer));
        }
        Ok(())
    }

    fn connected(&self, line: &Line, welcome: Welcome) {
        let shared = &*self.shared;
        {
            let mut known = shared.known.lock();
            if known.genesis == welcome.genesis && known.epoch == welcome.epoch {
                // Another line may have heard more of this engine already.
                (shared.acknowledged).fetch_max(welcome.durable.0, Ordering::AcqRel);
            } else {
                // What an earlier engine acknowledged is durable now, or, below level `disk`, gone.
                (shared.acknowledged).store(welcome.durable.0, Ordering::Release);
            }
            *known = Known {
                genesis: welcome.genesis,
                epoch: welcome.epoch,
            };
        }
        line.outbox.lock().connected = true;
        let connected = shared.connected.fetch_add(1, Ordering::AcqRel) + 1;
        if connected == shared.lines.len() {
            shared.welcome.send_replace(Some(welcome));
        }
        tracing::info!(
            epoch = welcome.epoch,
            durable = welcome.durable.0,
            "connected to the engine"
        );
    }

    fn disconnected(&self, line: &Line) {
        let mut outbox = line.outbox.lock();
        if std::mem::take(&mut outbox.connected) {
            self.shared.connected.fetch_sub(1, Ordering::AcqRel);
        }
        self.shared.welcome.send_replace(None);
        outbox.bytes.clear();
        for (_, sender) in outbox.waiting.drain() {
            let _ = sender.send(Err(LinkFailure::Unknown));
        }
    }
}

/// Writes what is to be sent, all that came together at once.
async fn write(
    line: &Line,
    gate: &SignatureGate,
    writer: &mut OwnedWriteHalf,
) -> Result<(), Broken> {
    let mut bytes = Vec::new();
    loop {
        line.wake.notified().await;
        gather(gate).await;
        std::mem::swap(&mut bytes, &mut line.outbox.lock().bytes);
        writer.write_all(&bytes).await.map_err(Broken::Io)?;
        bytes.clear();
    }
}

/// Waits while orders are about to follow, up to [`GATHERING`] turns; with nobody at the gate not at
/// all.
async fn gather(gate: &SignatureGate) {
    for _ in 0..GATHERING {
        if !gate.is_busy() {
            return;
        }
        tokio::task::yield_now().await;
    }
}

/// Why a connection ended.
#[derive(Debug, Error)]
enum Broken {
    #[error("{0}")]
    Io(io::Error),
    #[error("the engine closed the connection")]
    Closed,
    #[error("the engine broke the protocol: {0}")]
    Violation(Violation),
    #[error("the engine said goodbye: {0:?}")]
    Goodbye(Goodbye),
}

#[cfg(test)]
mod tests {
    use super::*;
    use foretell_link::{Busy, Durability, RequestDecoder};
    use foretell_model::{FramePlace, OrderId, TimeNs, Verdict};
    use std::io::{Read, Write};
    use std::os::unix::net::{UnixListener, UnixStream as StdStream};
    use std::pin::pin;
    use std::task::{Context, Waker};

    /// The engine's end of one connection.
    struct FakeEngine {
        stream: StdStream,
        decoder: RequestDecoder,
    }

    impl FakeEngine {
        /// Accepts a gateway and greets it.
        fn accept(listener: &UnixListener, durable: u64) -> Self {
            let (stream, _) = listener.accept().unwrap();
            let mut engine = Self {
                stream,
                decoder: RequestDecoder::new(),
            };
            assert_eq!(engine.next(), "hello as Trading");
            engine.say(&Answer::Welcome(Welcome {
                epoch: 3,
                genesis: [7; 32],
                durable: Sequence(durable),
                durability: Durability::Disk,
                time: TimeNs(1),
            }));
            engine
        }

        fn say(&mut self, answer: &Answer) {
            let mut bytes = Vec::new();
            answer.encode(&mut bytes);
            self.stream.write_all(&bytes).unwrap();
        }

        /// The next request in words.
        fn next(&mut self) -> String {
            loop {
                match self.decoder.next_request().unwrap() {
                    Some(Request::Hello(hello)) => return format!("hello as {:?}", hello.role),
                    Some(Request::Submit(submit)) => {
                        return format!("{} {:?}", submit.request, submit.evidence);
                    }
                    Some(_) => return "something else".to_owned(),
                    None => {}
                }
                let count = self.stream.read(self.decoder.space()).unwrap();
                assert_ne!(count, 0, "the gateway went away");
                self.decoder.filled(count);
            }
        }

        fn reply(&mut self, request: u64, last: u64) {
            self.say(&Answer::Reply(Reply {
                request,
                verdict: Verdict::Refused(foretell_model::RefusalReason::NothingDue.into()),
                sequence: Sequence(last - 1),
                last_sequence: Sequence(last),
                epoch: 3,
                place: FramePlace::default(),
                timing: foretell_link::Timing::default(),
            }));
        }
    }

    fn cancel() -> Command {
        Command::CancelOrder {
            owner: AccountNumber(1),
            order: OrderId::ZERO,
        }
    }

    fn runtime() -> tokio::runtime::Runtime {
        tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap()
    }

    /// A link that keeps itself connected while `test` runs against it.
    fn with_link(test: impl AsyncFnOnce(EngineLink, UnixListener)) {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("engine.sock");
        let listener = UnixListener::bind(&socket).unwrap();
        runtime().block_on(async {
            let link = EngineLink::new(1);
            assert!(matches!(link.submit(cancel(), &[]), Err(LinkFailure::Away)));
            let (stop, stopping) = watch::channel(false);
            let gate = Arc::new(SignatureGate::new());
            let running = link.clone().run(0, gate, socket, Role::Trading, stopping);
            let running = tokio::spawn(running);
            test(link, listener).await;
            stop.send(true).unwrap();
            running.await.unwrap();
        });
    }

    /// Runs the engine's blocking end beside the link.
    async fn beside<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
        tokio::task::spawn_blocking(work).await.unwrap()
    }

    async fn connected(link: &EngineLink) {
        let mut welcome = link.shared.welcome.subscribe();
        welcome.wait_for(Option::is_some).await.unwrap();
    }

    #[test]
    fn requests_go_out_in_order_and_answers_find_their_way_back() {
        with_link(async |link, listener| {
            let mut engine = beside(move || FakeEngine::accept(&listener, 40)).await;
            connected(&link).await;
            assert_eq!(
                (link.acknowledged(), link.genesis()),
                (Sequence(40), [7; 32])
            );
            let first = link.submit(cancel(), &[1]).unwrap();
            let second = link.submit(cancel(), &[2]).unwrap();
            let third = link.submit(cancel(), &[3]).unwrap();
            let mut engine = beside(move || {
                assert_eq!(
                    [engine.next(), engine.next(), engine.next()],
                    ["0 [1]", "1 [2]", "2 [3]"]
                );
                engine.reply(1, 52);
                engine.say(&Answer::Busy(Busy {
                    request: 2,
                    reason: BusyReason::DiskLow,
                }));
                engine.reply(0, 51);
                engine
            })
            .await;
            assert_eq!(first.reply().await.unwrap().last_sequence, Sequence(51));
            assert_eq!(second.reply().await.unwrap().last_sequence, Sequence(52));
            assert_eq!(third.reply().await.unwrap_err(), LinkFailure::DiskLow);
            assert_eq!((link.acknowledged(), link.in_flight()), (Sequence(52), 0));
            // An answer nobody asked for is no reason to fall over.
            beside(move || engine.reply(99, 60)).await;
        });
    }

    #[test]
    fn what_was_under_way_at_a_disconnect_has_an_unknown_outcome() {
        with_link(async |link, listener| {
            let (mut engine, listener) =
                beside(move || (FakeEngine::accept(&listener, 1), listener)).await;
            connected(&link).await;
            let asked = link.submit(cancel(), &[]).unwrap();
            beside(move || drop((engine.next(), engine))).await;
            assert_eq!(asked.reply().await.unwrap_err(), LinkFailure::Unknown);
            assert!(matches!(link.submit(cancel(), &[]), Err(LinkFailure::Away)));
            // It comes back by itself.
            let _engine = beside(move || FakeEngine::accept(&listener, 2)).await;
            connected(&link).await;
            assert!(link.submit(cancel(), &[]).is_ok());
        });
    }

    #[test]
    fn an_answer_is_awaited_from_its_sending_and_taken_when_it_is_there() {
        runtime().block_on(async {
            let pending = || {
                let (sender, answer) = oneshot::channel();
                let due = Instant::now();
                let pending = PendingAnswer {
                    answer,
                    sent: due,
                    due,
                };
                (sender, pending)
            };
            let (_silent, late) = pending();
            assert_eq!(late.reply().await.unwrap_err(), LinkFailure::Unknown);
            let (sender, there) = pending();
            assert!(sender.send(Err(LinkFailure::Busy)).is_ok());
            assert_eq!(there.reply().await.unwrap_err(), LinkFailure::Busy);
        });
    }

    #[test]
    fn what_is_to_be_sent_waits_a_few_turns_for_orders_being_checked() {
        let cx = &mut Context::from_waker(Waker::noop());
        let gate = SignatureGate::new();
        assert!(pin!(gather(&gate)).poll(cx).is_ready(), "nobody is there");
        let mut check = Box::pin(gate.run(|| ()));
        assert!(check.as_mut().poll(cx).is_pending(), "others have a turn");
        let mut gathering = Box::pin(gather(&gate));
        for _ in 0..GATHERING {
            assert!(gathering.as_mut().poll(cx).is_pending());
        }
        assert!(gathering.as_mut().poll(cx).is_ready(), "long enough");
        let mut gathering = Box::pin(gather(&gate));
        assert!(gathering.as_mut().poll(cx).is_pending());
        drop(check);
        assert!(gathering.as_mut().poll(cx).is_ready(), "nobody any more");
    }

    #[test]
    fn an_eighth_of_the_room_is_kept_for_cancels() {
        with_link(async |link, listener| {
            let _engine = beside(move || FakeEngine::accept(&listener, 1)).await;
            connected(&link).await;
            let other = || Command::AdvanceTime;
            let kept: Vec<_> = (0..MAX_IN_FLIGHT - MAX_IN_FLIGHT / FOR_CANCELS)
                .map(|_| link.submit(other(), &[]).unwrap())
                .collect();
            assert!(matches!(link.submit(other(), &[]), Err(LinkFailure::Busy)));
            let cancels: Vec<_> = (0..MAX_IN_FLIGHT / FOR_CANCELS)
                .map(|_| link.submit(cancel(), &[]).unwrap())
                .collect();
            assert!(matches!(link.submit(cancel(), &[]), Err(LinkFailure::Busy)));
            drop((kept, cancels));
        });
    }

    #[test]
    fn each_thread_has_a_line_of_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("engine.sock");
        let listener = UnixListener::bind(&socket).unwrap();
        let link = EngineLink::new(2);
        let threads = [0, 1].map(|line| {
            let (link, socket) = (link.clone(), socket.clone());
            std::thread::spawn(move || {
                runtime().block_on(async {
                    let (stop, stopping) = watch::channel(false);
                    let gate = Arc::new(SignatureGate::new());
                    let running = link
                        .clone()
                        .run(line, gate, socket, Role::Trading, stopping);
                    let running = tokio::spawn(running);
                    // The other's line may be connected before this thread has one.
                    while LINE.get() != line || !link.line().outbox.lock().connected {
                        tokio::task::yield_now().await;
                    }
                    let asked = link.submit(cancel(), &[7]).unwrap();
                    let told = asked.reply().await.unwrap().last_sequence;
                    stop.send_replace(true);
                    running.await.unwrap();
                    told
                })
            })
        });
        let mut engines = [40, 41].map(|durable| FakeEngine::accept(&listener, durable));
        // Each has one of the two requests, and both are the first of their line.
        for (engine, last) in engines.iter_mut().zip([52, 51]) {
            assert_eq!(engine.next(), "0 [7]");
            engine.reply(0, last);
        }
        let mut told = threads.map(|thread| thread.join().unwrap());
        told.sort_unstable();
        assert_eq!(told, [Sequence(51), Sequence(52)]);
        assert_eq!(link.acknowledged(), Sequence(52));
        assert_eq!(link.welcome(), None);
    }
}
