//! Volume, profit and users by day, compared with a list of all fills and profits.

use std::collections::BTreeSet;

use crate::scene;

use foretell_model::{AccountNumber, Event, MatchKind};
use foretell_view::{ACCOUNT_DAYS, BUILDER_DAYS, BuilderStanding, Day, Standing, View};
use proptest::prelude::*;
use scene::*;

const DAY_SECONDS: u64 = 86_400;

/// A trade after some days.
#[derive(Clone, Copy, Debug)]
struct Turn {
    days: u64,
    lots: u64,
    /// Carol sells Yes that she split at this price; `None`: Alice and Bob mint at 0.60.
    sold_at: Option<u16>,
    /// Builders of taker and maker; 0 is none.
    builders: [u8; 2],
}

fn turn() -> impl Strategy<Value = Turn> {
    let days = prop_oneof![4 => Just(0_u64), 4 => 1..4_u64, 1 => 20..120_u64];
    let sold_at = prop::option::of(1..10_000_u16);
    (days, 1..50_u64, sold_at, [0..4_u8, 0..4_u8]).prop_map(|(days, lots, sold_at, builders)| {
        Turn {
            days,
            lots,
            sold_at,
            builders,
        }
    })
}

/// One side of a trade, or a profit.
struct Entry {
    account: AccountNumber,
    day: u32,
    value: u64,
    lots: u64,
    profit: i64,
    builder: u8,
}

/// The view, and all entries.
struct Twin {
    scene: Scene,
    entries: Vec<Entry>,
    day: u64,
}

impl Twin {
    fn play(turns: &[Turn]) -> Self {
        let mut twin = Self {
            scene: Scene::trading(),
            entries: Vec::new(),
            day: 0,
        };
        for turn in turns {
            if turn.days > 0 {
                twin.day += turn.days;
                twin.scene.wait_until(twin.day * DAY_SECONDS);
            }
            twin.take(*turn);
        }
        twin
    }

    fn take(&mut self, turn: Turn) {
        let Turn { lots, builders, .. } = turn;
        let scene = &mut self.scene;
        let (maker, kind, yes) = match turn.sold_at {
            Some(price) => {
                scene.split(CAROL, MARKET, lots);
                (
                    limit(CAROL, YES, SELL, lots, price),
                    MatchKind::Complementary,
                    price,
                )
            }
            None => (limit(BOB, NO, BUY, lots, 4_000), MatchKind::Mint, 6_000),
        };
        let own = if turn.sold_at.is_some() { yes } else { 4_000 };
        let evidence = builders.map(evidence_of_builder);
        let rested = rested(lots, own);
        let order = scene.place_with(maker, &[rested], &evidence[1]);
        let met = fill((order, maker.account), kind, yes, lots, 0);
        let events = [Event::Fill(met), Event::OrderCompleted];
        scene.place_with(limit(ALICE, YES, BUY, lots, yes), &events, &evidence[0]);
        let profit = turn.sold_at.map_or(0, |price| i64::from(price) - 5_000);
        for (account, price, profit, builder) in [
            (ALICE, yes, 0, builders[0]),
            (maker.account, own, profit, builders[1]),
        ] {
            self.entries.push(Entry {
                account,
                day: u32::try_from(self.day).unwrap(),
                value: lots * u64::from(price),
                lots,
                profit: i64::try_from(lots).unwrap() * profit,
                builder,
            });
        }
    }

    fn since(&self, first: u32) -> impl Iterator<Item = &Entry> {
        self.entries.iter().filter(move |entry| entry.day >= first)
    }

    fn of_account(&self, account: AccountNumber, first: u32) -> Standing {
        let entries = self.since(first).filter(|entry| entry.account == account);
        entries.fold(Standing::default(), |sums, entry| Standing {
            value: sums.value + entry.value,
            lots: sums.lots + entry.lots,
            profit: sums.profit + entry.profit,
        })
    }

    fn of_builder(&self, builder: u8, days: impl Fn(u32) -> bool) -> BuilderStanding {
        let entries = self.entries.iter();
        let entries = entries.filter(|entry| entry.builder == builder && days(entry.day));
        let (mut value, mut lots, mut users) = (0, 0, BTreeSet::new());
        for entry in entries {
            value += entry.value;
            lots += entry.lots;
            users.insert(entry.account);
        }
        let users = u32::try_from(users.len()).unwrap();
        BuilderStanding { value, lots, users }
    }

    fn compare(&self, view: &View) {
        let today = Day(u32::try_from(self.day).unwrap());
        for account in [ALICE, BOB, CAROL] {
            let standings = view.standings();
            assert_eq!(standings.of(account, None), self.of_account(account, 0));
            for days in 1..=ACCOUNT_DAYS {
                let first = today.first_of_last(days);
                let found = standings.of(account, Some(first));
                assert_eq!(found, self.of_account(account, first.0), "{days} days");
            }
            let later = standings.of(account, Some(Day(today.0 + 1)));
            assert_eq!(later, Standing::default());
        }
        let all: Vec<_> = view.standings().from(BOB, 7, None).collect();
        let expected = [BOB, CAROL].map(|account| (account, self.of_account(account, 0)));
        assert_eq!(all, expected);
        for index in 0..view.builders().count() {
            let code = view.builders().get(index).unwrap()[0];
            let standings = view.builder_standings();
            assert_eq!(standings.of(index, None), self.of_builder(code, |_| true));
            for days in 1..=BUILDER_DAYS {
                let first = today.first_of_last(days);
                let expected = self.of_builder(code, |day| day >= first.0);
                assert_eq!(standings.of(index, Some(first)), expected, "{days} days");
            }
            let kept = today.first_of_last(BUILDER_DAYS);
            for (day, found) in standings.days(index).filter(|(day, _)| *day >= kept) {
                assert_eq!(found, self.of_builder(code, |other| other == day.0));
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn sums_are_those_of_all_fills(turns in prop::collection::vec(turn(), 1..60)) {
        let twin = Twin::play(&turns);
        twin.compare(&twin.scene.view);
        let snapshot = twin.scene.view.snapshot().unwrap();
        let section = |name: &str| {
            let found = snapshot.sections.iter().find(|(known, _)| *known == name);
            found.map(|(_, bytes)| &**bytes)
        };
        let view = View::from_snapshot(section, |_| None).unwrap();
        twin.compare(&view);
        prop_assert_eq!(view.snapshot().unwrap().sections, snapshot.sections);
    }
}
