//! One record of a small state is altered so that it contradicts another; the expected rule reports
//! it.

use foretell_matching::{Capacity, Exchange};
use foretell_model::command::{
    BindWallet, Deposit, RegisterDomain, RegisterKey, RegisterMarket, Split,
};
use foretell_model::limits::NEWEST_RULES;
use foretell_model::state::{self, OrderIdState, PendingWork, StateRecord};
use foretell_model::{
    AccountNumber, ApiKey, Command, CommandKind, ConditionId, DomainNumber, EventId, EventNumber,
    FeeSchedule, KeyNumber, Lots, MarketNumber, Micros, OrderId, OrderNumber, OrderType, Outcome,
    PlaceOrder, Price, Reference, Sequence, Settings, Side, Tick, TimeMs, TimeNs, TimeSeconds,
    TokenId, Verdict, WalletAddress, WalletKind,
};

use crate::restore_agrees::records_of;

const NOW: TimeNs = TimeNs(1_700_000_000_000_000_000);

/// A state with a record of every kind.
fn state() -> Vec<StateRecord> {
    let wallet = |byte| WalletAddress([byte; 20]);
    let market = |byte, event| {
        Command::RegisterMarket(RegisterMarket {
            index: None,
            condition: ConditionId([byte; 32]),
            tokens: [TokenId([byte; 32]), TokenId([byte + 1; 32])],
            tick: Tick::Hundredth,
            tick_refines: false,
            minimum_size: Lots(1),
            fee: FeeSchedule::default(),
            event,
        })
    };
    let active = |market| Command::ActivateMarket {
        market: MarketNumber(market),
    };
    let order = |number, account, side, cents: u64, expiration| {
        let (value, shares) = (cents * 1_000, 100_000);
        Command::PlaceOrder(PlaceOrder {
            order: OrderId([number; 32]),
            account: AccountNumber(account),
            key: KeyNumber(0),
            market: MarketNumber(0),
            outcome: Outcome::Yes,
            side,
            order_type: if expiration == 0 {
                OrderType::Gtc
            } else {
                OrderType::Gtd
            },
            post_only: false,
            maker_amount: if side == Side::Buy { value } else { shares },
            taker_amount: if side == Side::Buy { shares } else { value },
            expiration: TimeSeconds(expiration),
            timestamp: NOW.millis(),
        })
    };
    let commands = [
        Command::ChangeSettings {
            settings: Settings {
                marketable_minimum: Micros::ZERO,
                ..Settings::default()
            }
            .into(),
        },
        Command::RegisterDomain(RegisterDomain {
            domain: DomainNumber(1),
            separator: [1; 32],
        }),
        Command::Deposit(Deposit {
            wallet: wallet(1),
            amount: Micros(500_000_000),
            reference: Reference([1; 32]),
        }),
        Command::BindWallet(BindWallet {
            owner: wallet(1),
            wallet: wallet(2),
            kind: WalletKind::Safe,
        }),
        Command::Deposit(Deposit {
            wallet: wallet(2),
            amount: Micros(500_000_000),
            reference: Reference([2; 32]),
        }),
        Command::RegisterKey(RegisterKey {
            owner: wallet(1),
            nonce: [0; 32],
            api_key: ApiKey([1; 16]),
            read_only: false,
        }),
        market(10, None),
        Command::RegisterEvent { event: EventId(9) },
        market(20, Some(EventNumber(0))),
        market(30, Some(EventNumber(0))),
        active(0),
        active(2),
        active(3),
        Command::Split(Split {
            account: AccountNumber(0),
            market: MarketNumber(0),
            lots: Lots(1_000),
            reference: Reference([1; 32]),
        }),
        order(1, 0, Side::Buy, 40, 0),
        order(2, 1, Side::Buy, 41, 0),
        order(3, 0, Side::Sell, 60, 1_700_009_000),
    ];
    let mut exchange = Exchange::new(Capacity::NONE, 1);
    for command in commands {
        let verdict = exchange.apply(&command, NOW, &mut Vec::new());
        assert!(
            matches!(verdict, Verdict::Applied(_)),
            "{command:?}: {verdict:?}"
        );
    }
    records_of(&exchange)
}

/// An alteration, and the expected part of the error.
pub(super) type Row = (fn(&mut StateRecord), &'static str);

/// Sets one field of the matching record to another value.
macro_rules! set {
    ($pattern:pat => $field:ident = $value:expr) => {
        |record| {
            if let $pattern = record {
                *$field = $value;
            }
        }
    };
}
pub(super) use set;

const ROWS: &[Row] = &[
    (
        set!(StateRecord::System(state::System { rules, .. }) => rules = NEWEST_RULES + 1),
        "unknown rules",
    ),
    (
        set!(StateRecord::System(state::System { sequence, .. }) => sequence = Sequence(u64::MAX)),
        "sequence is the maximum",
    ),
    (
        set!(StateRecord::System(state::System { sequence, .. }) => sequence = Sequence(14)),
        "after the last command",
    ),
    (
        set!(StateRecord::System(state::System { time, .. }) => time = TimeNs(NOW.0 - 1)),
        "time is after the last command's",
    ),
    (
        set!(StateRecord::System(state::System { settings, .. }) => settings = Settings { timestamp_past_ms: 0, ..Settings::default() }),
        "invalid settings",
    ),
    (
        set!(StateRecord::System(state::System { timestamp_floor, .. }) => timestamp_floor = TimeMs(u64::MAX)),
        "timestamp floor",
    ),
    (
        set!(StateRecord::System(state::System { collateral, .. }) => collateral = Micros(7)),
        "is not Micros(7)",
    ),
    (
        set!(StateRecord::System(state::System { collateral, .. }) => collateral = Micros(u64::MAX)),
        "exceeds the maximum balance",
    ),
    (
        set!(StateRecord::System(state::System { pending, .. }) => pending = Some(PendingWork::CloseMarket { market: MarketNumber(0) })),
        "a market that is not closed",
    ),
    (
        set!(StateRecord::System(state::System { pending, .. }) => pending = Some(PendingWork::CloseMarket { market: MarketNumber(9) })),
        "a market that is not closed",
    ),
    (
        set!(StateRecord::System(state::System { pending, .. }) => pending = Some(PendingWork::ClosedOnly { account: AccountNumber(9) })),
        "not closed-only",
    ),
    (
        set!(StateRecord::Account(state::Account { account, .. }) => account = AccountNumber(8)),
        "number is not the next",
    ),
    (
        set!(StateRecord::Account(state::Account { account: AccountNumber(1), wallet, .. }) => wallet = WalletAddress([1; 20])),
        "not found by wallet",
    ),
    (
        set!(StateRecord::Account(state::Account { account: AccountNumber(1), owner, .. }) => owner = AccountNumber(2)),
        "owner is unknown or bound",
    ),
    (
        set!(StateRecord::Account(state::Account { account: AccountNumber(0), owner, .. }) => owner = AccountNumber(1)),
        "owner is unknown or bound",
    ),
    (
        set!(StateRecord::Account(state::Account { account: AccountNumber(1), kind, .. }) => kind = WalletKind::Eoa),
        "no wallet kind",
    ),
    (
        set!(StateRecord::Account(state::Account { account: AccountNumber(0), kind, .. }) => kind = WalletKind::Safe),
        "two wallets of one kind",
    ),
    (
        set!(StateRecord::Account(state::Account { free, .. }) => free = Micros(u64::MAX)),
        "exceeds the maximum balance",
    ),
    (
        set!(StateRecord::Account(state::Account { reserved, .. }) => reserved = Micros(1)),
        "is not Micros(1000000000)",
    ),
    (
        set!(StateRecord::Account(state::Account { live_orders, .. }) => live_orders = 9),
        "live orders than stated",
    ),
    (
        set!(StateRecord::Key(state::Key { key, .. }) => key = KeyNumber(1)),
        "number is not the next",
    ),
    (
        set!(StateRecord::Key(state::Key { owner, .. }) => owner = AccountNumber(1)),
        "owner is unknown or bound",
    ),
    (
        set!(StateRecord::Event(state::Event { questions, .. }) => questions = 3),
        "questions than stated",
    ),
    (
        set!(StateRecord::Event(state::Event { converted, .. }) => converted = Lots(1)),
        "converted Lots(1)",
    ),
    (
        set!(StateRecord::Market(state::Market { market: MarketNumber(2), condition, .. }) => condition = ConditionId([10; 32])),
        "not found by name",
    ),
    (
        set!(StateRecord::Market(state::Market { market: MarketNumber(2), tokens, .. }) => tokens = [TokenId([20; 32]), TokenId([10; 32])]),
        "duplicate token",
    ),
    (
        set!(StateRecord::Market(state::Market { tick, .. }) => tick = Tick::Tenth),
        "off the tick grid",
    ),
    (
        set!(StateRecord::Market(state::Market { minimum_size, .. }) => minimum_size = Lots(0)),
        "out of range",
    ),
    (
        set!(StateRecord::Market(state::Market { fee, .. }) => fee = FeeSchedule { rate_ppm: 1, exponent: 3 }),
        "out of range",
    ),
    (
        set!(StateRecord::Market(state::Market { question: Some((_, index)), .. }) => index = 1),
        "not the next question",
    ),
    (
        set!(StateRecord::Market(state::Market { market: MarketNumber(0), question, .. }) => question = Some((EventNumber(1), 0))),
        "unknown event group",
    ),
    (
        set!(StateRecord::Market(state::Market { market: MarketNumber(0), supply, .. }) => supply = [Lots(1_001); 2]),
        "is not Micros(1000000000)",
    ),
    (
        set!(StateRecord::Position(state::Position { free, .. }) => free = [Lots(0); 2]),
        "held",
    ),
    (
        set!(StateRecord::Position(state::Position { market, .. }) => market = MarketNumber(9)),
        "unknown market",
    ),
    (
        set!(StateRecord::Order(state::Order { account, .. }) => account = AccountNumber(2)),
        "unknown account",
    ),
    (
        set!(StateRecord::Order(state::Order { order: order @ OrderNumber(15), .. }) => order = OrderNumber(14)),
        "a resting order has no remembered id",
    ),
    (
        set!(StateRecord::Order(state::Order { id, .. }) => id = OrderId([9; 32])),
        "a resting order has no remembered id",
    ),
    (
        set!(StateRecord::Order(state::Order { price, side: Side::Buy, .. }) => price = Price(4_050)),
        "off the tick grid",
    ),
    (
        set!(StateRecord::Order(state::Order { price: price @ Price(4_100), .. }) => price = Price(3_900)),
        "out of order",
    ),
    (
        set!(StateRecord::Order(state::Order { price: price @ Price(4_100), .. }) => price = Price(7_000)),
        "its orders need",
    ),
    (
        set!(StateRecord::Order(state::Order { price, side: Side::Buy, .. }) => price = Price(u16::MAX)),
        "off the tick grid",
    ),
    (
        set!(StateRecord::Order(state::Order { price, side: Side::Sell, .. }) => price = Price(u16::MAX)),
        "off the tick grid",
    ),
    (
        set!(StateRecord::Order(state::Order { lots, .. }) => lots = Lots(0)),
        "size out of range",
    ),
    (
        set!(StateRecord::Order(state::Order { side: Side::Sell, lots, .. }) => lots = Lots(9)),
        "orders need [Lots(9), Lots(0)]",
    ),
    (
        set!(StateRecord::Order(state::Order { side: Side::Sell, expiration, .. }) => expiration = TimeSeconds(0)),
        "its remembered id differ",
    ),
    (
        set!(StateRecord::RememberedOrder(state::RememberedOrder { state, .. }) => state = OrderIdState::Done),
        "has no remembered id",
    ),
    (
        set!(StateRecord::RememberedOrder(state::RememberedOrder { timestamp, .. }) => timestamp = TimeMs(u64::MAX)),
        "outside of any window",
    ),
    (
        set!(StateRecord::RememberedOrder(state::RememberedOrder { key, .. }) => key = KeyNumber(1)),
        "unknown key",
    ),
    (
        set!(StateRecord::RememberedOrder(state::RememberedOrder { order_type, .. }) => order_type = OrderType::Fok),
        "cannot rest",
    ),
    (
        set!(StateRecord::RememberedReference(state::RememberedReference { kind, .. }) => kind = CommandKind::BindWallet),
        "of this kind",
    ),
    (
        set!(StateRecord::RememberedReference(state::RememberedReference { kind, .. }) => kind = CommandKind::Deposit),
        "of this kind",
    ),
    (
        set!(StateRecord::RememberedReference(state::RememberedReference { scope, .. }) => scope = Some(AccountNumber(1))),
        "scope does not match",
    ),
    (
        set!(StateRecord::RememberedReference(state::RememberedReference { scope: None, reference, .. }) => reference = Reference([1; 32])),
        "duplicate reference",
    ),
];

#[test]
fn an_altered_record_is_refused_with_the_rule_it_breaks() {
    assert_refused(&state(), ROWS);
}

/// Each alteration of a state is refused with the expected error.
pub(super) fn assert_refused(good: &[StateRecord], rows: &[Row]) {
    Exchange::restore(Capacity::NONE, 1, good.to_vec()).expect("nothing is altered yet");
    let mut others = Vec::new();
    for (row, (alter, expected)) in rows.iter().enumerate() {
        let mut records = good.to_vec();
        records.iter_mut().for_each(alter);
        assert_ne!(records, good, "row {row} alters nothing");
        match Exchange::restore(Capacity::NONE, 1, records) {
            Err(error) if error.to_string().contains(expected) => {}
            other => others.push(format!("row {row}, {expected}: {:?}", other.err())),
        }
    }
    assert!(others.is_empty(), "{others:#?}");
}

#[test]
fn no_records_are_no_exchange() {
    let error = Exchange::restore(Capacity::NONE, 1, [])
        .expect_err("nothing")
        .to_string();
    assert_eq!(error, "state record 0 is invalid: the list is empty");
}
