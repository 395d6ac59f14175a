//! The routes of each role: the command of each route, whose senders are those of the model's table.

use foretell_model::{CommandKind, OperatorRole};
use foretell_wire::errors::rejection::role_word;
use foretell_wire::{ApiError, ErrorCode};

/// Whether a role includes the route of a command. Routes without a command are the admin's.
pub(crate) fn may(role: OperatorRole, path: &str) -> bool {
    match ROUTES.iter().find(|(known, _)| *known == path) {
        Some((_, kind)) => kind.senders().operators.contains(role),
        None => role == OperatorRole::Admin,
    }
}

/// The error of a command that the role does not include.
pub(crate) fn not_included(role: OperatorRole, path: &str) -> ApiError {
    let all = OperatorRole::ALL.iter().copied();
    let allowed: Vec<_> = all.filter(|role| may(*role, path)).map(role_word).collect();
    let values = vec![role_word(role).to_owned(), allowed.join(", ")];
    ApiError::new(ErrorCode::OperatorRole, values)
}

/// The paths of commands that a role includes.
pub(crate) fn paths(role: OperatorRole) -> impl Iterator<Item = &'static str> {
    all_paths().filter(move |path| may(role, path))
}

/// The paths of all commands of operators.
pub(crate) fn all_paths() -> impl Iterator<Item = &'static str> {
    ROUTES.iter().map(|(path, _)| *path).chain([SNAPSHOT])
}

/// A snapshot is no command.
const SNAPSHOT: &str = "/snapshot";

use CommandKind::{
    ActivateMarket, AddOperator, ArchiveMarket, BindWallet, ChangeSettings, ClearPolicy,
    CloseMarket, ConfirmWithdrawal, Deposit, DescribeEvent, DescribeMarket, DescribeWallet,
    Dispute, Finalise, ListWallet, PauseMarket, PayRebates, Propose, RegisterEvent, RegisterMarket,
    ReleaseWithdrawal, ResolveMarket, ResumeMarket, RevokeKey, RevokeOperator, SetClosedOnly,
    SetFee, SetMinimumSize, SetMode, SetPayments, SetPolicy, SetTerms, SetTick, UnbindWallet,
    Withdraw, WithdrawFees, WithdrawProposal,
};

/// The command of each route.
const ROUTES: &[(&str, CommandKind)] = &[
    ("/accounts/deposit", Deposit),
    ("/accounts/withdraw", Withdraw),
    ("/withdrawals/confirm", ConfirmWithdrawal),
    ("/withdrawals/release", ReleaseWithdrawal),
    ("/rebates/pay", PayRebates),
    ("/fees/withdraw", WithdrawFees),
    ("/accounts/bind", BindWallet),
    ("/accounts/unbind", UnbindWallet),
    ("/accounts/closed-only", SetClosedOnly),
    ("/accounts/describe", DescribeWallet),
    ("/keys/revoke", RevokeKey),
    ("/events", RegisterEvent),
    ("/events/describe", DescribeEvent),
    ("/markets", RegisterMarket),
    ("/markets/describe", DescribeMarket),
    ("/markets/activate", ActivateMarket),
    ("/markets/pause", PauseMarket),
    ("/markets/resume", ResumeMarket),
    ("/markets/close", CloseMarket),
    ("/markets/archive", ArchiveMarket),
    ("/markets/tick", SetTick),
    ("/markets/minimum", SetMinimumSize),
    ("/markets/fee", SetFee),
    ("/markets/terms", SetTerms),
    ("/markets/resolve", ResolveMarket),
    ("/markets/propose", Propose),
    ("/markets/dispute", Dispute),
    ("/markets/withdraw-proposal", WithdrawProposal),
    ("/markets/finalise", Finalise),
    ("/policy", SetPolicy),
    ("/policy/clear", ClearPolicy),
    ("/policy/wallets", ListWallet),
    ("/operators", AddOperator),
    ("/operators/revoke", RevokeOperator),
    ("/system/mode", SetMode),
    ("/system/settings", ChangeSettings),
    ("/system/payments", SetPayments),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_route_has_a_command_of_operators_of_its_own() {
        for (path, kind) in ROUTES {
            assert!(
                kind.senders().operators.contains(OperatorRole::Admin),
                "{path}"
            );
        }
        let mut kinds: Vec<_> = ROUTES.iter().map(|(_, kind)| *kind).collect();
        kinds.sort_unstable();
        kinds.dedup();
        assert_eq!(kinds.len(), ROUTES.len(), "a command stands twice");
    }

    #[test]
    fn a_role_has_its_own_paths() {
        assert!(may(OperatorRole::Cashier, "/accounts/deposit"));
        assert!(!may(OperatorRole::Cashier, "/markets/pause"));
        assert!(!may(OperatorRole::Markets, "/snapshot"));
        assert_eq!(paths(OperatorRole::ReadOnly).count(), 0);
        assert_eq!(paths(OperatorRole::Admin).count(), all_paths().count());
    }
}
