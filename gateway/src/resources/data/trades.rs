//! `GET /trades`: fills, newest first.

use std::ops::ControlFlow;

use foretell_model::quantity::MICROS_PER_LOT;
use foretell_model::{AccountNumber, Lots, MarketNumber, Micros, TimeNs, TimeSeconds};
use foretell_view::{RowFilter, TradeSlot, View};
use foretell_wire::data::{FillsQuery, LimitOffset, MinimumFill, RowWriter, TimeRange, V1List};

use crate::app::App;
use crate::http::answer::{Answer, StatePosition};
use crate::http::failure::Failure;
use crate::http::request_context::RequestContext;
use crate::resources::data::rows::answer_market_texts::MarketTextIndex;
use crate::resources::data::rows::fill_row::{FillEntry, ReceiptReader};
use crate::resources::data::trade_lists::TradeLists;
use crate::resources::data::{MarketFilter, account_of};

/// RowWriter rendered before the thread yields to other requests.
const ROWS_PER_YIELD: usize = 512;
/// RowWriter collected under one lock hold.
const ROWS_PER_HOLD: usize = 2_048;

/// `GET /trades`.
pub(crate) async fn list(context: RequestContext) -> Result<Answer, Failure> {
    let app = &context.app;
    let V1List { query, page } = context.parameters()?;
    context.wait_fresh().await?;
    answer(app, query, page).await
}

/// The answer to a query.
pub(crate) async fn answer(
    app: &App,
    wanted: FillsQuery,
    asked: LimitOffset,
) -> Result<Answer, Failure> {
    let user = match wanted.user {
        None => None,
        Some(wallet) => match account_of(app, wallet).await? {
            Some(account) => Some(account),
            // A wallet without an account has no trades.
            None => return Ok(Answer::json("[]").at(app.shared_view.read().position())),
        },
    };
    let mut search = FillSearch {
        page: FillPage {
            skip: asked.offset,
            limit: asked.limit,
            named: MarketTextIndex::default(),
            found: Vec::new(),
        },
        asked: FillQuery {
            user,
            markets: MarketFilter::of(app, &wanted.markets).await?,
            sought: trade_filter(&wanted),
            time: (wanted.time != TimeRange::default()).then(|| time_range(wanted.time)),
        },
        lists: None,
        position: None,
    };
    while !search.step(app) {
        tokio::task::yield_now().await;
    }
    let found = &search.page.found;
    let mut rows = RowWriter::with_capacity(found.len());
    let (mut profiles, mut receipts) = (app.profiles.texts(), ReceiptReader::new(app));
    for fills in found.chunks(ROWS_PER_YIELD) {
        for fill in fills {
            fill.row(&mut profiles, &mut receipts).write(&mut rows);
        }
        tokio::task::yield_now().await;
    }
    let position = search
        .position
        .unwrap_or_else(|| app.shared_view.read().position());
    Ok(Answer::json(rows.finish()).at(position))
}

/// A search for a page, from the newest trade backwards.
struct FillSearch {
    asked: FillQuery,
    page: FillPage,
    /// The lists searched, and the progress in them; `None` before the first step.
    lists: Option<TradeLists>,
    /// The state of the first step.
    position: Option<StatePosition>,
}

struct FillQuery {
    user: Option<AccountNumber>,
    markets: MarketFilter,
    /// The filter without the markets.
    sought: RowFilter<'static>,
    /// Only at or after the first and before the second time.
    time: Option<(TimeNs, TimeNs)>,
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
}

impl FillSearch {
    /// Visits some thousand trades at most, not counting those skipped by row counts; true at the
    /// end.
    fn step(&mut self, app: &App) -> bool {
        let state = app.shared_view.read();
        let view = &state.view;
        self.position.get_or_insert(state.position());
        let Self { asked, page, .. } = self;
        let (listed, sought) = asked.lists_and_filter();
        let lists = self.lists.get_or_insert_with(|| {
            let mut lists = TradeLists::of(view, asked.user, listed);
            if let Some((from, before)) = asked.time {
                lists = lists.within(view, from, before);
            }
            lists.skip_newest(view, sought, &mut page.skip);
            lists
        });
        let enough = page.found.len() + ROWS_PER_HOLD;
        let needed = page.needed();
        let is_all = lists.find(view, sought, needed, |slot, rows| {
            page.consider(app, view, slot, rows);
            match page.is_full() || page.found.len() >= enough {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        });
        is_all || page.is_full()
    }
}

/// The first time and the end of a range of seconds, both inclusive.
pub(crate) fn time_range(TimeRange { start, end }: TimeRange) -> (TimeNs, TimeNs) {
    let end = end.map_or(TimeNs(u64::MAX), |end| {
        TimeSeconds(end.saturating_add(1)).start()
    });
    (TimeSeconds(start.unwrap_or(0)).start(), end)
}

/// The filter of a query.
fn trade_filter(wanted: &FillsQuery) -> RowFilter<'static> {
    let (lots, value) = match wanted.minimum {
        None => (0, 0),
        Some(MinimumFill::Cash(least)) => (0, least),
        Some(MinimumFill::Tokens(least)) => (least.div_ceil(MICROS_PER_LOT), 0),
    };
    RowFilter {
        taker_only: wanted.taker_only,
        side: wanted.side,
        lots: Lots(lots),
        value: Micros(value),
        markets: None,
    }
}

struct FillPage {
    /// RowWriter still to be skipped.
    skip: usize,
    /// Largest number of rows.
    limit: usize,
    named: MarketTextIndex,
    found: Vec<FillEntry>,
}

impl FillPage {
    fn is_full(&self) -> bool {
        self.found.len() >= self.limit
    }

    /// RowWriter missing, including those to be skipped.
    fn needed(&self) -> usize {
        self.skip + self.limit.saturating_sub(self.found.len())
    }

    /// Adds the rows of a trade that are on the page, the taker's first.
    fn consider(&mut self, app: &App, view: &View, slot: TradeSlot, rows: [bool; 2]) {
        let mut trade = None;
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
                let fill = FillEntry::of(app, view, &mut self.named, &trade, side);
                self.found.extend(fill);
            }
        }
    }
}
