//! Lists of markets as they were last sent. A row is written again when its market changed, a page when
//! one of its rows did; whoever asks in between gets the same bytes.

use std::sync::Arc;

use bytes::Bytes;
use foretell_model::MarketNumber;
use foretell_wire::market::MarketFacts;
use foretell_wire::operator::MarketDescription;
use foretell_wire::page::{Cursor, PAGE_MARKETS, page_json};

use crate::texts::{Json, Texts};

/// Markets whose rows do not push each other out, in each form.
const MARKETS: usize = 1 << 12;
/// Pages of a list that do not push each other out.
const PAGES: usize = MARKETS / PAGE_MARKETS;

/// A list of markets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum List {
    All,
    Simplified,
    Sampling,
    SamplingSimplified,
}

/// How a list shows a market.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Form {
    Trading,
    Detail,
    Simplified,
}

impl List {
    const COUNT: usize = 4;

    /// How it shows a market.
    pub(crate) fn form(self) -> Form {
        match self {
            Self::All => Form::Trading,
            Self::Sampling => Form::Detail,
            Self::Simplified | Self::SamplingSimplified => Form::Simplified,
        }
    }
}

impl Form {
    const COUNT: usize = 3;
}

/// All that a row is made of. Words are the same as long as they stand in the same memory.
#[derive(Clone, Debug)]
pub(crate) struct RowKey {
    pub(crate) facts: MarketFacts,
    pub(crate) described: Arc<MarketDescription>,
    /// Up to which change of the catalog its record is known, where a row shows that.
    pub(crate) catalog: Option<u64>,
}

impl PartialEq for RowKey {
    fn eq(&self, other: &Self) -> bool {
        self.facts == other.facts
            && Arc::ptr_eq(&self.described, &other.described)
            && self.catalog == other.catalog
    }
}

/// The rows and pages of the process.
pub(crate) struct MarketPages {
    rows: Texts<RowKey>,
    pages: Texts<(Vec<Json>, Option<Cursor>)>,
}

impl Default for MarketPages {
    fn default() -> Self {
        Self {
            rows: Texts::with_places(MARKETS * Form::COUNT),
            pages: Texts::with_places(PAGES * List::COUNT),
        }
    }
}

impl MarketPages {
    /// The row of a market, if it was made of this.
    pub(crate) fn row(&self, form: Form, market: MarketNumber, key: &RowKey) -> Option<Json> {
        self.rows.get(row_place(form, market), key).map(Json)
    }

    /// Takes a row.
    pub(crate) fn keep(&self, form: Form, market: MarketNumber, key: RowKey, text: String) -> Json {
        Json(self.rows.put(row_place(form, market), key, text))
    }

    /// The page that starts at a cursor and has these rows.
    pub(crate) fn page(
        &self,
        list: List,
        cursor: Cursor,
        rows: Vec<Json>,
        next: Option<Cursor>,
    ) -> Bytes {
        let number = usize::try_from(cursor.offset()).unwrap_or(usize::MAX) / PAGE_MARKETS;
        let place = (number % PAGES) * List::COUNT + list as usize;
        let key = (rows, next);
        if let Some(page) = self.pages.get(place, &key) {
            return page;
        }
        let text = page_json(&key.0, PAGE_MARKETS, next);
        self.pages.put(place, key, text)
    }
}

fn row_place(form: Form, market: MarketNumber) -> usize {
    (market.0 as usize % MARKETS) * Form::COUNT + form as usize
}
