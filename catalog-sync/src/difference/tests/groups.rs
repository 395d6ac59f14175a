//! Event groups: when they are registered, and what their questions are compared with.

use super::*;

#[test]
fn own_questions_and_those_of_an_upstream_do_not_mix() {
    let own = RegisteredMarket {
        own: true,
        event: Some(EVENT),
        ..registered(9, MarketState::Registered)
    };
    // The number of the operator's event group is also that of an event upstream.
    let plan = plan_of(
        Some(event()),
        &[question(1)],
        std::slice::from_ref(&own),
        Policy::default(),
    );
    assert_eq!(told(&plan), [""; 0]);
    assert_eq!(plan.notes[0].finding, Finding::OwnEvent(EVENT));
    // A question of the upstream is the operator's own market, and may win outside of the list.
    let own = RegisteredMarket { event: None, ..own };
    let plan = plan_of(
        Some(event()),
        &[question(1), question(9)],
        &[own],
        Policy::default(),
    );
    assert_eq!(told(&plan), [""; 0]);
    let incomplete = Finding::Incomplete("m9".into());
    assert!(plan.notes.iter().any(|it| it.finding == incomplete));
}

#[test]
fn what_another_record_owns_is_no_outside_question() {
    let taken = |market, of: u64, holder| CatalogMarket {
        condition: (of > 0).then(|| condition(of)),
        terms: Err(NotTradable::Taken(holder)),
        ..question(market)
    };
    let own = RegisteredMarket {
        own: true,
        ..registered(9, MarketState::Active)
    };
    let incomplete = Finding::Incomplete("m2".into());
    for here in [vec![own], vec![]] {
        let markets = [question(1), taken(2, 9, 9)];
        let plan = plan_of(Some(event()), &markets, &here, Policy::default());
        assert_eq!(told(&plan), [""; 0]);
        assert!(plan.notes.iter().any(|it| it.finding == incomplete));
    }
    // The old record of a question with a new id is no question more, and answers nothing.
    for of in [0, 1] {
        let old = CatalogMarket {
            payout: Some(Payout::Yes),
            ..taken(2, of, 1)
        };
        let plan = plan_of(Some(event()), &[question(1), old], &[], Policy::default());
        assert_eq!(told(&plan), ["register event, register market, activate"]);
    }
}

#[test]
fn an_event_is_registered_whole_before_its_first_question_opens() {
    let waits = with(3, |market, terms| {
        (market.flags.active, terms.neg_risk) = (false, true)
    });
    let markets = [
        question(2),
        answered(4, Payout::No),
        question(1),
        waits,
        listed(9),
    ];
    let plan = plan_of(Some(event()), &markets, &[], Policy::default());
    let list =
        "register event, register market, register market, register market, activate, activate";
    assert_eq!(told(&plan), ["register open", list]);
    let order: Vec<_> = plan.steps[1]
        .iter()
        .filter_map(|command| match command {
            Command::RegisterMarket(market) => {
                Some((market.terms.condition_id, market.terms.event_id))
            }
            _ => None,
        })
        .collect();
    assert_eq!(
        order,
        [1, 2, 3].map(|market| (condition(market), Some(EVENT)))
    );
    assert_eq!(
        found(&plan),
        ["closed or archived before it was registered"]
    );
}

#[test]
fn a_question_that_comes_late_is_reported() {
    let known = RegisteredMarket {
        event: Some(EVENT),
        event_frozen: true,
        ..registered(1, MarketState::Active)
    };
    let plan = plan_of(
        Some(event()),
        &[question(1), question(2)],
        std::slice::from_ref(&known),
        Policy::default(),
    );
    assert_eq!(found(&plan), ["its event's list of questions is final"]);
    assert_eq!(told(&plan), [""; 0]);
    // A list that is not final yet may grow.
    let known = RegisteredMarket {
        event_frozen: false,
        status: MarketState::Registered,
        ..known
    };
    let plan = plan_of(
        Some(event()),
        &[question(1), question(2)],
        &[known],
        Policy::default(),
    );
    assert_eq!(told(&plan), ["register market, activate, activate"]);
}

/// Reading only the named markets gives the same plan as reading all, also with duplicates.
#[test]
fn what_a_group_names_is_all_it_is_compared_with() {
    let of_event = |market| RegisteredMarket {
        event: Some(EVENT),
        ..registered(market, MarketState::Registered)
    };
    let frozen = RegisteredMarket {
        event_frozen: true,
        ..of_event(8)
    };
    let many: Vec<RegisteredMarket> = (20..=147).map(of_event).collect();
    for of_the_event in [vec![], vec![of_event(1)], vec![frozen], many] {
        let mut whole = vec![
            registered(5, MarketState::Active),
            registered(6, MarketState::Closed),
        ];
        whole.extend(of_the_event);
        let group = MarketGroup {
            is_whole: true,
            event: Some(event()),
            markets: vec![question(1), question(2), listed(5), listed(9)],
        };
        let (conditions, event) = group.names();
        let conditions: Vec<_> = conditions.collect();
        let named = whole.iter().filter(|market| {
            conditions.contains(&market.condition) || (event.is_some() && market.event == event)
        });
        let named: Vec<RegisteredMarket> = named.cloned().collect();
        let twice = ExchangeState::of(named.iter().chain(&named).cloned());
        let plan = |state| difference(&group, &state, &mut allowance(Policy::default()));
        assert_eq!(plan(twice), plan(ExchangeState::of(whole)));
    }
}

#[test]
fn a_question_that_contradicts_its_registration_does_not_open() {
    let here = RegisteredMarket {
        tokens: tokens(2),
        ..of_event(1, MarketState::Registered)
    };
    let plan = plan_of(Some(event()), &[question(1)], &[here], Policy::default());
    assert_eq!(told(&plan), [""; 0]);
    assert_eq!(found(&plan), [Finding::TokensDiffer.to_string()]);
}

#[test]
fn lists_that_cannot_resolve_are_not_made() {
    let decided = [question(1), answered(2, Payout::Yes)];
    let plan = plan_of(Some(event()), &decided, &[], Policy::default());
    assert_eq!(told(&plan), [""; 0]);
    assert_eq!(plan.notes[1].finding, Finding::Decided);

    // Beside a listed Other nobody could tell whom a winner without ids pays.
    let untradable = CatalogMarket {
        terms: Err(NotTradable::Outcomes(3)),
        ..question(2)
    };
    let other = with(1, |_, terms| {
        (terms.neg_risk, terms.is_other) = (true, true)
    });
    let plan = plan_of(
        Some(event()),
        &[other, untradable.clone()],
        &[],
        Policy::default(),
    );
    assert_eq!(told(&plan), [""; 0]);
    let incomplete = Finding::Incomplete("m2".into());
    assert!(
        plan.notes
            .iter()
            .any(|it| (it.market, &it.finding) == (1, &incomplete))
    );
    // One that was answered No cannot win any more.
    let lost = CatalogMarket {
        payout: Some(Payout::No),
        ..untradable
    };
    for outside in [lost, answered(2, Payout::No)] {
        let plan = plan_of(
            Some(event()),
            &[question(1), outside],
            &[],
            Policy::default(),
        );
        assert_eq!(told(&plan).len(), 1);
    }

    let plan = plan_of(None, &[question(1)], &[], Policy::default());
    assert_eq!(plan.notes[0].finding, Finding::NoEvent);

    let many: Vec<_> = (1..=129).map(question).collect();
    let plan = plan_of(Some(event()), &many, &[], Policy::default());
    assert_eq!((told(&plan).len(), plan.notes.len()), (0, 129));
    let plan = plan_of(Some(event()), &many[..128], &[], Policy::default());
    assert_eq!((told(&plan).len(), plan.notes.len()), (1, 0));
}

#[test]
fn a_list_waits_for_the_event_itself() {
    let mut group = MarketGroup {
        event: Some(event()),
        is_whole: false,
        markets: vec![question(1), question(2)],
    };
    let mut compare = |is_whole, here: Vec<_>| {
        group.is_whole = is_whole;
        let mut allowance = allowance(Policy::default());
        difference(&group, &ExchangeState::of(here), &mut allowance)
    };
    let plan = compare(false, vec![]);
    assert_eq!(told(&plan), [""; 0]);
    assert_eq!(plan.notes[0].finding, Finding::EventUnread(EVENT));
    assert_eq!(told(&compare(true, vec![])).len(), 1);
    // A final list is as it is.
    let here = [MarketState::Active, MarketState::Registered];
    let here = (1..)
        .zip(here)
        .map(|(market, status)| of_event(market, status));
    assert_eq!(told(&compare(false, here.collect())), ["activate"]);
}

#[test]
fn what_cannot_trade_is_registered_and_never_opens() {
    let obstacle = NotTradable::Delay("90".into());
    let untraded = with(2, |_, terms| {
        (terms.neg_risk, terms.obstacle) = (true, Some(obstacle.clone()));
    });
    let over = with(3, |market, terms| {
        (market.flags.closed, terms.neg_risk) = (true, true);
    });
    let archived = with(4, |market, terms| {
        (market.flags.archived, terms.neg_risk) = (true, true);
    });
    // Without two outcomes: whom it makes win, the outside question pays.
    let outside = CatalogMarket {
        terms: Err(NotTradable::Outcomes(3)),
        ..question(5)
    };
    let markets = [question(1), untraded, over, archived, outside];
    let plan = plan_of(Some(event()), &markets, &[], Policy::default());
    assert_eq!(
        told(&plan),
        [
            "register event, register market, register market, register market, register market, close, activate"
        ]
    );
    let named: BTreeSet<_> = plan.notes.iter().map(|note| note.market).collect();
    assert_eq!(named, BTreeSet::from([2, 3, 4, 5]), "a finding names each");
    // A plain market that cannot trade is not registered.
    let plain = with(2, |_, terms| terms.obstacle = Some(obstacle));
    let plan = plan_of(None, &[plain], &[], Policy::default());
    assert_eq!((told(&plan).len(), plan.notes.len()), (0, 1));
}

#[test]
fn indexes_are_those_of_the_family_or_of_nobody() {
    let indexed = |market: u64, index| {
        with(market, |_, terms| {
            (terms.neg_risk, terms.index) = (true, index);
        })
    };
    let index = |plan: &Plan| -> Vec<_> {
        let registered = plan.steps.iter().flatten().filter_map(|it| match it {
            Command::RegisterMarket(market) => Some(market.terms.question_index),
            _ => None,
        });
        registered.collect()
    };
    let (seven, nine) = (Some(QuestionIndex(7)), Some(QuestionIndex(9)));
    for (given, expected) in [
        ([seven, nine], [seven, nine]),
        ([seven, seven], [None, None]),
        ([seven, None], [None, None]),
    ] {
        let markets = [indexed(1, given[0]), indexed(2, given[1])];
        let plan = plan_of(Some(event()), &markets, &[], Policy::default());
        assert_eq!(index(&plan), expected, "{given:?}");
    }
    // The first question decided.
    let known = RegisteredMarket {
        event_frozen: false,
        ..of_event(1, MarketState::Registered)
    };
    let markets = [indexed(1, seven), indexed(2, nine)];
    let plan = plan_of(Some(event()), &markets, &[known], Policy::default());
    assert_eq!(index(&plan), [None]);
}
