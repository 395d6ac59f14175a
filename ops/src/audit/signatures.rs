//! Every order's signature against its maker, on a thread a core.
//!
//! Who must have signed is known from the record as of the order's frame; what a thread gets is
//! complete, so threads share nothing and may be behind the record.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

use foretell_auth::{Domain, verify_evidence};
use foretell_model::evidence::OrderEvidence;
use foretell_model::{Command, FrameRef, OrderId, Sequence, WalletAddress};

use super::finding::{Finding, Kind};
use super::record::{Broken, Claim, Registry};

/// Orders handed over at once.
const CHUNK: usize = 256;
/// Chunks that may wait for a thread: the record waits when it is further ahead.
const WAITING: usize = 8;
/// Findings a thread keeps; more are counted.
const KEPT: usize = 20;

/// An order whose signature is to be checked.
#[derive(Debug)]
struct Job {
    sequence: Sequence,
    /// The id the command names.
    order: OrderId,
    /// Whose key must have signed.
    owner: WalletAddress,
    domain: Arc<Domain>,
    evidence: Box<[u8]>,
}

/// What was found.
#[derive(Debug, Default)]
pub(crate) struct Checked {
    /// Signatures that hold.
    pub(crate) sound: u64,
    /// Those that do not.
    pub(crate) unsound: u64,
    /// The first of them, by sequence.
    pub(crate) findings: Vec<Finding>,
}

/// The threads, and what is being collected for the next of them.
#[derive(Debug)]
pub(crate) struct Signatures {
    threads: Vec<(SyncSender<Vec<Job>>, JoinHandle<Checked>)>,
    next: usize,
    chunk: Vec<Job>,
}

impl Signatures {
    /// Starts a thread a core, or as many as asked for.
    pub(crate) fn start(threads: Option<NonZeroUsize>) -> Self {
        let cores = || thread::available_parallelism().map_or(1, NonZeroUsize::get);
        let count = threads.map_or_else(cores, NonZeroUsize::get);
        let threads = (0..count)
            .map(|_| {
                let (sender, receiver) = sync_channel(WAITING);
                (sender, thread::spawn(move || check_all(&receiver)))
            })
            .collect();
        Self {
            threads,
            next: 0,
            chunk: Vec::with_capacity(CHUNK),
        }
    }

    /// Takes the order of a frame whose signature was claimed to be so; waits when all threads are busy.
    ///
    /// # Errors
    /// Nobody knows whose signature, or of what domain.
    pub(crate) fn take(
        &mut self,
        frame: &FrameRef<'_>,
        claim: &Claim,
        registry: &Registry,
    ) -> Result<(), Broken> {
        if let Command::PlaceOrder(order) = frame.command {
            self.chunk.push(Job {
                sequence: frame.sequence,
                order: order.order,
                owner: registry.account(claim.owner)?.wallet,
                domain: Arc::clone(registry.domain(claim.domain)?),
                evidence: frame.evidence.into(),
            });
        }
        if self.chunk.len() == CHUNK {
            self.hand_over();
        }
        Ok(())
    }

    fn hand_over(&mut self) {
        let chunk = std::mem::replace(&mut self.chunk, Vec::with_capacity(CHUNK));
        let (sender, _) = &self.threads[self.next];
        // A thread that is gone has panicked, which `finish` passes on.
        let _ = sender.send(chunk);
        self.next = (self.next + 1) % self.threads.len();
    }

    /// Waits for all threads.
    pub(crate) fn finish(mut self) -> Checked {
        self.hand_over();
        let mut all = Checked::default();
        for (sender, handle) in self.threads {
            drop(sender);
            match handle.join() {
                Ok(checked) => {
                    all.sound += checked.sound;
                    all.unsound += checked.unsound;
                    all.findings.extend(checked.findings);
                }
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        all.findings.sort_by_key(|finding| finding.sequence);
        all.findings.truncate(KEPT);
        all
    }
}

fn check_all(jobs: &Receiver<Vec<Job>>) -> Checked {
    let mut checked = Checked::default();
    for job in jobs.iter().flatten() {
        match check(&job) {
            Ok(()) => checked.sound += 1,
            Err(text) => {
                checked.unsound += 1;
                if checked.findings.len() < KEPT {
                    checked
                        .findings
                        .push(Finding::new(Kind::Signature, job.sequence, text));
                }
            }
        }
    }
    checked
}

/// The EIP-712 hash is the order's id, and the owner's key signed it.
fn check(job: &Job) -> Result<(), String> {
    let evidence = OrderEvidence::decode(&job.evidence)
        .ok_or_else(|| "the evidence is no signed order".to_owned())?;
    let (id, signer) =
        verify_evidence(&evidence, &job.domain).map_err(|error| error.to_string())?;
    if id != job.order {
        return Err(format!("order {} was executed, {id} was signed", job.order));
    }
    if signer != job.owner {
        return Err(format!("{signer} signed for a wallet of {}", job.owner));
    }
    Ok(())
}
