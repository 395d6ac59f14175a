//! The view: all parts of the read model at one sequence.

use foretell_model::{Branch, MarketNumber, MarketState, Sequence};

use crate::rows::accounts::Accounts;
use crate::rows::actions::Actions;
use crate::rows::background::Background;
use crate::rows::books::Books;
use crate::rows::builder_standings::BuilderStandings;
use crate::rows::builders::Builders;
use crate::rows::events::EventGroups;
use crate::rows::holders::Holders;
use crate::rows::holdings::Holdings;
use crate::rows::keys::Keys;
use crate::rows::markets::Markets;
use crate::rows::midpoints::Midpoints;
use crate::rows::orders::Orders;
use crate::rows::people::People;
use crate::rows::positions::Positions;
use crate::rows::profiles::Profiles;
use crate::rows::rebates::{CurrentRebates, Rebates};
use crate::rows::resolution::Resolutions;
use crate::rows::standings::Standings;
use crate::rows::system::System;
use crate::rows::trades::{TradeListEnds, Trades};
use crate::rows::volume::Volume;
use crate::rows::withdrawals::{WaitingWithdrawals, Withdrawals};
use crate::storage::by_number::ByNumber;
use crate::storage::chunk::Chunking;
use crate::storage::id_log::IdLog;
use crate::storage::list::{ListEnds, Lists};
use crate::storage::log::Log;

/// The read model of gateways at one sequence.
#[derive(Debug)]
pub struct View {
    pub(crate) genesis: [u8; 32],
    pub(crate) chunking: Chunking,
    /// Set when a frame was rejected: the view is inconsistent then.
    pub(crate) broken: bool,
    pub(crate) system: System,
    pub(crate) accounts: Accounts,
    pub(crate) holdings: Holdings,
    pub(crate) keys: Keys,
    pub(crate) events: EventGroups,
    pub(crate) markets: Markets,
    pub(crate) books: Books,
    pub(crate) orders: Orders,
    pub(crate) trades: Trades,
    pub(crate) builders: Builders,
    pub(crate) midpoints: Midpoints,
    pub(crate) positions: Positions,
    pub(crate) actions: Actions,
    pub(crate) volume: Volume,
    pub(crate) standings: Standings,
    pub(crate) builder_standings: BuilderStandings,
    pub(crate) people: People,
    pub(crate) profiles: Profiles,
    pub(crate) resolutions: Resolutions,
    pub(crate) background: Background,
    pub(crate) rebates: Rebates,
    pub(crate) withdrawals: Withdrawals,
}

impl View {
    /// The view before the first frame of the journal with this genesis hash.
    #[must_use]
    pub fn new(genesis: [u8; 32]) -> Self {
        Self::with_chunking(genesis, Chunking::Standard)
    }

    /// The same with another chunk size: for tests.
    #[must_use]
    pub fn with_chunking(genesis: [u8; 32], chunking: Chunking) -> Self {
        let lists = || Lists::of(Log::new(chunking), ListEnds::default());
        Self {
            genesis,
            chunking,
            broken: false,
            system: System::default(),
            accounts: Accounts::default(),
            holdings: Holdings::default(),
            keys: Keys::default(),
            events: EventGroups::default(),
            markets: Markets::default(),
            books: Books::default(),
            orders: Orders::of(IdLog::of(Log::new(chunking))),
            trades: Trades {
                all: IdLog::of(Log::new(chunking)),
                spans: Log::new(chunking),
                ends: TradeListEnds::default(),
                of_builder: lists(),
            },
            builders: Builders::default(),
            midpoints: Midpoints {
                current: ByNumber::default(),
                changes: Log::new(chunking),
                of_market: lists(),
            },
            positions: Positions {
                closed: Log::new(chunking),
                closed_of: lists(),
                holders: Holders::default(),
            },
            actions: Actions {
                all: Log::new(chunking),
                of_account: lists(),
            },
            volume: Volume::default(),
            standings: Standings::default(),
            builder_standings: BuilderStandings::default(),
            people: People::default(),
            profiles: Profiles::new(),
            resolutions: Resolutions::default(),
            background: Background::default(),
            rebates: Rebates {
                current: CurrentRebates::default(),
                earlier: Log::new(chunking),
                of_account: lists(),
            },
            withdrawals: Withdrawals {
                waiting: WaitingWithdrawals::default(),
                ended: Log::new(chunking),
                of_account: lists(),
            },
        }
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

    /// Mode, rules, settings, domains, time.
    #[must_use]
    pub fn system(&self) -> &System {
        &self.system
    }

    /// Accounts and their collateral.
    #[must_use]
    pub fn accounts(&self) -> &Accounts {
        &self.accounts
    }

    /// Balances and open positions.
    #[must_use]
    pub fn holdings(&self) -> &Holdings {
        &self.holdings
    }

    /// API keys.
    #[must_use]
    pub fn keys(&self) -> &Keys {
        &self.keys
    }

    /// Neg-risk events.
    #[must_use]
    pub fn events(&self) -> &EventGroups {
        &self.events
    }

    /// Markets.
    #[must_use]
    pub fn markets(&self) -> &Markets {
        &self.markets
    }

    /// Number of markets; outside questions do not count.
    #[must_use]
    pub fn market_count(&self) -> usize {
        self.markets.end() - self.events.count()
    }

    /// Books and last trades.
    #[must_use]
    pub fn books(&self) -> &Books {
        &self.books
    }

    /// Orders, live and finished.
    #[must_use]
    pub fn orders(&self) -> &Orders {
        &self.orders
    }

    /// Lists of trades; [`View::trade`] returns one.
    #[must_use]
    pub fn trades(&self) -> &Trades {
        &self.trades
    }

    /// Closed positions, and the holders of tokens.
    #[must_use]
    pub fn positions(&self) -> &Positions {
        &self.positions
    }

    /// Splits, merges, redeems and converts, deposits, withdrawals, rebates.
    #[must_use]
    pub fn actions(&self) -> &Actions {
        &self.actions
    }

    /// Traded volume.
    #[must_use]
    pub fn volume(&self) -> &Volume {
        &self.volume
    }

    /// Volume and profit of accounts.
    #[must_use]
    pub fn standings(&self) -> &Standings {
        &self.standings
    }

    /// Volume and users of builders, in the order of [`View::builders`].
    #[must_use]
    pub fn builder_standings(&self) -> &BuilderStandings {
        &self.builder_standings
    }

    /// Withdrawals that wait, and those that ended.
    #[must_use]
    pub fn withdrawals(&self) -> &Withdrawals {
        &self.withdrawals
    }

    /// Operators and settings of payments.
    #[must_use]
    pub fn people(&self) -> &People {
        &self.people
    }

    /// Profiles of wallets.
    #[must_use]
    pub fn profiles(&self) -> &Profiles {
        &self.profiles
    }

    /// Policies, proposals and disputes.
    #[must_use]
    pub fn resolutions(&self) -> &Resolutions {
        &self.resolutions
    }

    /// Settlements and payments of rebates that are not done.
    #[must_use]
    pub fn background(&self) -> &Background {
        &self.background
    }

    /// Rebates that makers accrued.
    #[must_use]
    pub fn rebates(&self) -> &Rebates {
        &self.rebates
    }

    /// Builder codes.
    #[must_use]
    pub fn builders(&self) -> &Builders {
        &self.builders
    }

    /// Whether a market accepts orders now: it is active, and the system is running or post-only.
    #[must_use]
    pub fn accepting_orders(&self, market: MarketNumber) -> bool {
        let active = |market: &crate::Market| market.state == MarketState::Active;
        self.system.takes_orders() && self.markets.get(market).is_some_and(active)
    }
}
