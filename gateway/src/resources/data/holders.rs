//! `GET /holders`: the largest holders of each token.

use foretell_model::Outcome;
use foretell_wire::data::{Holder, HolderGroup, HoldersQuery, Rows};

use crate::answer::Answer;
use crate::call::Call;
use crate::failure::Failure;
use crate::resources::data::{Markets, parameters};

/// `GET /holders`. Each token is read under a hold of the lock of its own.
pub(crate) async fn list(call: Call) -> Result<Answer, Failure> {
    let app = &call.app;
    let wanted = parameters(&call, HoldersQuery::of)?;
    app.fresh(&call).await?;
    let markets = Markets::of(app, &wanted.markets).await?;
    let place = app.replica.read().place();
    let people = app.profiles.people();
    let mut rows = Rows::with_capacity(0);
    for market in markets.named.unwrap_or_default() {
        for &outcome in Outcome::ALL {
            let (condition, holders) = {
                let state = app.replica.read();
                let Some(listed) = state.view.markets().get(market) else {
                    continue;
                };
                let holders = state.view.positions().holders(market, outcome);
                let holders = holders
                    .take_while(|(_, lots)| lots.micro_shares() >= wanted.least)
                    .take(wanted.limit)
                    .map(|(wallet, lots)| Holder {
                        wallet,
                        lots,
                        profile: people.profile(&wallet),
                    });
                (listed.condition, holders.collect::<Vec<_>>())
            };
            HolderGroup {
                condition,
                outcome,
                holders: &holders,
            }
            .write(&mut rows);
        }
        tokio::task::yield_now().await;
    }
    Ok(Answer::json(rows.finish()).at(place))
}
