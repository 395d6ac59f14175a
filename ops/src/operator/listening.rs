//! Where the running exchange of a data directory serves operators: a file that the gateway writes once it listens, and
//! holds locked while it runs. A file that nobody holds is of a gateway that has ended.

use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::net::SocketAddr;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::time::Duration;

use rustix::fs::{FlockOperation, OFlags};
use rustix::io::Errno;
use tracing::warn;

/// The file's name in the data directory: an address and a line feed.
pub(crate) const NAME: &str = "operator.listen";
const LOCK_ATTEMPTS: u32 = 20;
const LOCK_PAUSE: Duration = Duration::from_millis(10);

/// The address stands in the file as long as this exists.
#[derive(Debug)]
pub(crate) struct Listening(#[expect(dead_code, reason = "it holds the lock")] File);

/// Writes the address. Of two gateways of one directory that serve operators, the first one stands in the file.
pub(crate) fn announce(data: &Path, address: SocketAddr) -> Option<Listening> {
    match write(data, address, LOCK_ATTEMPTS) {
        Ok(file) => Some(Listening(file)),
        Err(error) => {
            warn!(%error, "commands with this --data need --operator-listen or operator.listen");
            None
        }
    }
}

fn write(data: &Path, address: SocketAddr, attempts: u32) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(false).mode(0o600);
    let mut file = open(data, &mut options)?;
    lock(&file, attempts)?;
    file.set_len(0)?;
    writeln!(file, "{address}")?;
    Ok(file)
}

/// Tries again for a moment: a command that looks whether somebody holds the file holds it itself meanwhile.
fn lock(file: &File, attempts: u32) -> io::Result<()> {
    for _ in 0..attempts {
        match rustix::fs::flock(file, FlockOperation::NonBlockingLockExclusive) {
            Err(Errno::WOULDBLOCK) => std::thread::park_timeout(LOCK_PAUSE),
            locked => return Ok(locked?),
        }
    }
    Err(Errno::WOULDBLOCK.into())
}

/// The address of the exchange that runs on a data directory; `None` if none does.
pub(crate) fn address(data: &Path) -> Option<SocketAddr> {
    let file = open(data, OpenOptions::new().read(true)).ok()?;
    match rustix::fs::flock(&file, FlockOperation::NonBlockingLockShared) {
        Err(Errno::WOULDBLOCK) => io::read_to_string(file).ok()?.trim().parse().ok(),
        _ => None,
    }
}

/// Fails on a symbolic link in place of the file.
fn open(data: &Path, options: &mut OpenOptions) -> io::Result<File> {
    let no_follow = OFlags::NOFOLLOW.bits().cast_signed();
    options.custom_flags(no_follow).open(data.join(NAME))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_is_known_while_the_gateway_runs() {
        let data = tempfile::tempdir().unwrap();
        assert_eq!(address(data.path()), None);
        let at = |port| SocketAddr::from(([127, 0, 0, 1], port));
        let first = announce(data.path(), at(40_001)).unwrap();
        assert_eq!(address(data.path()), Some(at(40_001)));
        assert!(
            announce(data.path(), at(40_002)).is_none(),
            "the first stays"
        );
        assert_eq!(address(data.path()), Some(at(40_001)));
        drop(first);
        assert_eq!(address(data.path()), None, "a file that is left is stale");
        // While a command looks, which holds the lock for that moment.
        let looking = File::open(data.path().join(NAME)).unwrap();
        rustix::fs::flock(&looking, FlockOperation::LockShared).unwrap();
        std::thread::scope(|scope| {
            assert!(write(data.path(), at(40_003), 1).is_err(), "it is held");
            let announced = scope.spawn(|| write(data.path(), at(40_003), u32::MAX));
            drop(looking);
            announced.join().unwrap().unwrap();
        });
        let _next = announce(data.path(), at(7)).unwrap();
        assert_eq!(
            address(data.path()),
            Some(at(7)),
            "a shorter text replaces it"
        );
    }
}
