//! The numbered table of everything that can be asked of the exchange.
//!
//! The numbers ([`Command::code`]) are pinned: they stand in journals. A command carries dense
//! numbers (a gateway resolves addresses and tokens before it sends one); the exchange checks
//! every one of them. An operator command that may name an unknown account carries the address
//! instead and opens the account.

#![allow(
    missing_docs,
    reason = "rkyv derives undocumented twins of documented variants"
)]

use rkyv::{Archive, Deserialize, Serialize};

use crate::id::{
    AccountNumber, ApiKey, ConditionId, Digest16, DomainNumber, EventId, EventNumber, KeyNumber,
    MarketNumber, OrderId, Reference, Sequence, TokenId, WalletAddress,
};
use crate::market::{FeeSchedule, Payout, QuestionSet, SystemMode, WalletKind};
use crate::quantity::{Lots, Micros, Tick};
use crate::settings::Settings;
use crate::side::{OrderType, Outcome, Side};
use crate::time::{TimeMs, TimeSeconds};

/// A signed order as it reaches the core. Checked in this order, the first failure being the
/// answer (nothing is changed or journalled by any of them):
///
/// 1. the market, account and key exist; the key is live and its owner is the account's owner
///    (`UnknownMarket`, `UnknownAccount`, `UnknownKey`, `KeyOfAnotherOwner`);
/// 2. the id was seen: a repeat with the same terms and key is [`crate::Verdict::Repeated`], or, when
///    the first was burned, the first refusal again; anything else `Duplicate`;
/// 3. the timestamp lies in the window (`TimestampOutOfWindow`); the id memory has room (`Busy`), also
///    for this owner (`TooManyOrderIds`, rules 2);
/// 4. the system's mode (`SystemPaused`, `CancelOnly`, `PostOnlyMode`), the market's state
///    (`MarketNotReady`, `MarketPaused`, `MarketClosed`), a closed-only account's BUY (`ClosedOnlyAccount`);
/// 5. `PostOnlyNeedsResting` (post-only FOK or FAK), `InvalidExpiration`;
/// 6. the amounts: `AmountZero`, `AmountTooLarge`, `SizeNotLots`, `PriceOffTick`, in that order;
/// 7. `SizeBelowMinimum` (GTC, GTD), `MarketableBelowMinimum` (FOK and FAK BUY);
/// 8. `TooManyLiveOrders` (GTC, GTD), `NotEnoughCollateral` or `NotEnoughShares`.
///
/// Then the book decides, and these are journalled and burn the id: `CrossesBook` (post-only),
/// `MarketableBelowMinimum` (a GTC or GTD BUY that crosses), `FokNotFilled`, `FakNoMatch`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Archive, Serialize, Deserialize)]
pub struct PlaceOrder {
    /// EIP-712 hash of the signed order.
    pub order: OrderId,
    /// The maker: the wallet that trades.
    pub account: AccountNumber,
    /// The API key it came with.
    pub key: KeyNumber,
    /// The market of its token.
    pub market: MarketNumber,
    /// Which of the market's two tokens.
    pub outcome: Outcome,
    /// Buy or sell that token.
    pub side: Side,
    /// How long it works.
    pub order_type: OrderType,
    /// Refused if it would cross.
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

/// A market as it is registered. Its description is evidence of the frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Archive, Serialize, Deserialize)]
pub struct RegisterMarket {
    /// Its condition id; registration is idempotent by it.
    pub condition: ConditionId,
    /// Tokens of `[Yes, No]`.
    pub tokens: [TokenId; 2],
    /// Tick at the start.
    pub tick: Tick,
    /// Whether 0.01 becomes 0.001 after a trade above 0.96 or below 0.04 (protocol 1).
    pub tick_refines: bool,
    /// Smallest GTC or GTD order.
    pub minimum_size: Lots,
    /// Taker fee.
    pub fee: FeeSchedule,
    /// The neg-risk event whose next question this market is; `None` = plain.
    pub event: Option<EventNumber>,
}

/// Everything that can be asked of the exchange.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Archive, Serialize, Deserialize)]
pub enum Command {
    /// 1: place a signed order. Evidence: [`crate::evidence::OrderEvidence`].
    PlaceOrder(PlaceOrder),
    /// 2: cancel one order by id. Refused: `OrderNotFound`, `OrderOfAnotherOwner`.
    CancelOrder {
        /// Who asks; must be the owner of the order's account.
        owner: AccountNumber,
        /// The order.
        order: OrderId,
    },
    /// 3: cancel all orders of all wallets of an owner. Under rules 2 it is `Repeated` with zeros,
    /// and not journalled, when there is nothing to cancel.
    CancelAll {
        /// Whose.
        owner: AccountNumber,
        /// `User`, or `Heartbeat` when the engine's ingress issues it.
        heartbeat: bool,
        /// Rules 1: makes a resent request the same request; zero = not remembered. Rules 2 carry
        /// the command out every time and do not read this.
        request: Digest16,
    },
    /// 4: cancel an owner's orders in a market, or of one outcome of it. Rules 2 as in `CancelAll`.
    CancelMarketOrders {
        /// Whose.
        owner: AccountNumber,
        /// In which market.
        market: MarketNumber,
        /// Of which outcome; `None` = both.
        outcome: Option<Outcome>,
        /// As in `CancelAll`.
        request: Digest16,
    },

    /// 10: add collateral; opens the account.
    Deposit {
        /// To whom.
        wallet: WalletAddress,
        /// How much, above 0.
        amount: Micros,
        /// Makes a repeat safe; one scope for all deposits and withdrawals.
        reference: Reference,
    },
    /// 11: take out free collateral.
    Withdraw {
        /// From whom; the account must exist.
        wallet: WalletAddress,
        /// How much, above 0, at most what is free.
        amount: Micros,
        /// As in `Deposit`.
        reference: Reference,
    },
    /// 12: take collected fees out of the exchange.
    WithdrawFees {
        /// How much, above 0, at most what the fee account holds.
        amount: Micros,
        /// As in `Deposit`.
        reference: Reference,
    },
    /// 13: bind a wallet to an owner; opens both accounts. The same binding again is `Repeated`.
    BindWallet {
        /// The owner (an EOA; itself bound to nobody else).
        owner: WalletAddress,
        /// The wallet; not an owner of others, without keys, without live orders, not bound elsewhere.
        wallet: WalletAddress,
        /// What it is; `Eoa` is refused. At most one wallet of a kind an owner.
        kind: WalletKind,
    },
    /// 14: undo a binding; the wallet has no live order.
    UnbindWallet {
        /// The wallet.
        wallet: WalletAddress,
    },
    /// 15: let an account only reduce; becoming closed-only cancels its resting BUYs.
    SetClosedOnly {
        /// Which account; opened if unknown.
        wallet: WalletAddress,
        /// On or off.
        closed_only: bool,
    },
    /// 16: an API key was issued; opens the owner's account. The same key again is `Repeated`.
    RegisterKey {
        /// Who owns it; must not be a wallet bound to somebody else.
        owner: WalletAddress,
        /// The nonce it was derived from, big-endian.
        nonce: [u8; 32],
        /// The key.
        api_key: ApiKey,
        /// Whether it may only read.
        read_only: bool,
    },
    /// 17: a key is revoked for ever.
    RevokeKey {
        /// Which.
        key: KeyNumber,
        /// Whether the owner's live orders are cancelled too.
        cancel_orders: bool,
    },
    /// 18: an owner's heartbeat chain began or ended.
    SetHeartbeat {
        /// Whose.
        owner: AccountNumber,
        /// On or off.
        on: bool,
    },
    /// 19: collateral into full sets.
    Split {
        /// Whose.
        account: AccountNumber,
        /// Of which market.
        market: MarketNumber,
        /// How many sets, above 0.
        lots: Lots,
        /// Makes a repeat safe; scope: the account.
        reference: Reference,
    },
    /// 20: full sets into collateral.
    Merge {
        /// Whose.
        account: AccountNumber,
        /// Of which market.
        market: MarketNumber,
        /// How many sets, above 0.
        lots: Lots,
        /// As in `Split`.
        reference: Reference,
    },
    /// 21: a resolved market's holdings into their payout.
    Redeem {
        /// Whose.
        account: AccountNumber,
        /// Of which market.
        market: MarketNumber,
        /// As in `Split`.
        reference: Reference,
    },
    /// 22: No of some questions into collateral and Yes of the others (protocol 5).
    Convert {
        /// Whose.
        account: AccountNumber,
        /// Which event.
        event: EventNumber,
        /// The questions whose No is given; at least one, all below the list's length.
        questions: QuestionSet,
        /// How many lots of each, above 0.
        lots: Lots,
        /// As in `Split`.
        reference: Reference,
    },

    /// 30: a neg-risk event. Evidence: its description. The same id again is `Repeated`.
    RegisterEvent {
        /// Its catalog id.
        event: EventId,
    },
    /// 31: a market. Evidence: its description. The same content again is `Repeated`, other
    /// content under one condition id `MarketDiffers` (tick, minimum and fee have commands of
    /// their own and are not compared; event and tokens are).
    RegisterMarket(RegisterMarket),
    /// 32: registered → active; freezes the question list of its event.
    ActivateMarket {
        /// Which.
        market: MarketNumber,
    },
    /// 33: active → paused.
    PauseMarket {
        /// Which.
        market: MarketNumber,
    },
    /// 34: paused → active.
    ResumeMarket {
        /// Which.
        market: MarketNumber,
    },
    /// 35: active or paused → closed; cancels its orders, in bounded steps. A registered market
    /// may be closed too (it never trades).
    CloseMarket {
        /// Which.
        market: MarketNumber,
    },
    /// 36: closed → resolved.
    ResolveMarket {
        /// Which.
        market: MarketNumber,
        /// How it pays.
        payout: Payout,
    },
    /// 37: hide a market, or show it again.
    ArchiveMarket {
        /// Which.
        market: MarketNumber,
        /// Hidden or not.
        archived: bool,
    },
    /// 38: a finer tick; a coarser one is `InvalidTick`.
    SetTick {
        /// Which market.
        market: MarketNumber,
        /// The new tick.
        tick: Tick,
    },
    /// 39: another minimum order size.
    SetMinimumSize {
        /// Which market.
        market: MarketNumber,
        /// The new minimum, at least a lot.
        minimum_size: Lots,
    },
    /// 40: another taker fee.
    SetFee {
        /// Which market.
        market: MarketNumber,
        /// The new schedule.
        fee: FeeSchedule,
    },

    /// 50: what the system accepts.
    SetMode {
        /// The mode.
        mode: SystemMode,
    },
    /// 51: the core's settings, whole.
    ChangeSettings(Settings),
    /// 52: use another rules number from the next command on.
    SwitchRules {
        /// Not below the rules in force, at most [`crate::limits::NEWEST_RULES`].
        rules: u32,
    },
    /// 53: an operator accepts that re-execution differs from the record at a sequence.
    AcceptDivergence {
        /// Where.
        sequence: Sequence,
    },
    /// 54: a signing domain. Evidence: its text. The same content again is `Repeated`, other
    /// content under one number `DomainDiffers`.
    RegisterDomain {
        /// Its number.
        domain: DomainNumber,
        /// Its EIP-712 separator.
        separator: [u8; 32],
    },
    /// 55: time has passed and something is due.
    AdvanceTime,
    /// 56: the next bounded part of the pending work.
    Continue,
    /// 57: the engine published a snapshot of this state. Recovery and gateways begin only with a
    /// snapshot that the journal attests. Refused: `NotYetApplied`.
    AttestState {
        /// The last command that the snapshot reflects.
        sequence: Sequence,
        /// Digest of the state after it, as in [`crate::digest::StateDigest`].
        state: [u8; 32],
        /// BLAKE3 of the snapshot's file.
        snapshot: [u8; 32],
    },
}

impl Command {
    /// The pinned number of the command.
    #[must_use]
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
            Self::SetMode { .. } => 50,
            Self::ChangeSettings(_) => 51,
            Self::SwitchRules { .. } => 52,
            Self::AcceptDivergence { .. } => 53,
            Self::RegisterDomain { .. } => 54,
            Self::AdvanceTime => 55,
            Self::Continue => 56,
            Self::AttestState { .. } => 57,
        }
    }

    /// Whether this only ends orders: such commands have room of their own in a full ring.
    #[must_use]
    pub const fn is_cancel(&self) -> bool {
        matches!(
            self,
            Self::CancelOrder { .. } | Self::CancelAll { .. } | Self::CancelMarketOrders { .. }
        )
    }
}
