//! `GET /activity`: a wallet's trades and account actions in one list (docs/api/data.md §1).

use foretell_model::{Lots, Micros, Side, TimeSeconds, WalletAddress};

use crate::data::market_fields::MarketText;
use crate::data::profile::WalletText;
use crate::data::read::market_selection::MarketSelection;
use crate::data::read::page::{DIRECTION, Direction, Listed};
use crate::data::read::time_range::TimeRange;
use crate::data::rows::{RowWriter, field};
use crate::data::trades::{FillRow, SIDE};
use crate::limits::{ACTIVITY_PAGE, MAX_MARKETS, PageBounds};
use crate::parameters;
use crate::read::text_form::{FLAG, WALLET, Words};

/// `outcomeIndex` of actions without a single outcome; clients of the family expect this value.
const NO_OUTCOME: u64 = 999;

/// Kind of activity.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum ActivityKind {
    /// A fill, as taker or maker.
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
}

const KINDS: [(&str, ActivityKind); 6] = [
    ("TRADE", ActivityKind::Trade),
    ("SPLIT", ActivityKind::Split),
    ("MERGE", ActivityKind::Merge),
    ("REDEEM", ActivityKind::Redeem),
    ("CONVERSION", ActivityKind::Conversion),
    ("MAKER_REBATE", ActivityKind::MakerRebate),
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
        pub user: WalletAddress = required(WALLET),
        /// The markets.
        pub markets: MarketSelection = group(),
        /// Row types to include; all without one.
        pub kinds: Vec<ActivityKind> = list(Words(&KINDS), MAX_MARKETS) as "type" v2 "type",
        /// Filter by the side of the wallet of the row, which excludes everything but trades.
        pub side: Option<Side> = optional(SIDE),
        /// The time.
        pub time: TimeRange = group(),
        /// Sort direction.
        pub sort_direction: Direction = or(DIRECTION, "DESC") as "sortDirection",
        /// No effect: the list has neither.
        pub exclude_deposits_withdrawals: bool = or(FLAG, "true") as "excludeDepositsWithdrawals",
    }

    /// Parameters of `GET /activity`.
    pub struct ActivityQuery: Data {
        /// The activities.
        pub filter: ActivityFilter = group(),
        /// Field to sort by.
        pub sort: ActivitySort = or(Words(&SORTS), "TIMESTAMP") as "sortBy",
    }
}

impl Listed for ActivityQuery {
    const PAGE: PageBounds = ACTIVITY_PAGE;
}

impl ActivityFilter {
    /// Whether the request includes this kind.
    #[must_use]
    pub fn has_kind(&self, kind: ActivityKind) -> bool {
        let is_kind = self.kinds.is_empty() || self.kinds.contains(&kind);
        is_kind && (self.side.is_none() || kind == ActivityKind::Trade)
    }

    /// Whether the request includes this kind at this second.
    #[must_use]
    pub fn admits(&self, kind: ActivityKind, time: TimeSeconds) -> bool {
        self.has_kind(kind) && self.time.contains(time)
    }
}

/// One activity of a wallet.
#[derive(Clone, Copy, Debug)]
pub enum ActivityRow<'a> {
    /// A fill.
    Trade(FillRow<'a>),
    /// An account action, which has no single token: `side`, `asset` and `outcome` are empty,
    /// `price` is 0, `outcomeIndex` 999.
    Action {
        /// The kind.
        kind: ActivityKind,
        /// The wallet.
        who: &'a WalletText,
        /// The market; for a conversion that of the first given question.
        market: &'a MarketText,
        /// Number of sets, No shares per question, or all redeemed shares.
        lots: Lots,
        /// Collateral, paid by a split and received by all others.
        collateral: Micros,
        /// The time.
        time: TimeSeconds,
        /// Receipt of its frame.
        receipt: [u8; 32],
    },
    /// A payment of rebates, which concerns no market: as an action, and all texts of a market are
    /// empty. `size` is the amount.
    Rebate {
        /// The wallet.
        who: &'a WalletText,
        /// The amount.
        collateral: Micros,
        /// The time.
        time: TimeSeconds,
        /// Receipt of its frame.
        receipt: [u8; 32],
    },
}

impl ActivityRow<'_> {
    /// Adds its row.
    pub fn write(&self, rows: &mut RowWriter) {
        rows.row(|row| match *self {
            Self::Trade(ref trade) => {
                trade.fields(row);
                row.text(field!("type"), word(ActivityKind::Trade));
            }
            Self::Action {
                kind,
                who,
                market,
                lots,
                collateral,
                time,
                receipt,
            } => {
                row.fields(who.wallet());
                row.text(field!("side"), "");
                row.text(field!("asset"), "");
                row.shown(field!("conditionId"), &market.condition());
                row.number(field!("size"), lots.into());
                row.whole(field!("price"), 0);
                row.whole(field!("timestamp"), time.0);
                row.number(field!("usdcSize"), collateral.into());
                row.fields(market.names());
                row.text(field!("outcome"), "");
                row.whole(field!("outcomeIndex"), NO_OUTCOME);
                row.fields(who.profile());
                row.receipt(field!("transactionHash"), &receipt);
                row.text(field!("type"), word(kind));
            }
            Self::Rebate {
                who,
                collateral,
                time,
                receipt,
            } => {
                row.fields(who.wallet());
                row.text(field!("side"), "");
                row.text(field!("asset"), "");
                row.text(field!("conditionId"), "");
                row.number(field!("size"), collateral.into());
                row.whole(field!("price"), 0);
                row.whole(field!("timestamp"), time.0);
                row.number(field!("usdcSize"), collateral.into());
                row.text(field!("title"), "");
                row.text(field!("slug"), "");
                row.text(field!("icon"), "");
                row.text(field!("eventSlug"), "");
                row.text(field!("outcome"), "");
                row.whole(field!("outcomeIndex"), NO_OUTCOME);
                row.fields(who.profile());
                row.receipt(field!("transactionHash"), &receipt);
                row.text(field!("type"), word(ActivityKind::MakerRebate));
            }
        });
    }
}

fn word(kind: ActivityKind) -> &'static str {
    let found = KINDS.iter().find(|(_, known)| *known == kind);
    found.map_or("", |(word, _)| *word)
}
