//! What a host says of itself, and who else says that it is this host.

use std::time::Duration;

use foretell_model::Sequence;
use foretell_model::limits::FORMAT_ID;
use foretell_replication::HostRecord;

use crate::config::ClusterConfig;

/// Writes the records of this process.
#[derive(Debug)]
pub(crate) struct Identity {
    place: String,
    life: u64,
    count: u64,
}

impl Identity {
    /// A process in this place ([`crate::directory::Directory::place`]); `life` is random.
    pub(crate) const fn new(place: String, life: u64) -> Self {
        Self {
            place,
            life,
            count: 0,
        }
    }

    pub(crate) const fn life(&self) -> u64 {
        self.life
    }

    /// The next record.
    pub(crate) fn record(
        &mut self,
        cluster: &ClusterConfig,
        sequence: Sequence,
        message: u64,
        wall_ms: u64,
    ) -> HostRecord {
        self.count += 1;
        HostRecord {
            host: cluster.host.clone(),
            role: cluster.role.name().to_owned(),
            sequence: sequence.0,
            message,
            format: FORMAT_ID,
            fingerprint: cluster.fingerprint.clone(),
            wall_ms,
            place: self.place.clone(),
            life: self.life,
            count: self.count,
        }
    }
}

/// Looks for another process with the name of this host. An earlier process of this place has ended: the data directory
/// is locked. One of another place lives if its records rise while this process listens.
#[derive(Debug)]
pub(crate) struct Namesakes {
    host: String,
    place: String,
    /// Life and count of the newest record of another place.
    known: Option<(u64, u64)>,
    /// When a record rose.
    risen_at: Option<Duration>,
}

impl Namesakes {
    pub(crate) fn new(host: &str, identity: &Identity) -> Self {
        Self {
            host: host.to_owned(),
            place: identity.place.clone(),
            known: None,
            risen_at: None,
        }
    }

    /// Looks at a record that arrived by `now`; returns whether it shows that another process lives.
    pub(crate) fn look(&mut self, record: &HostRecord, now: Duration) -> bool {
        if record.host != self.host || record.place == self.place {
            return false;
        }
        let found = (record.life, record.count);
        let known = self.known.replace(found);
        let has_risen = known.is_some_and(|(life, count)| life == found.0 && count < found.1);
        if has_risen {
            self.risen_at = Some(now);
        }
        has_risen
    }

    /// Whether there is a record of another place.
    pub(crate) const fn is_any_known(&self) -> bool {
        self.known.is_some()
    }

    /// Whether another process was seen to live within this time before `now`.
    pub(crate) fn lived_within(&self, time: Duration, now: Duration) -> bool {
        self.risen_at
            .is_some_and(|at| now.saturating_sub(at) <= time)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_of_another_place_lives_while_its_records_rise() {
        let second = Duration::from_secs;
        let own = Identity::new("here".to_owned(), 1);
        let mut namesakes = Namesakes::new("a", &own);
        let record = |host: &str, place: &str, life, count| HostRecord {
            host: host.to_owned(),
            role: "standby".to_owned(),
            sequence: 0,
            message: 0,
            format: 0,
            fingerprint: String::new(),
            wall_ms: 0,
            place: place.to_owned(),
            life,
            count,
        };
        // Other hosts, and earlier processes of this place.
        for count in 1..4 {
            assert!(!namesakes.look(&record("b", "there", 2, count), second(1)));
            assert!(!namesakes.look(&record("a", "here", 3, count), second(1)));
        }
        assert!(!namesakes.is_any_known());
        // One that may have ended, and two that did at some time.
        for life in [4, 4, 5] {
            assert!(!namesakes.look(&record("a", "there", life, 9), second(2)));
        }
        assert!(namesakes.is_any_known());
        assert!(!namesakes.lived_within(second(5), second(2)));
        assert!(namesakes.look(&record("a", "there", 5, 10), second(3)));
        assert!(namesakes.lived_within(second(5), second(8)));
        assert!(!namesakes.lived_within(second(5), second(9)));
    }
}
