//! CPU time per request of one kind of read, alternating between a gateway and a bare server that
//! sends the same bytes.

use std::net::SocketAddr;

use ::http::header::{CONTENT_LENGTH, DATE};
use ::http::{HeaderMap, HeaderName};
use bytes::Bytes;
use clap::Args;

use super::http::{self, Connection, success};
use super::latency::{NANOS_PER_US, ratio};
use super::thread_time::ThreadTime;
use crate::baselines::bare_server::{self, BareAnswer};
use crate::baselines::serving_thread::ServingThread;
use crate::error::MeasureError;
use crate::report::{Measure, Report};

/// Concurrent connections.
pub(crate) const CONNECTIONS: usize = 16;
/// Requests per burst on each connection; gateway and bare server alternate by bursts.
const BURST: usize = 50;

/// Length of a round.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct Bursts {
    /// Bursts per round, each of 800 requests to each server
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=1_000))]
    bursts: u32,
}

impl Bursts {
    /// Requests per round to each server.
    pub(crate) const fn requests(self) -> usize {
        CONNECTIONS * BURST * self.bursts as usize
    }
}

/// Microseconds per request in one round.
pub(crate) struct AbRound {
    pub(crate) gateway: f64,
    pub(crate) bare: f64,
}

/// Connections to the gateway and to a bare server with the same response.
pub(crate) struct AbRounds {
    request: Vec<u8>,
    length: Bursts,
    /// Size of the response body.
    pub(crate) bytes: usize,
    to_gateway: Vec<Connection>,
    to_bare: Vec<Connection>,
    gateway: ThreadTime,
    bare_time: ThreadTime,
    bare: ServingThread,
}

impl AbRounds {
    /// Requests the gateway once, and starts a server with the same response.
    pub(crate) fn open(
        address: SocketAddr,
        gateway: ThreadTime,
        query: &str,
        length: Bursts,
    ) -> Result<Self, MeasureError> {
        let failed = MeasureError::io;
        let request = http::get(query, "");
        let mut first = Connection::open(address).map_err(failed("connecting"))?;
        let answer = success(first.ask(&request))?;
        let answer = BareAnswer {
            fields: fields(answer.head)?,
            body: Bytes::copy_from_slice(answer.body),
        };
        let bytes = answer.body.len();
        let bare = bare_server::start(answer).map_err(failed("starting the bare server"))?;
        let many = |address| -> std::io::Result<Vec<Connection>> {
            (0..CONNECTIONS)
                .map(|_| Connection::open(address))
                .collect()
        };
        Ok(Self {
            request,
            length,
            bytes,
            to_gateway: many(address).map_err(failed("connecting"))?,
            to_bare: many(bare.address).map_err(failed("connecting"))?,
            gateway,
            bare_time: ThreadTime::of(bare_server::THREAD).map_err(failed("finding a thread"))?,
            bare,
        })
    }

    /// The first round is warm-up and not counted.
    pub(crate) fn rounds(&mut self, rounds: usize) -> Result<Vec<AbRound>, MeasureError> {
        self.round()?;
        (0..rounds).map(|_| self.round()).collect()
    }

    /// Adds CPU times to a report under `name`, and stops the bare server. Returns the ratio of the
    /// gateway's to the bare server's.
    pub(crate) fn close(
        self,
        report: &mut Report,
        name: &str,
        rounds: &[AbRound],
    ) -> Result<Option<f64>, MeasureError> {
        self.bare.stop()?;
        let of = |value: fn(&AbRound) -> f64| rounds.iter().map(value).collect();
        let bare = Measure::of(format!("bare hyper, {name}"), "us", of(|round| round.bare));
        let gateway = Measure::of(name, "us", of(|round| round.gateway)).over(&bare);
        let ratio = gateway.ratio();
        report.measures.extend([bare, gateway]);
        Ok(ratio)
    }

    fn round(&mut self) -> Result<AbRound, MeasureError> {
        let (mut gateway, mut bare) = (0, 0);
        for _ in 0..self.length.bursts {
            gateway += burst(&mut self.to_gateway, &self.request, &self.gateway)?;
            bare += burst(&mut self.to_bare, &self.request, &self.bare_time)?;
        }
        let each = |nanos| ratio(nanos, self.length.requests() as u64) / NANOS_PER_US;
        Ok(AbRound {
            gateway: each(gateway),
            bare: each(bare),
        })
    }
}

/// Sends [`BURST`] requests on all connections at once; returns the CPU time of `server` in
/// nanoseconds.
fn burst(
    connections: &mut [Connection],
    request: &[u8],
    server: &ThreadTime,
) -> Result<u64, MeasureError> {
    let time = || server.nanos().map_err(MeasureError::io("reading a clock"));
    let before = time()?;
    for _ in 0..BURST {
        for connection in &mut *connections {
            let sent = connection.send(request);
            sent.map_err(MeasureError::io("asking"))?;
        }
        for connection in &mut *connections {
            success(connection.receive())?;
        }
    }
    Ok(time()? - before)
}

/// The headers a server chose itself; length and date differ.
fn fields(head: &[u8]) -> Result<HeaderMap, MeasureError> {
    let text = String::from_utf8_lossy(head);
    let mut fields = HeaderMap::new();
    for (name, value) in text.lines().filter_map(|line| line.split_once(": ")) {
        let malformed = || MeasureError::Wrong(format!("a malformed field {name}"));
        let header: HeaderName = name.parse().map_err(|_| malformed())?;
        if header != DATE && header != CONTENT_LENGTH {
            fields.append(header, value.parse().map_err(|_| malformed())?);
        }
    }
    Ok(fields)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bare_server_sends_the_fields_of_the_gateway() {
        let head = b"HTTP/1.1 200 OK\r\nx-epoch: 1\r\ndate: now\r\ncontent-length: 2\r\n\r\n";
        let fields = fields(head).unwrap();
        assert_eq!(fields.len(), 1);
        assert_eq!(fields["x-epoch"], "1");
    }
}
