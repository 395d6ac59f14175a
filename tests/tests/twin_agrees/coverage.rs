//! What a run has seen, so that the generator cannot go narrow without anybody noticing.

use std::collections::BTreeMap;

use foretell_model::{
    CloseReason, Command, CommandOutcome, Event, MatchKind, OrderResult, OrderStatus,
    RefusalReason, Verdict,
};

/// How often each was seen.
type Counts<T> = BTreeMap<T, u64>;

/// Fewer sightings than this in a whole run are as good as none.
const ENOUGH: u64 = 5;

/// Kinds of everything that was answered and caused.
#[derive(Clone, Debug, Default)]
pub(crate) struct Coverage {
    commands_applied: Counts<u16>,
    commands_repeated: Counts<u16>,
    events: Counts<u8>,
    refusals: Counts<RefusalReason>,
    kills: Counts<RefusalReason>,
    closes: Counts<CloseReason>,
    kinds: Counts<MatchKind>,
}

/// Every pinned number of an event.
const EVENTS: &[u8] = &[
    1, 2, 3, 4, 5, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 30, 31, 32, 33, 34, 35,
    36, 37, 38, 50, 51, 52, 53, 54, 55,
];

/// Every pinned number of a command.
const COMMANDS: &[u16] = &[
    1, 2, 3, 4, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 30, 31, 32, 33, 34, 35, 36, 37,
    38, 39, 40, 50, 51, 52, 53, 54, 55, 56,
];

/// Every pinned number of a command that can be `Repeated`.
const REPEATABLE: &[u16] = &[
    1, 3, 4, 10, 11, 12, 13, 15, 16, 18, 19, 20, 21, 22, 30, 31, 37, 39, 40, 50, 51, 52, 54,
];

/// There is one rules number so far, so rules are never switched.
const RULES_SWITCHED: u8 = 52;
const SWITCH_RULES: u16 = 52;
/// Pending work needs more than 4,096 resting orders; `beyond_the_bound` has them.
const WORK_PENDING: u8 = 55;
const CONTINUE: u16 = 56;

impl Coverage {
    pub(crate) fn record(&mut self, command: &Command, verdict: &Verdict, events: &[Event]) {
        match verdict {
            Verdict::Applied(outcome) => {
                count(&mut self.commands_applied, command.code());
                if let CommandOutcome::Order(OrderResult {
                    status: OrderStatus::Killed(reason),
                    ..
                }) = outcome
                {
                    count(&mut self.kills, *reason);
                }
            }
            Verdict::Repeated { .. } => {
                count(&mut self.commands_repeated, command.code());
            }
            Verdict::Refused(refusal) => {
                count(&mut self.refusals, refusal.reason);
            }
        }
        for event in events {
            count(&mut self.events, event.code());
            match event {
                Event::OrderClosed { reason, .. } => {
                    count(&mut self.closes, *reason);
                }
                Event::Fill(fill) => {
                    count(&mut self.kinds, fill.kind);
                }
                _ => {}
            }
        }
    }

    pub(crate) fn merge(&mut self, other: Self) {
        add(&mut self.commands_applied, other.commands_applied);
        add(&mut self.commands_repeated, other.commands_repeated);
        add(&mut self.events, other.events);
        add(&mut self.refusals, other.refusals);
        add(&mut self.kills, other.kills);
        add(&mut self.closes, other.closes);
        add(&mut self.kinds, other.kinds);
    }

    /// Asserts that everything that random commands can reach was reached.
    pub(crate) fn assert_wide(&self) {
        let missing = missing(
            EVENTS.iter().copied(),
            &self.events,
            &[RULES_SWITCHED, WORK_PENDING],
        );
        assert!(missing.is_empty(), "events never seen: {missing:?}");

        let missing = missing_commands(&self.commands_applied, &[SWITCH_RULES, CONTINUE]);
        assert!(missing.is_empty(), "commands never applied: {missing:?}");
        let repeatable = REPEATABLE.iter().copied();
        let missing = self::missing(repeatable, &self.commands_repeated, &[]);
        assert!(missing.is_empty(), "commands never repeated: {missing:?}");

        let all = RefusalReason::ALL.iter().copied();
        let missing = self::missing(
            all,
            &self.refusals,
            &[
                // Needs pending work.
                RefusalReason::WorkPending,
                // A closed market's book empties in work that must end first, so `WorkPending`
                // answers before this can.
                RefusalReason::BookNotEmpty,
                // Takes thousands of actions; `beyond_the_bound` gives them.
                RefusalReason::TooManyReferences,
            ],
        );
        assert!(missing.is_empty(), "refusals never seen: {missing:?}");

        use RefusalReason::{CrossesBook, FakNoMatch, FokNotFilled, MarketableBelowMinimum};
        let kills = [
            CrossesBook,
            MarketableBelowMinimum,
            FokNotFilled,
            FakNoMatch,
        ];
        let missing = self::missing(kills.into_iter(), &self.kills, &[]);
        assert!(missing.is_empty(), "kills never seen: {missing:?}");

        // The bound on touched orders, again.
        let closes = CloseReason::ALL.iter().copied();
        let missing = self::missing(closes, &self.closes, &[CloseReason::TooManyFills]);
        assert!(missing.is_empty(), "close reasons never seen: {missing:?}");

        let missing = self::missing(MatchKind::ALL.iter().copied(), &self.kinds, &[]);
        assert!(missing.is_empty(), "kinds of match never seen: {missing:?}");
    }
}

fn missing_commands(seen: &Counts<u16>, excepted: &[u16]) -> Vec<u16> {
    missing(COMMANDS.iter().copied(), seen, excepted)
}

fn missing<T: Ord + Copy>(
    all: impl Iterator<Item = T>,
    seen: &Counts<T>,
    excepted: &[T],
) -> Vec<T> {
    all.filter(|one| seen.get(one).is_none_or(|count| *count < ENOUGH))
        .filter(|one| !excepted.contains(one))
        .collect()
}

fn count<T: Ord>(counts: &mut Counts<T>, seen: T) {
    *counts.entry(seen).or_default() += 1;
}

fn add<T: Ord>(counts: &mut Counts<T>, others: Counts<T>) {
    for (seen, more) in others {
        *counts.entry(seen).or_default() += more;
    }
}
