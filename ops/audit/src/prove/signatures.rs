//! Checks the signature of every order, withdrawal and set of quotes against the owner of its wallet, on
//! one thread per core.
//!
//! Who must have signed follows from the frames before the command's. What a thread gets is complete,
//! so threads share nothing and may be behind the reader.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

use foretell_auth::withdrawal::WithdrawalMessage;
use foretell_auth::{Domain, verify_evidence};
use foretell_model::command::RequestWithdrawal;
use foretell_model::evidence::{OrderEvidence, WithdrawalEvidence};
use foretell_model::{Command, FrameRef, OrderId, Sequence, WalletAddress};

use crate::finding::{Check, Finding, Kind, Violation};
use crate::prove::evidence::Claim;
use crate::prove::registry::Registry;
use crate::prove::signed_set::SignedSet;
use crate::show::report::SignatureCounts;

/// Commands per message.
const CHUNK: usize = 256;
/// Chunks that may wait for a thread: the executor waits when it is further ahead.
const WAITING: usize = 8;
/// Findings kept per thread; further ones are only counted.
const MAX_FINDINGS: usize = 20;

/// A command whose signature is to be checked.
#[derive(Debug)]
pub(crate) struct SignedCommand {
    pub(crate) sequence: Sequence,
    /// Address that must have signed.
    owner: WalletAddress,
    what: What,
    evidence: Box<[u8]>,
}

/// What was signed.
#[derive(Debug)]
enum What {
    /// The order that the command names, in a domain.
    Order(OrderId, Arc<Domain>),
    /// A withdrawal of a wallet, signed for this genesis or branch.
    Withdrawal(WalletAddress, RequestWithdrawal, [u8; 32]),
    /// A set of quotes, signed for this genesis or branch.
    Quotes(Box<SignedSet>, [u8; 32]),
}

impl SignedCommand {
    /// The command of a frame whose evidence makes this claim.
    ///
    /// # Errors
    /// The frame's command is not signed, or account or domain of the claim were never registered.
    pub(crate) fn new(
        frame: &FrameRef<'_>,
        claim: Claim,
        registry: &Registry,
        genesis: [u8; 32],
    ) -> Check<Self> {
        let what = match (frame.command, claim.domain) {
            (Command::PlaceOrder(order), Some(domain)) => {
                What::Order(order.order, Arc::clone(registry.domain(domain)?))
            }
            (Command::RequestWithdrawal(asked), None) => {
                let wallet = registry.account(asked.account)?.wallet;
                What::Withdrawal(wallet, *asked, registry.branch(&genesis))
            }
            (Command::SetQuotes(set), None) => {
                let set = SignedSet::new(set, frame.evidence, registry)?;
                What::Quotes(Box::new(set), registry.branch(&genesis))
            }
            _ => return Err(Violation::rule("a signature of another command")),
        };
        Ok(Self {
            sequence: frame.sequence,
            owner: registry.account(claim.owner)?.wallet,
            what,
            evidence: frame.evidence.into(),
        })
    }
}

/// Numbers of signatures, and the first findings.
type Checked = (SignatureCounts, Vec<Finding>);

/// The threads, and the batch being filled for the next one.
#[derive(Debug)]
pub(crate) struct Signatures {
    threads: Vec<(SyncSender<Vec<SignedCommand>>, JoinHandle<Checked>)>,
    next: usize,
    chunk: Vec<SignedCommand>,
}

impl Signatures {
    /// Starts one thread per core, or `threads`.
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

    /// Takes a command; waits when all threads are busy.
    pub(crate) fn take(&mut self, order: SignedCommand) {
        self.chunk.push(order);
        if self.chunk.len() == CHUNK {
            self.send_batch();
        }
    }

    fn send_batch(&mut self) {
        let chunk = std::mem::replace(&mut self.chunk, Vec::with_capacity(CHUNK));
        let (sender, _) = &self.threads[self.next];
        // A send fails only after a panic in the thread, which `finish` propagates.
        let _ = sender.send(chunk);
        self.next = (self.next + 1) % self.threads.len();
    }

    /// Waits for all threads; the findings are ordered by sequence.
    pub(crate) fn finish(mut self) -> Checked {
        self.send_batch();
        let (mut counts, mut findings) = Checked::default();
        for (sender, handle) in self.threads {
            drop(sender);
            match handle.join() {
                Ok((of_thread, found)) => {
                    counts.sound += of_thread.sound;
                    counts.unsound += of_thread.unsound;
                    findings.extend(found);
                }
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        findings.sort_by_key(|finding| finding.sequence);
        findings.truncate(MAX_FINDINGS);
        (counts, findings)
    }
}

fn check_all(jobs: &Receiver<Vec<SignedCommand>>) -> Checked {
    let (mut counts, mut findings) = Checked::default();
    for job in jobs.iter().flatten() {
        match check(&job) {
            Ok(()) => counts.sound += 1,
            Err(text) => {
                counts.unsound += 1;
                if findings.len() < MAX_FINDINGS {
                    findings.push(Finding::new(Kind::Signature, job.sequence, text));
                }
            }
        }
    }
    (counts, findings)
}

/// The owner's key signed what was executed.
fn check(job: &SignedCommand) -> Result<(), String> {
    let signer = match &job.what {
        What::Order(order, domain) => signer_of_order(job, *order, domain)?,
        What::Withdrawal(wallet, asked, salt) => {
            let evidence = WithdrawalEvidence::decode(&job.evidence)
                .ok_or_else(|| "the evidence is no signed withdrawal".to_owned())?;
            let message = WithdrawalMessage {
                wallet: *wallet,
                destination: evidence.destination,
                amount: asked.amount,
                reference: evidence.reference,
                valid_until: asked.valid_until,
            };
            let signer = message.signer(evidence.chain, salt, evidence.signature);
            signer.map_err(|error| error.to_string())?
        }
        What::Quotes(set, salt) => set.signer(salt, &job.evidence)?,
    };
    match signer == job.owner {
        true => Ok(()),
        false => Err(format!("{signer} signed for a wallet of {}", job.owner)),
    }
}

/// The EIP-712 hash is the order's id.
fn signer_of_order(
    job: &SignedCommand,
    order: OrderId,
    domain: &Domain,
) -> Result<WalletAddress, String> {
    let evidence = OrderEvidence::decode(&job.evidence)
        .ok_or_else(|| "the evidence is no signed order".to_owned())?;
    let (id, signer) = verify_evidence(&evidence, domain).map_err(|error| error.to_string())?;
    match id == order {
        true => Ok(signer),
        false => Err(format!("order {order} was executed, {id} was signed")),
    }
}
