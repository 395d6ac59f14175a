//! The bounds of a market's life: delayed orders, groups, steps in the background, lists of people.

use foretell_fixtures::{Trader, deposit};
use foretell_model::command::{
    AddOperator, CancelAll, ListWallet, Redeem, RequestWithdrawal, ResolveMarket, SetTerms,
};
use foretell_model::limits::{
    ACCOUNTS_PER_STEP, MAX_LISTED_WALLETS, MAX_OPERATORS, MAX_QUESTIONS, WITHDRAWALS_PER_ACCOUNT,
};
use foretell_model::{
    EventId, EventNumber, MarketTerms, OperatorName, OperatorNumber, OperatorRole, PaymentSettings,
    Payout,
};

use super::*;

const SECOND: u64 = 1_000_000_000;

impl Crowd {
    fn set_terms(&mut self, terms: MarketTerms) {
        self.applied(Command::SetTerms(SetTerms {
            market: MARKET,
            terms: terms.into(),
        }));
    }

    /// Sends a command of the first admin.
    fn send_as_admin(&mut self, command: Command) -> Verdict {
        let stamp = CommandStamp {
            operator: OperatorNumber::FIRST_ADMIN,
            ..CommandStamp::at(self.now)
        };
        self.send_stamped(command, stamp)
    }

    /// Places orders that have to wait.
    fn delayed(&mut self, wish: Wish, orders: u64) {
        for _ in 0..orders {
            let result = self.place(TAKER, wish);
            assert_eq!(result.status, OrderStatus::Delayed);
        }
        self.compare();
    }

    /// Opens accounts with collateral, numbered from 3.
    fn open_accounts(&mut self, accounts: u32) {
        for number in 0..accounts {
            let mut wallet = [9; 20];
            wallet[..4].copy_from_slice(&number.to_be_bytes());
            let reference = numbered(1_000 + number).0;
            self.applied(deposit(WalletAddress(wallet), 1, reference));
        }
    }

    /// Steps, and the collateral that it paid.
    fn stepped(&mut self) -> u64 {
        let outcome = self.applied(Command::Step);
        self.compare();
        match outcome {
            CommandOutcome::Collateral(paid) => paid.0,
            other => panic!("{other:?}"),
        }
    }
}

const DELAYING: MarketTerms = MarketTerms {
    opens_at: TimeMs(0),
    closes_at: TimeMs(0),
    game_start_time: TimeMs(0),
    clear_book_on_start: false,
    taker_delay_ms: 5_000,
    rebate_ppm: 0,
};

const CANCEL_ALL: Command = Command::CancelAll(CancelAll {
    owner: TAKER,
    heartbeat: true,
});

#[test]
fn cancels_of_delayed_orders_are_requested_in_steps_and_a_close_ends_all() {
    let mut crowd = Crowd::new();
    crowd.set_terms(DELAYING);
    crowd.crowd(MAKER, ASK, 1);
    crowd.delayed(BID, BOUND + 4);
    assert_eq!(crowd.cancelled(CANCEL_ALL), 0);
    assert_eq!(crowd.last_event(), Event::WorkPending);
    crowd.compare();
    assert_eq!(crowd.cancelled(Command::Continue), 0);
    assert_eq!(crowd.pair.events().len(), 4);
    assert_eq!(crowd.send(CANCEL_ALL), NOTHING_TO_CANCEL);
    ends_in_two_steps(&mut crowd, Command::CloseMarket { market: MARKET }, 5);
}

#[test]
fn delayed_orders_are_released_one_by_one() {
    let mut crowd = Crowd::new();
    crowd.set_terms(DELAYING);
    crowd.crowd(MAKER, ASK, BOUND + 2);
    crowd.delayed(Wish { lots: 2, ..BID }, 1);
    let all = Wish {
        lots: BOUND + 9,
        ..BID
    };
    crowd.delayed(all, 1);
    crowd.now.0 += 5 * SECOND;
    crowd.applied(Command::AdvanceTime);
    assert_eq!(crowd.last_event(), Event::OrderCompleted);
    assert_eq!(crowd.refused(CANCEL_ALL), RejectionReason::TimeDue);
    crowd.compare();
    crowd.applied(Command::AdvanceTime);
    assert!(closed_at_the_bound(crowd.last_event(), 9));
    crowd.compare();
}

/// What was due before their expiration meets them after it.
#[test]
fn a_released_order_steps_over_expired_orders_up_to_the_bound() {
    for (expired, is_filled) in [(BOUND, false), (BOUND - 1, true)] {
        let mut crowd = Crowd::new();
        crowd.set_terms(MarketTerms {
            taker_delay_ms: 500,
            ..DELAYING
        });
        crowd.crowd(MAKER, SHORT_ASK, expired);
        crowd.crowd(MAKER, ASK, 1);
        crowd.delayed(market_buy(OrderType::Fak, 1), 1);
        crowd.now.0 += SECOND;
        crowd.applied(Command::AdvanceTime);
        let mut events = crowd.pair.events().iter();
        let has_fill = events.any(|event| matches!(event, Event::Fill(_)));
        assert_eq!(has_fill, is_filled, "{expired} expired orders");
        crowd.compare();
    }
}

#[test]
fn a_cleared_market_empties_in_steps() {
    let mut crowd = Crowd::new();
    let start = TimeMs((NOW_SECONDS + 2) * 1_000);
    crowd.set_terms(MarketTerms {
        game_start_time: start,
        clear_book_on_start: true,
        ..DELAYING
    });
    crowd.crowd(MAKER, ASK, BOUND);
    crowd.delayed(BID, 3);
    crowd.now.0 += 2 * SECOND;
    assert_eq!(crowd.cancelled(Command::AdvanceTime), BOUND);
    assert_eq!(crowd.last_event(), Event::WorkPending);
    crowd.compare();
    assert_eq!(crowd.cancelled(Command::Continue), 3);
    crowd.compare();
    assert_eq!(
        crowd.refused(Command::AdvanceTime),
        RejectionReason::NothingDue
    );
}

#[test]
fn an_order_meets_nobody_beyond_the_bound() {
    for (own, status) in [
        (BOUND, OrderStatus::Unmatched),
        (BOUND - 1, OrderStatus::Delayed),
    ] {
        let mut crowd = Crowd::new();
        crowd.set_terms(DELAYING);
        crowd.crowd(TAKER, ASK, own);
        crowd.crowd(MAKER, ASK, 1);
        assert_eq!(crowd.place(TAKER, BID).status, status);
        crowd.compare();
    }
}

#[test]
fn an_order_of_a_group_visits_what_the_group_left() {
    for delay in [0, 5_000] {
        let mut crowd = Crowd::new();
        crowd.set_terms(MarketTerms {
            taker_delay_ms: delay,
            rebate_ppm: 1,
            ..DELAYING
        });
        crowd.crowd(MAKER, ASK, 10);
        for (touched, fak, gtc) in [
            (4_096, "Killed", "Unmatched"),
            (4_095, "Matched", "Matched"),
            (4_092, "Matched", "Matched"),
        ] {
            for (order_type, expected) in [(OrderType::Fak, fak), (OrderType::Gtc, gtc)] {
                let result = crowd.place_touched(TAKER, market_buy(order_type, 3), touched);
                let is_delayed = delay > 0 && touched < 4_096;
                let expected = if is_delayed { "Delayed" } else { expected };
                let status = format!("{:?}", result.status);
                assert!(status.starts_with(expected), "{touched}: {status}");
                crowd.compare();
            }
        }
    }
}

#[test]
fn a_settlement_pays_in_steps_and_ends_early() {
    let accounts = 2 * ACCOUNTS_PER_STEP;
    for redeems_last in [false, true] {
        let mut crowd = Crowd::new();
        crowd.open_accounts(accounts);
        let last = AccountNumber(accounts + 2);
        for account in [MAKER, AccountNumber(ACCOUNTS_PER_STEP), last] {
            crowd.applied(split(account, account.0 + 10_000));
        }
        crowd.applied(Command::CloseMarket { market: MARKET });
        crowd.applied(Command::ResolveMarket(ResolveMarket {
            market: MARKET,
            payout: Payout::Yes,
            replaces: None,
        }));
        let lot = Lots(1).full_value().0;
        assert_eq!(crowd.stepped(), lot);
        assert_eq!(crowd.stepped(), lot);
        if redeems_last {
            crowd.applied(Command::Redeem(Redeem {
                account: last,
                market: MARKET,
                reference: numbered(77),
            }));
        }
        assert_eq!(crowd.stepped(), if redeems_last { 0 } else { lot });
        assert!(matches!(crowd.last_event(), Event::MarketSettled(_)));
        assert_eq!(
            crowd.refused(Command::Step),
            RejectionReason::NothingPending
        );
    }
}

#[test]
fn a_redeem_is_never_rejected_for_memory() {
    let mut crowd = Crowd::new();
    for number in 0..REFERENCES_PER_ACCOUNT {
        crowd.applied(split(MAKER, number));
    }
    crowd.applied(Command::CloseMarket { market: MARKET });
    crowd.applied(Command::ResolveMarket(ResolveMarket {
        market: MARKET,
        payout: Payout::Yes,
        replaces: None,
    }));
    let next = split(MAKER, REFERENCES_PER_ACCOUNT);
    assert_eq!(crowd.refused(next), RejectionReason::TooManyReferences);
    let redeem = Command::Redeem(Redeem {
        account: MAKER,
        market: MARKET,
        reference: numbered(1_000),
    });
    crowd.applied(redeem);
    assert!(matches!(crowd.send(redeem), Verdict::Repeated { .. }));
    crowd.compare();
}

#[test]
fn an_event_group_has_a_bounded_list_of_questions() {
    let mut crowd = Crowd::new();
    let event = EventNumber(0);
    crowd.applied(Command::RegisterEvent { event: EventId(5) });
    let question = |number: u32| market(1 + number).refines().of(event).register();
    for number in 0..MAX_QUESTIONS {
        crowd.applied(question(number));
    }
    let one_more = question(MAX_QUESTIONS);
    assert_eq!(crowd.refused(one_more), RejectionReason::EventFull);
    crowd.compare();
}

/// The longest list, the most events of a command, and orders that wait for `Continue`.
#[test]
fn a_yes_ends_every_other_question_of_the_longest_list_with_its_orders() {
    let mut crowd = Crowd::new();
    crowd.applied(Command::RegisterEvent { event: EventId(5) });
    let question = |place: u32| market(2 + place).refines().of(EventNumber(0));
    for place in 0..MAX_QUESTIONS {
        crowd.applied(question(place).register());
    }
    for place in [0, 1, 3, MAX_QUESTIONS - 1] {
        let market = question(place).number;
        crowd.applied(Command::ActivateMarket { market });
        crowd.applied(trader(MAKER.0).split(market, 100));
    }
    for (place, orders) in [(1, BOUND - 2), (3, 5), (MAX_QUESTIONS - 1, 1)] {
        for _ in 0..orders {
            crowd.orders += 1;
            let order = trader(TAKER.0).buy(Lots(1)).at_cents(40);
            let order = order.on(question(place).number).id(order_id(crowd.orders));
            let order = order.signed(crowd.now.millis()).terms();
            let key = KeyNumber(1);
            crowd.applied(Command::PlaceOrder(PlaceOrder { key, ..order }));
        }
    }
    let winner = question(0).number;
    crowd.applied(Command::CloseMarket { market: winner });
    let resolve = Command::ResolveMarket(ResolveMarket {
        market: winner,
        payout: Payout::Yes,
        replaces: None,
    });
    crowd.applied(resolve);
    assert_eq!(crowd.last_event(), Event::WorkPending);
    // Two of the winner and of the outside question, three of each other one.
    let settled = 2 * 2 + 3 * (MAX_QUESTIONS as usize - 1);
    assert_eq!(crowd.pair.events().len(), settled + MAX_VISITED_ORDERS + 1);
    crowd.compare();
    assert_eq!(crowd.refused(Command::Step), RejectionReason::WorkPending);
    assert_eq!(crowd.cancelled(Command::Continue), 4);
    crowd.compare();
    // Of each question that has shares, and of no other.
    for _ in 0..4 {
        crowd.stepped();
    }
    assert_eq!(
        crowd.refused(Command::Step),
        RejectionReason::NothingPending
    );
}

#[test]
fn a_payment_of_rebates_leaves_what_accrues_after_its_turn() {
    let mut crowd = Crowd::new();
    crowd.open_accounts(ACCOUNTS_PER_STEP);
    crowd.set_terms(MarketTerms {
        taker_delay_ms: 0,
        rebate_ppm: 500_000,
        ..DELAYING
    });
    crowd.applied(Command::SetPayments {
        payments: PaymentSettings {
            withdrawal_limit: Micros::ZERO,
            rebates_daily: true,
        }
        .into(),
    });
    let large = Wish { lots: 1_000, ..ASK };
    let trade = |crowd: &mut Crowd| {
        crowd.crowd(MAKER, large, 1);
        crowd.place(TAKER, Wish { lots: 1_000, ..BID });
        crowd.compare();
    };
    trade(&mut crowd);
    crowd.applied(Command::PayRebates);
    assert!(crowd.stepped() > 0);
    trade(&mut crowd);
    crowd.now.0 += SECOND;
    assert_eq!(crowd.stepped(), 0);
    assert!(matches!(
        crowd.last_event(),
        Event::RebatePaymentEnded { .. }
    ));
    let day = 24 * 3_600 * SECOND;
    let midnight = (crowd.now.0 / day + 1) * day;
    crowd.now.0 = midnight - 1;
    assert_eq!(
        crowd.refused(Command::AdvanceTime),
        RejectionReason::NothingDue
    );
    crowd.now.0 = midnight;
    crowd.applied(Command::AdvanceTime);
    assert!(crowd.stepped() > 0);
}

#[test]
fn lists_of_people_are_bounded() {
    let mut crowd = Crowd::new();
    let rejected = |reason: RejectionReason| Verdict::Rejected(reason.into());
    let add = |number: u16| {
        let mut token = [1; 32];
        token[..2].copy_from_slice(&number.to_be_bytes());
        Command::AddOperator(AddOperator {
            role: OperatorRole::Support,
            name: OperatorName::new(&format!("o{number}")).expect("a name"),
            token,
        })
    };
    // The first two are there from the start.
    for number in 3..=MAX_OPERATORS {
        let verdict = crowd.send_as_admin(add(number));
        let outcome = CommandOutcome::Operator(OperatorNumber(number));
        assert_eq!(verdict, Verdict::Applied(outcome));
    }
    let verdict = crowd.send_as_admin(add(MAX_OPERATORS + 1));
    assert_eq!(verdict, rejected(RejectionReason::TooManyOperators));

    let list = |number: u32, propose| {
        let mut wallet = [8; 20];
        wallet[..4].copy_from_slice(&number.to_be_bytes());
        Command::ListWallet(ListWallet {
            market: None,
            wallet: WalletAddress(wallet),
            propose,
            dispute: false,
        })
    };
    for number in 0..MAX_LISTED_WALLETS {
        crowd.applied(list(number, true));
    }
    let one_more = list(MAX_LISTED_WALLETS, true);
    assert_eq!(crowd.refused(one_more), RejectionReason::ListFull);
    crowd.applied(list(0, false));
    crowd.applied(one_more);
    crowd.compare();
}

/// More accounts ask than the core has made room for at its start, and each still has its own.
#[test]
fn withdrawals_are_bounded_by_account_and_strangers_take_no_room() {
    const STRANGERS: u32 = 5_000;
    let mut crowd = Crowd::new();
    let ask = |trader: Trader, number: u32| {
        Command::RequestWithdrawal(RequestWithdrawal {
            owner: trader.account,
            account: trader.account,
            amount: Micros(1),
            reference: numbered(number),
            // The time of the command is before it.
            valid_until: TimeMs(NOW_SECONDS * 1_000 + u64::from(number)),
        })
    };
    let each = u32::from(WITHDRAWALS_PER_ACCOUNT);
    // Those of the crowd are the first three.
    for number in 3..=3 + STRANGERS {
        crowd.applied(trader(number).deposit(1));
    }
    for account in 3..3 + STRANGERS {
        for number in 1..=each {
            crowd.applied(ask(trader(account), number));
        }
    }
    let of_account = ask(trader(3), each + 1);
    assert_eq!(
        crowd.refused(of_account),
        RejectionReason::TooManyWithdrawals
    );
    let last = crowd.pair.core.sequence();
    crowd.applied(ask(trader(3 + STRANGERS), 1));
    crowd.compare();
    // One in the middle of all is found, and gives its account room.
    let middle = Sequence(last.0 - u64::from(2 * STRANGERS));
    crowd.send_as_admin(Command::FailWithdrawal { withdrawal: middle });
    crowd.compare();
    assert_eq!(
        crowd.send_as_admin(Command::FailWithdrawal { withdrawal: middle }),
        Verdict::Rejected(RejectionReason::UnknownWithdrawal.into())
    );
}
