//! Segments and snapshots as readable memory.
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
    /// Bytes that may be read: what is in the file, and for a live segment what is durable.
    readable: u32,
}

#[derive(Debug)]
enum Memory {
    File(MmapRaw),
    Copy(Mmap),
}

/// Opens a regular file of ours for reading; symbolic links are refused, and so is what would wait for a
/// writer.
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

/// The length of a file, as far as a segment can go.
fn length(file: &File) -> io::Result<usize> {
    let length = file.metadata()?.len().min(u64::from(u32::MAX));
    usize::try_from(length).map_err(io::Error::other)
}

impl SegmentMap {
    /// Maps a file. `readable` is its first bytes that no writer stores to any more; it is cut to
    /// the file's length.
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

    /// Reads a file from the disk itself: after a failed sync the page cache may hold what the disk
    /// does not. Where the file system has no direct reads, the cache is dropped first.
    pub(crate) fn read_past_cache(path: &Path) -> io::Result<Self> {
        let file = match open_for_reading(path, OFlags::DIRECT) {
            Ok(file) => file,
            Err(_) => {
                let file = open_for_reading(path, OFlags::empty())?;
                rustix::fs::fadvise(&file, 0, None::<NonZeroU64>, Advice::DontNeed)?;
                file
            }
        };
        let bytes = length(&file)?;
        if bytes == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        // An anonymous map is aligned as direct reads need it.
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

    /// Raises what may be read: the writer has said that it stores to nothing below `end` any more.
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
            // as the borrow. Nobody changes these bytes while the slice exists: the writer stores
            // only above the durable position it has published, and `readable` never passes that
            // (or there is no writer: the lock is held by whoever reads, or the segment is sealed, or
            // it is the last one of a journal without an engine, to which the next engine does not
            // write either: it begins a file of its own). So this holds for as long as anybody keeps
            // the map; the file is never truncated, and what a sealed segment gives back are zeros
            // that stay zeros. Another program that writes to the files of a 0700
            // directory is outside of what any reader can guard against; what it reads is checked
            // by checksum before use.
            Memory::File(map) => unsafe { std::slice::from_raw_parts(map.as_ptr(), readable) },
        }
    }
}

/// A whole file that nobody stores to any more: a snapshot under its name.
#[derive(Debug)]
pub(crate) struct FileMap(Mmap);

impl FileMap {
    /// Maps a file; an empty one is refused.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let file = open_for_reading(path, OFlags::empty())?;
        // SAFETY: a snapshot is written under another name, synced, made read-only and only then
        // renamed to the name it is opened by; after that it is unlinked at most, which a map
        // outlives, and never truncated or stored to. What another program does to the files of a
        // 0700 directory is outside of what any reader can guard against; what is read is checked
        // by hash before it is believed.
        let map = unsafe { Mmap::map(&file) }?;
        Ok(Self(map))
    }

    /// All bytes of it.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }
}
