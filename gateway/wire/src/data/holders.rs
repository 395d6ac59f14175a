//! `GET /holders`: the largest holders of each token of each requested market.

use crate::errors::api_error::ApiError;
use foretell_model::{Lots, Outcome, WalletAddress};

use crate::data::profile::Profile;
use crate::data::read::market_selection::MarketRef;
use crate::data::read::parameters::Parameters;
use crate::data::rows::{RowWriter, field};
use crate::limits::MAX_HOLDERS;
use crate::read::query::Query;

/// Parameters of `GET /holders`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HoldersQuery {
    /// The markets; at least one.
    pub markets: Vec<MarketRef>,
    /// Most holders per token: 0 to 500, default 100.
    pub limit: usize,
    /// Minimum balance in micro-shares; default one share.
    pub least: u64,
}

impl HoldersQuery {
    /// Reads the parameters.
    ///
    /// # Errors
    /// A parameter that is unknown, missing or wrong.
    pub fn of(query: &Query<'_>) -> Result<Self, ApiError> {
        let parameters = Parameters::of(query, &["market", "limit", "minBalance"])?;
        Ok(Self {
            markets: parameters.required_markets()?,
            limit: parameters.whole("limit", 100, MAX_HOLDERS)?,
            least: parameters.micros("minBalance")?.unwrap_or(1_000_000),
        })
    }
}

/// A holder of a token.
#[derive(Clone, Copy, Debug)]
pub struct HolderRow<'a> {
    /// The wallet.
    pub wallet: WalletAddress,
    /// Its balance, reserved shares included.
    pub lots: Lots,
    /// Its profile.
    pub profile: Profile<'a>,
}

/// The holders of one token, largest first.
#[derive(Clone, Copy, Debug)]
pub struct HolderGroup<'a> {
    /// The token in the configured form.
    pub token: &'a str,
    /// The token's outcome.
    pub outcome: Outcome,
    /// Its holders.
    pub holders: &'a [HolderRow<'a>],
}

impl HolderGroup<'_> {
    /// Adds its row.
    pub fn write(&self, rows: &mut RowWriter) {
        let token = self.token;
        rows.row(|row| {
            row.text(field!("token"), token);
            row.array(field!("holders"), |holders| {
                for holder in self.holders {
                    holders.row(|row| holder.fields(token, self.outcome, row));
                }
            });
        });
    }
}

impl HolderRow<'_> {
    fn fields(&self, token: &str, outcome: Outcome, row: &mut RowWriter) {
        row.wallet(field!("proxyWallet"), &self.wallet);
        row.text(field!("bio"), self.profile.bio);
        row.text(field!("asset"), token);
        row.text(
            field!("pseudonym"),
            &self.profile.pseudonym_of(&self.wallet),
        );
        row.number(field!("amount"), self.lots.into());
        row.flag(field!("displayUsernamePublic"), self.profile.is_public);
        row.whole(field!("outcomeIndex"), outcome.code().into());
        row.text(field!("name"), self.profile.name);
        row.text(field!("profileImage"), self.profile.image);
        row.text(
            field!("profileImageOptimized"),
            self.profile.image_optimized,
        );
    }
}
