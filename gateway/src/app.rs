//! What every request of the process shares.

use std::path::PathBuf;
use std::sync::Arc;

use foretell_stages::Durations;
use foretell_view::View;
use foretell_wire::Failure as Refusal;

use crate::auth::Auth;
use crate::bounds::AllBounds;
use crate::call::Call;
use crate::catalog_door::CatalogDoor;
use crate::config::PriceSide;
use crate::descriptions::Descriptions;
use crate::edge::Edge;
use crate::engine_link::EngineLink;
use crate::failure::Failure;
use crate::headings::Headings;
use crate::market_pages::MarketPages;
use crate::market_texts::MarketTexts;
use crate::metrics::{Metrics, Readings};
use crate::operator_token::OperatorToken;
use crate::profiles::Profiles;
use crate::replica::Replica;
use crate::targets::Targets;
use crate::texts::BookTexts;
use crate::timing::Stage;

/// The process as handlers see it.
pub(crate) struct App {
    pub(crate) replica: Replica,
    pub(crate) engine: EngineLink,
    pub(crate) auth: Auth,
    pub(crate) operator_token: Option<OperatorToken>,
    pub(crate) metrics: Metrics,
    pub(crate) durations: Arc<Durations<Stage>>,
    pub(crate) edge: Edge,
    pub(crate) bounds: AllBounds,
    pub(crate) headings: Headings,
    pub(crate) targets: Targets,
    pub(crate) texts: BookTexts,
    /// The file the engine keeps its checkpoints in.
    pub(crate) checkpoints: PathBuf,
    pub(crate) price_side: PriceSide,
    pub(crate) descriptions: Descriptions,
    pub(crate) market_texts: MarketTexts,
    pub(crate) market_pages: MarketPages,
    pub(crate) profiles: Profiles,
    /// Where a catalog is configured.
    pub(crate) catalog: Option<Arc<CatalogDoor>>,
}

impl App {
    /// Waits until reads show what this request may expect: everything this process has
    /// acknowledged, and the client's `x-min-sequence`.
    pub(crate) async fn fresh(&self, call: &Call) -> Result<(), Failure> {
        let minimum = call.min_sequence()?;
        self.replica.fresh(self.engine.acknowledged()).await?;
        if let Some(minimum) = minimum {
            let waiters = &self.bounds.of(call.surface).waiters;
            let place = || waiters.take(call.client, 1).ok();
            self.replica.at_least(minimum, place).await?;
        }
        Ok(())
    }

    /// Looks something up in the view; when it is not there, once more after the view has caught
    /// up with what is durable now, so that no refusal comes from a view that lags.
    pub(crate) async fn find<T>(
        &self,
        look: impl Fn(&View) -> Option<T>,
    ) -> Result<Option<T>, Refusal> {
        if let Some(found) = look(&self.replica.read().view) {
            return Ok(Some(found));
        }
        let moved = self.replica.caught_up().await?;
        Ok(if moved {
            look(&self.replica.read().view)
        } else {
            None
        })
    }

    /// What a scrape reads.
    pub(crate) fn readings(&self) -> Readings {
        let place = self.replica.read().place();
        Readings {
            connections_open: self.bounds.connections(),
            unread_bytes: self.bounds.unread(),
            engine_connected: self.engine.welcome().is_some(),
            engine_in_flight: self.engine.in_flight(),
            view_sequence: place.sequence.0,
            view_stopped: self.replica.stopped().unwrap_or_default().0,
            durable_sequence: self.replica.durable().unwrap_or_default().0,
            epoch: place.epoch,
        }
    }
}
