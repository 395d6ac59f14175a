//! A client that reads a page of the market list again and again, at a constant rate.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use foretell_model::Sequence;
use foretell_wire::limits::PAGE_MARKETS;

use super::clock::{self, SECOND, Timer};
use crate::error::MeasureError;
use crate::harness::http::{Connection, get, success};
use crate::harness::latency::ratio;
use crate::harness::threads::joined;

/// Interval of requests: 800 in three seconds.
const PERIOD: u64 = 3 * SECOND / 800;

pub(super) struct ListReader {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<Result<f64, MeasureError>>,
}

impl ListReader {
    /// Starts to read from a trading surface with at least [`PAGE_MARKETS`] markets after this frame.
    pub(super) fn start(address: SocketAddr, registered: Sequence) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let stopping = Arc::clone(&stop);
        let thread = std::thread::spawn(move || read(address, registered, &stopping));
        Self { stop, thread }
    }

    /// Stops it; returns the number of answers a second.
    pub(super) fn stop(self) -> Result<f64, MeasureError> {
        self.stop.store(true, Ordering::Relaxed);
        joined("the reader of lists", self.thread.join())?
    }
}

/// Sends each request when it is due, or late after the answer before it.
fn read(address: SocketAddr, registered: Sequence, stop: &AtomicBool) -> Result<f64, MeasureError> {
    let io = MeasureError::io;
    let timer = Timer::blocking().map_err(io("making a timer"))?;
    let mut connection = Connection::open(address).map_err(io("connecting"))?;
    let registered = format!("x-min-sequence: {registered}\r\n");
    let (request, whole) = (
        get("/markets", &registered),
        format!(r#""count":{PAGE_MARKETS}}}"#),
    );
    let (start, mut answers) = (clock::now(), 0);
    while !stop.load(Ordering::Relaxed) {
        let answer = success(connection.ask(&request))?;
        if !answer.body.ends_with(whole.as_bytes()) {
            let text = format!("a list of {} bytes is not a whole page", answer.body.len());
            return Err(MeasureError::Wrong(text));
        }
        answers += 1;
        timer
            .wait_until(start + answers * PERIOD)
            .map_err(io("waiting"))?;
    }
    Ok(ratio(answers * SECOND, clock::now() - start))
}
