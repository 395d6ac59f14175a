//! Machine, time and program of a measurement: figures of different machines are not comparable.

use std::fmt::{self, Display};
use std::fs;
use std::thread::available_parallelism;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// Value of an unknown field.
const UNKNOWN: &str = "unknown";

/// Facts about a run.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Stamp {
    /// Model of the processor.
    pub machine: String,
    /// Cores this process may use.
    pub cores: usize,
    /// Kernel release.
    pub kernel: String,
    /// Commit of the program, set by the program that prints the report.
    pub commit: String,
    /// Whether the program was built with optimisation.
    pub optimised: bool,
    /// What an acknowledgement waits for: `disk`, `process`, `none`.
    pub durability: String,
    /// Load average over one minute at the start.
    pub load: f64,
    /// Start in milliseconds since 1970.
    pub started_ms: u64,
    /// Duration.
    pub seconds: f64,
}

impl Stamp {
    /// Facts of this machine and time.
    pub(super) fn now(durability: &str) -> Self {
        let load = read("/proc/loadavg");
        let load = load.split(' ').next().and_then(|mean| mean.parse().ok());
        Self {
            machine: processor(&read("/proc/cpuinfo")),
            cores: available_parallelism().map_or(1, usize::from),
            kernel: read("/proc/sys/kernel/osrelease").trim_end().to_owned(),
            commit: UNKNOWN.to_owned(),
            optimised: !cfg!(debug_assertions),
            durability: durability.to_owned(),
            load: load.unwrap_or(0.0),
            started_ms: u64::try_from(Timestamp::now().as_millisecond()).unwrap_or(0),
            seconds: 0.0,
        }
    }

    /// Seconds from another start to this one.
    #[allow(clippy::cast_precision_loss, reason = "milliseconds of one run")]
    pub(super) fn seconds_behind(&self, other: &Self) -> f64 {
        self.started_ms.saturating_sub(other.started_ms) as f64 / 1e3
    }

    /// The start in ISO 8601.
    #[must_use]
    pub fn started(&self) -> String {
        let at = i64::try_from(self.started_ms).ok();
        at.and_then(|at| Timestamp::from_millisecond(at).ok())
            .map_or_else(|| UNKNOWN.to_owned(), |at| format!("{at:.0}"))
    }
}

impl Display for Stamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}, {} cores, Linux {}, commit {}, durability {}, {}, load {:.1}, took {:.1} s",
            self.machine,
            self.cores,
            self.kernel,
            self.commit,
            self.durability,
            self.started(),
            self.load,
            self.seconds
        )?;
        if self.optimised {
            return Ok(());
        }
        f.write_str("; NOT AN OPTIMISED BUILD, figures are meaningless")
    }
}

fn read(path: &str) -> String {
    fs::read_to_string(path).unwrap_or_default()
}

/// The first processor's model.
fn processor(cpuinfo: &str) -> String {
    let model = cpuinfo
        .lines()
        .filter_map(|line| line.split_once(':'))
        .find(|(name, _)| matches!(name.trim(), "model name" | "Model" | "uarch"));
    model.map_or_else(|| UNKNOWN.to_owned(), |(_, model)| model.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stamp_describes_this_machine() {
        let stamp = Stamp::now("disk");
        assert!(stamp.cores > 0 && !stamp.machine.is_empty() && !stamp.kernel.is_empty());
        assert!(stamp.started_ms > 1_700_000_000_000);
        let text = Stamp {
            started_ms: 1_767_225_600_000,
            ..stamp
        }
        .to_string();
        assert!(
            text.contains("durability disk, 2026-01-01T00:00:00Z"),
            "{text}"
        );
    }

    #[test]
    fn processor_models_have_several_formats() {
        let cases = [
            (
                "processor\t: 0\nmodel name\t: AMD EPYC\nmodel name\t: B\n",
                "AMD EPYC",
            ),
            ("Model\t\t: Raspberry Pi 5\n", "Raspberry Pi 5"),
            ("", UNKNOWN),
        ];
        for (text, model) in cases {
            assert_eq!(processor(text), model);
        }
    }
}
