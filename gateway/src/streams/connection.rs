//! The task of one stream connection: reads requests, writes what waits in its outbox, ends.

mod cancel_on_disconnect;
pub(crate) mod close;
pub(crate) mod keep_alive;
pub(crate) mod outbox;
pub(crate) mod session;
pub(crate) mod upgrade;
pub(crate) mod websocket;

use std::collections::VecDeque;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use foretell_wire::ApiError;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};

use crate::app::App;
use crate::http::body::BodyPermit;
use crate::http::connections::client_quotas::Client;
use crate::http::connections::connection::{Activity, ConnectionState};
use crate::http::surface::Surface;
use crate::policy::limits::{FREE_BODY_BYTES, STREAM_CLOSE_WAIT, STREAM_READ_BYTES};
use crate::policy::work::WorkAccount;
use crate::streams::connection::close::Close;
use crate::streams::connection::outbox::{Outbox, Written};
use crate::streams::connection::session::{Interrupt, Session, Waited};
use crate::streams::connection::upgrade::UpgradeTicket;
use crate::streams::connection::websocket::{ClientMessage, pong_frame};
use crate::streams::fan_out::Hub;
use crate::streams::fan_out::input::{Asked, Input, Text};
use crate::streams::fan_out::replay_thread::read_journal;
use crate::streams::render::text_frame::text_frame;
use crate::streams::subscription::member::MemberId;

/// The shared state that a stream connection uses.
#[derive(Clone)]
pub(crate) struct StreamContext {
    pub(crate) app: Arc<App>,
    pub(crate) hub: Arc<Hub>,
}

/// A future that ends when the client's work may go on.
type Turn = Pin<Box<dyn Future<Output = ()> + Send>>;
/// A future of a request that waits.
type Waiting = Pin<Box<dyn Future<Output = Waited> + Send>>;

/// A stream connection.
struct Connection<S> {
    context: StreamContext,
    id: MemberId,
    client: Client,
    account: Arc<WorkAccount>,
    /// Runs until it is the turn of an account in debt.
    turn: Option<Turn>,
    activity: Arc<Activity>,
    stream: S,
    input: Input,
    /// Requests read and not yet applied.
    asked: VecDeque<Asked>,
    /// Counts a long message, and its requests until they are applied.
    permit: Option<BodyPermit>,
    /// What the first of `asked` waits for.
    waiting: Option<Waiting>,
    /// Runs until the client's rate admits its next message.
    pause: Option<Pin<Box<Sleep>>>,
    /// Runs while the connection ends.
    ending: Option<Pin<Box<Sleep>>>,
    /// Whether the client has closed, too.
    peer_closed: bool,
    written: Written,
}

/// Serves an upgraded connection until it ends.
pub(crate) async fn serve<S: AsyncRead + AsyncWrite + Unpin>(
    context: StreamContext,
    ticket: UpgradeTicket,
    activity: Arc<Activity>,
    stream: S,
    early: Vec<u8>,
) {
    let hub = Arc::clone(&context.hub);
    // A view that was just published must not end this connection.
    let _ = hub.pass(&context.app.stream_ring);
    let unread = Arc::clone(&context.app.bounds.of(Surface::Trading).unread);
    let id = hub.join(Outbox::new(ticket.client, unread), ticket.channel);
    let leave = Leave(Arc::clone(&hub), id);
    let app = Arc::clone(&context.app);
    let account = (context.app.policy).work_account(Surface::Trading, ticket.client);
    let mut connection = Connection {
        input: Input::new(early, &hub.limits, hub.now()),
        context,
        id,
        client: ticket.client,
        account,
        turn: None,
        activity,
        stream,
        asked: VecDeque::new(),
        permit: None,
        waiting: None,
        pause: None,
        ending: None,
        peer_closed: false,
        written: Written::default(),
    };
    let end = std::future::poll_fn(|cx| connection.poll(cx)).await;
    if let Err(error) = end {
        tracing::debug!(%error, "stream connection failed");
    }
    let (code, cancels) = match hub.lock().member(id) {
        Some(member) => (member.closing.as_ref().map(|it| it.code), member.cancels),
        None => (None, None),
    };
    hub.stats.closed(code);
    drop((leave, connection, ticket));
    if let Some(owner) = cancels {
        cancel_on_disconnect::cancel_all(&app, owner).await;
    }
}

/// Removes the connection from its hub, however its task ends.
struct Leave(Arc<Hub>, MemberId);

impl Drop for Leave {
    fn drop(&mut self) {
        self.0.leave(self.1);
    }
}

/// What a step of the task did.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Step {
    /// It waits for something that wakes the task.
    Waits,
    /// There may be more to do.
    Goes,
    /// The connection has ended.
    Ended,
}

impl<S: AsyncRead + AsyncWrite + Unpin> Connection<S> {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if let Some(member) = self.context.hub.lock().member(self.id)
            && member.waker.is_none()
        {
            // The waker of a spawned task is the same at every poll.
            member.waker = Some(cx.waker().clone());
        }
        match self.activity.requested(cx) {
            ConnectionState::Serving => {}
            ConnectionState::Draining => self.drain(),
            ConnectionState::Closing => return Poll::Ready(Ok(())),
        }
        std::task::ready!(self.poll_turn(cx));
        let began = Instant::now();
        let step = self.poll_steps(cx);
        self.account.charge(began, began.elapsed());
        match step? {
            Step::Ended => return Poll::Ready(Ok(())),
            // Others run before it goes on.
            Step::Goes => cx.waker().wake_by_ref(),
            Step::Waits => {}
        }
        Poll::Pending
    }

    /// Waits while the client is in debt for the work of its requests and streams.
    fn poll_turn(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if self.turn.is_none() && !self.account.wait(Instant::now()).is_zero() {
            let account = Arc::clone(&self.account);
            self.turn = Some(Box::pin(async move { account.turn().await }));
        }
        if let Some(turn) = &mut self.turn {
            std::task::ready!(turn.as_mut().poll(cx));
            self.turn = None;
        }
        Poll::Ready(())
    }

    /// One request at most, and what there is to write and to read.
    fn poll_steps(&mut self, cx: &mut Context<'_>) -> io::Result<Step> {
        let requests = self.poll_requests(cx);
        self.session().refill_books();
        let writes = self.poll_write(cx)?;
        if writes == Step::Ended {
            return Ok(Step::Ended);
        }
        let reads = self.poll_read(cx)?;
        Ok(match [requests, writes, reads] {
            [.., Step::Ended] => Step::Ended,
            [Step::Waits, Step::Waits, Step::Waits] => Step::Waits,
            _ => Step::Goes,
        })
    }

    fn session(&self) -> Session<'_> {
        Session {
            app: &self.context.app,
            hub: &self.context.hub,
            id: self.id,
            is_continued: false,
        }
    }

    /// The gateway ends: everything distributed so far is sent, then the close frame.
    fn drain(&self) {
        let hub = &self.context.hub;
        let _ = hub.pass(&self.context.app.stream_ring);
        let mut state = hub.lock();
        state.confirm_all();
        let (cursor, now) = (state.cursor, state.now());
        if let Some(member) = state.member(self.id) {
            let is_complete = member.is_complete() && !self.input.has_bytes();
            let last = is_complete.then_some(cursor);
            member.close(Close::draining(last), true, now);
        }
    }

    fn close(&self, close: Close, keeps_waiting: bool) {
        let mut hub = self.context.hub.lock();
        let now = hub.now();
        if let Some(member) = hub.member(self.id) {
            member.close(close, keeps_waiting, now);
        }
    }

    fn is_closing(&self) -> bool {
        let mut hub = self.context.hub.lock();
        hub.member(self.id).is_none_or(|it| it.closing.is_some())
    }

    /// Applies requests in their order; one may wait for the view.
    fn poll_requests(&mut self, cx: &mut Context<'_>) -> Step {
        let mut waited = Waited::Not;
        if let Some(waiting) = &mut self.waiting {
            match waiting.as_mut().poll(cx) {
                Poll::Pending => return Step::Waits,
                Poll::Ready(result) => waited = result,
            }
            self.waiting = None;
        } else if self.waits_for_reader() {
            return Step::Waits;
        }
        let Some(mut asked) = self.asked.pop_front() else {
            return Step::Waits;
        };
        if self.is_closing() {
            self.asked.clear();
            return Step::Waits;
        }
        let session = Session {
            is_continued: asked.is_continued,
            ..self.session()
        };
        let handled = match &asked.request {
            Ok(request) => session.handle(request, &waited),
            Err(problem) => Err(Interrupt::Error(problem.clone())),
        };
        match handled {
            Ok(()) => {}
            Err(Interrupt::Error(problem)) => session.ignored(&problem, &asked.text),
            Err(Interrupt::Close(close)) => self.close(close, true),
            Err(Interrupt::Continue(reached)) => {
                if let Ok(request) = &mut asked.request {
                    request.resume_from = Some(reached);
                }
                asked.is_continued = true;
                self.asked.push_front(asked);
            }
            Err(interrupt) => {
                self.waiting = Some(self.wait(interrupt));
                self.asked.push_front(asked);
            }
        }
        if self.asked.is_empty() {
            self.permit = None;
        }
        self.note_asking(!self.asked.is_empty());
        Step::Goes
    }

    /// Whether a replay goes on when the client has read everything sent.
    fn waits_for_reader(&self) -> bool {
        let is_continued = self.asked.front().is_some_and(|it| it.is_continued);
        let has_unread = || {
            let mut hub = self.context.hub.lock_again();
            hub.member(self.id).is_some_and(|it| !it.outbox.is_empty())
        };
        is_continued && has_unread()
    }

    /// Notes whether requests are not applied yet: a pass or a check may fall between two steps.
    fn note_asking(&self, is_asking: bool) {
        if let Some(member) = self.context.hub.lock().member(self.id) {
            member.is_asking = is_asking;
        }
    }

    /// Waits for the view as requests of the trading surface do, within the same bounds.
    fn wait(&self, interrupt: Interrupt) -> Waiting {
        let (app, client) = (Arc::clone(&self.context.app), self.client);
        let interrupt = match interrupt {
            Interrupt::Replay(order) => {
                let max_bytes = self.context.hub.limits.replay_bytes();
                return Box::pin(read_journal(app, client, *order, max_bytes));
            }
            other => other,
        };
        Box::pin(async move {
            let Interrupt::Wait(sequence) = interrupt else {
                // A view that cannot catch up is as new as it gets.
                let _: Result<bool, ApiError> = app.shared_view.catch_up().await;
                return Waited::CaughtUp;
            };
            let waiters = &app.bounds.of(Surface::Trading).waiters;
            let waiter = || waiters.take(client, 1).ok();
            let result = app.shared_view.wait_requested(sequence, waiter).await;
            Waited::ForSequence(result)
        })
    }

    fn poll_write(&mut self, cx: &mut Context<'_>) -> io::Result<Step> {
        let hub = Arc::clone(&self.context.hub);
        let mut state = hub.lock_again();
        let Some(member) = state.member(self.id) else {
            return Ok(Step::Ended);
        };
        let had = !member.outbox.is_empty();
        let written = &mut self.written;
        let result = member.outbox.poll_write(&mut self.stream, cx, written);
        let Written { frames, bytes } = std::mem::take(written);
        hub.stats.written(frames, bytes);
        let is_written = match result {
            Poll::Ready(result) => {
                result?;
                true
            }
            Poll::Pending => false,
        };
        let (is_closing, dumps) = (member.closing.is_some(), !member.dump.is_empty());
        drop(state);
        if !is_closing {
            // Room for more books, or for more of a replay.
            let goes_on = dumps || self.asked.front().is_some_and(|it| it.is_continued);
            return Ok(if had && is_written && goes_on {
                Step::Goes
            } else {
                Step::Waits
            });
        }
        let ending = (self.ending).get_or_insert_with(|| Box::pin(sleep(STREAM_CLOSE_WAIT)));
        if ending.as_mut().poll(cx).is_ready() || (is_written && self.peer_closed) {
            return Ok(Step::Ended);
        }
        Ok(Step::Waits)
    }

    /// Reads messages; of a connection that ends only its end.
    fn poll_read(&mut self, cx: &mut Context<'_>) -> io::Result<Step> {
        if self.peer_closed {
            return Ok(Step::Waits);
        }
        // `poll_write`, which runs first, sets `ending`.
        let is_closing = self.ending.is_some();
        if !is_closing {
            if !self.asked.is_empty() {
                return Ok(Step::Waits);
            }
            if self.input.has_bytes() {
                return Ok(self.next_message(cx));
            }
        }
        let mut space = [std::mem::MaybeUninit::uninit(); STREAM_READ_BYTES];
        let mut buffer = ReadBuf::uninit(&mut space);
        let Poll::Ready(result) = Pin::new(&mut self.stream).poll_read(cx, &mut buffer) else {
            return Ok(Step::Waits);
        };
        result?;
        if buffer.filled().is_empty() {
            return Ok(Step::Ended);
        }
        if is_closing {
            self.read_end(buffer.filled());
        } else {
            self.input.add(buffer.filled());
        }
        Ok(Step::Goes)
    }

    /// Looks for the client's close frame in what it still sends.
    fn read_end(&mut self, bytes: &[u8]) {
        self.input.drop_texts();
        self.permit = None;
        self.input.add(bytes);
        loop {
            match self.input.next() {
                Ok(Some(ClientMessage::Close)) => self.peer_closed = true,
                Ok(Some(_)) => continue,
                Ok(None) | Err(_) => {}
            }
            return;
        }
    }

    /// Takes one message of the bytes read, when the limit allows.
    fn next_message(&mut self, cx: &mut Context<'_>) -> Step {
        if let Some(pause) = &mut self.pause {
            if pause.as_mut().poll(cx).is_pending() {
                return Step::Waits;
            }
            self.pause = None;
        }
        let millis = self.input.pause(self.context.hub.now());
        if millis > 0 {
            self.pause = Some(Box::pin(sleep(Duration::from_millis(millis))));
            return Step::Goes;
        }
        match self.input.next() {
            Ok(Some(message)) => self.receive(message),
            Ok(None) => self.hold(self.input.held()),
            Err(violation) => {
                // What follows has no meaning.
                self.close(violation.into(), true);
            }
        }
        Step::Goes
    }

    fn receive(&mut self, message: ClientMessage) {
        self.alive();
        match message {
            ClientMessage::Ping(payload) => self.send(pong_frame(&payload)),
            ClientMessage::Pong => {}
            ClientMessage::Close => {
                self.peer_closed = true;
                self.close(Close::normal(), false);
            }
            ClientMessage::Text(text) => match Text::of(&text) {
                Text::Ping => self.send(text_frame("PONG")),
                Text::Nothing => {}
                Text::Requests(requests) => {
                    self.hold(text.len() + requests.iter().map(Asked::bytes).sum::<usize>());
                    self.asked.extend(requests);
                }
            },
        }
        if self.asked.is_empty() && self.input.held() == 0 {
            self.permit = None;
        }
    }

    /// Counts bytes that are kept of a message as those of a body. Who has too many is told to come
    /// again.
    fn hold(&mut self, bytes: usize) {
        if bytes <= FREE_BODY_BYTES {
            return;
        }
        let bodies = &self.context.app.bounds.of(Surface::Trading).bodies;
        let new = || BodyPermit::new(Arc::clone(bodies), self.client);
        let permit = self.permit.get_or_insert_with(new);
        if permit.grow_to(bytes).is_err() {
            self.close(Close::try_again(), true);
        }
    }

    /// Notes a sign of life of the client.
    fn alive(&self) {
        let mut hub = self.context.hub.lock();
        let now = hub.now();
        if let Some(member) = hub.member(self.id) {
            member.times.life = now;
        }
    }

    fn send(&self, frame: bytes::Bytes) {
        let mut hub = self.context.hub.lock();
        let now = hub.now();
        if let Some(member) = hub.member(self.id) {
            let fits = member.push(frame, None, now);
            hub.after_push(self.id, fits);
        }
    }
}
