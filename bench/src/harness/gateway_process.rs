//! A gateway as a child process: time until it answers, and its memory.

use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use foretell_model::Sequence;
use serde_json::Value;

use crate::error::MeasureError;
use crate::harness::http::Connection;

/// Retry interval until the gateway can answer.
const PAUSE: Duration = Duration::from_millis(2);
/// Maximum start time of a gateway on a long history, on a slow disk too.
const PATIENCE: Duration = Duration::from_secs(600);

/// A gateway that answers; dropping it kills the process.
pub(crate) struct GatewayProcess {
    child: Child,
    /// Listen address of its one surface.
    pub(crate) address: SocketAddr,
    /// Time from its start to its first answer.
    pub(crate) after: Duration,
}

/// Memory of a process in bytes, from the kernel.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Memory {
    /// Anonymous memory: no part of a file.
    pub(crate) anonymous: u64,
    /// Resident memory, touched file pages included.
    pub(crate) resident: u64,
}

impl GatewayProcess {
    /// Starts `command`, which reports the address of its one surface by one JSON line. Requests
    /// `path` until the response is a state at `minimum` or later.
    pub(crate) fn start(
        mut command: Command,
        path: &str,
        minimum: Sequence,
    ) -> Result<Self, MeasureError> {
        let began = Instant::now();
        let child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(MeasureError::io("starting a gateway"))?;
        let mut gateway = Self {
            child,
            address: SocketAddr::from(([0; 4], 0)),
            after: Duration::ZERO,
        };
        let address = gateway.reported_address()?;
        let minimum = minimum.0;
        let request =
            format!("GET {path} HTTP/1.1\r\nHost: x\r\nx-min-sequence: {minimum}\r\n\r\n");
        let asking = || -> std::io::Result<()> {
            let mut connection = Connection::open(address)?;
            loop {
                match connection.ask(request.as_bytes())?.status {
                    200 => return Ok(()),
                    status if began.elapsed() > PATIENCE => {
                        let text = format!("{path} has status {status} for too long");
                        return Err(std::io::Error::other(text));
                    }
                    _ => std::thread::park_timeout(PAUSE),
                }
            }
        };
        asking().map_err(MeasureError::io("asking a gateway"))?;
        (gateway.address, gateway.after) = (address, began.elapsed());
        Ok(gateway)
    }

    fn reported_address(&mut self) -> Result<SocketAddr, MeasureError> {
        let mut line = String::new();
        if let Some(stdout) = self.child.stdout.take() {
            BufReader::new(stdout)
                .read_line(&mut line)
                .map_err(MeasureError::io("reading a gateway's output"))?;
        }
        let ready: Value = serde_json::from_str(&line).unwrap_or_default();
        let listen = ["trading", "data", "catalog"].map(|surface| ready[surface].as_str());
        let listen = listen.into_iter().flatten().next();
        let address = listen.and_then(|text| text.parse().ok());
        address.ok_or_else(|| MeasureError::Wrong(format!("a gateway said {line:?}")))
    }

    pub(crate) fn process(&self) -> u32 {
        self.child.id()
    }

    /// Current memory.
    pub(crate) fn memory(&self) -> Result<Memory, MeasureError> {
        let path = format!("/proc/{}/smaps_rollup", self.child.id());
        let text = std::fs::read_to_string(path)
            .map_err(MeasureError::io("reading the memory of a gateway"))?;
        let kibibytes = |name: &str| -> Option<u64> {
            let line = text.lines().find_map(|line| line.strip_prefix(name))?;
            line.trim().strip_suffix(" kB")?.parse().ok()
        };
        let memory = || {
            Some(Memory {
                anonymous: kibibytes("Anonymous:")? << 10,
                resident: kibibytes("Rss:")? << 10,
            })
        };
        memory().ok_or_else(|| MeasureError::Wrong(format!("no memory figures in {text:?}")))
    }
}

impl Drop for GatewayProcess {
    fn drop(&mut self) {
        // The process may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
