//! Payouts: of groups in order, of records that contradict, by label.

use super::*;

/// The Yes of one question pays the others No; what the upstream still trades is not reported.
#[test]
fn the_yes_pays_the_others_and_leaves_nothing_to_send() {
    let mut here: Vec<_> = (1..=3).map(closed_question).collect();
    let markets = [answered(1, Payout::Yes), lost(2), lost(3)];
    let plan = plan_of(Some(event()), &markets, &here, resolving());
    assert_eq!(told(&plan), ["resolve"]);
    for (here, payout) in here.iter_mut().zip([Payout::Yes, Payout::No, Payout::No]) {
        (here.status, here.payout) = (MarketState::Resolved, Some(payout));
    }
    let markets = [answered(1, Payout::Yes), lost(2), question(3)];
    let plan = plan_of(Some(event()), &markets, &here, resolving());
    assert_eq!(plan, Plan::default());
    let markets = [question(1), lost(2), question(3)];
    let plan = plan_of(Some(event()), &markets, &here, resolving());
    let reopened: Vec<_> = plan.notes.iter().map(|note| note.market).collect();
    assert_eq!(reopened, [1]);
}

/// A question that was not open when another one won stays so.
#[test]
fn no_question_opens_once_another_one_won() {
    let here = [closed_question(1), of_event(2, MarketState::Registered)];
    let markets = [answered(1, Payout::Yes), question(2)];
    let plan = plan_of(Some(event()), &markets, &here, resolving());
    assert_eq!(told(&plan), ["resolve"]);
}

/// What the comparison sends and offers when an event is decided.
#[test]
fn payouts_of_an_event_come_in_order() {
    let here: Vec<_> = (1..=3)
        .map(|it| of_event(it, MarketState::Active))
        .collect();
    let other = |payout| {
        with(3, |market, terms| {
            (terms.neg_risk, terms.is_other) = (true, true);
            (market.flags.closed, market.payout) = (true, payout);
        })
    };
    let lost = |market| answered(market, Payout::No);
    let won = |market| answered(market, Payout::Yes);
    let policy = Policy {
        early_close_percent: 100,
        ..resolving()
    };
    let payouts = |plan: &Plan| -> Vec<(ConditionId, String)> {
        let steps = plan.steps.iter().flatten().filter_map(|it| match it {
            Command::ResolveMarket(it) => Some((it.condition_id, it.payout.text().to_owned())),
            _ => None,
        });
        steps.collect()
    };
    let paid = |market, payout: &str| (condition(market), payout.to_owned());
    for (markets, expected, offered) in [
        // The Yes pays all.
        (vec![lost(1), won(2), lost(3)], vec![paid(2, "first")], None),
        // Every listed question lost: the last one waits, with the payout of the outside question.
        (
            vec![lost(1), lost(2), lost(3)],
            vec![paid(1, "second"), paid(2, "second")],
            Some("outside"),
        ),
        // A late question won: it pays Other, whatever the upstream says of it.
        (
            vec![lost(1), lost(2), other(Some(Payout::No)), won(9)],
            vec![paid(3, "first")],
            None,
        ),
        // A late question may still win: Other waits.
        (
            vec![lost(1), lost(2), other(Some(Payout::No)), question(9)],
            vec![paid(1, "second"), paid(2, "second")],
            None,
        ),
        // Nobody listed or late won: Other is offered.
        (
            vec![lost(1), lost(2), other(Some(Payout::No)), lost(9)],
            vec![paid(1, "second"), paid(2, "second")],
            Some("first"),
        ),
        // Without a listed Other a late winner is paid by the outside question.
        (
            vec![lost(1), lost(2), lost(3), won(9)],
            vec![paid(1, "second"), paid(2, "second")],
            Some("outside"),
        ),
    ] {
        let plan = plan_of(Some(event()), &markets, &here, policy);
        assert_eq!(payouts(&plan), expected, "{plan:?}");
        assert_eq!(plan.steps.len(), 1, "one after the other");
        let waits = plan.notes.iter().find_map(|note| match &note.consent {
            Some(Command::ResolveMarket(it)) => Some(it.payout.text().to_owned()),
            _ => None,
        });
        assert_eq!(waits.as_deref(), offered, "{plan:?}");
    }
}

/// The upstream calls an Other that was paid here lost, whether a late question won or nobody.
#[test]
fn a_paid_other_contradicts_nothing_but_a_listed_winner() {
    let mut here: Vec<_> = (1..=3).map(closed_question).collect();
    for (here, payout) in here.iter_mut().zip([Payout::No, Payout::No, Payout::Yes]) {
        (here.status, here.payout) = (MarketState::Resolved, Some(payout));
    }
    let other = with(3, |market, terms| {
        (terms.neg_risk, terms.is_other) = (true, true);
        (market.flags.closed, market.payout) = (true, Some(Payout::No));
    });
    for late in [answered(9, Payout::Yes), lost(9)] {
        let markets = [lost(1), lost(2), other.clone(), late];
        let plan = plan_of(Some(event()), &markets, &here, resolving());
        let of_other: Vec<_> = plan.notes.iter().filter(|note| note.market == 3).collect();
        assert!(of_other.is_empty(), "{of_other:?}");
    }
    let markets = [answered(1, Payout::Yes), lost(2), other];
    let plan = plan_of(Some(event()), &markets, &here, resolving());
    assert_eq!(
        found(&plan).join(", "),
        "paid out no here, upstream says yes, paid out yes here, upstream says no"
    );
}

/// It is closed, and an operator must look at it.
#[test]
fn a_resolution_without_a_winner_is_a_finding() {
    let unnamed = |market: u64| {
        with(market, |market, _| {
            (market.flags.closed, market.answer) = (true, Answer::Known);
        })
    };
    let plan = plan_of(
        None,
        &[unnamed(1)],
        &[registered(1, MarketState::Closed)],
        resolving(),
    );
    assert_eq!(found(&plan), [Finding::NoWinner.to_string()]);
    assert_eq!(plan.notes[0].finding.kind(), FindingKind::Resolution);
    let mut question = unnamed(1);
    question.terms.as_mut().expect("tradable").neg_risk = true;
    let plan = plan_of(
        Some(event()),
        &[question],
        &[closed_question(1)],
        resolving(),
    );
    assert_eq!(found(&plan), [Finding::NoWinner.to_string()]);
}

#[test]
fn a_contradicted_question_is_closed_and_paid_by_consent_alone() {
    let other_tokens = RegisteredMarket {
        tokens: tokens(9),
        ..of_event(1, MarketState::Active)
    };
    let other_event = RegisteredMarket {
        event: Some(3),
        ..of_event(1, MarketState::Active)
    };
    for here in [other_tokens, other_event] {
        let markets = [answered(1, Payout::Yes), lost(2)];
        let here = [here, closed_question(2)];
        let plan = plan_of(Some(event()), &markets, &here, resolving());
        assert!(told(&plan)[0].starts_with("close"), "{plan:?}");
        let (sent, offered) = paid_and_offered(&plan);
        assert_eq!(offered[0], "1 first");
        assert!(!sent.contains(&"1 first".to_owned()), "{plan:?}");
    }
}

#[test]
fn a_contradicted_market_is_paid_by_consent_alone() {
    let here = RegisteredMarket {
        tokens: tokens(2),
        ..registered(1, MarketState::Closed)
    };
    let plan = plan_of(None, &[resolved(Payout::Yes)], &[here], resolving());
    let offered = (vec![], vec!["1 first".to_owned()]);
    assert_eq!(paid_and_offered(&plan), offered);
}

#[test]
fn a_payout_is_named_by_a_word_that_no_label_contradicts() {
    for (labels, word) in [
        (["Yes", "No"], "1 second"),
        (["No", "Yes"], "1 second"),
        (["Second", "First"], "1 no"),
    ] {
        let outcomes = labels.map(str::to_owned);
        let market = CatalogMarket {
            description: MarketDescription {
                outcomes: outcomes.clone(),
                ..MarketDescription::default()
            },
            ..resolved(Payout::No)
        };
        let here = RegisteredMarket {
            outcomes,
            ..registered(1, MarketState::Closed)
        };
        let plan = plan_of(None, &[market], &[here], resolving());
        assert_eq!(paid_and_offered(&plan).0, [word]);
    }
}

/// The record of a listed question changed so that the event has it no more.
#[test]
fn a_listed_question_counts_whatever_its_record_says() {
    let lost_flag = with(1, |market, _| {
        (market.flags.closed, market.payout) = (true, Some(Payout::Yes));
    });
    let broken = CatalogMarket {
        terms: Err(NotTradable::Tokens),
        ..answered(1, Payout::Yes)
    };
    let here: Vec<_> = (1..=3).map(closed_question).collect();
    for (changed, offers) in [
        (lost_flag, &["1 first", "3 second"][..]),
        (broken, &["3 second"]),
    ] {
        let markets = [changed, lost(2), lost_other(3)];
        let plan = plan_of(Some(event()), &markets, &here, resolving());
        let (sent, offered) = paid_and_offered(&plan);
        assert_eq!(
            (sent, offered),
            (
                vec!["2 second".to_owned()],
                offers.iter().map(|it| (*it).to_owned()).collect()
            )
        );
    }
    // Paid, it decides.
    let mut here = here;
    (here[0].status, here[0].payout) = (MarketState::Resolved, Some(Payout::Yes));
    let markets = [lost(2), lost_other(3)];
    let plan = plan_of(Some(event()), &markets, &here, resolving());
    let sent = ["2 second", "3 second"].map(str::to_owned).to_vec();
    assert_eq!(paid_and_offered(&plan), (sent, vec![]));
}

#[test]
fn labels_that_change_with_the_closing_hold_the_payout_back() {
    let swap = |market: CatalogMarket| CatalogMarket {
        description: MarketDescription {
            outcomes: ["No".into(), "Yes".into()],
            ..MarketDescription::default()
        },
        ..market
    };
    let plan = plan_of(
        None,
        &[swap(resolved(Payout::Yes))],
        &[registered(1, MarketState::Active)],
        resolving(),
    );
    assert_eq!(told(&plan), ["close"]);
    assert_eq!(paid_and_offered(&plan).1, ["1 first"]);
    let differs = |plan: &Plan| {
        let mut findings = plan.notes.iter().map(|note| &note.finding);
        findings.any(|it| matches!(it, Finding::MeaningDiffers { .. }))
    };
    assert!(differs(&plan));
    // Also for a question; the other questions are paid.
    let markets = [swap(answered(1, Payout::Yes)), lost(2)];
    let here = [closed_question(1), closed_question(2)];
    let plan = plan_of(Some(event()), &markets, &here, resolving());
    let expected = (vec!["2 second".to_owned()], vec!["1 first".to_owned()]);
    assert_eq!(paid_and_offered(&plan), expected);
    assert!(differs(&plan));
    // What is paid stays paid.
    let plan = plan_of(
        None,
        &[swap(resolved(Payout::Yes))],
        &[paid(Payout::Yes)],
        resolving(),
    );
    assert_eq!(plan, Plan::default());
}

#[test]
fn an_obstacle_does_not_stop_the_payout() {
    let market = with(1, |market, terms| {
        (market.flags.closed, market.payout) = (true, Some(Payout::No));
        terms.obstacle = Some(NotTradable::NoOrderBook);
    });
    let here = [registered(1, MarketState::Active)];
    let plan = plan_of(None, std::slice::from_ref(&market), &here, resolving());
    assert_eq!(told(&plan), ["close, resolve"]);
    let plan = plan_of(None, &[market], &here, Policy::default());
    assert_eq!(paid_and_offered(&plan).1, ["1 second"]);
}

#[test]
fn a_listed_winner_ends_the_waiting_of_other() {
    let here: Vec<_> = (1..=3).map(closed_question).collect();
    // The late question 9 may still win.
    let markets = [
        answered(1, Payout::Yes),
        lost(2),
        lost_other(3),
        question(9),
    ];
    let plan = plan_of(Some(event()), &markets, &here, resolving());
    let (sent, _) = paid_and_offered(&plan);
    assert_eq!(sent, ["1 first"]);
    let markets = [lost(1), lost(2), lost_other(3), question(9)];
    let plan = plan_of(Some(event()), &markets, &here, resolving());
    let waits = Finding::OtherWaits("m9".into());
    assert!(
        plan.notes
            .iter()
            .any(|it| (it.market, &it.finding) == (3, &waits))
    );
}

#[test]
fn a_question_that_never_opens_is_closed_once_and_no_error() {
    let by_design = |closed| {
        with(1, |market, terms| {
            (market.flags.closed, terms.neg_risk) = (closed, true);
            terms.obstacle = Some(NotTradable::NoOrderBook);
        })
    };
    let here = [of_event(1, MarketState::Registered)];
    for closed in [false, true] {
        let plan = plan_of(Some(event()), &[by_design(closed)], &here, resolving());
        assert_eq!(told(&plan).len(), usize::from(closed), "{plan:?}");
        let kinds: Vec<_> = plan.notes.iter().map(|it| it.finding.kind()).collect();
        assert_eq!(kinds, [FindingKind::NotTradable]);
    }
    // A contradiction does not close it twice either.
    let here = RegisteredMarket {
        tokens: tokens(2),
        ..of_event(1, MarketState::Active)
    };
    let plan = plan_of(Some(event()), &[lost(1)], &[here], resolving());
    assert_eq!(told(&plan), ["close"]);
}

#[test]
fn a_question_never_pays_a_half() {
    let known = RegisteredMarket {
        event: Some(EVENT),
        event_frozen: true,
        ..registered(1, MarketState::Closed)
    };
    let plan = plan_of(
        Some(event()),
        &[answered(1, Payout::Half)],
        &[known],
        resolving(),
    );
    assert_eq!(told(&plan), [""; 0]);
    assert_eq!(plan.notes[0].finding, Finding::HalfOfQuestion);
}
