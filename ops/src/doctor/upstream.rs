//! Whether the catalog's upstream answers.

use std::sync::Arc;
use std::time::Duration;

use foretell_catalog_sync::clock::SystemClock;
use foretell_catalog_sync::resource::{List, Resource};
use foretell_catalog_sync::upstream::{
    Attempts, Bounds, ListOrder, PageRequest, Position, Upstream,
};

use super::Subject;
use super::finding::Finding;
use crate::runtime;

/// Longest time for one page.
const PATIENCE: Duration = Duration::from_secs(10);

/// Asks for one record.
pub(super) fn find(subject: &Subject<'_>) -> Finding {
    let upstream = &subject.config.catalog.upstream;
    if upstream.is_empty() {
        return Finding::ok("none configured");
    }
    let action = "check name resolution, firewall and the upstream itself; the exchange trades on without it";
    match ask(upstream) {
        Ok(rows) => Finding::ok(format!("answers with {rows} records")),
        Err(why) => Finding::warning(why, action),
    }
}

fn ask(upstream: &str) -> Result<usize, String> {
    let bounds = Bounds {
        connect: PATIENCE,
        read: PATIENCE,
        total: PATIENCE,
        ..Bounds::default()
    };
    let request = PageRequest {
        list: List {
            resource: Resource::Events,
            closed: Some(false),
        },
        order: ListOrder::LastUpdated,
        limit: 1,
        position: Position::Offset(0),
    };
    let upstream = Upstream::new(upstream, bounds, Arc::new(SystemClock))?;
    let runtime = runtime::small().map_err(|error| error.to_string())?;
    let asked = runtime.block_on(upstream.page(&request.to_string(), Attempts::One, |_, _| {}));
    asked
        .map(|page| page.rows.len())
        .map_err(|error| error.to_string())
}
