//! One wallet from its first share to its last payout, and the response of each endpoint after each
//! step. Every number was computed by hand from docs/verify/rules.md §18; there are no fees.

use foretell_fixtures::{market, order_id, trader};
use foretell_model::command::{Convert, Merge, Redeem, ResolveMarket, Split};
use foretell_model::{
    AccountNumber, Command, EventId, EventNumber, Lots, MarketNumber, Payout, QuestionSet,
    Reference, Side, TimeNs,
};
use foretell_reference::Exchange;
use serde_json::Value;

use crate::properties::data_agrees::site::Site;
use crate::properties::journal::Journal;

/// The wallet under test, and its counterparty.
pub(crate) const WALLET: AccountNumber = AccountNumber(0);
pub(crate) const OTHER: AccountNumber = AccountNumber(1);
const NAMES: [&str; 3] = ["A", "B", "C"];
/// The questions of one event, of which A resolves to yes.
/// Market 0 is the outside question.
pub(crate) const A: MarketNumber = MarketNumber(1);

pub(crate) struct Life {
    pub(crate) exchange: Exchange,
    pub(crate) journal: Journal,
    count: u8,
}

impl Life {
    fn give(&mut self, command: &Command) {
        let before = self.journal.frames.len();
        self.count += 1;
        let time = TimeNs(u64::from(self.count) * 1_000_000_000);
        self.journal.apply(&mut self.exchange, command, &[], time);
        assert_eq!(self.journal.frames.len(), before + 1, "{command:?}");
    }

    fn reference(&self) -> Reference {
        Reference([self.count; 32])
    }

    /// Three questions, two wallets with 1,000 each, and sets of A for the other one.
    pub(crate) fn begin() -> Self {
        let mut life = Self {
            exchange: Exchange::new(),
            journal: Journal::default(),
            count: 0,
        };
        for (account, byte) in [(WALLET, 0x11), (OTHER, 0x22)] {
            let open = trader(account.0).named([byte; 20]).open(1_000);
            open.iter().for_each(|command| life.give(command));
        }
        life.give(&Command::RegisterEvent { event: EventId(1) });
        for byte in [0xA0, 0xB0, 0xC0] {
            let market = market(0).named([byte; 32], [byte; 32], [byte + 1; 32]);
            life.give(&market.of(EventNumber(0)).register());
        }
        for market in 1..=3 {
            let market = MarketNumber(market);
            life.give(&Command::ActivateMarket { market });
        }
        life.give(&trader(OTHER.0).split(A, 500));
        life
    }

    /// The counterparty rests an order, this wallet takes it: Yes of A, shares at a price in cents.
    fn trade(&mut self, side: Side, shares: u64, cents: u64) {
        self.order(OTHER, side.opposite(), shares, cents);
        self.order(WALLET, side, shares, cents);
    }

    fn order(&mut self, account: AccountNumber, side: Side, shares: u64, cents: u64) {
        let timestamp = TimeNs(u64::from(self.count + 1) * 1_000_000_000).millis();
        let order = trader(account.0).order(side, shares).at_cents(cents);
        let order = order.on(A).id(order_id(self.count.into()));
        self.give(&order.signed(timestamp).place());
    }

    fn resolve(&mut self) {
        self.give(&Command::CloseMarket { market: A });
        // The others lose with it.
        self.give(&Command::ResolveMarket(ResolveMarket {
            market: A,
            payout: Payout::Yes,
            replaces: None,
        }));
    }

    fn redeem(&mut self, market: u32) {
        let reference = self.reference();
        self.give(&Command::Redeem(Redeem {
            account: WALLET,
            market: MarketNumber(market),
            reference,
        }));
    }
}

/// A step, and the responses after it. A position: asset · size, avgPrice, initialValue,
/// currentValue, cashPnl, percentPnl · totalBought, realizedPnl, percentRealizedPnl · curPrice,
/// then whether it can be redeemed, merged. Sums: value, markets traded in, collateral locked in A.
/// Activity: the newest row's type, side, size, usdcSize, and the number of rows.
struct Step {
    what: &'static str,
    act: fn(&mut Life),
    open: &'static [&'static str],
    closed: &'static [&'static str],
    sums: &'static str,
    newest: &'static str,
}

const STEPS: [Step; 9] = [
    Step {
        what: "buy 100 at 0.40",
        act: |life| life.trade(Side::Buy, 100, 40),
        open: &["A:0 · 100 0.4 40 40 0 0 · 100 0 0 · 0.4"],
        closed: &[],
        sums: "40 1 500",
        newest: "TRADE BUY 100 40, 1 rows",
    },
    // 67.50 for 150; the last trade sets the price.
    Step {
        what: "add 50 at 0.55",
        act: |life| life.trade(Side::Buy, 50, 55),
        open: &["A:0 · 150 0.45 67.5 82.5 15 22.222222 · 150 0 0 · 0.55"],
        closed: &[],
        sums: "82.5 1 500",
        newest: "TRADE BUY 50 27.5, 2 rows",
    },
    // 40 of 150 have 18.00 of the cost; proceeds are 24.00; 6 of 67.50 is 8.888889 %.
    Step {
        what: "sell 40 at 0.60",
        act: |life| life.trade(Side::Sell, 40, 60),
        open: &["A:0 · 110 0.45 49.5 66 16.5 33.333333 · 150 6 8.888889 · 0.6"],
        closed: &[],
        sums: "66 1 500",
        newest: "TRADE SELL 40 24, 3 rows",
    },
    // 5.00 onto each side: 54.50 for 120, 6 of 72.50.
    Step {
        what: "split 10",
        act: |life| {
            let reference = life.reference();
            life.give(&Command::Split(Split {
                account: WALLET,
                market: A,
                lots: Lots(1_000),
                reference,
            }));
        },
        open: &[
            "A:0 · 120 0.454167 54.5 72 17.5 32.110092 · 160 6 8.275862 · 0.6 merge",
            "A:1 · 10 0.5 5 4 -1 -20 · 10 0 0 · 0.4 merge",
        ],
        closed: &[],
        sums: "76 1 510",
        newest: "SPLIT  10 10, 4 rows",
    },
    // 7 of 120 have 3.179166 of the cost of 54.50 (the two thirds of a micro stay); proceeds are
    // 3.50 on each side.
    Step {
        what: "merge 7",
        act: |life| {
            let reference = life.reference();
            life.give(&Command::Merge(Merge {
                account: WALLET,
                market: A,
                lots: Lots(700),
                reference,
            }));
        },
        open: &[
            "A:0 · 113 0.454167 51.320834 67.8 16.479166 32.11009 · 160 6.320834 8.718392 · 0.6 merge",
            "A:1 · 3 0.5 1.5 1.2 -0.3 -20 · 10 0 0 · 0.4 merge",
        ],
        closed: &[],
        sums: "69 1 503",
        newest: "MERGE  7 7, 5 rows",
    },
    // One question's No gives no collateral: its cost of 1.50 moves in halves to Yes of the two
    // others.
    Step {
        what: "convert 3 No of A",
        act: |life| {
            let reference = life.reference();
            life.give(&Command::Convert(Convert {
                account: WALLET,
                event: EventNumber(0),
                questions: QuestionSet::default().with(0),
                lots: Lots(300),
                reference,
            }));
        },
        open: &[
            "A:0 · 113 0.454167 51.320834 67.8 16.479166 32.11009 · 160 6.320834 8.718392 · 0.6",
            "B:0 · 3 0.25 0.75 1.5 0.75 100 · 3 0 0 · 0.5",
            "C:0 · 3 0.25 0.75 1.5 0.75 100 · 3 0 0 · 0.5",
        ],
        closed: &["A:1 · 0 0.5 0 0 0 0 · 10 0 0 · 0.4"],
        sums: "70.8 1 500",
        newest: "CONVERSION  3 0, 6 rows",
    },
    Step {
        what: "A resolves Yes, the others No",
        act: Life::resolve,
        open: &[
            "A:0 · 113 0.454167 51.320834 113 61.679166 120.183483 · 160 6.320834 8.718392 · 1 redeem",
            "B:0 · 3 0.25 0.75 0 -0.75 -100 · 3 0 0 · 0 redeem",
            "C:0 · 3 0.25 0.75 0 -0.75 -100 · 3 0 0 · 0 redeem",
        ],
        closed: &["A:1 · 0 0.5 0 0 0 0 · 10 0 0 · 0"],
        sums: "113 1 503",
        newest: "CONVERSION  3 0, 6 rows",
    },
    // 113 minus 51.320834, plus 6.320834: 68 of 72.50, the cost of 160 shares.
    Step {
        what: "redeem A",
        act: |life| life.redeem(1),
        open: &[
            "B:0 · 3 0.25 0.75 0 -0.75 -100 · 3 0 0 · 0 redeem",
            "C:0 · 3 0.25 0.75 0 -0.75 -100 · 3 0 0 · 0 redeem",
        ],
        closed: &[
            "A:0 · 0 0.453125 0 0 68 93.793103 · 160 68 93.793103 · 1",
            "A:1 · 0 0.5 0 0 0 0 · 10 0 0 · 0",
        ],
        sums: "0 1 390",
        newest: "REDEEM  113 113, 7 rows",
    },
    Step {
        what: "redeem B, which pays nothing",
        act: |life| life.redeem(2),
        open: &["C:0 · 3 0.25 0.75 0 -0.75 -100 · 3 0 0 · 0 redeem"],
        closed: &[
            "A:0 · 0 0.453125 0 0 68 93.793103 · 160 68 93.793103 · 1",
            "A:1 · 0 0.5 0 0 0 0 · 10 0 0 · 0",
            "B:0 · 0 0.25 0 0 -0.75 -100 · 3 -0.75 -100 · 0",
        ],
        sums: "0 1 390",
        newest: "REDEEM  3 0, 8 rows",
    },
];

#[test]
fn the_life_of_a_wallet() {
    let mut life = Life::begin();
    for step in STEPS {
        (step.act)(&mut life);
        let site = Site::serve(&life.journal);
        let user = format!("user=0x{}", "11".repeat(20));
        let said = |path: String| rows(&site.get(&path));
        let open = format!("/positions?{user}&sortBy=TITLE&sizeThreshold=0");
        assert_eq!(said(open), step.open, "{}", step.what);
        let closed = format!("/closed-positions?{user}");
        assert_eq!(said(closed), step.closed, "{}", step.what);
        assert_eq!(sums(&site, &user), step.sums, "{}", step.what);
        assert_eq!(newest(&site, &user), step.newest, "{}", step.what);
        held(&site, &user, step.what);
    }
}

/// Rows of positions in short, by asset.
fn rows(answer: &Value) -> Vec<String> {
    let rows = answer.as_array().expect("rows").iter();
    let mut rows: Vec<String> = rows.map(short).collect();
    rows.sort_unstable();
    rows
}

fn short(row: &Value) -> String {
    let list = |names: &[&str]| {
        let numbers = names.iter().map(|name| row[name].to_string());
        numbers.collect::<Vec<_>>().join(" ")
    };
    let asset = row["asset"].as_str().expect("an asset");
    let market = usize::from_str_radix(&asset[2..3], 16).expect("hex") - 0xA;
    let mut text = format!(
        "{}:{} · {} · {} · {}",
        NAMES[market],
        row["outcomeIndex"],
        list(&[
            "size",
            "avgPrice",
            "initialValue",
            "currentValue",
            "cashPnl",
            "percentPnl"
        ]),
        list(&["totalBought", "realizedPnl", "percentRealizedPnl"]),
        row["curPrice"],
    );
    for (name, word) in [("redeemable", " redeem"), ("mergeable", " merge")] {
        if row[name] == true {
            text.push_str(word);
        }
    }
    text
}

fn sums(site: &Site, user: &str) -> String {
    let value = site.get(&format!("/value?{user}"));
    let traded = site.get(&format!("/traded?{user}"));
    let locked = site.get(&format!("/oi?market=0x{}", "a0".repeat(32)));
    let (value, locked) = (&value[0]["value"], &locked[0]["value"]);
    format!("{value} {} {locked}", traded["traded"])
}

fn newest(site: &Site, user: &str) -> String {
    let rows = site.get(&format!("/activity?{user}"));
    let row = &rows[0];
    let text = |name: &str| row[name].as_str().expect("text").to_owned();
    format!(
        "{} {} {} {}, {} rows",
        text("type"),
        text("side"),
        row["size"],
        row["usdcSize"],
        rows.as_array().expect("rows").len(),
    )
}

/// The wallet's positions equal its entries among the holders; all trades are listed.
fn held(site: &Site, user: &str, what: &str) {
    let open = site.get(&format!("/positions?{user}&sizeThreshold=0"));
    for row in open.as_array().expect("rows") {
        let condition = row["conditionId"].as_str().expect("text");
        let groups = site.get(&format!("/holders?market={condition}&minBalance=0"));
        let index = usize::from(row["outcomeIndex"] == 1);
        let holders = groups[index]["holders"].as_array().expect("rows");
        let mut own = holders
            .iter()
            .filter(|holder| holder["proxyWallet"] == row["proxyWallet"]);
        let amount = own.next().map(|holder| &holder["amount"]);
        assert_eq!(amount, Some(&row["size"]), "{what}");
    }
    let path = format!("/activity?{user}&type=TRADE");
    let count = |answer: Value| answer.as_array().expect("rows").len();
    let trades = count(site.get(&format!("/trades?{user}")));
    assert_eq!(trades, count(site.get(&path)), "{what}");
}
