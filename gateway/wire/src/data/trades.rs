//! `GET /trades`: fills (interface "Trade fill").

use foretell_model::{ConditionId, Lots, Micros, Outcome, Price, Side, TimeSeconds, WalletAddress};

use crate::data::failure::DataFailure;
use crate::data::market_text::MarketText;
use crate::data::page::Page;
use crate::data::parameters::Parameters;
use crate::data::profile::WalletText;
use crate::data::rows::{Rows, field};
use crate::decimal::Decimal;
use crate::query::Query;

/// Parameters that other venues of the family page by; accepted, without effect.
const CURSORS: [&str; 3] = ["cursorTimestamp", "cursorId", "cursorUser"];

/// Parameters of `GET /trades`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TradesQuery {
    /// 0 to 10,000 rows from 0 to 10,000; 100 from 0.
    pub page: Page,
    /// One row a match, for the taker; else a row for each maker beside it. Default true.
    pub taker_only: bool,
    /// The smallest fill.
    pub minimum: Option<Minimum>,
    /// Only these markets; empty = all.
    pub markets: Vec<ConditionId>,
    /// Only fills of this wallet.
    pub user: Option<WalletAddress>,
    /// Only buys, or only sells, of the row's owner.
    pub side: Option<Side>,
}

/// `filterType` and `filterAmount`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Minimum {
    /// The least `usdcSize`, in micros.
    Cash(u64),
    /// The least `size`, in micro-shares.
    Tokens(u64),
}

impl Minimum {
    /// Whether a fill is large enough.
    #[must_use]
    pub const fn admits(self, lots: Lots, price: Price) -> bool {
        match self {
            Self::Cash(least) => lots.value_at(price).0 >= least,
            Self::Tokens(least) => lots.micro_shares() >= least,
        }
    }
}

impl TradesQuery {
    /// Reads them.
    ///
    /// # Errors
    /// A parameter that is unknown, missing or wrong.
    pub fn of(query: &Query<'_>) -> Result<Self, DataFailure> {
        let own = [
            "limit",
            "offset",
            "takerOnly",
            "filterType",
            "filterAmount",
            "market",
            "user",
            "side",
        ];
        let known = [&own[..], &CURSORS].concat();
        let parameters = Parameters::of(query, &known)?;
        for name in CURSORS {
            query.one(name)?;
        }
        Ok(Self {
            page: Page::of(&parameters, 100, 10_000, 10_000)?,
            taker_only: parameters.flag("takerOnly", true)?,
            minimum: minimum(&parameters)?,
            markets: parameters.markets()?,
            user: parameters.user()?,
            side: side(&parameters)?,
        })
    }
}

/// An amount without a type is checked and has no effect; a type needs its amount.
fn minimum(parameters: &Parameters<'_>) -> Result<Option<Minimum>, DataFailure> {
    let is_cash = parameters.choice("filterType", &[("CASH", true), ("TOKENS", false)])?;
    let amount = parameters.micros("filterAmount")?;
    match (is_cash, amount) {
        (None, _) => Ok(None),
        (Some(_), None) => Err(DataFailure::MissingField("filterAmount")),
        (Some(true), Some(amount)) => Ok(Some(Minimum::Cash(amount))),
        (Some(false), Some(amount)) => Ok(Some(Minimum::Tokens(amount))),
    }
}

pub(crate) fn side(parameters: &Parameters<'_>) -> Result<Option<Side>, DataFailure> {
    parameters.choice("side", &[("BUY", Side::Buy), ("SELL", Side::Sell)])
}

/// A fill as one of its two wallets sees it.
#[derive(Clone, Copy, Debug)]
pub struct Trade<'a> {
    /// Whose row it is.
    pub who: &'a WalletText,
    /// What the wallet did.
    pub side: Side,
    /// The market.
    pub market: &'a MarketText,
    /// The token the wallet traded.
    pub outcome: Outcome,
    /// How much.
    pub lots: Lots,
    /// At which price of that token.
    pub price: Price,
    /// When.
    pub time: TimeSeconds,
    /// Receipt of the frame that settled it.
    pub receipt: [u8; 32],
}

impl Trade<'_> {
    /// Adds its row.
    pub fn write(&self, rows: &mut Rows) {
        rows.row(|row| self.fields(row));
    }

    pub(crate) fn fields(&self, row: &mut Rows) {
        row.fields(self.who.wallet());
        row.fields(side_field(self.side));
        row.fields(self.market.ids(self.outcome));
        row.number(field!("size"), self.lots.into());
        row.number(field!("price"), self.price.into());
        row.whole(field!("timestamp"), self.time.0);
        row.number(field!("usdcSize"), Decimal::from(self.value()));
        row.fields(self.market.names());
        row.fields(self.market.label(self.outcome));
        row.whole(field!("outcomeIndex"), self.outcome.code().into());
        row.fields(self.who.profile());
        row.receipt(field!("transactionHash"), &self.receipt);
    }

    const fn value(&self) -> Micros {
        self.lots.value_at(self.price)
    }
}

const fn side_field(side: Side) -> &'static str {
    match side {
        Side::Buy => r#""side":"BUY""#,
        Side::Sell => r#""side":"SELL""#,
    }
}
