//! What this host knows of the clocks of the others, and whether its own agrees with most of them.
//!
//! A clock is kept as its distance to this host's monotonic clock: a step of this host's wall clock changes nothing of
//! what is known. A record is read some time after it was written, so the reading that agrees best counts.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use crate::records::{Heartbeat, HostRecord};

/// Clocks that are further apart disagree.
pub const MAX_CLOCK_DIFFERENCE: Duration = Duration::from_secs(1);
/// Readings of a clock that are kept.
const READINGS: usize = 8;
/// Processes whose records are kept; a stranger may repeat those of many.
const MAX_PROCESSES: usize = 16;

/// What the others say of a reading of this host's wall clock.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ClockVerdict {
    /// Most of the clocks, with this one, agree.
    Agrees,
    /// No other clock is known.
    Unseen,
    /// Most clocks, or the only other one, are elsewhere.
    Differs {
        /// The host of such a clock: the leader, if it is its.
        host: String,
        /// This clock minus that one, milliseconds.
        by_ms: i64,
    },
}

/// Readings of one clock: it minus the monotonic clock, milliseconds, oldest first.
#[derive(Debug, Default)]
struct Readings(VecDeque<i64>);

impl Readings {
    fn note(&mut self, clock_ms: u64, now: Duration) {
        if self.0.len() == READINGS {
            self.0.pop_front();
        }
        self.0.push_back(distance(clock_ms, now));
    }

    /// A clock at this distance minus this one, by the reading that agrees best.
    fn difference(&self, distance: i64) -> Option<i64> {
        let differences = self.0.iter().map(|it| distance.saturating_sub(*it));
        differences.min_by_key(|it| it.unsigned_abs())
    }
}

/// A process that announces itself.
#[derive(Debug)]
struct Process {
    host: String,
    life: u64,
    count: u64,
    clock: Readings,
    heard_at: Duration,
}

/// The leader, as its heartbeats say.
#[derive(Debug)]
struct Leader {
    host: String,
    term: u64,
    wall: Readings,
    engine: Readings,
}

/// The clocks of the other hosts.
#[derive(Debug)]
pub struct Witnesses {
    host: String,
    /// What was heard longer ago says nothing of the present; the leader's clock stays known until another one leads.
    heard_within: Duration,
    processes: Vec<Process>,
    leader: Option<Leader>,
}

impl Witnesses {
    /// The witnesses of the host of this name; a record counts for `heard_within`.
    #[must_use]
    pub fn new(host: &str, heard_within: Duration) -> Self {
        Self {
            host: host.to_owned(),
            heard_within,
            processes: Vec::new(),
            leader: None,
        }
    }

    /// Notes a record that arrived by `now`. One that has not risen, a reader's, and the own ones, say nothing.
    pub fn hear(&mut self, record: &HostRecord, now: Duration) {
        if record.host == self.host || record.role == "reader" {
            return;
        }
        let is_it = |it: &&mut Process| it.host == record.host && it.life == record.life;
        match self.processes.iter_mut().find(is_it) {
            // It may have been written at any time.
            None => self.add(record, now),
            Some(process) if process.count < record.count => {
                process.count = record.count;
                process.clock.note(record.wall_ms, now);
                process.heard_at = now;
            }
            Some(_) => {}
        }
    }

    fn add(&mut self, record: &HostRecord, now: Duration) {
        if self.processes.len() == MAX_PROCESSES {
            let oldest = (0..MAX_PROCESSES).min_by_key(|at| self.processes[*at].heard_at);
            self.processes.swap_remove(oldest.unwrap_or_default());
        }
        self.processes.push(Process {
            host: record.host.clone(),
            life: record.life,
            count: record.count,
            clock: Readings::default(),
            heard_at: now,
        });
    }

    /// Notes a heartbeat that another host sent shortly before `now`.
    pub fn hear_leader(&mut self, beat: &Heartbeat, now: Duration) {
        let known = self.leader.take();
        let known = known.filter(|it| it.host == beat.host && it.term == beat.term);
        let mut leader = known.unwrap_or_else(|| Leader {
            host: beat.host.clone(),
            term: beat.term,
            wall: Readings::default(),
            engine: Readings::default(),
        });
        leader.wall.note(beat.wall_ms, now);
        leader.engine.note(beat.time_ms, now);
        self.leader = Some(leader);
    }

    /// This host leads: what the leader before said is of the past.
    pub fn lead(&mut self) {
        self.leader = None;
    }

    /// The processes heard lately, for [`Heartbeat::heard`].
    #[must_use]
    pub fn heard(&self, now: Duration) -> Vec<u64> {
        self.fresh(now).map(|process| process.life).collect()
    }

    fn fresh(&self, now: Duration) -> impl Iterator<Item = &Process> {
        let is_fresh = move |it: &&Process| now.saturating_sub(it.heard_at) <= self.heard_within;
        self.processes.iter().filter(is_fresh)
    }

    /// Compares this host's wall clock with the others at `now`. Engine time of the leader is as good as its wall clock:
    /// orders were judged by it.
    #[must_use]
    pub fn judge(&self, wall_ms: u64, now: Duration) -> ClockVerdict {
        let distance = distance(wall_ms, now);
        let mut votes: BTreeMap<&str, i64> = BTreeMap::new();
        let known = self.fresh(now).map(|it| (&*it.host, &it.clock));
        let leader = self.leader.iter();
        let leader = leader.flat_map(|it| [(&*it.host, &it.wall), (&*it.host, &it.engine)]);
        for (host, clock) in known.chain(leader) {
            if let Some(by_ms) = clock.difference(distance) {
                let vote = votes.entry(host).or_insert(by_ms);
                *vote = [*vote, by_ms]
                    .into_iter()
                    .min_by_key(|it| it.unsigned_abs())
                    .unwrap_or(by_ms);
            }
        }
        if votes.is_empty() {
            return ClockVerdict::Unseen;
        }
        let agreeing = votes.values().filter(|by_ms| agree(**by_ms)).count();
        if 2 * (agreeing + 1) > votes.len() + 1 {
            return ClockVerdict::Agrees;
        }
        let leader = self.leader.as_ref().map(|it| &*it.host);
        let elsewhere = votes.iter().filter(|(_, by_ms)| !agree(**by_ms));
        let (host, by_ms) = elsewhere
            .min_by_key(|(host, _)| Some(**host) != leader)
            .expect("not all agree");
        ClockVerdict::Differs {
            host: (*host).to_owned(),
            by_ms: *by_ms,
        }
    }
}

/// Whether clocks that are this many milliseconds apart agree.
const fn agree(by_ms: i64) -> bool {
    by_ms.unsigned_abs() as u128 <= MAX_CLOCK_DIFFERENCE.as_millis()
}

/// A clock minus the monotonic clock, milliseconds.
fn distance(clock_ms: u64, now: Duration) -> i64 {
    let monotonic = i64::try_from(now.as_millis()).unwrap_or(i64::MAX);
    i64::try_from(clock_ms)
        .unwrap_or(i64::MAX)
        .saturating_sub(monotonic)
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY_MS: u64 = 86_400_000;
    /// The right clock is this much before the monotonic one.
    const TRUE_MS: u64 = 1_800_000_000_000;

    fn at(second: u64) -> Duration {
        Duration::from_secs(second)
    }

    /// The right time at a second, and `ahead_ms`.
    fn clock(second: u64, ahead_ms: i64) -> u64 {
        (TRUE_MS + second * 1_000)
            .checked_add_signed(ahead_ms)
            .unwrap()
    }

    fn record(host: &str, life: u64, second: u64, ahead_ms: i64) -> HostRecord {
        HostRecord {
            host: host.to_owned(),
            role: "standby".to_owned(),
            sequence: 0,
            message: 0,
            format: 0,
            fingerprint: String::new(),
            wall_ms: clock(second, ahead_ms),
            place: String::new(),
            life,
            count: second,
        }
    }

    fn beat(second: u64, wall_ahead_ms: i64, engine_ahead_ms: i64) -> Heartbeat {
        Heartbeat {
            host: "a".to_owned(),
            address: String::new(),
            term: 1,
            count: second,
            sequence: 0,
            wall_ms: clock(second, wall_ahead_ms),
            time_ms: clock(second, engine_ahead_ms),
            heard: Vec::new(),
            resigned: false,
        }
    }

    fn differs(host: &str, by_ms: i64) -> ClockVerdict {
        let host = host.to_owned();
        ClockVerdict::Differs { host, by_ms }
    }

    #[test]
    fn most_clocks_decide_and_the_leader_s_is_one_of_them() {
        use ClockVerdict::{Agrees, Unseen};
        let day = DAY_MS.cast_signed();
        // The leader's wall clock and engine time, the third host's clock, this one's: ahead of the right time.
        let rows = [
            (None, None, day, Unseen),
            (Some((0, 0)), None, 900, Agrees),
            (Some((0, 0)), None, day, differs("a", day)),
            (Some((0, 0)), None, -day, differs("a", -day)),
            // Its clock was stepped, and its engine time was not; or engine time is ahead of all clocks.
            (Some((day, 0)), None, 0, Agrees),
            (Some((0, 480_000)), None, 0, Agrees),
            // The third host is right, or wrong, or alone with this one.
            (Some((-day, -day)), Some(0), 0, Agrees),
            (Some((0, 0)), Some(day), 0, Agrees),
            (Some((0, 0)), Some(0), day, differs("a", day)),
            (Some((0, 0)), Some(-day), day, differs("a", day)),
            (None, Some(0), 0, Agrees),
            (None, Some(0), day, differs("c", day)),
        ];
        for (row, (leader, third, own, verdict)) in rows.into_iter().enumerate() {
            let mut witnesses = Witnesses::new("b", at(5));
            for second in 1..20 {
                if let Some((wall, engine)) = leader {
                    witnesses.hear_leader(&beat(second, wall, engine), at(second));
                }
                if let Some(third) = third {
                    witnesses.hear(&record("c", 7, second, third), at(second));
                }
            }
            assert_eq!(
                witnesses.judge(clock(20, own), at(20)),
                verdict,
                "row {row}"
            );
        }
    }

    #[test]
    fn a_record_counts_while_it_rises_and_for_a_while_after() {
        let mut witnesses = Witnesses::new("b", at(5));
        // The first one may be from any time; own ones and a reader's say nothing.
        witnesses.hear(&record("c", 7, 1, 0), at(1));
        let reader = HostRecord {
            role: "reader".to_owned(),
            ..record("d", 8, 1, 0)
        };
        for second in [1, 2] {
            witnesses.hear(&record("b", 9, second, 0), at(second));
            let count = second;
            witnesses.hear(
                &HostRecord {
                    count,
                    ..reader.clone()
                },
                at(second),
            );
        }
        assert_eq!(witnesses.judge(clock(2, 0), at(2)), ClockVerdict::Unseen);
        assert_eq!(witnesses.heard(at(2)), [7]);
        witnesses.hear(&record("c", 7, 2, 0), at(2));
        assert_eq!(witnesses.judge(clock(7, 0), at(7)), ClockVerdict::Agrees);
        // The same again does not prolong it.
        witnesses.hear(&record("c", 7, 2, 0), at(6));
        assert_eq!(witnesses.judge(clock(8, 0), at(8)), ClockVerdict::Unseen);
        assert!(witnesses.heard(at(8)).is_empty());
        // What a stranger repeats of its earlier lives takes the vote from none that lives.
        for second in 10..40 {
            witnesses.hear(&record("c", 7, second, 0), at(second));
            witnesses.hear(&record("c", second, 1, 0), at(second));
            witnesses.hear(&record("c", second, 2, 0), at(second));
            if second > 11 {
                let verdict = witnesses.judge(clock(second, 0), at(second));
                assert_eq!(verdict, ClockVerdict::Agrees, "at {second}");
            }
        }
        witnesses.hear_leader(&beat(39, 0, 0), at(39));
        witnesses.lead();
        let later = witnesses.judge(clock(60, 0), at(60));
        assert_eq!(later, ClockVerdict::Unseen);
    }
}
