//! The host's place in its cluster, from the file that the engine writes.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use foretell_journal::wall_clock;
use foretell_link::{CLUSTER_STATUS_MAX_AGE_MS, ClusterStatus};
use foretell_wire::ErrorCode;
use http::{HeaderName, HeaderValue};
use parking_lot::Mutex;

use crate::http::failure::Failure;

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
        self.look(Clone::clone)
    }

    /// Whether the host leads, and no other can have taken over yet.
    fn certainly_leads(&self) -> bool {
        let leads = |it: &ClusterStatus| wall_clock::now().millis().0 < it.leads_until_ms;
        self.look(leads).unwrap_or_default()
    }

    /// Looks at the report without a copy: every write asks it.
    fn look<T>(&self, look: impl FnOnce(&ClusterStatus) -> T) -> Option<T> {
        let file = self.file.as_ref()?;
        let mut read = self.read.lock();
        let is_old = |(at, _): &(Instant, _)| at.elapsed() >= KEPT;
        if read.as_ref().is_none_or(is_old) {
            let status = std::fs::read(file)
                .ok()
                .and_then(|bytes| ClusterStatus::decode(&bytes))
                .filter(|it| {
                    wall_clock::now().millis().0.saturating_sub(it.wall_ms)
                        <= CLUSTER_STATUS_MAX_AGE_MS
                });
            *read = Some((Instant::now(), status));
        }
        let (_, status) = read.as_ref()?;
        status.as_ref().map(look)
    }

    /// On a host that does not lead: engine time of the leader minus this host's wall clock, in milliseconds.
    pub(crate) fn leader_ahead_ms(&self) -> Option<i64> {
        self.look(|it| (!it.leading && !it.leader.is_empty()).then_some(it.engine_ahead_ms))?
    }

    /// Refuses a write on a host that does not lead. It may be late, as may one that led until its
    /// engine was frozen: what it does not know or allow may be known and allowed at the leader.
    pub(crate) fn ensure_leads(&self, has_engine: bool) -> Result<(), Failure> {
        match !self.is_configured() || has_engine && self.certainly_leads() {
            true => Ok(()),
            false => Err(self.leader_is_elsewhere()),
        }
    }

    /// Whether the host may lead: nothing says that it does not.
    pub(crate) fn may_lead(&self) -> bool {
        self.look(|it| it.leading).unwrap_or(true)
    }

    /// Replaces the failure of a request that found no engine, on a host that does not lead.
    pub(crate) fn explain(&self, failure: Failure) -> Failure {
        match failure.code() {
            ErrorCode::EngineUnavailable if self.is_configured() => self.leader_is_elsewhere(),
            _ => failure,
        }
    }

    fn leader_is_elsewhere(&self) -> Failure {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::surface::Surface;

    /// Writes a report of this age. The host leads until this much after now, if it leads.
    fn write(file: &std::path::Path, age_ms: u64, leads_for_ms: Option<i64>) {
        let until = |ms: i64| wall_clock::now().millis().0.checked_add_signed(ms).unwrap();
        let status = ClusterStatus {
            leading: leads_for_ms.is_some(),
            leads_until_ms: leads_for_ms.map(until).unwrap_or_default(),
            leader: "other".to_owned(),
            leader_address: "http://10.0.0.11:8080".to_owned(),
            engine_ahead_ms: 300_000,
            wall_ms: wall_clock::now().millis().0 - age_ms,
            ..ClusterStatus::default()
        };
        std::fs::write(file, status.encode()).unwrap();
    }

    #[test]
    fn a_write_at_a_host_that_does_not_lead_names_the_leader() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("cluster-status");
        let view = || ClusterView::new(Some(file.clone()));
        let unavailable = || Failure::from(ErrorCode::EngineUnavailable);
        assert!(ClusterView::new(None).ensure_leads(false).is_ok());
        let alone = ClusterView::new(None).explain(unavailable());
        assert_eq!(alone.code(), ErrorCode::EngineUnavailable);

        assert_eq!(view().leader_ahead_ms(), None);
        let unknown = view().explain(unavailable()).render(Surface::Trading);
        assert_eq!(unknown.headers["x-error-code"], "not_leading");
        assert!(!unknown.headers.contains_key(X_LEADER));
        write(&file, 0, None);
        let refused = view().ensure_leads(true).unwrap_err();
        assert_eq!(view().leader_ahead_ms(), Some(300_000));
        assert!(!view().may_lead() && ClusterView::new(None).may_lead());
        assert!(ClusterView::new(Some(folder.path().join("none"))).may_lead());
        for follows in [view().explain(unavailable()), refused] {
            let follows = follows.render(Surface::Trading);
            assert_eq!(follows.headers["x-error-code"], "not_leading");
            assert_eq!(follows.status.as_u16(), 503);
            assert_eq!(follows.headers["retry-after"], "1");
            assert_eq!(follows.headers[X_LEADER], "http://10.0.0.11:8080");
        }
        let busy = view().explain(ErrorCode::Busy.into());
        assert_eq!(busy.code(), ErrorCode::Busy);
    }

    #[test]
    fn a_leader_is_certain_as_long_as_no_other_host_takes_over() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("cluster-status");
        for (age_ms, leads_for_ms, has_engine, code) in [
            (0, 60_000, true, None),
            (2_500, 60_000, true, None),
            (0, 60_000, false, Some(ErrorCode::EngineUnavailable)),
            (0, -1, true, Some(ErrorCode::EngineUnavailable)),
            (7_500, 60_000, true, Some(ErrorCode::NotLeading)),
        ] {
            write(&file, age_ms, Some(leads_for_ms));
            let answer = ClusterView::new(Some(file.clone())).ensure_leads(has_engine);
            assert_eq!(answer.err().map(|it| it.code()), code);
        }
    }
}
