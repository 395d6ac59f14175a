//! The cores of the engine against those that its control group allows.

use std::fs;
use std::path::Path;

use foretell_engine::Waiting;
use rustix::process::Pid;

use super::Subject;
use super::finding::Finding;
use crate::processes::process;

/// Below it no thread polls by default.
const FOR_POLLING: f64 = 4.0;

/// Whether threads that poll have cores to poll on.
pub(super) fn find(subject: &Subject<'_>) -> Finding {
    let engine = match process::engine_config(subject.config) {
        Ok(engine) => engine,
        Err(refused) => return refused.into(),
    };
    let pid = subject.engine.and_then(Pid::from_raw);
    let allowed = rustix::thread::sched_getaffinity(pid).map_or(1, |cores| cores.count());
    let quota = quota(subject.engine);
    let cores = quota.map_or(f64::from(allowed), |quota| quota.min(f64::from(allowed)));
    let mut value = format!("{allowed} cores allowed");
    if let Some(quota) = quota {
        value += &format!(", processor time of {quota} by the control group");
    }
    if engine.waiting == Waiting::Park {
        return Finding::ok(value + "; an idle engine sleeps");
    }
    let action = "set engine.wait = \"park\", or allow more (AllowedCPUs, CPUQuota of the service)";
    Finding::when(
        cores >= FOR_POLLING,
        value + "; an idle engine polls",
        action,
    )
    .allowed(format!("{FOR_POLLING} cores or more"))
}

/// Cores by the processor time that the control group of a process allows, `None` without a limit; of this
/// process, unless another is named.
fn quota(pid: Option<i32>) -> Option<f64> {
    let process = pid.map_or_else(|| "self".to_owned(), |pid| pid.to_string());
    let groups = fs::read_to_string(format!("/proc/{process}/cgroup")).ok()?;
    let group = groups.lines().find_map(|line| line.strip_prefix("0::/"))?;
    let root = Path::new("/sys/fs/cgroup");
    let group = root.join(group);
    let ways = group.ancestors().take_while(|way| way.starts_with(root));
    let limits = ways.filter_map(|way| limit(&fs::read_to_string(way.join("cpu.max")).ok()?));
    limits.min_by(f64::total_cmp)
}

/// Cores of a `cpu.max`: microseconds of processor time and of the period, or `max`.
fn limit(text: &str) -> Option<f64> {
    let (time, period) = text.trim().split_once(' ')?;
    Some(time.parse::<f64>().ok()? / period.parse::<f64>().ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_time_by_period() {
        assert_eq!(limit("150000 100000\n"), Some(1.5));
        assert_eq!(limit("max 100000\n"), None);
        assert_eq!(limit(""), None);
    }
}
