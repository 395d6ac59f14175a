//! Traded volume and active users of builders, in total and by UTC day.

use std::collections::BTreeMap;

use foretell_model::codec::stored;
use foretell_model::{AccountNumber, Lots, Micros, TimeNs};

use crate::error::Impossible;
use crate::rows::builders::BuilderSlot;
use crate::rows::standings::Day;
use crate::storage::by_number::ByNumber;

/// Days of a builder that are kept, the newest included.
pub const BUILDER_DAYS: u32 = 92;

stored! {
    /// Sums of a builder over some time. They saturate; no balance depends on them.
    #[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
    pub struct BuilderStanding {
        /// Value of the fills of orders with the builder's code, in micros at their own prices.
        pub value: u64,
        /// Lots of these fills.
        pub lots: u64,
        /// Number of accounts with such a fill.
        pub users: u32,
    }
}

impl BuilderStanding {
    const fn add(&mut self, (lots, value): (Lots, Micros), is_new_user: bool) {
        self.value = self.value.saturating_add(value.0);
        self.lots = self.lots.saturating_add(lots.0);
        self.users = self.users.saturating_add(is_new_user as u32);
    }
}

stored! {
    /// The sums of one builder.
    #[derive(Clone, Default, PartialEq, Eq, Debug)]
    struct BuilderHistory {
        total: BuilderStanding,
        /// The kept days with a fill, ascending.
        days: Vec<(Day, BuilderStanding)>,
        /// Users by the day of their last fill, for the kept days. The users of a window that ends now
        /// are those whose last fill is in it.
        last_seen: BTreeMap<Day, u32>,
    }
}

impl BuilderHistory {
    /// Adds a fill of a user whose last fill was on day `seen`.
    fn add(&mut self, day: Day, seen: Option<Day>, fill: (Lots, Micros)) {
        if self.days.last().is_none_or(|(last, _)| *last != day) {
            let first = day.first_of_last(BUILDER_DAYS);
            self.days.retain(|(day, _)| *day >= first);
            self.last_seen = self.last_seen.split_off(&first);
            self.days.push((day, BuilderStanding::default()));
        }
        let is_new_today = seen != Some(day);
        if is_new_today {
            let before = seen.and_then(|seen| self.last_seen.get_mut(&seen));
            if let Some(users) = before {
                *users = users.saturating_sub(1);
            }
            *self.last_seen.entry(day).or_default() += 1;
        }
        self.total.add(fill, seen.is_none());
        if let Some((_, of_day)) = self.days.last_mut() {
            of_day.add(fill, is_new_today);
        }
    }

    fn since(&self, first: Option<Day>) -> BuilderStanding {
        let Some(first) = first else {
            return self.total;
        };
        let mut sums = BuilderStanding::default();
        let days = self.days.iter().rev();
        for (_, of_day) in days.take_while(|(day, _)| *day >= first) {
            sums.value = sums.value.saturating_add(of_day.value);
            sums.lots = sums.lots.saturating_add(of_day.lots);
        }
        sums.users = self.last_seen.range(first..).map(|(_, users)| users).sum();
        sums
    }
}

stored! {
    /// Volume and users of all builders.
    #[derive(Debug, Default)]
    pub struct BuilderStandings {
        /// In the order of the builders.
        of_builder: Vec<BuilderHistory>,
        /// The day of each account's last fill for each builder.
        seen: ByNumber<AccountNumber, BTreeMap<BuilderSlot, Day>>,
    }
}

impl BuilderStandings {
    /// The sums of a builder, counted from 0, from a day on, which must be one of the last
    /// [`BUILDER_DAYS`]; `None` = ever.
    #[must_use]
    pub fn of(&self, builder: usize, first: Option<Day>) -> BuilderStanding {
        let history = self.of_builder.get(builder);
        history.map_or_else(BuilderStanding::default, |history| history.since(first))
    }

    /// The kept days of a builder with a fill, ascending.
    pub fn days(&self, builder: usize) -> impl Iterator<Item = (Day, BuilderStanding)> {
        let days = self.of_builder.get(builder).map(|history| &*history.days);
        days.unwrap_or_default().iter().copied()
    }

    /// Number of accounts.
    pub(crate) fn accounts(&self) -> usize {
        self.seen.len()
    }

    /// Number of builders with a fill, and of those with lower numbers.
    pub(crate) fn builders(&self) -> usize {
        self.of_builder.len()
    }

    pub(crate) fn open_account(&mut self, account: AccountNumber) -> Result<(), Impossible> {
        self.seen.push(account, BTreeMap::new())
    }

    /// Adds one side of a trade.
    pub(crate) fn trade(
        &mut self,
        builder: Option<BuilderSlot>,
        account: AccountNumber,
        now: TimeNs,
        fill: (Lots, Micros),
    ) -> Result<(), Impossible> {
        let Some(builder) = builder else {
            return Ok(());
        };
        let day = Day::of(now);
        let seen = self.seen.get_mut(account);
        let seen = seen.ok_or(Impossible::UnknownAccount(account))?;
        let seen = seen.insert(builder, day);
        if self.of_builder.len() < builder.number() {
            let new = BuilderHistory::default;
            self.of_builder.resize_with(builder.number(), new);
        }
        if let Some(history) = self.of_builder.get_mut(builder.number() - 1) {
            history.add(day, seen, fill);
        }
        Ok(())
    }
}
