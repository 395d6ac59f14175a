//! Cached pages of market lists. A row is rendered again after its market changed, a page after one
//! of its rows changed; requests in between get the same bytes.

use std::sync::Arc;

use bytes::Bytes;
use foretell_model::MarketNumber;
use foretell_wire::limits::PAGE_MARKETS;
use foretell_wire::markets::market::MarketFacts;
use foretell_wire::operator::MarketDescription;
use foretell_wire::read::page::{Cursor, page_json};

use crate::http::connections::slot_cache::SlotCache;

/// JSON bytes, compared by address.
#[derive(Clone, Debug)]
pub(crate) struct JsonText(pub(crate) Bytes);

impl PartialEq for JsonText {
    fn eq(&self, other: &Self) -> bool {
        (self.0.as_ptr(), self.0.len()) == (other.0.as_ptr(), other.0.len())
    }
}

impl AsRef<str> for JsonText {
    fn as_ref(&self) -> &str {
        std::str::from_utf8(&self.0).expect("JSON is written as text")
    }
}

/// Row slots in each form; markets a multiple of this apart evict each other.
const MARKETS: usize = 1 << 12;
/// Page slots of a list; pages a multiple of this apart evict each other.
const PAGES: usize = MARKETS / PAGE_MARKETS;

/// A list of markets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum MarketList {
    All,
    Simplified,
    Sampling,
    SamplingSimplified,
}

/// The representation of a market in a list.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum RowForm {
    Trading,
    Detail,
    Simplified,
}

impl MarketList {
    const COUNT: usize = 4;

    /// The representation of a market in this list.
    pub(crate) fn form(self) -> RowForm {
        match self {
            Self::All => RowForm::Trading,
            Self::Sampling => RowForm::Detail,
            Self::Simplified | Self::SamplingSimplified => RowForm::Simplified,
        }
    }
}

impl RowForm {
    const COUNT: usize = 3;
}

/// All inputs of a row. Texts are compared by address.
#[derive(Clone, Debug)]
pub(crate) struct MarketRowKey {
    pub(crate) facts: MarketFacts,
    pub(crate) described: Arc<MarketDescription>,
    /// The catalog's last change that the row includes, if it shows the catalog's record.
    pub(crate) catalog: Option<u64>,
}

impl PartialEq for MarketRowKey {
    fn eq(&self, other: &Self) -> bool {
        self.facts == other.facts
            && Arc::ptr_eq(&self.described, &other.described)
            && self.catalog == other.catalog
    }
}

/// The cached rows and pages of the process.
pub(crate) struct MarketPages {
    rows: SlotCache<MarketRowKey, JsonText>,
    pages: SlotCache<(Vec<JsonText>, Option<Cursor>), Bytes>,
}

impl Default for MarketPages {
    fn default() -> Self {
        Self {
            rows: SlotCache::with_slots(MARKETS * RowForm::COUNT),
            pages: SlotCache::with_slots(PAGES * MarketList::COUNT),
        }
    }
}

impl MarketPages {
    /// The row of a market, if it was rendered from this key.
    pub(crate) fn row(
        &self,
        form: RowForm,
        market: MarketNumber,
        key: &MarketRowKey,
    ) -> Option<JsonText> {
        self.rows.get(row_slot(form, market), key)
    }

    pub(crate) fn keep(
        &self,
        form: RowForm,
        market: MarketNumber,
        key: MarketRowKey,
        text: String,
    ) -> JsonText {
        let row = JsonText(Bytes::from(text));
        self.rows.put(row_slot(form, market), key, row.clone());
        row
    }

    /// The page that starts at a cursor and consists of these rows.
    pub(crate) fn page(
        &self,
        list: MarketList,
        cursor: Cursor,
        rows: Vec<JsonText>,
        next: Option<Cursor>,
    ) -> Bytes {
        let number = usize::try_from(cursor.offset()).unwrap_or(usize::MAX) / PAGE_MARKETS;
        let slot = (number % PAGES) * MarketList::COUNT + list as usize;
        let key = (rows, next);
        if let Some(page) = self.pages.get(slot, &key) {
            return page;
        }
        let page = Bytes::from(page_json(&key.0, PAGE_MARKETS, next));
        self.pages.put(slot, key, page.clone());
        page
    }
}

fn row_slot(form: RowForm, market: MarketNumber) -> usize {
    (market.0 as usize % MARKETS) * RowForm::COUNT + form as usize
}
