//! The whole audit of a journal, in one pass: a reader verifies, decodes and folds its frames, an
//! executor executes their commands again and compares the events.

use std::num::NonZeroUsize;
use std::ops::{ControlFlow, Range};
use std::path::Path;
use std::sync::mpsc::{channel, sync_channel};
use std::thread;
use std::time::Instant;

use foretell_journal::Segments;
use foretell_model::digest::StateDigest;
use foretell_model::{FrameRef, Sequence, TimeNs};

use super::attested::AttestedState;
use super::checkpoints::{SavedCheckpoint, StateCheck};
use super::execution::{Contradiction, Execution};
use super::fold::Fold;
use super::frame_batch::FrameBatch;
use super::reader::{Reader, Scanned};
use super::reference::Reference;
use super::signatures::Signatures;
use super::state_compare::StateCompare;
use crate::error::AuditError;
use crate::finding::{Finding, Kind, Stop};
use crate::read::source::{Frames, Source};
use crate::show::counts::Counts;
use crate::show::report::Report;

/// Batches that may wait for the executor.
const WAITING: usize = 4;

/// What to look at, and how.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Checkpoints the journal must agree with, in the order of their sequences; their signatures
    /// are checked for this journal.
    pub checkpoints: Vec<SavedCheckpoint>,
    /// Check every order's signature.
    pub signatures: bool,
    /// Compare the states that the journal attests. It is read once more before, and a digest is
    /// computed for each.
    pub attestations: bool,
    /// Also execute every command in the reference exchange.
    pub reference: bool,
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
pub fn verify(directory: &Path, options: &Options) -> Result<Report, AuditError> {
    audit(&Source::open(directory, None, options.progress)?, options)
}

/// As [`verify`], of a journal whose segments are anywhere.
///
/// # Errors
/// As [`verify`].
pub fn verify_segments(segments: &Segments, options: &Options) -> Result<Report, AuditError> {
    audit(&Source::of(segments.clone(), options.progress), options)
}

pub(crate) fn audit(source: &Source, options: &Options) -> Result<Report, AuditError> {
    let started = Instant::now();
    let mut audit = Audit::new(source, options);
    let begun = source.frames();
    let begun = begun.and_then(|frames| Ok((source.genesis()?, frames)));
    let (fold, scanned) = match begun {
        Ok((genesis, frames)) => audit.run(genesis, frames),
        Err(stop) => (Fold::default(), Err(stop)),
    };
    let report = audit.finish(&fold, scanned)?;
    Ok(report.concluded(started.elapsed()))
}

/// The executor and its findings.
struct Audit<'s> {
    source: &'s Source,
    options: &'s Options,
    states: StateCheck,
    execution: Execution,
    reference: Option<Reference>,
    signatures: Option<Signatures>,
    counts: Counts,
    /// Time of the last executed frame.
    time: TimeNs,
    findings: Vec<Finding>,
    /// Why not all of the journal can be read, where that is no damage.
    unread: Option<AuditError>,
}

impl<'s> Audit<'s> {
    fn new(source: &'s Source, options: &'s Options) -> Self {
        let attested = match options.attestations {
            true => AttestedState::all(source),
            false => Vec::new(),
        };
        Self {
            source,
            options,
            states: StateCheck::new(source, &options.checkpoints, attested),
            execution: Execution::new(),
            reference: options.reference.then(Reference::default),
            signatures: options
                .signatures
                .then(|| Signatures::start(options.threads)),
            counts: Counts::default(),
            time: TimeNs(0),
            findings: Vec::new(),
            unread: None,
        }
    }

    /// Executes what a reader reads on a thread of its own, up to the first frame that is wrong.
    fn run(&mut self, genesis: [u8; 32], journal: Frames) -> (Fold, Scanned) {
        thread::scope(|scope| {
            let (filled, batches) = sync_channel(WAITING);
            let (executed, empty) = channel();
            let signed_for = self.signatures.is_some().then_some(genesis);
            let reader = Reader::new(filled, empty, signed_for);
            let reading = scope.spawn(move || reader.run(journal));
            let mut stopped = false;
            for mut frames in batches {
                stopped = self.take(&mut frames).is_break();
                if stopped {
                    break;
                }
                frames.clear();
                // The reader may have come to its end.
                let _ = executed.send(frames);
            }
            let (fold, scanned) = match reading.join() {
                Ok(read) => read,
                Err(panic) => std::panic::resume_unwind(panic),
            };
            (fold, if stopped { Ok(None) } else { scanned })
        })
    }

    /// Executes a batch; breaks after the first frame whose state cannot be relied on.
    fn take(&mut self, frames: &mut FrameBatch) -> ControlFlow<()> {
        let mut executed = 0;
        let mut flow = ControlFlow::Continue(());
        while executed < frames.len() && flow.is_continue() {
            let step = executed..self.end_of_step(frames, executed);
            (executed, flow) = self.execute(frames, step);
        }
        for index in 0..executed {
            let frame = frames.frame(index);
            self.time = frame.time;
            self.counts.count(&frame, frames.has_evidence(index));
        }
        let last = executed.checked_sub(1).map(|last| frames.sequence(last));
        if let Some(signatures) = &mut self.signatures {
            let signed = frames.signed.drain(..);
            let reached = signed.take_while(|it| Some(it.sequence) <= last);
            reached.for_each(|order| signatures.take(order));
        }
        match frames.finding.take() {
            // A frame that cannot be decoded comes after the last.
            Some(finding) if flow.is_continue() || finding.sequence == last => {
                self.findings.push(finding);
                ControlFlow::Break(())
            }
            _ => flow,
        }
    }

    /// With the reference each frame is a step. Otherwise a step ends where a checkpoint stands, so
    /// that the core can look ahead in it.
    fn end_of_step(&self, frames: &FrameBatch, from: usize) -> usize {
        let ahead = match self.states.awaited() {
            _ if self.reference.is_some() => 0,
            Some(awaited) => awaited.0.saturating_sub(frames.sequence(from).0),
            None => u64::MAX,
        };
        let ahead = usize::try_from(ahead).unwrap_or(usize::MAX);
        from.saturating_add(ahead)
            .saturating_add(1)
            .min(frames.len())
    }

    /// Executes a step; returns where it ended.
    fn execute(&mut self, frames: &FrameBatch, step: Range<usize>) -> (usize, ControlFlow<()>) {
        let followed = self
            .execution
            .follow_all(frames.range(step.clone()), self.source);
        let mut flow = ControlFlow::Continue(());
        let mut end = step.end;
        if let Err(contradiction) = followed {
            let at = contradiction.sequence;
            let mut sequences = frames.range(step.clone()).map(|frame| frame.sequence);
            let place = sequences.position(|sequence| sequence == at);
            end = place.map_or(end, |place| step.start + place + 1);
            flow = self.contradicted(contradiction);
        }
        for frame in frames.range(step.start..end) {
            if self.ask_reference(&frame).is_break() {
                flow = ControlFlow::Break(());
            }
        }
        if let Some(last) = frames.range(step.start..end).last()
            && flow.is_continue()
        {
            let exchange = self.execution.exchange();
            self.states
                .passed(last.sequence, last.place, || exchange.digest());
        }
        (end, flow)
    }

    fn contradicted(&mut self, contradiction: Contradiction) -> ControlFlow<()> {
        let Contradiction {
            sequence,
            mut text,
            unread,
        } = contradiction;
        if let Some(error) = unread {
            self.stopped_by(error);
            text += "; whether an operator accepted that cannot be told";
        }
        self.found(Kind::Contradiction, sequence, text)
    }

    /// A divergence of the record that an operator accepted is one for the reference, too.
    fn ask_reference(&mut self, frame: &FrameRef<'_>) -> ControlFlow<()> {
        let Some(reference) = &mut self.reference else {
            return ControlFlow::Continue(());
        };
        match reference.follow(frame) {
            Err(text) if !self.execution.accepted().contains(&frame.sequence) => {
                self.found(Kind::Rule, frame.sequence, text)
            }
            _ => ControlFlow::Continue(()),
        }
    }

    fn found(&mut self, kind: Kind, sequence: Sequence, text: String) -> ControlFlow<()> {
        self.findings.push(Finding::new(kind, sequence, text));
        ControlFlow::Break(())
    }

    fn finish(mut self, fold: &Fold, scanned: Scanned) -> Result<Report, AuditError> {
        let journal = scanned.unwrap_or_else(|stop| {
            self.stopped_by(stop);
            None
        });
        let last_sequence = self.execution.exchange().sequence();
        let digest = match &journal {
            Some(journal) => self.finish_states(fold, journal.last_sequence),
            None => self.execution.exchange().digest(),
        };
        let end = journal.as_ref().map(|_| last_sequence);
        let (disagree, compared) = self.states.findings(self.source, end)?;
        self.findings.extend(disagree);
        let checked = self.signatures.map(Signatures::finish);
        let signatures = checked.map(|(counts, unsound)| {
            self.findings.extend(unsound);
            counts
        });
        if let Some(error) = self.unread.take_if(|_| self.findings.is_empty()) {
            return Err(error);
        }
        let attested_states = self.states.attested_states();
        Ok(Report {
            directory: self.source.directory().to_owned(),
            journal: journal.as_ref().map(Into::into),
            last_sequence,
            time: self.time,
            sandbox: fold.registry.begin.sandbox,
            simulated_until: fold.registry.begin.simulated_until(),
            digest,
            counts: self.counts,
            signatures,
            reference: self.reference.is_some(),
            checkpoints: compared,
            checkpoints_given: self.options.checkpoints.len(),
            attested_states: self.options.attestations.then_some(attested_states),
            accepted_divergences: self.execution.accepted().iter().copied().collect(),
            findings: self.findings,
            unread: self.unread.map(|error| error.to_string()),
            ..Report::default()
        })
    }

    fn stopped_by(&mut self, stop: Stop) {
        match stop {
            Stop::Found(finding) => self.findings.push(finding),
            Stop::Failed(error) => self.unread = Some(error),
        }
    }

    /// Compares the states that core, fold and reference have come to, also after a divergence that was
    /// accepted: one that moved money is wrong all the same. Returns the digest of the core's.
    fn finish_states(&mut self, fold: &Fold, last: Sequence) -> [u8; 32] {
        let exchange = self.execution.exchange();
        let (mut comparison, mut digest) = (
            StateCompare::new(&fold.conservation),
            StateDigest::default(),
        );
        let core = thread::scope(|scope| {
            let checked = scope.spawn(|| exchange.check_invariants());
            exchange.visit_state(&mut |record| {
                comparison.take(record);
                digest.push(record);
            });
            checked.join()
        });
        let core = core.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        let (digest, sequence) = (digest.finish(), exchange.sequence());
        let reference = self.reference.as_ref();
        let reference = reference.map(|reference| reference.compare(exchange, digest));
        if sequence != last {
            let text = "the journal was changed while it was read";
            let _ = self.found(Kind::Damage, sequence, text.to_owned());
        }
        if let Err(violation) = comparison.finish() {
            let _ = self.found(Kind::Contradiction, sequence, violation.text);
        }
        for text in [Some(core), reference].into_iter().flatten() {
            if let Err(text) = text {
                let _ = self.found(Kind::Rule, sequence, text);
            }
        }
        digest
    }
}
