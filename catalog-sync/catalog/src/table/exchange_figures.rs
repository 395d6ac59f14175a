//! What the exchange knows of the rows of the table.

use std::collections::{BTreeSet, HashMap};

use foldhash::fast::RandomState;
use foretell_model::ConditionId;

use super::NO_EVENT;
use crate::trading::Figures;

/// Figures of registered markets, and the rows that need them.
#[derive(Debug, Default)]
pub(super) struct ExchangeFigures {
    known: HashMap<ConditionId, Figures, RandomState>,
    /// Rows of shown markets.
    rows: HashMap<ConditionId, u32, RandomState>,
    by_row: HashMap<u32, Figures, RandomState>,
    /// Market rows by event row; a market that left an event is still in its list.
    markets: HashMap<u32, Vec<u32>, RandomState>,
    /// Markets whose figures or records changed.
    changed: Vec<ConditionId>,
    /// Events whose records changed.
    changed_events: BTreeSet<u32>,
}

impl ExchangeFigures {
    pub(super) fn take(&mut self, changed: Vec<(ConditionId, Figures)>) {
        for (condition, figures) in changed {
            self.known.insert(condition, figures);
            self.changed.push(condition);
        }
    }

    pub(super) fn has_changes(&self) -> bool {
        !self.changed.is_empty()
    }

    /// The same figures for a table that is read again.
    pub(super) fn afresh(self) -> Self {
        Self {
            known: self.known,
            ..Self::default()
        }
    }

    /// A changed event record.
    pub(super) fn event(&mut self, row: u32) {
        self.changed_events.insert(row);
    }

    /// A changed market record; a hidden one has no condition here.
    pub(super) fn market(&mut self, row: u32, condition: Option<ConditionId>, event: u32) {
        let markets = self.markets.entry(event).or_default();
        match condition {
            Some(condition) => {
                self.rows.insert(condition, row);
                if self.known.contains_key(&condition) {
                    self.changed.push(condition);
                }
            }
            None => {
                self.by_row.remove(&row);
            }
        }
        if event != NO_EVENT && !markets.contains(&row) {
            markets.push(row);
        }
    }

    /// The figures of changed markets by row, and the changed events, since the last call.
    pub(super) fn changes(
        &mut self,
        event_of: impl Fn(u32) -> u32,
    ) -> (Vec<(u32, Figures)>, BTreeSet<u32>) {
        let mut events = std::mem::take(&mut self.changed_events);
        let mut markets = Vec::new();
        for condition in std::mem::take(&mut self.changed) {
            if let (Some(row), Some(figures)) =
                (self.rows.get(&condition), self.known.get(&condition))
            {
                self.by_row.insert(*row, *figures);
                markets.push((*row, *figures));
                events.insert(event_of(*row));
            }
        }
        events.remove(&NO_EVENT);
        (markets, events)
    }

    /// The market rows that an event has or had.
    pub(super) fn markets_of(&self, event: u32) -> &[u32] {
        self.markets.get(&event).map_or(&[], Vec::as_slice)
    }

    pub(super) fn of_row(&self, row: u32) -> Option<Figures> {
        self.by_row.get(&row).copied()
    }
}
