//! Baseline HTTP server: hyper alone on one thread, answering fixed bytes or the result of a
//! function.

use std::convert::Infallible;
use std::io;

use bytes::Bytes;
use http::{HeaderMap, Request, Response};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto::Builder;
use tokio::net::TcpListener;

use super::serving_thread::ServingThread;

/// Thread name of [`start`].
pub(crate) const THREAD: &str = "bare-http";

#[derive(Clone)]
pub(crate) struct BareAnswer {
    pub(crate) fields: HeaderMap,
    pub(crate) body: Bytes,
}

/// Starts a server that always responds `answer`.
pub(crate) fn start(answer: BareAnswer) -> io::Result<ServingThread> {
    answering(THREAD, move |_| {
        let mut response = Response::new(Full::new(answer.body.clone()));
        *response.headers_mut() = answer.fields.clone();
        std::future::ready(response)
    })
}

/// Starts a server that answers by a function.
pub(crate) fn answering<A, F>(name: &str, answer: A) -> io::Result<ServingThread>
where
    A: Fn(Request<Incoming>) -> F + Clone + Send + 'static,
    F: Future<Output = Response<Full<Bytes>>> + Send + 'static,
{
    ServingThread::start(name, |listener| serve(listener, answer))
}

async fn serve<A, F>(listener: TcpListener, answer: A) -> io::Result<()>
where
    A: Fn(Request<Incoming>) -> F + Clone + Send + 'static,
    F: Future<Output = Response<Full<Bytes>>> + Send + 'static,
{
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
