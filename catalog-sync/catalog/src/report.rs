//! Result of an import or sync: records added, changed, unchanged, and skipped with reasons.

use core::fmt;
use std::collections::BTreeMap;

use serde::Serialize;

use crate::record::{NotTradable, RecordKind, Skip, Warning};

/// Most entries in each list of a report (skips, warnings, untradable markets); the rest is only
/// counted.
const MAX_LISTED: usize = 1_000;

/// Counts of records of one kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Tally {
    /// New records.
    pub added: u64,
    /// Existing records with a new content.
    pub changed: u64,
    /// Existing records with the same content, or a newer stored version.
    pub unchanged: u64,
}

/// Effect of storing one record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PutEffect {
    /// It is new.
    Added,
    /// It replaced the stored one.
    Changed,
    /// Nothing changed.
    Unchanged,
}

/// A market in the catalog that cannot be traded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NotTraded {
    /// Its id.
    pub market: u64,
    /// Why.
    pub reason: NotTradable,
}

/// Result of a batch or of a whole import.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Report {
    /// Events, those inside markets included.
    pub events: Tally,
    /// Markets, those inside events included.
    pub markets: Tally,
    /// Series, those inside events included.
    pub series: Tally,
    /// Tags, those inside events included.
    pub tags: Tally,
    /// Added or changed markets that cannot be traded, counted by the offending field.
    pub not_tradable: BTreeMap<&'static str, u64>,
    /// The first thousand untradable markets.
    pub not_traded: Vec<NotTraded>,
    /// Number of skipped records.
    pub skipped: u64,
    /// The first thousand skips.
    pub skips: Vec<Skip>,
    /// Number of dropped fields.
    pub warned: u64,
    /// The first thousand warnings.
    pub warnings: Vec<Warning>,
}

impl Report {
    /// Counts the effect of a record.
    pub(crate) fn count(&mut self, kind: RecordKind, effect: PutEffect) {
        let tally = match kind {
            RecordKind::Event => &mut self.events,
            RecordKind::Market => &mut self.markets,
            RecordKind::Series => &mut self.series,
            RecordKind::Tag => &mut self.tags,
        };
        *match effect {
            PutEffect::Added => &mut tally.added,
            PutEffect::Changed => &mut tally.changed,
            PutEffect::Unchanged => &mut tally.unchanged,
        } += 1;
    }

    /// Whether no record was read, good or bad.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        let tallies = [self.events, self.markets, self.series, self.tags];
        self.skipped == 0 && tallies.iter().all(|tally| *tally == Tally::default())
    }

    /// Adds a market that cannot be traded.
    pub(crate) fn not_traded(&mut self, market: u64, reason: &NotTradable) {
        *self.not_tradable.entry(reason.field()).or_default() += 1;
        if self.not_traded.len() < MAX_LISTED {
            let reason = reason.clone();
            self.not_traded.push(NotTraded { market, reason });
        }
    }

    /// Adds a skipped record.
    pub fn skip(&mut self, skip: Skip) {
        self.skipped += 1;
        if self.skips.len() < MAX_LISTED {
            self.skips.push(skip);
        }
    }

    /// Adds a dropped field.
    pub fn warn(&mut self, warning: Warning) {
        self.warned += 1;
        if self.warnings.len() < MAX_LISTED {
            self.warnings.push(warning);
        }
    }

    /// Whether the catalog changed.
    #[must_use]
    pub fn changed_anything(&self) -> bool {
        [self.events, self.markets, self.series, self.tags]
            .iter()
            .any(|tally| tally.added + tally.changed > 0)
    }

    /// Adds the result of another batch.
    pub fn merge(&mut self, other: Self) {
        for (sum, part) in [
            (&mut self.events, other.events),
            (&mut self.markets, other.markets),
            (&mut self.series, other.series),
            (&mut self.tags, other.tags),
        ] {
            sum.added += part.added;
            sum.changed += part.changed;
            sum.unchanged += part.unchanged;
        }
        for (reason, count) in other.not_tradable {
            *self.not_tradable.entry(reason).or_default() += count;
        }
        self.skipped += other.skipped;
        self.warned += other.warned;
        fill(&mut self.skips, other.skips);
        fill(&mut self.warnings, other.warnings);
        fill(&mut self.not_traded, other.not_traded);
    }
}

/// Appends entries up to the limit of a list.
fn fill<T>(list: &mut Vec<T>, more: Vec<T>) {
    let room = MAX_LISTED.saturating_sub(list.len());
    list.extend(more.into_iter().take(room));
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, tally) in [
            ("events", self.events),
            ("markets", self.markets),
            ("series", self.series),
            ("tags", self.tags),
        ] {
            writeln!(
                f,
                "{name}: {} added, {} changed, {} unchanged",
                tally.added, tally.changed, tally.unchanged
            )?;
        }
        for (field, count) in &self.not_tradable {
            writeln!(f, "not tradable for its {field}: {count}")?;
        }
        for NotTraded { market, reason } in &self.not_traded {
            writeln!(f, "not tradable, market {market}: {reason}")?;
        }
        for skip in &self.skips {
            let kind = skip.kind.map_or("record", RecordKind::word);
            writeln!(f, "skipped {kind} {}: {}", skip.id, skip.reason)?;
        }
        for warning in &self.warnings {
            let Warning {
                kind,
                id,
                field,
                problem,
            } = warning;
            writeln!(f, "{} {id}: {field} {problem}, left out", kind.word())?;
        }
        let unlisted = self.skipped + self.warned - (self.skips.len() + self.warnings.len()) as u64;
        if unlisted > 0 {
            writeln!(f, "and {unlisted} more")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::SkipReason;

    #[test]
    fn a_report_counts_everything_and_lists_a_thousand() {
        let mut total = Report::default();
        for _ in 0..3 {
            let mut batch = Report::default();
            batch.count(RecordKind::Market, PutEffect::Added);
            for _ in 0..600 {
                batch.skip(Skip {
                    kind: None,
                    id: "7".into(),
                    reason: SkipReason::UnknownKind,
                });
            }
            total.merge(batch);
        }
        assert_eq!(total.markets.added, 3);
        assert_eq!((total.skipped, total.skips.len()), (1_800, 1_000));
        assert!(total.to_string().ends_with("and 800 more\n"));
        assert!(total.changed_anything());
        assert!(!Report::default().changed_anything());
    }
}
