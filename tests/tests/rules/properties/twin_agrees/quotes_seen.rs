//! What quotes came to in a run: fails if sets of quotes are no longer various.

use foretell_model::quote::QuotesResult;
use foretell_model::state::{self, StateRecord};
use foretell_model::{CloseReason, CommandOutcome, Event, RejectionReason, Verdict};

use crate::properties::twin_agrees::coverage::{Counts, add, count, missing};

/// Numbers of cases and of refusals.
#[derive(Clone, Debug, Default)]
pub(crate) struct QuotesSeen {
    cases: Counts<Case>,
    /// Quotes refused alone.
    refused: Counts<RejectionReason>,
}

/// What happened to quotes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Case {
    /// Applied sets, and those without quotes.
    Set,
    EmptySet,
    /// Quotes that a set placed, kept, reduced and ended.
    Placed,
    Kept,
    Reduced,
    Ended,
    /// A head with a tail, after a set.
    Tail,
    /// Tokens and sides that a frame filled.
    Filled,
    /// Groups that a fill froze; with no live quote left, and with fills before the sweep ended.
    Frozen,
    FrozenEmpty,
    FilledFrozen,
    /// A frozen group with other limits, and one whose limits were set so that it takes quotes.
    StaysFrozen,
    Limited,
    /// A window that counts, and net shares both ways.
    Window,
    NetBothWays,
    Renewed,
    /// Groups whose lease ended, and quotes that a released order met after it.
    LeaseEnded,
    LeaseMet,
    /// Quotes of a revoked key.
    KeyRevoked,
}

const ALL: &[Case] = &[
    Case::Set,
    Case::EmptySet,
    Case::Placed,
    Case::Kept,
    Case::Reduced,
    Case::Ended,
    Case::Tail,
    Case::Filled,
    Case::Frozen,
    Case::FrozenEmpty,
    Case::FilledFrozen,
    Case::StaysFrozen,
    Case::Limited,
    Case::Window,
    Case::NetBothWays,
    Case::Renewed,
    Case::LeaseEnded,
    Case::LeaseMet,
    Case::KeyRevoked,
];

impl QuotesSeen {
    /// Records a result and the state after it.
    pub(crate) fn record(&mut self, verdict: &Verdict, events: &[Event], state: &[StateRecord]) {
        if let Verdict::Applied(CommandOutcome::Quotes(result)) = verdict {
            self.record_set(result, state);
        }
        let released = events
            .iter()
            .any(|it| matches!(it, Event::OrderReleased(_)));
        let mut frozen = None;
        for event in events {
            match event {
                Event::QuotesFrozen(freeze) => {
                    self.see(Case::Frozen);
                    frozen = Some((freeze.account, freeze.group));
                }
                Event::Fill(fill) if frozen.is_some_and(|(account, _)| account == fill.maker) => {
                    self.see(Case::FilledFrozen);
                }
                Event::QuoteLimitsSet(set) if set.frozen => self.see(Case::StaysFrozen),
                Event::QuoteLimitsSet(_) => self.see(Case::Limited),
                Event::QuotesRenewed(_) => self.see(Case::Renewed),
                Event::OrderClosed(closed) => match closed.reason {
                    CloseReason::LeaseEnded if released => self.see(Case::LeaseMet),
                    CloseReason::LeaseEnded => self.see(Case::LeaseEnded),
                    CloseReason::KeyRevoked => self.see(Case::KeyRevoked),
                    _ => {}
                },
                _ => {}
            }
        }
        if frozen.is_some() && events.last() != Some(&Event::WorkPending) {
            self.see(Case::FrozenEmpty);
        }
        if !events.is_empty() {
            self.record_windows(state);
        }
    }

    fn record_set(&mut self, result: &QuotesResult, state: &[StateRecord]) {
        self.see(Case::Set);
        let placed = result.placed.iter().count();
        let refusals: Vec<_> = result.refusals().collect();
        if placed + refusals.len() + usize::from(result.kept) + usize::from(result.reduced) == 0 {
            self.see(Case::EmptySet);
        }
        for (case, seen) in [
            (Case::Placed, placed),
            (Case::Kept, result.kept.into()),
            (Case::Reduced, result.reduced.into()),
            (Case::Ended, result.ended.into()),
        ] {
            (0..seen).for_each(|_| self.see(case));
        }
        for (_, reason) in refusals {
            count(&mut self.refused, reason);
        }
        let orders = state.iter().filter_map(|record| match record {
            StateRecord::Order(order) if order.group.is_some() => Some(order),
            _ => None,
        });
        let mut pieces: Counts<_> = Counts::new();
        for order in orders {
            let token = (order.market, order.outcome, order.side, order.price);
            count(&mut pieces, (order.account, order.group, token));
        }
        let tails = pieces.values().filter(|pieces| **pieces == 2);
        (0..tails.count()).for_each(|_| self.see(Case::Tail));
    }

    fn record_windows(&mut self, state: &[StateRecord]) {
        let Some(StateRecord::System(system)) = state.first() else {
            return;
        };
        for record in state {
            match record {
                StateRecord::QuoteFill(fill) if fill.sequence == system.sequence => {
                    self.see(Case::Filled);
                }
                StateRecord::QuoteGroup(state::QuoteGroup { window_from, .. })
                    if window_from.0 > 0 =>
                {
                    self.see(Case::Window);
                }
                StateRecord::QuoteNet(state::QuoteNet {
                    lots: [one, other], ..
                }) if one.0 > 0 && other.0 > 0 => {
                    self.see(Case::NetBothWays);
                }
                _ => {}
            }
        }
    }

    fn see(&mut self, case: Case) {
        count(&mut self.cases, case);
    }

    pub(crate) fn merge(&mut self, other: Self) {
        add(&mut self.cases, other.cases);
        add(&mut self.refused, other.refused);
    }

    /// Asserts that every case occurred.
    pub(crate) fn assert_wide(&self) {
        let missing = missing(ALL.iter().copied(), &self.cases, &[]);
        assert!(
            missing.is_empty(),
            "cases of quotes never seen: {missing:?}"
        );
        let reasons = QuotesResult::REASONS.iter().copied();
        let missing = self::missing(reasons, &self.refused, &[]);
        assert!(missing.is_empty(), "quotes never refused: {missing:?}");
    }
}
