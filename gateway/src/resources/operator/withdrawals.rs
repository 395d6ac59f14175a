//! Withdrawals as a cashier handles them: `/withdrawals/…` of the operator (docs/operate/withdrawals.md).

use foretell_model::command::PayWithdrawal;
use foretell_model::{Command, OperatorNumber, Rejection, RejectionReason, Sequence};
use foretell_view::{View, Withdrawal, WithdrawalStatus};
use foretell_wire::ApiError;
use foretell_wire::operator::{
    OperatorWithdrawal, OperatorWithdrawals, WithdrawalPlace, WithdrawalsQuery,
};

use crate::http::answer::Json;
use crate::http::failure::Failure;
use crate::http::parts::FromQuery;
use crate::http::request_context::RequestContext;
use crate::render::withdrawal_json::{ended_before, row};
use crate::resources::operator::actor_name;

/// `GET /withdrawals`: a page of those that wait, the largest first, or of those that ended.
pub(crate) async fn list(
    context: RequestContext,
    FromQuery(query): FromQuery<WithdrawalsQuery>,
) -> Result<Json<OperatorWithdrawals>, Failure> {
    let state = context.app.shared_view.read();
    let view = &state.view;
    let all = view.withdrawals();
    let (rows, next): (Vec<Withdrawal>, _) = if query.ended {
        let end = query.before.map_or(u64::MAX, |before| before.number);
        let end = end.min(all.ended_count());
        let first = end.saturating_sub(query.limit as u64);
        let rows = (first..end).rev().filter_map(|index| all.ended(index));
        (rows.collect(), (first > 0).then(|| first.to_string()))
    } else {
        let last = query.before.map(|row| (row.amount, Sequence(row.number)));
        let mut largest = all.waiting().largest(last).copied();
        let rows: Vec<_> = largest.by_ref().take(query.limit).collect();
        let last = largest.next().and(rows.last());
        let next = last.map(|it| WithdrawalPlace {
            amount: it.amount,
            number: it.number.0,
        });
        (rows, next.map(|next| next.to_string()))
    };
    let answer = OperatorWithdrawals {
        shut: view.system().withdrawals_shut,
        waiting: all.waiting().count(),
        withdrawals: rows
            .iter()
            .filter_map(|it| operator_row(view, it))
            .collect(),
        next,
    };
    Ok(Json::of(&answer).at(state.position()))
}

/// The error of an act on a withdrawal that ended before: what became of it, when, by whom and how. `None` of one that
/// did not end lately.
pub(crate) fn ended_error(
    view: &View,
    command: &Command,
    rejection: &Rejection,
) -> Option<ApiError> {
    let number = match *command {
        Command::ClaimWithdrawal { withdrawal } | Command::FailWithdrawal { withdrawal } => {
            withdrawal
        }
        Command::PayWithdrawal(PayWithdrawal { withdrawal, .. }) => withdrawal,
        _ => return None,
    };
    if rejection.reason != RejectionReason::UnknownWithdrawal {
        return None;
    }
    let ended = view.withdrawals().find_ended(number)?;
    Some(ended_before(&ended, |operator| {
        actor_name(view, operator, None)
    }))
}

fn operator_row(view: &View, withdrawal: &Withdrawal) -> Option<OperatorWithdrawal> {
    let name = |operator: OperatorNumber| match operator {
        OperatorNumber::NONE => String::new(),
        number => actor_name(view, number, None),
    };
    let waits = withdrawal.status == WithdrawalStatus::Claimed;
    Some(OperatorWithdrawal {
        row: row(view, withdrawal)?,
        asked_by: name(withdrawal.asked_by),
        claimed_by: name(withdrawal.claimed_by),
        ended_by: name(withdrawal.ended_by),
        needs_second_person: waits && withdrawal.two_persons,
    })
}
