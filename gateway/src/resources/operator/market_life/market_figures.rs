//! `GET /markets/figures` of the operator: markets by words and state, with what is traded in them.

use foretell_model::{MarketNumber, MarketState, Micros, Outcome, Price};
use foretell_view::{Market, View};
use foretell_wire::operator::{FiguresQuery, MarketRow};
use foretell_wire::schema::JsonSchema;
use foretell_wire::{Decimal, values};
use serde::Serialize;

use crate::app::App;
use crate::http::answer::Json;
use crate::http::failure::Failure;
use crate::http::parts::FromQuery;
use crate::http::request_context::RequestContext;
use crate::resources::operator::market_life::market_list::row;
use crate::view::search::{PageBack, in_steps};

/// Markets visited under one lock hold: their words are compared.
const STEP: usize = 128;

/// Answer of `GET /markets/figures`.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Figures {
    /// The newest first. A page may be short or empty while `next` is there.
    markets: Vec<FiguresRow>,
    /// `before` of the page that goes on with older ones; absent at the oldest.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<u32>,
}

/// A market and what is traded in it. Prices are those of the first outcome.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct FiguresRow {
    #[serde(flatten)]
    market: MarketRow,
    /// The current price.
    #[serde(with = "values::DecimalText")]
    price: Decimal,
    /// Empty where nobody bids.
    #[serde(with = "values::AmountOrEmpty")]
    best_bid: Option<Price>,
    /// Empty where nobody asks.
    #[serde(with = "values::AmountOrEmpty")]
    best_ask: Option<Price>,
    /// Traded since the beginning, whole units.
    #[serde(with = "values::Amount")]
    volume: Micros,
    /// Collateral locked by its shares, whole units.
    #[serde(with = "values::Amount")]
    open_interest: Micros,
    /// Number of resting orders.
    live_orders: usize,
}

/// `GET /markets/figures`.
pub(crate) async fn list(
    context: RequestContext,
    FromQuery(query): FromQuery<FiguresQuery>,
) -> Result<Json<Figures>, Failure> {
    let app = &context.app;
    app.shared_view.catch_up().await?;
    let wanted = Wanted::new(&query);
    let mut page = PageBack::new(query.before, query.limit);
    let ((), position) = in_steps(app, |state| {
        let view = &state.view;
        let markets = view.markets().before(page.before().map(MarketNumber));
        let markets = markets.map(|(number, market)| (number.0, (number, market)));
        page.step(STEP, markets, |(number, market)| {
            let is_wanted = wanted.takes(app, market);
            is_wanted
                .then(|| figures(app, view, (number, market)))
                .flatten()
        })
    })
    .await;
    let (markets, next) = page.finish();
    Ok(Json::of(&Figures { markets, next }).at(position))
}

/// Which markets are looked for.
struct Wanted {
    /// Lower-case words that a market must have.
    words: Vec<String>,
    status: Option<MarketState>,
    archived: bool,
}

impl Wanted {
    fn new(query: &FiguresQuery) -> Self {
        let words = query.search.as_deref().unwrap_or_default().to_lowercase();
        Self {
            words: words.split_whitespace().map(str::to_owned).collect(),
            status: query.status,
            archived: query.archived,
        }
    }

    fn takes(&self, app: &App, market: &Market) -> bool {
        let has_words = || {
            let described = app.descriptions.of(market);
            let [question, slug] = [&described.question, &described.slug];
            let text = format!("{question} {slug} {}", market.condition).to_lowercase();
            self.words.iter().all(|word| text.contains(word))
        };
        market.archived == self.archived
            && self.status.is_none_or(|it| it == market.state)
            && (self.words.is_empty() || has_words())
    }
}

fn figures(
    app: &App,
    view: &View,
    (number, market): (MarketNumber, &Market),
) -> Option<FiguresRow> {
    let yes = view.books().get(number)?.of(Outcome::Yes);
    let price = view.current_price(number, Outcome::Yes)?;
    Some(FiguresRow {
        market: row(app, view, number, market),
        price: Decimal::new(i128::from(price.half_units()) * 5, 5),
        best_bid: yes.best_bid(),
        best_ask: yes.best_ask(),
        volume: view.volume().value_in(number),
        open_interest: market.locked(),
        live_orders: view.orders().live_count_in(number),
    })
}
