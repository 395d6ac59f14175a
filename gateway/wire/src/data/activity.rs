//! `GET /activity`: what a wallet did, trades and account actions in one list (protocol 12).

use foretell_model::{ConditionId, Lots, Micros, Side, TimeSeconds, WalletAddress};

use crate::data::failure::DataFailure;
use crate::data::market_text::MarketText;
use crate::data::page::{Direction, Page};
use crate::data::parameters::Parameters;
use crate::data::profile::WalletText;
use crate::data::rows::{Rows, field};
use crate::data::trades::{self, Trade};
use crate::query::Query;

/// `outcomeIndex` of what concerns no single outcome, as the family's clients know it.
const NO_OUTCOME: u64 = 999;

/// What was done.
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
    /// No of some questions into collateral and Yes of the others.
    Conversion,
}

const KINDS: [(&str, ActivityKind); 5] = [
    ("TRADE", ActivityKind::Trade),
    ("SPLIT", ActivityKind::Split),
    ("MERGE", ActivityKind::Merge),
    ("REDEEM", ActivityKind::Redeem),
    ("CONVERSION", ActivityKind::Conversion),
];

/// Parameters of `GET /activity`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ActivityQuery {
    /// Whose.
    pub user: WalletAddress,
    /// Only in these markets; empty = all.
    pub markets: Vec<ConditionId>,
    /// Only of these kinds; empty = all.
    pub kinds: Vec<ActivityKind>,
    /// Only buys or sells, which leaves out everything but trades.
    pub side: Option<Side>,
    /// Not before this second.
    pub start: Option<u64>,
    /// Not after this second.
    pub end: Option<u64>,
    /// 0 to 500 rows from 0 to 10,000; 100 from 0.
    pub page: Page,
    /// By time; newest first when not given.
    pub direction: Direction,
}

impl ActivityQuery {
    /// Reads them. `sortBy` knows `TIMESTAMP` only.
    ///
    /// # Errors
    /// A parameter that is unknown, missing or wrong; `end` before `start`.
    pub fn of(query: &Query<'_>) -> Result<Self, DataFailure> {
        let known = [
            "user",
            "market",
            "type",
            "side",
            "start",
            "end",
            "limit",
            "offset",
            "sortBy",
            "sortDirection",
        ];
        let parameters = Parameters::of(query, &known)?;
        parameters.choice("sortBy", &[("TIMESTAMP", ())])?;
        let (start, end) = (parameters.seconds("start")?, parameters.seconds("end")?);
        if let (Some(start), Some(end)) = (start, end)
            && end < start
        {
            let allowed = format!("a time from start ({start}) on");
            return Err(DataFailure::invalid("end", &end.to_string(), &allowed));
        }
        Ok(Self {
            user: parameters.required_user()?,
            markets: parameters.markets()?,
            kinds: parameters.choices("type", &KINDS)?,
            side: trades::side(&parameters)?,
            start,
            end,
            page: Page::of(&parameters, 100, 500, 10_000)?,
            direction: Direction::of(&parameters)?,
        })
    }

    /// Whether this kind is asked for.
    #[must_use]
    pub fn has_kind(&self, kind: ActivityKind) -> bool {
        let is_kind = self.kinds.is_empty() || self.kinds.contains(&kind);
        is_kind && (self.side.is_none() || kind == ActivityKind::Trade)
    }

    /// Whether this kind, done at this second, is asked for.
    #[must_use]
    pub fn admits(&self, kind: ActivityKind, time: TimeSeconds) -> bool {
        let starts = self.start.is_none_or(|start| start <= time.0);
        let ends = self.end.is_none_or(|end| time.0 <= end);
        self.has_kind(kind) && starts && ends
    }
}

/// Something a wallet did.
#[derive(Clone, Copy, Debug)]
pub enum Activity<'a> {
    /// A fill.
    Trade(Trade<'a>),
    /// An account action. It concerns no single token: `side`, `asset` and `outcome` are empty,
    /// `price` is 0, `outcomeIndex` 999.
    Action {
        /// Which.
        kind: ActivityKind,
        /// Whose.
        who: &'a WalletText,
        /// The market; of a conversion the first question given.
        market: &'a MarketText,
        /// Sets, or the No of each question, or all shares redeemed.
        lots: Lots,
        /// Collateral paid by a split, received by all others.
        collateral: Micros,
        /// When.
        time: TimeSeconds,
        /// Receipt of its frame.
        receipt: [u8; 32],
    },
}

impl Activity<'_> {
    /// Adds its row.
    pub fn write(&self, rows: &mut Rows) {
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
        });
    }
}

fn word(kind: ActivityKind) -> &'static str {
    let found = KINDS.iter().find(|(_, known)| *known == kind);
    found.map_or("", |(word, _)| *word)
}
