//! One file as the disk has it, beside what programs see: which pages are not synced, and what the
//! disk holds in their place.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use foretell_journal::PAGE;

use super::coverage::Situation;
use super::fate::Fate;

/// What a sector of the disk is: it is written whole or not at all.
const SECTOR: usize = 512;

/// A page as the disk has it; `None` = the disk has no such page yet.
type OnDisk = Option<Box<[u8]>>;

/// The state of a file. What programs see is in the real file.
#[derive(Debug, Default)]
pub(super) struct Pages {
    /// Written since the last sync: what the disk has.
    pending: BTreeMap<u64, OnDisk>,
    /// A sync failed and the disk did not take them; nothing will write them again.
    lost: BTreeMap<u64, OnDisk>,
    /// Pages the disk has.
    on_disk: u64,
    /// Bytes the file has for programs.
    length: u64,
}

impl Pages {
    pub(super) const fn length(&self) -> u64 {
        self.length
    }

    /// Whether the disk has every byte below `end` as programs see it.
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

    /// Bytes are about to be written: keeps what the disk has in their place.
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

    /// The disk has taken everything.
    pub(super) fn synced(&mut self) {
        self.pending.clear();
        self.on_disk = self.length.div_ceil(PAGE as u64);
    }

    /// The disk has taken some, says it failed, and the system forgets about the rest.
    pub(super) fn sync_failed(&mut self, fate: &Fate) {
        for (number, on_disk) in std::mem::take(&mut self.pending) {
            if fate.percent(50) {
                self.lost.insert(number, on_disk);
            } else {
                self.on_disk = self.on_disk.max(number + 1);
            }
        }
    }

    /// The cache is dropped: programs see what the disk has of the pages it did not take.
    pub(super) fn forget_cache(&mut self, file: &File) -> io::Result<()> {
        for (number, on_disk) in std::mem::take(&mut self.lost) {
            put(file, number, on_disk.as_deref())?;
        }
        Ok(())
    }

    /// The power is cut: of each unsynced page the disk has the old, the new, or some sectors of
    /// each, as `mood` goes.
    pub(super) fn power_cut(&mut self, file: &File, mood: Mood, fate: &Fate) -> io::Result<()> {
        self.forget_cache(file)?;
        let mut reached = self.on_disk;
        for (number, on_disk) in std::mem::take(&mut self.pending) {
            match mood.choose(fate) {
                Kept::New => reached = reached.max(number + 1),
                Kept::Old => {
                    fate.count(Situation::UnsyncedPageLost);
                    put(file, number, on_disk.as_deref())?;
                }
                Kept::Torn => {
                    fate.count(Situation::UnsyncedPageTorn);
                    tear(file, number, on_disk.as_deref(), fate.draw())?;
                    reached = reached.max(number + 1);
                }
            }
        }
        // Whether the disk has the new length although it has not the last pages.
        if reached * (PAGE as u64) < self.length && fate.percent(50) {
            self.length = reached * PAGE as u64;
            file.set_len(self.length)?;
        }
        self.on_disk = self.length.div_ceil(PAGE as u64);
        Ok(())
    }
}

/// What the disk makes of unsynced pages in one power cut.
#[derive(Clone, Copy, Debug)]
pub(super) enum Mood {
    /// It had written nothing.
    AllOld,
    /// It had written everything.
    AllNew,
    /// Each page by itself.
    Mixed,
}

enum Kept {
    Old,
    New,
    Torn,
}

impl Mood {
    fn choose(self, fate: &Fate) -> Kept {
        match self {
            Self::AllOld => Kept::Old,
            Self::AllNew => Kept::New,
            Self::Mixed => match fate.below(5) {
                0 => Kept::Torn,
                1 | 2 => Kept::Old,
                _ => Kept::New,
            },
        }
    }
}

fn put(file: &File, number: u64, content: Option<&[u8]>) -> io::Result<()> {
    const ZEROS: [u8; PAGE] = [0; PAGE];
    file.write_all_at(content.unwrap_or(&ZEROS), number * PAGE as u64)
}

/// Puts back the old content of the sectors whose bit is set.
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
