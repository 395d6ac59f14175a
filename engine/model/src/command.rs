//! All commands of the exchange, with their pinned codes.
//!
//! The codes ([`Command::code`]) are stored in journals. Commands carry dense numbers, which the
//! gateway resolves from addresses and tokens; the exchange checks each of them. An operator
//! command that may name an unknown account carries the address instead and opens the account.

#![allow(
    missing_docs,
    reason = "rkyv derives undocumented twins of documented variants"
)]

use rkyv::{Archive, Deserialize, Serialize};

use crate::id::{
    AccountNumber, ApiKey, ConditionId, DomainNumber, EventId, EventNumber, KeyNumber,
    MarketNumber, OperatorNumber, OrderId, Reference, Sequence, TokenId, WalletAddress,
};
use crate::market::{FeeSchedule, Payout, QuestionSet, SystemMode, WalletKind};
use crate::operator::{OperatorName, OperatorRole};
use crate::quantity::{Lots, Micros, Tick};
use crate::side::{OrderType, Outcome, Side};
use crate::time::{TimeMs, TimeSeconds};
use crate::update::{PaymentsUpdate, PolicyUpdate, SettingsUpdate, TermsUpdate};

/// A signed order as it reaches the core. The checks run in this order; the first failure is the
/// answer and changes and journals nothing:
///
/// 1. the market, account and key exist; the key is live and its owner is the account's owner
///    (`UnknownMarket`, `UnknownAccount`, `UnknownKey`, `KeyOfAnotherOwner`);
/// 2. the id is new. A repeat with the same terms and key is [`crate::Verdict::Repeated`], or, when
///    the first was killed, its rejection again; other terms are `Duplicate`;
/// 3. the timestamp is in the window (`TimestampOutOfWindow`); the id memory has room (`Busy`), also
///    for this owner (`TooManyOrderIds`);
/// 4. the system's mode (`SystemPaused`, `CancelOnly`, `PostOnlyMode`), the market's state
///    (`MarketNotReady`, `MarketPaused`, `MarketClosed`), a closed-only account's BUY (`ClosedOnlyAccount`);
/// 5. `PostOnlyNeedsResting` (post-only FOK or FAK), `InvalidExpiration`;
/// 6. the amounts: `AmountZero`, `AmountTooLarge`, `SizeNotLots`, `PriceOffTick`, in that order;
/// 7. `SizeBelowMinimum` (GTC, GTD), `MarketableBelowMinimum` (FOK and FAK BUY);
/// 8. `TooManyLiveOrders` (GTC, GTD), `NotEnoughCollateral` or `NotEnoughShares`.
///
/// Then the checks against the book, which are journalled and use up the id: `CrossesBook` (post-only),
/// `MarketableBelowMinimum` (a GTC or GTD BUY that crosses), `FokNotFilled`, `FakNoMatch`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Archive, Serialize, Deserialize)]
pub struct PlaceOrder {
    /// EIP-712 hash of the signed order.
    pub order: OrderId,
    /// The maker: the trading wallet.
    pub account: AccountNumber,
    /// The API key of the request.
    pub key: KeyNumber,
    /// The market of its token.
    pub market: MarketNumber,
    /// Which of the market's two tokens.
    pub outcome: Outcome,
    /// Buy or sell that token.
    pub side: Side,
    /// Time in force.
    pub order_type: OrderType,
    /// Rejected if it would cross.
    pub post_only: bool,
    /// Signed makerAmount: micros of collateral for a BUY, micro-shares for a SELL.
    pub maker_amount: u64,
    /// Signed takerAmount: micro-shares for a BUY, micros of collateral for a SELL.
    pub taker_amount: u64,
    /// GTD only; 0 otherwise.
    pub expiration: TimeSeconds,
    /// Signed timestamp.
    pub timestamp: TimeMs,
}

/// A market registration. Its description is evidence of the frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Archive, Serialize, Deserialize)]
pub struct RegisterMarket {
    /// The condition id; registration is idempotent by it.
    pub condition: ConditionId,
    /// Tokens of `[Yes, No]`.
    pub tokens: [TokenId; 2],
    /// The initial tick.
    pub tick: Tick,
    /// Whether 0.01 becomes 0.001 after a trade above 0.96 or below 0.04 (docs/verify/rules.md §3).
    pub tick_refines: bool,
    /// Minimum size of a GTC or GTD order.
    pub minimum_size: Lots,
    /// Taker fee.
    pub fee: FeeSchedule,
    /// The neg-risk event group whose next question this market is; `None` = plain market.
    pub event: Option<EventNumber>,
}

/// A proposal of a payout. The checks run in the order of docs/verify/rules.md §24.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Archive, Serialize, Deserialize)]
pub struct Propose {
    /// The closed market.
    pub market: MarketNumber,
    /// The payout per share.
    pub payout: Payout,
    /// The proposing wallet; `None` = the operator of the frame.
    pub by: Option<AccountNumber>,
    /// SHA-256 of the evidence; zeros without.
    pub evidence: [u8; 32],
    /// Challenge window in seconds, from the policy's shortest to
    /// [`crate::limits::MAX_WINDOW_SECONDS`]; `None` = the policy's shortest.
    pub window_seconds: Option<u32>,
    /// As in `Deposit`; proposals have a scope of their own. The same content: market, payout, window
    /// as sent, wallet and the first 16 bytes of the evidence hash.
    pub reference: Reference,
}

/// All commands of the exchange. The number of the operator is in the [`crate::CommandStamp`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, Archive, Serialize, Deserialize)]
pub enum Command {
    /// 1: place a signed order. Evidence: [`crate::evidence::OrderEvidence`].
    PlaceOrder(PlaceOrder),
    /// 2: cancel one order by id. Rejected: `OrderNotFound`, `OrderOfAnotherOwner`. A cancel
    /// of a delayed order is applied and ends nothing (docs/verify/rules.md §22).
    CancelOrder {
        /// The requesting owner; must be the owner of the order's account.
        owner: AccountNumber,
        /// Id of the order.
        order: OrderId,
    },
    /// 3: cancel all orders of all wallets of an owner. When nothing is to cancel, it is
    /// `Repeated` with zeros and not journalled.
    CancelAll {
        /// The owner.
        owner: AccountNumber,
        /// Reason of the cancels: `User`, or `Heartbeat` when issued by the engine's ingress.
        heartbeat: bool,
    },
    /// 4: cancel an owner's orders in a market or one outcome; as `CancelAll` when nothing is to cancel.
    CancelMarketOrders {
        /// The owner.
        owner: AccountNumber,
        /// The market.
        market: MarketNumber,
        /// The outcome; `None` = both.
        outcome: Option<Outcome>,
    },

    /// 10: add collateral; opens the account.
    Deposit {
        /// The credited wallet.
        wallet: WalletAddress,
        /// The amount, above 0.
        amount: Micros,
        /// Idempotency key; one scope for all deposits and withdrawals.
        reference: Reference,
    },
    /// 11: take out free collateral. Above the limit of
    /// [`PaymentSettings`](crate::PaymentSettings) it is held (docs/verify/rules.md §27):
    /// `OperatorRequired`, `TooManyHeld`.
    Withdraw {
        /// The debited wallet; its account must exist.
        wallet: WalletAddress,
        /// The amount, above 0, at most the free collateral.
        amount: Micros,
        /// As in `Deposit`.
        reference: Reference,
    },
    /// 12: take collected fees out of the exchange.
    WithdrawFees {
        /// The amount, above 0, at most the balance of the fee account.
        amount: Micros,
        /// As in `Deposit`.
        reference: Reference,
    },
    /// 13: bind a wallet to an owner; opens both accounts. The same binding again is `Repeated`.
    BindWallet {
        /// The owner: an EOA that is not bound itself.
        owner: WalletAddress,
        /// The wallet: owns no wallets or keys, has no live orders, is not bound elsewhere.
        wallet: WalletAddress,
        /// The wallet kind; `Eoa` is rejected. An owner has at most one wallet of a kind.
        kind: WalletKind,
    },
    /// 14: undo a binding; the wallet must have no live orders.
    UnbindWallet {
        /// The wallet.
        wallet: WalletAddress,
    },
    /// 15: restrict an account to reducing orders; setting it cancels the account's resting BUYs.
    SetClosedOnly {
        /// The account's wallet; opened if unknown.
        wallet: WalletAddress,
        /// Set or cleared.
        closed_only: bool,
    },
    /// 16: register an issued API key; opens the owner's account. The same key again is `Repeated`.
    RegisterKey {
        /// The owner; must not be a bound wallet.
        owner: WalletAddress,
        /// The nonce that the key was derived from, big-endian.
        nonce: [u8; 32],
        /// The key.
        api_key: ApiKey,
        /// Whether the key may only read.
        read_only: bool,
    },
    /// 17: revoke a key for ever.
    RevokeKey {
        /// The key.
        key: KeyNumber,
        /// Whether to cancel the owner's live orders too.
        cancel_orders: bool,
    },
    /// 18: start or end an owner's heartbeat chain.
    SetHeartbeat {
        /// The owner.
        owner: AccountNumber,
        /// Started or ended.
        on: bool,
    },
    /// 19: split: collateral into full sets.
    Split {
        /// The account.
        account: AccountNumber,
        /// The market.
        market: MarketNumber,
        /// Number of sets in lots, above 0.
        lots: Lots,
        /// Idempotency key; its scope is the account.
        reference: Reference,
    },
    /// 20: merge: full sets into collateral.
    Merge {
        /// The account.
        account: AccountNumber,
        /// The market.
        market: MarketNumber,
        /// Number of sets in lots, above 0.
        lots: Lots,
        /// As in `Split`.
        reference: Reference,
    },
    /// 21: redeem: holdings of a resolved market into their payout.
    Redeem {
        /// The account.
        account: AccountNumber,
        /// The market.
        market: MarketNumber,
        /// As in `Split`.
        reference: Reference,
    },
    /// 22: convert: No of some questions into collateral and Yes of the others
    /// (docs/verify/rules.md §11).
    Convert {
        /// The account.
        account: AccountNumber,
        /// The event group.
        event: EventNumber,
        /// The questions whose No is converted; at least one, all below the list's length.
        questions: QuestionSet,
        /// Lots of each question, above 0.
        lots: Lots,
        /// As in `Split`.
        reference: Reference,
    },
    /// 23: a second person pays a held withdrawal. Rejected in this order:
    /// `OperatorRequired`, `UnknownWithdrawal`, `SamePerson` (docs/verify/rules.md §27).
    ConfirmWithdrawal {
        /// The reference of the withdrawal.
        reference: Reference,
    },
    /// 24: give up a held withdrawal; its amount is free again. Rejected in this order:
    /// `OperatorRequired`, `UnknownWithdrawal` (docs/verify/rules.md §27).
    ReleaseWithdrawal {
        /// The reference of the withdrawal.
        reference: Reference,
    },
    /// 25: start to pay all accrued rebates; `Step` commands pay. Rejected in this order:
    /// `RebatesInProgress`, `NothingAccrued` (docs/verify/rules.md §23).
    PayRebates,

    /// 30: register an event group. Evidence: its description. The same id again is `Repeated`.
    RegisterEvent {
        /// Its catalog id.
        event: EventId,
    },
    /// 31: register a market. Evidence: its description. The same content again is `Repeated`;
    /// other content under the same condition id is `MarketDiffers`. Event group and tokens are
    /// compared; tick, minimum and fee are not, because they have their own commands.
    RegisterMarket(RegisterMarket),
    /// 32: registered → active; freezes the question list of its event group.
    ActivateMarket {
        /// The market.
        market: MarketNumber,
    },
    /// 33: active → paused.
    PauseMarket {
        /// The market.
        market: MarketNumber,
    },
    /// 34: paused → active.
    ResumeMarket {
        /// The market.
        market: MarketNumber,
    },
    /// 35: active or paused → closed; cancels its orders in bounded steps. A registered market can
    /// be closed too and then never trades.
    CloseMarket {
        /// The market.
        market: MarketNumber,
    },
    /// 36: closed → resolved: propose and finalise in one. After the checks of section 12
    /// `AlreadyProposed`, `SecondPersonRequired`, `InvalidWindow` (docs/verify/rules.md §24).
    ResolveMarket {
        /// The market.
        market: MarketNumber,
        /// The payout per share.
        payout: Payout,
    },
    /// 37: hide a market, or show it again.
    ArchiveMarket {
        /// The market.
        market: MarketNumber,
        /// Hidden or not.
        archived: bool,
    },
    /// 38: refine the tick; a coarser one is `InvalidTick`.
    SetTick {
        /// The market.
        market: MarketNumber,
        /// The new tick.
        tick: Tick,
    },
    /// 39: change the minimum order size.
    SetMinimumSize {
        /// The market.
        market: MarketNumber,
        /// The new minimum, at least one lot.
        minimum_size: Lots,
    },
    /// 40: change the taker fee.
    SetFee {
        /// The market.
        market: MarketNumber,
        /// The new schedule.
        fee: FeeSchedule,
    },

    /// 41: change terms of a market. The result is checked. Rejected in this order: `UnknownMarket`,
    /// `InvalidTransition` (closed or resolved), `InvalidTerms`, `ClockContradicts`,
    /// `ClosesInPast`. Equal terms are `Repeated` (docs/verify/rules.md §21).
    SetTerms {
        /// The market.
        market: MarketNumber,
        /// The new terms; those that it does not name stay.
        terms: TermsUpdate,
    },
    /// 42: propose a payout. Evidence: its source, at most
    /// [`crate::limits::MAX_SOURCE_BYTES`].
    Propose(Propose),
    /// 43: dispute the proposal of a market. Evidence: the reason. Rejected in this order:
    /// `OperatorRequired`, `UnknownAccount`, `UnknownMarket`, `NoProposal`, `NotPermitted`,
    /// `ProposalDisputed` (docs/verify/rules.md §24).
    Dispute {
        /// The market.
        market: MarketNumber,
        /// The payout that the disputer holds right, if any.
        counter: Option<Payout>,
        /// The disputing wallet; `None` = the operator of the frame.
        by: Option<AccountNumber>,
    },
    /// 44: withdraw the proposal of a market. Rejected in this order: `OperatorRequired`,
    /// `UnknownAccount`, `UnknownMarket`, `NoProposal`, `NotPermitted` (neither its proposer nor an
    /// admin; docs/verify/rules.md §24).
    WithdrawProposal {
        /// The market.
        market: MarketNumber,
        /// The proposing wallet; `None` = the operator of the frame.
        by: Option<AccountNumber>,
    },
    /// 45: finalise the proposal of a market. Rejected in this order: `OperatorRequired`,
    /// `UnknownMarket`, `NoProposal`, `ProposalDisputed`, `ChallengeOpen`, `SamePerson`, then the
    /// event group's checks of `ResolveMarket` (docs/verify/rules.md §24).
    Finalise {
        /// The market.
        market: MarketNumber,
        /// The proposal: the sequence of its command.
        proposal: Sequence,
    },
    /// 46: change the resolution policy of the site or of a market, whose own policy begins as
    /// that of the site. Rejected in this order: `UnknownMarket`, `InvalidTransition` (resolved),
    /// `InvalidPolicy` (the result). The same is `Repeated`
    /// (docs/verify/rules.md §24).
    SetPolicy {
        /// The market; `None` = the site.
        market: Option<MarketNumber>,
        /// The new policy; fields that it does not name stay.
        policy: PolicyUpdate,
    },
    /// 47: remove a market's own policy and its list of wallets; the site's apply again.
    /// Rejected in this order: `UnknownMarket`, `NoPolicy` (docs/verify/rules.md §24).
    ClearPolicy {
        /// The market.
        market: MarketNumber,
    },
    /// 48: set what a wallet may do in resolution; neither removes it from the list. Opens
    /// the account. Rejected in this order: `UnknownMarket`, `NoPolicy`, `ListFull`. No change is
    /// `Repeated` (docs/verify/rules.md §24).
    ListWallet {
        /// The market, which has a policy of its own; `None` = the site.
        market: Option<MarketNumber>,
        /// The wallet.
        wallet: WalletAddress,
        /// Whether it may propose.
        propose: bool,
        /// Whether it may dispute.
        dispute: bool,
    },

    /// 50: set the system mode.
    SetMode {
        /// The mode.
        mode: SystemMode,
    },
    /// 51: change the named settings of the core. A result out of bounds is `InvalidSettings`.
    ChangeSettings {
        /// What changes.
        settings: SettingsUpdate,
    },
    /// 52: switch to a rules number from the next command on.
    SwitchRules {
        /// At least the rules in force, at most [`crate::limits::NEWEST_RULES`].
        rules: u32,
    },
    /// 53: an operator accepts that re-execution differs from the record at a sequence.
    AcceptDivergence {
        /// The diverging sequence.
        sequence: Sequence,
    },
    /// 54: register a signing domain. Evidence: its text. The same content again is `Repeated`;
    /// other content under the same number is `DomainDiffers`.
    RegisterDomain {
        /// Its number.
        domain: DomainNumber,
        /// Its EIP-712 separator.
        separator: [u8; 32],
    },
    /// 55: do the first thing that is due (docs/verify/rules.md §21). Rejected: `NothingDue`.
    AdvanceTime,
    /// 56: do the next bounded step of the pending work.
    Continue,
    /// 57: the engine published a snapshot of this state. Recovery and gateways start only from a
    /// snapshot that the journal attests. Rejected: `NotYetApplied`.
    AttestState {
        /// The last command that the snapshot includes.
        sequence: Sequence,
        /// Digest of the state after it, as in [`crate::digest::StateDigest`].
        state: [u8; 32],
        /// BLAKE3 of the snapshot file.
        snapshot: [u8; 32],
    },
    /// 58: one step of the first work in the background: a settlement or a payment of
    /// rebates. The engine issues it. Rejected: `NothingPending` (docs/verify/rules.md §25).
    Step,
    /// 59: change settings of payments. Rejected: `InvalidSettings`. The same is `Repeated`.
    SetPayments {
        /// The new settings; those that it does not name stay.
        payments: PaymentsUpdate,
    },
    /// 60: add an operator. Rejected in this order: `OperatorRequired`, `InvalidOperator`,
    /// `OperatorNameTaken`, `OperatorTokenTaken`, `TooManyOperators`. The same live operator again
    /// is `Repeated` (docs/verify/rules.md §27).
    AddOperator {
        /// The role.
        role: OperatorRole,
        /// The name; live operators have different names.
        name: OperatorName,
        /// SHA-256 of the token, not zero.
        token: [u8; 32],
    },
    /// 61: revoke an operator for ever. Rejected in this order: `OperatorRequired`,
    /// `UnknownOperator` (never added), `LastAdmin`. A revoked one is `Repeated`
    /// (docs/verify/rules.md §27).
    RevokeOperator {
        /// The operator.
        operator: OperatorNumber,
    },
    /// 62: change words of an event group; the edit ([`crate::words`]) is the evidence.
    /// Rejected: `UnknownEvent` (docs/verify/rules.md §26).
    DescribeEvent {
        /// The event group.
        event: EventNumber,
    },
    /// 63: change words of a market; the edit is the evidence. Rejected: `UnknownMarket`
    /// (docs/verify/rules.md §26).
    DescribeMarket {
        /// The market.
        market: MarketNumber,
    },
    /// 64: change the profile of a wallet, with an account or without; the edit is the
    /// evidence (docs/verify/rules.md §26).
    DescribeWallet {
        /// The wallet.
        wallet: WalletAddress,
    },
}

impl Command {
    /// The pinned number of the command.
    #[must_use]
    #[inline]
    pub const fn code(&self) -> u16 {
        match self {
            Self::PlaceOrder(_) => 1,
            Self::CancelOrder { .. } => 2,
            Self::CancelAll { .. } => 3,
            Self::CancelMarketOrders { .. } => 4,
            Self::Deposit { .. } => 10,
            Self::Withdraw { .. } => 11,
            Self::WithdrawFees { .. } => 12,
            Self::BindWallet { .. } => 13,
            Self::UnbindWallet { .. } => 14,
            Self::SetClosedOnly { .. } => 15,
            Self::RegisterKey { .. } => 16,
            Self::RevokeKey { .. } => 17,
            Self::SetHeartbeat { .. } => 18,
            Self::Split { .. } => 19,
            Self::Merge { .. } => 20,
            Self::Redeem { .. } => 21,
            Self::Convert { .. } => 22,
            Self::ConfirmWithdrawal { .. } => 23,
            Self::ReleaseWithdrawal { .. } => 24,
            Self::PayRebates => 25,
            Self::RegisterEvent { .. } => 30,
            Self::RegisterMarket(_) => 31,
            Self::ActivateMarket { .. } => 32,
            Self::PauseMarket { .. } => 33,
            Self::ResumeMarket { .. } => 34,
            Self::CloseMarket { .. } => 35,
            Self::ResolveMarket { .. } => 36,
            Self::ArchiveMarket { .. } => 37,
            Self::SetTick { .. } => 38,
            Self::SetMinimumSize { .. } => 39,
            Self::SetFee { .. } => 40,
            Self::SetTerms { .. } => 41,
            Self::Propose(_) => 42,
            Self::Dispute { .. } => 43,
            Self::WithdrawProposal { .. } => 44,
            Self::Finalise { .. } => 45,
            Self::SetPolicy { .. } => 46,
            Self::ClearPolicy { .. } => 47,
            Self::ListWallet { .. } => 48,
            Self::SetMode { .. } => 50,
            Self::ChangeSettings { .. } => 51,
            Self::SwitchRules { .. } => 52,
            Self::AcceptDivergence { .. } => 53,
            Self::RegisterDomain { .. } => 54,
            Self::AdvanceTime => 55,
            Self::Continue => 56,
            Self::AttestState { .. } => 57,
            Self::Step => 58,
            Self::SetPayments { .. } => 59,
            Self::AddOperator { .. } => 60,
            Self::RevokeOperator { .. } => 61,
            Self::DescribeEvent { .. } => 62,
            Self::DescribeMarket { .. } => 63,
            Self::DescribeWallet { .. } => 64,
        }
    }

    /// Whether this only cancels orders: such commands have reserved space in the ring.
    #[must_use]
    pub const fn is_cancel(&self) -> bool {
        matches!(
            self,
            Self::CancelOrder { .. } | Self::CancelAll { .. } | Self::CancelMarketOrders { .. }
        )
    }
}
