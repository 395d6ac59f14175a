//! Trades: `GET /data/trades`, `/builder/trades` (docs/api/market-data.md §6, §8).

use serde::Serialize;

use foretell_model::{
    ApiKey, ConditionId, Lots, Micros, OrderId, Outcome, Price, Side, TimeNs, TokenId,
    WalletAddress,
};

use crate::schema::JsonSchema;
use crate::text::decimal::Decimal;
use crate::text::time::TimeForm;
use crate::values;

/// The data of a trade, which [`Trade`] writes: all fills of one order at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TradeFacts {
    /// Its id.
    pub id: String,
    /// Its market.
    pub market: ConditionId,
    /// Time of the trade.
    pub time: TimeNs,
    /// Receipt of its frame.
    pub receipt: [u8; 32],
    /// The requested builder, else that of the taker's order; zero = none.
    pub builder: [u8; 32],
    /// The aggressor.
    pub taker: TradeParty,
    /// The fills that the reader took part in, one at least: all of a taker, its own of a maker.
    pub fills: Vec<TradeFill>,
    /// Whether the client owns the maker and not the taker.
    pub as_maker: bool,
}

/// A fill of a trade: one maker's part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TradeFill {
    /// Shares.
    pub lots: Lots,
    /// In the taker's token.
    pub price: Price,
    /// Paid by the taker.
    pub fee: Micros,
    /// The resting order's party.
    pub maker: TradeParty,
    /// In the maker's token.
    pub maker_price: Price,
}

/// One of the orders of a trade.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TradeParty {
    /// The order id.
    pub order: OrderId,
    /// The key that placed it; the zero key unless it belongs to the client.
    pub owner: ApiKey,
    /// The wallet.
    pub wallet: WalletAddress,
    /// Its token.
    pub token: TokenId,
    /// The label of its outcome.
    pub outcome: String,
    /// Its outcome.
    pub index: Outcome,
    /// Its side.
    pub side: Side,
}

impl TradeFacts {
    /// Shares of its fills.
    pub(crate) fn lots(&self) -> Lots {
        self.fills.iter().map(|fill| fill.lots).sum()
    }

    /// Notional of the taker's shares.
    fn value(&self) -> Micros {
        let all = self.fills.iter();
        all.map(|fill| fill.lots.value_at(fill.price)).sum()
    }

    /// Fees of its fills.
    fn fee(&self) -> Micros {
        self.fills.iter().map(|fill| fill.fee).sum()
    }

    /// The average price of its fills in the taker's token.
    pub(crate) fn price(&self) -> Decimal {
        average_price(self.value(), self.lots())
    }

    /// `fee / notional × 10,000`, rounded.
    pub(crate) fn fee_rate_bps(&self) -> Decimal {
        fee_rate_bps(self.fee(), self.value())
    }
}

/// `fee / notional × 10,000`, rounded.
#[must_use]
pub fn fee_rate_bps(fee: Micros, value: Micros) -> Decimal {
    let (fee, value) = (i128::from(fee.0), i128::from(value.0));
    Decimal::ratio(fee * 10_000, value, 0).unwrap_or(Decimal::ZERO)
}

/// The average price of shares worth `value`, rounded to 6 decimals.
#[must_use]
pub fn average_price(value: Micros, lots: Lots) -> Decimal {
    let (value, shares) = (i128::from(value.0), i128::from(lots.micro_shares()));
    Decimal::ratio(value, shares, 6).unwrap_or(Decimal::ZERO)
}

/// A maker's side of a trade.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct MakerOrder {
    #[serde(with = "values::Hash")]
    order_id: OrderId,
    #[serde(with = "values::Address")]
    maker_address: WalletAddress,
    #[serde(with = "values::Key")]
    owner: ApiKey,
    #[serde(with = "values::Amount")]
    matched_amount: Lots,
    /// Always 0: makers pay no fee.
    #[schemars(with = "values::Amount")]
    fee_rate_bps: &'static str,
    #[serde(with = "values::Amount")]
    price: Price,
    #[serde(with = "values::Token")]
    asset_id: TokenId,
    outcome: String,
    #[serde(with = "values::Side")]
    side: Side,
}

impl From<TradeFill> for MakerOrder {
    fn from(fill: TradeFill) -> Self {
        let maker = fill.maker;
        Self {
            order_id: maker.order,
            maker_address: maker.wallet,
            owner: maker.owner,
            matched_amount: fill.lots,
            fee_rate_bps: "0",
            price: fill.maker_price,
            asset_id: maker.token,
            outcome: maker.outcome,
            side: maker.side,
        }
    }
}

/// Role of a caller in a trade.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
pub enum TraderSide {
    /// The caller sent the order that took.
    Taker,
    /// The caller's order rested.
    Maker,
}

/// A trade: all fills of one order at once, with one id. Its top-level fields are the taker's. A maker sees
/// its own fills alone, and their sum and average price.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Trade {
    /// Unique id.
    id: String,
    #[serde(with = "values::Hash")]
    taker_order_id: OrderId,
    #[serde(with = "values::Hash")]
    market: ConditionId,
    #[serde(with = "values::Token")]
    asset_id: TokenId,
    #[serde(with = "values::Side")]
    side: Side,
    /// Shares of all `maker_orders`.
    #[serde(with = "values::Amount")]
    size: Lots,
    /// Fee divided by value, times 10,000, rounded.
    #[serde(with = "values::Amount")]
    fee_rate_bps: Decimal,
    /// Fee that the taker paid, in collateral.
    #[serde(with = "values::Amount")]
    fee_usdc: Micros,
    /// Average price of all `maker_orders`.
    #[serde(with = "values::Amount")]
    price: Decimal,
    /// Always CONFIRMED: the ledger settles with the match.
    #[schemars(extend("const" = "CONFIRMED"))]
    status: &'static str,
    /// ISO 8601, or unix seconds as configured for the header prefix.
    match_time: String,
    /// ISO 8601, or unix seconds as configured for the header prefix.
    last_update: String,
    outcome: String,
    bucket_index: u32,
    #[serde(with = "values::Key")]
    owner: ApiKey,
    /// Wallet of the taker.
    #[serde(with = "values::Address")]
    maker_address: WalletAddress,
    maker_orders: Vec<MakerOrder>,
    /// Receipt of the journal frame of the settlement.
    #[serde(with = "values::Bytes")]
    transaction_hash: [u8; 32],
    /// Role of the caller in the trade.
    #[serde(rename = "type")]
    kind: TraderSide,
    /// The same as `type`.
    trader_side: TraderSide,
    /// Unix nanoseconds.
    #[serde(with = "values::Digits")]
    match_time_nano: u64,
}

impl Trade {
    /// The JSON of a trade, with `match_time` and `last_update` in `form`.
    #[must_use]
    pub fn new(trade: TradeFacts, form: TimeForm) -> Self {
        let kind = if trade.as_maker {
            TraderSide::Maker
        } else {
            TraderSide::Taker
        };
        let time = form.text(trade.time);
        Self {
            fee_rate_bps: trade.fee_rate_bps(),
            fee_usdc: trade.fee(),
            taker_order_id: trade.taker.order,
            market: trade.market,
            asset_id: trade.taker.token,
            side: trade.taker.side,
            size: trade.lots(),
            price: trade.price(),
            // The built-in ledger settles in the frame of the match (docs/api/market-data.md §6).
            status: "CONFIRMED",
            match_time: time.clone(),
            last_update: time,
            outcome: trade.taker.outcome,
            bucket_index: 0,
            owner: trade.taker.owner,
            maker_address: trade.taker.wallet,
            maker_orders: trade.fills.into_iter().map(MakerOrder::from).collect(),
            transaction_hash: trade.receipt,
            kind,
            trader_side: kind,
            match_time_nano: trade.time.0,
            id: trade.id,
        }
    }
}

/// A row of `/builder/trades`: a trade with additional camelCase fields that stock clients read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct BuilderTrade {
    #[serde(flatten)]
    trade: Trade,
    /// The same as `type`.
    #[serde(rename = "tradeType")]
    trade_type: TraderSide,
    /// The same as `taker_order_id`.
    #[serde(rename = "takerOrderHash", with = "values::Hash")]
    taker_order_hash: OrderId,
    /// The same as `builderCode`.
    #[serde(with = "values::Bytes")]
    builder: [u8; 32],
    /// The same as `asset_id`.
    #[serde(rename = "assetId", with = "values::Token")]
    asset_id: TokenId,
    /// Value of the trade, in collateral.
    #[serde(rename = "sizeUsdc", with = "values::Amount")]
    size_usdc: Micros,
    /// Outcome of the taker's token.
    #[serde(rename = "outcomeIndex")]
    #[schemars(extend("enum" = [0, 1]))]
    outcome_index: usize,
    /// The same as `maker_address`.
    #[serde(with = "values::Address")]
    maker: WalletAddress,
    /// The same as `transaction_hash`.
    #[serde(rename = "transactionHash", with = "values::Bytes")]
    transaction_hash: [u8; 32],
    /// The same as `match_time`.
    #[serde(rename = "matchTime")]
    match_time: String,
    /// The same as `bucket_index`.
    #[serde(rename = "bucketIndex")]
    bucket_index: u32,
    /// The same as `fee_usdc`.
    #[serde(with = "values::Amount")]
    fee: Micros,
    /// The same as `fee_usdc`.
    #[serde(rename = "feeUsdc", with = "values::Amount")]
    fee_usdc: Micros,
    /// Always 0.
    #[serde(rename = "builderFee")]
    #[schemars(with = "values::Amount")]
    builder_fee: &'static str,
    #[serde(rename = "builderCode", with = "values::Bytes")]
    builder_code: [u8; 32],
}

impl BuilderTrade {
    /// The public JSON of a trade; each `owner` is the zero key.
    #[must_use]
    pub fn new(trade: TradeFacts, form: TimeForm) -> Self {
        let (size_usdc, builder_code) = (trade.value(), trade.builder);
        let outcome = trade.taker.index;
        let trade = Trade::new(trade, form);
        Self {
            trade_type: trade.kind,
            taker_order_hash: trade.taker_order_id,
            builder: builder_code,
            asset_id: trade.asset_id,
            size_usdc,
            outcome_index: outcome.index(),
            maker: trade.maker_address,
            transaction_hash: trade.transaction_hash,
            match_time: trade.match_time.clone(),
            bucket_index: trade.bucket_index,
            fee: trade.fee_usdc,
            fee_usdc: trade.fee_usdc,
            builder_fee: "0",
            builder_code,
            trade,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trade() -> TradeFacts {
        let taker = TradeParty {
            order: OrderId([0xab; 32]),
            owner: ApiKey([1; 16]),
            wallet: WalletAddress([0x11; 20]),
            token: TokenId([0; 32]),
            outcome: "Yes".into(),
            index: Outcome::Yes,
            side: Side::Buy,
        };
        let maker = TradeParty {
            order: OrderId([0xcd; 32]),
            owner: ApiKey::ZERO,
            wallet: WalletAddress([0x22; 20]),
            token: TokenId([1; 32]),
            outcome: "No".into(),
            index: Outcome::No,
            side: Side::Buy,
        };
        let fill = TradeFill {
            lots: Lots(1_000),
            price: Price(3_300),
            fee: Micros(88_440),
            maker,
            maker_price: Price(6_700),
        };
        TradeFacts {
            id: "t1".into(),
            market: ConditionId([2; 32]),
            time: TimeNs(1_710_000_000_123_456_789),
            receipt: [3; 32],
            builder: [4; 32],
            taker,
            fills: vec![fill],
            as_maker: false,
        }
    }

    #[test]
    fn a_trade_has_all_its_fills_their_sum_and_average_price() {
        let mut trade = trade();
        let mut second = trade.fills[0].clone();
        (second.lots, second.price, second.maker_price) = (Lots(500), Price(3_400), Price(3_400));
        second.fee = Micros(1_560);
        trade.fills.push(second);
        let shown = serde_json::to_value(Trade::new(trade, TimeForm::Iso)).unwrap();
        // (10 × 0.33 + 5 × 0.34) / 15, and (0.08844 + 0.00156) / 5.
        assert_eq!(shown["size"], "15");
        assert_eq!(shown["price"], "0.333333");
        assert_eq!(
            (&shown["fee_usdc"], &shown["fee_rate_bps"]),
            (&"0.09".into(), &"180".into())
        );
        let makers = shown["maker_orders"].as_array().unwrap();
        let parts: Vec<_> = makers
            .iter()
            .map(|maker| (maker["matched_amount"].as_str(), maker["price"].as_str()))
            .collect();
        assert_eq!(
            parts,
            [(Some("10"), Some("0.67")), (Some("5"), Some("0.34"))]
        );
    }

    #[test]
    fn a_trade_is_the_takers() {
        // The first fill of the first worked example of the protocol, as a mint.
        let shown = Trade::new(trade(), TimeForm::Iso);
        insta::assert_snapshot!(serde_json::to_string_pretty(&shown).unwrap());
    }

    #[test]
    fn a_maker_sees_the_same_trade_from_its_own_side() {
        let shown = Trade::new(
            TradeFacts {
                as_maker: true,
                ..trade()
            },
            TimeForm::Unix,
        );
        assert_eq!(
            (shown.kind, shown.trader_side),
            (TraderSide::Maker, TraderSide::Maker)
        );
        assert_eq!(shown.match_time, "1710000000");
        assert_eq!(shown.side, Side::Buy);
    }

    #[test]
    fn a_builder_trade_has_camel_case_twins() {
        let shown = BuilderTrade::new(trade(), TimeForm::Unix);
        insta::assert_snapshot!(serde_json::to_string_pretty(&shown).unwrap());
    }

    #[test]
    fn the_fee_rate_is_rounded_to_whole_basis_points() {
        // 0.08844 / 3.30 × 10,000 = 268.
        assert_eq!(trade().fee_rate_bps().to_string(), "268");
        let mut free = trade();
        free.fills[0].fee = Micros(0);
        assert_eq!(free.fee_rate_bps().to_string(), "0");
    }
}
