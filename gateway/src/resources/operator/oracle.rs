//! `POST /oracle/proposals`: the signed webhook of an oracle's adapter (docs/operate/market-life.md).
//!
//! The adapter signs `<timestamp>.<body>` by HMAC-SHA256 with its secret. The proposal is that of
//! the operator whose name is in the settings, so policy and journal treat it as any other.

use std::time::SystemTime;

use foretell_journal::wall_clock;
use foretell_model::CommandKind;
use foretell_view::View;
use foretell_wire::errors::api_error::FieldError;
use foretell_wire::operator::CommandAnswer;
use foretell_wire::operator::ProposalRequest;
use foretell_wire::{ApiError, ErrorCode};

use crate::access::operator_actor::Actor;
use crate::access::operator_token::OperatorToken;
use crate::access::oracle::{is_fresh, is_signed};
use crate::http::answer::Json;
use crate::http::endpoint::RequestPart;
use crate::http::failure::Failure;
use crate::http::operation::Operation;
use crate::http::parts::FromBody;
use crate::http::request_context::RequestContext;
use crate::resources::operator::market_life::resolution;

/// Header with the time of the signature in unix seconds.
const TIMESTAMP: &str = "x-oracle-timestamp";
/// Header with the HMAC in hex.
const SIGNATURE: &str = "x-oracle-signature";

/// The operator of a request that the adapter signed.
pub(crate) struct Adapter(Actor);

impl RequestPart for Adapter {
    async fn of(context: &RequestContext) -> Result<Self, Failure> {
        let oracle = context.app.oracle.as_ref().ok_or(ErrorCode::NotFound)?;
        let now = SystemTime::UNIX_EPOCH + wall_clock::since_epoch();
        verify(context, &oracle.secret, now)?;
        if context.app.is_outward_closed() {
            return Err(ErrorCode::OutwardClosed.into());
        }
        let find = |view: &View| {
            let found = view.people().by_name(&oracle.operator);
            found.map(|(number, operator)| (number, operator.role))
        };
        let found = context.app.find(find).await?;
        let (number, role) = found.ok_or(ErrorCode::OperatorNotFound)?;
        let actor = Actor {
            number,
            role,
            allowed: CommandKind::Propose.senders().operators,
            reason: "proposal of the oracle".to_owned(),
        };
        match actor.allowed.contains(role) {
            true => Ok(Self(actor)),
            false => Err(actor.role_not_allowed().into()),
        }
    }

    fn describe(operation: &mut Operation) {
        #[cfg(feature = "documents")]
        {
            let described = &mut operation.described;
            let text = "Unix seconds, at most 300 from now.";
            described.requires_header(TIMESTAMP, text, "^[0-9]{1,20}$");
            let text = "HMAC-SHA256 of `<timestamp>.<body>`, in hex.";
            described.requires_header(SIGNATURE, text, "^[0-9a-fA-F]{64}$");
        }
        operation.fails(&[
            ErrorCode::NotFound,
            ErrorCode::MissingField,
            ErrorCode::SignatureInvalid,
            ErrorCode::TimestampStale,
            ErrorCode::OutwardClosed,
            ErrorCode::OperatorNotFound,
            ErrorCode::OperatorRole,
            ErrorCode::UnknownOperator,
        ]);
    }
}

/// `POST /oracle/proposals`. A repeat with the same reference changes nothing.
pub(crate) async fn propose(
    mut context: RequestContext,
    Adapter(actor): Adapter,
    FromBody(wanted): FromBody<ProposalRequest>,
) -> Result<Json<CommandAnswer>, Failure> {
    if wanted.wallet.is_some() {
        let problem = FieldError::wrong("wallet", "given", "absent: the adapter proposes itself");
        return Err(ApiError::from(problem).into());
    }
    context.actor = Some(actor);
    resolution::propose_as(&context, &wanted, None).await
}

/// Checks the signature, then the timestamp that it covers.
fn verify(
    context: &RequestContext,
    secret: &OperatorToken,
    now: SystemTime,
) -> Result<(), ApiError> {
    let header = |name: &'static str| {
        let value = context.head.headers.get(name);
        let text = value.and_then(|value| value.to_str().ok());
        text.ok_or_else(|| ApiError::from(FieldError::missing(name, "a header of the adapter")))
    };
    let (timestamp, signature) = (header(TIMESTAMP)?, header(SIGNATURE)?);
    if !is_signed(secret.bytes(), timestamp, &context.body, signature) {
        return Err(ErrorCode::SignatureInvalid.into());
    }
    if !is_fresh(timestamp, now) {
        return Err(ApiError::new(
            ErrorCode::TimestampStale,
            vec![timestamp.to_owned()],
        ));
    }
    Ok(())
}
