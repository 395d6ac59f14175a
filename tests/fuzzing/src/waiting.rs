//! A state in which everything waits that can: terms, a delayed order, a proposal, policies, listed wallets,
//! accrued rebates, a settlement and a withdrawal.

use foretell_fixtures::{market, trader};
use foretell_matching::{Capacity, Exchange};
use foretell_model::command::{
    AddOperator, ListWallet, Propose, ResolveMarket, SetPolicy, SetTerms, Withdraw,
};
use foretell_model::{
    Command, CommandStamp, MarketNumber, MarketTerms, Micros, OperatorName, OperatorNumber,
    OperatorRole, OrderId, OrderType, Outcome, PaymentSettings, Payout, Reference,
    ResolutionPolicy, Settings, TimeMs, TimeNs, Verdict, WalletAddress,
};

const NOW: TimeNs = TimeNs(1_700_000_000_000_000_000);
const ADMIN: OperatorNumber = OperatorNumber::FIRST_ADMIN;
const ANN: OperatorNumber = OperatorNumber(3);

fn order(
    number: u8,
    account: u32,
    market: u32,
    outcome: Outcome,
    order_type: OrderType,
) -> Command {
    let order = trader(account).buy(10).at("0.5").of(outcome);
    let order = order.on(MarketNumber(market)).as_type(order_type);
    order.id(OrderId([number; 32])).signed(NOW.millis()).place()
}

/// Accounts, markets and operators.
fn registered() -> Vec<(OperatorNumber, Command)> {
    let mut commands = vec![Command::ChangeSettings {
        settings: Settings {
            marketable_minimum: Micros::ZERO,
            ..Settings::default()
        }
        .into(),
    }];
    commands.extend([0, 1].map(|number| trader(number).open(500)).concat());
    for number in 0..4 {
        commands.extend(market(number).fee(40_000).open());
        commands.push(trader(0).split(MarketNumber(number), 10));
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
            replaces: None,
            reference: Reference([50; 32]),
        }),
        close(3),
        Command::ResolveMarket(ResolveMarket {
            market: MarketNumber(3),
            payout: Payout::No,
            replaces: None,
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

/// The image of that state.
pub(crate) fn image() -> Vec<u8> {
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
    let mut image = Vec::new();
    exchange.write_image(&mut image);
    image
}
