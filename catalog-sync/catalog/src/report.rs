//! What an import or a sync did: added, changed, unchanged, left out and why.

use core::fmt;
use std::collections::BTreeMap;

use serde::Serialize;

use crate::record::{Kind, NotTradable, Skip, Warning};

/// Skips, warnings and markets that cannot be traded are listed one by one up to this many of each;
/// beyond, they are only counted.
const LISTED: usize = 1_000;

/// How many records of a kind were what.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Tally {
    /// New.
    pub added: u64,
    /// Known, and different now.
    pub changed: u64,
    /// Known, and the same; or older than what is known.
    pub unchanged: u64,
}

/// What became of one record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// It is new.
    Added,
    /// It replaced what was known.
    Changed,
    /// It said nothing new.
    Unchanged,
}

/// A market that is catalogued and cannot be traded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NotTraded {
    /// Its id.
    pub market: u64,
    /// Why.
    pub reason: NotTradable,
}

/// What a batch, or a whole import, did.
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
    /// Added or changed markets that cannot be traded, by the field that is the reason.
    pub not_tradable: BTreeMap<&'static str, u64>,
    /// The first thousand of them.
    pub not_traded: Vec<NotTraded>,
    /// Records left out.
    pub skipped: u64,
    /// The first thousand of them.
    pub skips: Vec<Skip>,
    /// Fields left out.
    pub warned: u64,
    /// The first thousand of them.
    pub warnings: Vec<Warning>,
}

impl Report {
    /// Counts what became of a record.
    pub(crate) fn count(&mut self, kind: Kind, effect: Effect) {
        let tally = match kind {
            Kind::Event => &mut self.events,
            Kind::Market => &mut self.markets,
            Kind::Series => &mut self.series,
            Kind::Tag => &mut self.tags,
        };
        *match effect {
            Effect::Added => &mut tally.added,
            Effect::Changed => &mut tally.changed,
            Effect::Unchanged => &mut tally.unchanged,
        } += 1;
    }

    /// Notes a market that cannot be traded.
    pub(crate) fn not_traded(&mut self, market: u64, reason: &NotTradable) {
        *self.not_tradable.entry(reason.field()).or_default() += 1;
        if self.not_traded.len() < LISTED {
            let reason = reason.clone();
            self.not_traded.push(NotTraded { market, reason });
        }
    }

    /// Notes a record that was left out.
    pub fn skip(&mut self, skip: Skip) {
        self.skipped += 1;
        if self.skips.len() < LISTED {
            self.skips.push(skip);
        }
    }

    /// Notes a field that was left out.
    pub fn warn(&mut self, warning: Warning) {
        self.warned += 1;
        if self.warnings.len() < LISTED {
            self.warnings.push(warning);
        }
    }

    /// Whether anything in the catalog is different now.
    #[must_use]
    pub fn changed_anything(&self) -> bool {
        [self.events, self.markets, self.series, self.tags]
            .iter()
            .any(|tally| tally.added + tally.changed > 0)
    }

    /// Adds what another batch did.
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

/// Lists more, as long as there is room.
fn fill<T>(list: &mut Vec<T>, more: Vec<T>) {
    let room = LISTED.saturating_sub(list.len());
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
            let kind = skip.kind.map_or("record", Kind::word);
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
            batch.count(Kind::Market, Effect::Added);
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
