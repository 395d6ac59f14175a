//! Who may send a command (docs/verify/rules.md §27). The core, the engine's socket, the operator's
//! surface and the audit read it.

use crate::operator::{OperatorRole, RoleSet};

/// Who may send a command. The engine itself sends what nobody else may.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Senders {
    /// Clients, through a gateway that checked their key or signature.
    pub clients: bool,
    /// Operators of these roles; others are refused with `OperatorRole`.
    pub operators: RoleSet,
}

impl Senders {
    /// Whether only the engine sends it.
    #[must_use]
    pub const fn is_engine(self) -> bool {
        !self.clients && self.operators.bits() == 0
    }
}

const NOBODY: Senders = Senders {
    clients: false,
    operators: RoleSet::NONE,
};

const fn role_and_admin(role: OperatorRole) -> Senders {
    Senders {
        operators: RoleSet::ADMIN.with(role),
        ..NOBODY
    }
}

pub(super) const ENGINE: Senders = NOBODY;
pub(super) const CLIENTS: Senders = Senders {
    clients: true,
    ..NOBODY
};
pub(super) const ADMIN: Senders = role_and_admin(OperatorRole::Admin);
pub(super) const CASHIER: Senders = role_and_admin(OperatorRole::Cashier);
pub(super) const MARKETS: Senders = Senders {
    operators: role_and_admin(OperatorRole::Markets)
        .operators
        .with(OperatorRole::Sync),
    ..NOBODY
};
pub(super) const RESOLVER_AND_SYNC: Senders = Senders {
    operators: RESOLVER.operators.with(OperatorRole::Sync),
    ..NOBODY
};
pub(super) const RESOLVER: Senders = role_and_admin(OperatorRole::Resolver);
pub(super) const SUPPORT: Senders = role_and_admin(OperatorRole::Support);
/// An operator's order is one that nobody signed, in a sandbox.
pub(super) const CLIENTS_AND_ADMIN: Senders = Senders {
    clients: true,
    ..ADMIN
};
pub(super) const CLIENTS_AND_SUPPORT: Senders = Senders {
    clients: true,
    ..SUPPORT
};
/// Every role that writes.
pub(super) const OPERATORS: Senders = Senders {
    operators: RoleSet::NONE
        .with(OperatorRole::Admin)
        .with(OperatorRole::Markets)
        .with(OperatorRole::Resolver)
        .with(OperatorRole::Cashier)
        .with(OperatorRole::Support)
        .with(OperatorRole::Sync),
    ..NOBODY
};

#[cfg(test)]
mod tests {
    use crate::CommandKind;
    use crate::operator::OperatorRole;

    /// A second list on purpose: every other reader of the table would follow a mistake in it.
    #[test]
    fn commands_have_the_senders_of_the_rules() {
        use CommandKind::{
            AcceptDivergence, AdvanceTime, AttestState, Begin, CancelAll, CancelMarketOrders,
            CancelOrder, CancelWithdrawal, ClaimWithdrawal, Continue, Convert, DecreaseOrder,
            Deposit, Dispute, FailWithdrawal, Finalise, Merge, PayRebates, PayWithdrawal,
            PlaceOrder, Propose, Redeem, RegisterKey, RenewQuotes, Reopen, RequestWithdrawal,
            ResolveMarket, Restore, RevokeKey, SetHeartbeat, SetQuoteLimits, SetQuotes, Split,
            Step, Withdraw, WithdrawProposal,
        };
        let of = |is: &dyn Fn(CommandKind) -> bool| {
            let all = CommandKind::ALL.iter().copied();
            all.filter(|kind| is(*kind)).collect::<Vec<_>>()
        };
        assert_eq!(
            of(&|kind| kind.senders().is_engine()),
            [
                SetHeartbeat,
                AcceptDivergence,
                AdvanceTime,
                Continue,
                AttestState,
                Step,
                Begin,
                Restore,
                Reopen
            ]
        );
        assert_eq!(
            of(&|kind| kind.senders().clients),
            [
                PlaceOrder,
                CancelOrder,
                CancelAll,
                CancelMarketOrders,
                DecreaseOrder,
                SetQuotes,
                RenewQuotes,
                SetQuoteLimits,
                RegisterKey,
                RevokeKey,
                Split,
                Merge,
                Redeem,
                Convert,
                RequestWithdrawal,
                CancelWithdrawal
            ]
        );
        let may = |role| of(&move |kind| kind.senders().operators.contains(role));
        let resolution = [Propose, Dispute, WithdrawProposal];
        assert_eq!(
            may(OperatorRole::Cashier),
            [
                &[
                    Deposit,
                    Withdraw,
                    PayWithdrawal,
                    FailWithdrawal,
                    PayRebates,
                    ClaimWithdrawal
                ][..],
                &resolution
            ]
            .concat()
        );
        assert_eq!(
            may(OperatorRole::Resolver),
            [&[ResolveMarket][..], &resolution, &[Finalise]].concat()
        );
        assert_eq!(may(OperatorRole::ReadOnly), []);
        // An admin has what any operator has; markets and support have the rest of theirs.
        let (admin, markets, support) = (
            may(OperatorRole::Admin).len(),
            may(OperatorRole::Markets).len(),
            may(OperatorRole::Support).len(),
        );
        assert_eq!((admin, markets, support), (43, 17, 6));
        // The sync has what markets has, and one more: it never finalises another's proposal.
        let resolves: Vec<_> = may(OperatorRole::Sync)
            .into_iter()
            .filter(|kind| !may(OperatorRole::Markets).contains(kind))
            .collect();
        assert_eq!(resolves, [ResolveMarket]);
        assert_eq!(may(OperatorRole::Sync).len(), markets + 1);
    }
}
