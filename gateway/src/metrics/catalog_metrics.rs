//! Gauges of how far the catalog has its upstream, as of a scrape.

use foretell_catalog::SyncStatus;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

metrics! {
    /// All of them are 0 before the first round.
    CatalogMetrics "catalog_"
    follows: Gauge, "1 while a sync follows an upstream";
    round_timestamp_seconds: Gauge, "Unix time of the last round that read the upstream's changes; 0 = none";
    complete_timestamp_seconds: Gauge, "Unix time of the last full round that read every list to its end; 0 = none";
    complete: Gauge, "1 when the last full round read every list to its end";
    failed_lists: Gauge, "Lists of the upstream that were not read to their end";
    vanished_markets: Gauge, "Registered markets, not over, that the upstream no longer has";
    stops_waiting: Gauge, "Markets that the upstream stopped but that still trade because of catalog.hold_percent";
}

impl CatalogMetrics {
    pub(crate) fn set(&self, status: &SyncStatus) {
        let count = |count: usize| i64::try_from(count).unwrap_or(i64::MAX);
        self.follows.set(i64::from(status.follows));
        self.round_timestamp_seconds
            .set(status.round.unwrap_or_default());
        self.complete_timestamp_seconds
            .set(status.complete.unwrap_or_default());
        self.complete.set(i64::from(status.is_complete));
        self.failed_lists.set(count(status.failed_lists.len()));
        self.vanished_markets.set(count(status.vanished.len()));
        let waiting = i64::try_from(status.stops_waiting).unwrap_or(i64::MAX);
        self.stops_waiting.set(waiting);
    }
}
