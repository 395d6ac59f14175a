//! The floor of whatever is asked over HTTP: hyper alone, on one thread, sending bytes it was
//! given, or answering by a function.

use std::convert::Infallible;
use std::io;
use std::net::{SocketAddr, TcpListener as StdListener};
use std::thread::JoinHandle;

use bytes::Bytes;
use http::{HeaderMap, Request, Response};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto::Builder;
use tokio::net::TcpListener;
use tokio::sync::oneshot;

/// Name of the thread of [`BareServer::start`].
pub(crate) const THREAD: &str = "bare-http";

/// A running server.
pub(crate) struct BareServer {
    pub(crate) address: SocketAddr,
    stop: oneshot::Sender<()>,
    thread: JoinHandle<()>,
}

/// What it answers everybody.
#[derive(Clone)]
pub(crate) struct BareAnswer {
    pub(crate) fields: HeaderMap,
    pub(crate) body: Bytes,
}

impl BareServer {
    /// Sends `answer` to everybody.
    pub(crate) fn start(answer: BareAnswer) -> io::Result<Self> {
        Self::answering(THREAD, || {
            Ok(move |_| {
                let mut response = Response::new(Full::new(answer.body.clone()));
                *response.headers_mut() = answer.fields.clone();
                std::future::ready(response)
            })
        })
    }

    /// Answers by the function that `make` makes on the server's thread, inside its runtime.
    pub(crate) fn answering<M, A, F>(name: &str, make: M) -> io::Result<Self>
    where
        M: FnOnce() -> io::Result<A> + Send + 'static,
        A: Fn(Request<Incoming>) -> F + Clone + Send + 'static,
        F: Future<Output = Response<Full<Bytes>>> + Send + 'static,
    {
        let listener = StdListener::bind(("127.0.0.1", 0))?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_io()
            .build()?;
        let (stop, stopped) = oneshot::channel();
        let (tell, started) = std::sync::mpsc::channel();
        let thread = std::thread::Builder::new()
            .name(name.to_owned())
            .spawn(move || {
                // Whoever waits for it is below.
                let _ = tell.send(());
                runtime.block_on(async {
                    tokio::select! {
                        served = serve(listener, make) => served.expect("a loopback listener"),
                        _ = stopped => {}
                    }
                });
            })?;
        // Only a running thread has its name.
        started.recv().map_err(io::Error::other)?;
        Ok(Self {
            address,
            stop,
            thread,
        })
    }

    pub(crate) fn stop(self) {
        // It ends by itself only when it fails.
        let _ = self.stop.send(());
        self.thread.join().expect("its thread does not panic");
    }
}

async fn serve<A, F>(listener: StdListener, make: impl FnOnce() -> io::Result<A>) -> io::Result<()>
where
    A: Fn(Request<Incoming>) -> F + Clone + Send + 'static,
    F: Future<Output = Response<Full<Bytes>>> + Send + 'static,
{
    let listener = TcpListener::from_std(listener)?;
    let answer = make()?;
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        let answer = answer.clone();
        let service = service_fn(move |request: Request<Incoming>| {
            let answering = answer(request);
            async move { Ok::<_, Infallible>(answering.await) }
        });
        tokio::spawn(async move {
            let builder = Builder::new(TokioExecutor::new());
            // A client that leaves ends its connection.
            let _ = builder
                .serve_connection(TokioIo::new(stream), service)
                .await;
        });
    }
}
