//! What a host's engine reports of its cluster, for gateways and operators of the host. The engine
//! writes it into a file: a host that does not lead has no socket for gateways.

use std::fmt::Write as _;
use std::str::FromStr;

/// Size of the file.
pub const CLUSTER_STATUS_BYTES: usize = 2_048;
/// An older report is of an engine that has ended or is stuck.
pub const CLUSTER_STATUS_MAX_AGE_MS: u64 = 5_000;

/// A host's place in the cluster at one moment.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ClusterStatus {
    /// Name of this host.
    pub host: String,
    /// Its configured role.
    pub role: String,
    /// Whether it leads.
    pub leading: bool,
    /// Term of the last item it has.
    pub term: u64,
    /// Name of the leader, as last heard; empty when unknown.
    pub leader: String,
    /// URL of the leader's trading surface; empty when unknown.
    pub leader_address: String,
    /// Its last durable sequence.
    pub own_sequence: u64,
    /// The last sequence of the stream, as last read.
    pub stream_sequence: u64,
    /// Number of its last message of the stream.
    pub message: u64,
    /// Time since it last had everything, in milliseconds; 0 when it has.
    pub lag_ms: u64,
    /// Wall time before which no other host takes over, milliseconds since 1970; 0 when it does not
    /// lead. Also a leader that was frozen knows by it that another one may lead.
    pub leads_until_ms: u64,
    /// What it does: `leading`, `following`, or what it waits for.
    pub state: String,
    /// How its clock differs from those of the other hosts; empty while it agrees with them, or none is known.
    pub clock: String,
    /// Engine time of the leader minus the wall clock of this host, as of the leader's last heartbeat, in milliseconds.
    pub engine_ahead_ms: i64,
    /// Takeovers by this process.
    pub takeovers: u64,
    /// Messages of the stream that no host of the cluster signed, as this process has read.
    pub foreign_messages: u64,
    /// Number of the first message that the log lost before this host had it; 0 when none is known.
    pub lost_message: u64,
    /// Process id of the engine.
    pub pid: u32,
    /// Wall time of the report, milliseconds since 1970.
    pub wall_ms: u64,
}

impl ClusterStatus {
    /// Frames that it lacks.
    #[must_use]
    pub const fn lag_frames(&self) -> u64 {
        self.stream_sequence.saturating_sub(self.own_sequence)
    }

    /// Number of the message that the log lost, if one is known to be lost.
    #[must_use]
    pub fn lost(&self) -> Option<u64> {
        (self.lost_message > 0).then_some(self.lost_message)
    }

    /// The content of the file: a line a field, a checksum, then blanks.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut text = String::new();
        let mut put = |name: &str, value: &str| {
            // A field that is too long would displace the others.
            let value: String = value
                .chars()
                .filter(|c| !c.is_control())
                .take(200)
                .collect();
            writeln!(text, "{name} {value}").expect("a string grows");
        };
        put("host", &self.host);
        put("role", &self.role);
        put("leading", &self.leading.to_string());
        put("term", &self.term.to_string());
        put("leader", &self.leader);
        put("leader_address", &self.leader_address);
        put("own_sequence", &self.own_sequence.to_string());
        put("stream_sequence", &self.stream_sequence.to_string());
        put("message", &self.message.to_string());
        put("lag_ms", &self.lag_ms.to_string());
        put("leads_until_ms", &self.leads_until_ms.to_string());
        put("state", &self.state);
        put("clock", &self.clock);
        put("engine_ahead_ms", &self.engine_ahead_ms.to_string());
        put("takeovers", &self.takeovers.to_string());
        put("foreign_messages", &self.foreign_messages.to_string());
        put("lost_message", &self.lost_message.to_string());
        put("pid", &self.pid.to_string());
        put("wall_ms", &self.wall_ms.to_string());
        let sum = checksum(text.as_bytes());
        writeln!(text, "checksum {sum:016x}").expect("a string grows");
        let mut bytes = text.into_bytes();
        bytes.resize(CLUSTER_STATUS_BYTES, b' ');
        bytes
    }

    /// Reads the file's content; `None` when it is torn or no report.
    #[must_use]
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let text = str::from_utf8(bytes).ok()?;
        let end = text.find("checksum ")?;
        let sum = text[end..].strip_prefix("checksum ")?.lines().next()?;
        if u64::from_str_radix(sum, 16).ok()? != checksum(&bytes[..end]) {
            return None;
        }
        let text = &text[..end];
        Some(Self {
            host: get(text, "host")?,
            role: get(text, "role")?,
            leading: get(text, "leading")?,
            term: get(text, "term")?,
            leader: get(text, "leader")?,
            leader_address: get(text, "leader_address")?,
            own_sequence: get(text, "own_sequence")?,
            stream_sequence: get(text, "stream_sequence")?,
            message: get(text, "message")?,
            lag_ms: get(text, "lag_ms")?,
            leads_until_ms: get(text, "leads_until_ms")?,
            state: get(text, "state")?,
            clock: get(text, "clock")?,
            engine_ahead_ms: get(text, "engine_ahead_ms")?,
            takeovers: get(text, "takeovers")?,
            foreign_messages: get(text, "foreign_messages")?,
            lost_message: get(text, "lost_message")?,
            pid: get(text, "pid")?,
            wall_ms: get(text, "wall_ms")?,
        })
    }
}

fn get<T: FromStr>(text: &str, name: &str) -> Option<T> {
    let value =
        |line: &'_ str| -> Option<T> { line.strip_prefix(name)?.strip_prefix(' ')?.parse().ok() };
    text.lines().find_map(value)
}

/// FNV-1a: finds a torn read; nobody forges the file of a 0700 directory.
fn checksum(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |sum, byte| {
        (sum ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_is_read_whole_or_not_at_all() {
        let status = ClusterStatus {
            host: "a".to_owned(),
            role: "standby".to_owned(),
            leading: true,
            term: 7,
            leader: "a".to_owned(),
            leader_address: String::new(),
            own_sequence: 90,
            stream_sequence: 95,
            message: 12,
            lag_ms: 40,
            leads_until_ms: 1_800_000_002_000,
            state: "following".to_owned(),
            clock: "differs".to_owned(),
            engine_ahead_ms: -7,
            takeovers: 1,
            foreign_messages: 3,
            lost_message: 13,
            pid: 4,
            wall_ms: 1_800_000_000_000,
        };
        let mut bytes = status.encode();
        assert_eq!(bytes.len(), CLUSTER_STATUS_BYTES);
        assert_eq!(ClusterStatus::decode(&bytes), Some(status.clone()));
        assert_eq!(status.lag_frames(), 5);
        bytes[40] ^= 1;
        assert_eq!(ClusterStatus::decode(&bytes), None);
        assert_eq!(ClusterStatus::decode(b""), None);
    }

    #[test]
    fn a_field_cannot_forge_another() {
        let status = ClusterStatus {
            host: "a\nleading true".to_owned(),
            state: "x".repeat(1_000),
            ..ClusterStatus::default()
        };
        let read = ClusterStatus::decode(&status.encode()).unwrap();
        assert!(!read.leading);
        assert_eq!(read.host, "aleading true");
    }
}
