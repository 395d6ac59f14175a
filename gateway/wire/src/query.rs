//! Query strings: decoded, bounded, and read into typed parameters.
//!
//! Unknown parameters are ignored on the trading surface (protocol 11); the data and catalog
//! surfaces ask [`Query::unknown`].

use std::borrow::Cow;

use percent::decode;

use foretell_model::{ConditionId, Side, TimeSeconds, WalletAddress, WalletKind};

use crate::batch::side_of;
use crate::decimal;
use crate::failure::{Failure, FieldProblem};
use crate::ids::{self, TokenRef};
use crate::page::Cursor;

mod percent;

/// Bytes of a query string.
pub const MAX_QUERY: usize = 8 * 1024;
/// Parameters of a query string.
pub const MAX_PARAMETERS: usize = 200;

/// The decoded parameters of a request, in the order they stand. What is not encoded is not copied.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Query<'t>(Vec<(Cow<'t, str>, Cow<'t, str>)>);

impl<'t> Query<'t> {
    /// Reads what follows the `?`.
    ///
    /// # Errors
    /// [`Failure::InvalidQuery`]: longer than [`MAX_QUERY`], more than [`MAX_PARAMETERS`], an
    /// incomplete `%`, or what decodes to no UTF-8.
    pub fn parse(text: Option<&'t str>) -> Result<Self, Failure> {
        let text = text.unwrap_or("");
        if text.len() > MAX_QUERY {
            return Err(Failure::InvalidQuery("longer than 8192 bytes"));
        }
        let mut parameters = Vec::new();
        for pair in text.split('&').filter(|pair| !pair.is_empty()) {
            if parameters.len() == MAX_PARAMETERS {
                return Err(Failure::InvalidQuery("more than 200 parameters"));
            }
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            parameters.push((decode(name)?, decode(value)?));
        }
        Ok(Self(parameters))
    }

    /// The parameters as they stand: for a surface that knows its own.
    pub fn pairs(&self) -> impl Iterator<Item = (&str, &str)> {
        let pairs = self.0.iter();
        pairs.map(|(name, value)| (&**name, &**value))
    }

    /// The value of a parameter that may stand once; empty is absent.
    ///
    /// # Errors
    /// [`Failure::RepeatedParameter`].
    pub fn one(&self, name: &'static str) -> Result<Option<&str>, Failure> {
        let mut values = self.all(name);
        let first = values.next();
        if values.next().is_some() {
            return Err(Failure::RepeatedParameter(name));
        }
        Ok(first.filter(|value| !value.is_empty()))
    }

    /// The value of a parameter with two spellings.
    ///
    /// # Errors
    /// [`Failure::RepeatedParameter`], also when both spellings stand.
    pub fn either(&self, name: &'static str, alias: &str) -> Result<Option<&str>, Failure> {
        let mut values = self.all(name).chain(self.all(alias));
        let first = values.next();
        if values.next().is_some() {
            return Err(Failure::RepeatedParameter(name));
        }
        Ok(first.filter(|value| !value.is_empty()))
    }

    /// The entries of a list: comma-separated, repeated, or both; empty ones are dropped.
    ///
    /// # Errors
    /// More than `limit`, of which `allowed` is the text.
    pub fn list(
        &self,
        name: &'static str,
        limit: usize,
        allowed: &'static str,
    ) -> Result<Vec<&str>, Failure> {
        let entries: Vec<&str> = self
            .all(name)
            .flat_map(|value| value.split(','))
            .filter(|entry| !entry.is_empty())
            .collect();
        if entries.len() > limit {
            return Err(Failure::TooManyEntries {
                field: name,
                count: entries.len(),
                allowed,
            });
        }
        Ok(entries)
    }

    /// The first parameter whose name is not among `known`, for the surfaces that refuse it.
    #[must_use]
    pub fn unknown(&self, known: &[&str]) -> Option<&str> {
        self.0
            .iter()
            .map(|(name, _)| &**name)
            .find(|name| !known.contains(name))
    }

    /// Every value of a parameter, in the order they stand, empty ones included.
    pub fn all<'q>(&'q self, name: &str) -> impl Iterator<Item = &'q str> {
        self.0
            .iter()
            .filter(move |(known, _)| known == name)
            .map(|(_, value)| &**value)
    }

    /// A parameter that `read` understands.
    ///
    /// # Errors
    /// Repeated, or not understood.
    pub fn read<T>(
        &self,
        name: &'static str,
        allowed: &'static str,
        read: impl FnOnce(&str) -> Option<T>,
    ) -> Result<Option<T>, Failure> {
        let Some(text) = self.one(name)? else {
            return Ok(None);
        };
        match read(text) {
            Some(value) => Ok(Some(value)),
            None => Err(FieldProblem::wrong(name, text, allowed).into()),
        }
    }

    /// `token_id`, which must be there.
    ///
    /// # Errors
    /// Missing, repeated, or `Invalid token id`.
    pub fn token(&self) -> Result<TokenRef, Failure> {
        let text = self
            .one("token_id")?
            .ok_or_else(|| FieldProblem::missing("token_id", "a token id"))?;
        TokenRef::parse(text).ok_or(Failure::InvalidTokenId)
    }

    /// `side`, which must be there.
    ///
    /// # Errors
    /// `Invalid side`, missing included; repeated.
    pub fn side(&self) -> Result<Side, Failure> {
        side_of(self.one("side")?.unwrap_or(""))?.ok_or(Failure::InvalidSide)
    }

    /// `next_cursor`.
    ///
    /// # Errors
    /// `invalid next_cursor`; repeated.
    pub fn cursor(&self) -> Result<Cursor, Failure> {
        Cursor::parse(self.one("next_cursor")?)
    }

    fn market(&self) -> Result<Option<ConditionId>, Failure> {
        const ALLOWED: &str = "a condition id, 0x and 64 hex digits";
        self.read("market", ALLOWED, ids::condition_id)
    }

    fn wallet(&self, name: &'static str) -> Result<Option<WalletAddress>, Failure> {
        self.read(name, "an address, 0x and 40 hex digits", ids::address)
    }

    fn asset(&self) -> Result<Option<TokenRef>, Failure> {
        match self.one("asset_id")? {
            Some(text) => TokenRef::parse(text)
                .map(Some)
                .ok_or(Failure::InvalidTokenId),
            None => Ok(None),
        }
    }

    fn id(&self) -> Result<Option<String>, Failure> {
        self.read("id", "a text of up to 128 bytes", |text| {
            (text.len() <= 128).then(|| text.to_owned())
        })
    }
}

/// Parameters of `GET /data/trades` and `GET /builder/trades`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TradesQuery {
    /// A trade's id.
    pub id: Option<String>,
    /// The taker's wallet.
    pub taker: Option<WalletAddress>,
    /// The counterparty maker's wallet.
    pub maker: Option<WalletAddress>,
    /// A wallet that is taker or maker.
    pub maker_address: Option<WalletAddress>,
    /// A market.
    pub market: Option<ConditionId>,
    /// The taker's or maker's token.
    pub asset: Option<TokenRef>,
    /// Only trades strictly before.
    pub before: Option<TimeSeconds>,
    /// Only trades strictly after.
    pub after: Option<TimeSeconds>,
    /// A builder; `GET /builder/trades` only.
    pub builder: Option<[u8; 32]>,
    /// Which page.
    pub cursor: Cursor,
}

impl TradesQuery {
    /// Reads them.
    ///
    /// # Errors
    /// A parameter that is repeated or malformed; `before` below `after`.
    pub fn of(query: &Query<'_>) -> Result<Self, Failure> {
        let instant = |name| {
            query.read(name, "unix seconds, digits", |text| {
                decimal::digits_u64(text).ok().map(TimeSeconds)
            })
        };
        let (before, after) = (instant("before")?, instant("after")?);
        if let (Some(before), Some(after)) = (before, after)
            && before < after
        {
            return Err(Failure::Rejected(format!(
                "before is {}, allowed: not below after ({})",
                before.0, after.0
            )));
        }
        Ok(Self {
            id: query.id()?,
            taker: query.wallet("taker")?,
            maker: query.wallet("maker")?,
            maker_address: query.wallet("maker_address")?,
            market: query.market()?,
            asset: query.asset()?,
            before,
            after,
            builder: query.read("builder_code", "0x and 64 hex digits", ids::bytes32)?,
            cursor: query.cursor()?,
        })
    }
}

/// Parameters of `GET /data/orders`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OrdersQuery {
    /// An order's id as written.
    pub id: Option<String>,
    /// A market.
    pub market: Option<ConditionId>,
    /// A token.
    pub asset: Option<TokenRef>,
    /// Which page.
    pub cursor: Cursor,
}

impl OrdersQuery {
    /// Reads them.
    ///
    /// # Errors
    /// A parameter that is repeated or malformed.
    pub fn of(query: &Query<'_>) -> Result<Self, Failure> {
        Ok(Self {
            id: query.id()?,
            market: query.market()?,
            asset: query.asset()?,
            cursor: query.cursor()?,
        })
    }
}

/// What `GET /balance-allowance` asks about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asset {
    /// Collateral.
    Collateral,
    /// Shares of a token.
    Conditional(TokenRef),
}

/// Parameters of `GET /balance-allowance`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BalanceQuery {
    /// Of what.
    pub asset: Asset,
    /// Of the owner's wallet of this kind; `None` (absent or -1): its only bound wallet, else itself.
    pub kind: Option<WalletKind>,
}

impl BalanceQuery {
    /// Reads them.
    ///
    /// # Errors
    /// A parameter that is missing, repeated or malformed.
    pub fn of(query: &Query<'_>) -> Result<Self, Failure> {
        const ASSETS: &str = "COLLATERAL or CONDITIONAL";
        let asset = match query.one("asset_type")? {
            Some("COLLATERAL") => Asset::Collateral,
            Some("CONDITIONAL") => Asset::Conditional(query.token()?),
            Some(other) => return Err(FieldProblem::wrong("asset_type", other, ASSETS).into()),
            None => return Err(FieldProblem::missing("asset_type", ASSETS).into()),
        };
        let kind = query.read("signature_type", "-1 to 3", |text| match text {
            "-1" => Some(None),
            "0" => Some(Some(WalletKind::Eoa)),
            "1" => Some(Some(WalletKind::Proxy)),
            "2" => Some(Some(WalletKind::Safe)),
            "3" => Some(Some(WalletKind::Deposit)),
            _ => None,
        })?;
        Ok(Self {
            asset,
            kind: kind.flatten(),
        })
    }
}

#[cfg(test)]
#[path = "query_tests.rs"]
mod tests;
