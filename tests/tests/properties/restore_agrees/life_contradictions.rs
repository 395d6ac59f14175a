//! Contradictions of the records of a market's life.

use foretell_matching::{Capacity, Exchange};
use foretell_model::command::{
    AddOperator, Deposit, ListWallet, Propose, RegisterKey, RegisterMarket, ResolveMarket,
    SetPolicy, SetTerms, Split, Withdraw,
};
use foretell_model::limits::{MAX_BALANCE, MAX_REBATE_PPM, MAX_TAKER_DELAY_MS, MAX_WINDOW_SECONDS};
use foretell_model::state::{self, BackgroundWork, StateRecord};
use foretell_model::{
    AccountNumber, ApiKey, CloseReason, Command, CommandStamp, ConditionId, FeeSchedule, KeyNumber,
    Lots, MarketNumber, MarketTerms, Micros, OperatorName, OperatorNumber, OperatorRole, OrderId,
    OrderNumber, OrderType, Outcome, PaymentSettings, Payout, PlaceOrder, Price, Reference,
    ResolutionPolicy, Sequence, Settings, Side, Tick, TimeMs, TimeNs, TimeSeconds, TokenId,
    Verdict, WalletAddress,
};

use crate::restore_agrees::contradictions::{Row, assert_refused, set};
use crate::restore_agrees::records_of;

const NOW: TimeNs = TimeNs(1_700_000_000_000_000_000);
const ADMIN: OperatorNumber = OperatorNumber::FIRST_ADMIN;
const ANN: OperatorNumber = OperatorNumber(3);
const SITE: Option<MarketNumber> = None;
const BY_TIME_AND_PERSON: ResolutionPolicy = policy(true, true);

const fn policy(by_time: bool, second_person: bool) -> ResolutionPolicy {
    let none = foretell_model::RoleSet::NONE;
    ResolutionPolicy {
        proposers: none,
        disputers: none,
        minimum_window_seconds: 0,
        second_person,
        by_time,
    }
}

fn market(number: u32) -> Command {
    let byte = 10 * u8::try_from(number).expect("few markets") + 10;
    Command::RegisterMarket(RegisterMarket {
        index: None,
        condition: ConditionId([byte; 32]),
        tokens: [TokenId([byte; 32]), TokenId([byte + 1; 32])],
        tick: Tick::Hundredth,
        tick_refines: false,
        minimum_size: Lots(1),
        fee: FeeSchedule {
            rate_ppm: 40_000,
            exponent: 1,
        },
        event: None,
    })
}

fn order(
    number: u8,
    account: u32,
    market: u32,
    outcome: Outcome,
    order_type: OrderType,
) -> Command {
    let (cents, shares) = (50, 10_000_000);
    Command::PlaceOrder(PlaceOrder {
        order: OrderId([number; 32]),
        account: AccountNumber(account),
        key: KeyNumber(account),
        market: MarketNumber(market),
        outcome,
        side: Side::Buy,
        order_type,
        post_only: false,
        maker_amount: cents * shares / 100,
        taker_amount: shares,
        expiration: TimeSeconds(0),
        timestamp: NOW.millis(),
    })
}

/// Accounts, markets and operators.
fn registered() -> Vec<(OperatorNumber, Command)> {
    let wallet = |byte| WalletAddress([byte; 20]);
    let mut commands = vec![Command::ChangeSettings {
        settings: Settings {
            marketable_minimum: Micros::ZERO,
            ..Settings::default()
        }
        .into(),
    }];
    for byte in [1, 2] {
        commands.push(Command::Deposit(Deposit {
            wallet: wallet(byte),
            amount: Micros(500_000_000),
            reference: Reference([byte; 32]),
        }));
        commands.push(Command::RegisterKey(RegisterKey {
            owner: wallet(byte),
            nonce: [0; 32],
            api_key: ApiKey([byte; 16]),
            read_only: false,
        }));
    }
    for number in 0..4 {
        commands.push(market(number));
        let market = MarketNumber(number);
        commands.push(Command::ActivateMarket { market });
        commands.push(Command::Split(Split {
            account: AccountNumber(0),
            market,
            lots: Lots(1_000),
            reference: Reference([100 + u8::try_from(number).expect("few markets"); 32]),
        }));
    }
    let add = |role, name: &str| {
        Command::AddOperator(AddOperator {
            role,
            name: OperatorName::new(name).expect("it is a name"),
            token: [7; 32],
        })
    };
    let mut acts: Vec<_> = commands
        .into_iter()
        .map(|command| (OperatorNumber::NONE, command))
        .collect();
    acts.push((ADMIN, add(OperatorRole::Cashier, "ann")));
    acts
}

/// Everything that waits.
fn waiting() -> Vec<(OperatorNumber, Command)> {
    let terms = |number, terms: MarketTerms| {
        Command::SetTerms(SetTerms {
            market: MarketNumber(number),
            terms: terms.into(),
        })
    };
    let clock = MarketTerms {
        closes_at: TimeMs(NOW.millis().0 + 2_000_000),
        game_start_time: TimeMs(NOW.millis().0 + 1_000_000),
        clear_book_on_start: true,
        taker_delay_ms: 1_000,
        rebate_ppm: 500_000,
        ..MarketTerms::default()
    };
    let rebate = MarketTerms {
        rebate_ppm: 500_000,
        ..MarketTerms::default()
    };
    let close = |number| Command::CloseMarket {
        market: MarketNumber(number),
    };
    let list = |market| {
        Command::ListWallet(ListWallet {
            market,
            wallet: WalletAddress([1; 20]),
            propose: true,
            dispute: false,
        })
    };
    let own = Some(MarketNumber(2));
    let gtc = OrderType::Gtc;
    let commands = [
        terms(0, clock),
        terms(1, rebate),
        order(1, 0, 0, Outcome::No, gtc),
        order(2, 1, 0, Outcome::Yes, OrderType::Fok),
        order(3, 0, 1, Outcome::No, gtc),
        order(4, 1, 1, Outcome::Yes, gtc),
        Command::SetPolicy(SetPolicy {
            market: own,
            policy: ResolutionPolicy::default().into(),
        }),
        list(own),
        list(None),
        close(2),
        Command::Propose(Propose {
            market: MarketNumber(2),
            payout: Payout::Yes,
            by: None,
            evidence: [3; 32],
            window_seconds: Some(60),
            reference: Reference([50; 32]),
        }),
        close(3),
        Command::ResolveMarket(ResolveMarket {
            market: MarketNumber(3),
            payout: Payout::No,
        }),
        Command::PayRebates,
        Command::SetPayments {
            payments: PaymentSettings {
                withdrawal_limit: Micros(10),
                rebates_daily: true,
            }
            .into(),
        },
    ];
    let mut acts: Vec<_> = commands
        .into_iter()
        .map(|command| match command {
            Command::PlaceOrder(_) => (OperatorNumber::NONE, command),
            _ => (ADMIN, command),
        })
        .collect();
    let withdraw = Command::Withdraw(Withdraw {
        wallet: WalletAddress([1; 20]),
        amount: Micros(20),
        reference: Reference([51; 32]),
    });
    acts.push((ANN, withdraw));
    acts
}

/// A state with every record of a market's life.
fn state() -> Vec<StateRecord> {
    let mut exchange = Exchange::new(Capacity::NONE, 1);
    for (operator, command) in registered().into_iter().chain(waiting()) {
        let stamp = CommandStamp {
            operator,
            ..CommandStamp::at(NOW)
        };
        let verdict = exchange.apply(&command, stamp, &mut Vec::new());
        assert!(
            matches!(verdict, Verdict::Applied(_)),
            "{command:?}: {verdict:?}"
        );
    }
    records_of(&exchange)
}

const ROWS: &[Row] = &[
    (
        set!(StateRecord::Site(state::Site { payments, .. }) => payments = PaymentSettings { withdrawal_limit: Micros(MAX_BALANCE.0 + 1), rebates_daily: false }),
        "withdrawal limit out of range",
    ),
    (
        set!(StateRecord::Site(state::Site { policy, .. }) => policy = BY_TIME_AND_PERSON),
        "invalid policy",
    ),
    (
        set!(StateRecord::Site(state::Site { rebates_since, .. }) => rebates_since = TimeNs(u64::MAX)),
        "after the last command",
    ),
    (
        set!(StateRecord::Site(state::Site { rebates_since, .. }) => rebates_since = TimeNs(0)),
        "accrued",
    ),
    (
        set!(StateRecord::Operator(state::Operator { operator: operator @ ANN, .. }) => operator = OperatorNumber(9)),
        "number is not the next",
    ),
    (
        set!(StateRecord::Operator(state::Operator { operator: ANN, token, .. }) => token = [0; 32]),
        "the first operators, and only they, have no token",
    ),
    (
        set!(StateRecord::Operator(state::Operator { operator: ADMIN, token, .. }) => token = [1; 32]),
        "the first operators, and only they, have no token",
    ),
    (
        set!(StateRecord::Operator(state::Operator { operator: ADMIN, live, .. }) => live = false),
        "no admin is live",
    ),
    (
        set!(StateRecord::Terms(state::Terms { market: market @ MarketNumber(1), .. }) => market = MarketNumber(9)),
        "unknown market",
    ),
    (
        set!(StateRecord::Terms(state::Terms { terms, .. }) => terms = MarketTerms { taker_delay_ms: MAX_TAKER_DELAY_MS + 1, ..MarketTerms::default() }),
        "terms out of range",
    ),
    (
        set!(StateRecord::Terms(state::Terms { terms, .. }) => terms = MarketTerms { opens_at: TimeMs(2), closes_at: TimeMs(2), ..MarketTerms::default() }),
        "closes before it opens",
    ),
    (
        set!(StateRecord::Terms(state::Terms { market: MarketNumber(1), terms, .. }) => terms = MarketTerms::default()),
        "the terms are empty",
    ),
    (
        set!(StateRecord::Terms(state::Terms { market: MarketNumber(1), clear_armed, .. }) => clear_armed = true),
        "armed without its term",
    ),
    (
        set!(StateRecord::Policy(state::Policy { policy, .. }) => policy = BY_TIME_AND_PERSON),
        "invalid policy",
    ),
    (
        set!(StateRecord::ListedWallet(state::ListedWallet { market: SITE, account, .. }) => account = AccountNumber(9)),
        "unknown account",
    ),
    (
        set!(StateRecord::ListedWallet(state::ListedWallet { propose, .. }) => propose = false),
        "may do nothing",
    ),
    (
        set!(StateRecord::ListedWallet(state::ListedWallet { market: market @ Some(_), .. }) => market = Some(MarketNumber(1))),
        "no policy of its own",
    ),
    (
        set!(StateRecord::Proposal(state::Proposal { market, .. }) => market = MarketNumber(1)),
        "not closed",
    ),
    (
        set!(StateRecord::Proposal(state::Proposal { proposal, .. }) => proposal = Sequence(u64::MAX)),
        "after the last command",
    ),
    (
        set!(StateRecord::Proposal(state::Proposal { window_seconds, .. }) => window_seconds = MAX_WINDOW_SECONDS + 1),
        "window out of range",
    ),
    (
        set!(StateRecord::Proposal(state::Proposal { by, .. }) => by = Some(AccountNumber(u32::MAX))),
        "unknown account",
    ),
    (
        set!(StateRecord::Proposal(state::Proposal { operator, .. }) => operator = OperatorNumber::NONE),
        "unknown operator",
    ),
    (
        set!(StateRecord::Proposal(state::Proposal { counter, .. }) => counter = Some(Payout::No)),
        "undisputed proposal",
    ),
    (
        set!(StateRecord::Accrued(state::Accrued { amount, .. }) => amount = Micros::ZERO),
        "accrued rebates out of range",
    ),
    (
        set!(StateRecord::Accrued(state::Accrued { amount, .. }) => amount = Micros(1)),
        "accrued 1 ",
    ),
    (
        set!(StateRecord::DelayedOrder(state::DelayedOrder { order, .. }) => order = OrderNumber(1)),
        "no live id belongs to it",
    ),
    (
        set!(StateRecord::DelayedOrder(state::DelayedOrder { order_type, .. }) => order_type = OrderType::Fak),
        "size out of range",
    ),
    (
        set!(StateRecord::DelayedOrder(state::DelayedOrder { price, .. }) => price = Price(5_050)),
        "off the tick grid",
    ),
    (
        set!(StateRecord::DelayedOrder(state::DelayedOrder { lots, .. }) => lots = Lots(5)),
        "size out of range",
    ),
    (
        set!(StateRecord::DelayedOrder(state::DelayedOrder { rebate_ppm, .. }) => rebate_ppm = MAX_REBATE_PPM + 1),
        "rebate out of range",
    ),
    (
        set!(StateRecord::DelayedOrder(state::DelayedOrder { reserved, .. }) => reserved = 1),
        "reservation out of range",
    ),
    (
        set!(StateRecord::DelayedOrder(state::DelayedOrder { reserved, .. }) => reserved = 9_000_000),
        "its orders need",
    ),
    (
        set!(StateRecord::DelayedOrder(state::DelayedOrder { cancel, .. }) => cancel = Some(CloseReason::Expired)),
        "a cancel has an invalid reason",
    ),
    (
        set!(StateRecord::DelayedOrder(state::DelayedOrder { market, .. }) => market = MarketNumber(3)),
        "its market is over",
    ),
    (
        set!(StateRecord::HeldWithdrawal(state::HeldWithdrawal { operator, .. }) => operator = OperatorNumber(5)),
        "unknown operator",
    ),
    (
        set!(StateRecord::HeldWithdrawal(state::HeldWithdrawal { amount, .. }) => amount = Micros::ZERO),
        "held amount out of range",
    ),
    (
        set!(StateRecord::HeldWithdrawal(state::HeldWithdrawal { amount, .. }) => amount = Micros(21)),
        "its orders need",
    ),
    (
        set!(StateRecord::Background(state::Background { work: work @ BackgroundWork::Rebates, .. }) => work = BackgroundWork::Settlement { market: MarketNumber(3) }),
        "two settlements of one market",
    ),
    (
        set!(StateRecord::Background(state::Background { work: work @ BackgroundWork::Settlement { .. }, .. }) => work = BackgroundWork::Rebates),
        "two payments of rebates",
    ),
    (
        set!(StateRecord::Background(state::Background { work, .. }) => work = BackgroundWork::Settlement { market: MarketNumber(2) }),
        "not resolved",
    ),
    (
        set!(StateRecord::Background(state::Background { next, .. }) => next = AccountNumber(9)),
        "accounts of background work out of range",
    ),
    (
        set!(StateRecord::Background(state::Background { work: BackgroundWork::Settlement { .. }, next, .. }) => next = AccountNumber(1)),
        "missed by the settlement",
    ),
    (
        set!(StateRecord::Background(state::Background { first, .. }) => first = Sequence(0)),
        "its sequence is 0",
    ),
];

#[test]
fn an_altered_record_of_a_markets_life_is_refused_with_the_rule_it_breaks() {
    assert_refused(&state(), ROWS);
}
