//! The routes of each role: the command of each route, whose roles are the core's table
//! (`foretell_model::roles`).

use foretell_model::command::{Propose, RegisterMarket};
use foretell_model::{
    Command, ConditionId, EventId, EventNumber, FeeSchedule, KeyNumber, Lots, MarketNumber, Micros,
    OperatorName, OperatorNumber, OperatorRole, PaymentsUpdate, Payout, PolicyUpdate, Reference,
    Sequence, SettingsUpdate, SystemMode, TermsUpdate, Tick, TokenId, WalletAddress, WalletKind,
    roles,
};
use foretell_wire::rejection::role_word;
use foretell_wire::{ApiError, ErrorCode};

/// A market, a wallet and a reference that stand for any.
const MARKET: MarketNumber = MarketNumber(0);
const WALLET: WalletAddress = WalletAddress::ZERO;
const REFERENCE: Reference = Reference([0; 32]);

/// Whether a role includes the route of a command. Routes without a command are the admin's.
pub(super) fn may(role: OperatorRole, path: &str) -> bool {
    match command(path) {
        Some(command) => roles::may(role, &command),
        None => role == OperatorRole::Admin,
    }
}

/// The error of a command that the role does not include.
pub(super) fn not_included(role: OperatorRole, path: &str) -> ApiError {
    let all = OperatorRole::ALL.iter().copied();
    let allowed: Vec<_> = all.filter(|role| may(*role, path)).map(role_word).collect();
    let values = vec![role_word(role).to_owned(), allowed.join(", ")];
    ApiError::Coded(ErrorCode::OperatorRole, values)
}

/// Whether operators issue this command; others carry no operator.
pub(super) const fn are_of_operators(command: &Command) -> bool {
    roles::may(OperatorRole::Admin, command)
}

/// The paths of commands that a role includes.
pub(super) fn paths(role: OperatorRole) -> impl Iterator<Item = &'static str> {
    PATHS.iter().copied().filter(move |path| may(role, path))
}

/// The paths of all commands of operators.
pub(super) const PATHS: &[&str] = &[
    "/accounts/deposit",
    "/accounts/withdraw",
    "/withdrawals/confirm",
    "/withdrawals/release",
    "/rebates/pay",
    "/fees/withdraw",
    "/accounts/bind",
    "/accounts/unbind",
    "/accounts/closed-only",
    "/accounts/describe",
    "/keys/revoke",
    "/events",
    "/events/describe",
    "/markets",
    "/markets/describe",
    "/markets/activate",
    "/markets/pause",
    "/markets/resume",
    "/markets/close",
    "/markets/archive",
    "/markets/tick",
    "/markets/minimum",
    "/markets/fee",
    "/markets/terms",
    "/markets/resolve",
    "/markets/propose",
    "/markets/dispute",
    "/markets/withdraw-proposal",
    "/markets/finalise",
    "/policy",
    "/policy/clear",
    "/policy/wallets",
    "/operators",
    "/operators/revoke",
    "/system/mode",
    "/system/settings",
    "/system/payments",
    "/snapshot",
];

/// The command of a route, with any content.
fn command(path: &str) -> Option<Command> {
    Some(match path {
        "/accounts/deposit" => Command::Deposit {
            wallet: WALLET,
            amount: Micros(0),
            reference: REFERENCE,
        },
        "/accounts/withdraw" => Command::Withdraw {
            wallet: WALLET,
            amount: Micros(0),
            reference: REFERENCE,
        },
        "/withdrawals/confirm" => Command::ConfirmWithdrawal {
            reference: REFERENCE,
        },
        "/withdrawals/release" => Command::ReleaseWithdrawal {
            reference: REFERENCE,
        },
        "/rebates/pay" => Command::PayRebates,
        "/fees/withdraw" => Command::WithdrawFees {
            amount: Micros(0),
            reference: REFERENCE,
        },
        "/accounts/bind" => Command::BindWallet {
            owner: WALLET,
            wallet: WALLET,
            kind: WalletKind::Eoa,
        },
        "/accounts/unbind" => Command::UnbindWallet { wallet: WALLET },
        "/accounts/closed-only" => Command::SetClosedOnly {
            wallet: WALLET,
            closed_only: false,
        },
        "/accounts/describe" => Command::DescribeWallet { wallet: WALLET },
        "/keys/revoke" => Command::RevokeKey {
            key: KeyNumber(0),
            cancel_orders: false,
        },
        "/system/mode" => Command::SetMode {
            mode: SystemMode::Running,
        },
        "/system/settings" => Command::ChangeSettings {
            settings: SettingsUpdate::default(),
        },
        "/system/payments" => Command::SetPayments {
            payments: PaymentsUpdate::default(),
        },
        "/operators" => Command::AddOperator {
            role: OperatorRole::ReadOnly,
            name: OperatorName([0; 32]),
            token: [0; 32],
        },
        "/operators/revoke" => Command::RevokeOperator {
            operator: OperatorNumber::NONE,
        },
        path => return of_market(path).or_else(|| of_resolution(path)),
    })
}

/// The command of a route of markets and event groups.
fn of_market(path: &str) -> Option<Command> {
    Some(match path {
        "/events" => Command::RegisterEvent { event: EventId(0) },
        "/events/describe" => Command::DescribeEvent {
            event: EventNumber(0),
        },
        "/markets" => Command::RegisterMarket(RegisterMarket {
            condition: ConditionId::ZERO,
            tokens: [TokenId::ZERO; 2],
            tick: Tick::Hundredth,
            tick_refines: false,
            minimum_size: Lots(0),
            fee: FeeSchedule::default(),
            event: None,
        }),
        "/markets/describe" => Command::DescribeMarket { market: MARKET },
        "/markets/activate" => Command::ActivateMarket { market: MARKET },
        "/markets/pause" => Command::PauseMarket { market: MARKET },
        "/markets/resume" => Command::ResumeMarket { market: MARKET },
        "/markets/close" => Command::CloseMarket { market: MARKET },
        "/markets/archive" => Command::ArchiveMarket {
            market: MARKET,
            archived: false,
        },
        "/markets/tick" => Command::SetTick {
            market: MARKET,
            tick: Tick::Hundredth,
        },
        "/markets/minimum" => Command::SetMinimumSize {
            market: MARKET,
            minimum_size: Lots(0),
        },
        "/markets/fee" => Command::SetFee {
            market: MARKET,
            fee: FeeSchedule::default(),
        },
        "/markets/terms" => Command::SetTerms {
            market: MARKET,
            terms: TermsUpdate::default(),
        },
        _ => return None,
    })
}

/// The command of a route of resolution.
fn of_resolution(path: &str) -> Option<Command> {
    Some(match path {
        "/markets/resolve" => Command::ResolveMarket {
            market: MARKET,
            payout: Payout::Yes,
        },
        "/markets/propose" => Command::Propose(Propose {
            market: MARKET,
            payout: Payout::Yes,
            by: None,
            evidence: [0; 32],
            window_seconds: None,
            reference: REFERENCE,
        }),
        "/markets/dispute" => Command::Dispute {
            market: MARKET,
            counter: None,
            by: None,
        },
        "/markets/withdraw-proposal" => Command::WithdrawProposal {
            market: MARKET,
            by: None,
        },
        "/markets/finalise" => Command::Finalise {
            market: MARKET,
            proposal: Sequence(0),
        },
        "/policy" => Command::SetPolicy {
            market: None,
            policy: PolicyUpdate::default(),
        },
        "/policy/clear" => Command::ClearPolicy { market: MARKET },
        "/policy/wallets" => Command::ListWallet {
            market: None,
            wallet: WALLET,
            propose: false,
            dispute: false,
        },
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_path_but_the_snapshot_has_a_command_of_operators() {
        for path in PATHS.iter().filter(|path| **path != "/snapshot") {
            let command = command(path).expect(path);
            assert!(roles::may(OperatorRole::Admin, &command), "{path}");
        }
        let mut codes: Vec<u16> = (PATHS.iter().filter_map(|path| command(path)))
            .map(|command| command.code())
            .collect();
        codes.sort_unstable();
        codes.dedup();
        assert_eq!(codes.len(), PATHS.len() - 1, "a command stands twice");
    }

    #[test]
    fn a_role_has_its_own_paths() {
        assert!(may(OperatorRole::Cashier, "/accounts/deposit"));
        assert!(!may(OperatorRole::Cashier, "/markets/pause"));
        assert!(!may(OperatorRole::Markets, "/snapshot"));
        assert_eq!(paths(OperatorRole::ReadOnly).count(), 0);
        assert_eq!(paths(OperatorRole::Admin).count(), PATHS.len());
    }
}
