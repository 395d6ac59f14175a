//! Result of a comparison.

use core::fmt;
use std::collections::BTreeMap;

use foretell_wire::operator::OperatorCommand as Command;
use serde::Serialize;
use serde_json::{Value, json};

use crate::difference::{FindingKind, Note};
use crate::exchange::command_name;
use crate::limits::{LimitReached, texts};

/// Most findings in the list; the rest is only counted.
const MAX_LISTED: usize = 1_000;

/// Counts of a command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CommandCounts {
    /// Sent and applied.
    pub done: u64,
    /// Sent, but already applied before.
    pub repeated: u64,
}

/// Result of a comparison.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReconcileReport {
    /// The exchange has all catalog changes up to this one.
    pub change: u64,
    /// Counts by command name.
    pub commands: BTreeMap<&'static str, CommandCounts>,
    /// Findings by kind.
    pub found: BTreeMap<FindingKind, u64>,
    /// Findings that require no operator, by text.
    pub reasons: BTreeMap<String, u64>,
    /// The first thousand findings.
    pub notes: Vec<Note>,
    /// Markets to register in the next round.
    pub waiting: u64,
    /// Reached limits.
    pub limits: Vec<LimitReached>,
}

impl ReconcileReport {
    pub(super) fn since(change: u64) -> Self {
        Self {
            change,
            ..Self::default()
        }
    }

    pub(super) fn reached(&mut self, change: u64) {
        if self.waiting == 0 {
            self.change = change;
        }
    }

    /// Postpones markets of this change; the next round starts there.
    pub(super) fn postpone(&mut self, change: u64, markets: u64) {
        if self.waiting == 0 {
            self.change = change.saturating_sub(1);
        }
        self.waiting += markets;
        self.limits = vec![LimitReached::NewMarkets(self.waiting)];
    }

    pub(super) fn count(&mut self, command: &Command, changed: bool) {
        let given = self.commands.entry(command_name(command)).or_default();
        if changed {
            given.done += 1;
        } else {
            given.repeated += 1;
        }
    }

    pub(super) fn note(&mut self, note: Note) {
        let kind = note.finding.kind();
        *self.found.entry(kind).or_default() += 1;
        if matches!(kind, FindingKind::NotTradable | FindingKind::Remark) {
            *self.reasons.entry(note.finding.to_string()).or_default() += 1;
        }
        if self.notes.len() < MAX_LISTED {
            self.notes.push(note);
        }
    }

    /// Number of findings of a kind.
    #[must_use]
    pub fn count_of(&self, kind: FindingKind) -> u64 {
        self.found.get(&kind).copied().unwrap_or_default()
    }

    /// Number of commands that changed something.
    #[must_use]
    pub fn done(&self) -> u64 {
        self.commands.values().map(|given| given.done).sum()
    }

    /// The JSON output.
    #[must_use]
    pub fn json(&self) -> Value {
        let found: BTreeMap<&str, u64> = FindingKind::ALL
            .iter()
            .map(|kind| (kind.word(), self.count_of(*kind)))
            .collect();
        let notes: Vec<Value> = self
            .notes
            .iter()
            .map(|note| {
                json!({
                    "market": note.market.to_string(),
                    "slug": note.slug,
                    "kind": note.finding.kind().word(),
                    "finding": note.finding.to_string(),
                    "command": note.command_line(),
                })
            })
            .collect();
        json!({
            "change": self.change,
            "commands": self.commands,
            "found": found,
            "notes": notes,
            "limits": texts(&self.limits),
        })
    }
}

impl fmt::Display for ReconcileReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (command, given) in &self.commands {
            write!(f, "{command}: {}", given.done)?;
            match given.repeated {
                0 => writeln!(f)?,
                repeated => writeln!(f, ", {repeated} done before")?,
            }
        }
        for (reason, count) in &self.reasons {
            writeln!(f, "{count} markets: {reason}")?;
        }
        for note in &self.notes {
            let (kind, text) = (note.finding.kind(), note.text());
            if kind.is_pressing() {
                let word = kind.word();
                writeln!(f, "{word}: market {} {}: {text}", note.market, note.slug)?;
            }
        }
        for limit in &self.limits {
            writeln!(f, "limit: {limit}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use foretell_model::{ConditionId, Payout};
    use foretell_wire::operator::{MarketName, Resolution};

    use super::*;
    use crate::difference::Finding;

    #[test]
    fn it_reads_as_a_list_of_what_happened() {
        let mut reconciled = ReconcileReport::since(3);
        let close = Command::CloseMarket(MarketName {
            condition_id: ConditionId([1; 32]),
        });
        reconciled.count(&close, true);
        reconciled.count(&close, false);
        for (market, finding) in [
            (1, Finding::Late),
            (2, Finding::Late),
            (3, Finding::TokensDiffer),
            (4, Finding::ResolutionDue(Payout::Yes)),
        ] {
            let slug = format!("m{market}");
            let consent = match finding {
                Finding::ResolutionDue(payout) => Some(Command::ResolveMarket(Resolution::new(
                    ConditionId([2; 32]),
                    payout,
                ))),
                _ => None,
            };
            reconciled.note(Note {
                market,
                slug,
                finding,
                consent,
            });
        }
        reconciled.postpone(9, 7);
        reconciled.reached(20);
        assert_eq!(
            reconciled.to_string(),
            format!(
                "close: 1, 1 done before\n\
                 2 markets: its event's list of questions is final\n\
                 error: market 3 m3: registered with other tokens\n\
                 resolution due: market 4 m4: resolved yes upstream: foretell market resolve \
                 0x{} first\n\
                 limit: the round reached catalog.new_markets: 7 markets wait for the next round\n",
                "02".repeat(32)
            )
        );
        assert_eq!(reconciled.change, 8, "the next round begins with them");
        let json = reconciled.json();
        assert_eq!(json["commands"]["close"]["done"], 1);
        assert_eq!(json["found"]["not tradable"], 2);
        assert_eq!(json["notes"][2]["kind"], "error");
    }
}
