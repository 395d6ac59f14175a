//! Rebates that makers accrued (docs/verify/rules.md §23), by account, UTC day and market.
//!
//! The newest day of an account is in memory. An accrual of a later day first moves the day before
//! to the history, in order of the markets.

use std::collections::{BTreeMap, HashMap};

use foldhash::fast::RandomState;
use foretell_model::codec::{CodecError, Stored, fixed, stored};
use foretell_model::{AccountNumber, MarketNumber, Micros};

use crate::error::Impossible;
use crate::part::Part;
use crate::rows::accounts::add;
use crate::rows::standings::Day;
use crate::storage::chunk::Chunking;
use crate::storage::listed_log::ListedLog;
use crate::storage::row::LogRow;
use crate::storage::slot::count;

/// Days of the sums of markets that are kept, the newest included.
pub const REBATE_DAYS: u32 = 35;

fixed! {
    /// What an account accrued in a market on a day.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub struct Rebate {
        /// The day.
        pub day: Day,
        /// The market.
        pub market: MarketNumber,
        /// The amount, above 0.
        pub amount: Micros,
    }
}

impl LogRow for Rebate {
    const CHUNK_BITS: u32 = 15;
}

stored! {
    /// The newest day of an account.
    #[derive(Clone, PartialEq, Eq, Default, Debug)]
    struct NewestDay {
        day: Day,
        markets: BTreeMap<MarketNumber, Micros>,
    }
}

/// The live part of the rebates.
#[derive(Debug, Default)]
pub(crate) struct CurrentRebates {
    of_account: HashMap<AccountNumber, NewestDay, RandomState>,
    /// Sums of markets in the newest [`REBATE_DAYS`] days.
    of_market: BTreeMap<(Day, MarketNumber), Micros>,
}

impl Stored for CurrentRebates {
    fn put(&self, out: &mut Vec<u8>) {
        let accounts: BTreeMap<_, _> = self.of_account.iter().collect();
        let accounts: Vec<_> = accounts.into_keys().copied().collect();
        accounts.put(out);
        for account in &accounts {
            self.of_account[account].put(out);
        }
        self.of_market.put(out);
    }

    fn take(from: &mut &[u8]) -> Result<Self, CodecError> {
        let accounts = Vec::<AccountNumber>::take(from)?;
        if !accounts.is_sorted_by(|one, next| one < next) {
            return Err(CodecError::Inconsistent("rebates"));
        }
        let mut of_account = HashMap::default();
        for account in accounts {
            of_account.insert(account, NewestDay::take(from)?);
        }
        Ok(Self {
            of_account,
            of_market: BTreeMap::take(from)?,
        })
    }
}

/// All rebates.
#[derive(Debug)]
pub struct Rebates {
    pub(crate) current: CurrentRebates,
    /// Days that were followed by a later one of the same account, listed by account.
    pub(crate) earlier: ListedLog<Rebate>,
}

impl Part for Rebates {
    fn new(chunking: Chunking) -> Self {
        Self {
            current: CurrentRebates::default(),
            earlier: ListedLog::new(chunking),
        }
    }

    fn put_live(&self, out: &mut Vec<u8>) {
        self.current.put(out);
    }

    fn take_live(&mut self, from: &mut &[u8]) -> Result<(), CodecError> {
        self.current = Stored::take(from)?;
        Ok(())
    }
}

impl Rebates {
    /// What an account accrued on a day, by market.
    #[must_use]
    pub fn of_account(&self, account: AccountNumber, day: Day) -> Vec<Rebate> {
        let newest = self.current.of_account.get(&account);
        if let Some(newest) = newest.filter(|newest| newest.day == day) {
            let markets = newest.markets.iter();
            return (markets.map(|(&market, &amount)| Rebate {
                day,
                market,
                amount,
            }))
            .collect();
        }
        let list = account.0 as usize;
        let first = self.earlier.count_while(list, |it| it.day < day);
        let end = self.earlier.count_while(list, |it| it.day <= day);
        let newest_first = self.earlier.newest_first(list, end);
        let mut rows: Vec<Rebate> = newest_first.take(count(end - first)).collect();
        rows.reverse();
        rows
    }

    /// What all accounts accrued on a day, by market. Days before the newest [`REBATE_DAYS`] are
    /// forgotten.
    pub fn of_day(&self, day: Day) -> impl Iterator<Item = Rebate> {
        let range = (day, MarketNumber(0))..=(day, MarketNumber(u32::MAX));
        let markets = self.current.of_market.range(range);
        markets.map(|(&(day, market), &amount)| Rebate {
            day,
            market,
            amount,
        })
    }

    pub(crate) fn accrue(
        &mut self,
        account: AccountNumber,
        market: MarketNumber,
        day: Day,
        amount: Micros,
    ) -> Result<(), Impossible> {
        let newest = self.current.of_account.entry(account).or_default();
        if newest.day < day {
            for (&market, &amount) in &newest.markets {
                let row = Rebate {
                    day: newest.day,
                    market,
                    amount,
                };
                self.earlier.push(account.0 as usize, &row)?;
            }
            newest.day = day;
            newest.markets.clear();
        }
        add(newest.markets.entry(market).or_default(), amount)?;
        let of_market = &mut self.current.of_market;
        let oldest = (day.first_of_last(REBATE_DAYS), MarketNumber(0));
        if of_market
            .first_key_value()
            .is_some_and(|(&key, _)| key < oldest)
        {
            *of_market = of_market.split_off(&oldest);
        }
        add(of_market.entry((day, market)).or_default(), amount)
    }
}
