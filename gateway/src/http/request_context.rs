//! A request as a handler gets it: head, whole body, path parameter, and the shared state.

use std::sync::{Arc, OnceLock};
use std::time::Instant;

use bytes::Bytes;
use foretell_link::Reply;
use foretell_model::{
    AccountNumber, Command, KeyNumber, OperatorRole, Rejection, RejectionReason, Sequence,
};
use foretell_wire::errors::api_error::FieldError;
use foretell_wire::{ApiError, Compatibility, ErrorCode};
use http::HeaderName;
use http::request::Parts;
use parking_lot::Mutex;

use crate::access::credentials::Caller;
use crate::access::hints::Hint;
use crate::access::operator_actor::Actor;
use crate::access::signature_gate::SignatureGate;
use crate::app::App;
use crate::engine::engine_link::{LinkError, PendingAnswer};
use crate::engine::outcome::{Done, Refused, outcome_of};
use crate::http::answer::StatePosition;
use crate::http::body::BodyPermit;
use crate::http::connections::client_quotas::Client;
use crate::http::failure::Failure;
use crate::http::surface::Surface;
use crate::http::timing::Timing;
use crate::policy::client_address::Sender;
use crate::policy::rate_limits::{
    JournalCharge, Millis, Payer, QuotaStatus, RateLimited, RateLimiter, Scope, Writes,
};

/// The sequence that a read must cover at least (docs/api/overview.md §3).
pub(crate) const X_MIN_SEQUENCE: HeaderName = HeaderName::from_static("x-min-sequence");

pub(crate) struct RequestContext {
    pub(crate) app: Arc<App>,
    /// The bound on signature checks of this request's thread.
    pub(crate) gate: Arc<SignatureGate>,
    pub(crate) head: Parts,
    pub(crate) body: Bytes,
    /// The body's share of the process bound, for as long as the request lives.
    pub(crate) _permit: BodyPermit,
    pub(crate) timing: Arc<Timing>,
    /// Surface on which it arrived, and the client's address.
    pub(crate) surface: Surface,
    pub(crate) client: Client,
    pub(crate) sender: Sender,
    /// The narrowest window in which it counts.
    pub(crate) scope: Option<Scope>,
    /// Whether its answer may have megabytes.
    pub(crate) is_large: bool,
    /// Whether the route is another surface's, mounted for the page.
    pub(crate) is_mounted: bool,
    /// Whether it has the token of an operator.
    pub(crate) is_operator: bool,
    /// What its answer says beside its content.
    pub(crate) said: Arc<Mutex<Said>>,
    /// Who pays for what its commands write, once it is known.
    pub(crate) payer: OnceLock<Payer>,
    /// The operator of an authorized request to the operator surface.
    pub(crate) actor: Option<Actor>,
    /// The value of `{…}` in the route's path.
    pub(crate) parameter: String,
}

/// What an answer says beside its content.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Said {
    /// The tightest window that counts the request.
    pub(crate) quota: Option<QuotaStatus>,
    /// The state after its commands.
    pub(crate) position: Option<StatePosition>,
    /// In a sandbox: a fault of the client.
    pub(crate) hint: Option<Hint>,
}

impl Said {
    fn reach(&mut self, reply: &Reply) {
        let reached = StatePosition {
            sequence: reply.sequence.max(reply.last_sequence),
            epoch: reply.epoch,
        };
        let is_newer = |before: StatePosition| before.sequence < reached.sequence;
        if self.position.is_none_or(is_newer) {
            self.position = Some(reached);
        }
    }
}

impl RequestContext {
    /// The raw path as received; L2 signatures cover it.
    pub(crate) fn path(&self) -> &str {
        self.head.uri.path()
    }

    /// Whose forms the request has: operators and the page have one form.
    pub(crate) fn forms(&self) -> Compatibility {
        match self.surface.is_public() && !self.is_mounted {
            true => self.app.compatibility,
            false => Compatibility::Interface,
        }
    }

    /// The sequence that this request asks to see at least.
    pub(crate) fn min_sequence(&self) -> Result<Option<Sequence>, ApiError> {
        let Some(value) = self.head.headers.get(X_MIN_SEQUENCE) else {
            return Ok(None);
        };
        let text = value.to_str().unwrap_or("?");
        let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        match text.parse() {
            Ok(sequence) if digits => Ok(Some(Sequence(sequence))),
            _ => {
                let allowed = "a sequence in decimal digits";
                Err(FieldError::wrong("x-min-sequence", text, allowed).into())
            }
        }
    }

    /// Waits until the view covers every sequence this process has acknowledged and the client's
    /// `x-min-sequence`.
    pub(crate) async fn wait_fresh(&self) -> Result<(), Failure> {
        let minimum = self.min_sequence()?;
        let view = &self.app.shared_view;
        view.wait_acknowledged(self.app.engine.acknowledged())
            .await?;
        if let Some(minimum) = minimum {
            let waiters = &self.app.bounds.of(self.surface).waiters;
            let waiter = || waiters.take(self.client, 1).ok();
            view.wait_requested(minimum, waiter).await?;
        }
        Ok(())
    }

    /// Sends a command of this request and waits until it is durable; a rejection is the failure.
    pub(crate) async fn command(&self, command: Command, evidence: &[u8]) -> Result<Done, Failure> {
        self.command_or(command, evidence, |_| None).await
    }

    /// As [`Self::command`]; `explain` gives the errors that need more than the core's rejection.
    pub(crate) async fn command_or(
        &self,
        command: Command,
        evidence: &[u8],
        explain: impl FnOnce(&Rejection) -> Option<ApiError>,
    ) -> Result<Done, Failure> {
        let outcome = self.send(command, Vec::new(), evidence).await?;
        outcome.map_err(|Refused { rejection, .. }| {
            let explained = explain(&rejection);
            explained
                .unwrap_or_else(|| self.rejected(&rejection))
                .into()
        })
    }

    /// Sends a command of this request, in the name of its operator if it is an operator's, and waits for its outcome.
    /// `tail` is that of an operator's command ([`foretell_model::tail`]); a client's begins its evidence.
    pub(crate) async fn send(
        &self,
        command: Command,
        tail: Vec<u8>,
        evidence: &[u8],
    ) -> Result<Result<Done, Refused>, Failure> {
        let engine = &self.app.engine;
        let senders = command.kind().senders();
        let pending = match &self.actor {
            Some(actor) if senders.operators.contains(OperatorRole::Admin) => {
                engine.submit_as((actor.number, &actor.reason), command, tail, evidence)?
            }
            None if !senders.clients => return Err(ErrorCode::OperatorUnauthorized.into()),
            _ => {
                debug_assert!(tail.is_empty(), "{:?} has a tail", command.kind());
                self.submit(command, evidence)?
            }
        };
        Ok(outcome_of(&self.reply(pending).await?))
    }

    /// Sends a command of a client, and charges what it may write to the journal.
    pub(crate) fn submit(
        &self,
        command: Command,
        evidence: &[u8],
    ) -> Result<PendingAnswer, ApiError> {
        let charge = self.charge_journal(&command, evidence.len())?;
        match self.app.engine.submit(command, evidence) {
            Ok(pending) => Ok(pending.charged(charge)),
            Err(failure) => {
                self.settle_journal(charge, None);
                Err(failure.code().into())
            }
        }
    }

    /// Sets who pays for what the request's commands write: an owner with money, or the address.
    pub(crate) fn pays(&self, funded: Option<AccountNumber>) {
        let client = self.client;
        self.payer.get_or_init(|| Payer { client, funded });
    }

    /// Charges a command with so many bytes beside it.
    pub(crate) fn charge_journal(
        &self,
        command: &Command,
        beside: usize,
    ) -> Result<Option<JournalCharge>, ApiError> {
        self.charge(|limiter, by| limiter.charge_journal(by, command, beside))
    }

    /// Charges by a limiter's `charge`; nothing where nobody pays.
    pub(crate) fn charge(
        &self,
        charge: impl FnOnce(&RateLimiter, (Millis, Payer)) -> Result<JournalCharge, RateLimited>,
    ) -> Result<Option<JournalCharge>, ApiError> {
        let Some(payer) = self.payer.get() else {
            return Ok(None);
        };
        let limiter = &self.app.policy.limiter;
        let charged = charge(limiter, (limiter.at(Instant::now()), *payer));
        charged.map(Some).map_err(|refused| {
            self.app.metrics.rate_limited(refused.scope);
            self.said.lock().quota = Some(refused.status);
            ApiError::from(&refused)
        })
    }

    /// Corrects a charge by the engine's answer; `None` when the command was not sent.
    pub(crate) fn settle_journal(&self, charge: Option<JournalCharge>, reply: Option<&Reply>) {
        if let Some(charge) = charge {
            let limiter = &self.app.policy.limiter;
            limiter.settle_journal(limiter.at(Instant::now()), charge, reply);
        }
    }

    /// The error of a rejected command; that of a role names the roles of the route.
    pub(crate) fn rejected(&self, rejection: &Rejection) -> ApiError {
        match (rejection.reason, &self.actor) {
            (RejectionReason::OperatorRole, Some(actor)) => actor.role_not_allowed(),
            _ => ApiError::from_command_rejection(rejection),
        }
    }

    /// Waits for the engine's reply to a command of this request, whose answer names the state after it.
    pub(crate) async fn reply(&self, pending: PendingAnswer) -> Result<Reply, LinkError> {
        let (sent, charge) = (pending.sent(), pending.charge);
        self.timing.submitted();
        let reply = pending.reply().await?;
        self.settle_journal(charge, Some(&reply));
        self.timing.answered(sent, &reply);
        self.said.lock().reach(&reply);
        Ok(reply)
    }

    /// Names a fault of the client in the answer.
    pub(crate) fn hint(&self, hint: Option<Hint>) {
        if hint.is_some() {
            self.said.lock().hint = hint;
        }
    }

    /// Counts the request for its key, which is proved, in place of its address.
    pub(crate) fn prove(&self, key: KeyNumber) -> Result<(), Failure> {
        let Some(scope) = self.scope else {
            return Ok(());
        };
        let limiter = &self.app.policy.limiter;
        let times = (limiter.at(self.timing.began()), limiter.at(Instant::now()));
        let status = limiter.prove(times, self.client, key, scope);
        self.said.lock().quota = status.map_err(|refused| self.limited(&refused))?;
        Ok(())
    }

    fn limited(&self, refused: &RateLimited) -> Failure {
        self.app.metrics.rate_limited(refused.scope);
        Failure::from(refused)
    }

    /// Counts writes of the caller's key and owner.
    pub(crate) fn count(
        &self,
        caller: &Caller,
        writes: Writes,
        count: usize,
    ) -> Result<(), Failure> {
        let limiter = &self.app.policy.limiter;
        let now = limiter.at(Instant::now());
        let counted = limiter.writes(now, (caller.owner, caller.key), writes, count);
        let status = counted.map_err(|refused| self.limited(&refused))?;
        let mut said = self.said.lock();
        said.quota = QuotaStatus::tightest(said.quota, status);
        Ok(())
    }

    /// Takes back writes that were counted at `at` and did nothing.
    pub(crate) fn give_back(&self, caller: &Caller, writes: Writes, count: u32, at: Instant) {
        let limiter = &self.app.policy.limiter;
        limiter.refund(limiter.at(at), caller.owner, writes, count);
    }
}
