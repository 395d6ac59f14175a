//! The disk of the journal: file system, room, and the time of `fdatasync`.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use foretell_model::Durability;
use rustix::fs::StatVfs;

use super::Subject;
use super::finding::Finding;
use crate::config::Config;

/// Longest usual `fdatasync`; an order waits for one.
const USUAL_SYNC: Duration = Duration::from_millis(10);
/// Writes that are timed, and their size in bytes.
const PROBES: usize = 8;
const PROBE_BYTES: usize = 4_096;
/// Fewest free inodes.
const MIN_INODES: u64 = 1_000;
/// Segments that are always allocated: the current one and the next.
const SEGMENTS: u64 = 2;

const ALLOWED: &str = "ext4 or XFS on a disk of this machine";
/// File systems by the number in `statfs(2)`: name, and why a journal is not kept there.
const FILE_SYSTEMS: [(u32, &str, Option<&str>); 14] = [
    (0xef53, "ext4", None),
    (0x5846_5342, "XFS", None),
    (0x9123_683e, "btrfs", None),
    (0xf2f5_2010, "F2FS", None),
    (0x2fc1_2fc1, "ZFS", None),
    (
        0x0102_1994,
        "tmpfs",
        Some("it is memory, and lost with the power"),
    ),
    (
        0x8584_58f6,
        "ramfs",
        Some("it is memory, and lost with the power"),
    ),
    (
        0x794c_7630,
        "overlay",
        Some("it is a container's layer, and lost with the container"),
    ),
    (0x6969, "NFS", Some(NETWORK)),
    (0xff53_4d42, "CIFS", Some(NETWORK)),
    (0xfe53_4d42, "SMB", Some(NETWORK)),
    (0x00c3_6400, "Ceph", Some(NETWORK)),
    (0x0102_1997, "9P", Some(NETWORK)),
    (
        0x6573_5546,
        "FUSE",
        Some("its syncs and locks are those of a program"),
    ),
];
const NETWORK: &str = "it is a network's, whose syncs and locks do not hold as the journal needs";

/// The journal's directory, or the one above it that exists.
fn place(config: &Config) -> PathBuf {
    let directory = config
        .data
        .directory
        .join(foretell_engine::JOURNAL_DIRECTORY);
    let absolute = std::path::absolute(&directory).unwrap_or(directory);
    let existing = absolute.ancestors().find(|way| way.exists());
    existing.unwrap_or(Path::new("/")).to_owned()
}

/// A finding of what the kernel says of the file system.
fn of_file_system<T>(
    subject: &Subject<'_>,
    ask: impl FnOnce(&Path) -> rustix::io::Result<T>,
    find: impl FnOnce(T) -> Finding,
) -> Finding {
    let place = place(subject.config);
    match ask(&place) {
        Ok(answer) => find(answer),
        Err(error) => Finding::warning(format!("{}: {error}", place.display()), "check the mount"),
    }
}

/// Whether the journal's file system keeps what is synced.
pub(super) fn file_system(subject: &Subject<'_>) -> Finding {
    let ask = |place: &Path| rustix::fs::statfs(place);
    of_file_system(subject, ask, |answer| {
        // The numbers are of 32 bits, whatever type the kernel's field has.
        let number = u32::try_from(answer.f_type & 0xffff_ffff).unwrap_or(0);
        let known = FILE_SYSTEMS.iter().find(|(known, ..)| *known == number);
        let action = "put data.directory on another disk, in a container on a volume";
        match known {
            Some((_, name, None)) => Finding::ok(*name),
            Some((_, name, Some(why))) => Finding::warning(format!("{name}: {why}"), action),
            None => Finding::warning(format!("unknown, number {number:#x}"), action),
        }
        .allowed(ALLOWED)
    })
}

/// Whether orders and segments have room.
pub(super) fn free_space(subject: &Subject<'_>) -> Finding {
    let engine = &subject.config.engine;
    let least = u64::from(engine.disk_reserve_mib) + SEGMENTS * u64::from(engine.segment_mib);
    of_file_system(
        subject,
        |place: &Path| rustix::fs::statvfs(place),
        |stat: StatVfs| {
            let free = stat.f_bavail.saturating_mul(stat.f_frsize) >> 20;
            let action = "free space: below engine.disk_reserve_mib new orders get 503";
            Finding::when(free >= least, format!("{free} MiB"), action)
                .allowed(format!("{least} MiB or more"))
        },
    )
}

/// Whether files can be made.
pub(super) fn free_inodes(subject: &Subject<'_>) -> Finding {
    of_file_system(
        subject,
        |place: &Path| rustix::fs::statvfs(place),
        |stat: StatVfs| {
            if stat.f_files == 0 {
                return Finding::ok("no limit");
            }
            let free = stat.f_favail;
            let action = "remove files of others, or make the file system with more inodes";
            Finding::when(free >= MIN_INODES, free.to_string(), action)
                .allowed(format!("{MIN_INODES} or more"))
        },
    )
}

/// How long an order waits for the disk. The file has no name and is gone with this process.
pub(super) fn sync_time(subject: &Subject<'_>) -> Finding {
    let config = subject.config;
    if config.engine.durability != Durability::Disk {
        return Finding::ok("no answer waits for it: engine.durability is not \"disk\"");
    }
    if !config.data.directory.exists() {
        return Finding::ok("not measured: the first start makes the data directory");
    }
    let place = place(config);
    match sync_times(&place) {
        Ok(times) => of_times(&times),
        Err(error) => Finding::refused(
            format!("{}: cannot write there: {error}", place.display()),
            "check owner, mount options and space",
        ),
    }
}

/// Sorted times of [`PROBES`] writes, each with its sync.
fn sync_times(place: &Path) -> io::Result<Vec<Duration>> {
    let mut file: fs::File = tempfile::tempfile_in(place)?;
    let mut sync = || {
        file.write_all(&[1; PROBE_BYTES])?;
        let started = Instant::now();
        file.sync_data()?;
        Ok(started.elapsed())
    };
    let mut times: Vec<_> = (0..PROBES).map(|_| sync()).collect::<io::Result<_>>()?;
    times.sort_unstable();
    Ok(times)
}

fn of_times(times: &[Duration]) -> Finding {
    let millis = |time: Duration| time.as_secs_f64() * 1e3;
    let (middle, longest) = (times[times.len() / 2], times[times.len() - 1]);
    let value = format!(
        "{:.2} ms in the middle, {:.2} ms at most of {} writes",
        millis(middle),
        millis(longest),
        times.len()
    );
    let action = "use a disk with power-loss protection, and move other writers away";
    Finding::when(middle <= USUAL_SYNC, value, action)
        .allowed(format!("{} ms in the middle", USUAL_SYNC.as_millis()))
}

#[cfg(test)]
mod tests {
    use super::super::finding::Weight;
    use super::*;

    #[test]
    fn a_slow_disk_is_named() {
        let of = |millis: [u64; 3]| of_times(&millis.map(Duration::from_millis)).weight;
        assert_eq!(of([1, 10, 500]), Weight::Ok);
        assert_eq!(of([1, 11, 11]), Weight::Warning);
    }

    #[test]
    fn timing_leaves_no_file() {
        let place = tempfile::tempdir().unwrap();
        assert_eq!(sync_times(place.path()).unwrap().len(), PROBES);
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0);
        assert!(sync_times(&place.path().join("missing")).is_err());
    }
}
