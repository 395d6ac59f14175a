//! Every checkpoint of a running engine matches a replay of the whole journal, also across
//! restarts.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::Duration;

use foretell_checkpoint::{CheckpointReader, SignedCheckpoint, Signer};
use foretell_engine::{CHECKPOINTS_NAME, Checkpoints, EngineConfig, JOURNAL_DIRECTORY};
use foretell_journal::batch::BatchHeader;
use foretell_journal::segment::{self, FIRST_BATCH};
use foretell_link::Role;
use foretell_model::Sequence;

use crate::harness::Engine;
use crate::images::{genesis, replay};
use crate::life::Life;
use crate::snapshots::{SMALL, on_request};
use crate::world::World;

const SECRET: [u8; 32] = [0x42; 32];

fn signing(directory: &Path) -> EngineConfig {
    let mut config = on_request(directory);
    config.checkpoints = Some(Checkpoints {
        signer: Signer::from_secret(&SECRET),
        file: directory.join(CHECKPOINTS_NAME),
        interval: Duration::ZERO,
    });
    config
}

fn signed(directory: &Path) -> Vec<SignedCheckpoint> {
    let reader = CheckpointReader::open(&directory.join(CHECKPOINTS_NAME)).unwrap();
    reader.map_or(Vec::new(), |reader| reader.read(0, usize::MAX).unwrap())
}

/// The chain hash at the end of every batch.
fn chains(directory: &Path) -> BTreeMap<Sequence, [u8; 32]> {
    let journal = directory.join(JOURNAL_DIRECTORY);
    let mut chains = BTreeMap::new();
    for number in 1.. {
        // A later segment may hold a batch again; its entry replaces the earlier one.
        let Ok(bytes) = fs::read(segment::path(&journal, number)) else {
            break;
        };
        let mut at = FIRST_BATCH as usize;
        while let Some(batch) = bytes
            .get(at..)
            .and_then(|rest| BatchHeader::read(rest).ok())
        {
            chains.insert(batch.last, batch.hash);
            at += batch.total();
        }
    }
    chains
}

#[test]
fn every_checkpoint_is_what_the_journal_gives() {
    let directory = tempfile::tempdir().unwrap();
    let mut life = Life::new(3);
    for _ in 0..3 {
        let engine = Engine::start(signing(directory.path()));
        let world = World::build(&engine);
        let mut client = engine.client(Role::Operator);
        for _ in 0..4 {
            let before = client.status().durable;
            life.go_on(&world, &mut client, 20);
            client.wait_for(|_| {
                let newest = signed(directory.path()).last().copied();
                newest.is_some_and(|newest| newest.checkpoint.sequence > before)
            });
        }
        engine.stop();
    }
    let signed = signed(directory.path());
    assert!(signed.len() >= 12, "{}", signed.len());
    assert!(signed.is_sorted_by_key(|signed| signed.checkpoint.sequence));

    let (genesis, chains) = (genesis(directory.path()), chains(directory.path()));
    let mut wanted = signed.iter().peekable();
    replay(directory.path(), SMALL, |frame, _, exchange, _| {
        while let Some(signed) = wanted.next_if(|it| it.checkpoint.sequence == frame.sequence) {
            signed.verify(&genesis).unwrap();
            assert_eq!(signed.checkpoint.digest, exchange.digest());
            assert_eq!(signed.checkpoint.chain, chains[&frame.sequence]);
        }
    });
    assert_eq!(wanted.next(), None, "all of them are in the journal");
}
