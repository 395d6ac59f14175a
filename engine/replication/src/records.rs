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
    /// Its clock, milliseconds since 1970.
    pub wall_ms: u64,
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
