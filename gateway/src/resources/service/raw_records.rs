//! The upstream's market records from the catalog: the `raw_metadata` of Market details
//! (docs/api/market-data.md §5).

use foretell_model::ConditionId;
use serde_json::{Map, Value};

use crate::app::App;

/// One record for each condition, empty if missing. `None` when the catalog cannot be read: the
/// trading surface answers without it.
pub(crate) async fn raw_records(
    app: &App,
    conditions: Vec<ConditionId>,
) -> Option<Vec<Map<String, Value>>> {
    let Some(pool) = &app.catalog else {
        return Some(Vec::new());
    };
    let read = pool.read(move |catalog| {
        let raw = |condition| catalog.raw_market(condition);
        conditions.iter().map(raw).collect::<Result<Vec<_>, _>>()
    });
    let texts = read.await.ok()?.ok()?;
    Some(texts.iter().map(Option::as_deref).map(parsed).collect())
}

/// The sequence number of the catalog's last change; records are unchanged while it is. `None`
/// without a readable catalog.
pub(crate) async fn catalog_change(app: &App) -> Option<u64> {
    let read = app.catalog.as_ref()?.read(|catalog| catalog.last_change());
    read.await.ok()?.ok()
}

fn parsed(text: Option<&str>) -> Map<String, Value> {
    text.and_then(|text| serde_json::from_str(text).ok())
        .unwrap_or_default()
}
