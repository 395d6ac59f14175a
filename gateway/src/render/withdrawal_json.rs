//! Withdrawals as their users see them, in answers and on the user channel.

use std::fmt::Display;

use foretell_model::OperatorNumber;
use foretell_view::{self as view, View};
use foretell_wire::accounts::withdrawals::{WithdrawalRow, WithdrawalStatus};
use foretell_wire::text::time::iso_millis;
use foretell_wire::{ApiError, ErrorCode, json_text};

/// A withdrawal as its user sees it.
pub(crate) fn row(view: &View, withdrawal: &view::Withdrawal) -> Option<WithdrawalRow> {
    Some(WithdrawalRow {
        withdrawal: withdrawal.number.0,
        wallet: view.accounts().get(withdrawal.account)?.wallet,
        destination: withdrawal.destination.as_str().to_owned(),
        amount: withdrawal.amount,
        reference: withdrawal.reference.as_str().to_owned(),
        status: status(withdrawal.status),
        requested_at: withdrawal.asked,
        changed_at: withdrawal.changed,
        payment: withdrawal.payment.as_str().to_owned(),
    })
}

const fn status(status: view::WithdrawalStatus) -> WithdrawalStatus {
    match status {
        view::WithdrawalStatus::Requested => WithdrawalStatus::Requested,
        view::WithdrawalStatus::Claimed => WithdrawalStatus::Claimed,
        view::WithdrawalStatus::Paid => WithdrawalStatus::Paid,
        view::WithdrawalStatus::Failed => WithdrawalStatus::Failed,
        view::WithdrawalStatus::Cancelled => WithdrawalStatus::Cancelled,
    }
}

/// The error of a request about a withdrawal that ended before: what became of it, when, by whom and how. `name` is that
/// of an operator.
pub(crate) fn ended_before(
    ended: &view::Withdrawal,
    name: impl FnOnce(OperatorNumber) -> String,
) -> ApiError {
    // A JSON text of one word.
    let status = json_text(&status(ended.status));
    let status = status.trim_matches('"');
    let by = match ended.ended_by {
        OperatorNumber::NONE => "its wallet".to_owned(),
        operator => name(operator),
    };
    let payment = match ended.payment.as_str() {
        "" => "none",
        payment => payment,
    };
    let at = iso_millis(ended.changed.millis());
    let values: [&dyn Display; 5] = [&ended.number, &status, &at, &by, &payment];
    ErrorCode::WithdrawalEnded.with(values)
}
