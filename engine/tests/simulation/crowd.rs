//! A journal to begin with: a market with so many holders that a settlement takes several steps.

use foretell_journal::{Appender, Preallocator, Syncer};
use foretell_matching::{Capacity, Exchange};
use foretell_model::command::{Deposit, Split};
use foretell_model::limits::ACCOUNTS_PER_STEP;
use foretell_model::{
    AccountNumber, Command, Event, Lots, Micros, Reference, Sequence, TimeNs, Verdict,
    WalletAddress,
};

use super::coverage::Situation;
use super::intents::{MARKETS, market_number, register_event, register_market};
use super::world::World;
use crate::clock::Clocks as _;
use crate::directory::{Directory, JOURNAL_DIRECTORY};

/// Accounts that exist before the clients': two steps look at them.
const CROWD: u32 = 2 * ACCOUNTS_PER_STEP;
/// Of so many accounts one has shares.
const HOLDERS_AMONG: u32 = 50;

/// Founds the journal of the world.
pub(super) fn found(world: &World) {
    world.context.count(Situation::CrowdFounded);
    world.context.note(|| "a crowd".to_owned());
    let config = world.config.borrow().clone();
    let lock = Directory::lock(&config.data_directory).expect("the directory is new");
    let journal = config.data_directory.join(JOURNAL_DIRECTORY);
    let options = config.journal.clone();
    let recovered = foretell_journal::recover(&journal, options, Sequence(0), &mut |_| Ok(()));
    let opened = recovered.and_then(foretell_journal::Recovered::open);
    let (appender, syncer, _state, helper) = opened.expect("the disk has no faults yet");
    let mut founding = Founding {
        exchange: Exchange::new(Capacity::default(), 1),
        time: TimeNs(world.machine.wall()),
        appender,
        syncer,
        helper,
    };
    founding.apply(Command::ChangeSettings {
        settings: config.settings.into(),
    });
    founding.apply(register_event());
    for number in 0..MARKETS {
        founding.apply(register_market(number));
    }
    for market in (0..MARKETS).map(market_number) {
        founding.apply(Command::ActivateMarket { market });
    }
    for number in 0..CROWD {
        founding.open(number);
    }
    founding.finish();
    drop(lock);
}

/// The exchange and its journal.
struct Founding {
    exchange: Exchange,
    time: TimeNs,
    appender: Appender,
    syncer: Syncer,
    helper: Preallocator,
}

impl Founding {
    fn open(&mut self, number: u32) {
        let mut wallet = [0x77; 20];
        wallet[16..].copy_from_slice(&number.to_be_bytes());
        let reference = |kind| {
            let mut reference = [kind; 32];
            reference[28..].copy_from_slice(&number.to_be_bytes());
            Reference(reference)
        };
        self.apply(Command::Deposit(Deposit {
            wallet: WalletAddress(wallet),
            amount: Micros(3_000_000),
            reference: reference(0x77),
        }));
        for market in 0..MARKETS {
            if number % HOLDERS_AMONG == u32::from(market) {
                self.apply(Command::Split(Split {
                    account: AccountNumber(number),
                    market: market_number(market),
                    lots: Lots(200),
                    reference: reference(0x78),
                }));
            }
        }
    }

    fn apply(&mut self, command: Command) {
        while !self.appender.has_room_for_largest() {
            self.sync();
        }
        let mut events: Vec<Event> = Vec::new();
        let verdict = self.exchange.apply(&command, self.time, &mut events);
        assert!(matches!(verdict, Verdict::Applied(_)), "{verdict:?}");
        let sequence = self.exchange.sequence();
        self.appender
            .append(sequence, self.time, &command, &events, &[]);
    }

    fn sync(&mut self) -> foretell_journal::SyncStep {
        let _ = self.helper.run_once();
        self.syncer.step().expect("the disk has no faults yet")
    }

    /// Writes everything and ends as an engine that is stopped.
    fn finish(self) {
        let Self {
            appender,
            mut syncer,
            mut helper,
            ..
        } = self;
        drop(appender);
        loop {
            let _ = helper.run_once();
            let step = syncer.step().expect("the disk has no faults yet");
            if step == foretell_journal::SyncStep::Ended {
                return;
            }
        }
    }
}
