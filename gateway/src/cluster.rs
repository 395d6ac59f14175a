//! The host's place in its cluster, from the file that the engine writes.

use std::path::PathBuf;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use foretell_link::{CLUSTER_STATUS_MAX_AGE_MS, ClusterStatus};
use foretell_wire::ErrorCode;
use http::{HeaderName, HeaderValue};
use parking_lot::Mutex;

use crate::failure::Failure;

/// The trading surface of the leader.
pub(crate) const X_LEADER: HeaderName = HeaderName::from_static("x-leader");
/// The file is read again after this.
const KEPT: Duration = Duration::from_millis(50);

/// The report of the host's engine.
#[derive(Debug)]
pub(crate) struct ClusterView {
    /// `None` of a host that is alone.
    file: Option<PathBuf>,
    read: Mutex<Option<(Instant, Option<ClusterStatus>)>>,
}

impl ClusterView {
    pub(crate) const fn new(file: Option<PathBuf>) -> Self {
        Self {
            file,
            read: Mutex::new(None),
        }
    }

    pub(crate) const fn is_configured(&self) -> bool {
        self.file.is_some()
    }

    /// The report; `None` of a host that is alone, or whose engine does not run.
    pub(crate) fn status(&self) -> Option<ClusterStatus> {
        let file = self.file.as_ref()?;
        let mut read = self.read.lock();
        if let Some((at, status)) = &*read
            && at.elapsed() < KEPT
        {
            return status.clone();
        }
        let status = std::fs::read(file)
            .ok()
            .and_then(|bytes| ClusterStatus::decode(&bytes))
            .filter(|status| age_ms(status) <= CLUSTER_STATUS_MAX_AGE_MS);
        *read = Some((Instant::now(), status.clone()));
        status
    }

    /// Whether no other host can have taken over: the host leads, and was heard within the silence
    /// that a takeover needs.
    fn certainly_leads(&self) -> bool {
        let status = self.status();
        status.is_some_and(|it| it.leading && age_ms(&it) < it.takeover_after_ms)
    }

    /// Replaces the failure of a write that found no engine, on a host that does not lead. Such a
    /// host may be late: what its view does not know (401, 404) or refuses (409) may be known and
    /// allowed at the leader. So may one that led until its engine was frozen.
    pub(crate) fn explain(&self, failure: Failure, is_write: bool, has_engine: bool) -> Failure {
        if !self.is_configured() {
            return failure;
        }
        let is_refusal = is_write && matches!(failure.code().status(), 401 | 404 | 409);
        let is_late = is_refusal && !(has_engine && self.certainly_leads());
        if failure.code() != ErrorCode::EngineUnavailable && !is_late {
            return failure;
        }
        let status = self.status();
        if status.as_ref().is_some_and(|status| status.leading) {
            return ErrorCode::EngineUnavailable.into();
        }
        let failure = Failure::from(ErrorCode::NotLeading);
        let leader = status.map(|status| status.leader_address);
        match leader.and_then(|address| HeaderValue::from_str(&address).ok()) {
            Some(address) if !address.is_empty() => failure.header(X_LEADER, address),
            _ => failure,
        }
    }
}

/// Time since a report, in milliseconds.
fn age_ms(status: &ClusterStatus) -> u64 {
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    let now = u64::try_from(now.as_millis()).unwrap_or(u64::MAX);
    now.saturating_sub(status.wall_ms)
}

#[cfg(test)]
mod tests {
    use foretell_wire::ApiError;

    use super::*;
    use crate::surface::Surface;

    /// Writes a report of this age.
    fn write(file: &std::path::Path, leading: bool, age_ms: u64) {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        let status = ClusterStatus {
            leading,
            leader_address: "http://10.0.0.11:8080".to_owned(),
            takeover_after_ms: 2_000,
            wall_ms: u64::try_from(now.as_millis()).unwrap() - age_ms,
            ..ClusterStatus::default()
        };
        std::fs::write(file, status.encode()).unwrap();
    }

    #[test]
    fn a_write_at_a_host_that_does_not_lead_names_the_leader() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("cluster-status");
        let unavailable = || Failure::from(ApiError::EngineUnavailable);
        let answer = |view: &ClusterView, failure| {
            let explained = view.explain(failure, true, false);
            explained.render(Surface::Trading)
        };
        // Alone, without a report, following, leading; and another failure.
        let alone = answer(&ClusterView::new(None), unavailable());
        assert_eq!(alone.headers["x-error-code"], "engine_unavailable");
        let unknown = answer(&ClusterView::new(Some(file.clone())), unavailable());
        assert_eq!(unknown.headers["x-error-code"], "not_leading");
        assert!(!unknown.headers.contains_key(X_LEADER));
        write(&file, false, 0);
        let follows = answer(&ClusterView::new(Some(file.clone())), unavailable());
        assert_eq!(follows.status.as_u16(), 503);
        assert_eq!(follows.headers["retry-after"], "1");
        assert_eq!(follows.headers[X_LEADER], "http://10.0.0.11:8080");
        let busy = answer(&ClusterView::new(Some(file.clone())), ApiError::Busy.into());
        assert_eq!(busy.headers["x-error-code"], "busy");
        let missing = || Failure::from(ApiError::MarketNotFound);
        let late = answer(&ClusterView::new(Some(file.clone())), missing());
        assert_eq!(late.headers["x-error-code"], "not_leading");
        // A read; then writes: at a leader, at one that may have been followed by another, and at one
        // without its engine.
        for (age_ms, is_write, has_engine, code) in [
            (0, false, false, ErrorCode::MarketNotFound),
            (0, true, true, ErrorCode::MarketNotFound),
            (2_500, true, true, ErrorCode::EngineUnavailable),
            (7_500, true, true, ErrorCode::NotLeading),
            (0, true, false, ErrorCode::EngineUnavailable),
        ] {
            write(&file, true, age_ms);
            let view = ClusterView::new(Some(file.clone()));
            let failure = view.explain(missing(), is_write, has_engine);
            assert_eq!(failure.code(), code);
        }
        let alone = answer(&ClusterView::new(None), missing());
        assert_eq!(alone.headers["x-error-code"], "market_not_found");
        write(&file, true, 0);
        let leads = answer(&ClusterView::new(Some(file)), unavailable());
        assert_eq!(leads.headers["x-error-code"], "engine_unavailable");
    }
}
