//! Notices of an outbox, as webhooks deliver them (docs/operate/webhooks.md).

use serde::Serialize;

use foretell_model::{ConditionId, Lots, Micros, Payout, Price, TimeNs, WalletAddress};

use crate::accounts::withdrawals::WithdrawalRow;
use crate::operator::payout_word;
use crate::schema::JsonSchema;
use crate::values;

/// The body of a delivery.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Delivery<'a> {
    /// In the order of the journal.
    pub notices: &'a [Notice],
}

/// One notice.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Notice {
    /// Unique for ever: the `stream_id`, the sequence, the number in the frame. A delivery that is
    /// repeated repeats it.
    pub id: String,
    /// Sequence of the command.
    pub sequence: u64,
    /// Its time.
    #[serde(with = "values::Iso")]
    pub time: TimeNs,
    /// What happened.
    #[serde(flatten)]
    pub what: What,
}

/// What happened, under its `type`.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "type", content = "data", rename_all = "lowercase")]
pub enum What {
    /// Collateral came in.
    Deposit(Deposited),
    /// A withdrawal was requested, claimed, or ended.
    Withdrawal(WithdrawalRow),
    /// An operator took collected fees out.
    Fees(FeesTaken),
    /// The exchange goes on from a copy of its journal.
    Restored(RestoredCopy),
    /// Two orders traded.
    Fill(Filled),
    /// A market was resolved.
    Settlement(Settled),
    /// A holder of a resolved market was paid.
    Payout(PaidOut),
}

/// A deposit, also one that ends nowhere else.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Deposited {
    /// The wallet.
    #[serde(with = "values::Address")]
    pub wallet: WalletAddress,
    /// The amount, whole units.
    #[serde(with = "values::Amount")]
    pub amount: Micros,
    /// The operator's reference.
    pub reference: String,
}

/// Fees that left the exchange.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FeesTaken {
    /// The amount, whole units.
    #[serde(with = "values::Amount")]
    pub amount: Micros,
    /// The operator's reference.
    pub reference: String,
}

/// A restore from a copy that may lack commands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RestoredCopy {
    /// Notices of a greater sequence under another `stream_id` are void.
    pub after: u64,
}

/// A trade.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Filled {
    /// Id of the trade: all fills of one order at once have it.
    pub trade: String,
    /// Index of the fill in the trade.
    pub index: u32,
    /// The market.
    #[serde(with = "values::Hash")]
    pub market: ConditionId,
    /// Shares.
    #[serde(with = "values::Amount")]
    pub size: Lots,
    /// Paid by the taker.
    #[serde(with = "values::Amount")]
    pub fee: Micros,
    /// Who took.
    pub taker: FilledSide,
    /// Who rested.
    pub maker: FilledSide,
}

/// A side of a trade.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FilledSide {
    /// The wallet.
    #[serde(with = "values::Address")]
    pub wallet: WalletAddress,
    /// Id of the order.
    pub order: String,
    /// 0: the first outcome, 1: the second.
    pub outcome: u8,
    /// BUY or SELL.
    #[serde(with = "values::Side")]
    pub side: foretell_model::Side,
    /// Its price.
    #[serde(with = "values::Amount")]
    pub price: Price,
}

/// A resolved market.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Settled {
    /// The market.
    #[serde(with = "values::Hash")]
    pub market: ConditionId,
    /// `yes`, `no`, `half` or `outside`.
    pub payout: &'static str,
}

impl Settled {
    /// Of a market and its payout.
    #[must_use]
    pub fn new(market: ConditionId, payout: Payout) -> Self {
        let payout = payout_word(payout);
        Self { market, payout }
    }
}

/// A payout of a resolved market.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PaidOut {
    /// The wallet.
    #[serde(with = "values::Address")]
    pub wallet: WalletAddress,
    /// The market.
    #[serde(with = "values::Hash")]
    pub market: ConditionId,
    /// The amount, whole units.
    #[serde(with = "values::Amount")]
    pub amount: Micros,
}
