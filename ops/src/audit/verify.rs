//! The whole audit of a journal: one pass over its frames, each of which is executed again, folded
//! into a record that knows no core, and, when asked, checked for its maker's signature. A sound one
//! is read by several threads at once; one that is not is read a second time, frame by frame, to say
//! what is wrong with it.

use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::Instant;

use foretell_journal::frame::Frame;
use foretell_journal::{JournalError, ScanReport, Scratch};
use foretell_model::{FrameRef, Sequence};

use super::attested::AttestedStates;
use super::checkpoints::{Kept, Vouched};
use super::execution::{Differs, Execution};
use super::finding::{Finding, Kind};
use super::recorded::Recorded;
use super::report::Report;
use super::signatures::Signatures;
use super::source::Source;
use super::together;
use crate::failure::Failure;

/// What to look at, and how.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Checkpoints the journal must agree with, in the order of their sequences; their signatures
    /// are checked for this journal.
    pub checkpoints: Vec<Kept>,
    /// Check every order's signature.
    pub signatures: bool,
    /// Compare the states that the journal attests. It is read once more before, and a digest is
    /// computed for each.
    pub attestations: bool,
    /// Threads that check signatures; as many as there are cores when not given.
    pub threads: Option<NonZeroUsize>,
    /// Show a bar, if standard error is a terminal.
    pub progress: bool,
}

/// Audits the journal in `directory` from its genesis to its end, or to what is durable while an
/// engine runs. Reads only.
///
/// # Errors
/// There is no journal, or its files cannot be read. What is wrong with a journal is no error but a
/// finding of the report.
pub fn verify(directory: &Path, options: &Options) -> Result<Report, Failure> {
    let source = Source::open(directory, options.progress)?;
    let started = Instant::now();
    let attested = match options.attestations {
        true => AttestedStates::find(&source),
        false => AttestedStates::default(),
    };
    let checkpoints = || {
        let mut vouched = Vouched::new(&source, &options.checkpoints);
        vouched.attested = attested.clone();
        vouched
    };
    let mut report = match together(&source, options, checkpoints())? {
        Some(report) => report,
        None => frame_by_frame(&source, options, checkpoints())?,
    };
    report.attested_states = report.attested_states.filter(|_| options.attestations);
    report.seconds = started.elapsed().as_secs_f64();
    Ok(report)
}

/// The report of a journal in which nothing is wrong but, maybe, checkpoints and signatures.
fn together(
    source: &Source,
    options: &Options,
    checkpoints: Vouched,
) -> Result<Option<Report>, Failure> {
    let Some(sound) = together::read(source, checkpoints, options.start_signatures()) else {
        return Ok(None);
    };
    let last = sound.exchange.sequence();
    let attested_states = Some(sound.checkpoints.attested.compared());
    let (findings, checkpoints) = sound.checkpoints.findings(source, Some(last))?;
    let mut report = Report {
        directory: source.directory().to_owned(),
        journal: Some(sound.journal),
        last,
        time: sound.time,
        digest: sound.digest,
        counts: sound.counts,
        signatures: None,
        checkpoints,
        attested_states,
        accepted_divergences: Vec::new(),
        findings,
        unread: None,
        seconds: 0.0,
    };
    report.add_signatures(sound.signatures);
    Ok(Some(report))
}

fn frame_by_frame(
    source: &Source,
    options: &Options,
    checkpoints: Vouched,
) -> Result<Report, Failure> {
    let mut audit = Audit::new(source, options, checkpoints);
    let mut scratch = Scratch::default();
    let scanned = source.each(&mut |frame| audit.frame(frame, &mut scratch));
    audit.finish(scanned)
}

impl Options {
    fn start_signatures(&self) -> Option<Signatures> {
        self.signatures.then(|| Signatures::start(self.threads))
    }
}

impl Report {
    /// Waits for the signatures, if they are checked.
    fn add_signatures(&mut self, signatures: Option<Signatures>) {
        let Some(checked) = signatures.map(Signatures::finish) else {
            return;
        };
        self.signatures = Some((checked.sound, checked.unsound));
        self.findings.extend(checked.findings);
    }
}

struct Audit<'s> {
    source: &'s Source,
    checkpoints: Vouched,
    execution: Execution,
    recorded: Recorded,
    findings: Vec<Finding>,
    /// Why not all of the journal can be read, where that is no damage.
    unread: Option<Failure>,
}

impl<'s> Audit<'s> {
    fn new(source: &'s Source, options: &Options, checkpoints: Vouched) -> Self {
        Self {
            source,
            checkpoints,
            execution: Execution::new(),
            recorded: Recorded::new(options.start_signatures()),
            findings: Vec::new(),
            unread: None,
        }
    }

    /// Looks at the next frame; breaks behind the first one whose state cannot be relied on.
    fn frame(&mut self, frame: &Frame<'_>, scratch: &mut Scratch) -> ControlFlow<()> {
        let sequence = frame.sequence();
        let frame = match frame.decode(scratch) {
            Ok(frame) => frame,
            Err(error) => return self.found(Kind::Damage, sequence, error.to_string()),
        };
        let executed = self.execute(&frame);
        let recorded = self.fold(&frame);
        if executed.is_break() || recorded.is_break() {
            return ControlFlow::Break(());
        }
        let exchange = self.execution.exchange();
        self.checkpoints
            .passed(sequence, frame.place, || exchange.digest());
        ControlFlow::Continue(())
    }

    fn execute(&mut self, frame: &FrameRef<'_>) -> ControlFlow<()> {
        match self.execution.follow(frame, self.source) {
            Ok(()) => ControlFlow::Continue(()),
            Err(Differs::Record(text)) => self.found(Kind::Contradiction, frame.sequence, text),
            Err(Differs::Unjudged(text, error)) => {
                self.stopped_by(&error);
                let text = format!("{text}; whether an operator accepted that cannot be told");
                self.found(Kind::Contradiction, frame.sequence, text)
            }
        }
    }

    fn fold(&mut self, frame: &FrameRef<'_>) -> ControlFlow<()> {
        match self.recorded.apply(frame) {
            Ok(()) => ControlFlow::Continue(()),
            Err(broken) => self.found(broken.kind, frame.sequence, broken.text),
        }
    }

    fn found(&mut self, kind: Kind, sequence: Sequence, text: String) -> ControlFlow<()> {
        self.findings.push(Finding::new(kind, sequence, text));
        ControlFlow::Break(())
    }

    fn finish(
        mut self,
        scanned: Result<Option<ScanReport>, JournalError>,
    ) -> Result<Report, Failure> {
        let journal = scanned.unwrap_or_else(|error| {
            self.stopped_by(&error);
            None
        });
        let last = self.execution.exchange().sequence();
        let end = journal.as_ref().map(|_| last);
        if end.is_some() {
            self.compare_states();
        }
        let attested_states = Some(self.checkpoints.attested.compared());
        let (disagree, checkpoints) = self.checkpoints.findings(self.source, end)?;
        self.findings.extend(disagree);
        let signatures = self.recorded.signatures.take();
        let exchange = self.execution.exchange();
        let mut report = Report {
            directory: self.source.directory().to_owned(),
            journal,
            last,
            time: self.recorded.time,
            digest: exchange.digest(),
            counts: self.recorded.counts,
            signatures: None,
            checkpoints,
            attested_states,
            accepted_divergences: self.execution.accepted().to_vec(),
            findings: self.findings,
            unread: None,
            seconds: 0.0,
        };
        report.add_signatures(signatures);
        match self.unread {
            Some(failure) if report.findings.is_empty() => Err(failure),
            unread => {
                report.unread = unread.map(|failure| failure.to_string());
                Ok(report)
            }
        }
    }

    fn stopped_by(&mut self, error: &JournalError) {
        match Finding::damage(error) {
            Ok(finding) => self.findings.push(finding),
            Err(failure) => self.unread = Some(failure),
        }
    }

    /// At the end both ways of reading the journal must have come to the same state, also behind a
    /// divergence that was accepted: one that moved money is wrong all the same.
    fn compare_states(&mut self) {
        let exchange = self.execution.exchange();
        let state = self.recorded.record.compare(exchange);
        let core = exchange.check_invariants();
        let sequence = exchange.sequence();
        if let Err(broken) = state {
            self.findings
                .push(Finding::new(Kind::Contradiction, sequence, broken.text));
        }
        if let Err(text) = core {
            self.findings.push(Finding::new(Kind::Rule, sequence, text));
        }
    }
}
