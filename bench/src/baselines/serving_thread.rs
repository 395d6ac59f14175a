//! A server on one thread with a runtime of its own.

use std::io;
use std::net::{SocketAddr, TcpListener as StdListener};
use std::sync::mpsc;
use std::thread::JoinHandle;

use tokio::net::TcpListener;
use tokio::sync::oneshot;

use crate::error::MeasureError;
use crate::harness::threads::joined;

pub(crate) struct ServingThread {
    pub(crate) address: SocketAddr,
    stop: oneshot::Sender<()>,
    thread: JoinHandle<io::Result<()>>,
}

impl ServingThread {
    /// Serves a port of the loopback interface on a thread of this name, which it has on return.
    pub(crate) fn start<F: Future<Output = io::Result<()>>>(
        name: &str,
        serve: impl FnOnce(TcpListener) -> F + Send + 'static,
    ) -> io::Result<Self> {
        let listener = StdListener::bind(("127.0.0.1", 0))?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_io()
            .build()?;
        let (stop, stopped) = oneshot::channel();
        let (running, is_running) = mpsc::channel();
        let thread = std::thread::Builder::new()
            .name(name.to_owned())
            .spawn(move || {
                // The receiver waits below.
                let _ = running.send(());
                runtime.block_on(async {
                    tokio::select! {
                        served = async { serve(TcpListener::from_std(listener)?).await } => served,
                        _ = stopped => Ok(()),
                    }
                })
            })?;
        // A thread has its name once it runs.
        is_running.recv().map_err(io::Error::other)?;
        Ok(Self {
            address,
            stop,
            thread,
        })
    }

    pub(crate) fn stop(self) -> Result<(), MeasureError> {
        // The server has already ended if it failed.
        let _ = self.stop.send(());
        let served = joined("a baseline's server", self.thread.join())?;
        served.map_err(MeasureError::io("serving a baseline"))
    }
}
