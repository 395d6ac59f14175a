//! The report of an audit, as text and as JSON (docs/verify/auditing.md).

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use foretell_journal::ScanReport;
use foretell_model::{Sequence, TimeNs};
use serde::Serialize;

use super::counts::Counts;
use crate::digits;
use crate::finding::{Finding, Kind};

/// The result of an audit.
#[derive(Clone, Default, Debug, Serialize)]
pub struct Report {
    /// Whether there are no findings.
    pub sound: bool,
    /// 0, or the highest exit code of the findings.
    pub exit_code: u8,
    /// Directory of the journal.
    pub directory: PathBuf,
    /// Totals of the journal, if it was read to its end.
    pub journal: Option<JournalTotals>,
    /// Last re-executed frame.
    pub last_sequence: Sequence,
    /// Time of that frame.
    pub time: TimeNs,
    /// Whether it is a sandbox, as the first frame says.
    pub sandbox: bool,
    /// The frames up to this time are simulated, as the first one says.
    pub simulated_until: Option<TimeNs>,
    /// State digest after that frame.
    #[serde(serialize_with = "digits::hex")]
    pub digest: [u8; 32],
    /// Commands by their proof.
    pub counts: Counts,
    /// Valid and invalid signatures, if checked.
    pub signatures: Option<SignatureCounts>,
    /// Whether the reference exchange executed every command, too.
    pub reference: bool,
    /// Checkpoints signed for this journal whose frame was reached or lies beyond the journal's
    /// end.
    pub checkpoints: usize,
    /// All signed checkpoints given.
    pub checkpoints_given: usize,
    /// Number of attested states compared with re-execution, unless that was declined.
    pub attested_states: Option<usize>,
    /// Divergences that an operator accepted by a journalled command.
    pub accepted_divergences: Vec<Sequence>,
    /// Proofs that were not asked for.
    pub not_checked: Vec<&'static str>,
    /// All findings; empty for a sound journal.
    pub findings: Vec<Finding>,
    /// Read error that ended the audit early, if findings were made before it.
    pub unread: Option<String>,
    /// Duration.
    pub seconds: f64,
    /// Commands audited per second.
    pub commands_per_second: u64,
}

/// Content of a journal.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct JournalTotals {
    #[serde(serialize_with = "digits::hex")]
    genesis: [u8; 32],
    epoch: u64,
    last_sequence: Sequence,
    proven_sequence: Sequence,
    #[serde(serialize_with = "digits::hex")]
    hash: [u8; 32],
    torn_bytes: Option<(u32, u32)>,
}

impl From<&ScanReport> for JournalTotals {
    fn from(scanned: &ScanReport) -> Self {
        Self {
            genesis: scanned.genesis,
            epoch: scanned.epoch,
            last_sequence: scanned.last_sequence,
            proven_sequence: scanned.proven_sequence,
            hash: scanned.hash,
            torn_bytes: scanned.torn,
        }
    }
}

/// Numbers of checked signatures.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug, Serialize)]
pub struct SignatureCounts {
    /// Signatures that hold.
    pub sound: u64,
    /// Signatures that do not.
    pub unsound: u64,
}

impl Report {
    /// Chain hash at the journal's end, if it was read to its end.
    #[must_use]
    pub fn chain(&self) -> Option<[u8; 32]> {
        self.journal.map(|journal| journal.hash)
    }

    /// The report after this time, with what follows from its findings and counts.
    #[must_use]
    pub(crate) fn concluded(self, elapsed: Duration) -> Self {
        let kinds = self.findings.iter().map(|finding| finding.kind);
        let exit_code = kinds.max().map_or(0, Kind::exit_code);
        let seconds = elapsed.as_secs_f64();
        #[allow(
            clippy::cast_precision_loss,
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a rate for people"
        )]
        let commands_per_second = (self.counts.commands as f64 / seconds.max(1e-9)) as u64;
        Self {
            sound: self.findings.is_empty(),
            not_checked: self.not_checked(),
            exit_code,
            seconds,
            commands_per_second,
            ..self
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (counts, last, time) = (&self.counts, self.last_sequence, self.time);
        writeln!(
            f,
            "{} commands, {} trades, up to sequence {last} at {time}",
            counts.commands, counts.trades
        )?;
        if self.sandbox {
            writeln!(
                f,
                "sandbox: its clock can be moved, and its operator trades without signatures"
            )?;
        }
        if let Some(until) = self.simulated_until {
            writeln!(
                f,
                "simulated: everything up to {until}, as the first frame says; no person traded it"
            )?;
        }
        writeln!(
            f,
            "orders: {} carry a signature, {} refused by the book",
            counts.signed_orders, counts.killed_orders
        )?;
        if counts.unsigned_orders > 0 {
            writeln!(
                f,
                "unsigned orders: {} of an operator of this sandbox",
                counts.unsigned_orders
            )?;
        }
        if counts.signed_sets > 0 {
            writeln!(
                f,
                "sets of quotes: {} carry a signature",
                counts.signed_sets
            )?;
        }
        writeln!(
            f,
            "without a signature: {} attested by a gateway, {} by the operator, {} by the engine",
            counts.gateway_attested, counts.operator, counts.engine
        )?;
        writeln!(
            f,
            "deposits: {} of {} in all, by the operator's word alone",
            counts.deposits, counts.deposited
        )?;
        self.write_further_proofs(f)?;
        if let Some(journal) = &self.journal {
            journal.fmt(f)?;
        }
        writeln!(f, "state digest  {}", hex::encode(self.digest))?;
        for sequence in &self.accepted_divergences {
            writeln!(
                f,
                "the operator accepted a divergence at sequence {sequence}"
            )?;
        }
        let (seconds, rate) = (self.seconds, self.commands_per_second);
        writeln!(f, "{seconds:.2} s, {rate} commands/s")?;
        for finding in &self.findings {
            writeln!(f, "{finding}")?;
        }
        if let Some(unread) = &self.unread {
            writeln!(f, "not read to the end: {unread}")?;
        }
        match (self.sound, self.not_checked.is_empty()) {
            (true, true) => f.write_str("sound"),
            (true, false) => write!(f, "sound; not checked: {}", self.not_checked.join(", ")),
            (false, _) => f.write_str("NOT SOUND"),
        }
    }
}

impl Report {
    /// The proofs that were not asked for.
    fn not_checked(&self) -> Vec<&'static str> {
        let proofs = [
            ("signatures", self.signatures.is_some()),
            ("the reference", self.reference),
            ("attested states", self.attested_states.is_some()),
            ("checkpoints", self.checkpoints_given > 0),
        ];
        let left = proofs.into_iter().filter(|(_, is_checked)| !is_checked);
        left.map(|(proof, _)| proof).collect()
    }

    fn write_further_proofs(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(SignatureCounts { sound, unsound }) = self.signatures {
            writeln!(f, "signatures: {sound} hold, {unsound} do not")?;
        }
        if self.reference {
            writeln!(f, "reference: every command executed and compared")?;
        }
        if let Some(compared) = self.attested_states {
            writeln!(f, "attested states: {compared} compared")?;
        }
        let (compared, given) = (self.checkpoints, self.checkpoints_given);
        match given {
            0 => Ok(()),
            _ => writeln!(f, "checkpoints: {compared} of {given} compared"),
        }
    }
}

impl fmt::Display for JournalTotals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "chain         {}", hex::encode(self.hash))?;
        if self.proven_sequence < self.last_sequence {
            writeln!(f, "proven up to  {}", self.proven_sequence)?;
        }
        match self.torn_bytes {
            Some((from, to)) => writeln!(
                f,
                "after its end, bytes {from} to {to} of the last segment are not a valid batch: what \
                 a crash leaves, or frames that were damaged"
            ),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The last line alone must say that the audit is incomplete.
    #[test]
    fn a_report_lists_unchecked_parts_and_bytes_after_the_end() {
        let report = Report {
            journal: Some(JournalTotals {
                genesis: [1; 32],
                epoch: 1,
                last_sequence: Sequence(9),
                proven_sequence: Sequence(9),
                hash: [2; 32],
                torn_bytes: Some((8_192, 12_288)),
            }),
            checkpoints: 1,
            checkpoints_given: 2,
            ..Report::default()
        };
        let second = Duration::from_secs(1);
        let mut report = report.concluded(second);
        let text = report.to_string();
        let end = "\nsound; not checked: signatures, the reference, attested states";
        assert!(text.ends_with(end), "{text}");
        assert!(text.contains("bytes 8192 to 12288"), "{text}");
        assert!(text.contains("checkpoints: 1 of 2"), "{text}");
        report.signatures = Some(SignatureCounts {
            sound: 5,
            unsound: 0,
        });
        (report.reference, report.attested_states) = (true, Some(0));
        let mut report = report.concluded(second);
        assert!(report.to_string().ends_with("\nsound"));
        report
            .findings
            .push(Finding::new(Kind::Rule, Sequence(3), "wrong"));
        report.unread = Some("frame version 2".to_owned());
        let text = report.concluded(second).to_string();
        assert!(text.contains("not read to the end: frame version 2\n"));
        assert!(text.ends_with("\nNOT SOUND"));
    }
}
