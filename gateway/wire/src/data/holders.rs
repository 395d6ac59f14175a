//! `GET /holders`: the largest holders of each token of each requested market.

use foretell_model::{Lots, Outcome, WalletAddress};

use crate::data::profile::Profile;
use crate::data::read::market_selection::{MARKET, MarketRef};
use crate::data::rows::{RowWriter, field};
use crate::limits::{MAX_HOLDERS, MAX_MARKETS};
use crate::parameters;
use crate::read::text_form::{MICROS, Whole};

parameters! {
    /// Parameters of `GET /holders`.
    pub struct HoldersQuery: Data {
        /// Markets: condition ids, assets or decimal token ids.
        pub markets: Vec<MarketRef> = required_list(MARKET, MAX_MARKETS) as "market",
        /// Most holders per token.
        pub limit: usize = or(Whole { least: 0, most: MAX_HOLDERS }, "100"),
        /// Smallest balance to include, in shares; here in micro-shares.
        pub least: u64 = or(MICROS, "1") as "minBalance",
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
