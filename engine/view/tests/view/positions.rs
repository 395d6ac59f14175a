//! The arithmetic of positions (docs/verify/rules.md §18): an example by hand, and invariants over
//! all wallets for random actions.

use foretell_model::{Lots, Micros, Outcome, Payout};
use foretell_view::{Basis, Conversion, NotHeld, Position};
use proptest::prelude::*;

/// Lots, cost, bought, spent, realized.
type Figures = (u64, i128, u128, i128, i128);

fn figures(position: &Position) -> Figures {
    (
        position.lots().0,
        position.basis().cost,
        position.bought(),
        position.spent(),
        position.realized(),
    )
}

fn buy(lots: u64, units: u64) -> impl FnOnce(&mut Position) {
    move |position| position.buy(Lots(lots), Basis::of_cost((lots * units).into()))
}

fn sell(lots: u64, units: u64) -> impl FnOnce(&mut Position) {
    move |position| {
        position
            .sell(Lots(lots), Micros(lots * units), Micros::ZERO)
            .expect("they are held");
    }
}

type Step = (&'static str, Box<dyn FnOnce(&mut Position)>, Figures);

fn step(what: &'static str, act: impl FnOnce(&mut Position) + 'static, after: Figures) -> Step {
    (what, Box::new(act), after)
}

fn walk(position: &mut Position, steps: Vec<Step>) {
    for (what, act, after) in steps {
        act(position);
        assert_eq!(figures(position), after, "{what}");
    }
}

#[test]
fn a_plain_position_from_its_first_share_to_its_last() {
    let mut yes = Position::default();
    // Money in micros, shares in lots of 0.01.
    let steps = vec![
        step(
            "buy 100 at 0.40",
            buy(10_000, 4_000),
            (10_000, 40_000_000, 10_000, 40_000_000, 0),
        ),
        step(
            "add 50 at 0.55",
            buy(5_000, 5_500),
            (15_000, 67_500_000, 15_000, 67_500_000, 0),
        ),
        // 40 of 150 have a cost of 18.00 of 67.50; proceeds are 24.00.
        step(
            "sell 40 at 0.60",
            sell(4_000, 6_000),
            (11_000, 49_500_000, 15_000, 67_500_000, 6_000_000),
        ),
        step(
            "split 10",
            |it| it.split(Lots(1_000)),
            (12_000, 54_500_000, 16_000, 72_500_000, 6_000_000),
        ),
        // 7 of 120 have a cost of ⌊54.5 × 7 ÷ 120⌋ = 3.179166 (the fraction stays); proceeds are
        // 3.50.
        step(
            "merge 7",
            |it| it.merge(Lots(700)).expect("held"),
            (11_300, 51_320_834, 16_000, 72_500_000, 6_320_834),
        ),
        step(
            "the market pays Yes, redeem 113",
            |it| {
                it.redeem(Lots(11_300), Payout::Yes, Outcome::Yes)
                    .expect("held");
            },
            (0, 0, 16_000, 72_500_000, 68_000_000),
        ),
    ];
    walk(&mut yes, steps);
    assert!(yes.is_closed());
}

#[test]
fn the_last_share_takes_all_that_is_left_of_the_cost() {
    let mut position = Position::default();
    let steps = vec![
        step(
            "three lots for 1000",
            |it| it.buy(Lots(3), Basis::of_cost(1_000)),
            (3, 1_000, 3, 1_000, 0),
        ),
        step("⌊1000 ÷ 3⌋ goes", sell(1, 0), (2, 667, 3, 1_000, -333)),
        step("⌊667 ÷ 2⌋ goes", sell(1, 0), (1, 334, 3, 1_000, -666)),
        step("the rest goes", sell(1, 0), (0, 0, 3, 1_000, -1_000)),
    ];
    walk(&mut position, steps);
    let (held, gone) = (Lots(0), Lots(1));
    assert_eq!(position.give(gone), Err(NotHeld { held, gone }));
    assert_eq!(
        figures(&position),
        (0, 0, 3, 1_000, -1_000),
        "nothing changed"
    );
}

#[test]
fn a_negative_cost_is_floored_toward_less() {
    let mut position = Position::default();
    let steps = vec![
        step(
            "a convert's Yes",
            |it| it.buy(Lots(3), Basis::of_cost(-1_000)),
            (3, -1_000, 3, -1_000, 0),
        ),
        step(
            "⌊−1000 ÷ 3⌋ = −334 goes",
            sell(1, 100),
            (2, -666, 3, -1_000, 434),
        ),
        step("half of −666", sell(1, 100), (1, -333, 3, -1_000, 867)),
        step("the rest", sell(1, 100), (0, 0, 3, -1_000, 1_300)),
    ];
    walk(&mut position, steps);
}

#[test]
fn the_fee_of_a_buy_leaves_with_its_shares_and_that_of_a_sale_at_once() {
    let mut position = Position::default();
    let (cost, fees) = (1_000, 100);
    position.buy(Lots(3), Basis { cost, fees });
    position
        .sell(Lots(1), Micros(500), Micros(7))
        .expect("held");
    // ⌊100 ÷ 3⌋ of the fees and ⌊1000 ÷ 3⌋ of the cost are gone.
    let (cost, fees) = (667, 67);
    assert_eq!(position.basis(), Basis { cost, fees });
    assert_eq!(position.realized(), 500 - 7 - 333 - 33);
    position.merge(Lots(1)).expect("held");
    let (cost, fees) = (334, 34);
    assert_eq!(position.basis(), Basis { cost, fees });
    let paid = position.redeem(Lots(1), Payout::No, Outcome::Yes);
    assert_eq!(paid, Ok(Micros::ZERO));
    assert_eq!(position.basis(), Basis::default());
    assert_eq!(position.realized(), 500 + 5_000 - 1_000 - 107);
    assert_eq!(position.spent(), 1_000, "without fees");
}

#[test]
fn redeeming_pays_each_side_what_the_market_pays() {
    for (payout, yes, no) in [
        (Payout::Yes, 50, -50),
        (Payout::No, -50, 50),
        (Payout::Half, 0, 0),
    ] {
        for (side, profit) in [(Outcome::Yes, yes), (Outcome::No, no)] {
            let mut position = Position::default();
            position.split(Lots(100));
            position.redeem(Lots(100), payout, side).expect("held");
            let realized = profit * 10_000;
            assert_eq!(
                figures(&position),
                (0, 0, 100, 500_000, realized),
                "{payout:?} {side:?}"
            );
        }
    }
}

#[test]
fn a_convert_moves_cost_less_collateral_in_equal_parts() {
    let case = |lots, removed, given, questions| {
        Conversion::new(Lots(lots), Basis::of_cost(removed), given, questions)
    };
    // One No of three with a cost of 4.00: two Yes of 2.00 each.
    let one = case(500, 4_000_000, 1, 3);
    assert_eq!(
        [
            one.yes_basis(0).cost,
            one.yes_basis(1).cost,
            one.no_profit(0)
        ],
        [2_000_000, 2_000_000, 0]
    );
    // The remainder of one micro goes to the lowest index.
    let odd = case(500, 4_000_001, 1, 3);
    assert_eq!(
        [odd.yes_basis(0).cost, odd.yes_basis(1).cost],
        [2_000_001, 2_000_000]
    );
    // Two No of four with a cost of 0.000003 pay 5.00 together: each Yes has a negative cost.
    let less = case(500, 3, 2, 4);
    assert_eq!(
        [less.yes_basis(0).cost, less.yes_basis(1).cost],
        [-2_499_998, -2_499_999]
    );
    // All three: 10.00 of collateral for No with a cost of 9.000001, in thirds.
    let all = case(500, 9_000_001, 3, 3);
    let profits = [all.no_profit(0), all.no_profit(1), all.no_profit(2)];
    assert_eq!(profits, [333_333, 333_333, 333_333]);
    assert_eq!(all.yes_basis(0), Basis::default());
    // A loss of 0.000002, floored to −1 each; the first gets the remainder of one micro.
    let loss = case(500, 10_000_002, 3, 3);
    let profits = [loss.no_profit(0), loss.no_profit(1), loss.no_profit(2)];
    assert_eq!(profits, [0, -1, -1]);
    // A single question: its No pays nothing.
    assert_eq!(case(500, 7, 1, 1).no_profit(0), -7);
}

#[test]
fn a_convert_moves_fees_in_equal_parts() {
    let (cost, fees) = (4_000_001, 1_003);
    let moved = Conversion::new(Lots(500), Basis { cost, fees }, 2, 4);
    let (cost, fees) = (-499_999, 502);
    assert_eq!(moved.yes_basis(0), Basis { cost, fees });
    let (cost, fees) = (-500_000, 501);
    assert_eq!(moved.yes_basis(1), Basis { cost, fees });
    // Of every question: 10.00 of collateral less cost and fees, in thirds.
    let (cost, fees) = (9_000_001, 2);
    let all = Conversion::new(Lots(500), Basis { cost, fees }, 3, 3);
    let profits = [all.no_profit(0), all.no_profit(1), all.no_profit(2)];
    assert_eq!(profits, [333_333, 333_332, 333_332]);
}

/// Positions of a few wallets in the questions of one event group: `[wallet][question]` is `[Yes,
/// No]`. A plain market is an event group of one question without converts.
struct Crowd {
    wallets: Vec<Vec<[Position; 2]>>,
    /// Total lots converted.
    converted: i128,
    payouts: Vec<Option<Payout>>,
    /// Total profit of closed positions.
    closed: i128,
    /// Total fees that takers paid.
    fees: i128,
}

#[derive(Clone, Debug)]
enum Act {
    /// Buyer, seller, question, whether Yes, lots, price units: shares are sold. As in the next two,
    /// one side takes and pays a fee.
    Trade(usize, usize, usize, bool, u64, u64),
    /// Two buyers, question, lots, the first one's price: a set is minted.
    Mint(usize, usize, usize, u64, u64),
    /// Two sellers: a set is burned.
    Burn(usize, usize, usize, u64, u64),
    Split(usize, usize, u64),
    Merge(usize, usize, u64),
    /// Wallet, questions as bits, lots.
    Convert(usize, u32, u64),
    Resolve(usize, Payout),
    Redeem(usize, usize),
}

const WALLETS: usize = 3;

impl Crowd {
    fn new(questions: usize) -> Self {
        Self {
            wallets: vec![vec![[Position::default(); 2]; questions]; WALLETS],
            converted: 0,
            payouts: vec![None; questions],
            closed: 0,
            fees: 0,
        }
    }

    fn questions(&self) -> usize {
        self.payouts.len()
    }

    fn position(&mut self, wallet: usize, question: usize, yes: bool) -> &mut Position {
        &mut self.wallets[wallet][question][usize::from(!yes)]
    }

    fn buy(&mut self, token: (usize, usize, bool), lots: u64, units: u64, fee: u64) {
        let (wallet, question, yes) = token;
        let [cost, fees] = [lots * units, fee].map(i128::from);
        self.fees += fees;
        let position = self.position(wallet, question, yes);
        position.buy(Lots(lots), Basis { cost, fees });
    }

    fn sell(&mut self, token: (usize, usize, bool), lots: u64, units: u64, fee: u64) {
        let (wallet, question, yes) = token;
        self.fees += i128::from(fee);
        let position = self.position(wallet, question, yes);
        position
            .sell(Lots(lots), Micros(lots * units), Micros(fee))
            .expect("checked before");
    }

    fn holds(&mut self, wallet: usize, question: usize, yes: bool, lots: u64) -> bool {
        self.position(wallet, question, yes).lots().0 >= lots
    }

    /// Performs an action if the shares allow it; money is not limited here.
    fn act(&mut self, act: &Act) {
        let all = self.questions();
        match *act {
            Act::Trade(buyer, seller, question, yes, lots, units) => {
                let question = question % all;
                if self.payouts[question].is_none() && self.holds(seller, question, yes, lots) {
                    self.sell((seller, question, yes), lots, units, units / 7);
                    self.buy((buyer, question, yes), lots, units, 0);
                }
            }
            Act::Mint(first, second, question, lots, units) => {
                let question = question % all;
                if self.payouts[question].is_none() {
                    self.buy((first, question, true), lots, units, units / 3);
                    self.buy((second, question, false), lots, 10_000 - units, 0);
                }
            }
            Act::Burn(first, second, question, lots, units) => {
                let question = question % all;
                let held = self.holds(first, question, true, lots)
                    && self.holds(second, question, false, lots);
                if self.payouts[question].is_none() && held {
                    self.sell((first, question, true), lots, units, units / 5);
                    self.sell((second, question, false), lots, 10_000 - units, 0);
                }
            }
            Act::Split(wallet, question, lots) => {
                let question = question % all;
                if self.payouts[question].is_none() {
                    for yes in [true, false] {
                        self.position(wallet, question, yes).split(Lots(lots));
                    }
                }
            }
            Act::Merge(wallet, question, lots) => {
                let question = question % all;
                let held = self.holds(wallet, question, true, lots)
                    && self.holds(wallet, question, false, lots);
                if self.payouts[question].is_none() && held {
                    for yes in [true, false] {
                        let position = self.position(wallet, question, yes);
                        position.merge(Lots(lots)).expect("checked before");
                    }
                }
            }
            Act::Convert(wallet, questions, lots) => self.convert(wallet, questions, lots),
            Act::Resolve(question, payout) => self.resolve(question % all, payout),
            Act::Redeem(wallet, question) => self.redeem(wallet, question % all),
        }
        self.drop_closed();
    }

    fn convert(&mut self, wallet: usize, bits: u32, lots: u64) {
        let all = self.questions();
        let (given, others): (Vec<_>, Vec<_>) =
            (0..all).partition(|question| bits >> question & 1 == 1);
        let held = given.iter().all(|it| self.holds(wallet, *it, false, lots));
        if all == 1 || given.is_empty() || !held || self.payouts.iter().any(Option::is_some) {
            return;
        }
        let lots = Lots(lots);
        let mut removed = Basis::default();
        for question in &given {
            removed += self
                .position(wallet, *question, false)
                .give(lots)
                .expect("checked");
        }
        let (k, n) = (u32::try_from(given.len()), u32::try_from(all));
        let moved = Conversion::new(lots, removed, k.expect("few"), n.expect("few"));
        for (nth, question) in (0..).zip(given) {
            self.position(wallet, question, false)
                .realize(moved.no_profit(nth));
        }
        for (nth, question) in (0..).zip(others) {
            self.position(wallet, question, true)
                .buy(lots, moved.yes_basis(nth));
        }
        self.converted += i128::from(lots.0);
    }

    /// Exactly one question of an event group resolves Yes; a plain market may pay any way.
    fn resolve(&mut self, question: usize, payout: Payout) {
        if self.payouts[question].is_some() {
            return;
        }
        let others = || {
            self.payouts
                .iter()
                .enumerate()
                .filter(|(it, _)| *it != question)
        };
        let allowed = match payout {
            _ if self.questions() == 1 => true,
            Payout::Half | Payout::Outside => false,
            Payout::Yes => others().all(|(_, paid)| *paid != Some(Payout::Yes)),
            Payout::No => !others().all(|(_, paid)| *paid == Some(Payout::No)),
        };
        if allowed {
            self.payouts[question] = Some(payout);
        }
    }

    fn redeem(&mut self, wallet: usize, question: usize) {
        let Some(payout) = self.payouts[question] else {
            return;
        };
        for side in [Outcome::Yes, Outcome::No] {
            let position = &mut self.wallets[wallet][question][side.index()];
            let lots = position.lots();
            let redeemed = position.redeem(lots, payout, side);
            redeemed.expect("all that is held");
        }
    }

    /// Moves closed positions to the history; the next buy opens another one.
    fn drop_closed(&mut self) {
        for position in self.wallets.iter_mut().flatten().flatten() {
            if position.is_closed() {
                let left = position.basis();
                assert_eq!(left, Basis::default(), "nothing costs what is gone");
                self.closed += position.realized();
                *position = Position::default();
            }
        }
    }

    /// Realized and unrealized profit of all wallets, with Yes of each question at these price
    /// units; resolved questions are valued at their payout.
    fn profit(&self, prices: &[u16]) -> i128 {
        let mut profit = self.closed;
        for positions in &self.wallets {
            for (question, sides) in positions.iter().enumerate() {
                let yes = self.yes_price(question, prices);
                for (position, price) in sides.iter().zip([yes, 10_000 - yes]) {
                    let value = i128::from(position.lots().0) * i128::from(price);
                    assert!(position.basis().fees >= 0);
                    profit += position.realized() + value - position.basis().total();
                }
            }
        }
        profit
    }

    fn yes_price(&self, question: usize, prices: &[u16]) -> u16 {
        match self.payouts[question] {
            Some(payout) => payout.price_units()[0],
            None => prices[question],
        }
    }
}

fn act() -> impl Strategy<Value = Act> {
    let wallet = || 0..WALLETS;
    let lots = || prop_oneof![1..5_u64, 1..2_000_u64, Just(100)];
    let units = || 1..10_000_u64;
    prop_oneof![
        6 => (wallet(), wallet(), 0..8_usize, any::<bool>(), lots(), units())
            .prop_map(|(b, s, q, y, l, u)| Act::Trade(b, s, q, y, l, u)),
        4 => (wallet(), wallet(), 0..8_usize, lots(), units()).prop_map(|(a, b, q, l, u)| Act::Mint(a, b, q, l, u)),
        2 => (wallet(), wallet(), 0..8_usize, lots(), units()).prop_map(|(a, b, q, l, u)| Act::Burn(a, b, q, l, u)),
        4 => (wallet(), 0..8_usize, lots()).prop_map(|(w, q, l)| Act::Split(w, q, l)),
        2 => (wallet(), 0..8_usize, lots()).prop_map(|(w, q, l)| Act::Merge(w, q, l)),
        5 => (wallet(), any::<u32>(), lots()).prop_map(|(w, b, l)| Act::Convert(w, b, l)),
        1 => (0..8_usize, prop_oneof![Just(Payout::Yes), Just(Payout::No), Just(Payout::Half)])
            .prop_map(|(q, p)| Act::Resolve(q, p)),
        1 => (wallet(), 0..8_usize).prop_map(|(w, q)| Act::Redeem(w, q)),
    ]
}

/// Actions before any resolution, then resolutions and redeems.
fn acts() -> impl Strategy<Value = Vec<Act>> {
    prop::collection::vec(act(), 0..120)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// In a plain market all profits and fees add up to zero, at every price, before and after the
    /// payout.
    #[test]
    fn profits_of_a_plain_market_add_up_to_nothing(acts in acts(), price in 0..=10_000_u16) {
        let mut crowd = Crowd::new(1);
        for act in &acts {
            crowd.act(act);
            prop_assert_eq!(crowd.profit(&[price]), -crowd.fees, "after {:?}", act);
        }
    }

    /// In a neg-risk event group they add up to c · (Σ Yes prices − 1), which is zero if the prices
    /// add up to one, as they do after resolution.
    #[test]
    fn profits_of_a_neg_risk_event_are_what_its_prices_are_off(
        acts in acts(),
        prices in prop::collection::vec(0..=10_000_u16, 2..=8),
    ) {
        let mut crowd = Crowd::new(prices.len());
        for act in &acts {
            crowd.act(act);
            let sum: i128 = (0..prices.len())
                .map(|question| i128::from(crowd.yes_price(question, &prices)))
                .sum();
            let expected = crowd.converted * (sum - 10_000) - crowd.fees;
            prop_assert_eq!(crowd.profit(&prices), expected, "after {:?}", act);
        }
    }
}
