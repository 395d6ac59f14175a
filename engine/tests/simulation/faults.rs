//! What goes wrong in one life of the engine: decided when it begins, from the seed.

use std::path::Path;

use super::fate::Fate;

/// What is asked of the disk.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Operation {
    Create,
    Rename,
    Remove,
    SyncDir,
    /// A write inside of what the file has.
    Write,
    /// A write that makes the file longer.
    Grow,
    Sync,
}

/// What an operation meets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Strike {
    /// It is the last: process or machine die in it.
    Die,
    /// The device fails.
    Fail,
    /// There is no room.
    Full,
    /// Only a part is written.
    Short,
    /// A signal came.
    Interrupted,
}

/// The troubles of one life. Operations are counted from its beginning, recovery included.
#[derive(Clone, Debug, Default)]
pub(super) struct Trouble {
    operations: u64,
    /// It ends in this operation, or in the first of a kind from it on.
    dies_at: Option<(u64, Option<Operation>)>,
    /// From this operation on the next write, sync or change of names fails, once.
    fails_at: Option<(u64, Operation)>,
    /// No file grows from the first to the second.
    full: Option<(u64, u64)>,
    /// Writes in a hundred that are cut short.
    short: u64,
    /// Writes in a hundred that are interrupted.
    interrupted: u64,
    fate: Option<Fate>,
    has_struck: bool,
}

impl Trouble {
    /// Troubles for a life; none of them is certain.
    pub(super) fn draw(fate: &Fate) -> Self {
        let mut trouble = Self {
            fate: Some(fate.clone()),
            ..Self::default()
        };
        if fate.percent(45) {
            let spread = fate.pick(&[12, 60, 300]);
            let kind = fate.pick(&[None, Some(Operation::Sync), Some(Operation::Write)]);
            trouble.dies_at = Some((fate.below(spread), kind));
        }
        if fate.percent(30) {
            let operations = [Operation::Write, Operation::Sync, Operation::Sync];
            let others = [Operation::Grow, Operation::Rename, Operation::SyncDir];
            let operation = if fate.percent(75) {
                fate.pick(&operations)
            } else {
                fate.pick(&others)
            };
            let spread = fate.pick(&[20, 60, 200]);
            trouble.fails_at = Some((fate.below(spread), operation));
        }
        if fate.percent(15) {
            let from = fate.below(60);
            trouble.full = Some((from, from + fate.below(100)));
        }
        if fate.percent(20) {
            trouble.short = fate.below(40);
        }
        if fate.percent(20) {
            trouble.interrupted = fate.below(30);
        }
        trouble
    }

    /// Whether an error was told.
    pub(super) const fn has_struck(&self) -> bool {
        self.has_struck
    }

    /// Whether no file can grow now.
    pub(super) fn is_full(&self) -> bool {
        let now = self.operations;
        self.full
            .is_some_and(|(from, to)| (from..to).contains(&now))
    }

    /// What the next operation meets.
    pub(super) fn strike(&mut self, operation: Operation, path: &Path) -> Option<Strike> {
        use Operation::{Create, Grow, Write};
        let now = self.operations;
        self.operations += 1;
        if let Some((at, kind)) = self.dies_at
            && at <= now
            && kind.is_none_or(|kind| kind == operation)
        {
            return Some(Strike::Die);
        }
        let is_marker = path.ends_with("IO_ERROR");
        if let Some((at, what)) = self.fails_at
            && at <= now
            && what == operation
            && !is_marker
        {
            self.fails_at = None;
            self.has_struck = true;
            return Some(Strike::Fail);
        }
        if self.is_full() && matches!(operation, Grow | Create) && !is_marker {
            self.has_struck = true;
            return Some(Strike::Full);
        }
        if matches!(operation, Write | Grow) {
            let fate = self.fate.clone()?;
            if fate.percent(self.short) {
                return Some(Strike::Short);
            }
            if fate.percent(self.interrupted) {
                return Some(Strike::Interrupted);
            }
        }
        None
    }
}
