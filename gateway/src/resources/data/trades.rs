//! `GET /trades`: fills, newest first. In the forms of the family a taker has one row a trade.

use std::ops::ControlFlow;

use foretell_model::quantity::MICROS_PER_LOT;
use foretell_model::{
    AccountNumber, Lots, MarketNumber, Micros, Sequence, TimeNs, TimeSeconds, TradeIndex,
};
use foretell_view::{RowFilter, TradeColumns, TradeSlot, View};
use foretell_wire::data::{
    AssetIds, FillV1, FillWriter, FillsQuery, FrameRow, MinimumFill, TimeRange, V1Walk,
};

use crate::app::App;
use crate::http::answer::{Json, StatePosition};
use crate::http::failure::Failure;
use crate::http::parts::FromQuery;
use crate::http::request_context::RequestContext;
use crate::policy::work::rest;
use crate::resources::data::rows::activity_row::{ActivityEntry, ReceiptReader};
use crate::resources::data::rows::market_texts::MarketTexts;
use crate::resources::data::trade_lists::TradeLists;
use crate::resources::data::{MarketFilter, account_of};
use crate::view::search::{PageFrom, break_if, end_page, in_steps};

/// Rows rendered before the thread yields to other requests.
const ROWS_PER_YIELD: usize = 512;
/// Rows collected under one lock hold.
const ROWS_PER_HOLD: usize = 2_048;

/// `GET /trades`.
pub(crate) async fn list(
    context: RequestContext,
    FromQuery(V1Walk { query, page, after }): FromQuery<V1Walk<FillsQuery>>,
) -> Result<Json<Vec<FillV1<'static>>>, Failure> {
    let app = &context.app;
    let limit = page.limit;
    let page = PageFrom { page, after }.with_next();
    let (mut entries, position) = search(app, query, page, app.compatibility.asset_ids()).await?;
    let last = end_page(&mut entries, limit).map(|entry| entry.at);
    let mut rows = FillWriter::with_capacity(entries.len());
    let (profiles, mut receipts) = (app.profiles.texts(), ReceiptReader::new(app));
    for fills in entries.chunks(ROWS_PER_YIELD) {
        for fill in fills {
            rows.push(&fill.row(&profiles, &mut receipts));
        }
        rest().await;
    }
    Ok(Json::written(rows.finish()).at(position).continued(last))
}

/// A page of fills from the newest back, and the state of the first step.
pub(crate) async fn search(
    app: &App,
    wanted: FillsQuery,
    PageFrom { page, after }: PageFrom<FrameRow>,
    form: AssetIds,
) -> Result<(Vec<ActivityEntry>, StatePosition), Failure> {
    let user = match wanted.user {
        None => None,
        Some(wallet) => match account_of(app, wallet).await? {
            Some(account) => Some(account),
            // A wallet without an account has no trades.
            None => return Ok((Vec::new(), app.shared_view.read().position())),
        },
    };
    let mut page = FillPage {
        skip: page.offset,
        limit: page.limit,
        texts: MarketTexts::new(form),
        entries: Vec::new(),
        shown: after,
    };
    let query = FillQuery {
        user,
        after,
        markets: MarketFilter::of(app, &wanted.markets).await?,
        sought: trade_filter(&wanted, app.compatibility.has_whole_trades()),
        time: (wanted.time != TimeRange::default()).then(|| time_range(wanted.time)),
    };
    let mut lists = None;
    let ((), position) = in_steps(app, |state| {
        let lists = lists.get_or_insert_with(|| query.lists(&state.view, &mut page.skip));
        page.step(app, &state.view, &query, lists)
    })
    .await;
    Ok((page.entries, position))
}

struct FillQuery {
    user: Option<AccountNumber>,
    markets: MarketFilter,
    /// The filter without the markets.
    sought: RowFilter<'static>,
    /// Only at or after the first and before the second time.
    time: Option<(TimeNs, TimeNs)>,
    /// Only after this row.
    after: Option<FrameRow>,
}

impl FillQuery {
    /// The markets whose lists are searched, and the filter. For a wallet and a rare match, the
    /// list of all the wallet's trades has matches closer together than many market lists.
    fn lists_and_filter(&self) -> (Option<&[MarketNumber]>, RowFilter<'_>) {
        let (markets, sought) = (self.markets.distinct(), self.sought);
        match markets {
            Some(many) if self.user.is_some() && !sought.is_countable() && many.len() > 1 => {
                (None, RowFilter { markets, ..sought })
            }
            _ => (markets, sought),
        }
    }

    /// The lists, without the newest of the rows to `skip` as far as their counts are known.
    fn lists(&self, view: &View, skip: &mut usize) -> TradeLists {
        let (listed, sought) = self.lists_and_filter();
        let mut lists = TradeLists::of(view, self.user, listed);
        if let Some((from, before)) = self.time {
            lists = lists.within(view, from, before);
        }
        if let Some(FrameRow {
            sequence,
            index,
            side,
        }) = self.after
        {
            // After the taker's row comes the maker's of the same trade.
            let before = TradeIndex(index.saturating_add(u32::from(side == 0)));
            lists = lists.before(view, (Sequence(sequence), before));
        }
        lists.skip_newest(view, sought, skip);
        lists
    }
}

/// The first time and the end of a range of seconds, both inclusive.
pub(crate) fn time_range(TimeRange { start, end }: TimeRange) -> (TimeNs, TimeNs) {
    let end = end.map_or(TimeNs(u64::MAX), |end| {
        TimeSeconds(end.saturating_add(1)).start()
    });
    (TimeSeconds(start.unwrap_or(0)).start(), end)
}

fn trade_filter(wanted: &FillsQuery, whole_trades: bool) -> RowFilter<'static> {
    let (lots, value) = match wanted.minimum {
        None => (0, 0),
        Some(MinimumFill::Cash(least)) => (0, least),
        Some(MinimumFill::Tokens(least)) => (least.div_ceil(MICROS_PER_LOT), 0),
    };
    RowFilter {
        taker_only: wanted.taker_only,
        whole_trades,
        side: wanted.side,
        lots: Lots(lots),
        value: Micros(value),
        markets: None,
    }
}

struct FillPage {
    /// Rows still to be skipped.
    skip: usize,
    /// Largest number of rows.
    limit: usize,
    texts: MarketTexts,
    entries: Vec<ActivityEntry>,
    /// A row before the page, which may be of its first trade.
    shown: Option<FrameRow>,
}

impl FillPage {
    /// Visits some thousand trades at most; breaks when the page is complete.
    fn step(
        &mut self,
        app: &App,
        view: &View,
        query: &FillQuery,
        lists: &mut TradeLists,
    ) -> ControlFlow<()> {
        let (_, sought) = query.lists_and_filter();
        let enough = self.entries.len() + ROWS_PER_HOLD;
        let needed = self.needed();
        let is_end = lists.find(view, sought, needed, |slot, rows| {
            self.consider(app, view, slot, rows);
            break_if(self.is_full() || self.entries.len() >= enough)
        });
        break_if(is_end || self.is_full())
    }

    fn is_full(&self) -> bool {
        self.entries.len() >= self.limit
    }

    /// Rows missing, including those to be skipped.
    fn needed(&self) -> usize {
        self.skip + self.limit.saturating_sub(self.entries.len())
    }

    /// Adds the rows of a trade that are on the page, the taker's first.
    fn consider(&mut self, app: &App, view: &View, slot: TradeSlot, mut rows: [bool; 2]) {
        let mut trade = None;
        if let Some(shown) = self.shown.take() {
            trade = view.trade_columns(slot);
            let is_shown = |trade: TradeColumns| {
                (trade.sequence.0, trade.index.0) == (shown.sequence, shown.index)
            };
            rows[0] &= !trade.is_some_and(is_shown);
        }
        for (index, _) in rows.iter().enumerate().filter(|(_, is_meant)| **is_meant) {
            if self.skip > 0 {
                self.skip -= 1;
                continue;
            }
            trade = trade.or_else(|| view.trade_columns(slot));
            if let Some(trade) = trade.filter(|_| !self.is_full()) {
                let side = if index == 0 {
                    &trade.taker
                } else {
                    &trade.maker
                };
                let fill = ActivityEntry::of_side(app, view, &mut self.texts, &trade, side);
                self.entries.extend(fill);
            }
        }
    }
}
