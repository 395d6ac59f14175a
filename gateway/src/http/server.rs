//! Listeners, threads, connections. Each thread has its own runtime, its own connection to the
//! engine, and its own listener on every address (`SO_REUSEPORT`), so that no request crosses
//! threads.

use std::convert::Infallible;
use std::future::poll_fn;
use std::io;
use std::net::{IpAddr, SocketAddr, TcpListener as StdListener};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use foretell_wire::limits::MAX_HEAD_BYTES;
use http::header::{CONNECTION, UPGRADE};
use http::{HeaderValue, Version};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use hyper_util::server::conn::auto::upgrade::downcast;
use parking_lot::Mutex;
use socket2::{Domain, Protocol, Socket, Type};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{oneshot, watch};
use tokio::task::JoinSet;

use crate::access::authorize::has_token;
use crate::http::connections::admission::{admit, free_descriptor};
use crate::http::connections::client_quotas::Client;
use crate::http::connections::connection::ConnectionGroup;
use crate::http::connections::connection::{
    Activity, ActivityStream, ConnectionState, RequestInProgress,
};
use crate::http::connections::idle_reaper::IdleReaper;
use crate::http::dispatch::Dispatcher;
use crate::http::hyper_errors::ErrorBodyStream;
use crate::policy::limits::{
    CONNECTION_WORK, ConnectionLimits, HTTP2_WINDOW_BYTES, MAX_STREAMS, SEND_BUFFER_BYTES,
};
use crate::policy::work::{WorkAccount, charge_rest};
use crate::streams;
use crate::streams::connection::StreamContext;
use crate::streams::connection::upgrade::{UpgradeSlot, UpgradeTicket};

/// Connections that the kernel completes before `accept`.
const BACKLOG: i32 = 1_024;
/// Pause after an `accept` that failed for lack of descriptors or memory.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);
/// Interval of log lines about that.
const ACCEPT_LOG_PAUSE: Duration = Duration::from_secs(10);

/// One address, bound once for every thread; clients cannot connect before
/// [`BoundAddress::listen`].
pub(crate) struct BoundAddress {
    pub(crate) address: SocketAddr,
    sockets: Vec<Socket>,
}

/// Binds `address` for `threads` threads; port 0 takes one free port for all of them.
pub(crate) fn bind(address: SocketAddr, threads: usize) -> io::Result<BoundAddress> {
    let first = bind_one(address)?;
    let address = first
        .local_addr()?
        .as_socket()
        .ok_or(io::ErrorKind::AddrNotAvailable)?;
    let mut sockets = vec![first];
    for _ in 1..threads {
        sockets.push(bind_one(address)?);
    }
    Ok(BoundAddress { address, sockets })
}

fn bind_one(address: SocketAddr) -> io::Result<Socket> {
    let socket = Socket::new(
        Domain::for_address(address),
        Type::STREAM,
        Some(Protocol::TCP),
    )?;
    socket.set_reuse_address(true)?;
    socket.set_reuse_port(true)?;
    socket.set_nonblocking(true)?;
    // Connections inherit it.
    socket.set_send_buffer_size(SEND_BUFFER_BYTES)?;
    socket.bind(&address.into())?;
    Ok(socket)
}

impl BoundAddress {
    /// Starts listening.
    fn listen(self) -> io::Result<Vec<StdListener>> {
        self.sockets
            .into_iter()
            .map(|socket| socket.listen(BACKLOG).map(|()| socket.into()))
            .collect()
    }
}

/// State shared by the threads, in addition to the dispatchers.
#[derive(Clone)]
pub(crate) struct Shared {
    pub(crate) limits: ConnectionLimits,
    pub(crate) stop: watch::Receiver<bool>,
}

/// Threads with a connection to the engine that serve when asked to. They end when this is dropped.
pub(crate) struct Servers {
    threads: Vec<(oneshot::Sender<ThreadWork>, JoinHandle<()>)>,
}

/// The work of a thread.
struct ThreadWork {
    listeners: Vec<(StdListener, Dispatcher)>,
    shared: Shared,
    reaper: Arc<IdleReaper>,
}

impl Servers {
    /// Starts `threads` threads. `port` is part of their names, for processes with several
    /// gateways. `link` drives a thread's engine connection until its stop signal.
    pub(crate) fn spawn<L>(
        threads: usize,
        port: u16,
        link: impl Fn(usize, watch::Receiver<bool>) -> L,
    ) -> io::Result<Self>
    where
        L: Future<Output = ()> + Send + 'static,
    {
        let spawn = |index| {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_io()
                .enable_time()
                .build()?;
            let (stop, stopping) = watch::channel(false);
            let link = link(index, stopping);
            let (sender, receiver) = oneshot::channel();
            let thread = std::thread::Builder::new()
                .name(format!("http-{port}-{index}"))
                .spawn(move || runtime.block_on(work(link, stop, receiver)))?;
            Ok((sender, thread))
        };
        let threads = (0..threads).map(spawn).collect::<io::Result<_>>()?;
        Ok(Self { threads })
    }

    /// Starts to listen on every surface with one socket for each thread. `dispatchers(i)`
    /// returns the dispatchers of thread `i`, one for each surface, in the order of `surfaces`.
    pub(crate) fn serve(
        self,
        surfaces: Vec<BoundAddress>,
        dispatchers: impl Fn(usize) -> Vec<Dispatcher>,
        shared: &Shared,
    ) -> io::Result<Vec<JoinHandle<()>>> {
        let listening = surfaces.into_iter().map(BoundAddress::listen);
        let mut by_surface = listening
            .map(|sockets| sockets.map(Vec::into_iter))
            .collect::<io::Result<Vec<_>>>()?;
        let (reaper, thread) = IdleReaper::start(&shared.limits)?;
        let mut running = vec![thread];
        for (number, (sender, thread)) in self.threads.into_iter().enumerate() {
            let sockets = by_surface.iter_mut().filter_map(Iterator::next);
            let listeners = sockets.zip(dispatchers(number)).collect();
            let work = ThreadWork {
                listeners,
                shared: shared.clone(),
                reaper: Arc::clone(&reaper),
            };
            // A thread that has exited is reported when it is joined.
            let _ = sender.send(work);
            running.push(thread);
        }
        Ok(running)
    }
}

/// Runs a thread: engine connection first, then serving; the connection ends after the last
/// request.
async fn work(
    link: impl Future<Output = ()> + Send + 'static,
    stop: watch::Sender<bool>,
    receiver: oneshot::Receiver<ThreadWork>,
) {
    let link = tokio::spawn(link);
    if let Ok(work) = receiver.await {
        serve(work.listeners, work.shared, work.reaper).await;
    }
    stop.send_replace(true);
    if let Err(lost) = link.await
        && lost.is_panic()
    {
        std::panic::resume_unwind(lost.into_panic());
    }
}

/// Accepts on every listener until asked to stop, then drains.
async fn serve(listeners: Vec<(StdListener, Dispatcher)>, shared: Shared, reaper: Arc<IdleReaper>) {
    let mut accepting = JoinSet::new();
    let hub = listeners.first().map(|(_, dispatcher)| StreamContext {
        app: Arc::clone(&dispatcher.app),
        hub: Arc::clone(&dispatcher.hub),
    });
    for (listener, dispatcher) in listeners {
        match TcpListener::from_std(listener) {
            Ok(listener) => {
                let (shared, reaper) = (shared.clone(), Arc::clone(&reaper));
                accepting.spawn(accept(listener, dispatcher, shared, reaper));
            }
            Err(error) => tracing::error!(%error, "listener failed"),
        }
    }
    let streams = hub.map(|context| tokio::spawn(streams::service::run(context.hub, context.app)));
    let mut open = accepting.join_all().await;
    reaper.drain();
    let ended = async {
        for connections in &mut open {
            while connections.join_next().await.is_some() {}
        }
    };
    if tokio::time::timeout(shared.limits.drain, ended)
        .await
        .is_err()
    {
        let open: usize = open.iter().map(JoinSet::len).sum();
        tracing::warn!(open, "drain timeout: closing open connections");
    }
    if let Some(streams) = streams {
        streams.abort();
    }
}

/// Accepts until asked to stop; returns the connections still open then.
async fn accept(
    listener: TcpListener,
    dispatcher: Dispatcher,
    shared: Shared,
    reaper: Arc<IdleReaper>,
) -> JoinSet<()> {
    let mut stop = shared.stop.clone();
    let builder = builder(shared.limits.http2);
    let app = &dispatcher.app;
    let places = &app.bounds.of(dispatcher.surface).connections;
    let mut open = JoinSet::new();
    let mut failure_logged = None::<Instant>;
    loop {
        // Connections that were asked to end do so before the next accept.
        tokio::task::yield_now().await;
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            Some(_) = open.join_next() => continue,
            _ = stop.wait_for(|stop| *stop) => return open,
        };
        let (stream, peer) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                if failure_logged.is_none_or(|at| at.elapsed() >= ACCEPT_LOG_PAUSE) {
                    failure_logged = Some(Instant::now());
                    tracing::warn!(%error, "accept failed: closing the most idle connection");
                }
                free_descriptor(&reaper);
                tokio::time::sleep(ACCEPT_PAUSE).await;
                continue;
            }
        };
        let client = Client::of(peer.ip());
        let group = app.policy.group(dispatcher.surface, peer.ip());
        let Some(admitted) = admit(places, &reaper, client, group) else {
            app.metrics.connection_refused();
            continue;
        };
        // A proxy's connections are many clients'.
        let account = (group != ConnectionGroup::Proxy)
            .then(|| app.policy.work_account(dispatcher.surface, client));
        if let Some(account) = &account {
            account.charge(Instant::now(), CONNECTION_WORK);
        }
        let connection = connection(
            stream,
            (peer.ip(), account),
            builder.clone(),
            dispatcher.clone(),
            reaper.connection(client, group),
        );
        open.spawn(async move {
            connection.await;
            drop(admitted);
        });
    }
}

fn builder(http2: bool) -> Builder<TokioExecutor> {
    let mut builder = Builder::new(TokioExecutor::new());
    if !http2 {
        builder = builder.http1_only();
    }
    builder
        .http1()
        .timer(TokioTimer::new())
        // `connection.rs` limits this without counting idle time.
        .header_read_timeout(None)
        .max_buf_size(MAX_HEAD_BYTES);
    builder
        .http2()
        .timer(TokioTimer::new())
        .max_header_list_size(u32::try_from(MAX_HEAD_BYTES).expect("16 KiB"))
        .initial_connection_window_size(HTTP2_WINDOW_BYTES)
        .initial_stream_window_size(HTTP2_WINDOW_BYTES)
        .max_concurrent_streams(MAX_STREAMS);
    builder
}

/// Serves one connection to its end: its requests, then the stream that it may become.
async fn connection(
    stream: TcpStream,
    peer: (IpAddr, Option<Arc<WorkAccount>>),
    builder: Builder<TokioExecutor>,
    dispatcher: Dispatcher,
    activity: Arc<Activity>,
) {
    // Boxed, so that a stream does not keep the memory of its requests.
    let requests = serve_requests(stream, peer, builder, &dispatcher, &activity);
    let Some((ticket, _in_progress)) = Box::pin(requests).await else {
        return;
    };
    let context = StreamContext {
        app: Arc::clone(&dispatcher.app),
        hub: Arc::clone(&dispatcher.hub),
    };
    Box::pin(serve_stream(context, ticket, activity)).await;
}

/// Serves requests until the connection ends or is upgraded. An upgraded one counts as one request
/// in progress until it ends.
async fn serve_requests(
    stream: TcpStream,
    (peer, account): (IpAddr, Option<Arc<WorkAccount>>),
    builder: Builder<TokioExecutor>,
    dispatcher: &Dispatcher,
    activity: &Arc<Activity>,
) -> Option<(UpgradeTicket, Option<RequestInProgress>)> {
    // Answers are written whole, so delaying small packets only adds latency.
    let _ = stream.set_nodelay(true);
    let tracked = ActivityStream::new(stream, Arc::clone(activity), account.clone());
    let stream = ErrorBodyStream::new(tracked, dispatcher.surface, Arc::clone(activity));
    let slot = UpgradeSlot::default();
    let upgraded: Arc<Mutex<Option<RequestInProgress>>> = Arc::default();
    let service = service_fn(|mut request| {
        activity.head_received();
        let in_progress = RequestInProgress::begin(activity);
        let is_operator =
            !dispatcher.surface.is_public() && has_token(&dispatcher.app, request.headers());
        if is_operator {
            activity.token_shown();
        }
        if request.headers().contains_key(UPGRADE) {
            request.extensions_mut().insert(slot.clone());
        }
        let is_http2 = request.version() == Version::HTTP_2;
        let answering = dispatcher.clone().dispatch(peer, request, is_operator);
        let activity = Arc::clone(activity);
        let (slot, upgraded) = (slot.clone(), Arc::clone(&upgraded));
        async move {
            let mut response = answering.await;
            if activity.is_last(response.status()) && !is_http2 {
                // Requests that were pipelined are not read any more.
                let close = HeaderValue::from_static("close");
                response.headers_mut().insert(CONNECTION, close);
            }
            match slot.is_taken() {
                true => *upgraded.lock() = Some(in_progress),
                false => drop(in_progress),
            }
            Ok::<_, Infallible>(response.map(|counted| activity.body(counted)))
        }
    });
    let mut served = pin!(builder.serve_connection_with_upgrades(TokioIo::new(stream), service));
    let mut draining = false;
    let result = poll_fn(|cx| {
        match activity.requested(cx) {
            ConnectionState::Serving => {}
            ConnectionState::Draining if draining => {}
            ConnectionState::Draining => {
                draining = true;
                served.as_mut().graceful_shutdown();
            }
            ConnectionState::Closing => return Poll::Ready(Ok(())),
        }
        activity.begin_turn();
        match account.as_deref().filter(|_| !activity.is_of_operator()) {
            Some(account) => charge_rest(account, || served.as_mut().poll(cx)),
            None => served.as_mut().poll(cx),
        }
    });
    if let Err(error) = result.await {
        tracing::debug!(%error, "connection failed");
        return None;
    }
    let in_progress = upgraded.lock().take();
    slot.take().map(|ticket| (ticket, in_progress))
}

/// Serves a connection that hyper has given up after its 101, in the connection's own task.
async fn serve_stream(context: StreamContext, mut ticket: UpgradeTicket, activity: Arc<Activity>) {
    type Stream = TokioIo<ErrorBodyStream<ActivityStream<TcpStream>>>;
    let upgraded = match (&mut ticket.stream).await {
        Ok(upgraded) => upgraded,
        Err(error) => {
            tracing::debug!(%error, "upgrade failed");
            return;
        }
    };
    match downcast::<Stream>(upgraded) {
        Ok(parts) => {
            let stream = parts.io.into_inner().into_inner().unpaced();
            let early = parts.read_buf.to_vec();
            streams::connection::serve(context, ticket, activity, stream, early).await;
        }
        Err(_) => tracing::error!("an upgraded connection is of another type"),
    }
}
