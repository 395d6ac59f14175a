//! Baseline HTTP server: hyper alone on one thread, answering fixed bytes or the result of a
//! function.

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

/// Thread name of [`BareServer::start`].
pub(crate) const THREAD: &str = "bare-http";

pub(crate) struct BareServer {
    pub(crate) address: SocketAddr,
    stop: oneshot::Sender<()>,
    thread: JoinHandle<()>,
}

#[derive(Clone)]
pub(crate) struct BareAnswer {
    pub(crate) fields: HeaderMap,
    pub(crate) body: Bytes,
}

impl BareServer {
    /// Starts a server that always responds `answer`.
    pub(crate) fn start(answer: BareAnswer) -> io::Result<Self> {
        Self::answering(THREAD, || {
            Ok(move |_| {
                let mut response = Response::new(Full::new(answer.body.clone()));
                *response.headers_mut() = answer.fields.clone();
                std::future::ready(response)
            })
        })
    }

    /// Answers by the function that `make` returns; `make` runs on the server's thread inside its
    /// runtime.
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
        let (ready_sender, started) = std::sync::mpsc::channel();
        let thread = std::thread::Builder::new()
            .name(name.to_owned())
            .spawn(move || {
                // The receiver waits below.
                let _ = ready_sender.send(());
                runtime.block_on(async {
                    tokio::select! {
                        served = serve(listener, make) => served.expect("a loopback listener"),
                        _ = stopped => {}
                    }
                });
            })?;
        // A thread has its name once it runs.
        started.recv().map_err(io::Error::other)?;
        Ok(Self {
            address,
            stop,
            thread,
        })
    }

    pub(crate) fn stop(self) {
        // The server has already ended if it failed.
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
            // A client that disconnects ends its connection with an error.
            let _ = builder
                .serve_connection(TokioIo::new(stream), service)
                .await;
        });
    }
}
