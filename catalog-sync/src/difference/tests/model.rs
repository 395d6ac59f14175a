//! Random event groups against a model of the exchange that stops at any point and is compared
//! again.

use super::*;

/// The rules of docs/verify/rules.md §11, §12 that concern the sync.
#[derive(Default)]
struct Model {
    markets: HashMap<ConditionId, RegisteredMarket>,
    frozen: bool,
    questions: BTreeSet<ConditionId>,
    registrations: usize,
}

impl Model {
    fn state(&self) -> ExchangeState {
        ExchangeState::of(self.markets.values().cloned())
    }

    fn give(&mut self, command: &Command) {
        match command {
            Command::RegisterEvent(_) => {}
            Command::RegisterMarket(market) => self.register(market),
            Command::ActivateMarket(market) => self.open(&market.condition_id),
            Command::CloseMarket(closed) => {
                let market = self.market(&closed.condition_id);
                assert!(!market.is_over());
                (market.status, market.holds) = (MarketState::Closed, HoldSet::NONE);
            }
            Command::PauseMarket(change) => {
                let market = self.market(&change.condition_id);
                let trades = [MarketState::Active, MarketState::Paused];
                assert!(trades.contains(&market.status) && market.holds == HoldSet::NONE);
                market.status = MarketState::Paused;
                market.holds = market.holds.with(Hold::Upstream);
            }
            Command::ResumeMarket(change) => {
                let market = self.market(&change.condition_id);
                assert!(market.holds.contains(Hold::Upstream));
                (market.status, market.holds) = (MarketState::Active, HoldSet::NONE);
            }
            Command::SetTick(change) => {
                let tick = change.tick_size;
                let market = self.market(&change.condition_id);
                assert!(tick.units() < market.tick.units() && !market.is_over());
                market.tick = tick;
            }
            Command::SetMinimumSize(change) => {
                self.market(&change.condition_id).minimum_size = change.minimum_order_size;
            }
            Command::SetFee(change) => self.market(&change.condition_id).fee = change.fee(),
            Command::ResolveMarket(resolution) => {
                let labels = MarketDescription::default().outcomes;
                let payout = resolution.payout.among("payout", &labels);
                self.resolve(&resolution.condition_id, payout.expect("a place"));
            }
            other => panic!("the sync does not send {other:?}"),
        }
        let frozen = self.frozen;
        for market in self
            .markets
            .values_mut()
            .filter(|market| market.event.is_some())
        {
            market.event_frozen = frozen;
        }
    }

    fn market(&mut self, condition: &ConditionId) -> &mut RegisteredMarket {
        self.markets
            .get_mut(condition)
            .expect("only registered markets are changed")
    }

    fn register(&mut self, market: &MarketRegistration) {
        let terms = &market.terms;
        if self.markets.contains_key(&terms.condition_id) {
            panic!("registered twice");
        }
        self.registrations += 1;
        if terms.event_id.is_some() {
            assert!(!self.frozen, "the list is final");
            self.questions.insert(terms.condition_id);
        }
        let status = if opens(market) {
            MarketState::Active
        } else {
            MarketState::Registered
        };
        assert!(!(opens(market) && terms.event_id.is_some()));
        let here = RegisteredMarket {
            slug: market.description.slug.clone(),
            question: market.description.question.clone(),
            outcomes: market.description.outcomes.clone(),
            slug_taken: false,
            holds: HoldSet::NONE,
            index: terms.question_index,
            condition: terms.condition_id,
            tokens: terms.token_ids,
            status,
            tick: terms.tick(),
            minimum_size: terms.minimum(),
            fee: terms.fee.unwrap_or_default(),
            clock: terms.clock(None).applied_to(MarketClock::default()),
            event: terms.event_id,
            event_frozen: false,
            payout: None,
            own: false,
            end_date: None,
        };
        self.markets.insert(terms.condition_id, here);
    }

    fn open(&mut self, condition: &ConditionId) {
        let market = self.market(condition);
        assert_eq!(market.status, MarketState::Registered);
        market.status = MarketState::Active;
        self.frozen |= market.event.is_some();
    }

    fn resolve(&mut self, condition: &ConditionId, payout: Payout) {
        let market = self.market(condition);
        assert_eq!(market.status, MarketState::Closed);
        let is_question = market.event.is_some();
        assert!(payout != Payout::Half || !is_question);
        (market.status, market.payout) = (MarketState::Resolved, Some(payout));
        if is_question && payout == Payout::Yes {
            let open = |it: &&mut RegisteredMarket| it.event.is_some() && it.payout.is_none();
            for lost in self.markets.values_mut().filter(open) {
                (lost.status, lost.holds) = (MarketState::Resolved, HoldSet::NONE);
                lost.payout = Some(Payout::No);
            }
        }
        let questions = self.markets.values().filter(|it| it.event.is_some());
        let payouts: Vec<_> = questions.map(|it| it.payout).collect();
        let yes = payouts.iter().filter(|it| **it == Some(Payout::Yes));
        let leaves_none = payouts.iter().all(|it| *it == Some(Payout::No));
        assert!(!is_question || (yes.count() <= 1 && !leaves_none));
    }
}

fn any_market(id: u64) -> impl Strategy<Value = CatalogMarket> {
    let life = prop_oneof![
        4 => Just((true, false, None)),
        1 => Just((false, false, None)),
        1 => Just((true, true, None)),
        2 => prop_oneof![Just(Payout::Yes), Just(Payout::No), Just(Payout::Half)].prop_map(|paid| (true, true, Some(paid))),
    ];
    let ticks = prop_oneof![Just(Tick::Hundredth), Just(Tick::Thousandth)];
    (life, any::<[bool; 3]>(), ticks, 1..900_u64, 0..3_u32).prop_map(
        move |((active, closed, payout), [neg_risk, accepting, binary], tick, minimum, rate)| {
            let mut market = with(id, |market, terms| {
                (market.flags.active, market.flags.closed) = (active, closed);
                (terms.neg_risk, terms.accepting_orders) = (neg_risk, accepting);
                (terms.tick, terms.minimum_size) = (tick, Lots(minimum));
                (terms.fee.rate_ppm, market.payout) = (rate, payout);
            });
            if !binary && id.is_multiple_of(3) {
                market.terms = Err(NotTradable::Outcomes(5));
            }
            market
        },
    )
}

fn any_markets() -> impl Strategy<Value = Vec<CatalogMarket>> {
    (0..9_u64).prop_flat_map(|count| (0..count).map(any_market).collect::<Vec<_>>())
}

proptest! {
    /// With any number of crashes of either side, finally nothing is left to do, nothing was
    /// registered twice, and no rule of the exchange was broken.
    #[test]
    fn any_interruption_ends_in_agreement(
        versions in prop::collection::vec((any_markets(), 0..6_usize), 1..5),
        resolve in any::<bool>(),
    ) {
        let policy = Policy { resolve, early_close_percent: 100, ..Policy::default() };
        let mut allowance = Allowance { live: 1_000_000, ..allowance(policy) };
        let mut model = Model::default();
        let last = versions.last().map(|(markets, _)| markets.clone()).unwrap_or_default();
        let rounds = versions.into_iter();
        // A list that opens in a round pays in the next one.
        let rounds = rounds.chain([(last.clone(), usize::MAX), (last.clone(), usize::MAX)]);
        for (markets, commands) in rounds {
            let group = MarketGroup { event: Some(event()), is_whole: true, markets };
            let plan = difference(&group, &model.state(), &mut allowance);
            for command in plan.steps.iter().flatten().take(commands) {
                model.give(command);
            }
        }
        let group = MarketGroup { event: Some(event()), is_whole: true, markets: last };
        let plan = difference(&group, &model.state(), &mut allowance);
        prop_assert_eq!(told(&plan), [""; 0]);
        prop_assert_eq!(model.registrations, model.markets.len());
    }
}
