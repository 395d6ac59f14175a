//! Bounds on the resources that clients of a surface use at once. The operator surface and the health
//! listener have bounds of their own, so that clients of one cannot exclude those of another.

use std::sync::Arc;

use crate::http::connections::client_quotas::{Bound, ClientQuotas};
use crate::http::surface::Surface;
use crate::policy::limits::{
    ConnectionLimits, HEALTH_CONNECTIONS, HEALTH_CONNECTIONS_PER_CLIENT, HEALTH_UNREAD_BYTES,
    HELD_BODY_BYTES_PER_CLIENT, MAX_HELD_BODY_BYTES, MAX_REPLAYS_WAITING, MAX_SEQUENCE_WAITERS,
    OPERATOR_CONNECTIONS, OPERATOR_UNREAD_BYTES, REPLAYS_WAITING_PER_CLIENT,
    REQUEST_CONNECTIONS_ONE_IN, SEQUENCE_WAITERS_PER_CLIENT, StreamLimits,
};

/// The bounds of one group of surfaces.
pub(crate) struct Bounds {
    pub(crate) connections: Arc<ClientQuotas>,
    /// Connections that became streams.
    pub(crate) streams: Arc<ClientQuotas>,
    /// Bytes of answers that clients have not read.
    pub(crate) unread: Arc<ClientQuotas>,
    /// Replays from the journal, running or waiting.
    pub(crate) replays: Arc<ClientQuotas>,
    /// Requests that wait for a sequence.
    pub(crate) waiters: Arc<ClientQuotas>,
    /// Bytes of long request bodies.
    pub(crate) bodies: Arc<ClientQuotas>,
}

/// The bounds of the process.
pub(crate) struct AllBounds {
    public: Bounds,
    operator: Bounds,
    health: Bounds,
}

/// The part of connections that may be streams.
fn for_streams(connections: usize) -> usize {
    connections - connections / REQUEST_CONNECTIONS_ONE_IN
}

impl AllBounds {
    pub(crate) fn new(limits: &ConnectionLimits, streams: &StreamLimits) -> Self {
        let shares = |total, per_client| ClientQuotas::new(Bound { total, per_client });
        Self {
            public: Bounds {
                connections: shares(limits.total, limits.per_address),
                streams: shares(
                    for_streams(limits.total),
                    streams.per_address.min(for_streams(limits.per_address)),
                ),
                unread: shares(limits.unread, limits.unread_per_address),
                replays: shares(MAX_REPLAYS_WAITING, REPLAYS_WAITING_PER_CLIENT),
                waiters: shares(MAX_SEQUENCE_WAITERS, SEQUENCE_WAITERS_PER_CLIENT),
                bodies: shares(MAX_HELD_BODY_BYTES, HELD_BODY_BYTES_PER_CLIENT),
            },
            operator: Bounds {
                connections: shares(OPERATOR_CONNECTIONS, OPERATOR_CONNECTIONS),
                streams: shares(0, 0),
                unread: shares(OPERATOR_UNREAD_BYTES, OPERATOR_UNREAD_BYTES),
                replays: shares(0, 0),
                waiters: shares(SEQUENCE_WAITERS_PER_CLIENT, SEQUENCE_WAITERS_PER_CLIENT),
                bodies: shares(HELD_BODY_BYTES_PER_CLIENT, HELD_BODY_BYTES_PER_CLIENT),
            },
            health: Bounds {
                connections: shares(HEALTH_CONNECTIONS, HEALTH_CONNECTIONS_PER_CLIENT),
                streams: shares(0, 0),
                unread: shares(HEALTH_UNREAD_BYTES, HEALTH_UNREAD_BYTES),
                replays: shares(0, 0),
                waiters: shares(0, 0),
                bodies: shares(0, 0),
            },
        }
    }

    pub(crate) fn of(&self, surface: Surface) -> &Bounds {
        match surface {
            Surface::Operator => &self.operator,
            Surface::Health => &self.health,
            Surface::Trading | Surface::Data | Surface::Catalog => &self.public,
        }
    }

    /// Open connections of all surfaces.
    pub(crate) fn connections(&self) -> usize {
        let all = [&self.public, &self.operator, &self.health];
        all.map(|bounds| bounds.connections.held()).iter().sum()
    }

    /// Bytes of answers, of all surfaces, that clients have not read.
    pub(crate) fn unread(&self) -> usize {
        let all = [&self.public, &self.operator, &self.health];
        all.map(|bounds| bounds.unread.held()).iter().sum()
    }
}
