//! The operator of a request: its token, its role, its reason (docs/verify/rules.md §27).

use foretell_model::{OperatorNumber, OperatorRole, RoleSet};
use foretell_view::View;
use foretell_wire::ErrorCode;
use foretell_wire::operator::read_reason;
use http::header::AUTHORIZATION;
use http::{HeaderMap, Method};
use sha2::{Digest as _, Sha256};

use crate::access::operator_actor::Actor;
use crate::app::App;
use crate::http::failure::Failure;
use crate::http::request_context::RequestContext;

/// The operator of the request's token, if its role is `allowed`. The core checks the role again,
/// so a revocation that this gateway has not seen yet holds for commands.
pub(crate) async fn authorize(
    context: &RequestContext,
    allowed: RoleSet,
) -> Result<Actor, Failure> {
    let (number, role) = operator(context).await?;
    let actor = Actor {
        number,
        role,
        allowed,
        reason: String::new(),
    };
    if !allowed.contains(role) {
        return Err(actor.role_not_allowed().into());
    }
    let is_command = context.head.method == Method::POST;
    // The upstream that the sync follows may be that of the original, which runs.
    if is_command && role == OperatorRole::Sync && context.app.is_outward_closed() {
        return Err(ErrorCode::OutwardClosed.into());
    }
    let reason = match is_command && !context.body.is_empty() {
        true => read_reason(&context.body)?,
        false => String::new(),
    };
    Ok(Actor { reason, ..actor })
}

/// Whether a request has the token of a live operator, as far as the view shows.
pub(crate) fn has_token(app: &App, headers: &HeaderMap) -> bool {
    let Some(presented) = headers.get(AUTHORIZATION) else {
        return false;
    };
    let presented = presented.as_bytes();
    if app
        .first_tokens
        .iter()
        .any(|(token, _)| token.matches(presented))
    {
        return true;
    }
    let hash = bearer(presented).map(token_hash);
    hash.is_some_and(|hash| of_token(&app.shared_view.read().view, &hash).is_some())
}

/// The token of a header's value.
fn bearer(presented: &[u8]) -> Option<&[u8]> {
    let (scheme, token) = presented.split_at(presented.len().min(7));
    (scheme.eq_ignore_ascii_case(b"bearer ") && !token.is_empty()).then_some(token)
}

async fn operator(context: &RequestContext) -> Result<(OperatorNumber, OperatorRole), Failure> {
    let presented = context.head.headers.get(AUTHORIZATION);
    let presented = presented.map_or(&[][..], |value| value.as_bytes());
    let app = &context.app;
    let first = (app.first_tokens.iter()).find(|(token, _)| token.matches(presented));
    if let Some(&(_, number)) = first {
        let state = app.shared_view.read();
        let operator = state.view.people().operator(number);
        let live = operator.filter(|operator| operator.is_live());
        let live = live.ok_or(ErrorCode::OperatorUnauthorized)?;
        return Ok((number, live.role));
    }
    let token = bearer(presented).ok_or(ErrorCode::OperatorUnauthorized)?;
    let hash = token_hash(token);
    let found = app.find(|view| of_token(view, &hash)).await?;
    Ok(found.ok_or(ErrorCode::OperatorUnauthorized)?)
}

/// The hash of a token, which is all that the exchange keeps of it.
pub(crate) fn token_hash(token: &[u8]) -> [u8; 32] {
    Sha256::digest(token).into()
}

/// The live operator with this token. A token has 256 random bits, so its hash needs no comparison
/// in constant time.
fn of_token(view: &View, hash: &[u8; 32]) -> Option<(OperatorNumber, OperatorRole)> {
    let mut operators = view.people().operators();
    let found = operators.find(|(_, operator)| operator.is_live() && operator.token == *hash);
    found.map(|(number, operator)| (number, operator.role))
}
