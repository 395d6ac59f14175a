//! The upstream's records of markets, out of the catalog: the `raw_metadata` of Market details
//! (protocol 11).

use foretell_model::ConditionId;
use serde_json::{Map, Value};

use crate::app::App;

/// A record for each condition, empty where there is none. `None` when the catalog cannot be read: the
/// trading surface answers all the same.
pub(crate) async fn raw_records(
    app: &App,
    conditions: Vec<ConditionId>,
) -> Option<Vec<Map<String, Value>>> {
    let Some(door) = &app.catalog else {
        return Some(Vec::new());
    };
    let read = door.read(move |catalog| {
        let raw = |condition| catalog.raw_market(condition);
        conditions.iter().map(raw).collect::<Result<Vec<_>, _>>()
    });
    let texts = read.await.ok()?.ok()?;
    Some(texts.iter().map(Option::as_deref).map(parsed).collect())
}

/// The number of the catalog's last change: while it stays the same, so does every record. `None`
/// without a catalog that can be read.
pub(crate) async fn catalog_change(app: &App) -> Option<u64> {
    let read = app.catalog.as_ref()?.read(|catalog| catalog.last_change());
    read.await.ok()?.ok()
}

fn parsed(text: Option<&str>) -> Map<String, Value> {
    text.and_then(|text| serde_json::from_str(text).ok())
        .unwrap_or_default()
}
