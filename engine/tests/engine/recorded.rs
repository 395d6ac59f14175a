//! A journal that the core itself wrote, at times of the test's choice.

use std::path::Path;
use std::time::Duration;

use foretell_engine::JOURNAL_DIRECTORY;
use foretell_fixtures::{Trader, trader};
use foretell_journal::Options;
use foretell_matching::{Capacity, Exchange};
use foretell_model::command::SetTerms;
use foretell_model::{
    AccountNumber, Command, CommandOutcome, CommandStamp, Event, MarketNumber, MarketTerms,
    OperatorNumber, Sequence, TimeNs, Verdict,
};

use crate::restart::now;
use crate::world::{World, set_up};

/// Commands applied to an exchange, to be written as a journal.
pub(crate) struct Recording {
    pub(crate) exchange: Exchange,
    pub(crate) now: TimeNs,
    frames: Vec<(CommandStamp, Command, Vec<Event>)>,
}

impl Recording {
    /// Begins this long ago.
    pub(crate) fn begin(ago: Duration) -> Self {
        let ago = u64::try_from(ago.as_nanos()).unwrap();
        Self {
            exchange: Exchange::new(Capacity::default(), 1),
            now: TimeNs(now().0 - ago),
            frames: Vec::new(),
        }
    }

    /// The market and traders of the tests, with terms.
    pub(crate) fn world(&mut self, change: impl FnOnce(&mut MarketTerms)) -> World {
        let time = self.now;
        let mut ask = |command| self.apply(command);
        let world = set_up(&mut ask, time);
        let mut terms = MarketTerms::default();
        change(&mut terms);
        if terms != MarketTerms::default() {
            let market = world.market;
            self.apply(Command::SetTerms(SetTerms {
                market,
                terms: terms.into(),
            }));
        }
        world
    }

    /// Activates the market.
    pub(crate) fn open(&mut self, world: &World) {
        let market = world.market;
        self.apply(Command::ActivateMarket { market });
    }

    /// Wallets with a full set of as many shares as their number.
    pub(crate) fn holders(&mut self, market: MarketNumber, count: u32) -> Vec<AccountNumber> {
        (1..=count)
            .map(|number| {
                let mut wallet = [0xA7; 20];
                wallet[..4].copy_from_slice(&number.to_be_bytes());

                let trader = trader(0).named(wallet);
                let CommandOutcome::Account(account) =
                    self.apply(trader.deposit(u64::from(number)))
                else {
                    panic!("a deposit opens an account");
                };
                let holder = Trader { account, ..trader };
                self.apply(holder.split(market, u64::from(number)));
                account
            })
            .collect()
    }

    /// Applies a command of nobody.
    pub(crate) fn apply(&mut self, command: Command) -> CommandOutcome {
        self.apply_as(OperatorNumber::NONE, command)
    }

    pub(crate) fn apply_as(
        &mut self,
        operator: OperatorNumber,
        command: Command,
    ) -> CommandOutcome {
        let stamp = CommandStamp {
            operator,
            ..CommandStamp::at(self.now)
        };
        let mut events = Vec::new();
        match self.exchange.apply(&command, stamp, &mut events) {
            Verdict::Applied(outcome) => {
                self.frames.push((stamp, command, events));
                outcome
            }
            other => panic!("{command:?}: {other:?}"),
        }
    }

    /// Writes the journal of a data directory; returns its last sequence.
    pub(crate) fn write(self, directory: &Path) -> Sequence {
        let options = Options {
            segment_bytes: 4 << 20,
            staging_bytes: 1 << 20,
            disk_reserve_bytes: 0,
            ..Options::default()
        };
        let journal = directory.join(JOURNAL_DIRECTORY);
        std::fs::create_dir_all(&journal).unwrap();
        let recovered =
            foretell_journal::recover(&journal, options, Sequence(0), &mut |_| Ok(())).unwrap();
        let (mut appender, syncer, _state) = recovered.start().unwrap();
        let syncing = std::thread::spawn(|| syncer.run(|_| {}));
        let mut sequence = Sequence(0);
        for (stamp, command, events) in &self.frames {
            while !appender.has_room_for_largest() {
                std::thread::yield_now();
            }
            sequence = sequence.next();
            // A frame of an operator begins with the length of the reason.
            let evidence: &[u8] = match stamp.operator {
                OperatorNumber::NONE => &[],
                _ => &[0, 0],
            };
            appender.append(sequence, *stamp, command, events, evidence);
        }
        drop(appender);
        syncing.join().unwrap().unwrap();
        assert_eq!(sequence, self.exchange.sequence());
        sequence
    }
}
