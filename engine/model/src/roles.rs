//! The commands of each operator role: the one table (docs/verify/rules.md §27). The core, the
//! operator's surface, the command line and the page read it.

use crate::Command;
use crate::operator::OperatorRole;

/// Whether an operator of this role may issue the command (otherwise `OperatorRole`). False for the
/// commands of clients and of the engine, which carry no operator.
#[must_use]
pub const fn may(role: OperatorRole, command: &Command) -> bool {
    use OperatorRole::{Admin, Cashier, Markets, ReadOnly, Resolver, Support};
    match command {
        Command::PlaceOrder(_)
        | Command::CancelOrder { .. }
        | Command::CancelAll { .. }
        | Command::CancelMarketOrders { .. }
        | Command::RegisterKey { .. }
        | Command::SetHeartbeat { .. }
        | Command::Split { .. }
        | Command::Merge { .. }
        | Command::Redeem { .. }
        | Command::Convert { .. }
        | Command::AcceptDivergence { .. }
        | Command::AdvanceTime
        | Command::Continue
        | Command::AttestState { .. }
        | Command::Step => false,

        Command::Deposit { .. }
        | Command::Withdraw { .. }
        | Command::ConfirmWithdrawal { .. }
        | Command::ReleaseWithdrawal { .. }
        | Command::PayRebates => matches!(role, Admin | Cashier),

        Command::BindWallet { .. }
        | Command::UnbindWallet { .. }
        | Command::SetClosedOnly { .. }
        | Command::DescribeWallet { .. }
        | Command::RevokeKey { .. } => matches!(role, Admin | Support),

        Command::RegisterEvent { .. }
        | Command::RegisterMarket(_)
        | Command::ActivateMarket { .. }
        | Command::PauseMarket { .. }
        | Command::ResumeMarket { .. }
        | Command::CloseMarket { .. }
        | Command::ArchiveMarket { .. }
        | Command::SetTick { .. }
        | Command::SetMinimumSize { .. }
        | Command::SetFee { .. }
        | Command::SetTerms { .. }
        | Command::DescribeEvent { .. }
        | Command::DescribeMarket { .. }
        | Command::SetMode { .. } => matches!(role, Admin | Markets),

        Command::ResolveMarket { .. } | Command::Finalise { .. } => {
            matches!(role, Admin | Resolver)
        }

        Command::Propose(_) | Command::Dispute { .. } | Command::WithdrawProposal { .. } => {
            !matches!(role, ReadOnly)
        }

        Command::WithdrawFees { .. }
        | Command::SetPolicy { .. }
        | Command::ClearPolicy { .. }
        | Command::ListWallet { .. }
        | Command::ChangeSettings { .. }
        | Command::SwitchRules { .. }
        | Command::RegisterDomain { .. }
        | Command::SetPayments { .. }
        | Command::AddOperator { .. }
        | Command::RevokeOperator { .. } => matches!(role, Admin),
    }
}
