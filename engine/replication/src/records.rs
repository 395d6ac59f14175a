//! Small records that hosts share beside the journal.

use crate::fields::{get, put};

/// A sign of life of the leader.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Heartbeat {
    /// Name of the leading host.
    pub host: String,
    /// URL of its trading surface, for clients of other hosts; may be empty.
    pub address: String,
    /// Its term.
    pub term: u64,
    /// Rises with every heartbeat of the term.
    pub count: u64,
    /// The last sequence that its disk and the log have: a host that lacks some of it may not take over.
    pub sequence: u64,
    /// Its wall clock, milliseconds since 1970.
    pub wall_ms: u64,
    /// Its engine time, by which orders are judged, milliseconds since 1970.
    pub time_ms: u64,
    /// [`HostRecord::life`] of the hosts that it has heard lately: proves to each of them that this heartbeat was sent
    /// after it had started.
    pub heard: Vec<u64>,
    /// It has stopped in order: a standby need not wait.
    pub resigned: bool,
}

impl Heartbeat {
    /// Rises from each heartbeat of the cluster to the next.
    #[must_use]
    pub const fn age(&self) -> (u64, u64) {
        (self.term, self.count)
    }

    /// The bytes in the log.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut text = String::new();
        put(&mut text, "host", &self.host);
        put(&mut text, "address", &self.address);
        put(&mut text, "term", self.term);
        put(&mut text, "count", self.count);
        put(&mut text, "sequence", self.sequence);
        put(&mut text, "wall_ms", self.wall_ms);
        put(&mut text, "time_ms", self.time_ms);
        let heard: Vec<String> = self.heard.iter().map(u64::to_string).collect();
        put(&mut text, "heard", heard.join(" "));
        put(&mut text, "resigned", self.resigned);
        text.into_bytes()
    }

    /// Reads the bytes of the log; `None` when they are no heartbeat.
    #[must_use]
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let text = str::from_utf8(bytes).ok()?;
        Some(Self {
            host: get(text, "host")?,
            address: get(text, "address")?,
            term: get(text, "term")?,
            count: get(text, "count")?,
            sequence: get(text, "sequence")?,
            wall_ms: get(text, "wall_ms")?,
            time_ms: get(text, "time_ms")?,
            heard: get::<String>(text, "heard")?
                .split_whitespace()
                .filter_map(|life| life.parse().ok())
                .collect(),
            resigned: get(text, "resigned")?,
        })
    }
}

/// What a host says of itself.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HostRecord {
    /// Its name.
    pub host: String,
    /// Its configured role.
    pub role: String,
    /// Last sequence that it verified and has on its disk.
    pub sequence: u64,
    /// Number of the log's message that contains it.
    pub message: u64,
    /// The format id of its program: `foretell_model::limits::FORMAT_ID`; 0 when its record has none.
    pub format: u32,
    /// Keyed digest of the secrets that hosts which can lead must share; zeros of a reader.
    pub fingerprint: String,
    /// Its clock at the record, milliseconds since 1970.
    pub wall_ms: u64,
    /// The machine since its last boot, and the data directory: two processes with one place never run at once.
    pub place: String,
    /// Random number of the process.
    pub life: u64,
    /// Rises with every record of the process.
    pub count: u64,
}

impl HostRecord {
    /// The bytes in the log.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut text = String::new();
        put(&mut text, "host", &self.host);
        put(&mut text, "role", &self.role);
        put(&mut text, "sequence", self.sequence);
        put(&mut text, "message", self.message);
        put(&mut text, "format", self.format);
        put(&mut text, "fingerprint", &self.fingerprint);
        put(&mut text, "wall_ms", self.wall_ms);
        put(&mut text, "place", &self.place);
        put(&mut text, "life", self.life);
        put(&mut text, "count", self.count);
        text.into_bytes()
    }

    /// Reads the bytes of the log; `None` when they are no record.
    #[must_use]
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let text = str::from_utf8(bytes).ok()?;
        Some(Self {
            host: get(text, "host")?,
            role: get(text, "role")?,
            sequence: get(text, "sequence")?,
            message: get(text, "message")?,
            format: get(text, "format").unwrap_or(0),
            fingerprint: get(text, "fingerprint")?,
            wall_ms: get(text, "wall_ms")?,
            place: get(text, "place").unwrap_or_default(),
            life: get(text, "life").unwrap_or(0),
            count: get(text, "count").unwrap_or(0),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_read_as_they_were_written() {
        let beat = Heartbeat {
            host: "a\nterm 9".to_owned(),
            address: String::new(),
            term: 3,
            count: 7,
            sequence: 4,
            wall_ms: 1_800_000_000_000,
            time_ms: 1_800_000_000_001,
            heard: vec![u64::MAX, 7],
            resigned: true,
        };
        let read = Heartbeat::decode(&beat.encode()).unwrap();
        assert_eq!(read.host, "a term 9");
        assert_eq!(
            Heartbeat {
                host: beat.host.clone(),
                ..read
            },
            beat
        );
        assert_eq!(Heartbeat::decode(b"host a"), None);
        assert_eq!(Heartbeat::decode(&[255]), None);
        let record = HostRecord {
            host: "b".to_owned(),
            role: "standby".to_owned(),
            sequence: 5,
            message: 6,
            format: 2,
            fingerprint: "00ff".to_owned(),
            wall_ms: 1,
            place: "boot 2a".to_owned(),
            life: 9,
            count: 3,
        };
        assert_eq!(HostRecord::decode(&record.encode()), Some(record.clone()));
        let text = String::from_utf8(record.encode()).unwrap();
        let older = HostRecord::decode(text.replace("format 2\n", "rules 3\n").as_bytes());
        assert_eq!(
            older,
            Some(HostRecord {
                format: 0,
                ..record
            })
        );
    }
}
