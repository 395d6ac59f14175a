//! Withdrawals as their users see them, in answers and on the user channel.

use foretell_view::{self as view, View};
use foretell_wire::accounts::withdrawals::{WithdrawalRow, WithdrawalStatus};

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
