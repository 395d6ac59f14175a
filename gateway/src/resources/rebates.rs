//! `GET /rebates/current` (docs/api/orders.md §7): public.

use foretell_view::{Day, View};
use foretell_wire::json_text;
use foretell_wire::rebates::{RebatedFees, RebatesQuery};

use crate::answer::Answer;
use crate::failure::Failure;
use crate::request_context::RequestContext;

/// `GET /rebates/current`: what a wallet accrued on a UTC day, by market.
pub(crate) async fn current(context: RequestContext) -> Result<Answer, Failure> {
    let query = RebatesQuery::of(&context.query()?)?;
    context.wait_fresh().await?;
    let state = context.app.shared_view.read();
    let body = json_text(&rows(&state.view, &query));
    Ok(Answer::json(body).at(state.position()))
}

fn rows(view: &View, query: &RebatesQuery) -> Vec<RebatedFees> {
    let Some(account) = view.accounts().number_of(&query.maker) else {
        return Vec::new();
    };
    let rebates = view.rebates().of_account(account, Day(query.day));
    let row = |rebate: &foretell_view::Rebate| {
        let market = view.markets().get(rebate.market)?;
        Some(RebatedFees::new(query, market.condition, rebate.amount))
    };
    rebates.iter().filter_map(row).collect()
}
