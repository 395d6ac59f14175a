//! What lists of the catalog filter and sort by, of the exchange's markets: looked at from time to time.

use std::collections::HashMap;
use std::time::Duration;

use foldhash::fast::RandomState;
use foretell_catalog::{Catalog, Figures};
use foretell_model::{ConditionId, MarketNumber, Micros, Outcome, Sequence, TimeNs};
use foretell_view::View;
use foretell_wire::catalog::CatalogTrading;
use foretell_wire::markets::market::MarketFacts;
use parking_lot::{Mutex, RwLock};
use tokio::sync::watch;

use crate::catalog::descriptions::Descriptions;
use crate::page::day_volume::DayVolumes;
use crate::policy::limits::DAY_VOLUME_ROWS;
use crate::render::market_facts::{catalog_figures, catalog_trading, last_step, market_facts};
use crate::view::shared_view::SharedView;

/// Markets looked at under one lock hold.
const STEP: u32 = 64;
/// Lock holds of a turn: a large exchange takes several turns.
const STEPS: u32 = 256;
/// How long a read waits for the first look at all markets.
const PATIENCE: Duration = Duration::from_secs(2);
/// A trade older than this counts for no volume of the day: a day and a step of its count.
const DAY: TimeNs = TimeNs(87_000_000_000_000);

/// The facts of a market, hidden also where the catalog's record is archived.
pub(crate) fn known(
    descriptions: &Descriptions,
    view: &View,
    number: MarketNumber,
) -> Option<(MarketFacts, CatalogTrading)> {
    let mut facts = market_facts(view, number)?;
    facts.archived |= descriptions.is_archived(view.markets().get(number)?);
    Some((facts, catalog_trading(view, number)?))
}

/// Figures of the markets as the catalog has them.
#[derive(Default)]
pub(crate) struct CatalogFacts {
    turn: Mutex<Turn>,
    /// Volumes of the day above 0.
    days: RwLock<HashMap<ConditionId, Micros, RandomState>>,
    /// Whether all markets were looked at since the start.
    is_complete: watch::Sender<bool>,
}

#[derive(Default)]
struct Turn {
    next: u32,
    /// By market; none of an outside question.
    seen: Vec<Option<Seen>>,
    volumes: DayVolumes,
}

/// A market as it was last looked at.
#[derive(Clone, Copy)]
struct Seen {
    market: Sequence,
    book: Sequence,
    day: Micros,
    figures: Figures,
}

type Changed = Vec<(ConditionId, Figures, Micros)>;

impl CatalogFacts {
    /// The volume of the day as of the last refresh.
    pub(crate) fn day_volume(&self, condition: &ConditionId) -> Micros {
        self.days.read().get(condition).copied().unwrap_or_default()
    }

    /// Waits until all markets were looked at once; `false` if that takes too long. Before, volumes would be 0.
    pub(crate) async fn first_turn(&self) -> bool {
        if *self.is_complete.borrow() {
            return true;
        }
        let mut is_complete = self.is_complete.subscribe();
        let first = is_complete.wait_for(|is_complete| *is_complete);
        matches!(tokio::time::timeout(PATIENCE, first).await, Ok(Ok(_)))
    }

    /// Gives the catalog the figures that changed since the last call. Blocks.
    pub(crate) fn refresh(
        &self,
        shared_view: &SharedView,
        descriptions: &Descriptions,
        now: TimeNs,
        catalog: &Catalog,
    ) {
        let mut turn = self.turn.lock();
        let mut changed = Changed::new();
        let is_last = (0..STEPS).any(|_| {
            let state = shared_view.read();
            turn.step(descriptions, &state.view, now, &mut changed)
        });
        if !changed.is_empty() {
            self.take(changed, catalog);
        }
        if is_last {
            self.is_complete
                .send_if_modified(|is_complete| !std::mem::replace(is_complete, true));
        }
    }

    fn take(&self, changed: Changed, catalog: &Catalog) {
        let mut days = self.days.write();
        for (condition, _, day) in &changed {
            match *day {
                Micros::ZERO => days.remove(condition),
                day => days.insert(*condition, day),
            };
        }
        drop(days);
        let figures = changed
            .into_iter()
            .map(|(condition, figures, _)| (condition, figures));
        catalog.take_figures(figures.collect());
    }
}

impl Turn {
    /// Looks at the next markets; returns whether they were the last.
    fn step(
        &mut self,
        descriptions: &Descriptions,
        view: &View,
        now: TimeNs,
        changed: &mut Changed,
    ) -> bool {
        let mut rows = DAY_VOLUME_ROWS;
        for _ in 0..STEP {
            let number = MarketNumber(self.next);
            let Some(market) = view.markets().get(number) else {
                self.next = 0;
                return true;
            };
            self.next += 1;
            if let Some((figures, day)) = self.look(descriptions, view, number, (now, &mut rows)) {
                changed.push((market.condition, figures, day));
            }
        }
        false
    }

    /// The figures of a market, if they changed.
    fn look(
        &mut self,
        descriptions: &Descriptions,
        view: &View,
        number: MarketNumber,
        (now, rows): (TimeNs, &mut usize),
    ) -> Option<(Figures, Micros)> {
        let (market, book) = (view.markets().get(number)?, view.books().get(number)?);
        let seen = self.seen.get(number.0 as usize).copied().flatten();
        let is_archived = market.archived || descriptions.is_archived(market);
        let is_same = seen.is_some_and(|seen| {
            (seen.market, seen.book) == (market.changed, book.changed())
                && seen.figures.archived == is_archived
        });
        if is_same && seen.is_some_and(|seen| seen.day == Micros::ZERO) {
            return None;
        }
        let last = book.of(Outcome::Yes).last_trade();
        let traded = last.is_some_and(|last| last.time.0.saturating_add(DAY.0) > now.0);
        let day = match traded {
            true => Micros(self.volumes.of(view, number, now, rows).micros),
            false => Micros::ZERO,
        };
        let (facts, trading) = known(descriptions, view, number)?;
        let trading = CatalogTrading {
            volume_24hr: day,
            ..trading
        };
        let figures = catalog_figures(&facts, &trading, last_step(market));
        let now = Seen {
            market: market.changed,
            book: book.changed(),
            day,
            figures,
        };
        let index = number.0 as usize;
        if self.seen.len() <= index {
            self.seen.resize(index + 1, None);
        }
        self.seen[index] = Some(now);
        (seen.map(|seen| seen.figures) != Some(figures)).then_some((figures, day))
    }
}
