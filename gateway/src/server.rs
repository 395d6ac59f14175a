//! Listeners, threads, connections. Each thread has a runtime of its own, a line of its own to the
//! engine, and a listener of its own on every address (`SO_REUSEPORT`), so that no request crosses
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

use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use socket2::{Domain, Protocol, Socket, Type};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{oneshot, watch};
use tokio::task::JoinSet;

use crate::admission::{admit, relieve};
use crate::bare_refusal::Refusing;
use crate::client_shares::Client;
use crate::connection::{Activity, InService, NotedStream, Order};
use crate::dispatch::Dispatcher;
use crate::limits::{
    ConnectionLimits, HTTP2_WINDOW_BYTES, MAX_HEAD_BYTES, MAX_STREAMS, SEND_BUFFER_BYTES,
};
use crate::sweep::Sweep;

/// Connections the kernel completes ahead of us.
const BACKLOG: i32 = 1_024;
/// Pause after an `accept` that failed for want of descriptors or memory.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);
/// Between two lines of the log about that.
const ACCEPT_LOG_PAUSE: Duration = Duration::from_secs(10);

/// One address, bound once for every thread; nobody can connect before [`Bound::listen`].
pub(crate) struct Bound {
    pub(crate) address: SocketAddr,
    sockets: Vec<Socket>,
}

/// Binds `address` for `threads` threads; port 0 takes a free one for all of them.
pub(crate) fn bind(address: SocketAddr, threads: usize) -> io::Result<Bound> {
    let first = bind_one(address)?;
    let address = first
        .local_addr()?
        .as_socket()
        .ok_or(io::ErrorKind::AddrNotAvailable)?;
    let mut sockets = vec![first];
    for _ in 1..threads {
        sockets.push(bind_one(address)?);
    }
    Ok(Bound { address, sockets })
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

impl Bound {
    /// Lets clients connect.
    fn listen(self) -> io::Result<Vec<StdListener>> {
        self.sockets
            .into_iter()
            .map(|socket| socket.listen(BACKLOG).map(|()| socket.into()))
            .collect()
    }
}

/// What the threads share beside the dispatchers.
#[derive(Clone)]
pub(crate) struct Shared {
    pub(crate) limits: ConnectionLimits,
    pub(crate) stop: watch::Receiver<bool>,
}

/// Threads with a line to the engine that serve once they are told to. Dropped, they end.
pub(crate) struct Servers {
    threads: Vec<(oneshot::Sender<Work>, JoinHandle<()>)>,
}

/// What a thread serves.
struct Work {
    listeners: Vec<(StdListener, Dispatcher)>,
    shared: Shared,
    sweep: Arc<Sweep>,
}

impl Servers {
    /// Starts `threads` threads. `port` tells them from those of other gateways of one process, as
    /// in measurements. `line` runs a thread's line until it is told to stop.
    pub(crate) fn spawn<L>(
        threads: usize,
        port: u16,
        line: impl Fn(usize, watch::Receiver<bool>) -> L,
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
            let line = line(index, stopping);
            let (tell, told) = oneshot::channel();
            let thread = std::thread::Builder::new()
                .name(format!("http-{port}-{index}"))
                .spawn(move || runtime.block_on(work(line, stop, told)))?;
            Ok((tell, thread))
        };
        let threads = (0..threads).map(spawn).collect::<io::Result<_>>()?;
        Ok(Self { threads })
    }

    /// Listens on every surface, all of which have a socket for each thread. `dispatchers` makes those
    /// of a thread by its number.
    pub(crate) fn serve(
        self,
        surfaces: Vec<Bound>,
        dispatchers: impl Fn(usize) -> Vec<Dispatcher>,
        shared: &Shared,
    ) -> io::Result<Vec<JoinHandle<()>>> {
        let listening = surfaces.into_iter().map(Bound::listen);
        let mut by_surface = listening
            .map(|sockets| sockets.map(Vec::into_iter))
            .collect::<io::Result<Vec<_>>>()?;
        let (sweep, sweeper) = Sweep::start(&shared.limits)?;
        let mut running = vec![sweeper];
        for (number, (tell, thread)) in self.threads.into_iter().enumerate() {
            let sockets = by_surface.iter_mut().filter_map(Iterator::next);
            let listeners = sockets.zip(dispatchers(number)).collect();
            let work = Work {
                listeners,
                shared: shared.clone(),
                sweep: Arc::clone(&sweep),
            };
            // A thread that is gone is found when it is joined.
            let _ = tell.send(work);
            running.push(thread);
        }
        Ok(running)
    }
}

/// One thread's life: its line first, then what it serves; the line ends after the last request.
async fn work(
    line: impl Future<Output = ()> + Send + 'static,
    stop: watch::Sender<bool>,
    told: oneshot::Receiver<Work>,
) {
    let line = tokio::spawn(line);
    if let Ok(work) = told.await {
        serve(work.listeners, work.shared, work.sweep).await;
    }
    stop.send_replace(true);
    if let Err(lost) = line.await
        && lost.is_panic()
    {
        std::panic::resume_unwind(lost.into_panic());
    }
}

/// Accepts on every listener until asked to stop, then drains.
async fn serve(listeners: Vec<(StdListener, Dispatcher)>, shared: Shared, sweep: Arc<Sweep>) {
    let mut accepting = JoinSet::new();
    for (listener, dispatcher) in listeners {
        match TcpListener::from_std(listener) {
            Ok(listener) => {
                let (shared, sweep) = (shared.clone(), Arc::clone(&sweep));
                accepting.spawn(accept(listener, dispatcher, shared, sweep));
            }
            Err(error) => tracing::error!(%error, "a listener is lost"),
        }
    }
    let mut open = accepting.join_all().await;
    sweep.drain();
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
        tracing::warn!(open, "connections did not end in time and are cut off");
    }
}

/// Accepts until asked to stop; the connections that are open then.
async fn accept(
    listener: TcpListener,
    dispatcher: Dispatcher,
    shared: Shared,
    sweep: Arc<Sweep>,
) -> JoinSet<()> {
    let mut stop = shared.stop.clone();
    let builder = builder();
    let app = &dispatcher.app;
    let places = &app.bounds.of(dispatcher.surface).connections;
    let mut open = JoinSet::new();
    let mut failure_logged = None::<Instant>;
    loop {
        // Connections that were asked to give way end before the next one comes.
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
                    tracing::warn!(%error, "accept failed; the idlest connection is closed");
                }
                relieve(&sweep);
                tokio::time::sleep(ACCEPT_PAUSE).await;
                continue;
            }
        };
        let client = Client::of(peer.ip());
        let group = app.edge.group(dispatcher.surface, peer.ip());
        let Some(admitted) = admit(places, &sweep, client, group) else {
            app.metrics.connection_refused();
            continue;
        };
        let connection = connection(
            stream,
            peer.ip(),
            builder.clone(),
            dispatcher.clone(),
            sweep.connection(client, group),
        );
        open.spawn(async move {
            connection.await;
            drop(admitted);
        });
    }
}

fn builder() -> Builder<TokioExecutor> {
    let mut builder = Builder::new(TokioExecutor::new());
    builder
        .http1()
        .timer(TokioTimer::new())
        // The watchdog of `connection.rs` does this without counting idle time.
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

/// Serves one connection to its end.
async fn connection(
    stream: TcpStream,
    peer: IpAddr,
    builder: Builder<TokioExecutor>,
    dispatcher: Dispatcher,
    activity: Arc<Activity>,
) {
    // Answers are whole when they are written, so waiting to fill a packet only adds latency.
    let _ = stream.set_nodelay(true);
    let noted = NotedStream::new(stream, Arc::clone(&activity));
    let stream = Refusing::new(noted, dispatcher.surface, Arc::clone(&activity));
    let service = service_fn(|request| {
        activity.request_came();
        let answer = match dispatcher.glance(peer, &request) {
            Some(response) => Ok(response),
            None => {
                let under_way = InService::begin(&activity);
                let answering = dispatcher.clone().dispatch(peer, request);
                // Boxed, or every hot read would move as much memory about.
                Err(Box::pin(async move {
                    let response = answering.await;
                    drop(under_way);
                    response
                }))
            }
        };
        let activity = Arc::clone(&activity);
        async move {
            let response = match answer {
                Ok(response) => response,
                Err(answering) => answering.await,
            };
            Ok::<_, Infallible>(response.map(|counted| activity.body(counted)))
        }
    });
    let mut served = pin!(builder.serve_connection(TokioIo::new(stream), service));
    let mut draining = false;
    let result = poll_fn(|cx| {
        match activity.order(cx) {
            Order::Serve => {}
            Order::Drain if draining => {}
            Order::Drain => {
                draining = true;
                served.as_mut().graceful_shutdown();
            }
            Order::Cut => return Poll::Ready(Ok(())),
        }
        served.as_mut().poll(cx)
    });
    if let Err(error) = result.await {
        tracing::debug!(%error, "a connection ended early");
    }
}
