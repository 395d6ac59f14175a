//! `GET /rebates/current` (docs/api/orders.md §7): public. `GET /rebates` of the operator: totals of
//! a day.

use foretell_model::Micros;
use foretell_view::{Day, REBATE_DAYS, Rebate, View};
use foretell_wire::accounts::rebates::{
    MarketRebates, RebateTotals, RebateTotalsQuery, RebatedFees, RebatesQuery,
};
use foretell_wire::json_text;

use crate::app::App;
use crate::http::answer::{Answer, Json};
use crate::http::failure::Failure;
use crate::http::parts::FromQuery;
use crate::http::request_context::RequestContext;

/// `GET /rebates/current`: what a wallet accrued on a UTC day, by market.
pub(crate) async fn current(
    context: RequestContext,
    FromQuery(query): FromQuery<RebatesQuery>,
) -> Result<Answer, Failure> {
    let state = context.app.shared_view.read();
    let body = json_text(&rows(&state.view, &query));
    Ok(Answer::json(body).at(state.position()))
}

/// `GET /rebates` of the operator: what a wallet or all wallets accrued on a UTC day, by market.
pub(crate) async fn totals(
    context: RequestContext,
    FromQuery(query): FromQuery<RebateTotalsQuery>,
) -> Result<Json<RebateTotals>, Failure> {
    let app = &context.app;
    let state = app.shared_view.read();
    let view = &state.view;
    let day = Day(query.day.number);
    let rebates: Vec<Rebate> = match query.maker {
        Some(maker) => {
            let account = view.accounts().number_of(&maker);
            account.map_or_else(Vec::new, |it| view.rebates().of_account(it, day))
        }
        None => {
            let oldest = Day::of(view.system().time).first_of_last(REBATE_DAYS);
            if day < oldest {
                return Err(query.forgotten(oldest.0).into());
            }
            view.rebates().of_day(day).collect()
        }
    };
    let sum = rebates
        .iter()
        .fold(0, |sum: u64, it| sum.saturating_add(it.amount.0));
    let totals = RebateTotals {
        date: query.day.date,
        total: Micros(sum),
        markets: rebates
            .iter()
            .filter_map(|it| market_rebates(app, view, it))
            .collect(),
    };
    Ok(Json::of(&totals).at(state.position()))
}

fn market_rebates(app: &App, view: &View, rebate: &Rebate) -> Option<MarketRebates> {
    let market = view.markets().get(rebate.market)?;
    Some(MarketRebates {
        condition_id: market.condition,
        question: app.descriptions.of(market).question.clone(),
        rebates: rebate.amount,
    })
}

fn rows(view: &View, query: &RebatesQuery) -> Vec<RebatedFees> {
    let Some(account) = view.accounts().number_of(&query.maker) else {
        return Vec::new();
    };
    let rebates = view.rebates().of_account(account, Day(query.day.number));
    let row = |rebate: &Rebate| {
        let market = view.markets().get(rebate.market)?;
        Some(RebatedFees::new(query, market.condition, rebate.amount))
    };
    rebates.iter().filter_map(row).collect()
}
