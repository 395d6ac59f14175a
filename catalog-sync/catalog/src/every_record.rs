//! Fields that every recorded market and event of an upstream has and that are no figures of an exchange: strict clients
//! refuse a record without them, and with it the list that it stands in.

use std::sync::LazyLock;

use serde_json::{Map, Value, json};

/// With what they say of a market of which nothing else is known.
static MARKET: LazyLock<Map<String, Value>> = LazyLock::new(|| {
    fields(json!({
        "approved": true,
        "cyom": false,
        "deploying": false,
        "description": "",
        "funded": false,
        "hasReviewedDates": true,
        "holdingRewardsEnabled": false,
        "manualActivation": false,
        "marketMakerAddress": "",
        "negRiskOther": false,
        "new": false,
        "pagerDutyNotificationEnabled": false,
        "pendingDeployment": false,
        "ready": false,
        "requiresTranslation": false,
        "restricted": false,
        "rewardsMaxSpread": 0,
        "rewardsMinSize": 0,
        "rfqEnabled": false,
    }))
});

/// The same of an event.
static EVENT: LazyLock<Map<String, Value>> = LazyLock::new(|| {
    fields(json!({
        "automaticallyActive": true,
        "commentCount": 0,
        "competitive": 0,
        "cyom": false,
        "description": "",
        "enableNegRisk": false,
        "featured": false,
        "icon": "",
        "image": "",
        "negRiskAugmented": false,
        "new": false,
        "restricted": false,
        "showAllOutcomes": true,
        "showMarketImages": true,
    }))
});

fn fields(record: Value) -> Map<String, Value> {
    match record {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}

/// Adds what the record of a market lacks.
pub fn fill_market(record: &mut Map<String, Value>) {
    fill(record, &MARKET);
}

/// Adds what the record of an event lacks.
pub fn fill_event(record: &mut Map<String, Value>) {
    if let Some(neg_risk) = record.get("negRisk").cloned() {
        record.entry("enableNegRisk").or_insert(neg_risk);
    }
    fill(record, &EVENT);
}

fn fill(record: &mut Map<String, Value>, with: &Map<String, Value>) {
    for (name, value) in with {
        if !record.contains_key(name) {
            record.insert(name.clone(), value.clone());
        }
    }
}
