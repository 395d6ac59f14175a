//! Version 2 of trades, activity and sums: other views of the rows of version 1.

pub(crate) mod holders;
pub(crate) mod positions;
pub(crate) mod prices;

use foretell_wire::data::{
    ActivityFilter, ActivityQuery, ActivitySort, ActivityV2, AmountV2, AssetIds, EventVolumeQuery,
    FillV2, FillsQuery, MarketSelection, OpenInterestQuery, V2, V2Answer, V2List, V2Page,
    ValueQuery, ValueV2, VolumesV2,
};

use crate::http::answer::Json;
use crate::http::failure::Failure;
use crate::http::parts::FromQuery;
use crate::http::request_context::RequestContext;
use crate::resources::data::rows::activity_row::ReceiptReader;
use crate::resources::data::{activity, totals, trades};
use crate::view::search::{PageFrom, end_page};

/// `GET /v2/trades`.
pub(crate) async fn trades(
    context: RequestContext,
    FromQuery(V2List { query, page, after }): FromQuery<V2List<FillsQuery>>,
) -> Result<Json<V2Page<FillV2<'static>>>, Failure> {
    let app = &context.app;
    let from = PageFrom::after(after, page.limit).with_next();
    let (mut entries, position) = trades::search(app, query, from, AssetIds::Token).await?;
    let last = end_page(&mut entries, page.limit).map(|entry| entry.at);
    let (profiles, mut receipts) = (app.profiles.texts(), ReceiptReader::new(app));
    let rows = entries
        .iter()
        .map(|entry| entry.row(&profiles, &mut receipts));
    let answer = V2Page::new(rows.map(FillV2::from).collect(), page, last);
    Ok(Json::of(&answer).at(position))
}

/// `GET /v2/activity`.
pub(crate) async fn activity(
    context: RequestContext,
    FromQuery(V2List {
        query: filter,
        page,
        after,
    }): FromQuery<V2List<ActivityFilter>>,
) -> Result<Json<V2Page<ActivityV2<'static>>>, Failure> {
    let app = &context.app;
    let sort = ActivitySort::Timestamp;
    let query = ActivityQuery { filter, sort };
    let from = PageFrom::after(after, page.limit).with_next();
    let (mut entries, position) = activity::search(app, query, from, AssetIds::Token).await?;
    let last = end_page(&mut entries, page.limit).map(|entry| entry.at);
    let (profiles, mut receipts) = (app.profiles.texts(), ReceiptReader::new(app));
    let rows = entries
        .iter()
        .map(|entry| entry.row(&profiles, &mut receipts));
    let answer = V2Page::new(rows.map(ActivityV2::from).collect(), page, last);
    Ok(Json::of(&answer).at(position))
}

/// `GET /v2/value`.
pub(crate) async fn value(
    context: RequestContext,
    FromQuery(V2(query)): FromQuery<V2<ValueQuery>>,
) -> Result<Json<V2Answer<ValueV2>>, Failure> {
    let (value, position) = totals::value_of(&context.app, query).await?;
    let data = ValueV2::from(value);
    Ok(Json::of(&V2Answer { data }).at(position))
}

/// `GET /v2/oi`: of some markets, or the sum of all as `GLOBAL`.
pub(crate) async fn open_interest(
    context: RequestContext,
    FromQuery(V2(query)): FromQuery<V2<OpenInterestQuery>>,
) -> Result<Json<V2Answer<Vec<AmountV2>>>, Failure> {
    let (rows, position) = totals::open_interest_of(&context.app, query).await?;
    let data: Vec<_> = rows.into_iter().map(AmountV2::from).collect();
    Ok(Json::of(&V2Answer { data }).at(position))
}

/// `GET /v2/live-volume`.
pub(crate) async fn live_volume(
    context: RequestContext,
    FromQuery(EventVolumeQuery { event_id }): FromQuery<EventVolumeQuery>,
) -> Result<Json<V2Answer<VolumesV2>>, Failure> {
    let events = MarketSelection::Events(event_id);
    let (volumes, position) = totals::live_volume_of(&context.app, events).await?;
    let data = VolumesV2::from(volumes);
    Ok(Json::of(&V2Answer { data }).at(position))
}
