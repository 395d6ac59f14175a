//! Traded volume and realized profit of accounts, in total and by UTC day.

use core::fmt;

use foretell_model::codec::{newtypes, stored};
use foretell_model::{AccountNumber, Lots, Micros, TimeNs};

use crate::error::Impossible;
use crate::storage::by_number::ByNumber;

/// Days of an account that are kept, the newest included.
pub const ACCOUNT_DAYS: u32 = 31;

/// A UTC day, in days since 1970-01-01.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Day(pub u32);

newtypes! { Day: u32; }

impl Day {
    /// The day of a time.
    #[must_use]
    pub const fn of(time: TimeNs) -> Self {
        const DAY: u64 = 86_400 * 1_000_000_000;
        // 64 bits of nanoseconds are fewer than 2^18 days.
        Self((time.0 / DAY) as u32)
    }

    /// The first day of the `days` days that end with this one.
    #[must_use]
    pub const fn first_of_last(self, days: u32) -> Self {
        Self(self.0.saturating_sub(days.saturating_sub(1)))
    }
}

impl fmt::Display for Day {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "day {}", self.0)
    }
}

stored! {
    /// Sums over some time. They saturate at 64 bits; no balance depends on them.
    #[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
    pub struct Standing {
        /// Value of the account's fills, as taker or maker, in micros at the account's own prices.
        pub value: u64,
        /// Lots of these fills.
        pub lots: u64,
        /// Realized profit in micros (docs/verify/rules.md §18).
        pub profit: i64,
    }
}

impl Standing {
    /// Whether there was neither a fill nor a profit.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    const fn add(&mut self, other: Self) {
        self.value = self.value.saturating_add(other.value);
        self.lots = self.lots.saturating_add(other.lots);
        self.profit = self.profit.saturating_add(other.profit);
    }
}

stored! {
    /// The sums of one account. The newest day is part of the entry, so that a fill touches one place
    /// in memory.
    #[derive(Clone, Default, PartialEq, Eq, Debug)]
    struct AccountHistory {
        total: Standing,
        day: Day,
        /// The sums of `day`.
        newest: Standing,
        /// The days before it with a fill or a profit, ascending.
        older: Vec<(Day, Standing)>,
    }
}

impl AccountHistory {
    fn add(&mut self, day: Day, sums: Standing) {
        if self.day != day {
            if !self.newest.is_empty() {
                self.older.push((self.day, self.newest));
            }
            let first = day.first_of_last(ACCOUNT_DAYS);
            self.older.retain(|(day, _)| *day >= first);
            (self.day, self.newest) = (day, Standing::default());
        }
        self.newest.add(sums);
        self.total.add(sums);
    }

    fn since(&self, first: Option<Day>) -> Standing {
        let Some(first) = first else {
            return self.total;
        };
        let mut sums = Standing::default();
        if self.day >= first {
            sums = self.newest;
            let older = self.older.iter().rev();
            let older = older.take_while(|(day, _)| *day >= first);
            older.for_each(|(_, of_day)| sums.add(*of_day));
        }
        sums
    }
}

stored! {
    /// Volume and profit of all accounts.
    #[derive(Debug, Default)]
    pub struct Standings {
        of_account: ByNumber<AccountNumber, AccountHistory>,
    }
}

impl Standings {
    /// The sums of an account from a day on, which must be one of the last [`ACCOUNT_DAYS`]; `None`
    /// = ever.
    #[must_use]
    pub fn of(&self, account: AccountNumber, first: Option<Day>) -> Standing {
        let history = self.of_account.get(account);
        history.map_or_else(Standing::default, |history| history.since(first))
    }

    /// The sums of up to `count` accounts from number `from` on, by number.
    pub fn from(
        &self,
        from: AccountNumber,
        count: usize,
        first: Option<Day>,
    ) -> impl Iterator<Item = (AccountNumber, Standing)> {
        (from.0..).take(count).map_while(move |number| {
            let history = self.of_account.get(AccountNumber(number))?;
            Some((AccountNumber(number), history.since(first)))
        })
    }

    /// Number of accounts.
    pub(crate) fn len(&self) -> usize {
        self.of_account.len()
    }

    pub(crate) fn open_account(&mut self, account: AccountNumber) -> Result<(), Impossible> {
        self.of_account.push(account, AccountHistory::default())
    }

    /// Adds one side of a trade.
    pub(crate) fn trade(
        &mut self,
        account: AccountNumber,
        now: TimeNs,
        (lots, value): (Lots, Micros),
    ) -> Result<(), Impossible> {
        let sums = Standing {
            value: value.0,
            lots: lots.0,
            profit: 0,
        };
        self.add(account, now, sums)
    }

    /// Adds a profit in micros (negative: a loss).
    pub(crate) fn earn(
        &mut self,
        account: AccountNumber,
        now: TimeNs,
        profit: i128,
    ) -> Result<(), Impossible> {
        if profit == 0 {
            return Ok(());
        }
        let limit = if profit < 0 { i64::MIN } else { i64::MAX };
        let sums = Standing {
            profit: i64::try_from(profit).unwrap_or(limit),
            ..Standing::default()
        };
        self.add(account, now, sums)
    }

    fn add(
        &mut self,
        account: AccountNumber,
        now: TimeNs,
        sums: Standing,
    ) -> Result<(), Impossible> {
        let history = self.of_account.get_mut(account);
        let history = history.ok_or(Impossible::UnknownAccount(account))?;
        history.add(Day::of(now), sums);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(day: u32) -> TimeNs {
        TimeNs(u64::from(day) * 86_400 * 1_000_000_000 + 5)
    }

    #[test]
    fn old_days_leave_and_the_total_stays() {
        let mut standings = Standings::default();
        let account = AccountNumber(0);
        standings.open_account(account).unwrap();
        for day in 100..200 {
            let trade = (Lots(1), Micros(10));
            standings.trade(account, at(day), trade).unwrap();
            standings.earn(account, at(day), -3).unwrap();
        }
        assert_eq!(standings.of(account, None).value, 1_000);
        assert_eq!(standings.of(account, None).profit, -300);
        let week = Day(199).first_of_last(7);
        assert_eq!(standings.of(account, Some(week)).value, 70);
        assert_eq!(standings.of(account, Some(Day(200))), Standing::default());
        let kept = standings.of_account.get(account).unwrap().older.len();
        assert_eq!(kept, ACCOUNT_DAYS as usize - 1);
    }

    #[test]
    fn sums_saturate() {
        let mut standings = Standings::default();
        let account = AccountNumber(0);
        standings.open_account(account).unwrap();
        for profit in [i128::MIN, -1, 0] {
            standings.earn(account, at(1), profit).unwrap();
            assert_eq!(standings.of(account, None).profit, i64::MIN);
        }
    }
}
