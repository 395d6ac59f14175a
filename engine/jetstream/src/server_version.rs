//! Versions of NATS servers.

use std::fmt::{self, Display};

/// A version of nats-server, without what follows the three numbers.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct ServerVersion {
    major: u32,
    minor: u32,
    patch: u32,
}

impl ServerVersion {
    /// The oldest server whose acknowledgement means that a message is on the disk.
    pub const OLDEST: Self = Self {
        major: 2,
        minor: 10,
        patch: 23,
    };

    /// Reads a version as a server tells it: `2.10.27`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let plain = text.split(['-', '+']).next()?;
        let mut numbers = plain.split('.').map(|part| part.parse().ok());
        Some(Self {
            major: numbers.next()??,
            minor: numbers.next()??,
            patch: numbers.next()??,
        })
    }

    /// Reads the output of `nats-server --version`: `nats-server: v2.10.27`.
    #[must_use]
    pub fn of_program(output: &str) -> Option<Self> {
        let (_, version) = output.trim().split_once(": v")?;
        Self::parse(version)
    }
}

impl Display for ServerVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_by_number() {
        for (text, is_allowed) in [
            ("2.10.27", true),
            ("2.10.23", true),
            ("2.11.0-preview.1", true),
            ("2.9.99", false),
            ("2.10.9", false),
            ("", false),
        ] {
            let found = ServerVersion::parse(text);
            let allowed = found.is_some_and(|found| found >= ServerVersion::OLDEST);
            assert_eq!(allowed, is_allowed, "{text}");
        }
    }

    #[test]
    fn a_program_tells_its_version() {
        let of = ServerVersion::of_program;
        assert_eq!(of("nats-server: v2.9.10\n"), ServerVersion::parse("2.9.10"));
        assert_eq!(of("nats-server: v2.9.10\n").unwrap().to_string(), "2.9.10");
        assert_eq!(of("GNU tar 1.34"), None);
    }

    #[test]
    fn what_an_operator_reads_names_the_oldest_server() {
        for text in [
            include_str!("../../../docs/operate/cluster.md"),
            include_str!("../../../ops/packaging/nats/common.conf"),
            include_str!("../../../tests/cluster/nats-server"),
        ] {
            assert!(text.contains(&ServerVersion::OLDEST.to_string()), "{text}");
        }
    }
}
