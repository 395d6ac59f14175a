//! The report of an audit, as text and as JSON.

use std::fmt;
use std::path::PathBuf;

use foretell_journal::ScanReport;
use foretell_model::{Sequence, TimeNs};
use serde_json::{Value, json};

use crate::finding::Finding;
use crate::prove::checkpoints::CheckpointStats;
use crate::show::counts::Counts;

/// The result of an audit.
#[derive(Clone, Debug)]
pub struct Report {
    /// Directory of the journal.
    pub directory: PathBuf,
    /// Totals of the journal, if it was read to its end.
    pub journal: Option<ScanReport>,
    /// Last re-executed frame.
    pub last: Sequence,
    /// Time of that frame.
    pub time: TimeNs,
    /// State digest after that frame.
    pub digest: [u8; 32],
    /// Commands by their proof.
    pub counts: Counts,
    /// Valid and invalid signatures, if checked.
    pub signatures: Option<(u64, u64)>,
    /// Whether the reference exchange executed every command, too.
    pub reference: bool,
    /// Signed checkpoints given and compared.
    pub checkpoints: CheckpointStats,
    /// Number of attested states compared with re-execution, if requested.
    pub attested_states: Option<usize>,
    /// Divergences that an operator accepted by a journalled command.
    pub accepted_divergences: Vec<Sequence>,
    /// All findings; empty for a sound journal.
    pub findings: Vec<Finding>,
    /// Read error that ended the audit early, if findings were made before it.
    pub unread: Option<String>,
    /// Duration.
    pub seconds: f64,
}

impl Report {
    /// Whether there are no findings and no read error.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        self.findings.is_empty()
    }

    /// 0, or the highest exit code of the findings.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        let kinds = self.findings.iter().map(|finding| finding.kind);
        kinds.max().map_or(0, crate::finding::Kind::exit_code)
    }

    fn per_second(&self) -> u64 {
        #[allow(
            clippy::cast_precision_loss,
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a rate for people"
        )]
        let rate = (self.counts.commands() as f64 / self.seconds.max(1e-9)) as u64;
        rate
    }

    pub(crate) fn json(&self) -> Value {
        let journal = self.journal.as_ref().map(|journal| {
            json!({
                "genesis": hex::encode(journal.genesis),
                "epoch": journal.epoch,
                "last_sequence": journal.last_sequence.0,
                "proven_sequence": journal.proven_sequence.0,
                "hash": hex::encode(journal.hash),
                "torn_bytes": journal.torn,
            })
        });
        let signatures = self
            .signatures
            .map(|(sound, unsound)| json!({ "sound": sound, "unsound": unsound }));
        json!({
            "sound": self.is_sound(),
            "exit_code": self.exit_code(),
            "directory": self.directory,
            "journal": journal,
            "last_sequence": self.last.0,
            "time": self.time,
            "digest": hex::encode(self.digest),
            "counts": self.counts.json(),
            "signatures": signatures,
            "reference": self.reference,
            "checkpoints": self.checkpoints.compared,
            "checkpoints_given": self.checkpoints.given,
            "attested_states": self.attested_states,
            "accepted_divergences": self.accepted_divergences.iter().map(|it| it.0).collect::<Vec<_>>(),
            "findings": self.findings.iter().map(Finding::json).collect::<Vec<_>>(),
            "unread": self.unread,
            "seconds": self.seconds,
            "commands_per_second": self.per_second(),
        })
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counts = &self.counts;
        writeln!(
            f,
            "{} commands, {} trades, up to sequence {} at {}",
            counts.commands(),
            counts.trades,
            self.last,
            self.time
        )?;
        writeln!(
            f,
            "orders: {} carry a signature, {} refused by the book",
            counts.signed_orders, counts.killed_orders
        )?;
        writeln!(
            f,
            "without a signature: {} attested by a gateway, {} by the operator, {} by the engine",
            counts.gateway_attested, counts.operator, counts.engine
        )?;
        match self.signatures {
            Some((sound, unsound)) => writeln!(f, "signatures: {sound} hold, {unsound} do not")?,
            None => writeln!(f, "signatures: not checked (--signatures)")?,
        }
        if self.reference {
            writeln!(f, "reference: every command executed and compared")?;
        } else {
            writeln!(f, "reference: not compared (--reference)")?;
        }
        let CheckpointStats { compared, given } = self.checkpoints;
        if given > 0 {
            writeln!(f, "checkpoints: {compared} of {given} compared with it")?;
        }
        if let Some(compared) = self.attested_states {
            writeln!(f, "attested states: {compared} compared with it")?;
        }
        if let Some(journal) = &self.journal {
            writeln!(f, "chain         {}", hex::encode(journal.hash))?;
            if journal.proven_sequence < journal.last_sequence {
                writeln!(f, "proven up to  {}", journal.proven_sequence)?;
            }
            if let Some((from, to)) = journal.torn {
                writeln!(
                    f,
                    "after its end, bytes {from} to {to} of the last segment are not a valid batch: what \
                     a crash leaves, or frames that were damaged"
                )?;
            }
        }
        writeln!(f, "state digest  {}", hex::encode(self.digest))?;
        for sequence in &self.accepted_divergences {
            writeln!(
                f,
                "the operator accepted a divergence at sequence {sequence}"
            )?;
        }
        writeln!(f, "{:.2} s, {} commands/s", self.seconds, self.per_second())?;
        for finding in &self.findings {
            writeln!(f, "{finding}")?;
        }
        if let Some(unread) = &self.unread {
            writeln!(f, "not read to the end: {unread}")?;
        }
        f.write_str(match (self.is_sound(), self.signatures) {
            (true, Some(_)) => "sound",
            (true, None) => "sound; signatures were not checked",
            (false, _) => "NOT SOUND",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The last line alone must say that the audit is incomplete.
    #[test]
    fn a_report_lists_unchecked_parts_and_bytes_after_the_end() {
        let mut report = Report {
            directory: PathBuf::new(),
            journal: Some(ScanReport {
                genesis: [1; 32],
                epoch: 1,
                last_sequence: Sequence(9),
                proven_sequence: Sequence(9),
                hash: [2; 32],
                torn: Some((8_192, 12_288)),
            }),
            last: Sequence(9),
            time: TimeNs(0),
            digest: [3; 32],
            counts: Counts::default(),
            signatures: None,
            reference: false,
            checkpoints: CheckpointStats {
                compared: 1,
                given: 2,
            },
            attested_states: None,
            accepted_divergences: Vec::new(),
            findings: Vec::new(),
            unread: None,
            seconds: 1.0,
        };
        let text = report.to_string();
        assert!(
            text.ends_with("sound; signatures were not checked"),
            "{text}"
        );
        assert!(text.contains("bytes 8192 to 12288"), "{text}");
        assert!(text.contains("checkpoints: 1 of 2"), "{text}");
        report.signatures = Some((5, 0));
        assert!(report.to_string().ends_with("\nsound"));
        let found = Finding::new(crate::finding::Kind::Rule, Sequence(3), "wrong");
        report.findings.push(found);
        report.unread = Some("frame version 2".to_owned());
        assert!(
            report
                .to_string()
                .contains("not read to the end: frame version 2\n")
        );
        assert!(report.to_string().ends_with("\nNOT SOUND"));
    }
}
