//! Markets of their own: registration, terms, closing.

use super::*;

#[rstest]
#[case::new(listed(1), None, "register open")]
#[case::not_yet_open(with(1, |m, _| m.flags.active = false), None, "register market")]
#[case::not_taking_orders(with(1, |_, t| t.accepting_orders = false), None, "register market")]
#[case::the_same(listed(1), Some(registered(1, MarketState::Active)), "")]
#[case::opens_later(listed(1), Some(registered(1, MarketState::Registered)), "activate")]
#[case::stays_paused(listed(1), Some(registered(1, MarketState::Paused)), "")]
#[case::closed(with(1, |m, _| m.flags.closed = true), Some(registered(1, MarketState::Active)), "close")]
#[case::closed_while_paused(with(1, |m, _| m.flags.closed = true), Some(registered(1, MarketState::Paused)), "close")]
#[case::closed_before_it_opened(with(1, |m, _| m.flags.closed = true), Some(registered(1, MarketState::Registered)), "close")]
#[case::is_closed(with(1, |m, _| m.flags.closed = true), Some(registered(1, MarketState::Closed)), "")]
#[case::tick(with(1, |_, t| t.tick = Tick::Thousandth), Some(registered(1, MarketState::Active)), "tick")]
#[case::minimum(with(1, |_, t| t.minimum_size = Lots(1)), Some(registered(1, MarketState::Paused)), "minimum size")]
#[case::fee(with(1, |_, t| t.fee.rate_ppm = 9), Some(registered(1, MarketState::Registered)), "fee, activate")]
#[case::everything(
    with(1, |_, t| (t.tick, t.minimum_size, t.fee.rate_ppm) = (Tick::Thousandth, Lots(7), 1)),
    Some(registered(1, MarketState::Active)), "tick, minimum size, fee"
)]
#[case::rules_of_a_closed_one_rest(
    with(1, |m, t| (m.flags.closed, t.tick) = (true, Tick::Thousandth)),
    Some(registered(1, MarketState::Closed)), ""
)]
fn a_plain_market(
    #[case] market: CatalogMarket,
    #[case] here: Option<RegisteredMarket>,
    #[case] expected: &str,
) {
    let here: Vec<_> = here.into_iter().collect();
    let plan = plan_of(None, &[market], &here, Policy::default());
    assert_eq!(told(&plan).join(", "), expected);
    assert_eq!(plan.notes, []);
}

#[rstest]
#[case::closed_at_first(with(1, |m, _| m.flags.closed = true), None, "closed or archived before it was registered")]
#[case::archived_at_first(with(1, |m, _| m.flags.archived = true), None, "closed or archived before it was registered")]
#[case::other_tokens(with(1, |_, t| t.tokens = tokens(2)), Some(registered(1, MarketState::Active)), "registered with other tokens")]
#[case::swapped_tokens(with(1, |_, t| t.tokens.reverse()), Some(registered(1, MarketState::Active)), "registered with other tokens")]
#[case::other_event(
    listed(1), Some(RegisteredMarket { event: Some(3), ..registered(1, MarketState::Active) }),
    "registered under event 3, upstream says no neg-risk event"
)]
#[case::reopened(
    listed(1),
    Some(registered(1, MarketState::Closed)),
    "closed here and open upstream: a closed market does not open again"
)]
#[case::coarser(
    listed(1), Some(RegisteredMarket { tick: Tick::Thousandth, ..registered(1, MarketState::Active) }),
    "tick 0.001 here, 0.01 upstream"
)]
#[case::due(
    resolved(Payout::No),
    Some(registered(1, MarketState::Closed)),
    "resolved no upstream"
)]
#[case::paid(resolved(Payout::No), Some(paid(Payout::No)), "")]
#[case::paid_otherwise(
    resolved(Payout::No),
    Some(paid(Payout::Yes)),
    "paid out yes here, upstream says no"
)]
fn a_finding(
    #[case] market: CatalogMarket,
    #[case] here: Option<RegisteredMarket>,
    #[case] expected: &str,
) {
    let here: Vec<_> = here.into_iter().collect();
    let plan = plan_of(None, &[market], &here, Policy::default());
    assert_eq!(found(&plan).join(", "), expected);
    assert_eq!(told(&plan), [""; 0]);
}

/// An upstream that names the condition of an operator's own market changes nothing of it.
#[rstest]
#[case::rules(with(1, |_, t| {
    t.tick = Tick::Thousandth;
    t.minimum_size = Lots(100);
    t.fee = FeeSchedule { rate_ppm: 1, exponent: 1 };
    t.clock.taker_delay_ms = 1_000;
    t.clock.rebate_ppm = 1;
    t.clock.clear_book_on_start = true;
}))]
#[case::opens(listed(1))]
#[case::payout(resolved(Payout::No))]
#[case::other_tokens(with(1, |_, t| t.tokens.reverse()))]
#[case::untradable(CatalogMarket { terms: Err(NotTradable::NoOrderBook), ..resolved(Payout::No) })]
fn an_own_market_follows_no_upstream(
    #[case] market: CatalogMarket,
    #[values(MarketState::Registered, MarketState::Active, MarketState::Closed)]
    status: MarketState,
) {
    let own = RegisteredMarket {
        own: true,
        ..registered(1, status)
    };
    let plan = plan_of(None, &[market], &[own], resolving());
    assert_eq!(
        (told(&plan), found(&plan)),
        (vec![], vec![Finding::Own.to_string()])
    );
}

#[test]
fn a_slug_of_another_market_is_reported() {
    let here = RegisteredMarket {
        slug_taken: true,
        ..registered(1, MarketState::Active)
    };
    let plan = plan_of(None, &[listed(1)], &[here], resolving());
    assert_eq!(
        (told(&plan), found(&plan)),
        (vec![], vec![Finding::SlugTaken.to_string()])
    );
    assert!(plan.notes[0].finding.kind().is_pressing());
}

/// Another record has the condition: this one neither updates nor closes the market.
#[test]
fn a_condition_follows_one_record() {
    let doubled = CatalogMarket {
        terms: Err(NotTradable::Taken(3)),
        ..resolved(Payout::No)
    };
    let here = registered(1, MarketState::Active);
    let plan = plan_of(None, &[doubled], &[here], resolving());
    assert_eq!(told(&plan), [""; 0]);
    assert_eq!(
        found(&plan),
        ["conditionId is that of market 3, which has it first"]
    );
}

#[test]
fn what_cannot_trade_is_told_and_its_end_is_taken_over() {
    let three = |closed| CatalogMarket {
        terms: Err(NotTradable::Outcomes(3)),
        flags: Flags {
            closed,
            ..listed(1).flags
        },
        ..listed(1)
    };
    let plan = plan_of(None, &[three(false)], &[], Policy::default());
    assert_eq!(plan.notes[0].finding.kind(), FindingKind::NotTradable);
    let here = [registered(1, MarketState::Active)];
    let plan = plan_of(None, &[three(false)], &here, Policy::default());
    assert_eq!(
        (plan.notes[0].finding.kind(), told(&plan).len()),
        (FindingKind::Error, 0)
    );
    assert_eq!(
        told(&plan_of(None, &[three(true)], &here, Policy::default())),
        ["close"]
    );
}

#[test]
fn the_operator_decides_who_resolves() {
    let automatic = resolving();
    let here = [registered(1, MarketState::Active)];
    let plan = plan_of(None, &[resolved(Payout::Half)], &here, automatic);
    assert_eq!(told(&plan), ["close, resolve"]);
    let plan = plan_of(None, &[resolved(Payout::Half)], &here, Policy::default());
    assert_eq!(told(&plan), ["close"]);
    assert_eq!(plan.notes[0].finding, Finding::ResolutionDue(Payout::Half));
}

/// Changes to a trading market that need the operator's consent, and the command for each.
#[rstest]
#[case::fee(
    with(1, |_, t| t.fee = FeeSchedule { rate_ppm: 1_000_000, exponent: 1 }),
    "fee 1000000 ppm, exponent 1 upstream, above catalog.max_fee_ppm: foretell market fee C 1000000 1"
)]
#[case::minimum(
    with(1, |_, t| t.minimum_size = Lots(100_000_000_000)),
    "minimum order upstream above catalog.max_minimum_shares: foretell market minimum-size C 1000000000"
)]
#[case::tick(
    with(1, |_, t| t.tick = Tick::TenThousandth),
    "tick 0.0001 upstream, finer than catalog.finest_tick: foretell market tick C 0.0001"
)]
#[case::clearing(
    with(1, |_, t| t.clock.clear_book_on_start = true),
    "clears its book at the game start upstream: true; here as registered: foretell market terms C --clear-book-on-start true"
)]
#[case::delay(
    with(1, |_, t| t.clock.taker_delay_ms = 10_001),
    "delay 10001 ms upstream, above catalog.max_taker_delay_ms: foretell market terms C --taker-delay-ms 10001"
)]
#[case::rebate(
    with(1, |_, t| t.clock.rebate_ppm = 500_001),
    "rebate 500001 ppm upstream, above catalog.max_rebate_ppm: foretell market terms C --rebate-ppm 500001"
)]
fn a_change_beyond_the_policy_is_held_back(#[case] market: CatalogMarket, #[case] expected: &str) {
    let here = [registered(1, MarketState::Active)];
    let plan = plan_of(
        None,
        std::slice::from_ref(&market),
        &here,
        Policy::default(),
    );
    assert_eq!(told(&plan), [""; 0]);
    let expected = expected.replace('C', &condition(1).to_string());
    assert_eq!(plan.notes[0].text(), expected);
    assert_eq!(plan.notes[0].finding.kind(), FindingKind::HeldBack);
    // The allowed changes of the same record are applied.
    let mut both = market;
    if let Ok(terms) = &mut both.terms {
        terms.minimum_size = terms.minimum_size.max(Lots(501));
        terms.fee.rate_ppm = terms.fee.rate_ppm.max(1);
    }
    let plan = plan_of(None, &[both], &here, Policy::default());
    assert_eq!((plan.steps.len(), plan.notes.len()), (1, 1));
}

#[test]
fn a_tick_that_does_not_divide_blocks_no_other_change() {
    let market = with(1, |_, terms| {
        (terms.tick, terms.fee.rate_ppm) = (Tick::Thousandth, 9);
    });
    let here = RegisteredMarket {
        tick: Tick::QuarterHundredth,
        ..registered(1, MarketState::Active)
    };
    let plan = plan_of(None, &[market], &[here], Policy::default());
    assert_eq!(told(&plan), ["fee"]);
    assert_eq!(found(&plan), ["tick 0.0025 here, 0.001 upstream"]);
}

#[test]
fn consent_ends_the_waiting() {
    let fee = FeeSchedule {
        rate_ppm: 900_000,
        exponent: 1,
    };
    let market = with(1, |_, terms| terms.fee = fee);
    let here = RegisteredMarket {
        fee,
        ..registered(1, MarketState::Active)
    };
    let plan = plan_of(None, &[market], &[here], Policy::default());
    assert_eq!(plan, Plan::default());
}

/// The upstream closes all markets at once. Those with a past registered end date close, and a few
/// more; the others wait for the operator.
#[test]
fn not_all_markets_are_closed_at_once() {
    let closed = |id| {
        with(id, |market, _| {
            (market.flags.closed, market.payout) = (true, Some(Payout::Yes));
        })
    };
    let markets: Vec<_> = (1..=20).map(closed).collect();
    let ends = |id| RegisteredMarket {
        end_date: Some(
            if id <= 8 {
                NOON
            } else {
                "2026-02-08T12:00:01Z"
            }
            .parse()
            .unwrap(),
        ),
        ..registered(id, MarketState::Active)
    };
    let here: Vec<_> = (1..=20).map(ends).collect();
    let plan = plan_of(None, &markets, &here, resolving());
    assert_eq!(
        told(&plan),
        [["close, resolve"; 13].as_slice(), &["pause"; 7]].concat(),
        "8 have ended, 5 are let through, the others are held: their answer is known"
    );
    assert_eq!(plan.notes.len(), 7);
    assert_eq!(
        plan.notes[0].text(),
        format!(
            "closed upstream before its end date, beyond catalog.early_close_percent: \
             foretell market close {}",
            condition(14)
        )
    );
    // The same holds for markets whose record became invalid.
    let broken = |market: &CatalogMarket| CatalogMarket {
        terms: Err(NotTradable::Tokens),
        ..market.clone()
    };
    let broken: Vec<_> = markets.iter().map(broken).collect();
    let plan = plan_of(None, &broken, &here, resolving());
    assert_eq!(
        told(&plan),
        [["close"; 13].as_slice(), &["pause"; 7]].concat()
    );
}

#[test]
fn a_contradiction_does_not_stop_the_close() {
    let closed = with(1, |market, _| {
        (market.flags.closed, market.payout) = (true, Some(Payout::Yes));
    });
    let lost_flag = of_event(1, MarketState::Active);
    let other_tokens = RegisteredMarket {
        tokens: tokens(2),
        ..registered(1, MarketState::Active)
    };
    for here in [lost_flag, other_tokens] {
        let plan = plan_of(None, std::slice::from_ref(&closed), &[here], resolving());
        assert_eq!(told(&plan), ["close"]);
        assert_eq!(plan.notes[0].finding.kind(), FindingKind::Error);
    }
}

#[test]
fn meaning_changes_by_consent_alone() {
    let swapped = CatalogMarket {
        description: MarketDescription {
            outcomes: ["No".into(), "Yes".into()],
            ..MarketDescription::default()
        },
        ..listed(1)
    };
    let active = registered(1, MarketState::Active);
    let plan = plan_of(None, &[swapped], &[active], Policy::default());
    assert_eq!(told(&plan), [""; 0]);
    assert_eq!(plan.notes[0].finding.kind(), FindingKind::HeldBack);
    assert!(matches!(
        plan.notes[0].consent,
        Some(Command::DescribeMarket(_))
    ));
}
