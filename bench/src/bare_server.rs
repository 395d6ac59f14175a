//! The floor of a read: hyper alone, on one thread, sending bytes it was given.

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

/// Name of its thread.
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
    pub(crate) fn start(answer: BareAnswer) -> io::Result<Self> {
        let listener = StdListener::bind(("127.0.0.1", 0))?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_io()
            .build()?;
        let (stop, stopped) = oneshot::channel();
        let (tell, started) = std::sync::mpsc::channel();
        let thread = std::thread::Builder::new()
            .name(THREAD.to_owned())
            .spawn(move || {
                // Whoever waits for it is below.
                let _ = tell.send(());
                runtime.block_on(async {
                    tokio::select! {
                        served = serve(listener, answer) => served.expect("a loopback listener"),
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

async fn serve(listener: StdListener, answer: BareAnswer) -> io::Result<()> {
    let listener = TcpListener::from_std(listener)?;
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        let answer = answer.clone();
        let service = service_fn(move |_: Request<Incoming>| {
            let mut response = Response::new(Full::new(answer.body.clone()));
            *response.headers_mut() = answer.fields.clone();
            async move { Ok::<_, Infallible>(response) }
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
