//! `GET /v2/holders`: the largest holders of each token, page by page.

use foretell_model::{Lots, MarketNumber, Outcome, TokenId, WalletAddress};
use foretell_view::View;
use foretell_wire::data::{
    HolderRow, LimitOffset, RoundedFigures, RowWriter, V2HolderGroup, V2HolderRow, V2HoldersQuery,
    V2List, v2_written,
};

use crate::http::answer::Answer;
use crate::http::failure::Failure;
use crate::http::request_context::RequestContext;
use crate::resources::data::MarketFilter;
use crate::resources::data::rows::position_row::figures;

/// `GET /v2/holders`. Each token is read under a lock hold of its own. A page has the same ranks of
/// every token; tokens without holders at these ranks are absent.
pub(crate) async fn list(context: RequestContext) -> Result<Answer, Failure> {
    let app = &context.app;
    let V2List::<V2HoldersQuery> {
        query: wanted,
        page,
    } = context.parameters()?;
    context.wait_fresh().await?;
    let markets = MarketFilter::of_markets(app, &wanted.condition_id).await?;
    let position = app.shared_view.read().position();
    let profiles = app.profiles.texts();
    let (mut rows, mut has_more) = (RowWriter::with_capacity(0), false);
    for market in markets.named.unwrap_or_default() {
        for &outcome in Outcome::ALL {
            let found = holders(
                &app.shared_view.read().view,
                &wanted,
                page,
                (market, outcome),
            );
            let Some((token, mut found)) = found else {
                continue;
            };
            has_more |= found.len() > page.limit;
            found.truncate(page.limit);
            if found.is_empty() {
                continue;
            }
            let holders = found
                .into_iter()
                .map(|(wallet, lots, figures)| V2HolderRow {
                    holder: HolderRow {
                        wallet,
                        lots,
                        profile: profiles.profile(&wallet),
                    },
                    figures,
                });
            V2HolderGroup {
                token,
                outcome,
                holders: &holders.collect::<Vec<_>>(),
            }
            .write(&mut rows);
        }
        tokio::task::yield_now().await;
    }
    let text = v2_written(&rows.finish(), page, has_more);
    Ok(Answer::json(text).at(position))
}

type Holder = (WalletAddress, Lots, Option<RoundedFigures>);

/// A token and its holders on a page, with one more when another page follows.
fn holders(
    view: &View,
    wanted: &V2HoldersQuery,
    page: LimitOffset,
    (market, outcome): (MarketNumber, Outcome),
) -> Option<(TokenId, Vec<Holder>)> {
    let token = view.markets().get(market)?.tokens[outcome.index()];
    let holders = view.positions().holders(market, outcome);
    let holders = holders
        .take_while(|(_, lots)| lots.micro_shares() >= wanted.min_balance)
        .skip(page.offset)
        .take(page.limit + 1)
        .filter_map(|(account, lots)| {
            let profit = || {
                let open = view.holdings().open(account, market, outcome)?;
                Some(figures(view, (market, outcome), &open.position)?.shown())
            };
            let wallet = view.accounts().get(account)?.wallet;
            Some((wallet, lots, wanted.include_pnl.then(profit).flatten()))
        });
    Some((token, holders.collect()))
}
