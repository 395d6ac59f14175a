//! Faults in one life of the engine, chosen from the seed at its start.

use std::path::Path;

use super::context::SimContext;

/// An operation on the disk.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Operation {
    Create,
    Rename,
    Remove,
    SyncDir,
    /// A write within the file's length.
    Write,
    /// A write that extends the file.
    Grow,
    Sync,
}

/// A fault of an operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Fault {
    /// Process or machine die in it.
    Die,
    /// The device fails.
    Fail,
    /// The disk is full.
    Full,
    /// Only a part is written.
    Short,
    /// A signal interrupts it.
    Interrupted,
}

/// The faults of one life. Operations are counted from its start, recovery included.
#[derive(Clone, Debug, Default)]
pub(super) struct FaultPlan {
    operations: u64,
    /// It ends in this operation, or in the first of this kind from there on.
    dies_at: Option<(u64, Option<Operation>)>,
    /// From this operation on, the next write, sync or change of names fails, once.
    fails_at: Option<(u64, Operation)>,
    /// No file can be extended between these two operations.
    full: Option<(u64, u64)>,
    /// Percentage of short writes.
    short: u64,
    /// Percentage of interrupted writes.
    interrupted: u64,
    context: Option<SimContext>,
    has_failed: bool,
}

impl FaultPlan {
    /// Random faults for a life; each is optional.
    pub(super) fn draw(context: &SimContext) -> Self {
        let mut plan = Self {
            context: Some(context.clone()),
            ..Self::default()
        };
        if context.percent(45) {
            let spread = context.pick(&[12, 60, 300]);
            let kind = context.pick(&[None, Some(Operation::Sync), Some(Operation::Write)]);
            plan.dies_at = Some((context.below(spread), kind));
        }
        if context.percent(30) {
            let operations = [Operation::Write, Operation::Sync, Operation::Sync];
            let others = [Operation::Grow, Operation::Rename, Operation::SyncDir];
            let operation = if context.percent(75) {
                context.pick(&operations)
            } else {
                context.pick(&others)
            };
            let spread = context.pick(&[20, 60, 200]);
            plan.fails_at = Some((context.below(spread), operation));
        }
        if context.percent(15) {
            let from = context.below(60);
            plan.full = Some((from, from + context.below(100)));
        }
        if context.percent(20) {
            plan.short = context.below(40);
        }
        if context.percent(20) {
            plan.interrupted = context.below(30);
        }
        plan
    }

    /// Whether an error was returned.
    pub(super) const fn has_failed(&self) -> bool {
        self.has_failed
    }

    /// Whether the disk is full now.
    pub(super) fn is_full(&self) -> bool {
        let now = self.operations;
        self.full
            .is_some_and(|(from, to)| (from..to).contains(&now))
    }

    /// The fault of the next operation.
    pub(super) fn next_fault(&mut self, operation: Operation, path: &Path) -> Option<Fault> {
        use Operation::{Create, Grow, Write};
        let now = self.operations;
        self.operations += 1;
        if let Some((at, kind)) = self.dies_at
            && at <= now
            && kind.is_none_or(|kind| kind == operation)
        {
            return Some(Fault::Die);
        }
        let is_marker = path.ends_with("IO_ERROR");
        if let Some((at, what)) = self.fails_at
            && at <= now
            && what == operation
            && !is_marker
        {
            self.fails_at = None;
            self.has_failed = true;
            return Some(Fault::Fail);
        }
        if self.is_full() && matches!(operation, Grow | Create) && !is_marker {
            self.has_failed = true;
            return Some(Fault::Full);
        }
        if matches!(operation, Write | Grow) {
            let context = self.context.clone()?;
            if context.percent(self.short) {
                return Some(Fault::Short);
            }
            if context.percent(self.interrupted) {
                return Some(Fault::Interrupted);
            }
        }
        None
    }
}
