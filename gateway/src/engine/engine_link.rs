//! Connections of this process to the engine: requests out, answers back to their callers.
//!
//! Each server thread has a connection of its own and drives it between its requests, so that
//! neither an order nor its answer crosses threads. A request is encoded directly into the output
//! buffer under a short lock, so requests of one caller reach the engine in call order. One task
//! writes and reads. Requests in flight when the connection breaks have an unknown outcome, and the
//! caller gets that error.

mod connection;
mod pending;

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use foretell_link::{
    Answer, ClockState, Heartbeat, HeartbeatAnswer, HeartbeatId, Replace, Reply, Request,
    SnapshotResult, Status, Submit, TooLong, Welcome,
};
use foretell_model::evidence::ActEvidence;
use foretell_model::{AccountNumber, Command, OperatorNumber, Sequence, TimeNs};
use parking_lot::Mutex;
use tokio::sync::{Notify, watch};
use tokio::time::Instant;

use self::pending::Outbox;
pub(crate) use self::pending::{LinkError, PendingAnswer};
use crate::engine::engine_clock::EngineClock;
use crate::policy::limits::{ENGINE_ANSWER, MAX_IN_FLIGHT, SNAPSHOT_ANSWER};

/// Pause between two questions for the engine's time.
const TIME_PAUSE: Duration = Duration::from_secs(1);
/// The part of a connection's in-flight limit reserved for cancels: an eighth.
const CANCEL_SHARE: usize = 8;

thread_local! {
    /// The connection index of this thread; threads without one use the first.
    static THREAD_LINK: Cell<usize> = const { Cell::new(0) };
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
        self.send(self.limit_for(command.is_cancel()), |request| {
            Request::Submit(Submit {
                request,
                operator: OperatorNumber::NONE,
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
        self.send(self.limit_for(false), |request| {
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
        let limit = self.limit_for(only_cancels);
        let mut buffer = Vec::new();
        self.send_all(commands.len(), limit, |request, out| {
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
            other => Err(pending::unexpected(&other)),
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
            other => Err(pending::unexpected(&other)),
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
            other => Err(pending::unexpected(&other)),
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

    /// Most requests in flight for a message of cancels alone, or for another command.
    fn limit_for(&self, only_cancels: bool) -> usize {
        let limit = self.in_flight_limit();
        let reserved = if only_cancels {
            0
        } else {
            limit / CANCEL_SHARE
        };
        limit - reserved
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
                let (pending, sender) = PendingAnswer::new(sent, ENGINE_ANSWER);
                outbox.waiting.insert(request, sender);
                pending
            })
            .collect();
        drop(outbox);
        link.wake.notify_one();
        Ok(pending)
    }
}

#[cfg(test)]
mod tests {
    use foretell_model::command::CancelOrder;

    use super::*;
    use crate::access::signature_gate::SignatureGate;
    use foretell_link::{Busy, BusyReason, RequestDecoder, Role};
    use foretell_model::{Durability, FramePosition, OrderId, Verdict};
    use std::io::{Read, Write};
    use std::os::unix::net::{UnixListener, UnixStream};

    /// The engine's end of one connection.
    struct FakeEngine {
        stream: UnixStream,
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
            let pending = || PendingAnswer::new(Instant::now(), Duration::ZERO);
            let (late, _silent) = pending();
            assert_eq!(late.reply().await.unwrap_err(), LinkError::OutcomeUnknown);
            let (there, sender) = pending();
            assert!(sender.send(Err(LinkError::Busy)).is_ok());
            assert_eq!(there.reply().await.unwrap_err(), LinkError::Busy);
        });
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
