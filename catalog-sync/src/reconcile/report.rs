//! What a comparison did and found.

use core::fmt;
use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Value, json};

use crate::difference::{Kind, Note};
use crate::exchange::Command;
use crate::limits::{LimitReached, texts};

/// Findings that are listed one by one; beyond, they are only counted.
const LISTED: usize = 1_000;

/// How often a command was given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Given {
    /// And changed something.
    pub done: u64,
    /// And had been done before.
    pub repeated: u64,
}

/// What a comparison did and found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reconciled {
    /// Changes of the catalog up to this one are in the exchange.
    pub change: u64,
    /// Commands by their word.
    pub commands: BTreeMap<&'static str, Given>,
    /// Findings by what they ask of the operator.
    pub found: BTreeMap<Kind, u64>,
    /// Findings that need no operator, by their text.
    pub reasons: BTreeMap<String, u64>,
    /// The first thousand findings.
    pub notes: Vec<Note>,
    /// Markets that wait for the next round to be registered.
    pub waiting: u64,
    /// Bounds that were reached.
    pub limits: Vec<LimitReached>,
}

impl Reconciled {
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

    /// Leaves markets of this change to the next round, which begins there.
    pub(super) fn postpone(&mut self, change: u64, markets: u64) {
        if self.waiting == 0 {
            self.change = change.saturating_sub(1);
        }
        self.waiting += markets;
        self.limits = vec![LimitReached::NewMarkets(self.waiting)];
    }

    pub(super) fn count(&mut self, command: &Command, changed: bool) {
        let given = self.commands.entry(command.name()).or_default();
        if changed {
            given.done += 1;
        } else {
            given.repeated += 1;
        }
    }

    pub(super) fn note(&mut self, note: Note) {
        let kind = note.finding.kind();
        *self.found.entry(kind).or_default() += 1;
        if matches!(kind, Kind::NotTradable | Kind::Remark) {
            *self.reasons.entry(note.finding.to_string()).or_default() += 1;
        }
        if self.notes.len() < LISTED {
            self.notes.push(note);
        }
    }

    /// How many findings of a kind there are.
    #[must_use]
    pub fn count_of(&self, kind: Kind) -> u64 {
        self.found.get(&kind).copied().unwrap_or_default()
    }

    /// Commands that changed something.
    #[must_use]
    pub fn done(&self) -> u64 {
        self.commands.values().map(|given| given.done).sum()
    }

    /// For programs.
    #[must_use]
    pub fn json(&self) -> Value {
        let found: BTreeMap<&str, u64> = Kind::ALL
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

impl fmt::Display for Reconciled {
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

    use super::*;
    use crate::difference::Finding;

    #[test]
    fn it_reads_as_a_list_of_what_happened() {
        let mut reconciled = Reconciled::since(3);
        let close = Command::Close(ConditionId([1; 32]));
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
                Finding::ResolutionDue(payout) => {
                    Some(Command::Resolve(ConditionId([2; 32]), payout))
                }
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
                 0x{} yes\n\
                 limit: the round reached catalog.new_markets: 7 markets wait for the next one\n",
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
