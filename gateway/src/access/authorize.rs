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
    let token = Token::of(app, headers);
    token.is_some_and(|token| token.operator(&app.shared_view.read().view).is_some())
}

/// What a request presents as an operator's token.
enum Token {
    /// That of the file of a first operator.
    First(OperatorNumber),
    /// The hash of another one, which is all that the exchange keeps of it.
    Hash([u8; 32]),
}

impl Token {
    fn of(app: &App, headers: &HeaderMap) -> Option<Self> {
        let presented = headers.get(AUTHORIZATION)?.as_bytes();
        let first = (app.first_tokens.iter()).find(|(token, _)| token.matches(presented));
        match first {
            Some((_, number)) => Some(Self::First(*number)),
            None => bearer(presented).map(|token| Self::Hash(token_hash(token))),
        }
    }

    /// Its live operator. A token has 256 random bits, so its hash needs no comparison in constant time.
    fn operator(&self, view: &View) -> Option<(OperatorNumber, OperatorRole)> {
        let people = view.people();
        let found = match self {
            Self::First(number) => people.operator(*number).map(|found| (*number, found)),
            Self::Hash(hash) => people.operators().find(|(_, found)| found.token == *hash),
        };
        let (number, found) = found.filter(|(_, found)| found.is_live())?;
        Some((number, found.role))
    }
}

/// The token of a header's value.
fn bearer(presented: &[u8]) -> Option<&[u8]> {
    let (scheme, token) = presented.split_at(presented.len().min(7));
    (scheme.eq_ignore_ascii_case(b"bearer ") && !token.is_empty()).then_some(token)
}

async fn operator(context: &RequestContext) -> Result<(OperatorNumber, OperatorRole), Failure> {
    let app = &context.app;
    let token = Token::of(app, &context.head.headers).ok_or(ErrorCode::OperatorUnauthorized)?;
    let found = app.find(|view| token.operator(view)).await?;
    Ok(found.ok_or(ErrorCode::OperatorUnauthorized)?)
}

/// The hash of a token, which is all that the exchange keeps of it.
pub(crate) fn token_hash(token: &[u8]) -> [u8; 32] {
    Sha256::digest(token).into()
}
