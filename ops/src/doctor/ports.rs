//! Whether the listen addresses are free, or held by this exchange.

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use super::Subject;
use super::finding::Finding;
use super::settings::surfaces;
use crate::processes::listen::reserve;

/// Hexadecimal state of a listening socket in `/proc/net/tcp`.
const LISTENING: &str = "0A";

/// Each address that cannot be listened on; one finding when all can.
pub(super) fn find(subject: &Subject<'_>) -> Vec<Finding> {
    let surfaces = surfaces(subject.config);
    let (mut free, mut own) = (0, 0);
    let mut refused = Vec::new();
    for (setting, address) in surfaces {
        let Err(failure) = reserve(address) else {
            free += 1;
            continue;
        };
        let holder = holder(address);
        if subject.engine.is_some() && holder.as_ref().is_some_and(Holder::is_ours) {
            own += 1;
            continue;
        }
        let mut finding = Finding::from(failure);
        finding.value = format!("{setting}: {}", finding.value);
        if let Some(holder) = holder {
            finding.value += &format!(", held by process {} ({})", holder.pid, holder.name());
        }
        refused.push(finding);
    }
    match refused.is_empty() {
        true => vec![Finding::ok(format!(
            "{free} free, {own} held by this exchange"
        ))],
        false => refused,
    }
}

/// A process that listens.
struct Holder {
    pid: u32,
    program: PathBuf,
}

impl Holder {
    /// Name of its program, also of one that was replaced.
    fn name(&self) -> String {
        let name = self
            .program
            .file_name()
            .unwrap_or_default()
            .to_string_lossy();
        name.trim_end_matches(" (deleted)").to_owned()
    }

    /// Whether it runs this program, perhaps of another version.
    fn is_ours(&self) -> bool {
        let own = std::env::current_exe().ok();
        own.and_then(|own| Some(own.file_name()?.to_string_lossy() == self.name())) == Some(true)
    }
}

/// The process that listens on the port of an address, if this user may see it.
fn holder(address: SocketAddr) -> Option<Holder> {
    let inodes: Vec<String> = ["/proc/net/tcp", "/proc/net/tcp6"]
        .iter()
        .filter_map(|table| fs::read_to_string(table).ok())
        .flat_map(|table| listeners(&table, address.port()))
        .map(|inode| format!("socket:[{inode}]"))
        .collect();
    let processes = fs::read_dir("/proc").ok()?.flatten();
    let mut numbers = processes.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let holds = |pid: &u32| {
        let files = fs::read_dir(format!("/proc/{pid}/fd"))
            .into_iter()
            .flatten();
        let mut targets = files
            .flatten()
            .filter_map(|file| file.path().read_link().ok());
        targets.any(|target| inodes.iter().any(|inode| target == Path::new(inode)))
    };
    let pid = numbers.find(holds)?;
    let program = fs::read_link(format!("/proc/{pid}/exe")).ok()?;
    Some(Holder { pid, program })
}

/// Inodes of the sockets in a table of `/proc/net` that listen on a port.
fn listeners(table: &str, port: u16) -> Vec<String> {
    let port = format!("{port:04X}");
    let inode = |line: &str| {
        let mut fields = line.split_whitespace().skip(1);
        let (local, _, state) = (fields.next()?, fields.next()?, fields.next()?);
        let is_one = local.rsplit(':').next() == Some(&*port) && state == LISTENING;
        is_one.then(|| fields.nth(5).map(str::to_owned)).flatten()
    };
    table.lines().filter_map(inode).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_listener_is_found_with_its_process() {
        let socket = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let found = holder(socket.local_addr().unwrap()).unwrap();
        assert_eq!(found.pid, std::process::id());
        assert!(found.is_ours());
        let table = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n\
                     0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000   998        0 46312 1\n\
                     1: 0100007F:1F90 0100007F:9C40 01 00000000:00000000 00:00000000 00000000   998        0 46313 1\n";
        assert_eq!(listeners(table, 8080), ["46312"]);
        assert_eq!(listeners(table, 8081), [""; 0]);
    }
}
