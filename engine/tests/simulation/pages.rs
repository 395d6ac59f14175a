//! One file: its unsynced pages, and the contents of the disk for them.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use foretell_journal::PAGE;

use super::context::SimContext;
use super::coverage::Situation;

/// Bytes of a sector, which is written atomically.
const SECTOR: usize = 512;

/// A page's contents on the disk; `None` = the disk has no such page yet.
type OnDisk = Option<Box<[u8]>>;

/// The state of a file. The real file has the contents that programs see.
#[derive(Debug, Default)]
pub(super) struct Pages {
    /// Pages written since the last sync, with their contents on the disk.
    pending: BTreeMap<u64, OnDisk>,
    /// Pages lost by a failed sync, which nothing will write again.
    lost: BTreeMap<u64, OnDisk>,
    /// Number of pages on the disk.
    on_disk: u64,
    /// Length of the file as programs see it.
    length: u64,
}

impl Pages {
    pub(super) const fn length(&self) -> u64 {
        self.length
    }

    /// Whether every byte below `end` is on the disk as programs see it.
    pub(super) fn is_on_disk(&self, end: u64) -> bool {
        let below = |pages: &BTreeMap<u64, OnDisk>| {
            let first = pages.keys().next();
            first.is_none_or(|page| page * PAGE as u64 >= end)
        };
        below(&self.pending) && below(&self.lost)
    }

    pub(super) fn is_synced(&self) -> bool {
        self.pending.is_empty()
    }

    /// Called before a write: saves the contents of the disk for its pages.
    pub(super) fn write(&mut self, file: &File, offset: u64, bytes: usize) -> io::Result<()> {
        let end = offset + bytes as u64;
        let page = PAGE as u64;
        for number in offset / page..end.div_ceil(page) {
            if self.pending.contains_key(&number) {
                continue;
            }
            let on_disk = match self.lost.remove(&number) {
                Some(on_disk) => on_disk,
                None if number < self.on_disk => {
                    let mut old = vec![0; PAGE].into_boxed_slice();
                    file.read_at(&mut old, number * page)?;
                    Some(old)
                }
                None => None,
            };
            self.pending.insert(number, on_disk);
        }
        self.length = self.length.max(end);
        Ok(())
    }

    /// Marks all pages as written.
    pub(super) fn synced(&mut self) {
        self.pending.clear();
        self.on_disk = self.length.div_ceil(PAGE as u64);
    }

    /// A sync fails: the disk has some of the pages, and the system forgets the others.
    pub(super) fn sync_failed(&mut self, context: &SimContext) {
        for (number, on_disk) in std::mem::take(&mut self.pending) {
            if context.percent(50) {
                self.lost.insert(number, on_disk);
            } else {
                self.on_disk = self.on_disk.max(number + 1);
            }
        }
    }

    /// Drops the cache: lost pages show the contents of the disk.
    pub(super) fn drop_cache(&mut self, file: &File) -> io::Result<()> {
        for (number, on_disk) in std::mem::take(&mut self.lost) {
            put(file, number, on_disk.as_deref())?;
        }
        Ok(())
    }

    /// Cuts the power: each unsynced page is old, new, or has some sectors of each, according to
    /// `mood`.
    pub(super) fn power_cut(
        &mut self,
        file: &File,
        mood: Mood,
        context: &SimContext,
    ) -> io::Result<()> {
        self.drop_cache(file)?;
        let mut reached = self.on_disk;
        for (number, on_disk) in std::mem::take(&mut self.pending) {
            match mood.choose(context) {
                PageOutcome::New => reached = reached.max(number + 1),
                PageOutcome::Old => {
                    context.count(Situation::UnsyncedPageLost);
                    put(file, number, on_disk.as_deref())?;
                }
                PageOutcome::Torn => {
                    context.count(Situation::UnsyncedPageTorn);
                    tear(file, number, on_disk.as_deref(), context.draw())?;
                    reached = reached.max(number + 1);
                }
            }
        }
        // The disk may have the new length without the last pages.
        if reached * (PAGE as u64) < self.length && context.percent(50) {
            self.length = reached * PAGE as u64;
            file.set_len(self.length)?;
        }
        self.on_disk = self.length.div_ceil(PAGE as u64);
        Ok(())
    }
}

/// The state of unsynced pages after a power cut.
#[derive(Clone, Copy, Debug)]
pub(super) enum Mood {
    /// All are old.
    AllOld,
    /// All are new.
    AllNew,
    /// Each is chosen separately.
    Mixed,
}

enum PageOutcome {
    Old,
    New,
    Torn,
}

impl Mood {
    fn choose(self, context: &SimContext) -> PageOutcome {
        match self {
            Self::AllOld => PageOutcome::Old,
            Self::AllNew => PageOutcome::New,
            Self::Mixed => match context.below(5) {
                0 => PageOutcome::Torn,
                1 | 2 => PageOutcome::Old,
                _ => PageOutcome::New,
            },
        }
    }
}

fn put(file: &File, number: u64, content: Option<&[u8]>) -> io::Result<()> {
    const ZEROS: [u8; PAGE] = [0; PAGE];
    file.write_all_at(content.unwrap_or(&ZEROS), number * PAGE as u64)
}

/// Restores the old contents of the sectors whose bit is set.
fn tear(file: &File, number: u64, old: Option<&[u8]>, sectors: u64) -> io::Result<()> {
    const ZEROS: [u8; PAGE] = [0; PAGE];
    let old = old.unwrap_or(&ZEROS);
    for (index, sector) in old.chunks(SECTOR).enumerate() {
        if sectors >> index & 1 == 1 {
            let at = number * PAGE as u64 + (index * SECTOR) as u64;
            file.write_all_at(sector, at)?;
        }
    }
    Ok(())
}
