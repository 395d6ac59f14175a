//! Operators with names: `/me`, `/operators…`.

use foretell_model::command::AddOperator;
use foretell_model::operator::FIRST_OPERATORS;
use foretell_model::{
    Command, CommandOutcome, OperatorNumber, OperatorRole, RejectionReason, TimeNs,
};
use foretell_view::View;
use foretell_wire::ErrorCode;
use foretell_wire::operator::{
    CommandAnswer, Me, OperatorAdded, OperatorAddition, OperatorCommand, OperatorRevocation,
    OperatorRow, OperatorRows, SNAPSHOT_PATH,
};
use foretell_wire::text::time::iso;
use zeroize::Zeroizing;

use crate::access::authorize::token_hash;
use crate::http::answer::Json;
use crate::http::failure::Failure;
use crate::http::parts::FromBody;
use crate::http::request_context::RequestContext;
use crate::resources::operator::{answer, apply_or};

/// `GET /me`: the operator of the token, and the commands of its role.
pub(crate) async fn me(context: RequestContext) -> Result<Json<Me>, Failure> {
    let actor = context
        .actor
        .as_ref()
        .ok_or(ErrorCode::OperatorUnauthorized)?;
    let state = context.app.shared_view.read();
    let operator = state.view.people().operator(actor.number);
    let operator = operator.ok_or(ErrorCode::Recovering)?;
    let me = Me {
        number: actor.number.0,
        name: operator.name,
        role: actor.role,
        may: paths(actor.role).map(str::to_owned).collect(),
    };
    Ok(Json::of(&me).at(state.position()))
}

/// What a role may send.
fn paths(role: OperatorRole) -> impl Iterator<Item = &'static str> {
    let commands = OperatorCommand::PATHS.iter();
    let commands = commands.filter(move |(kind, _)| kind.senders().operators.contains(role));
    let snapshot = (role == OperatorRole::Admin).then_some(SNAPSHOT_PATH);
    commands.map(|(_, path)| *path).chain(snapshot)
}

/// `GET /operators`: all, revoked ones included. It shows no token and no hash of one.
pub(crate) async fn list(context: RequestContext) -> Result<Json<OperatorRows>, Failure> {
    let state = context.app.shared_view.read();
    let settings = state.view.system().settings;
    // The first two count from the start, which is when they were added.
    let counts_from = |number: OperatorNumber, added: TimeNs| {
        let is_first = usize::from(number.0) <= FIRST_OPERATORS.len();
        match is_first {
            true => added,
            false => settings.operator_counts_from(added),
        }
    };
    let rows = state.view.people().operators();
    let operators = rows
        .map(|(number, operator)| OperatorRow {
            number: number.0,
            name: operator.name,
            role: operator.role,
            added: iso(operator.added),
            counts_from: iso(counts_from(number, operator.added)),
            revoked: operator.revoked.map(iso),
        })
        .collect();
    Ok(Json::of(&OperatorRows { operators }).at(state.position()))
}

/// `POST /operators`: adds an operator. The answer is the only place that shows the token.
pub(crate) async fn add(
    context: RequestContext,
    FromBody(OperatorAddition { name, role }): FromBody<OperatorAddition>,
) -> Result<Json<OperatorAdded>, Failure> {
    let mut bytes = Zeroizing::new([0; 32]);
    getrandom::fill(&mut *bytes).map_err(|_| ErrorCode::Internal)?;
    let token = hex::encode(*bytes);
    let command = Command::AddOperator(AddOperator {
        role,
        name,
        token: token_hash(token.as_bytes()),
    });
    let done = apply_or(&context, command, &[], |rejection| {
        let is_taken = rejection.reason == RejectionReason::OperatorNameTaken;
        is_taken.then(|| vec![name.text().to_owned()])
    });
    let done = done.await?;
    let CommandOutcome::Operator(number) = done.outcome else {
        return Err(ErrorCode::Internal.into());
    };
    Ok(Json::of(&OperatorAdded {
        success: true,
        sequence: done.decided_at.0,
        number: number.0,
        token,
    }))
}

/// `POST /operators/revoke`: the live operator of the name. A repeat names one who is revoked.
pub(crate) async fn revoke(
    context: RequestContext,
    FromBody(OperatorRevocation { name }): FromBody<OperatorRevocation>,
) -> Result<Json<CommandAnswer>, Failure> {
    let find = |view: &View| {
        let people = view.people();
        let live = people.by_name(&name).map(|(number, _)| number);
        live.or_else(|| people.revoked_by_name(&name))
    };
    let found = context.app.find(find).await?;
    let operator = found.ok_or(ErrorCode::OperatorNotFound)?;
    let command = Command::RevokeOperator { operator };
    Ok(answer(&context.command(command, &[]).await?))
}
