//! The generator's knowledge: the state after the last command, and the commands sent so far.

use foretell_model::outside::OUTSIDE_INDEX;
use foretell_model::state::{self, OrderIdState, StateRecord};
use foretell_model::{
    AccountNumber, Command, EventNumber, FeeSchedule, HoldSet, KeyNumber, Lots, MarketNumber,
    MarketState, MarketTerms, OperatorNumber, OperatorRole, OrderId, Payout, PlaceOrder,
    QuestionIndex, Sequence, Settings, SystemMode, Tick, TimeNs, TimeSeconds, WalletAddress,
};

/// An account as the generator sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KnownAccount {
    pub(crate) wallet: WalletAddress,
    pub(crate) owner: AccountNumber,
    /// Free collateral in micros.
    pub(crate) free: u64,
}

/// A market as the generator sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KnownMarket {
    pub(crate) tick: Tick,
    pub(crate) fee: FeeSchedule,
    pub(crate) state: MarketState,
    pub(crate) minimum_size: Lots,
    /// Of a listed question.
    pub(crate) event: Option<EventNumber>,
    pub(crate) index: Option<QuestionIndex>,
    pub(crate) payout: Option<Payout>,
    pub(crate) holds: HoldSet,
}

/// A group of quotes, and the commands of its last fills.
#[derive(Clone, Debug)]
pub(crate) struct KnownGroup {
    pub(crate) group: state::QuoteGroup,
    pub(crate) fills: Vec<Sequence>,
}

/// The generator's knowledge.
#[derive(Clone, Debug)]
pub(crate) struct World {
    /// Of the last applied command.
    pub(crate) sequence: Sequence,
    pub(crate) time: TimeNs,
    /// Open and disputed proposals.
    pub(crate) proposals: Vec<(MarketNumber, Sequence)>,
    /// Live operators.
    pub(crate) operators: Vec<(OperatorNumber, OperatorRole)>,
    /// Withdrawals that wait, with their accounts.
    pub(crate) withdrawals: Vec<(Sequence, AccountNumber)>,
    /// When things fall due, rebates apart.
    due: Vec<TimeNs>,
    pub(crate) accounts: Vec<KnownAccount>,
    /// Owners of the keys by number; `None` for keys that may not trade.
    pub(crate) keys: Vec<Option<AccountNumber>>,
    pub(crate) markets: Vec<KnownMarket>,
    /// Questions of the events by number.
    pub(crate) events: Vec<u32>,
    pub(crate) mode: SystemMode,
    pub(crate) settings: Settings,
    pub(crate) fees: u64,
    /// Whether work is pending.
    pub(crate) is_pending: bool,
    pub(crate) groups: Vec<KnownGroup>,
    /// Resting orders.
    pub(crate) resting: Vec<state::Order>,
    /// Live orders.
    pub(crate) orders: Vec<(OrderId, AccountNumber)>,
    /// Delayed orders among them whose cancel is noted.
    pub(crate) ending: Vec<(OrderId, AccountNumber)>,
    /// Orders of `placed` that the book killed and that are remembered.
    pub(crate) killed: Vec<PlaceOrder>,
    positions: Vec<(AccountNumber, MarketNumber, [Lots; 2])>,
    /// Placements sent.
    pub(crate) placed: Vec<PlaceOrder>,
    /// Commands with a reference that were sent.
    pub(crate) with_reference: Vec<Command>,
    /// All commands sent.
    pub(crate) sent: Vec<Command>,
}

impl World {
    /// Before the first command.
    pub(crate) fn new() -> Self {
        Self {
            sequence: Sequence(0),
            time: TimeNs(0),
            proposals: Vec::new(),
            operators: Vec::new(),
            withdrawals: Vec::new(),
            due: Vec::new(),
            accounts: Vec::new(),
            keys: Vec::new(),
            markets: Vec::new(),
            events: Vec::new(),
            mode: SystemMode::Running,
            settings: Settings::default(),
            fees: 0,
            is_pending: false,
            groups: Vec::new(),
            resting: Vec::new(),
            orders: Vec::new(),
            ending: Vec::new(),
            killed: Vec::new(),
            positions: Vec::new(),
            placed: Vec::new(),
            with_reference: Vec::new(),
            sent: Vec::new(),
        }
    }

    /// Records a command and the state after it.
    pub(crate) fn observe(&mut self, command: &Command, state: &[StateRecord]) {
        self.sent.push(*command);
        match command {
            Command::PlaceOrder(placed) => self.placed.push(*placed),
            Command::Deposit(_)
            | Command::Withdraw(_)
            | Command::WithdrawFees(_)
            | Command::Split(_)
            | Command::Merge(_)
            | Command::Redeem(_)
            | Command::Convert(_)
            | Command::Propose(_) => self.with_reference.push(*command),
            _ => {}
        }
        self.accounts.clear();
        self.keys.clear();
        self.markets.clear();
        self.events.clear();
        self.groups.clear();
        self.resting.clear();
        self.orders.clear();
        self.ending.clear();
        self.killed.clear();
        self.positions.clear();
        self.proposals.clear();
        self.operators.clear();
        self.withdrawals.clear();
        self.due.clear();
        for record in state {
            self.observe_record(record);
        }
    }

    fn observe_record(&mut self, record: &StateRecord) {
        match *record {
            StateRecord::System(state::System {
                sequence,
                time,
                mode,
                settings,
                fees,
                pending,
                ..
            }) => {
                self.sequence = sequence;
                self.time = time;
                self.mode = mode;
                self.settings = settings;
                self.fees = fees.0;
                self.is_pending = pending.is_some();
            }
            StateRecord::Account(state::Account {
                wallet,
                owner,
                free,
                ..
            }) => self.accounts.push(KnownAccount {
                wallet,
                owner,
                free: free.0,
            }),
            StateRecord::Key(state::Key {
                owner,
                read_only,
                live,
                ..
            }) => self.keys.push((live && !read_only).then_some(owner)),
            StateRecord::Event(state::Event { questions, .. }) => self.events.push(questions),
            StateRecord::Market(state::Market {
                tick,
                fee,
                state,
                minimum_size,
                question,
                index,
                payout,
                holds,
                ..
            }) => self.markets.push(KnownMarket {
                tick,
                fee,
                state,
                minimum_size,
                event: question
                    .filter(|(_, place)| *place != OUTSIDE_INDEX)
                    .map(|(event, _)| event),
                index,
                payout,
                holds,
            }),
            StateRecord::Position(state::Position {
                account,
                market,
                free,
                ..
            }) => self.positions.push((account, market, free)),
            StateRecord::Order(order) => {
                self.resting.push(order);
                self.orders.push((order.id, order.account));
                self.expires(order.expiration);
            }
            StateRecord::DelayedOrder(state::DelayedOrder {
                id,
                account,
                market,
                expiration,
                due,
                cancel,
                ..
            }) => {
                self.orders.push((id, account));
                if cancel.is_some() {
                    self.ending.push((id, account));
                }
                self.expires(expiration);
                let is_active = self.market(market).state == MarketState::Active;
                if is_active && self.mode == SystemMode::Running {
                    self.due.push(due);
                }
            }
            StateRecord::Terms(state::Terms {
                market,
                terms,
                clear_armed,
            }) => self.observe_terms(market, &terms, clear_armed),
            StateRecord::Proposal(state::Proposal {
                market,
                proposal,
                time,
                window_seconds,
                by_time,
                disputed,
                ..
            }) => {
                self.proposals.push((market, proposal));
                if by_time && !disputed {
                    let window = u64::from(window_seconds) * 1_000_000_000;
                    self.due.push(TimeNs(time.0.saturating_add(window)));
                }
            }
            StateRecord::Operator(state::Operator {
                operator,
                role,
                live: true,
                ..
            }) => self.operators.push((operator, role)),
            StateRecord::PendingWithdrawal(state::PendingWithdrawal {
                withdrawal,
                account,
                ..
            }) => self.withdrawals.push((withdrawal, account)),
            StateRecord::QuoteGroup(group) => {
                if self.quotes_of(group.account, group.group).next().is_some() {
                    self.due.push(group.until);
                }
                let fills = Vec::new();
                self.groups.push(KnownGroup { group, fills });
            }
            StateRecord::QuoteFill(state::QuoteFill {
                account,
                group,
                sequence,
                ..
            }) => {
                let mut groups = self.groups.iter_mut();
                let of = groups
                    .find(|known| (known.group.account, known.group.group) == (account, group));
                of.expect("a fill has a group").fills.push(sequence);
            }
            StateRecord::RememberedOrder(state::RememberedOrder {
                id,
                state: OrderIdState::Killed { .. },
                ..
            }) => {
                let mut placed = self.placed.iter();
                self.killed.extend(placed.find(|placed| placed.order == id));
            }
            _ => {}
        }
    }

    fn expires(&mut self, expiration: TimeSeconds) {
        if expiration.0 > 0 {
            let safety = self.settings.gtd_safety_seconds;
            let due = TimeSeconds(expiration.0.saturating_sub(safety));
            self.due.push(due.start());
        }
    }

    fn observe_terms(&mut self, market: MarketNumber, terms: &MarketTerms, clear_armed: bool) {
        use MarketState::{Active, Paused, Registered};
        let state = self.market(market).state;
        let trades = matches!(state, Active | Paused);
        let things = [
            (terms.opens_at, state == Registered),
            (terms.game_start_time, clear_armed && trades),
            (terms.closes_at, state == Registered || trades),
        ];
        let due = things
            .into_iter()
            .filter(|(at, is_open)| at.0 > 0 && *is_open);
        self.due
            .extend(due.map(|(at, _)| TimeNs(at.0.saturating_mul(1_000_000))));
    }

    /// A group, if it is known.
    pub(crate) fn group(&self, account: AccountNumber, group: u8) -> Option<&KnownGroup> {
        let mut groups = self.groups.iter();
        groups.find(|known| (known.group.account, known.group.group) == (account, group))
    }

    /// The live quotes of a group.
    pub(crate) fn quotes_of(
        &self,
        account: AccountNumber,
        group: u8,
    ) -> impl Iterator<Item = &state::Order> {
        let is_of =
            move |order: &&state::Order| order.account == account && order.group == Some(group);
        self.resting.iter().filter(is_of)
    }

    /// When the first thing falls due.
    pub(crate) fn first_due(&self) -> Option<TimeNs> {
        self.due.iter().copied().min()
    }

    /// Number of questions of an event; 0 when there is no such event.
    pub(crate) fn questions_of(&self, event: EventNumber) -> u32 {
        self.events.get(event.0 as usize).copied().unwrap_or(0)
    }

    /// The listed questions of an event.
    pub(crate) fn listed(&self, event: EventNumber) -> impl Iterator<Item = &KnownMarket> {
        (self.markets.iter()).filter(move |market| market.event == Some(event))
    }

    /// Keys that may trade for an account.
    pub(crate) fn keys_for(&self, account: AccountNumber) -> Vec<KeyNumber> {
        let Some(account) = self.accounts.get(account.0 as usize) else {
            return Vec::new();
        };
        (0..)
            .zip(&self.keys)
            .filter(|(_, owner)| **owner == Some(account.owner))
            .map(|(number, _)| KeyNumber(number))
            .collect()
    }

    /// A market's terms, or default terms when there is no such market.
    pub(crate) fn market(&self, market: MarketNumber) -> KnownMarket {
        self.markets
            .get(market.0 as usize)
            .copied()
            .unwrap_or(KnownMarket {
                tick: Tick::Hundredth,
                fee: FeeSchedule::default(),
                state: MarketState::Registered,
                minimum_size: Lots(1),
                event: None,
                index: None,
                payout: None,
                holds: HoldSet::NONE,
            })
    }

    /// Markets in one of these states.
    pub(crate) fn markets_in(&self, states: &[MarketState]) -> Vec<MarketNumber> {
        (0..)
            .zip(&self.markets)
            .filter(|(_, market)| states.contains(&market.state))
            .map(|(number, _)| MarketNumber(number))
            .collect()
    }

    /// Accounts some key may trade for.
    pub(crate) fn traders(&self) -> Vec<AccountNumber> {
        (0..)
            .zip(&self.accounts)
            .filter(|(_, account)| self.keys.contains(&Some(account.owner)))
            .map(|(number, _)| AccountNumber(number))
            .collect()
    }

    /// Usable holdings in markets of these states.
    pub(crate) fn holdings(
        &self,
        states: &[MarketState],
    ) -> Vec<(AccountNumber, MarketNumber, [Lots; 2])> {
        self.positions
            .iter()
            .filter(|(_, market, free)| {
                states.contains(&self.market(*market).state) && *free != [Lots::ZERO; 2]
            })
            .copied()
            .collect()
    }

    /// Questions of an event of which an account has at least this many free No lots.
    pub(crate) fn no_holdings(
        &self,
        account: AccountNumber,
        event: EventNumber,
    ) -> Vec<(u32, u64)> {
        let questions = (0..)
            .zip(&self.markets)
            .filter(|(_, market)| market.event == Some(event));
        (0..)
            .zip(questions)
            .map(|(question, (market, _))| {
                (question, self.shares(account, MarketNumber(market))[1])
            })
            .filter(|(_, no)| *no > 0)
            .collect()
    }

    /// Free collateral of an account in micros.
    pub(crate) fn free(&self, account: AccountNumber) -> u64 {
        self.accounts
            .get(account.0 as usize)
            .map_or(0, |account| account.free)
    }

    /// Free lots of `[Yes, No]`.
    pub(crate) fn shares(&self, account: AccountNumber, market: MarketNumber) -> [u64; 2] {
        self.positions
            .iter()
            .find(|(holder, of, _)| *holder == account && *of == market)
            .map_or([0, 0], |(_, _, free)| [free[0].0, free[1].0])
    }
}
