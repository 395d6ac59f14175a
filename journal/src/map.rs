//! Maps segments and snapshots into memory.
#![allow(
    unsafe_code,
    reason = "a map is a raw pointer; each slice formed from one is argued for below"
)]

use std::fs::{File, OpenOptions};
use std::io;
use std::num::NonZeroU64;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;

use memmap2::{Mmap, MmapMut, MmapOptions, MmapRaw};
use rustix::fs::{Advice, OFlags};

use crate::bytes::{PAGE, to_u32, whole_pages};

/// One segment file, mapped or (after an I/O error) read past the page cache.
#[derive(Debug)]
pub(crate) struct SegmentMap {
    memory: Memory,
    /// Bytes that may be read: of a live segment the durable ones, else the whole file.
    readable: u32,
}

#[derive(Debug)]
enum Memory {
    File(MmapRaw),
    Copy(Mmap),
}

/// Opens a regular file for reading. Refuses symbolic links and other kinds of files; opening a
/// FIFO does not block.
pub(crate) fn open_for_reading(path: &Path, more: OFlags) -> io::Result<File> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | more;
    let flags = i32::try_from(flags.bits()).expect("open flags are an int");
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(flags)
        .open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "not a regular file",
        ));
    }
    Ok(file)
}

/// The length of a file, at most the maximum size of a segment.
fn length(file: &File) -> io::Result<usize> {
    let length = file.metadata()?.len().min(u64::from(u32::MAX));
    usize::try_from(length).map_err(io::Error::other)
}

impl SegmentMap {
    /// Maps a file. `readable` is the number of its first bytes that no writer changes any more,
    /// capped at the file's length.
    pub(crate) fn open(path: &Path, readable: u32) -> io::Result<Self> {
        let file = open_for_reading(path, OFlags::empty())?;
        let bytes = length(&file)?;
        if bytes == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let map = MmapOptions::new().len(bytes).map_raw_read_only(&file)?;
        Ok(Self {
            memory: Memory::File(map),
            readable: readable.min(to_u32(bytes)),
        })
    }

    /// Reads a file from the disk: after a failed sync the page cache may differ from the disk.
    /// Where the file system has no direct reads, the cache is dropped first.
    pub(crate) fn read_past_cache(path: &Path) -> io::Result<Self> {
        let file = match open_for_reading(path, OFlags::DIRECT) {
            Ok(file) => file,
            Err(_) => {
                let file = open_for_reading(path, OFlags::empty())?;
                rustix::fs::fadvise(&file, 0, None::<NonZeroU64>, Advice::DontNeed)?;
                file
            }
        };
        Self::copy_of(&file)
    }

    /// Reads a file that a writer may change meanwhile; checksums find what it changed.
    pub(crate) fn read(path: &Path) -> io::Result<Self> {
        Self::copy_of(&open_for_reading(path, OFlags::empty())?)
    }

    fn copy_of(file: &File) -> io::Result<Self> {
        let bytes = length(file)?;
        if bytes == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        // An anonymous map has the alignment that direct reads require.
        let mut copy = MmapMut::map_anon(whole_pages(bytes))?;
        let mut done = 0;
        while done < bytes {
            let read = file.read_at(&mut copy[done..], done as u64)?;
            done += read;
            if !read.is_multiple_of(PAGE) || read == 0 {
                break;
            }
        }
        Ok(Self {
            memory: Memory::Copy(copy.make_read_only()?),
            readable: to_u32(done.min(bytes)),
        })
    }

    /// Raises the readable length to `end`: the writer no longer changes bytes below it.
    pub(crate) fn raise(&mut self, end: u32) {
        let bytes = match &self.memory {
            Memory::File(map) => map.len(),
            Memory::Copy(map) => map.len(),
        };
        self.readable = self.readable.max(end.min(to_u32(bytes)));
    }

    /// The readable bytes.
    pub(crate) fn bytes(&self) -> &[u8] {
        let readable = crate::bytes::to_usize(self.readable);
        match &self.memory {
            Memory::Copy(map) => &map[..readable],
            // SAFETY: the map is at least `readable` bytes long (`open`, `raise`) and lives as long
            // as the borrow. No byte of the slice changes while it exists. A writer stores only
            // above the durable position that it has published, and `readable` never exceeds that.
            // Without a writer the reader holds the lock, or the segment is sealed, or it is the
            // last one of a journal without an engine; the next engine does not write to it,
            // because it begins a file of its own. In cluster mode the next engine resumes in that
            // file: its own map of it is dropped before, and other readers copy it (`read`). So
            // this holds as long as the map lives. The file
            // is never truncated, and the released bytes of a sealed segment are zeros that stay
            // zeros. No reader can protect itself from another program that writes to files of a
            // 0700 directory; all bytes read are checked by checksum before use.
            Memory::File(map) => unsafe { std::slice::from_raw_parts(map.as_ptr(), readable) },
        }
    }
}

/// A whole immutable file: a snapshot under its final name.
#[derive(Debug)]
pub(crate) struct FileMap(Mmap);

impl FileMap {
    /// Maps a file; refuses an empty one.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let file = open_for_reading(path, OFlags::empty())?;
        // SAFETY: a snapshot is written under a temporary name, synced, made read-only and only
        // then renamed to the name it is opened by. Later it may be unlinked, which a map outlives;
        // it is never truncated or written. No reader can protect itself from another program that
        // writes to files of a 0700 directory; all bytes are checked by hash before they are
        // trusted.
        let map = unsafe { Mmap::map(&file) }?;
        Ok(Self(map))
    }

    /// All bytes of it.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }
}
