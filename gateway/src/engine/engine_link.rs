//! Connections of this process to the engine: requests out, answers back to their callers.
//!
//! Each server thread has a connection of its own and drives it between its requests, so that
//! neither an order nor its answer crosses threads. A request is encoded directly into the output
//! buffer under a short lock, so requests of one caller reach the engine in call order. One task
//! writes and reads. Requests in flight when the connection breaks have an unknown outcome, and the
//! caller gets that error.

use std::cell::Cell;
use std::collections::HashMap;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use foretell_link::{
    Answer, AnswerDecoder, BusyReason, ClockState, Goodbye, Heartbeat, HeartbeatAnswer,
    HeartbeatId, Hello, PROTOCOL_VERSION, Replace, Reply, Request, Role, SnapshotResult, Status,
    Submit, TooLong, Violation, Welcome,
};
use foretell_model::evidence::ActEvidence;
use foretell_model::{AccountNumber, Command, OperatorNumber, Sequence, TimeNs};
use foretell_wire::ErrorCode;
use parking_lot::Mutex;
use thiserror::Error;
use tokio::io::AsyncWriteExt;
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::{Notify, oneshot, watch};
use tokio::time::Instant;

use crate::access::signature_gate::SignatureGate;
use crate::engine::engine_clock::EngineClock;
use crate::policy::limits::{ENGINE_ANSWER, MAX_IN_FLIGHT, SNAPSHOT_ANSWER};
use crate::policy::rate_limits::JournalCharge;

/// First pause after a connection failure; it doubles up to [`MAX_PAUSE`].
const MIN_PAUSE: Duration = Duration::from_millis(20);
/// Longest pause between two attempts: a host that takes over accepts orders this soon.
const MAX_PAUSE: Duration = Duration::from_millis(200);
/// Pause between two questions for the engine's time.
const TIME_PAUSE: Duration = Duration::from_secs(1);
/// The part of a connection's in-flight limit reserved for cancels: an eighth.
const CANCEL_SHARE: usize = 8;
/// Task switches, each with one signature check, for which queued requests wait for further orders:
/// about 250 µs. Each wake-up of the engine takes CPU time from those checks, and a sync takes as
/// long.
const COALESCE_TURNS: u32 = 6;

thread_local! {
    /// The connection index of this thread; threads without one use the first.
    static THREAD_LINK: Cell<usize> = const { Cell::new(0) };
}

/// Why there is no answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub(crate) enum LinkError {
    /// No connection; nothing was sent.
    #[error("engine unavailable")]
    Unavailable,
    /// Too many requests in flight, here or in the engine; nothing was done.
    #[error("busy")]
    Busy,
    /// The disk is nearly full: only cancels are accepted; nothing was done.
    #[error("disk nearly full")]
    DiskLow,
    /// The request was sent; its outcome is unknown.
    #[error("outcome unknown")]
    OutcomeUnknown,
}

impl LinkError {
    /// The error that a client gets.
    pub(crate) const fn code(self) -> ErrorCode {
        match self {
            Self::Unavailable => ErrorCode::EngineUnavailable,
            Self::Busy => ErrorCode::Busy,
            Self::DiskLow => ErrorCode::DiskLow,
            Self::OutcomeUnknown => ErrorCode::OutcomeUnknown,
        }
    }
}

/// A handle for use from any thread.
#[derive(Clone)]
pub(crate) struct EngineLink {
    shared: Arc<Shared>,
}

struct Shared {
    /// One for each server thread.
    links: Box<[ThreadLink]>,
    connected: AtomicUsize,
    welcome: watch::Sender<Option<Welcome>>,
    acknowledged: AtomicU64,
    /// Process id of the peer of the newest connection; 0 when unknown.
    engine: AtomicI32,
    known: Mutex<KnownEngine>,
    clock: EngineClock,
}

/// The engine that acknowledged, from its last welcome message; zeros before the first.
#[derive(Clone, Copy, Default)]
struct KnownEngine {
    genesis: [u8; 32],
    epoch: u64,
}

/// A connection, established or not.
#[derive(Default)]
struct ThreadLink {
    outbox: Mutex<Outbox>,
    /// Signals that there are bytes to write.
    wake: Notify,
}

/// Queued bytes and waiting callers of the current connection.
#[derive(Default)]
struct Outbox {
    connected: bool,
    next_request: u64,
    bytes: Vec<u8>,
    waiting: HashMap<u64, Waiting>,
    /// Number of commands of each replace, by its first request: one busy answer is for all.
    groups: HashMap<u64, u64>,
}

impl Outbox {
    /// The caller of an answered request. The other commands of a rejected replace have no answer
    /// of their own: their callers get the error here.
    fn answered(&mut self, request: u64, answer: &Answer) -> Option<Waiting> {
        if let Some(count) = self.groups.remove(&request)
            && matches!(answer, Answer::Busy(_))
        {
            for other in request + 1..request + count {
                if let Some(sender) = self.waiting.remove(&other) {
                    let _ = sender.send(Err(unexpected(answer)));
                }
            }
        }
        self.waiting.remove(&request)
    }
}

/// Where the answer to a request goes.
type Waiting = oneshot::Sender<Result<Answer, LinkError>>;

pub(crate) struct PendingAnswer {
    /// What was charged for the command.
    pub(crate) charge: Option<JournalCharge>,
    answer: oneshot::Receiver<Result<Answer, LinkError>>,
    sent: Instant,
    /// Measured from sending, so that requests sent together expire together.
    due: Instant,
}

impl PendingAnswer {
    async fn answer(self) -> Result<Answer, LinkError> {
        match tokio::time::timeout_at(self.due, self.answer).await {
            Ok(Ok(answer)) => answer,
            Ok(Err(_)) | Err(_) => Err(LinkError::OutcomeUnknown),
        }
    }

    /// Notes what was charged for its command.
    pub(crate) fn charged(self, charge: Option<JournalCharge>) -> Self {
        Self { charge, ..self }
    }

    pub(crate) fn sent(&self) -> std::time::Instant {
        self.sent.into_std()
    }

    /// The exchange's answer to a command.
    ///
    /// # Errors
    /// [`LinkError`].
    pub(crate) async fn reply(self) -> Result<Reply, LinkError> {
        match self.answer().await? {
            Answer::Reply(reply) => Ok(reply),
            other => Err(unexpected(&other)),
        }
    }
}

/// The error for an answer of a kind that does not fit the request.
fn unexpected(answer: &Answer) -> LinkError {
    match answer {
        Answer::Busy(busy) => match busy.reason {
            BusyReason::RingFull => LinkError::Busy,
            BusyReason::DiskLow => LinkError::DiskLow,
            BusyReason::Stopping => LinkError::Unavailable,
        },
        _ => {
            tracing::error!("engine sent an unexpected response");
            LinkError::OutcomeUnknown
        }
    }
}

impl EngineLink {
    /// Creates the connections, at least one; [`Self::run`] connects each.
    #[must_use]
    pub(crate) fn new(links: usize) -> Self {
        Self {
            shared: Arc::new(Shared {
                links: (0..links.max(1)).map(|_| ThreadLink::default()).collect(),
                connected: AtomicUsize::new(0),
                welcome: watch::Sender::new(None),
                acknowledged: AtomicU64::new(0),
                engine: AtomicI32::new(0),
                known: Mutex::default(),
                clock: EngineClock::default(),
            }),
        }
    }

    /// Sends a command. Commands of one thread are applied in the order of its calls.
    ///
    /// # Errors
    /// [`LinkError::Unavailable`] or [`LinkError::Busy`]; then nothing was sent.
    pub(crate) fn submit(
        &self,
        command: Command,
        evidence: &[u8],
    ) -> Result<PendingAnswer, LinkError> {
        let limit = self.in_flight_limit();
        let reserved = if command.is_cancel() {
            0
        } else {
            limit / CANCEL_SHARE
        };
        self.send(limit - reserved, |request| {
            Request::Submit(Submit {
                request,
                operator: foretell_model::OperatorNumber::NONE,
                command,
                evidence,
            })
        })
    }

    /// Sends a command of an operator with its tail, its reason and its evidence, on an operator's link.
    ///
    /// # Errors
    /// [`LinkError::Unavailable`] or [`LinkError::Busy`]; then nothing was sent.
    pub(crate) fn submit_as(
        &self,
        (operator, reason): (OperatorNumber, &str),
        command: Command,
        mut beside: Vec<u8>,
        own: &[u8],
    ) -> Result<PendingAnswer, LinkError> {
        beside.reserve(2 + reason.len() + own.len());
        ActEvidence { reason, own }.encode(&mut beside);
        let limit = self.in_flight_limit();
        self.send(limit - limit / CANCEL_SHARE, |request| {
            Request::Submit(Submit {
                request,
                operator,
                command,
                evidence: &beside,
            })
        })
    }

    /// Sends the commands of a replace, which are applied next to each other or not at all: cancels
    /// by id, then orders. There is an answer for each.
    ///
    /// # Errors
    /// [`LinkError::Unavailable`] or [`LinkError::Busy`]; then nothing was sent.
    pub(crate) fn replace(
        &self,
        if_all_canceled: bool,
        commands: &[(Command, &[u8])],
    ) -> Result<Vec<PendingAnswer>, LinkError> {
        let only_cancels = commands.iter().all(|(command, _)| command.is_cancel());
        let limit = self.in_flight_limit();
        let reserved = if only_cancels {
            0
        } else {
            limit / CANCEL_SHARE
        };
        let mut buffer = Vec::new();
        self.send_all(commands.len(), limit - reserved, |request, out| {
            let replace = Replace::new(request, if_all_canceled, commands, &mut buffer)?;
            Request::Replace(replace).encode(out)
        })
    }

    /// Forwards an owner's heartbeat.
    ///
    /// # Errors
    /// [`LinkError`]. The inner error is the exchange's rejection.
    pub(crate) async fn heartbeat(
        &self,
        owner: AccountNumber,
        id: HeartbeatId,
    ) -> Result<Result<HeartbeatAnswer, Reply>, LinkError> {
        let beat = |request| Request::Heartbeat(Heartbeat { request, owner, id });
        match self.send(self.in_flight_limit(), beat)?.answer().await? {
            Answer::Heartbeat(answer) => Ok(Ok(answer)),
            Answer::Reply(reply) => Ok(Err(reply)),
            other => Err(unexpected(&other)),
        }
    }

    /// Requests the status of the engine process.
    ///
    /// # Errors
    /// [`LinkError`].
    pub(crate) async fn status(&self) -> Result<Box<Status>, LinkError> {
        match self
            .send(self.in_flight_limit(), |request| Request::Status {
                request,
            })?
            .answer()
            .await?
        {
            Answer::Status(status) => Ok(status),
            other => Err(unexpected(&other)),
        }
    }

    /// Requests a snapshot of everything that is durable now. Only an operator's link may.
    ///
    /// # Errors
    /// [`LinkError`]; [`LinkError::OutcomeUnknown`] also after [`SNAPSHOT_ANSWER`] without an
    /// answer.
    pub(crate) async fn snapshot(&self) -> Result<SnapshotResult, LinkError> {
        let mut asked = self.send(self.in_flight_limit(), |request| Request::Snapshot {
            request,
        })?;
        asked.due = Instant::now() + SNAPSHOT_ANSWER;
        match asked.answer().await? {
            Answer::Snapshot(answer) => Ok(answer.result),
            other => Err(unexpected(&other)),
        }
    }

    /// The newest welcome message; `None` unless all connections are established.
    #[must_use]
    pub(crate) fn welcome(&self) -> Option<Welcome> {
        *self.shared.welcome.borrow()
    }

    /// Notified when the engine becomes unavailable or is back.
    pub(crate) fn watch_welcome(&self) -> watch::Receiver<Option<Welcome>> {
        self.shared.welcome.subscribe()
    }

    /// Process id of the connected engine.
    #[must_use]
    pub(crate) fn engine_process(&self) -> Option<i32> {
        let process = self.shared.engine.load(Ordering::Relaxed);
        (process > 0 && self.welcome().is_some()).then_some(process)
    }

    /// The journal's genesis hash from the last welcome message; zero before the first.
    #[must_use]
    pub(crate) fn genesis(&self) -> [u8; 32] {
        self.shared.known.lock().genesis
    }

    /// Highest sequence that an answer of this process has named; reads wait until the view covers
    /// it.
    #[must_use]
    pub(crate) fn acknowledged(&self) -> Sequence {
        Sequence(self.shared.acknowledged.load(Ordering::Acquire))
    }

    /// As [`EngineClock::read`].
    #[must_use]
    pub(crate) fn time(&self) -> Option<(TimeNs, ClockState)> {
        self.shared.clock.read()
    }

    /// Asks for engine time now and then, on the connection of this thread. Never ends.
    pub(crate) async fn ask_time(&self) {
        loop {
            // The answer is noted where it arrives.
            let _ = self.status().await;
            tokio::time::sleep(TIME_PAUSE).await;
        }
    }

    /// Requests in flight.
    #[must_use]
    pub(crate) fn in_flight(&self) -> usize {
        let links = self.shared.links.iter();
        links.map(|link| link.outbox.lock().waiting.len()).sum()
    }

    fn in_flight_limit(&self) -> usize {
        MAX_IN_FLIGHT / self.shared.links.len()
    }

    /// The connection of the calling thread.
    fn link(&self) -> &ThreadLink {
        let links = &self.shared.links;
        links.get(THREAD_LINK.get()).unwrap_or(&links[0])
    }

    fn send<'a>(
        &self,
        limit: usize,
        request: impl FnOnce(u64) -> Request<'a>,
    ) -> Result<PendingAnswer, LinkError> {
        let pending = self.send_all(1, limit, |id, out| request(id).encode(out))?;
        pending.into_iter().next().ok_or(LinkError::Busy)
    }

    /// Sends one message that has `count` answers; their request ids follow each other.
    fn send_all(
        &self,
        count: usize,
        limit: usize,
        encode: impl FnOnce(u64, &mut Vec<u8>) -> Result<(), TooLong>,
    ) -> Result<Vec<PendingAnswer>, LinkError> {
        let link = self.link();
        let mut outbox = link.outbox.lock();
        if !outbox.connected {
            return Err(LinkError::Unavailable);
        }
        if outbox.waiting.len() + count > limit {
            return Err(LinkError::Busy);
        }
        let first = outbox.next_request;
        encode(first, &mut outbox.bytes).map_err(|error| {
            // Evidence is bounded where it is created, so this is a bug.
            tracing::error!(%error, "cannot encode request");
            LinkError::Busy
        })?;
        let end = first + count as u64;
        outbox.next_request = end;
        if count > 1 {
            outbox.groups.insert(first, count as u64);
        }
        let sent = Instant::now();
        let pending = (first..end)
            .map(|request| {
                let (sender, answer) = oneshot::channel();
                outbox.waiting.insert(request, sender);
                PendingAnswer {
                    charge: None,
                    answer,
                    sent,
                    due: sent + ENGINE_ANSWER,
                }
            })
            .collect();
        drop(outbox);
        link.wake.notify_one();
        Ok(pending)
    }

    /// Keeps a connection established until `stop` is true, and assigns it to this thread, which
    /// alone may poll this; `gate` is the thread's own. It never fails: it reconnects to an engine
    /// that is unavailable.
    pub(crate) async fn run(
        self,
        link: usize,
        gate: Arc<SignatureGate>,
        socket: PathBuf,
        role: Role,
        mut stop: watch::Receiver<bool>,
    ) {
        THREAD_LINK.set(link);
        let link = &self.shared.links[link];
        let mut pause = MIN_PAUSE;
        loop {
            let session = async {
                let stream = UnixStream::connect(&socket)
                    .await
                    .map_err(ConnectionError::Io)?;
                self.session(link, &gate, stream, role).await
            };
            let error = tokio::select! {
                Err(error) = session => error,
                _ = stop.wait_for(|stop| *stop) => return self.disconnected(link),
            };
            if link.outbox.lock().connected {
                tracing::warn!(broken = %error, "engine connection lost");
                pause = MIN_PAUSE;
            } else {
                tracing::debug!(broken = %error, "engine connection failed");
            }
            self.disconnected(link);
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                _ = stop.wait_for(|stop| *stop) => return,
            }
            pause = (pause * 2).min(MAX_PAUSE);
        }
    }

    /// Runs one connection to its end.
    async fn session(
        &self,
        link: &ThreadLink,
        gate: &SignatureGate,
        stream: UnixStream,
        role: Role,
    ) -> Result<(), ConnectionError> {
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
        writer
            .write_all(&hello)
            .await
            .map_err(ConnectionError::Io)?;
        let mut decoder = AnswerDecoder::new();
        tokio::select! {
            result = self.read(link, &mut reader, &mut decoder) => result,
            result = write(link, gate, &mut writer) => result,
        }
    }

    async fn read(
        &self,
        link: &ThreadLink,
        reader: &mut OwnedReadHalf,
        decoder: &mut AnswerDecoder,
    ) -> Result<(), ConnectionError> {
        loop {
            reader.readable().await.map_err(ConnectionError::Io)?;
            match reader.try_read(decoder.space()) {
                Ok(0) => return Err(ConnectionError::Closed),
                Ok(count) => decoder.filled(count),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => continue,
                Err(error) => return Err(ConnectionError::Io(error)),
            }
            while let Some(answer) = decoder.next_answer().map_err(ConnectionError::Violation)? {
                self.deliver(link, answer)?;
            }
        }
    }

    fn deliver(&self, link: &ThreadLink, answer: Answer) -> Result<(), ConnectionError> {
        let request = match &answer {
            Answer::Welcome(welcome) => {
                self.connected(link, *welcome);
                return Ok(());
            }
            Answer::Goodbye(goodbye) => return Err(ConnectionError::Goodbye(*goodbye)),
            Answer::Reply(reply) => {
                let last = reply.sequence.max(reply.last_sequence);
                self.shared.acknowledged.fetch_max(last.0, Ordering::AcqRel);
                reply.request
            }
            Answer::Busy(busy) => busy.request,
            Answer::Heartbeat(answer) => answer.request,
            Answer::Status(status) => {
                self.shared.clock.note(status.time, status.clock);
                status.request
            }
            Answer::Snapshot(answer) => answer.request,
        };
        // The caller is gone when its client disconnected; that is no error.
        if let Some(sender) = link.outbox.lock().answered(request, &answer) {
            let _ = sender.send(Ok(answer));
        }
        Ok(())
    }

    fn connected(&self, link: &ThreadLink, welcome: Welcome) {
        let shared = &*self.shared;
        // A welcome tells no state: the first answer does, within a second.
        let state = self.time().map_or(ClockState::Right, |(_, state)| state);
        self.shared.clock.note(welcome.time, state);
        {
            let mut known = shared.known.lock();
            if known.genesis == welcome.genesis && known.epoch == welcome.epoch {
                // Another connection may have received a higher sequence of this engine.
                (shared.acknowledged).fetch_max(welcome.durable.0, Ordering::AcqRel);
            } else {
                // Everything an earlier engine acknowledged is durable now, or lost (below level
                // `disk`).
                (shared.acknowledged).store(welcome.durable.0, Ordering::Release);
            }
            *known = KnownEngine {
                genesis: welcome.genesis,
                epoch: welcome.epoch,
            };
        }
        link.outbox.lock().connected = true;
        let connected = shared.connected.fetch_add(1, Ordering::AcqRel) + 1;
        if connected == shared.links.len() {
            shared.welcome.send_replace(Some(welcome));
        }
        tracing::info!(
            epoch = welcome.epoch,
            durable = welcome.durable.0,
            "engine connected"
        );
    }

    fn disconnected(&self, link: &ThreadLink) {
        let mut outbox = link.outbox.lock();
        if std::mem::take(&mut outbox.connected) {
            self.shared.connected.fetch_sub(1, Ordering::AcqRel);
        }
        self.shared.welcome.send_replace(None);
        outbox.bytes.clear();
        outbox.groups.clear();
        for (_, sender) in outbox.waiting.drain() {
            let _ = sender.send(Err(LinkError::OutcomeUnknown));
        }
    }
}

/// Writes all queued bytes at once.
async fn write(
    link: &ThreadLink,
    gate: &SignatureGate,
    writer: &mut OwnedWriteHalf,
) -> Result<(), ConnectionError> {
    let mut bytes = Vec::new();
    loop {
        link.wake.notified().await;
        coalesce(gate).await;
        std::mem::swap(&mut bytes, &mut link.outbox.lock().bytes);
        writer
            .write_all(&bytes)
            .await
            .map_err(ConnectionError::Io)?;
        bytes.clear();
    }
}

/// Waits up to [`COALESCE_TURNS`] task switches while signature checks are in progress; else not at
/// all.
async fn coalesce(gate: &SignatureGate) {
    for _ in 0..COALESCE_TURNS {
        if !gate.is_busy() {
            return;
        }
        tokio::task::yield_now().await;
    }
}

/// Why a connection ended.
#[derive(Debug, Error)]
enum ConnectionError {
    #[error("{0}")]
    Io(io::Error),
    #[error("engine closed the connection")]
    Closed,
    #[error("engine violated the protocol: {0}")]
    Violation(Violation),
    #[error("engine ended the connection: {0:?}")]
    Goodbye(Goodbye),
}

#[cfg(test)]
mod tests {
    use foretell_model::command::CancelOrder;

    use super::*;
    use foretell_link::{Busy, RequestDecoder};
    use foretell_model::{Durability, FramePosition, OrderId, TimeNs, Verdict};
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

        /// The next request as text.
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
                verdict: Verdict::Rejected(foretell_model::RejectionReason::NothingDue.into()),
                sequence: Sequence(last - 1),
                last_sequence: Sequence(last),
                epoch: 3,
                place: FramePosition::default(),
                timing: foretell_link::Timing::default(),
            }));
        }
    }

    fn cancel() -> Command {
        Command::CancelOrder(CancelOrder {
            owner: AccountNumber(1),
            order: OrderId::ZERO,
        })
    }

    fn runtime() -> tokio::runtime::Runtime {
        tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap()
    }

    /// Runs `test` with a link that stays connected meanwhile.
    fn with_link(test: impl AsyncFnOnce(EngineLink, UnixListener)) {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("engine.sock");
        let listener = UnixListener::bind(&socket).unwrap();
        runtime().block_on(async {
            let link = EngineLink::new(1);
            assert!(matches!(
                link.submit(cancel(), &[]),
                Err(LinkError::Unavailable)
            ));
            let (stop, stopping) = watch::channel(false);
            let gate = Arc::new(SignatureGate::new());
            let running = link.clone().run(0, gate, socket, Role::Trading, stopping);
            let running = tokio::spawn(running);
            test(link, listener).await;
            stop.send(true).unwrap();
            running.await.unwrap();
        });
    }

    /// Runs the engine's blocking side on another thread.
    async fn beside<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
        tokio::task::spawn_blocking(work).await.unwrap()
    }

    async fn connected(link: &EngineLink) {
        let mut welcome = link.shared.welcome.subscribe();
        welcome.wait_for(Option::is_some).await.unwrap();
    }

    #[test]
    fn engine_time_is_that_of_the_newest_word_and_goes_on() {
        with_link(async |link, listener| {
            assert!(link.time().is_none(), "before an engine was connected");
            let _engine = beside(move || FakeEngine::accept(&listener, 40)).await;
            connected(&link).await;
            let (first, state) = link.time().unwrap();
            assert_eq!((first >= TimeNs(1), state), (true, ClockState::Right));
            tokio::time::sleep(Duration::from_millis(2)).await;
            assert!(link.time().unwrap().0 > first);
        });
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
            assert_eq!(third.reply().await.unwrap_err(), LinkError::DiskLow);
            assert_eq!((link.acknowledged(), link.in_flight()), (Sequence(52), 0));
            // An unsolicited answer is ignored.
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
            assert_eq!(asked.reply().await.unwrap_err(), LinkError::OutcomeUnknown);
            assert!(matches!(
                link.submit(cancel(), &[]),
                Err(LinkError::Unavailable)
            ));
            // The link reconnects on its own.
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
                    charge: None,
                    answer,
                    sent: due,
                    due,
                };
                (sender, pending)
            };
            let (_silent, late) = pending();
            assert_eq!(late.reply().await.unwrap_err(), LinkError::OutcomeUnknown);
            let (sender, there) = pending();
            assert!(sender.send(Err(LinkError::Busy)).is_ok());
            assert_eq!(there.reply().await.unwrap_err(), LinkError::Busy);
        });
    }

    #[test]
    fn what_is_to_be_sent_waits_a_few_turns_for_orders_being_checked() {
        let cx = &mut Context::from_waker(Waker::noop());
        let gate = SignatureGate::new();
        assert!(pin!(coalesce(&gate)).poll(cx).is_ready(), "nobody is there");
        let mut check = Box::pin(gate.run(|| ()));
        assert!(check.as_mut().poll(cx).is_pending(), "others have a turn");
        let mut gathering = Box::pin(coalesce(&gate));
        for _ in 0..COALESCE_TURNS {
            assert!(gathering.as_mut().poll(cx).is_pending());
        }
        assert!(gathering.as_mut().poll(cx).is_ready(), "long enough");
        let mut gathering = Box::pin(coalesce(&gate));
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
            let kept: Vec<_> = (0..MAX_IN_FLIGHT - MAX_IN_FLIGHT / CANCEL_SHARE)
                .map(|_| link.submit(other(), &[]).unwrap())
                .collect();
            assert!(matches!(link.submit(other(), &[]), Err(LinkError::Busy)));
            let cancels: Vec<_> = (0..MAX_IN_FLIGHT / CANCEL_SHARE)
                .map(|_| link.submit(cancel(), &[]).unwrap())
                .collect();
            assert!(matches!(link.submit(cancel(), &[]), Err(LinkError::Busy)));
            drop((kept, cancels));
        });
    }

    #[test]
    fn each_thread_has_a_line_of_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("engine.sock");
        let listener = UnixListener::bind(&socket).unwrap();
        let link = EngineLink::new(2);
        let threads = [0, 1].map(|index| {
            let (link, socket) = (link.clone(), socket.clone());
            std::thread::spawn(move || {
                runtime().block_on(async {
                    let (stop, stopping) = watch::channel(false);
                    let gate = Arc::new(SignatureGate::new());
                    let running = link
                        .clone()
                        .run(index, gate, socket, Role::Trading, stopping);
                    let running = tokio::spawn(running);
                    // The other connection may be established before this thread has one.
                    while THREAD_LINK.get() != index || !link.link().outbox.lock().connected {
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
        // Each connection has one of the two requests, and both have its first id.
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
