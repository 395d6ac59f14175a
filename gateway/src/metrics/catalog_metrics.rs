//! Gauges of how far the catalog has its upstream, as of a scrape.

use foretell_catalog::SyncStatus;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

/// All of them are 0 before the first round.
#[derive(Default)]
pub(crate) struct CatalogMetrics {
    follows: Gauge,
    round: Gauge,
    complete_round: Gauge,
    complete: Gauge,
    failed_lists: Gauge,
    vanished_markets: Gauge,
    stops_waiting: Gauge,
}

impl CatalogMetrics {
    pub(crate) fn register(&self, registry: &mut Registry) {
        for (name, help, gauge) in [
            (
                "catalog_follows",
                "1 while a sync follows an upstream",
                &self.follows,
            ),
            (
                "catalog_round_timestamp_seconds",
                "Unix time of the last round that read the upstream's changes; 0 = none",
                &self.round,
            ),
            (
                "catalog_complete_timestamp_seconds",
                "Unix time of the last full round that read every list to its end; 0 = none",
                &self.complete_round,
            ),
            (
                "catalog_complete",
                "1 when the last full round read every list to its end",
                &self.complete,
            ),
            (
                "catalog_failed_lists",
                "Lists of the upstream that were not read to their end",
                &self.failed_lists,
            ),
            (
                "catalog_vanished_markets",
                "Registered markets, not over, that the upstream no longer has",
                &self.vanished_markets,
            ),
            (
                "catalog_stops_waiting",
                "Markets that the upstream stopped beyond catalog.hold_percent and that trade on",
                &self.stops_waiting,
            ),
        ] {
            registry.register(name, help, gauge.clone());
        }
    }

    pub(crate) fn set(&self, status: &SyncStatus) {
        let count = |count: usize| i64::try_from(count).unwrap_or(i64::MAX);
        self.follows.set(i64::from(status.follows));
        self.round.set(status.round.unwrap_or_default());
        self.complete_round.set(status.complete.unwrap_or_default());
        self.complete.set(i64::from(status.is_complete));
        self.failed_lists.set(count(status.failed_lists.len()));
        self.vanished_markets.set(count(status.vanished.len()));
        let waiting = i64::try_from(status.stops_waiting).unwrap_or(i64::MAX);
        self.stops_waiting.set(waiting);
    }
}
