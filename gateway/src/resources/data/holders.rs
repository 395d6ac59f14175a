//! `GET /holders`: the largest holders of each token.

use foretell_model::Outcome;
use foretell_wire::data::{HolderGroup, HolderRow, HoldersQuery, RowWriter};

use crate::http::answer::Answer;
use crate::http::failure::Failure;
use crate::http::request_context::RequestContext;
use crate::resources::data::MarketFilter;

/// `GET /holders`. Each token is read under a lock hold of its own.
pub(crate) async fn list(context: RequestContext) -> Result<Answer, Failure> {
    let app = &context.app;
    let wanted: HoldersQuery = context.parameters()?;
    context.wait_fresh().await?;
    let markets = MarketFilter::of_markets(app, &wanted.markets).await?;
    let position = app.shared_view.read().position();
    let profiles = app.profiles.texts();
    let mut rows = RowWriter::with_capacity(0);
    for market in markets.named.unwrap_or_default() {
        for &outcome in Outcome::ALL {
            let (token, holders) = {
                let state = app.shared_view.read();
                let Some(listed) = state.view.markets().get(market) else {
                    continue;
                };
                let holders = state.view.positions().holders(market, outcome);
                let holders = holders
                    .take_while(|(_, lots)| lots.micro_shares() >= wanted.least)
                    .take(wanted.limit)
                    .filter_map(|(account, lots)| {
                        let wallet = state.view.accounts().get(account)?.wallet;
                        Some(HolderRow {
                            wallet,
                            lots,
                            profile: profiles.profile(&wallet),
                        })
                    });
                let form = app.market_texts.form();
                let token = form.text(listed.condition, &listed.tokens, outcome);
                (token, holders.collect::<Vec<_>>())
            };
            HolderGroup {
                token: &token,
                outcome,
                holders: &holders,
            }
            .write(&mut rows);
        }
        tokio::task::yield_now().await;
    }
    Ok(Answer::json(rows.finish()).at(position))
}
