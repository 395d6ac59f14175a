//! Coverage of a run: fails if the generator becomes narrow.

use std::collections::BTreeMap;

use foretell_model::event::OrderClosed;
use foretell_model::state::StateRecord;
use foretell_model::{
    CloseReason, Command, CommandKind, CommandOutcome, Event, EventKind, MatchKind, OrderResult,
    OrderStatus, Payout, Rejection, RejectionReason, Verdict,
};

use crate::properties::twin_agrees::quotes_seen::QuotesSeen;

/// Number of occurrences of each.
pub(crate) type Counts<T> = BTreeMap<T, u64>;

/// Minimum number of occurrences in a whole run.
pub(crate) const ENOUGH: u64 = 5;

/// Kinds of all responses and events.
#[derive(Clone, Debug, Default)]
pub(crate) struct Coverage {
    commands_applied: Counts<u8>,
    commands_repeated: Counts<u8>,
    events: Counts<u8>,
    refusals: Counts<RejectionReason>,
    /// By presence of their details.
    kills: Counts<(RejectionReason, bool)>,
    /// The same for killed orders that were repeated below the marketable minimum.
    kills_again: Counts<bool>,
    closes: Counts<CloseReason>,
    kinds: Counts<MatchKind>,
    /// What fell due: the first event of each time command.
    due: Counts<u8>,
    /// Payouts of the outside question that won.
    outside_won: u64,
    quotes: QuotesSeen,
}

/// Every pinned number of a command that can be `Repeated`.
const REPEATABLE: &[u8] = &[
    1, 3, 4, 6, 7, 8, 10, 11, 12, 13, 15, 16, 18, 19, 20, 21, 22, 30, 31, 37, 39, 40, 50, 51, 52,
    54, 2, 41, 42, 46, 48, 59, 60, 61,
];

/// The first events of what time does: closed, released, started rebates, opened or closed a market,
/// resolved, cleared, disputed by nobody.
const DUE: &[u8] = &[4, 7, 26, 33, 34, 40, 42];
/// Opening a market may freeze its event group first.
const EVENT_FROZEN: u8 = 31;

/// The newest rules have no successor.
const SWITCH_RULES: u8 = 52;
const RULES_SWITCHED: u8 = 52;

impl Coverage {
    /// Records a command, its result and the state after it.
    pub(crate) fn record(
        &mut self,
        command: &Command,
        verdict: &Verdict,
        events: &[Event],
        state: &[StateRecord],
    ) {
        self.quotes.record(verdict, events, state);
        match verdict {
            Verdict::Applied(outcome) => {
                count(&mut self.commands_applied, command.code());
                if let CommandOutcome::Order(OrderResult {
                    status: OrderStatus::Killed(refusal),
                    ..
                }) = outcome
                {
                    count(&mut self.kills, (refusal.reason, has_details(refusal)));
                }
            }
            Verdict::Repeated { .. } => {
                count(&mut self.commands_repeated, command.code());
            }
            Verdict::Rejected(refusal) => {
                count(&mut self.refusals, refusal.reason);
                // An order that may rest is not rejected with this reason before the book has
                // killed it.
                if refusal.reason == RejectionReason::MarketableBelowMinimum
                    && matches!(command, Command::PlaceOrder(placed) if placed.order_type.may_rest())
                {
                    count(&mut self.kills_again, has_details(refusal));
                }
            }
        }
        if *command == Command::AdvanceTime {
            let mut codes = events.iter().map(Event::code);
            if let Some(first) = codes.find(|code| *code != EVENT_FROZEN) {
                count(&mut self.due, first);
            }
        }
        for event in events {
            count(&mut self.events, event.code());
            match event {
                Event::OrderClosed(OrderClosed { reason, .. }) => {
                    count(&mut self.closes, *reason);
                }
                Event::Fill(fill) => {
                    count(&mut self.kinds, fill.kind);
                }
                Event::MarketResolved(_) => self.outside_won += u64::from(pays_outside(command)),
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
        add(&mut self.kills_again, other.kills_again);
        add(&mut self.closes, other.closes);
        add(&mut self.kinds, other.kinds);
        add(&mut self.due, other.due);
        self.outside_won += other.outside_won;
        self.quotes.merge(other.quotes);
    }

    /// Asserts that all cases reachable by random commands occurred.
    pub(crate) fn assert_wide(&self) {
        let missing = missing(
            EventKind::ALL.iter().map(|kind| kind.code()),
            &self.events,
            &[RULES_SWITCHED],
        );
        assert!(missing.is_empty(), "events never seen: {missing:?}");

        let all = CommandKind::ALL.iter().map(|kind| kind.code());
        let missing = self::missing(all, &self.commands_applied, &[SWITCH_RULES]);
        assert!(missing.is_empty(), "commands never applied: {missing:?}");
        let repeatable = REPEATABLE.iter().copied();
        let missing = self::missing(repeatable, &self.commands_repeated, &[]);
        assert!(missing.is_empty(), "commands never repeated: {missing:?}");
        let all = RejectionReason::ALL.iter().copied();
        let missing = self::missing(
            all,
            &self.refusals,
            &[
                // A closed market's book empties in work that must end first, so `WorkPending`
                // answers before this can.
                RejectionReason::BookNotEmpty,
                // The matcher's answer.
                RejectionReason::NotAllCanceled,
                // A quote alone is refused with it, not a command.
                RejectionReason::FilledSince,
                // Beyond what one sequence adds.
                RejectionReason::ListFull,
                RejectionReason::TooManyOperators,
            ],
        );
        assert!(missing.is_empty(), "refusals never seen: {missing:?}");
        self.quotes.assert_wide();

        use RejectionReason::{CrossesBook, FakNoMatch, FokNotFilled, MarketableBelowMinimum};
        let kills = [
            (CrossesBook, false),
            (MarketableBelowMinimum, true),
            (FokNotFilled, false),
            (FakNoMatch, false),
        ];
        let missing = self::missing(kills.into_iter(), &self.kills, &[]);
        assert!(missing.is_empty(), "kills never seen: {missing:?}");
        let missing = self::missing([true].into_iter(), &self.kills_again, &[]);
        assert!(missing.is_empty(), "kills never seen again: {missing:?}");

        // Needs the bound on touched orders, too.
        let closes = CloseReason::ALL.iter().copied();
        let missing = self::missing(closes, &self.closes, &[CloseReason::TooManyFills]);
        assert!(missing.is_empty(), "close reasons never seen: {missing:?}");

        // Some take many commands to come about, so once is enough.
        let mut missing = DUE.iter().filter(|code| !self.due.contains_key(code));
        let missing = missing.next();
        assert_eq!(missing, None, "never first due");

        assert!(self.outside_won >= ENOUGH, "outside seldom wins");
        let missing = self::missing(MatchKind::ALL.iter().copied(), &self.kinds, &[]);
        assert!(missing.is_empty(), "kinds of match never seen: {missing:?}");
    }
}

/// A resolution in one step that pays none of the listed questions.
fn pays_outside(command: &Command) -> bool {
    matches!(command, Command::ResolveMarket(resolved) if resolved.payout == Payout::Outside)
}

fn has_details(refusal: &Rejection) -> bool {
    refusal.details != [0; 2]
}

pub(crate) fn missing<T: Ord + Copy>(
    all: impl Iterator<Item = T>,
    seen: &Counts<T>,
    excepted: &[T],
) -> Vec<T> {
    all.filter(|one| seen.get(one).is_none_or(|count| *count < ENOUGH))
        .filter(|one| !excepted.contains(one))
        .collect()
}

pub(crate) fn count<T: Ord>(counts: &mut Counts<T>, seen: T) {
    *counts.entry(seen).or_default() += 1;
}

pub(crate) fn add<T: Ord>(counts: &mut Counts<T>, others: Counts<T>) {
    for (seen, more) in others {
        *counts.entry(seen).or_default() += more;
    }
}
