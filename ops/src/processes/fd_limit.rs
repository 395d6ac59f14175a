//! File descriptor limit of a process, and the connections that it allows.

use foretell_engine::EXIT_REFUSED;
use foretell_gateway::{
    ConnectionLimits, ENDING_CONNECTIONS, HEALTH_CONNECTIONS, OPERATOR_CONNECTIONS,
};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::failure::Failure;

/// Descriptors reserved for files: journal segments, the catalog, the engine's socket, listeners.
const FOR_FILES: usize = 256;
/// All reserved descriptors: also the connections of operators, of health checks, and those being closed.
const RESERVE: usize = FOR_FILES + OPERATOR_CONNECTIONS + HEALTH_CONNECTIONS + ENDING_CONNECTIONS;
/// Minimum number of client connections.
const MIN_CONNECTIONS: usize = 64;

/// Raises the soft limit of open files to the hard limit and returns it.
pub(crate) fn raise() -> usize {
    let before = getrlimit(Resource::Nofile);
    let raised = Rlimit {
        current: before.maximum,
        ..before
    };
    if let Err(error) = setrlimit(Resource::Nofile, raised) {
        tracing::warn!(%error, limit = ?before.current, "cannot raise the limit of open files");
    }
    let limit = getrlimit(Resource::Nofile).current;
    limit.map_or(usize::MAX, |limit| {
        usize::try_from(limit).unwrap_or(usize::MAX)
    })
}

/// Lowers the connection limits to fit `descriptors`. One client gets at most half of the total.
///
/// # Errors
/// Fewer than the minimum number of connections fit.
pub(crate) fn fit(
    limits: ConnectionLimits,
    descriptors: usize,
) -> Result<ConnectionLimits, Failure> {
    let room = descriptors.saturating_sub(RESERVE);
    if room < MIN_CONNECTIONS {
        let least = RESERVE + MIN_CONNECTIONS;
        return Err(Failure::new(format!(
            "this process may open {descriptors} files, but a gateway needs at least {least}"
        ))
        .hint("raise the hard limit of open files: ulimit -Hn, or LimitNOFILE of the service")
        .code(EXIT_REFUSED));
    }
    if room < limits.total {
        tracing::warn!(
            configured = limits.total,
            used = room,
            open_files = descriptors,
            needed = limits.total + RESERVE,
            "gateway.connections does not fit into the limit of open files: raise the hard limit \
             (ulimit -Hn, or LimitNOFILE of the service) or lower the setting"
        );
    }
    let total = limits.total.min(room);
    Ok(ConnectionLimits {
        total,
        per_address: limits.per_address.min(total / 2),
        ..limits
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_fit_into_the_descriptors_and_leave_a_reserve() {
        let limits = ConnectionLimits::default();
        let fit = |descriptors| {
            let fitted = fit(limits, descriptors).ok()?;
            Some((fitted.total, fitted.per_address))
        };
        assert_eq!(fit(usize::MAX), Some((10_000, 400)));
        assert_eq!(fit(10_448), Some((10_000, 400)));
        assert_eq!(fit(10_447), Some((9_999, 400)));
        assert_eq!(fit(1_024), Some((576, 288)));
        assert_eq!(fit(512), Some((64, 32)));
        assert_eq!(fit(511), None);
    }

    #[test]
    fn the_soft_limit_becomes_the_hard_one() {
        let limit = raise();
        let now = getrlimit(Resource::Nofile);
        assert_eq!(now.current, now.maximum);
        assert!(now.maximum.is_none_or(|hard| hard == limit as u64));
    }
}
