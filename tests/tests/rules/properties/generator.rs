//! One sequence of commands: first the setup of a world, then commands by style.

mod draws;
mod market_life;
mod quotes;
mod settings;

use std::collections::{BTreeSet, HashMap, VecDeque};

use foretell_model::command::{
    ArchiveMarket, AttestState, Begin, BindWallet, CancelAll, CancelMarketOrders, CancelOrder,
    Convert, DecreaseOrder, Deposit, DescribeMarket, MarketDetails, Merge, MoveClock, PauseMarket,
    Redeem, RegisterDomain, RegisterKey, RegisterMarket, ResolveMarket, ResumeMarket, RevokeKey,
    SetClosedOnly, SetFee, SetHeartbeat, SetMinimumSize, SetTick, Split, Withdraw, WithdrawFees,
};
use foretell_model::limits::{MAX_QUESTIONS, NEWEST_RULES};
use foretell_model::state::StateRecord;
use foretell_model::{
    AccountNumber, ApiKey, Command, CommandStamp, ConditionId, ContentDigest, DomainNumber,
    EventId, EventNumber, Hold, KeyNumber, Lots, MarketNumber, MarketState, MarketTerms, Micros,
    Opening, OrderId, OrderType, Outcome, Payout, QuestionIndex, QuestionSet, Reference, Sequence,
    SlugDigest, SystemMode, TimeNs, TokenId, WalletKind,
};

use crate::properties::placements::placement;
use crate::properties::rng::Rng;
use crate::properties::style::{Flavour, Kind, Style};
use crate::properties::world::World;
use draws::wallet_address;

/// Start time of every sequence: not a whole second.
const START: TimeNs = TimeNs(1_700_000_000_123_456_789);
const SECOND: u64 = 1_000_000_000;

/// A command as it is sent.
#[derive(Clone, Debug)]
pub(crate) struct Sent {
    pub(crate) command: Command,
    /// Its tail; without its evidence.
    pub(crate) beside: Vec<u8>,
    pub(crate) stamp: CommandStamp,
}

/// Makes the commands of one sequence.
#[derive(Clone)]
pub(crate) struct Generator {
    rng: Rng,
    style: Style,
    world: World,
    now: TimeNs,
    /// Commands of the setup that are still to be sent.
    prelude: VecDeque<Command>,
    /// Number of references and requests assigned.
    names: u32,
    /// Number of requested withdrawals.
    requested: u64,
    /// Tails of the sets of quotes by the digest of their set.
    tails: HashMap<OrderId, Vec<u8>>,
    /// Details of registrations by their condition.
    details: HashMap<ConditionId, MarketDetails>,
    /// In a sandbox: the commands since the prelude.
    moves: Option<usize>,
}

impl Generator {
    pub(crate) fn new(seed: u64) -> Self {
        let mut rng = Rng::new(seed);
        let style = Style::new(&mut rng);
        let mut generator = Self {
            rng,
            style,
            world: World::new(),
            now: START,
            prelude: VecDeque::new(),
            names: 0,
            requested: 0,
            tails: HashMap::new(),
            details: HashMap::new(),
            moves: None,
        };
        generator.prelude = generator.make_prelude();
        // By the seed, not drawn: other sequences stay as they are. The second one is rejected.
        if seed % 20 == 19 {
            generator.moves = Some(0);
            for _ in 0..2 {
                let first = Command::Begin(Begin {
                    sandbox: true,
                    pays_on_redeem: seed % 40 == 39,
                    simulated_until: START,
                });
                generator.prelude.push_front(first);
            }
        }
        generator
    }

    /// The next command; `None` at the end.
    pub(crate) fn next_sent(&mut self) -> Option<Sent> {
        if self.world.sent.len() >= self.style.commands {
            return None;
        }
        let (command, time) = if let Some(command) = self.prelude.pop_front() {
            (command, self.now)
        } else {
            let time = self.pass_time();
            let due = self.due_command(time.max(self.world.time));
            let due = due.or_else(|| self.next_move());
            (due.unwrap_or_else(|| self.any_command()), time)
        };
        let stamp = self.stamp(&command, time);
        Some(Sent {
            beside: self.tail_of(&command),
            command,
            stamp,
        })
    }

    /// In a sandbox every 20th command moves the clock: by a span, to a time, too far, not at all; it stops it, or lets it
    /// run. Counted, not drawn.
    fn next_move(&mut self) -> Option<Command> {
        let number = self.moves.as_mut()?;
        *number += 1;
        if *number % 20 != 0 {
            return None;
        }
        let (number, now) = (*number / 20, self.world.time);
        let to = [
            0,
            0,
            0,
            now.0.saturating_add(1),
            now.0.saturating_sub(1),
            u64::MAX,
        ];
        Some(Command::MoveClock(MoveClock {
            wall: TimeNs(now.0 / 2),
            by: [0, SECOND, 3_600 * SECOND, u64::MAX][number % 4],
            to: TimeNs(to[number % 6]),
            frozen: [None, Some(true), Some(false)][number % 3],
        }))
    }

    /// Records the result of the last command.
    pub(crate) fn observe(&mut self, command: &Command, state: &[StateRecord]) {
        self.world.observe(command, state);
    }

    /// Time stops, crawls, leaps, and sometimes a command has an earlier one.
    fn pass_time(&mut self) -> TimeNs {
        let rng = &mut self.rng;
        let leap = rng.percent(self.style.leaps);
        let passes = match rng.below(100) {
            _ if leap && rng.below(500) == 0 => u64::MAX,
            _ if leap => match rng.below(20) {
                0 => 40 * 24 * 3_600 * SECOND,
                1 => 700 * SECOND,
                2..=5 => 91 * SECOND,
                _ => rng.below(120) * SECOND,
            },
            chance if chance < self.style.still => 0,
            chance if chance < 90 => rng.below(1_500) * 1_000_000,
            _ => 1 + rng.below(1_000),
        };
        self.now.0 = self.now.0.saturating_add(passes);
        if rng.percent(2) {
            TimeNs(self.now.0 - rng.below(10 * SECOND))
        } else {
            self.now
        }
    }

    fn make_prelude(&mut self) -> VecDeque<Command> {
        let mut prelude = VecDeque::new();
        if self.rng.percent(1) {
            return prelude;
        }
        if self.rng.percent(80) {
            prelude.push_back(Command::ChangeSettings {
                settings: self.settings().into(),
            });
        }
        for wallet in 0..self.style.wallets {
            let amount = self.rng.pick(&[
                0,
                12_345,
                3_000_000,
                100_000_000,
                100_000_000,
                5_000_000_000,
                900_000_000_000,
                900_000_000_000,
            ]);
            let reference = self.fresh_reference();
            prelude.push_back(Command::Deposit(Deposit {
                wallet: wallet_address(wallet),
                amount: Micros(amount + self.rng.below(100)),
                reference,
            }));
        }
        for (wallet, kind) in [(1, WalletKind::Proxy), (2, WalletKind::Safe)] {
            if self.rng.percent(40) {
                prelude.push_back(Command::BindWallet(BindWallet {
                    owner: wallet_address(0),
                    wallet: wallet_address(wallet),
                    kind,
                }));
            }
        }
        for wallet in 0..self.style.wallets {
            prelude.push_back(Command::RegisterKey(RegisterKey {
                owner: wallet_address(wallet),
                nonce: [0; 32],
                api_key: ApiKey([u8::try_from(wallet).expect("few wallets"); 16]),
                read_only: false,
            }));
        }
        self.prelude_of_markets(&mut prelude);
        if self.style.flavour == Flavour::MarketLife {
            self.prelude_of_market_life(&mut prelude);
        }
        if self.style.flavour == Flavour::Quotes {
            self.prelude_of_quotes(&mut prelude);
        }
        prelude
    }

    fn prelude_of_markets(&mut self, prelude: &mut VecDeque<Command>) {
        prelude.push_back(Command::RegisterEvent { event: EventId(0) });
        let questions = match self.style.flavour {
            // Some are rejected for their fee or tokens.
            Flavour::ManyQuestions => MAX_QUESTIONS + 30,
            _ => 2 + self.rng.number(3),
        };
        let plain = 1 + self.rng.number(2);
        let has_indexes = self.rng.percent(40);
        for market in 0..plain + questions {
            let mut wanted = self.market_to_register(market);
            wanted.event = (market >= plain).then_some(EventNumber(0));
            let index = u8::try_from(market - market.min(plain)).unwrap_or(u8::MAX);
            wanted.index = (has_indexes && market >= plain)
                .then(|| QuestionIndex::from_code(127 - index.min(127)))
                .flatten();
            wanted.minimum_size = Lots(self.rng.pick(&[1, 1, 1, 500]));
            // A question that opens ends its list.
            let opening = match self.rng.percent(50) && market < plain {
                true => Opening::Now,
                false => Opening::Later,
            };
            self.details.entry(wanted.condition).and_modify(|details| {
                details.terms = MarketTerms::default();
                details.opening = opening;
                details.needs_slug = false;
            });
            prelude.push_back(Command::RegisterMarket(wanted));
        }
        // Number 0 is the outside question.
        for market in 1..=plain + questions {
            if self.style.flavour == Flavour::ManyQuestions || self.rng.percent(95) {
                prelude.push_back(Command::ActivateMarket {
                    market: MarketNumber(market),
                });
            }
        }
        let holders = u32::try_from(self.style.wallets).expect("few wallets");
        for market in 1..=(plain + questions).min(6) {
            for account in 0..holders {
                if self.rng.percent(50) {
                    prelude.push_back(Command::Split(Split {
                        account: AccountNumber(account),
                        market: MarketNumber(market),
                        lots: Lots(self.rng.pick(&self.style.lots)),
                        reference: self.fresh_reference(),
                    }));
                }
            }
        }
    }

    fn any_command(&mut self) -> Command {
        // Nothing trades while the system is not running, so such states are short.
        if self.world.mode != SystemMode::Running && self.rng.percent(20) {
            return Command::SetMode {
                mode: SystemMode::Running,
            };
        }
        let kind = self.style.kind(&mut self.rng);
        self.command(kind)
    }

    fn command(&mut self, kind: Kind) -> Command {
        match kind {
            Kind::Place => {
                let (account, market) = (self.trader(), self.market());
                Command::PlaceOrder(placement(
                    &mut self.rng,
                    &self.style,
                    &self.world,
                    account,
                    market,
                    self.now,
                ))
            }
            Kind::CancelOrder => {
                let (owner, order) = self.named_order();
                Command::CancelOrder(CancelOrder { owner, order })
            }
            Kind::DecreaseOrder => {
                let (owner, order) = self.named_order();
                let lots = Lots(self.rng.below(60));
                Command::DecreaseOrder(DecreaseOrder { owner, order, lots })
            }
            Kind::SetQuotes | Kind::RenewQuotes | Kind::SetQuoteLimits => self.quotes_command(kind),
            Kind::CancelAll => Command::CancelAll(CancelAll {
                owner: self.owner(),
                heartbeat: self.rng.percent(30),
            }),
            Kind::CancelMarketOrders => Command::CancelMarketOrders(CancelMarketOrders {
                owner: self.owner(),
                market: self.market(),
                outcome: self
                    .rng
                    .pick(&[None, Some(Outcome::Yes), Some(Outcome::No)]),
            }),
            Kind::Deposit
            | Kind::Withdraw
            | Kind::WithdrawFees
            | Kind::BindWallet
            | Kind::UnbindWallet
            | Kind::SetClosedOnly
            | Kind::RegisterKey
            | Kind::RevokeKey
            | Kind::SetHeartbeat => self.account_command(kind),
            Kind::Split | Kind::Merge | Kind::Redeem | Kind::Convert => self.action(kind),
            Kind::Again | Kind::Altered => self.resend(kind == Kind::Altered),
            Kind::SetMode
            | Kind::ChangeSettings
            | Kind::SwitchRules
            | Kind::AcceptDivergence
            | Kind::RegisterDomain
            | Kind::AdvanceTime
            | Kind::Continue
            | Kind::AttestState => self.system_command(kind),
            Kind::RequestWithdrawal
            | Kind::CancelWithdrawal
            | Kind::ClaimWithdrawal
            | Kind::PayWithdrawal
            | Kind::FailWithdrawal
            | Kind::Restore
            | Kind::OpenWithdrawals
            | Kind::Reopen => self.withdrawal_command(kind),
            Kind::PayRebates
            | Kind::SetTerms
            | Kind::Propose
            | Kind::Dispute
            | Kind::WithdrawProposal
            | Kind::Finalise
            | Kind::SetPolicy
            | Kind::ClearPolicy
            | Kind::ListWallet
            | Kind::Step
            | Kind::SetPayments
            | Kind::AddOperator
            | Kind::RevokeOperator
            | Kind::DescribeEvent
            | Kind::DescribeWallet => self.market_life_command(kind),
            _ => self.market_command(kind),
        }
    }

    /// An order, mostly a live one, and mostly its owner.
    fn named_order(&mut self) -> (AccountNumber, OrderId) {
        let live = !self.world.orders.is_empty() && self.rng.percent(80);
        let (order, account) = if !self.world.ending.is_empty() && self.rng.percent(20) {
            self.rng.pick(&self.world.ending)
        } else if live {
            self.rng.pick(&self.world.orders)
        } else if self.world.placed.is_empty() {
            (OrderId::ZERO, self.account())
        } else {
            let placed = self.rng.pick(&self.world.placed);
            (placed.order, placed.account)
        };
        let owner = match self.world.accounts.get(account.0 as usize) {
            Some(known) if self.rng.percent(85) => known.owner,
            _ => self.account(),
        };
        (owner, order)
    }

    fn account_command(&mut self, kind: Kind) -> Command {
        match kind {
            Kind::Deposit => Command::Deposit(Deposit {
                wallet: self.wallet(),
                amount: Micros(self.deposit()),
                reference: self.reference(),
            }),
            Kind::Withdraw => {
                let wallet = self.wallet();
                let known = self.world.accounts.iter();
                let free = known
                    .filter(|account| account.wallet == wallet)
                    .map(|account| account.free)
                    .sum();
                Command::Withdraw(Withdraw {
                    wallet,
                    amount: Micros(self.amount(free)),
                    reference: self.reference(),
                })
            }
            Kind::WithdrawFees => Command::WithdrawFees(WithdrawFees {
                amount: Micros(self.amount(self.world.fees)),
                reference: self.reference(),
            }),
            Kind::BindWallet => Command::BindWallet(BindWallet {
                owner: self.wallet(),
                wallet: self.wallet(),
                kind: self.rng.pick(WalletKind::ALL),
            }),
            Kind::UnbindWallet => Command::UnbindWallet {
                wallet: self.wallet(),
            },
            Kind::SetClosedOnly => Command::SetClosedOnly(SetClosedOnly {
                wallet: self.wallet(),
                closed_only: self.rng.percent(40),
            }),
            Kind::RegisterKey => {
                let many = self.style.flavour == Flavour::ManyKeys;
                let range = if many { 200 } else { 8 };
                let nonce = u8::try_from(self.rng.below(range.min(30))).expect("below 30");
                let api_key = u8::try_from(self.rng.below(range)).expect("below 200");
                Command::RegisterKey(RegisterKey {
                    owner: if many && self.rng.percent(80) {
                        wallet_address(0)
                    } else {
                        self.wallet()
                    },
                    nonce: [nonce; 32],
                    api_key: ApiKey([api_key; 16]),
                    read_only: self.rng.percent(20),
                })
            }
            Kind::RevokeKey => {
                let known = u32::try_from(self.world.keys.len()).expect("few keys");
                Command::RevokeKey(RevokeKey {
                    key: KeyNumber(self.rng.number(known + 1)),
                    cancel_orders: self.rng.percent(50),
                })
            }
            _ => Command::SetHeartbeat(SetHeartbeat {
                owner: self.owner(),
                on: self.rng.percent(50),
            }),
        }
    }

    fn action(&mut self, kind: Kind) -> Command {
        let (account, market) = self.holding(kind);
        let [yes, no] = self.world.shares(account, market);
        let reference = self.reference();
        match kind {
            Kind::Split => Command::Split(Split {
                account,
                market,
                lots: Lots(self.sets(self.world.free(account) / 10_000)),
                reference,
            }),
            Kind::Merge => Command::Merge(Merge {
                account,
                market,
                lots: Lots(self.sets(yes.min(no))),
                reference,
            }),
            Kind::Redeem => Command::Redeem(Redeem {
                account,
                market,
                reference,
            }),
            _ => self.convert(account, reference),
        }
    }

    /// A number of sets small enough for many actions, or any amount.
    fn sets(&mut self, useful: u64) -> u64 {
        if self.style.flavour == Flavour::ManyReferences {
            1 + self.rng.below(2)
        } else {
            self.amount(useful)
        }
    }

    /// Usually an account that has the shares for the action.
    fn holding(&mut self, kind: Kind) -> (AccountNumber, MarketNumber) {
        use MarketState::{Active, Closed, Paused, Resolved};
        if self.style.flavour == Flavour::ManyReferences && self.rng.percent(90) {
            return (AccountNumber(0), self.market());
        }
        let holdings = match kind {
            Kind::Split => Vec::new(),
            Kind::Redeem => self.world.holdings(&[Resolved]),
            _ => self.world.holdings(&[Active, Paused, Closed]),
        };
        if holdings.is_empty() || self.rng.percent(20) {
            (self.account(), self.market())
        } else {
            let (account, market, _) = self.rng.pick(&holdings);
            (account, market)
        }
    }

    /// Usually of questions whose No the account has.
    fn convert(&mut self, account: AccountNumber, reference: Reference) -> Command {
        let event = self.event();
        let mut held = self.world.no_holdings(account, event);
        held.retain(|_| self.rng.percent(70));
        let (questions, lots) = if held.is_empty() || self.rng.percent(20) {
            (self.questions(event), self.rng.pick(&self.style.lots))
        } else {
            let questions = held
                .iter()
                .fold(QuestionSet::default(), |set, (question, _)| {
                    set.with(*question)
                });
            (questions, held.iter().map(|(_, no)| *no).min().unwrap_or(1))
        };
        Command::Convert(Convert {
            account,
            event,
            questions,
            lots: Lots(self.amount(lots)),
            reference,
        })
    }

    fn market_command(&mut self, kind: Kind) -> Command {
        let market = self.market_for(kind);
        match kind {
            Kind::RegisterEvent => Command::RegisterEvent {
                event: EventId(self.rng.below(3)),
            },
            Kind::RegisterMarket => {
                let known = u32::try_from(self.world.markets.len()).expect("few markets");
                let next = match self.rng.below(4) {
                    0 => self.rng.number(known + 1),
                    _ => known,
                };
                Command::RegisterMarket(self.market_to_register(next))
            }
            Kind::DescribeMarket => {
                let slug = self.slug();
                Command::DescribeMarket(DescribeMarket {
                    market,
                    slug: self.rng.percent(50).then_some(slug),
                })
            }
            Kind::ActivateMarket => Command::ActivateMarket { market },
            Kind::PauseMarket => Command::PauseMarket(PauseMarket {
                market,
                hold: self.rng.pick(Hold::ALL),
            }),
            Kind::ResumeMarket => {
                let holds = self.world.market(market).holds;
                let is_upstreams = holds.contains(Hold::Upstream) || self.rng.percent(5);
                let hold = match is_upstreams {
                    true => Hold::Upstream,
                    false => Hold::Operator,
                };
                Command::ResumeMarket(ResumeMarket { market, hold })
            }
            Kind::CloseMarket => Command::CloseMarket { market },
            Kind::ResolveMarket => Command::ResolveMarket(ResolveMarket {
                market,
                payout: self.payout(market),
                replaces: self.replaced(market),
            }),
            Kind::ArchiveMarket => Command::ArchiveMarket(ArchiveMarket {
                market,
                archived: self.rng.percent(60),
            }),
            Kind::SetTick => Command::SetTick(SetTick {
                market,
                tick: self.tick(),
            }),
            Kind::SetMinimumSize => Command::SetMinimumSize(SetMinimumSize {
                market,
                minimum_size: self.minimum_size(),
            }),
            _ => Command::SetFee(SetFee {
                market,
                fee: self.fee(),
            }),
        }
    }

    /// Mostly No for a question while others are open, and outside for the last one.
    fn payout(&mut self, market: MarketNumber) -> Payout {
        let event = self.world.market(market).event;
        let Some(event) = event.filter(|_| self.rng.percent(50)) else {
            return self.rng.pick(Payout::ALL);
        };
        let listed = self.world.listed(event);
        match listed.filter(|listed| listed.payout.is_none()).count() {
            1 => Payout::Outside,
            _ => Payout::No,
        }
    }

    fn system_command(&mut self, kind: Kind) -> Command {
        match kind {
            Kind::SetMode => Command::SetMode {
                mode: if self.rng.percent(60) {
                    SystemMode::Running
                } else {
                    self.rng.pick(SystemMode::ALL)
                },
            },
            Kind::ChangeSettings => Command::ChangeSettings {
                settings: self.settings_update(),
            },
            Kind::SwitchRules => Command::SwitchRules {
                rules: self.rng.pick(&[0, 1, NEWEST_RULES + 1, u32::MAX]),
            },
            Kind::AcceptDivergence => Command::AcceptDivergence {
                sequence: Sequence(self.rng.below(300)),
            },
            Kind::RegisterDomain => Command::RegisterDomain(RegisterDomain {
                domain: DomainNumber(self.rng.pick(&[0, 1, 2, u8::MAX])),
                separator: [self.rng.pick(&[1, 2]); 32],
            }),
            Kind::AdvanceTime => Command::AdvanceTime,
            Kind::AttestState => Command::AttestState(AttestState {
                sequence: {
                    let last = self.world.sequence.0;
                    let earlier = self.rng.below(last + 1);
                    Sequence(self.rng.pick(&[0, earlier, last, last + 1, u64::MAX]))
                },
                state: [self.rng.pick(&[1, 2]); 32],
                snapshot: [self.rng.pick(&[3, 4]); 32],
            }),
            _ => Command::Continue,
        }
    }

    /// An earlier command, as a client resends it, or with one change.
    fn resend(&mut self, altered: bool) -> Command {
        if self.world.sent.is_empty() {
            return Command::AdvanceTime;
        }
        let mut command = match self.rng.below(5) {
            0 if !self.world.placed.is_empty() => {
                Command::PlaceOrder(self.rng.pick(&self.world.placed))
            }
            4 if !self.world.killed.is_empty() => {
                Command::PlaceOrder(self.rng.pick(&self.world.killed))
            }
            1 if !self.world.with_reference.is_empty() => self.with_reference(),
            _ => self.rng.pick(&self.world.sent),
        };
        if altered {
            self.alter(&mut command);
        }
        command
    }

    /// An earlier command with a reference: each kind of command as likely as another.
    fn with_reference(&mut self) -> Command {
        let known = &self.world.with_reference;
        let kinds: BTreeSet<u8> = known.iter().map(Command::code).collect();
        let kind = self.rng.pick(&kinds.into_iter().collect::<Vec<_>>());
        let mut of_kind = self.world.with_reference.clone();
        of_kind.retain(|command| command.code() == kind);
        self.rng.pick(&of_kind)
    }

    fn alter(&mut self, command: &mut Command) {
        match command {
            Command::PlaceOrder(placed) => match self.rng.below(5) {
                0 => placed.post_only = !placed.post_only,
                1 => placed.order_type = self.rng.pick(OrderType::ALL),
                2 => placed.key = KeyNumber(placed.key.0.wrapping_add(1)),
                3 => placed.expiration.0 = placed.expiration.0.wrapping_add(1),
                // Outside of the changeable fields: a real id would differ, but the core cannot
                // detect that.
                _ => placed.maker_amount = placed.maker_amount.wrapping_add(10_000),
            },
            Command::Deposit(Deposit { amount, .. })
            | Command::Withdraw(Withdraw { amount, .. })
            | Command::WithdrawFees(WithdrawFees { amount, .. }) => {
                amount.0 = amount.0.saturating_add(1)
            }
            Command::Split(Split { lots, .. }) | Command::Merge(Merge { lots, .. }) => {
                lots.0 = lots.0.saturating_add(1);
            }
            Command::Redeem(Redeem { market, .. }) => market.0 = market.0.wrapping_add(1),
            Command::Convert(Convert { questions, .. }) => *questions = questions.with(1),
            Command::RegisterMarket(market) => match self.rng.below(3) {
                0 => market.tokens.swap(0, 1),
                1 => market.has_details = !market.has_details,
                _ => {
                    let details = self.details.entry(market.condition).or_default();
                    details.content.0[0] ^= 1;
                }
            },
            Command::SetQuotes(set) => self.alter_set(set),
            Command::RegisterKey(RegisterKey { read_only, .. }) => *read_only = !*read_only,
            _ => {}
        }
    }

    fn market_to_register(&mut self, index: u32) -> RegisterMarket {
        let taken = self.rng.percent(4);
        let token = |number: u32| {
            let mut token = [7; 32];
            token[28..].copy_from_slice(&number.to_be_bytes());
            TokenId(token)
        };
        let mut condition = [9; 32];
        condition[..4].copy_from_slice(&index.to_be_bytes());
        let event = self.rng.percent(50).then(|| self.event());
        let condition = ConditionId(condition);
        let has_details = self.rng.percent(60);
        if has_details && (self.rng.percent(30) || !self.details.contains_key(&condition)) {
            let details = self.market_details();
            self.details.insert(condition, details);
        }
        RegisterMarket {
            index: self.index(event),
            condition,
            tokens: [
                token(2 * index),
                token(if taken { 0 } else { 2 * index + 1 }),
            ],
            tick: self.tick(),
            tick_refines: self.rng.percent(70),
            minimum_size: self.minimum_size(),
            fee: self.fee(),
            event,
            has_details,
        }
    }

    fn market_details(&mut self) -> MarketDetails {
        let terms = self.terms().applied_to(MarketTerms::default());
        MarketDetails {
            terms: match self.rng.percent(40) {
                true => terms,
                false => MarketTerms::default(),
            },
            opening: self.rng.pick(Opening::ALL),
            slug: self.slug(),
            needs_slug: self.rng.percent(40),
            content: ContentDigest::of(&[self.rng.pick(&[1, 2, 3])]),
        }
    }

    /// One of few, so that some are taken; sometimes none.
    fn slug(&mut self) -> SlugDigest {
        SlugDigest::of(self.rng.pick(&["", "a", "b", "c", "d", "e", "f", "g"]))
    }

    /// Usually one that goes with the other questions of the event.
    fn index(&mut self, event: Option<EventNumber>) -> Option<QuestionIndex> {
        let first = event.and_then(|event| self.world.listed(event).next().copied());
        let has_one = first.is_some_and(|first| first.index.is_some()) != self.rng.percent(8);
        let index = u8::try_from(self.rng.below(128)).ok();
        index.and_then(QuestionIndex::from_code).filter(|_| has_one)
    }

    fn questions(&mut self, event: EventNumber) -> QuestionSet {
        let questions = self.world.questions_of(event);
        if self.rng.percent(5) {
            return QuestionSet {
                low: self.rng.next(),
                high: self.rng.next(),
            };
        }
        let chance = self.rng.pick(&[20, 50, 100]);
        (0..questions).fold(QuestionSet::default(), |set, question| {
            if self.rng.percent(chance) {
                set.with(question)
            } else {
                set
            }
        })
    }
}
