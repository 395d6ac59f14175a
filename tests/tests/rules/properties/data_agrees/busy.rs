//! Commands that nearly all have an effect: a few wallets in a few markets.

use std::time::{SystemTime, UNIX_EPOCH};

use foretell_fixtures::{market, order_id, trader};
use foretell_model::command::{Convert, Merge, Redeem, ResolveMarket, Split};
use foretell_model::state::{self, StateRecord};
use foretell_model::{
    AccountNumber, Command, EventId, EventNumber, Lots, MarketNumber, Outcome, Payout, QuestionSet,
    Reference, Side, TimeNs,
};
use foretell_reference::Exchange;

use crate::properties::journal::Journal;
use crate::properties::rng::Rng;

const WALLETS: u32 = 5;
/// Markets 0 and 1 are plain, the others the questions of one event.
const PLAIN: u32 = 2;
const QUESTIONS: u32 = 3;

/// The number of a market. The outside question comes before the listed ones.
fn number(market: u32) -> MarketNumber {
    MarketNumber(market + u32::from(market >= PLAIN))
}
const COMMANDS: u64 = 260;
/// Days of a journal before today, and commands of each.
const DAYS: u64 = 17;
const COMMANDS_OF_DAY: u64 = 16;
const DAY_NS: u64 = 86_400 * 1_000_000_000;

/// The UTC day, in days since 1970-01-01.
pub(crate) fn today() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.expect("after 1970").as_secs() / 86_400
}

struct Busy {
    exchange: Exchange,
    journal: Journal,
    rng: Rng,
    count: u64,
    first_day: u64,
}

/// The journal of a seed.
pub(crate) fn journal(seed: u64) -> Journal {
    let mut busy = Busy {
        exchange: Exchange::new(),
        journal: Journal::default(),
        rng: Rng::new(seed ^ 0xDA7A),
        count: 0,
        first_day: today() - DAYS,
    };
    busy.open();
    for _ in 0..COMMANDS {
        let command = busy.next();
        busy.give(&command);
    }
    busy.end();
    busy.journal
}

impl Busy {
    fn time(&self) -> TimeNs {
        // Several commands fall into one second, and some days pass until today.
        let day = self.first_day + self.count / COMMANDS_OF_DAY;
        TimeNs(day * DAY_NS + self.count * 400_000_000)
    }

    fn give(&mut self, command: &Command) {
        self.count += 1;
        let time = self.time();
        self.journal.apply(&mut self.exchange, command, &[], time);
    }

    fn reference(&self) -> Reference {
        let mut reference = [0; 32];
        reference[..8].copy_from_slice(&self.count.to_be_bytes());
        Reference(reference)
    }

    fn open(&mut self) {
        for wallet in 0..WALLETS {
            // Addresses do not ascend with accounts.
            let byte = 0xFA - u8::try_from(wallet).expect("few") * 0x31;
            let open = trader(wallet).named([byte; 20]).open(1_000_000);
            open.iter().for_each(|command| self.give(command));
        }
        for number in 0..PLAIN + QUESTIONS {
            if number == PLAIN {
                self.give(&Command::RegisterEvent { event: EventId(7) });
            }
            let byte = 0xF0 - u8::try_from(number).expect("few");
            let mut market = market(number).fee(20_000);
            market = market.named([byte; 32], [byte; 32], [byte ^ 0x0F; 32]);
            if number >= PLAIN {
                market = market.of(EventNumber(0));
            }
            self.give(&market.register());
        }
        for market in 0..PLAIN + QUESTIONS {
            let market = number(market);
            self.give(&Command::ActivateMarket { market });
        }
    }

    fn next(&mut self) -> Command {
        let account = AccountNumber(self.rng.number(WALLETS));
        let market = number(self.rng.number(PLAIN + QUESTIONS));
        let lots = Lots(1 + self.rng.below(700));
        let reference = self.reference();
        match self.rng.below(20) {
            0 | 1 => Command::Split(Split {
                account,
                market,
                lots: Lots(lots.0 * 3),
                reference,
            }),
            2 => Command::Merge(Merge {
                account,
                market,
                lots: Lots(1 + lots.0 / 20),
                reference,
            }),
            3 | 4 => {
                let mut questions = QuestionSet::default();
                for question in 0..QUESTIONS {
                    if self.rng.percent(50) {
                        questions = questions.with(question);
                    }
                }
                Command::Convert(Convert {
                    account,
                    event: EventNumber(0),
                    questions,
                    lots: Lots(1 + lots.0 / 30),
                    reference,
                })
            }
            _ => self.order(account, market, lots),
        }
    }

    /// Prices near one half, so that many orders trade; sizes that often close a position.
    fn order(&mut self, account: AccountNumber, market: MarketNumber, lots: Lots) -> Command {
        let outcome = self.rng.pick(Outcome::ALL);
        let cents = 35 + self.rng.below(30);
        let mut side = self.rng.pick(Side::ALL);
        let mut lots = lots.0 + 500;
        let held = self.held(account, market, outcome);
        if side == Side::Sell {
            match held {
                0 => side = Side::Buy,
                held => {
                    lots = if self.rng.percent(60) {
                        held
                    } else {
                        1 + held / 3
                    }
                }
            }
        }
        let order = trader(account.0).order(side, Lots(lots)).at_cents(cents);
        let order = order.of(outcome).on(market).id(order_id(self.count));
        order.signed(self.time().millis()).place()
    }

    /// Free lots of a token.
    fn held(&self, account: AccountNumber, market: MarketNumber, outcome: Outcome) -> u64 {
        let mut lots = 0;
        self.exchange.visit_state(&mut |record| {
            if let StateRecord::Position(state::Position {
                account: of,
                market: within,
                free,
                ..
            }) = record
                && (*of, *within) == (account, market)
            {
                lots = free[outcome.index()].0;
            }
        });
        lots
    }

    /// Some markets end, and some of their shares are redeemed.
    fn end(&mut self) {
        let winner = PLAIN + self.rng.number(QUESTIONS);
        for market in 0..PLAIN + QUESTIONS {
            let payout = match market {
                0 => self.rng.pick(Payout::ALL),
                1 => continue,
                market if market == winner => Payout::Yes,
                _ => Payout::No,
            };
            let market = number(market);
            self.give(&Command::CloseMarket { market });
            self.give(&Command::Continue);
            if self.rng.percent(85) {
                self.give(&Command::ResolveMarket(ResolveMarket {
                    market,
                    payout,
                    replaces: None,
                }));
            }
            for account in 0..WALLETS {
                if self.rng.percent(50) {
                    let (account, reference) = (AccountNumber(account), self.reference());
                    self.give(&Command::Redeem(Redeem {
                        account,
                        market,
                        reference,
                    }));
                }
            }
        }
    }
}
