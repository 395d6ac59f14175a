//! A request as a handler sees it: head, whole body, path parameters, and the process around it.

use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;
use foretell_link::Reply;
use foretell_model::Sequence;
use foretell_wire::Failure as Refusal;
use foretell_wire::failure::FieldProblem;
use foretell_wire::query::Query;
use http::HeaderName;
use http::request::Parts;

use crate::app::App;
use crate::auth::Caller;
use crate::body::Held;
use crate::client_shares::Client;
use crate::config::Surface;
use crate::engine_link::{LinkFailure, PendingAnswer};
use crate::failure::{self, Failure};
use crate::rate_limits::{Standing, Writes};
use crate::signatures::SignatureGate;
use crate::timing::Timing;

/// The state a read must show at least (protocol 11).
pub(crate) const X_MIN_SEQUENCE: HeaderName = HeaderName::from_static("x-min-sequence");

/// One request.
pub(crate) struct Call {
    pub(crate) app: Arc<App>,
    /// The bound on signature work of the thread that serves this.
    pub(crate) gate: Arc<SignatureGate>,
    pub(crate) head: Parts,
    pub(crate) body: Bytes,
    /// The body's share of what the process may hold, as long as the request lives.
    pub(crate) _held: Held,
    pub(crate) timing: Arc<Timing>,
    /// Where it came in, and from whom.
    pub(crate) surface: Surface,
    pub(crate) client: Client,
    /// What stands for `{…}` in the route's path.
    pub(crate) parameter: String,
}

impl Call {
    /// The path as it was received: what an L2 signature covers.
    pub(crate) fn path(&self) -> &str {
        self.head.uri.path()
    }

    /// The state this request asks to see at least.
    pub(crate) fn min_sequence(&self) -> Result<Option<Sequence>, Refusal> {
        let Some(value) = self.head.headers.get(X_MIN_SEQUENCE) else {
            return Ok(None);
        };
        let text = value.to_str().unwrap_or("?");
        let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        match text.parse() {
            Ok(sequence) if digits => Ok(Some(Sequence(sequence))),
            _ => {
                let allowed = "a sequence in decimal digits";
                Err(FieldProblem::wrong("x-min-sequence", text, allowed).into())
            }
        }
    }

    /// Waits for the engine's answer to a command of this request.
    pub(crate) async fn reply(&self, pending: PendingAnswer) -> Result<Reply, LinkFailure> {
        let sent = pending.sent();
        self.timing.submitted();
        let reply = pending.reply().await?;
        self.timing.answered(sent, &reply);
        Ok(reply)
    }

    /// Counts writes of the caller's key and owner; how it stands with them then.
    pub(crate) fn count(
        &self,
        caller: &Caller,
        writes: Writes,
        count: usize,
    ) -> Result<Option<Standing>, Failure> {
        let limiter = &self.app.edge.limiter;
        let now = limiter.at(Instant::now());
        let counted = limiter.writes(now, (caller.owner, caller.key), writes, count);
        counted.map_err(|refused| {
            self.app.metrics.rate_limited(refused.scope);
            failure::too_many_requests(Surface::Trading, &refused).into()
        })
    }

    /// The query of the request.
    pub(crate) fn query(&self) -> Result<Query<'_>, Refusal> {
        Query::parse(self.head.uri.query())
    }
}
