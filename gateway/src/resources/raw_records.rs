//! The upstream's records of markets, out of the catalog: the `raw_metadata` of Market details
//! (protocol 11).

use foretell_model::ConditionId;
use serde_json::{Map, Value};

use crate::app::App;

/// A record for each condition, empty where there is none: without a catalog, or when it cannot be
/// read, the trading surface answers all the same.
pub(crate) async fn raw_records(
    app: &App,
    conditions: Vec<ConditionId>,
) -> Vec<Map<String, Value>> {
    let count = conditions.len();
    let Some(door) = &app.catalog else {
        return vec![Map::new(); count];
    };
    let read = door.read(move |catalog| {
        let raw = |condition| catalog.raw_market(condition);
        conditions.iter().map(raw).collect::<Result<Vec<_>, _>>()
    });
    match read.await {
        Ok(Ok(texts)) => texts.iter().map(Option::as_deref).map(parsed).collect(),
        Ok(Err(_)) | Err(_) => vec![Map::new(); count],
    }
}

fn parsed(text: Option<&str>) -> Map<String, Value> {
    text.and_then(|text| serde_json::from_str(text).ok())
        .unwrap_or_default()
}
