//! In-memory columns for filters and sort orders of lists. A list scans adjacent numbers and reads
//! only the records of its page from the database.
//!
//! A row is the index of a market or event. It is assigned once and never changes, and records are
//! never deleted, so rows of a [`Table`] are valid in all later tables. Tables are immutable and
//! share their unchanged parts.

mod columns;
mod exchange_figures;
mod links;
mod page;
mod place;
mod ranking;
mod row_set;
mod rows;
mod updater;

pub(crate) use links::Links;
pub(crate) use page::ListRequest;
pub(crate) use row_set::RowSet;
pub(crate) use rows::{Rows, WantedFlags};
pub(crate) use updater::TableUpdater;

use std::collections::HashMap;
use std::sync::Arc;

use foldhash::fast::RandomState;
use foretell_model::WalletAddress;

/// The list columns of the catalog at one moment.
#[derive(Clone, Debug, Default)]
pub(crate) struct Table {
    /// Number of the last change of the catalog that the table includes.
    change: i64,
    /// All markets.
    pub(crate) markets: Rows,
    /// By market row: the row of its event, or [`NO_EVENT`].
    event_of: Arc<Vec<u32>>,
    /// By market row: the number of its creator, else of its event's creator, or [`NO_CREATOR`].
    creator_of: Arc<Vec<u32>>,
    /// By market row: the words of its sports type and of its resolution status, or [`NO_WORD`].
    words_of: [Arc<Vec<u32>>; 2],
    /// Numbers of the words.
    words: Arc<HashMap<Box<str>, u32, RandomState>>,
    /// All events.
    pub(crate) events: Rows,
    /// Tags and their events.
    pub(crate) tags: Arc<Links>,
    /// Series and their events.
    pub(crate) series: Arc<Links>,
    /// Creators by number, and the events that they made or have a market in.
    creators: Arc<Links>,
    /// Numbers of the creators.
    numbers: Arc<HashMap<WalletAddress, u32, RandomState>>,
}

/// Event row of a market without an event.
const NO_EVENT: u32 = u32::MAX;
/// Creator number of a record without a creator.
const NO_CREATOR: u32 = u32::MAX;

/// Word number of an empty text.
const NO_WORD: u32 = u32::MAX;

/// A word column of markets.
#[derive(Clone, Copy, Debug)]
pub(crate) enum WordColumn {
    /// `sportsMarketType`
    SportsType = 0,
    /// `umaResolutionStatus`
    UmaStatus = 1,
}

impl Table {
    /// Numbers of these words, as far as some market has them.
    pub(crate) fn word_numbers(&self, words: &[String]) -> RowSet {
        let known = words
            .iter()
            .filter_map(|word| self.words.get(word.as_str()));
        RowSet::of(known.copied())
    }

    /// Whether a market has one of these words.
    pub(crate) fn has_word(&self, market: u32, column: WordColumn, numbers: &RowSet) -> bool {
        let word = self.words_of[column as usize][market as usize];
        word != NO_WORD && numbers.contains(word)
    }

    /// The distinct words of a column, sorted.
    pub(crate) fn words(&self, column: WordColumn) -> Vec<&str> {
        let used = self.words_of[column as usize].iter().copied();
        let used = RowSet::of(used.filter(|word| *word != NO_WORD));
        let used = self
            .words
            .iter()
            .filter(|(_, number)| used.contains(**number));
        let mut words: Vec<&str> = used.map(|(word, _)| &**word).collect();
        words.sort_unstable();
        words
    }

    /// The event row of a market.
    pub(crate) fn event_row_of(&self, market: u32) -> Option<u32> {
        let event = self.event_of[market as usize];
        (event != NO_EVENT).then_some(event)
    }

    /// The id of a market's event.
    pub(crate) fn event_of(&self, market: u32) -> Option<i64> {
        let event = self.event_of[market as usize];
        (event != NO_EVENT).then(|| self.events.id(event))
    }

    /// Numbers of these wallets, as far as they created something.
    pub(crate) fn numbers_of(&self, creators: &[WalletAddress]) -> RowSet {
        let known = creators.iter().filter_map(|it| self.numbers.get(it));
        RowSet::of(known.copied())
    }

    /// Whether a market was created by one of these.
    pub(crate) fn was_made_by(&self, market: u32, numbers: &RowSet) -> bool {
        let creator = self.creator_of[market as usize];
        creator != NO_CREATOR && numbers.contains(creator)
    }

    /// Events created by one of these wallets, or with a market created by one.
    pub(crate) fn events_by(&self, creators: &[WalletAddress]) -> RowSet {
        let known = creators.iter().filter_map(|it| self.numbers.get(it));
        RowSet::of(known.flat_map(|number| self.creators.rows_of(i64::from(*number))))
    }
}
