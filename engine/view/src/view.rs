//! The view: all parts of the read model at one sequence.

use foretell_model::{Branch, MarketNumber, MarketState, Sequence};

use crate::part::Part;
use crate::rows::accounts::Accounts;
use crate::rows::actions::Actions;
use crate::rows::background::Background;
use crate::rows::books::Books;
use crate::rows::builder_standings::BuilderStandings;
use crate::rows::builders::Builders;
use crate::rows::events::EventGroups;
use crate::rows::holdings::Holdings;
use crate::rows::keys::Keys;
use crate::rows::markets::Markets;
use crate::rows::midpoints::Midpoints;
use crate::rows::orders::Orders;
use crate::rows::people::People;
use crate::rows::positions::Positions;
use crate::rows::profiles::Profiles;
use crate::rows::rebates::Rebates;
use crate::rows::resolution::Resolutions;
use crate::rows::standings::Standings;
use crate::rows::system::System;
use crate::rows::trades::Trades;
use crate::rows::volume::Volume;
use crate::rows::withdrawals::Withdrawals;
use crate::storage::chunk::Chunking;

/// Declares the view: for each part a field, who may read it, and the section of its live state in a
/// snapshot, if it has one.
macro_rules! parts {
    ($($(#[$doc:meta])* $vis:vis $part:ident: $type:ident $(= $section:literal)?,)+) => {
        /// The read model of gateways at one sequence.
        #[derive(Debug)]
        pub struct View {
            pub(crate) genesis: [u8; 32],
            pub(crate) chunking: Chunking,
            /// Set when a frame was rejected: the view is inconsistent then.
            pub(crate) broken: bool,
            $(pub(crate) $part: $type,)+
        }

        impl View {
            /// As [`Self::new`], with another chunk size: for tests.
            #[must_use]
            pub fn with_chunking(genesis: [u8; 32], chunking: Chunking) -> Self {
                Self {
                    genesis,
                    chunking,
                    broken: false,
                    $($part: Part::new(chunking),)+
                }
            }

            $(
                $(#[$doc])*
                #[must_use]
                $vis fn $part(&self) -> &$type {
                    &self.$part
                }
            )+

            /// The parts with live state, by section.
            pub(crate) fn live_parts(&self) -> Vec<(&'static str, &dyn Part)> {
                vec![$($(($section, &self.$part),)?)+]
            }

            /// The same, to restore them.
            pub(crate) fn live_parts_mut(&mut self) -> Vec<(&'static str, &mut dyn Part)> {
                vec![$($(($section, &mut self.$part),)?)+]
            }
        }
    };
}

parts! {
    /// Mode, rules, settings, domains, time.
    pub system: System = "system",
    /// Accounts and their collateral.
    pub accounts: Accounts = "accounts",
    /// Balances and open positions.
    pub holdings: Holdings = "holdings",
    /// API keys.
    pub keys: Keys = "keys",
    /// Neg-risk events.
    pub events: EventGroups = "events",
    /// Markets.
    pub markets: Markets = "markets",
    /// Books and last trades.
    pub books: Books = "books",
    /// Builder codes.
    pub builders: Builders = "builders",
    /// Midpoints, now and over time.
    pub(crate) midpoints: Midpoints = "open-midpoints",
    /// Lists of trades; [`View::trade`] returns one.
    pub trades: Trades = "trade-lists",
    /// Traded volume.
    pub volume: Volume = "turnover",
    /// Volume and profit of accounts.
    pub standings: Standings = "standings",
    /// Volume and users of builders, in the order of [`View::builders`].
    pub builder_standings: BuilderStandings = "builder-standings",
    /// Operators and settings of payments.
    pub people: People = "people",
    /// Withdrawals that wait, and those that ended.
    pub withdrawals: Withdrawals = "waiting-withdrawals",
    /// Profiles of wallets.
    pub profiles: Profiles = "profiles",
    /// Policies, proposals and disputes.
    pub resolutions: Resolutions = "resolutions",
    /// Settlements and payments of rebates that are not done.
    pub background: Background = "background",
    /// Rebates that makers accrued.
    pub rebates: Rebates = "current-rebates",
    /// Orders, live and finished. A restored view adds the live ones to their books again.
    pub orders: Orders,
    /// Closed positions, and the holders of tokens.
    pub positions: Positions,
    /// Splits, merges, redeems and converts, deposits, withdrawals, rebates.
    pub actions: Actions,
}

impl View {
    /// The view before the first frame of the journal with this genesis hash.
    #[must_use]
    pub fn new(genesis: [u8; 32]) -> Self {
        Self::with_chunking(genesis, Chunking::Standard)
    }

    /// The genesis hash of its journal.
    #[must_use]
    pub fn genesis(&self) -> &[u8; 32] {
        &self.genesis
    }

    /// What names trades and streams since the last restore; the genesis hash before the first
    /// (docs/verify/rules.md §31).
    #[must_use]
    pub fn branch(&self) -> &[u8; 32] {
        match self.system.branch {
            Branch::ZERO => &self.genesis,
            _ => &self.system.branch.0,
        }
    }

    /// The last folded frame; every answer reflects the state after it.
    #[must_use]
    pub fn sequence(&self) -> Sequence {
        self.system.sequence
    }

    /// Number of markets; outside questions do not count.
    #[must_use]
    pub fn market_count(&self) -> usize {
        self.markets.end() - self.events.count()
    }

    /// Whether a market accepts orders now: it is active, and the system is running or post-only.
    #[must_use]
    pub fn accepting_orders(&self, market: MarketNumber) -> bool {
        let active = |market: &crate::Market| market.state == MarketState::Active;
        self.system.takes_orders() && self.markets.get(market).is_some_and(active)
    }
}
