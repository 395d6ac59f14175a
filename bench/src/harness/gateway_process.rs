//! A gateway as a child process: time until it answers, and its memory.

use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use foretell_model::Sequence;
use serde_json::Value;

use super::http;
use crate::error::MeasureError;

/// Command line of `foretell`, which this program holds, on a data directory with default settings.
pub(crate) fn foretell(data: &Path) -> Result<Command, MeasureError> {
    let program = std::env::current_exe().map_err(MeasureError::io("finding this program"))?;
    let mut command = Command::new(program);
    command.arg("exchange").current_dir(data);
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("FORETELL_")) {
        command.env_remove(name);
    }
    Ok(command)
}

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
    /// Starts a gateway with one surface on a data directory, on a free port. Requests `path` until
    /// the response is a state at `minimum` or later.
    pub(crate) fn start(
        surface: &str,
        data: &Path,
        path: &str,
        minimum: Sequence,
    ) -> Result<Self, MeasureError> {
        let listen = format!("--{surface}-listen");
        let mut command = foretell(data)?;
        command
            .args(["gateway", "--surfaces", surface, &listen, "127.0.0.1:0"])
            .arg("--data")
            .arg(data)
            // A measurement sends as fast as it can from one address.
            .env("FORETELL_LIMITS_ENABLED", "false");
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
        http::await_state(address, path, minimum)?;
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
