//! Engine time starts at wall time and follows the monotonic clock, slewed toward wall time by at most 1%. It never goes
//! back. A step of the wall clock moves it only once the clock has stood for a while and, in a cluster, most hosts agree
//! with it: then engine time that is behind jumps forward, and one that is ahead stands still
//! (docs/internals/decisions/0009). In a sandbox all of that is wall time, and engine time is what its moves make of
//! that (docs/verify/rules.md §33).

use std::fmt::Debug;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use foretell_link::{CLOCK_TOLERANCE, ClockState};
use foretell_model::{SandboxClock, TimeNs};

use crate::config::MAX_CLOCK_ADVANCE;

/// One second in nanoseconds.
const NANOS: u64 = 1_000_000_000;
/// The slew is at most one part in this many.
const SLEW: u64 = 100;
/// A gap to wall time above this is a step and raises an alarm.
const ALARM_NS: u64 = CLOCK_TOLERANCE.as_secs() * NANOS;
/// A wall clock that departs further from the monotonic one was stepped.
pub(crate) const STEP_NS: u64 = 500_000_000;
/// A clock that was not stepped for this long stands.
pub(crate) const STEADY_NS: u64 = 5_000_000_000;
/// Clocks of hosts that are further apart disagree.
const AGREE_NS: u64 = foretell_replication::MAX_CLOCK_DIFFERENCE.as_secs() * NANOS;
/// The furthest that engine time follows a step: as far as a start does.
const MAX_JUMP_NS: u64 = MAX_CLOCK_ADVANCE.as_secs() * NANOS;

/// The clocks of a machine, in nanoseconds. A type parameter, so that a reading costs no dynamic
/// call.
pub(crate) trait Clocks: Clone + Debug + Send + 'static {
    /// The monotonic clock, since an arbitrary moment.
    fn monotonic(&self) -> u64;
    /// Wall time since 1970.
    fn wall(&self) -> u64;

    /// Wall time minus the monotonic clock, wrapping: changes only when the wall clock is stepped or slewed.
    fn distance(&self) -> u64 {
        self.wall().wrapping_sub(self.monotonic())
    }
}

/// The monotonic clock as a duration.
pub(crate) fn now<C: Clocks>(clocks: &C) -> Duration {
    Duration::from_nanos(clocks.monotonic())
}

/// A duration in milliseconds.
pub(crate) fn in_ms(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// The clocks of this machine; the monotonic one counts from this instant.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SystemClocks {
    start: Instant,
    error: Option<&'static AtomicI64>,
}

impl SystemClocks {
    /// `error` as in [`crate::EngineConfig::wall_clock_error`].
    pub(crate) fn start(error: Option<&'static AtomicI64>) -> Self {
        Self {
            start: Instant::now(),
            error,
        }
    }
}

impl Clocks for SystemClocks {
    fn monotonic(&self) -> u64 {
        u64::try_from(self.start.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    fn wall(&self) -> u64 {
        let wall = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .map_or(0, |since| {
                u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
            });
        let error = self.error.map_or(0, |error| error.load(Ordering::Relaxed));
        wall.saturating_add_signed(error)
    }
}

/// Whether a step of the wall clock is believed.
#[derive(Clone, Debug)]
pub(crate) enum Trust {
    /// No other host can be asked.
    Alone,
    /// Most hosts of the cluster must agree.
    Cluster(Arc<Confirmed>),
}

/// The wall clock with which most hosts agree.
#[derive(Debug, Default)]
pub(crate) struct Confirmed {
    is_any: AtomicBool,
    /// As [`Clocks::distance`].
    distance: AtomicU64,
}

impl Confirmed {
    /// The clock at this distance, as it was compared before a takeover.
    pub(crate) fn new(distance: u64) -> Self {
        let confirmed = Self::default();
        confirmed.set(Some(distance));
        confirmed
    }

    /// Notes the clock with which most hosts agree; `None` = not with this host's.
    pub(crate) fn set(&self, distance: Option<u64>) {
        if let Some(distance) = distance {
            self.distance.store(distance, Ordering::Relaxed);
        }
        self.is_any.store(distance.is_some(), Ordering::Release);
    }

    fn get(&self) -> Option<u64> {
        let is_any = self.is_any.load(Ordering::Acquire);
        is_any.then(|| self.distance.load(Ordering::Relaxed))
    }
}

impl Trust {
    /// Whether a wall clock at this distance is believed.
    fn is_in(&self, distance: u64) -> bool {
        match self {
            Self::Alone => true,
            Self::Cluster(confirmed) => confirmed
                .get()
                .is_some_and(|it| apart(it, distance) <= AGREE_NS),
        }
    }

    /// The distance at which a clock starts.
    fn first(&self, distance: u64) -> u64 {
        match self {
            Self::Alone => distance,
            Self::Cluster(confirmed) => confirmed.get().unwrap_or(distance),
        }
    }
}

/// The clock of the matcher.
#[derive(Debug)]
pub(crate) struct Clock<C> {
    clocks: C,
    trust: Trust,
    slew: Slew,
    sandbox: MovedClock,
}

impl<C: Clocks> Clock<C> {
    /// A clock that starts at wall time, or at `floor` (the last journalled time) if that is later; with `moves`, those of
    /// a sandbox.
    pub(crate) fn start(
        clocks: C,
        floor: TimeNs,
        trust: Trust,
        moves: Option<SandboxClock>,
    ) -> Self {
        let monotonic = clocks.monotonic();
        let distance = trust.first(clocks.wall().wrapping_sub(monotonic));
        let sandbox = MovedClock::start(moves, floor);
        Self {
            slew: Slew::start(monotonic, distance, sandbox.wall_floor().0),
            clocks,
            trust,
            sandbox,
        }
    }

    /// Follows a move of a sandbox's clock.
    pub(crate) fn follow(&mut self, moves: SandboxClock) {
        self.sandbox.moves = moves;
    }

    /// Reads the clocks: engine time and the monotonic reading it was computed from.
    pub(crate) fn read(&mut self) -> (TimeNs, u64) {
        let (monotonic, wall) = (self.clocks.monotonic(), self.clocks.wall());
        let (before, state) = (self.slew.time, self.slew.state);
        let time = self.slew.advance(monotonic, wall, &self.trust);
        if self.slew.state != state {
            self.report(before, wall);
        }
        (self.sandbox.read(time), monotonic)
    }

    fn report(&self, before: u64, wall: u64) {
        let (time, state) = (self.slew.time, self.slew.state);
        match state {
            ClockState::Right if time.saturating_sub(before) > ALARM_NS => tracing::error!(
                from_ns = before,
                to_ns = time,
                "engine time was behind the wall clock and jumped forward to it"
            ),
            ClockState::Right => {
                tracing::info!(engine_time_ns = time, "engine time follows wall time again")
            }
            _ => tracing::error!(
                engine_time_ns = time,
                wall_time_ns = wall,
                state = state.name(),
                "engine time differs from wall time by more than 2 s"
            ),
        }
    }

    /// Engine time minus the monotonic clock at the last reading, wrapping. Added to a later
    /// reading it gives engine time then, within the slew.
    pub(crate) const fn offset(&self) -> u64 {
        let time = self.sandbox.time(TimeNs(self.slew.time));
        time.0.wrapping_sub(self.slew.monotonic)
    }

    /// Nanoseconds by which moves of a sandbox's clock have put engine time ahead since the start; negative after it
    /// stood.
    pub(crate) const fn ahead(&self) -> i64 {
        let real = TimeNs(self.slew.time);
        let ahead = self.sandbox.time(real).0.wrapping_sub(real.0);
        ahead
            .wrapping_sub(self.sandbox.ahead_at_start)
            .cast_signed()
    }

    /// How many times the gap to wall time has exceeded 2 s.
    pub(crate) const fn alarms(&self) -> u64 {
        self.slew.alarms
    }

    /// What engine time does about the wall clock.
    pub(crate) const fn state(&self) -> ClockState {
        self.slew.state
    }

    /// The time to which engine time has jumped, until [`Self::note_jump`].
    pub(crate) fn jumped_to(&self) -> Option<TimeNs> {
        let time = self.sandbox.time(TimeNs(self.slew.time));
        self.slew.jumped.then_some(time)
    }

    /// The jump is known where time counts.
    pub(crate) const fn note_jump(&mut self) {
        self.slew.jumped = false;
    }
}

/// What the moves of a sandbox's clock make of wall time. Elsewhere they are none, and it is wall time.
#[derive(Debug)]
struct MovedClock {
    moves: SandboxClock,
    /// Engine time of the last reading, at first that of the journal's last command: it never goes back.
    last: TimeNs,
    /// As [`Clock::ahead`], of the moves before the start.
    ahead_at_start: u64,
}

impl MovedClock {
    fn start(moves: Option<SandboxClock>, floor: TimeNs) -> Self {
        let moves = moves.unwrap_or_default();
        Self {
            moves,
            last: floor,
            ahead_at_start: moves.engine.0.wrapping_sub(moves.wall.0),
        }
    }

    /// The wall time before which this clock does not start.
    const fn wall_floor(&self) -> TimeNs {
        match self.moves.frozen {
            true => TimeNs(0),
            false => self.moves.wall_time(self.last),
        }
    }

    const fn time(&self, wall: TimeNs) -> TimeNs {
        let time = self.moves.engine_time(wall);
        match time.0 < self.last.0 {
            true => self.last,
            false => time,
        }
    }

    const fn read(&mut self, wall: TimeNs) -> TimeNs {
        self.last = self.time(wall);
        self.last
    }
}

/// The rule, separate from the clocks.
#[derive(Debug)]
struct Slew {
    /// Monotonic reading at `time`.
    monotonic: u64,
    time: u64,
    /// Distance of the wall clock when it was last stepped.
    distance: u64,
    /// Monotonic reading at that step, until the clock stands.
    stepped_at: Option<u64>,
    state: ClockState,
    /// It has jumped, and nobody has noted it.
    jumped: bool,
    alarmed: bool,
    alarms: u64,
}

impl Slew {
    fn start(monotonic: u64, distance: u64, floor: u64) -> Self {
        let wall = monotonic.wrapping_add(distance);
        Self {
            monotonic,
            time: wall.max(floor),
            distance,
            stepped_at: None,
            state: ClockState::Right,
            jumped: false,
            alarmed: false,
            alarms: 0,
        }
    }

    fn advance(&mut self, monotonic: u64, wall: u64, trust: &Trust) -> TimeNs {
        let elapsed = monotonic.saturating_sub(self.monotonic);
        let unslewed = self.time.saturating_add(elapsed);
        let most = elapsed / SLEW;
        self.monotonic = self.monotonic.max(monotonic);
        self.note_step(wall.wrapping_sub(self.monotonic));
        self.state = self.judge(unslewed, wall, trust);
        let jumps = self.state == ClockState::Right && wall.saturating_sub(unslewed) > ALARM_NS;
        self.jumped |= jumps;
        self.time = match self.state {
            ClockState::Right if jumps => wall,
            ClockState::Right => wall.clamp(unslewed - most, unslewed.saturating_add(most)),
            ClockState::Stepped | ClockState::Unconfirmed | ClockState::FarBehind => unslewed,
            ClockState::Ahead => self.time,
        };
        let alarmed = wall.abs_diff(unslewed) > ALARM_NS;
        self.alarms += u64::from(alarmed && !self.alarmed);
        self.alarmed = alarmed;
        TimeNs(self.time)
    }

    /// Notices a step of the wall clock, and that it stands again.
    fn note_step(&mut self, distance: u64) {
        if apart(distance, self.distance) > STEP_NS {
            self.distance = distance;
            self.stepped_at = Some(self.monotonic);
        }
        let stands = |at: &mut u64| self.monotonic - *at >= STEADY_NS;
        self.stepped_at.take_if(stands);
    }

    /// What to do about the wall clock, when engine time without it would be `unslewed`.
    fn judge(&self, unslewed: u64, wall: u64, trust: &Trust) -> ClockState {
        let stands_still = self.state == ClockState::Ahead && wall < self.time;
        if wall.abs_diff(unslewed) <= ALARM_NS && !stands_still {
            ClockState::Right
        } else if self.stepped_at.is_some() {
            ClockState::Stepped
        } else if !trust.is_in(wall.wrapping_sub(self.monotonic)) {
            ClockState::Unconfirmed
        } else if wall < unslewed {
            ClockState::Ahead
        } else if wall - unslewed <= MAX_JUMP_NS {
            ClockState::Right
        } else {
            ClockState::FarBehind
        }
    }
}

/// How far two distances are apart.
const fn apart(one: u64, other: u64) -> u64 {
    one.wrapping_sub(other).cast_signed().unsigned_abs()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;
    const DAY: u64 = 86_400;

    /// Advances a clock that started at wall 1,000 s. Each row: seconds on the monotonic clock, wall seconds, engine ms
    /// expected, state.
    fn run(trust: &Trust, start: u64, floor: u64, rows: &[(u64, u64, u64, ClockState)]) -> Slew {
        let mut slew = Slew::start(0, start * SECOND, floor * SECOND);
        for (monotonic, wall, expected, state) in rows {
            let time = slew.advance(monotonic * SECOND, wall * SECOND, trust);
            assert_eq!(time.millis().0, *expected, "at {monotonic} s");
            assert_eq!(slew.state, *state, "at {monotonic} s");
        }
        slew
    }

    use ClockState::{Ahead, FarBehind, Right, Stepped, Unconfirmed};

    #[test]
    fn engine_time_follows_wall_time_within_a_hundredth() {
        let rows = [
            (10, 1_010, 1_010_000, Right),
            // A second ahead: slewed by 1% of the 10 s that passed.
            (20, 1_021, 1_020_100, Right),
            (30, 1_031, 1_030_200, Right),
            // A second behind.
            (40, 1_039, 1_040_100, Right),
            // The same reading again is the same time.
            (40, 1_039, 1_040_100, Right),
            // A monotonic clock that went back is ignored.
            (35, 1_039, 1_040_100, Right),
        ];
        assert_eq!(run(&Trust::Alone, 1_000, 0, &rows).alarms, 0);
    }

    #[test]
    fn a_step_forward_is_followed_when_the_clock_stands() {
        let rows = [
            (10, 1_310, 1_010_000, Stepped),
            (14, 1_314, 1_014_000, Stepped),
            // A second step begins the wait again; a step back to the right time ends it.
            (15, 5_000, 1_015_000, Stepped),
            (16, 1_016, 1_016_000, Right),
            (17, 1_317, 1_017_000, Stepped),
            (21, 1_321, 1_021_000, Stepped),
            (22, 1_322, 1_322_000, Right),
            (23, 1_323, 1_323_000, Right),
        ];
        assert_eq!(run(&Trust::Alone, 1_000, 0, &rows).alarms, 2);
    }

    #[test]
    fn a_step_of_more_than_a_start_accepts_is_an_operator_s() {
        let week = 7 * DAY;
        let rows = [
            (10, 1_011 + week, 1_010_000, Stepped),
            (20, 1_021 + week, 1_020_000, FarBehind),
            // Set right, or less wrong.
            (30, 1_030, 1_030_000, Right),
            (40, 1_040 + week, 1_040_000, Stepped),
            (45, 1_045 + week, (1_045 + week) * 1_000, Right),
        ];
        run(&Trust::Alone, 1_000, 0, &rows);
    }

    #[test]
    fn engine_time_that_is_ahead_stands_still_until_wall_time_reaches_it() {
        let rows = [
            (10, 710, 1_010_000, Stepped),
            (14, 714, 1_014_000, Stepped),
            (15, 715, 1_014_000, Ahead),
            (200, 900, 1_014_000, Ahead),
            // It neither slews nor runs in the last seconds.
            (313, 1_013, 1_014_000, Ahead),
        ];
        let mut slew = run(&Trust::Alone, 1_000, 0, &rows);
        assert_eq!(
            slew.advance(314 * SECOND, 1_014 * SECOND, &Trust::Alone),
            TimeNs(1_014_990_000_000)
        );
        assert_eq!(slew.state, Right);
    }

    #[test]
    fn a_start_behind_the_journal_stands_still_at_its_last_time() {
        let rows = [(0, 1_000, 1_480_000, Ahead), (400, 1_400, 1_480_000, Ahead)];
        run(&Trust::Alone, 1_000, 1_480, &rows);
    }

    #[test]
    fn a_restart_never_goes_back_behind_the_journal() {
        let mut slew = Slew::start(0, 1_000 * SECOND, 1_001 * SECOND);
        let alone = &Trust::Alone;
        assert_eq!(
            slew.advance(0, 1_000 * SECOND, alone),
            TimeNs(1_001 * SECOND)
        );
        // Engine time runs slower until wall time has caught up.
        assert_eq!(
            slew.advance(100 * SECOND, 1_100 * SECOND, alone),
            TimeNs(1_100 * SECOND)
        );
    }

    #[test]
    fn in_a_cluster_a_step_counts_only_if_other_hosts_agree() {
        let confirmed = Arc::new(Confirmed::new(1_000 * SECOND));
        let trust = Trust::Cluster(Arc::clone(&confirmed));
        // Forward and back, by a day: the monotonic clock goes on.
        let rows = [
            (10, 1_010 + DAY, 1_010_000, Stepped),
            (20, 1_020 + DAY, 1_020_000, Unconfirmed),
            (30, 500, 1_030_000, Stepped),
            (40, 510, 1_040_000, Unconfirmed),
            (50, 1_050, 1_050_000, Right),
            (60, 1_360, 1_060_000, Stepped),
            (70, 1_370, 1_070_000, Unconfirmed),
        ];
        let mut slew = run(&trust, 1_000, 0, &rows);
        let mut at = |monotonic: u64, wall: u64| {
            let time = slew.advance(monotonic * SECOND, wall * SECOND, &trust);
            (time.millis().0, slew.state)
        };
        confirmed.set(Some(1_300 * SECOND));
        assert_eq!(at(71, 1_371), (1_371_000, Right));
        // Nobody agrees any more, or with another clock.
        confirmed.set(None);
        assert_eq!(at(72, 900), (1_372_000, Stepped));
        assert_eq!(at(82, 910), (1_382_000, Unconfirmed));
        confirmed.set(Some(1_000 * SECOND));
        assert_eq!(at(83, 911), (1_383_000, Unconfirmed));
        confirmed.set(Some(828 * SECOND));
        assert_eq!(at(84, 912), (1_383_000, Ahead));
        assert!(slew.jumped);
    }

    #[test]
    fn a_takeover_starts_with_the_clock_that_was_compared() {
        #[derive(Clone, Debug)]
        struct Stepped;
        impl Clocks for Stepped {
            fn monotonic(&self) -> u64 {
                5 * SECOND
            }
            fn wall(&self) -> u64 {
                (DAY + 1_005) * SECOND
            }
        }
        let trust = Trust::Cluster(Arc::new(Confirmed::new(1_000 * SECOND)));
        let mut clock = Clock::start(Stepped, TimeNs(0), trust, None);
        assert_eq!(clock.read(), (TimeNs(1_005 * SECOND), 5 * SECOND));
        assert_eq!(clock.state(), ClockState::Stepped);
    }
}
