//! What operators do: each act once, with its body, its path, its place in the command line and its summary, which the
//! documents and `--help` show. An act without such a place has a command of its own there, which does more. Who may send it, and what the exchange may answer, stands beside its command in the
//! model.

use foretell_model::{
    Command, CommandKind, ConditionId, MarketNumber, Reference, Sequence, command,
};
use serde::Serialize;

use crate::operator::markets::clock::TermsChange;
use crate::operator::markets::register::{
    EventEdit, EventRegistration, MarketEdit, MarketRegistration,
};
use crate::operator::markets::resolution::{
    DisputeRequest, Finalisation, PolicyChange, ProposalRequest, ProposalWithdrawal, WalletListing,
};
use crate::operator::payments::{Nothing, PaymentsChange, WithdrawalName, WithdrawalPayment};
use crate::operator::people::{OperatorAddition, OperatorRevocation};
use crate::operator::profile::ProfileEdit;
use crate::operator::request::{
    Archive, Binding, ClosedOnly, FeeChange, FeesWithdrawal, HoldChange, KeyRevocation, MarketName,
    MinimumChange, ModeChange, Resolution, SettingsChange, TickChange, Transfer, WalletName,
};
use crate::operator::sandbox::{ClockMove, UnsignedOrder};
use crate::read::RequestBody;

/// The path of the request for a snapshot, which is no command: it changes no state.
pub const SNAPSHOT_PATH: &str = "/snapshot";

/// The number of the market with a condition; `None` when there is none.
pub type MarketOf<'a> = &'a dyn Fn(ConditionId) -> Option<MarketNumber>;

/// An act whose body is its command, but for the numbers of markets.
pub trait Act: 'static {
    /// Its body.
    type Body: RequestBody + Send + Sync + 'static;
    /// The kind of its command.
    const KIND: CommandKind;

    /// The command; `None` when a market is unknown.
    fn command(body: &Self::Body, market: MarketOf<'_>) -> Option<Command>;

    /// The command's evidence.
    fn evidence(_: &Self::Body) -> &[u8] {
        &[]
    }
}

/// Gets every [`Act`].
pub trait EachAct {
    /// Gets one.
    fn act<A: Act>(&mut self);
}

/// Declares the acts: the kind of the command, the body and the path; the place in the command line; and, where the body
/// is the command, how (`proof`: its evidence). The rest have a handler of their own.
macro_rules! acts {
    ($(
        #[doc = $summary:literal]
        $kind:ident($body:ty) at $path:literal $(as $place:literal)?
            $(= |$it:pat_param, $market:pat_param| $command:expr $(, proof $by:ident.$evidence:ident)?)?;
    )+) => {
        /// A command of the operator: its body, sent by POST to its path. Each variant has the name
        /// of its [`CommandKind`].
        #[derive(Clone, Debug, PartialEq, Serialize)]
        #[serde(untagged)]
        pub enum OperatorCommand { $(#[doc = $summary] $kind($body)),+ }

        impl OperatorCommand {
            /// Kind and path of each.
            pub const PATHS: &[(CommandKind, &'static str)] =
                &[$((CommandKind::$kind, $path)),+];

            /// Kind and place in the command line, such as `account deposit`, of those that have one.
            pub const PLACES: &[(CommandKind, &'static str)] =
                &[$($((CommandKind::$kind, $place),)?)+];

            /// The path of a kind; `None` when operators do not send it.
            #[must_use]
            pub const fn path_of(kind: CommandKind) -> Option<&'static str> {
                match kind {
                    $(CommandKind::$kind => Some($path),)+
                    _ => None,
                }
            }

            /// What a kind does, in one line; `None` when operators do not send it.
            #[must_use]
            pub const fn summary_of(kind: CommandKind) -> Option<&'static str> {
                match kind {
                    $(CommandKind::$kind => Some($summary.trim_ascii()),)+
                    _ => None,
                }
            }

            /// Its path.
            #[must_use]
            pub const fn path(&self) -> &'static str {
                match self { $(Self::$kind(_) => $path),+ }
            }
        }

        $($(
            #[derive(Debug)]
            enum $kind {}

            impl Act for $kind {
                type Body = $body;
                const KIND: CommandKind = CommandKind::$kind;

                fn command($it: &$body, $market: MarketOf<'_>) -> Option<Command> {
                    Some($command)
                }

                $(fn evidence($by: &$body) -> &[u8] {
                    $by.$evidence.as_bytes()
                })?
            }
        )?)+

        /// Hands every [`Act`] to `visitor`.
        pub fn each_act(visitor: &mut impl EachAct) {
            $($({
                // The act has a command of its own.
                const _: &str = stringify!($command);
                visitor.act::<$kind>();
            })?)+
        }
    };
}

acts! {
    /// Deposit collateral into a wallet
    Deposit(Transfer) at "/accounts/deposit" as "account deposit"
        = |it, _| Command::Deposit(command::Deposit {
            wallet: it.wallet, amount: it.amount, reference: Reference::of(&it.reference)
        }), proof it.reference;
    /// Withdraw free collateral from a wallet
    Withdraw(Transfer) at "/accounts/withdraw" as "account withdraw"
        = |it, _| Command::Withdraw(command::Withdraw {
            wallet: it.wallet, amount: it.amount, reference: Reference::of(&it.reference)
        }), proof it.reference;
    /// Bind a wallet to its owner
    BindWallet(Binding) at "/accounts/bind" as "account bind"
        = |it, _| Command::BindWallet(command::BindWallet { owner: it.owner, wallet: it.wallet, kind: it.kind });
    /// Unbind a wallet from its owner
    UnbindWallet(WalletName) at "/accounts/unbind" as "account unbind"
        = |it, _| Command::UnbindWallet { wallet: it.wallet };
    /// Restrict an account to reducing its positions
    SetClosedOnly(ClosedOnly) at "/accounts/closed-only" as "account closed-only"
        = |it, _| Command::SetClosedOnly(command::SetClosedOnly { wallet: it.wallet, closed_only: it.closed_only });
    /// Change the profile of a wallet
    DescribeWallet(Box<ProfileEdit>) at "/accounts/describe";
    /// Withdraw collected fees
    WithdrawFees(FeesWithdrawal) at "/fees/withdraw" as "system withdraw-fees"
        = |it, _| Command::WithdrawFees(command::WithdrawFees {
            amount: it.amount, reference: Reference::of(&it.reference)
        }), proof it.reference;
    /// Claim a withdrawal to pay it; its user can no longer cancel
    ClaimWithdrawal(WithdrawalName) at "/withdrawals/claim" as "withdrawals claim"
        = |it, _| Command::ClaimWithdrawal { withdrawal: Sequence(it.withdrawal) };
    /// Record that a claimed withdrawal was paid
    PayWithdrawal(WithdrawalPayment) at "/withdrawals/pay" as "withdrawals pay"
        = |it, _| Command::PayWithdrawal(command::PayWithdrawal {
            withdrawal: Sequence(it.withdrawal), payment: Reference::of(&it.payment)
        }), proof it.payment;
    /// Give up a withdrawal: its amount is free again
    FailWithdrawal(WithdrawalName) at "/withdrawals/fail" as "withdrawals fail"
        = |it, _| Command::FailWithdrawal { withdrawal: Sequence(it.withdrawal) };
    /// Reopen withdrawals after a restore
    OpenWithdrawals(Nothing) at "/withdrawals/open" as "withdrawals open"
        = |_, _| Command::OpenWithdrawals;
    /// Pay all accrued rebates
    PayRebates(Nothing) at "/rebates/pay" as "system pay-rebates"
        = |_, _| Command::PayRebates;
    /// Add an operator; the answer shows the token once
    AddOperator(OperatorAddition) at "/operators";
    /// Revoke an operator permanently
    RevokeOperator(OperatorRevocation) at "/operators/revoke" as "operators revoke";
    /// Set the resolution policy of the site or a market
    SetPolicy(PolicyChange) at "/policy" as "market policy";
    /// Remove the policy of a market
    ClearPolicy(MarketName) at "/policy/clear" as "market policy-clear"
        = |it, market| Command::ClearPolicy { market: market(it.condition_id)? };
    /// Let a wallet propose or dispute
    ListWallet(WalletListing) at "/policy/wallets" as "market policy-wallet"
        = |it, market| Command::ListWallet(command::ListWallet {
            market: site_or(it.condition_id, market)?, wallet: it.wallet, propose: it.propose, dispute: it.dispute
        });
    /// Revoke an API key permanently
    RevokeKey(KeyRevocation) at "/keys/revoke" as "keys revoke";
    /// Register a neg-risk event group, before its questions
    RegisterEvent(EventRegistration) at "/events" as "market event";
    /// Change the text of an own event group
    DescribeEvent(EventEdit) at "/events/describe" as "market describe-event";
    /// Register a market
    RegisterMarket(Box<MarketRegistration>) at "/markets";
    /// Change the text of an own market
    DescribeMarket(Box<MarketEdit>) at "/markets/describe" as "market describe";
    /// Set the clock, taker delay and maker rebate of a market
    SetTerms(TermsChange) at "/markets/terms" as "market terms"
        = |it, market| Command::SetTerms(command::SetTerms { market: market(it.condition_id)?, terms: it.update() });
    /// Propose the payout of a closed market
    Propose(ProposalRequest) at "/markets/propose" as "market propose";
    /// Dispute a proposal; give a reason
    Dispute(DisputeRequest) at "/markets/dispute" as "market dispute";
    /// Withdraw a proposal
    WithdrawProposal(ProposalWithdrawal) at "/markets/withdraw-proposal" as "market withdraw-proposal";
    /// Finalise a proposal: the payout is then final
    Finalise(Finalisation) at "/markets/finalise" as "market finalise";
    /// Start trading in a registered market
    ActivateMarket(MarketName) at "/markets/activate" as "market activate";
    /// Suspend trading in a market
    PauseMarket(HoldChange) at "/markets/pause" as "market pause";
    /// Resume trading, once no other hold is left
    ResumeMarket(HoldChange) at "/markets/resume" as "market resume";
    /// Close a market and cancel its orders
    CloseMarket(MarketName) at "/markets/close";
    /// Resolve a market
    ResolveMarket(Resolution) at "/markets/resolve";
    /// Hide a market from lists, or show it again
    ArchiveMarket(Archive) at "/markets/archive" as "market archive"
        = |it, market| Command::ArchiveMarket(command::ArchiveMarket {
            market: market(it.condition_id)?, archived: it.archived
        });
    /// Set a finer tick for a market
    SetTick(TickChange) at "/markets/tick" as "market tick"
        = |it, market| Command::SetTick(command::SetTick { market: market(it.condition_id)?, tick: it.tick_size });
    /// Set the minimum order size of a market
    SetMinimumSize(MinimumChange) at "/markets/minimum" as "market minimum-size"
        = |it, market| Command::SetMinimumSize(command::SetMinimumSize {
            market: market(it.condition_id)?, minimum_size: it.minimum_order_size
        });
    /// Set the taker fee of a market
    SetFee(FeeChange) at "/markets/fee" as "market fee"
        = |it, market| Command::SetFee(command::SetFee { market: market(it.condition_id)?, fee: it.fee() });
    /// Set the system mode
    SetMode(ModeChange) at "/system/mode"
        = |it, _| Command::SetMode { mode: it.mode };
    /// Change settings of the matching core
    ChangeSettings(SettingsChange) at "/system/settings"
        = |it, _| Command::ChangeSettings { settings: it.update() };
    /// Place an order that nobody signs, in a sandbox
    PlaceOrder(UnsignedOrder) at "/sandbox/orders";
    /// Move, stop or start the clock of a sandbox
    MoveClock(ClockMove) at "/sandbox/clock";
    /// Change limits of payments
    SetPayments(PaymentsChange) at "/system/payments"
        = |it, _| Command::SetPayments { payments: it.update() };
}

/// The market that a body names, or the site.
fn site_or(condition: Option<ConditionId>, market: MarketOf<'_>) -> Option<Option<MarketNumber>> {
    match condition {
        Some(condition) => market(condition).map(Some),
        None => Some(None),
    }
}

impl OperatorCommand {
    /// The market it concerns.
    #[must_use]
    pub fn condition(&self) -> Option<ConditionId> {
        match self {
            Self::RegisterMarket(market) => Some(market.terms.condition_id),
            Self::ActivateMarket(market) | Self::CloseMarket(market) => Some(market.condition_id),
            Self::PauseMarket(change) | Self::ResumeMarket(change) => Some(change.condition_id),
            Self::ResolveMarket(resolution) => Some(resolution.condition_id),
            Self::ArchiveMarket(archive) => Some(archive.condition_id),
            Self::SetTick(change) => Some(change.condition_id),
            Self::SetMinimumSize(change) => Some(change.condition_id),
            Self::SetFee(change) => Some(change.condition_id),
            Self::SetTerms(change) => Some(change.condition_id),
            Self::Propose(proposal) => Some(proposal.condition_id),
            Self::Dispute(dispute) => Some(dispute.condition_id),
            Self::WithdrawProposal(proposal) => Some(proposal.condition_id),
            Self::Finalise(proposal) => Some(proposal.condition_id),
            _ => None,
        }
    }
}
