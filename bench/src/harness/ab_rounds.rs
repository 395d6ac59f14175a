//! CPU time per request of one kind of read, alternating between a gateway and a bare server that
//! sends the same bytes.

use std::net::SocketAddr;

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue};

use crate::baselines::bare_server::{self, BareAnswer, BareServer};
use crate::error::MeasureError;
use crate::harness::http::{Connection, HttpAnswer};
use crate::harness::thread_time::ThreadTime;

/// Concurrent connections.
pub(crate) const CONNECTIONS: usize = 16;
/// Requests per burst on each connection; gateway and bare server alternate by bursts.
const BURST: usize = 50;
/// Bursts per round.
const BURSTS: usize = 10;
/// Requests per round to each server.
pub(crate) const REQUESTS: usize = CONNECTIONS * BURST * BURSTS;

/// Microseconds per request in one round.
pub(crate) struct AbRound {
    pub(crate) gateway: f64,
    pub(crate) bare: f64,
}

/// Connections to the gateway and to a bare server with the same response.
pub(crate) struct AbRounds {
    request: Vec<u8>,
    /// Size of the response body.
    pub(crate) bytes: usize,
    to_gateway: Vec<Connection>,
    to_bare: Vec<Connection>,
    gateway: ThreadTime,
    bare_time: ThreadTime,
    bare: BareServer,
}

impl AbRounds {
    /// Requests the gateway once, and starts a server with the same response.
    pub(crate) fn open(
        address: SocketAddr,
        gateway: ThreadTime,
        query: &str,
    ) -> Result<Self, MeasureError> {
        let failed = MeasureError::io;
        let request = request(query, "");
        let mut first = Connection::open(address).map_err(failed("connecting"))?;
        let answer = success(first.ask(&request))?;
        let answer = BareAnswer {
            fields: fields(answer.head)?,
            body: Bytes::copy_from_slice(answer.body),
        };
        let bytes = answer.body.len();
        let bare = BareServer::start(answer).map_err(failed("starting the bare server"))?;
        let many = |address| -> std::io::Result<Vec<Connection>> {
            (0..CONNECTIONS)
                .map(|_| Connection::open(address))
                .collect()
        };
        Ok(Self {
            request,
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

    pub(crate) fn close(self) {
        self.bare.stop();
    }

    fn round(&mut self) -> Result<AbRound, MeasureError> {
        let (mut gateway, mut bare) = (0, 0);
        for _ in 0..BURSTS {
            gateway += burst(&mut self.to_gateway, &self.request, &self.gateway)?;
            bare += burst(&mut self.to_bare, &self.request, &self.bare_time)?;
        }
        #[allow(clippy::cast_precision_loss, reason = "a count of some thousands")]
        let each = |nanos| micros(nanos) / REQUESTS as f64;
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

/// Checks that a response is a success with a JSON body.
pub(crate) fn success(
    answer: std::io::Result<HttpAnswer<'_>>,
) -> Result<HttpAnswer<'_>, MeasureError> {
    let answer = answer.map_err(MeasureError::io("waiting for an answer"))?;
    if answer.status == 200 && matches!(answer.body.first(), Some(b'{' | b'[')) {
        return Ok(answer);
    }
    let body = String::from_utf8_lossy(answer.body);
    Err(MeasureError::Wrong(format!("{} {body}", answer.status)))
}

/// The bytes of a `GET`; `more` are whole header lines.
pub(crate) fn request(query: &str, more: &str) -> Vec<u8> {
    format!("GET {query} HTTP/1.1\r\nhost: localhost\r\naccept: */*\r\n{more}\r\n").into_bytes()
}

#[allow(clippy::cast_precision_loss, reason = "nanoseconds far below 2^53")]
pub(crate) fn micros(nanos: u64) -> f64 {
    nanos as f64 / 1_000.0
}

/// The headers a server chose itself; length and date are generated anew.
fn fields(head: &[u8]) -> Result<HeaderMap, MeasureError> {
    let text = String::from_utf8_lossy(head);
    let mut fields = HeaderMap::new();
    for (name, value) in text.lines().filter_map(|line| line.split_once(": ")) {
        let malformed = |_| MeasureError::Wrong(format!("a malformed field {name}"));
        let name: HeaderName = name.parse().map_err(malformed)?;
        if name == http::header::DATE || name == http::header::CONTENT_LENGTH {
            continue;
        }
        let value = HeaderValue::from_str(value).map_err(|_| malformed_value(&name))?;
        fields.append(name, value);
    }
    Ok(fields)
}

fn malformed_value(name: &HeaderName) -> MeasureError {
    MeasureError::Wrong(format!("a malformed value of {name}"))
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
