//! `GET /holders`: the largest holders of each token.

use foretell_model::{AccountNumber, Lots, MarketNumber, Outcome, WalletAddress};
use foretell_view::View;
use foretell_wire::data::{
    AssetIds, HolderGroup, HolderKey, HolderRow, HolderV1, HoldersQuery, MarketRef, RoundedFigures,
};

use crate::app::App;
use crate::catalog::profiles::ProfileTexts;
use crate::http::answer::{Json, StatePosition};
use crate::http::failure::Failure;
use crate::http::parts::FromQuery;
use crate::http::request_context::RequestContext;
use crate::policy::work::rest;
use crate::resources::data::MarketFilter;
use crate::resources::data::position_search::figures;

/// `GET /holders`.
pub(crate) async fn list(
    context: RequestContext,
    FromQuery(query): FromQuery<HoldersQuery>,
) -> Result<Json<Vec<HolderGroup<HolderV1<'static>>>>, Failure> {
    let app = &context.app;
    let wanted = Holders {
        least: query.least,
        limit: query.limit,
        after: None,
        with_profits: false,
        form: app.compatibility.asset_ids(),
    };
    let (tokens, position) = of_markets(app, &query.markets, &wanted).await?;
    let profiles = app.profiles.texts();
    let groups = tokens.iter().map(|token| HolderGroup {
        token: token.text.clone(),
        holders: token.rows(&profiles).map(HolderV1::from).collect(),
    });
    Ok(Json::of(&groups.collect::<Vec<_>>()).at(position))
}

/// Which holders a list shows.
pub(crate) struct Holders {
    /// Smallest balance in micro-shares.
    pub(crate) least: u64,
    /// Most holders of a token.
    pub(crate) limit: usize,
    /// The last holders of the page before, and no other token; `None` on the first page.
    pub(crate) after: Option<Vec<HolderKey>>,
    pub(crate) with_profits: bool,
    pub(crate) form: AssetIds,
}

/// The holders of a token, largest first.
pub(crate) struct TokenHolders {
    pub(crate) text: String,
    outcome: Outcome,
    pub(crate) holders: Vec<Holder>,
}

/// A holder of a token.
pub(crate) struct Holder {
    pub(crate) key: HolderKey,
    wallet: WalletAddress,
    figures: Option<RoundedFigures>,
}

/// The holders of each token of some markets, and a state that each covers. A token is read under a
/// lock hold of its own.
pub(crate) async fn of_markets(
    app: &App,
    markets: &[MarketRef],
    wanted: &Holders,
) -> Result<(Vec<TokenHolders>, StatePosition), Failure> {
    let markets = MarketFilter::of_markets(app, markets).await?;
    let position = app.shared_view.read().position();
    let mut tokens = Vec::new();
    for market in markets.named.unwrap_or_default() {
        for &outcome in Outcome::ALL {
            let state = app.shared_view.read();
            tokens.extend(TokenHolders::of(&state.view, wanted, (market, outcome)));
        }
        rest().await;
    }
    Ok((tokens, position))
}

impl TokenHolders {
    fn of(
        view: &View,
        wanted: &Holders,
        (market, outcome): (MarketNumber, Outcome),
    ) -> Option<Self> {
        let listed = view.markets().get(market)?;
        let last = match &wanted.after {
            None => None,
            Some(keys) => {
                let is_token =
                    |key: &&HolderKey| (key.market, key.outcome) == (market.0, outcome.code());
                let key = keys.iter().find(is_token)?;
                Some((AccountNumber(key.account), Lots(key.lots)))
            }
        };
        let holders = view.positions().holders_after(market, outcome, last);
        let holders = holders
            .take_while(|(_, lots)| lots.micro_shares() >= wanted.least)
            .take(wanted.limit)
            .filter_map(|(account, lots)| {
                let profit = || {
                    let open = view.holdings().open(account, market, outcome)?;
                    Some(figures(view, (market, outcome), &open.position)?.shown())
                };
                Some(Holder {
                    key: HolderKey {
                        market: market.0,
                        outcome: outcome.code(),
                        lots: lots.0,
                        account: account.0,
                    },
                    wallet: view.accounts().get(account)?.wallet,
                    figures: wanted.with_profits.then(profit).flatten(),
                })
            });
        Some(Self {
            text: (wanted.form).text(listed.condition, &listed.tokens, outcome),
            outcome,
            holders: holders.collect(),
        })
    }

    /// Its rows.
    pub(crate) fn rows<'a>(
        &'a self,
        profiles: &'a ProfileTexts,
    ) -> impl Iterator<Item = HolderRow<'a>> {
        self.holders.iter().map(move |holder| HolderRow {
            token: &self.text,
            outcome: self.outcome,
            wallet: holder.wallet,
            lots: Lots(holder.key.lots),
            profile: profiles.profile(&holder.wallet),
            figures: holder.figures,
        })
    }
}
