//! The parts of a whole run, with their sizes.

/// A measurement of the run. `$DIR` stands for the directory of temporary data.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    /// Its name in the report.
    pub(super) name: &'static str,
    /// Its command, with all that every run shares: markets, wallets, holders, connections.
    pub(super) command: &'static str,
    /// Arguments for figures that count: commands, rounds, seconds.
    pub(super) full: &'static str,
    /// Arguments for `--quick`: a few of them.
    pub(super) quick: &'static str,
}

pub(super) const PARTS: &[Part] = &[
    Part {
        name: "match, 1 market",
        command: "match --markets 1",
        full: "--rounds 3",
        quick: "--commands 100000 --live 200 --rounds 1",
    },
    Part {
        name: "match, 1000 markets",
        command: "match --markets 1000",
        full: "--live 300000 --rounds 3",
        quick: "--commands 100000 --live 6000 --rounds 1",
    },
    Part {
        name: "journal",
        command: "journal --scratch $DIR",
        full: "--orders 200",
        quick: "--orders 20 --rounds 1 --seconds 0.2",
    },
    Part {
        name: "signatures",
        command: "signatures",
        full: "--signatures 2000 --rounds 5",
        quick: "--signatures 50 --rounds 1",
    },
    Part {
        name: "entry",
        command: "entry --scratch $DIR",
        full: "--orders 2000 --rounds 10",
        quick: "--orders 100 --rounds 1",
    },
    Part {
        name: "quotes",
        command: "quotes --scratch $DIR",
        full: "--requests 200",
        quick: "--requests 16 --rounds 1",
    },
    Part {
        name: "reads",
        command: "reads --scratch $DIR",
        full: "--seconds 8",
        quick: "--bursts 1 --rounds 1 --seconds 0.5",
    },
    Part {
        name: "streams",
        command: "streams --connections 2000 --scratch $DIR",
        full: "--rounds 2 --seconds 2",
        quick: "--rounds 1 --seconds 0.5",
    },
    Part {
        name: "load",
        command: "load --scratch $DIR",
        full: "--rounds 2 --seconds 2",
        // Any machine finds a rate with this bound.
        quick: "--rounds 1 --seconds 0.5 --p99 1000 --precision 100",
    },
    Part {
        name: "replay",
        command: "replay --scratch $DIR",
        full: "--commands 1000000 --rounds 3",
        quick: "--commands 20000 --rounds 1",
    },
    Part {
        name: "audit",
        command: "audit --scratch $DIR",
        full: "--orders 200000 --rounds 3",
        quick: "--orders 20000 --rounds 1",
    },
    Part {
        name: "fold",
        command: "fold --wallets 10000 --markets 500 --scratch $DIR",
        full: "--trades 1000000",
        quick: "--trades 5000 --rounds 1",
    },
    Part {
        name: "recover",
        command: "recover --wallets 10000 --markets 500 --scratch $DIR",
        full: "--orders 1000000 --trades 1000000 --rounds 3 --seconds 3",
        quick: "--orders 10000 --trades 5000 --rounds 1 --seconds 0.2",
    },
    Part {
        name: "data",
        command: "data --wallets 20000 --markets 1000 --events 5000 --cache $DIR",
        full: "--trades 1000000 --rounds 3",
        quick: "--trades 40000 --rounds 1 --times 1 --bursts 1",
    },
];
