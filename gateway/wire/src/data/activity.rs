//! `GET /activity`: a wallet's trades and account actions in one list (docs/api/data.md §1).

use std::borrow::Cow;

use serde::Serialize;

use foretell_model::{Micros, Outcome, Side, TimeSeconds, WalletAddress};

use crate::data::profile::Profile;
use crate::data::read::cursor::FrameRow;
use crate::data::read::market_selection::MarketSelection;
use crate::data::read::page::{CURSOR, DIRECTION, Direction, Listed, V2Listed};
use crate::data::read::time_range::TimeRange;
use crate::data::rows::market_text::MarketText;
use crate::data::rows::view::view;
use crate::data::trades::SIDE;
use crate::errors::api_error::ApiError;
use crate::limits::{ACTIVITY_PAGE, MAX_MARKETS, PageBounds};
use crate::operator::MarketDescription;
use crate::orders::fill_id::FillId;
use crate::parameters;
use crate::read::query::family::Family;
use crate::read::query::reader::Reader;
use crate::read::query::text_form::Words;
use crate::schema::JsonSchema;
use crate::text::decimal::{Decimal, Number};
use crate::values::{self, FlagText, Wallet};

/// `outcomeIndex` of actions without a single outcome; clients of the family expect this value.
const NO_OUTCOME: u64 = 999;

/// Kind of activity.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum ActivityKind {
    /// A fill or a trade, as taker or maker.
    Trade,
    /// Collateral into full sets.
    Split,
    /// Full sets into collateral.
    Merge,
    /// Holdings of a resolved market into their payout.
    Redeem,
    /// No shares of some questions into collateral and Yes shares of the others.
    Conversion,
    /// Accrued rebates into collateral.
    MakerRebate,
    /// Collateral that came in.
    Deposit,
    /// Collateral that went out.
    Withdrawal,
}

const KINDS: [(&str, ActivityKind); 8] = [
    ("TRADE", ActivityKind::Trade),
    ("SPLIT", ActivityKind::Split),
    ("MERGE", ActivityKind::Merge),
    ("REDEEM", ActivityKind::Redeem),
    ("CONVERSION", ActivityKind::Conversion),
    ("MAKER_REBATE", ActivityKind::MakerRebate),
    ("DEPOSIT", ActivityKind::Deposit),
    ("WITHDRAWAL", ActivityKind::Withdrawal),
];

/// Sort key of activities.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ActivitySort {
    /// `timestamp`
    Timestamp,
    /// `size`
    Tokens,
    /// `usdcSize`
    Cash,
}

const SORTS: [(&str, ActivitySort); 3] = [
    ("TIMESTAMP", ActivitySort::Timestamp),
    ("TOKENS", ActivitySort::Tokens),
    ("CASH", ActivitySort::Cash),
];

parameters! {
    /// Parameters of `GET /activity` and `GET /v2/activity`.
    pub struct ActivityFilter: Data {
        /// Wallet address.
        pub user: WalletAddress = required(Wallet),
        /// The markets.
        pub markets: MarketSelection = group(),
        /// Row types to include; all without one, but for deposits and withdrawals.
        pub kinds: Vec<ActivityKind> = list(Words(&KINDS), MAX_MARKETS) as "type" v2 "type",
        /// Filter by the side of the wallet of the row, which excludes everything but trades.
        pub side: Option<Side> = optional(SIDE),
        /// The time.
        pub time: TimeRange = group(),
        /// Sort direction.
        pub sort_direction: Direction = or(DIRECTION, "DESC") as "sortDirection",
        /// Leave out deposits and withdrawals that `type` does not name.
        pub exclude_deposits_withdrawals: bool = or(FlagText, "true") as "excludeDepositsWithdrawals",
    }

    /// Parameters of `GET /activity`.
    pub struct ActivityQuery: Data check_page check_cursor {
        /// The activities.
        pub filter: ActivityFilter = group(),
        /// Field to sort by.
        pub sort: ActivitySort = or(Words(&SORTS), "TIMESTAMP") as "sortBy",
    }
}

impl V2Listed for ActivityFilter {
    type Key = FrameRow;
}

impl ActivityQuery {
    /// Refuses `cursor` but in the order of time, in which a row keeps its place.
    fn check_cursor(&self, reader: &Reader<'_>, _: usize) -> Result<(), ApiError> {
        match reader.text(&CURSOR)? {
            Some(text) if self.sort != ActivitySort::Timestamp => Err(Family::Data.wrong(
                "cursor",
                text,
                "allowed with this sortBy, only with TIMESTAMP",
            )),
            _ => Ok(()),
        }
    }
}

impl V2Listed for ActivityQuery {
    type Key = FrameRow;
}

impl Listed for ActivityQuery {
    const PAGE: PageBounds = ACTIVITY_PAGE;
}

impl ActivityFilter {
    /// Whether the request includes this kind.
    #[must_use]
    pub fn has_kind(&self, kind: ActivityKind) -> bool {
        let is_left_out = self.exclude_deposits_withdrawals
            && matches!(kind, ActivityKind::Deposit | ActivityKind::Withdrawal);
        let is_kind = match self.kinds.is_empty() {
            true => !is_left_out,
            false => self.kinds.contains(&kind),
        };
        is_kind && (self.side.is_none() || kind == ActivityKind::Trade)
    }

    /// Whether the request includes this kind at this second.
    #[must_use]
    pub fn admits(&self, kind: ActivityKind, time: TimeSeconds) -> bool {
        self.has_kind(kind) && self.time.contains(time)
    }
}

/// One activity of a wallet: a fill, or an account action. An action has no `side`, and `price` is 0.
/// Unless it redeems a token, `asset` and `outcome` are empty and `outcomeIndex` is 999.
#[derive(Clone, Copy, Debug)]
pub struct ActivityRow<'a> {
    /// Its kind, which lists of fills do not show.
    pub kind: ActivityKind,
    /// The wallet.
    pub wallet: WalletAddress,
    /// Its profile.
    pub profile: Profile<'a>,
    /// The market; for a conversion that of the first given question. A payment of rebates concerns
    /// no market.
    pub market: Option<&'a MarketText>,
    /// The outcome of the token that was traded or redeemed.
    pub outcome: Option<Outcome>,
    /// What makes it a fill.
    pub fill: Option<Fill>,
    /// Shares of a fill or of the redeemed token, number of sets, No shares per question, or the
    /// amount of rebates.
    pub size: Decimal,
    /// Collateral, without fees.
    pub value: Micros,
    /// The time.
    pub time: TimeSeconds,
    /// Receipt of the frame that settled it.
    pub receipt: [u8; 32],
}

/// A fill from the perspective of one of its two wallets, or a whole trade from that of its taker.
#[derive(Clone, Copy, Debug)]
pub struct Fill {
    /// Its id.
    pub id: FillId,
    /// The wallet's side.
    pub side: Side,
    /// Price of its token; the average of a whole trade.
    pub price: Decimal,
    /// The fee that the wallet paid: 0 of a maker.
    pub fee: Micros,
}

impl<'a> ActivityRow<'a> {
    pub(crate) fn side(&self) -> &'static str {
        match self.fill.map(|fill| fill.side) {
            Some(Side::Buy) => "BUY",
            Some(Side::Sell) => "SELL",
            None => "",
        }
    }

    /// A text of the token that was traded or redeemed.
    pub(crate) fn of_token(&self, text: impl Fn(&'a MarketText, Outcome) -> &'a str) -> &'a str {
        let token = self.market.zip(self.outcome);
        token.map_or("", |(market, outcome)| text(market, outcome))
    }

    /// A text of the market.
    pub(crate) fn of_market(&self, text: impl Fn(&'a MarketDescription) -> &'a str) -> &'a str {
        self.market.map_or("", |market| text(&market.description))
    }

    pub(crate) fn condition(&self) -> String {
        let condition = self.market.map(|market| market.condition.to_string());
        condition.unwrap_or_default()
    }

    pub(crate) fn outcome_index(&self) -> u64 {
        self.outcome
            .map_or(NO_OUTCOME, |outcome| outcome.code().into())
    }

    pub(crate) fn price(&self) -> Decimal {
        self.fill.map_or(Decimal::ZERO, |fill| fill.price)
    }

    pub(crate) fn id(&self) -> String {
        self.fill
            .map_or_else(String::new, |fill| fill.id.to_string())
    }

    pub(crate) fn fee(&self) -> Micros {
        self.fill.map_or(Micros::ZERO, |fill| fill.fee)
    }
}

macro_rules! activity_view {
    ($(#[$meta:meta])* $view:ident of $row:ident, $case:literal, $asset:literal {$($more:tt)*}) => {
        view! {
            $(#[$meta])*
            $view of ActivityRow<'a>, $row, $case {
                #[serde(with = "values::Address")]
                proxy_wallet: WalletAddress = $row.wallet,
                /// Side of the wallet; empty for an account action.
                #[schemars(extend("enum" = ["BUY", "SELL", ""]))]
                side: &'static str = $row.side(),
                #[serde(rename = $asset)]
                asset: &'a str = $row.of_token(MarketText::asset),
                condition_id: String = $row.condition(),
                /// Shares.
                size: Number = Number($row.size),
                price: Number = Number($row.price()),
                /// Unix seconds.
                timestamp: u64 = $row.time.0,
                /// Collateral, without fees.
                usdc_size: Number = $row.value.into(),
                /// Fee that the wallet paid: 0 of a maker and of an account action.
                fee_usdc: Number = $row.fee().into(),
                /// Title of the market.
                title: &'a str = $row.of_market(|it| &it.question),
                slug: &'a str = $row.of_market(|it| &it.slug),
                /// URL.
                icon: &'a str = $row.of_market(|it| &it.icon),
                event_slug: &'a str = $row.of_market(MarketDescription::event_slug),
                outcome: &'a str = $row.of_token(MarketText::label),
                /// 999 for an account action of no single token.
                #[schemars(extend("enum" = [0, 1, 999]))]
                outcome_index: u64 = $row.outcome_index(),
                name: &'a str = $row.profile.name,
                pseudonym: Cow<'a, str> = $row.profile.pseudonym_of(&$row.wallet),
                bio: &'a str = $row.profile.bio,
                profile_image: &'a str = $row.profile.image,
                profile_image_optimized: &'a str = $row.profile.image_optimized,
                #[serde(with = "values::Bytes")]
                transaction_hash: [u8; 32] = $row.receipt,
                /// The id of the trade, and of a single fill `:` and its index; empty for an account action.
                id: String = $row.id(),
                $($more)*
            }
        }
    };
}

activity_view! {
    /// A row of `GET /trades`.
    FillV1 of row, "camelCase", "asset" {}
}
activity_view! {
    /// A row of `GET /v2/trades`.
    FillV2 of row, "snake_case", "token_id" {}
}
activity_view! {
    /// A row of `GET /activity`.
    ActivityV1 of row, "camelCase", "asset" {
        r#type: ActivityKind = row.kind,
    }
}
activity_view! {
    /// A row of `GET /v2/activity`.
    ActivityV2 of row, "snake_case", "token_id" {
        r#type: ActivityKind = row.kind,
        /// Always false.
        is_combo: bool = false,
    }
}
