//! Withdrawals as their users see them, in answers and on the user channel.

use std::fmt::Display;

use foretell_model::Sequence;
use foretell_view::{self as view, View};
use foretell_wire::accounts::withdrawals::{WithdrawalRow, WithdrawalStatus};
use foretell_wire::text::time::iso_millis;
use foretell_wire::{ApiError, ErrorCode};

/// Maximum number of ended withdrawals among which one is looked for by its number.
const MAX_SEARCHED: usize = 10_000;

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

/// The withdrawal with this number, if it ended lately.
pub(crate) fn find_ended(view: &View, number: Sequence) -> Option<view::Withdrawal> {
    let all = view.withdrawals();
    let newest_first = (0..all.ended_count()).rev().take(MAX_SEARCHED);
    let ended = newest_first.filter_map(|index| all.ended(index));
    // Those that ended before it was asked for are not it.
    let mut since = ended.take_while(|it| it.sequence >= number);
    since.find(|it| it.number == number)
}

/// The error of a request about a withdrawal that ended before: what became of it, when, by whom and how.
pub(crate) fn ended_before(ended: &view::Withdrawal, by: &str) -> ApiError {
    let status = match status(ended.status) {
        WithdrawalStatus::Paid => "paid",
        WithdrawalStatus::Failed => "failed",
        WithdrawalStatus::Cancelled => "cancelled",
        WithdrawalStatus::Requested | WithdrawalStatus::Claimed => "still pending",
    };
    let payment = match ended.payment.as_str() {
        "" => "none",
        payment => payment,
    };
    let at = iso_millis(ended.changed.millis());
    let values: [&dyn Display; 5] = [&ended.number, &status, &at, &by, &payment];
    ErrorCode::WithdrawalEnded.with(values)
}
