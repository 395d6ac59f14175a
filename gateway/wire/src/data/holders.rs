//! `GET /holders`: the largest holders of each token of each market asked for.

use foretell_model::{ConditionId, Lots, Outcome, WalletAddress};

use crate::data::failure::DataFailure;
use crate::data::parameters::Parameters;
use crate::data::profile::Profile;
use crate::data::rows::{Rows, field};
use crate::ids::TokenRef;
use crate::query::Query;

/// Parameters of `GET /holders`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HoldersQuery {
    /// Which markets; at least one.
    pub markets: Vec<ConditionId>,
    /// Holders of each token: 0 to 500, 100 when not given.
    pub limit: usize,
    /// The least balance, in micro-shares; one share when not given.
    pub least: u64,
}

impl HoldersQuery {
    /// Reads them.
    ///
    /// # Errors
    /// A parameter that is unknown, missing or wrong.
    pub fn of(query: &Query<'_>) -> Result<Self, DataFailure> {
        let parameters = Parameters::of(query, &["market", "limit", "minBalance"])?;
        Ok(Self {
            markets: parameters.required_markets()?,
            limit: parameters.whole("limit", 100, 500)?,
            least: parameters.micros("minBalance")?.unwrap_or(1_000_000),
        })
    }
}

/// A holder of a token.
#[derive(Clone, Copy, Debug)]
pub struct Holder<'a> {
    /// The wallet.
    pub wallet: WalletAddress,
    /// What it holds, reserved included.
    pub lots: Lots,
    /// Its profile.
    pub profile: Profile<'a>,
}

/// The holders of one token, largest first.
#[derive(Clone, Copy, Debug)]
pub struct HolderGroup<'a> {
    /// The market.
    pub condition: ConditionId,
    /// Which token of it.
    pub outcome: Outcome,
    /// Who holds it.
    pub holders: &'a [Holder<'a>],
}

impl HolderGroup<'_> {
    /// Adds its row.
    pub fn write(&self, rows: &mut Rows) {
        let token = TokenRef::Asset(self.condition, self.outcome).to_string();
        rows.row(|row| {
            row.text(field!("token"), &token);
            row.array(field!("holders"), |holders| {
                for holder in self.holders {
                    holders.row(|row| holder.fields(&token, self.outcome, row));
                }
            });
        });
    }
}

impl Holder<'_> {
    fn fields(&self, token: &str, outcome: Outcome, row: &mut Rows) {
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
