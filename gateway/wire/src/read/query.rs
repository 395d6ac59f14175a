//! Query strings: decoded, bounded, and read into typed parameters.
//!
//! The trading surface ignores unknown parameters (docs/api/overview.md §5); the data and catalog
//! surfaces reject them with [`Query::unknown`].

use std::borrow::Cow;

use percent::decode;

use foretell_model::{ConditionId, Side, TimeSeconds, WalletAddress, WalletKind};

use crate::errors::api_error::{ApiError, FieldError};
use crate::errors::error_code::ErrorCode;
use crate::limits::{MAX_BATCH, MAX_PARAMETERS, MAX_QUERY};
use crate::markets::batch::{BatchToken, merge_tokens, side_of};
use crate::read::page::Cursor;
use crate::text::decimal;
use crate::text::ids::{self, TokenRef};

mod percent;

/// The decoded parameters of a request in their original order. Unencoded text is borrowed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Query<'t>(Vec<(Cow<'t, str>, Cow<'t, str>)>);

impl<'t> Query<'t> {
    /// Reads the text after the `?`.
    ///
    /// # Errors
    /// [`ErrorCode::InvalidQuery`]: longer than [`MAX_QUERY`], more than [`MAX_PARAMETERS`], an
    /// incomplete `%`, or invalid UTF-8 after decoding.
    pub fn parse(text: Option<&'t str>) -> Result<Self, ApiError> {
        let text = text.unwrap_or("");
        if text.len() > MAX_QUERY {
            return Err(ErrorCode::InvalidQuery.with([&"longer than 8192 bytes"]));
        }
        let mut parameters = Vec::new();
        for pair in text.split('&').filter(|pair| !pair.is_empty()) {
            if parameters.len() == MAX_PARAMETERS {
                return Err(ErrorCode::InvalidQuery.with([&"more than 200 parameters"]));
            }
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            parameters.push((decode(name)?, decode(value)?));
        }
        Ok(Self(parameters))
    }

    /// A query of these parameters.
    pub(crate) fn of_pairs(pairs: impl Iterator<Item = (&'t str, &'t str)>) -> Self {
        let pairs = pairs.map(|(name, value)| (Cow::Borrowed(name), Cow::Borrowed(value)));
        Self(pairs.collect())
    }

    /// All parameters in their original order.
    pub fn pairs(&self) -> impl Iterator<Item = (&str, &str)> {
        let pairs = self.0.iter();
        pairs.map(|(name, value)| (&**name, &**value))
    }

    /// The value of a parameter that is allowed once; an empty value counts as absent.
    ///
    /// # Errors
    /// [`ErrorCode::RepeatedParameter`].
    pub fn one(&self, name: &'static str) -> Result<Option<&str>, ApiError> {
        let mut values = self.all(name);
        let first = values.next();
        if values.next().is_some() {
            return Err(ErrorCode::RepeatedParameter.with([&name]));
        }
        Ok(first.filter(|value| !value.is_empty()))
    }

    /// The value of a parameter with two spellings.
    ///
    /// # Errors
    /// [`ErrorCode::RepeatedParameter`], also when both spellings are present.
    pub fn either(&self, name: &'static str, alias: &str) -> Result<Option<&str>, ApiError> {
        let mut values = self.all(name).chain(self.all(alias));
        let first = values.next();
        if values.next().is_some() {
            return Err(ErrorCode::RepeatedParameter.with([&name]));
        }
        Ok(first.filter(|value| !value.is_empty()))
    }

    /// The entries of a list: comma-separated, repeated, or both; empty ones are dropped.
    ///
    /// # Errors
    /// More than `limit` entries; `allowed` is the text of the limit.
    pub fn list(
        &self,
        name: &'static str,
        limit: usize,
        allowed: &'static str,
    ) -> Result<Vec<&str>, ApiError> {
        let entries: Vec<&str> = self
            .all(name)
            .flat_map(|value| value.split(','))
            .filter(|entry| !entry.is_empty())
            .collect();
        if entries.len() > limit {
            return Err(ErrorCode::TooManyEntries.with([&name, &entries.len(), &allowed]));
        }
        Ok(entries)
    }

    /// The first parameter whose name is not in `known`, for the surfaces that reject unknown ones.
    #[must_use]
    pub fn unknown(&self, known: &[&str]) -> Option<&str> {
        self.0
            .iter()
            .map(|(name, _)| &**name)
            .find(|name| !known.contains(name))
    }

    /// All values of a parameter in their original order, empty ones included.
    pub fn all<'q>(&'q self, name: &str) -> impl Iterator<Item = &'q str> {
        self.0
            .iter()
            .filter(move |(known, _)| known == name)
            .map(|(_, value)| &**value)
    }

    /// A parameter parsed with `read`.
    ///
    /// # Errors
    /// Repeated, or not accepted by `read`.
    pub fn read<T>(
        &self,
        name: &'static str,
        allowed: &'static str,
        read: impl FnOnce(&str) -> Option<T>,
    ) -> Result<Option<T>, ApiError> {
        let Some(text) = self.one(name)? else {
            return Ok(None);
        };
        match read(text) {
            Some(value) => Ok(Some(value)),
            None => Err(FieldError::wrong(name, text, allowed).into()),
        }
    }

    /// The required parameter `token_id`.
    ///
    /// # Errors
    /// Missing, repeated, or `Invalid token id`.
    pub fn token(&self) -> Result<TokenRef, ApiError> {
        let text = self
            .one("token_id")?
            .ok_or_else(|| FieldError::missing("token_id", "a token id"))?;
        TokenRef::parse(text).ok_or_else(|| ErrorCode::InvalidTokenId.into())
    }

    /// The required parameter `side`.
    ///
    /// # Errors
    /// `Invalid side`, also when missing; repeated.
    pub fn side(&self) -> Result<Side, ApiError> {
        side_of(self.one("side")?.unwrap_or(""))?.ok_or_else(|| ErrorCode::InvalidSide.into())
    }

    /// `token_ids` and `sides` of a batch read with GET: lists, with a side for each token or none.
    ///
    /// # Errors
    /// No token, too many, `Invalid token id`, `Invalid side`, or another number of sides.
    pub fn tokens(&self) -> Result<Vec<BatchToken>, ApiError> {
        let texts = self.list("token_ids", MAX_BATCH, "up to 500 tokens")?;
        if texts.is_empty() {
            let allowed = "token ids with commas between them";
            return Err(FieldError::missing("token_ids", allowed).into());
        }
        let sides = self.list("sides", MAX_BATCH, "up to 500 sides")?;
        if sides.is_empty() {
            return merge_tokens(texts.into_iter().map(|text| (text, None)));
        }
        if sides.len() != texts.len() {
            let count = format!("{} for {} tokens", sides.len(), texts.len());
            return Err(FieldError::wrong("sides", &count, "one for each token").into());
        }
        let sides: Result<Vec<_>, _> = sides.into_iter().map(side_of).collect();
        merge_tokens(texts.into_iter().zip(sides?))
    }

    /// `next_cursor`.
    ///
    /// # Errors
    /// `invalid next_cursor`; repeated.
    pub fn cursor(&self) -> Result<Cursor, ApiError> {
        Cursor::parse(self.one("next_cursor")?)
    }

    fn market(&self) -> Result<Option<ConditionId>, ApiError> {
        const ALLOWED: &str = "a condition id, 0x and 64 hex digits";
        self.read("market", ALLOWED, ids::condition_id)
    }

    pub(crate) fn wallet(&self, name: &'static str) -> Result<Option<WalletAddress>, ApiError> {
        self.read(name, "an address, 0x and 40 hex digits", ids::address)
    }

    fn asset(&self) -> Result<Option<TokenRef>, ApiError> {
        match self.one("asset_id")? {
            Some(text) => TokenRef::parse(text)
                .map(Some)
                .ok_or_else(|| ErrorCode::InvalidTokenId.into()),
            None => Ok(None),
        }
    }

    fn id(&self) -> Result<Option<String>, ApiError> {
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
    /// Only trades strictly before this time.
    pub before: Option<TimeSeconds>,
    /// Only trades strictly after this time.
    pub after: Option<TimeSeconds>,
    /// A builder; `GET /builder/trades` only.
    pub builder: Option<[u8; 32]>,
    /// The page.
    pub cursor: Cursor,
}

impl TradesQuery {
    /// Reads the parameters.
    ///
    /// # Errors
    /// A parameter that is repeated or malformed; `before` below `after`.
    pub fn of(query: &Query<'_>) -> Result<Self, ApiError> {
        let instant = |name| {
            query.read(name, "unix seconds, digits", |text| {
                decimal::digits_u64(text).ok().map(TimeSeconds)
            })
        };
        let (before, after) = (instant("before")?, instant("after")?);
        if let (Some(before), Some(after)) = (before, after)
            && before < after
        {
            let problem = format!(
                "before is {}, allowed: not below after ({})",
                before.0, after.0
            );
            return Err(ErrorCode::InvalidTimeRange.with([&problem]));
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
    /// An order id as written.
    pub id: Option<String>,
    /// A market.
    pub market: Option<ConditionId>,
    /// A token.
    pub asset: Option<TokenRef>,
    /// The page.
    pub cursor: Cursor,
}

impl OrdersQuery {
    /// Reads the parameters.
    ///
    /// # Errors
    /// A parameter that is repeated or malformed.
    pub fn of(query: &Query<'_>) -> Result<Self, ApiError> {
        Ok(Self {
            id: query.id()?,
            market: query.market()?,
            asset: query.asset()?,
            cursor: query.cursor()?,
        })
    }
}

/// The asset of `GET /balance-allowance`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BalanceAsset {
    /// Collateral.
    Collateral,
    /// Shares of a token.
    Conditional(TokenRef),
}

/// Parameters of `GET /balance-allowance`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BalanceQuery {
    /// The asset.
    pub asset: BalanceAsset,
    /// Kind of the owner's wallet; `None` (absent, -1): its only bound wallet, else the owner.
    pub kind: Option<WalletKind>,
}

impl BalanceQuery {
    /// Reads the parameters.
    ///
    /// # Errors
    /// A parameter that is missing, repeated or malformed.
    pub fn of(query: &Query<'_>) -> Result<Self, ApiError> {
        const ASSETS: &str = "COLLATERAL or CONDITIONAL";
        let asset = match query.one("asset_type")? {
            Some("COLLATERAL") => BalanceAsset::Collateral,
            Some("CONDITIONAL") => BalanceAsset::Conditional(query.token()?),
            Some(other) => return Err(FieldError::wrong("asset_type", other, ASSETS).into()),
            None => return Err(FieldError::missing("asset_type", ASSETS).into()),
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
