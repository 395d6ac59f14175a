//! Snapshots of a running engine: schedule, contents, and starts from them.

use foretell_model::record::Vocabulary;
use std::fs;
use std::path::Path;
use std::time::Duration;

use foretell_engine::client::ClientError;
use foretell_engine::{EXIT_REFUSED, EngineConfig, EngineError, Publishing};
use foretell_journal::snapshot::{Chunk, Image};
use foretell_link::{Answer, Request, Role, SnapshotResult};
use foretell_matching::Exchange;
use foretell_model::digest::StateDigest;
use foretell_model::state::{self, StateRecord};
use foretell_model::{Durability, Sequence, Verdict};
use foretell_view::Chunking;

use crate::harness::{Engine, TestClient, config, frames};
use crate::images::{
    assert_images_are_the_journal, attest, copy_journal, files, genesis, image_file, link_files,
    published, replay, snapshots, write_image,
};
use crate::life::Life;
use crate::restart::doctored_journal;
use crate::world::World;

/// Chunks of four rows, so that many are sealed.
pub(crate) const SMALL: Chunking = Chunking::Bits(2);
const NEVER: Duration = Duration::from_secs(1_000_000);

/// Publishes only on request.
pub(crate) fn on_request(directory: &Path) -> EngineConfig {
    let mut config = config(directory);
    config.journal.durability = Durability::Process;
    config.publishing = Publishing {
        enabled: true,
        interval: NEVER,
        frames: u64::MAX,
        chunking: SMALL,
    };
    config
}

pub(crate) fn without(directory: &Path) -> EngineConfig {
    let mut config = on_request(directory);
    config.publishing.enabled = false;
    config
}

pub(crate) fn ask_for_snapshot(client: &mut TestClient) -> SnapshotResult {
    match client
        .client
        .ask(Request::Snapshot { request: 77 })
        .unwrap()
    {
        Answer::Snapshot(answer) => {
            assert_eq!(answer.request, 77);
            answer.result
        }
        other => panic!("{other:?}"),
    }
}

pub(crate) fn snapshot(client: &mut TestClient) -> Sequence {
    match ask_for_snapshot(client) {
        SnapshotResult::Published { sequence } => sequence,
        other => panic!("{other:?}"),
    }
}

/// Runs an engine for the duration of `work`.
fn run<T>(config: EngineConfig, work: impl FnOnce(&World, &mut TestClient) -> T) -> T {
    let engine = Engine::start(config);
    let world = World::build(&engine);
    let done = work(&world, &mut engine.client(Role::Operator));
    engine.stop();
    done
}

#[test]
fn every_published_image_is_what_the_whole_journal_gives() {
    let directory = tempfile::tempdir().unwrap();
    let kept = directory.path().join("kept");
    let mut life = Life::new(1);
    let mut sequences = Vec::new();
    for _ in 0..3 {
        run(on_request(directory.path()), |world, client| {
            for _ in 0..12 {
                life.go_on(world, client, 14);
                sequences.push(snapshot(client));
                link_files(&snapshots(directory.path()), &kept);
            }
        });
    }
    sequences.dedup();
    assert!(sequences.len() > 30);
    assert_images_are_the_journal(directory.path(), &kept, &sequences, SMALL);
    let of = |extension: &str| {
        let names = fs::read_dir(&kept).unwrap();
        let names = names.map(|entry| entry.unwrap().path());
        names
            .filter(|path| path.extension().unwrap() == extension)
            .count()
    };
    assert_eq!(of("image"), sequences.len());
    assert!(of("chunk") > 20, "{} chunks", of("chunk"));
}

#[test]
fn images_come_by_themselves_after_so_many_frames_or_so_long() {
    for (frames, interval) in [(25, NEVER), (u64::MAX, Duration::ZERO)] {
        let directory = tempfile::tempdir().unwrap();
        let mut config = on_request(directory.path());
        (config.publishing.frames, config.publishing.interval) = (frames, interval);
        run(config, |world, client| {
            let before = client.status().durable.0;
            for number in 0..60 {
                client.ask(world.resting_buy(number).place(), b"signed");
            }
            let status = client.wait_for(|status| status.snapshots.newest.0 > before + 30);
            assert!(status.snapshots.newest <= status.snapshots.folded);
            assert!(status.snapshots.newest_time <= status.time);
        });
        // Three are kept, and the newest may have come too late to be attested.
        let images = published(directory.path()).len();
        assert!((1..=4).contains(&images), "{images}");
    }
}

#[test]
fn an_operator_gets_an_image_of_all_that_was_durable() {
    let directory = tempfile::tempdir().unwrap();
    let engine = Engine::start(on_request(directory.path()));
    let world = World::build(&engine);
    let mut operator = engine.client(Role::Operator);
    for number in 0..5 {
        let placed = operator.ask(world.resting_buy(number).place(), b"signed");
        let image = snapshot(&mut operator);
        assert_eq!(image, placed.sequence);
        // No command since: the existing snapshot is returned.
        assert_eq!(snapshot(&mut operator), image);
        assert_eq!(operator.status().snapshots.newest, image);
    }
    // The three newest are kept. Each order is followed by the attestation of its snapshot.
    let newest = operator.status().snapshots.newest.0;
    let expected = [newest, newest - 2, newest - 4].map(Sequence);
    assert_eq!(published(directory.path()), expected);

    for role in [Role::Reader, Role::Trading] {
        let mut other = engine.client(role);
        let cut_off = other.client.ask(Request::Snapshot { request: 1 });
        assert!(matches!(cut_off, Err(ClientError::Io(_))), "{cut_off:?}");
    }
    engine.stop();

    let off = run(without(directory.path()), |_, client| {
        assert!(!client.status().snapshots.enabled);
        ask_for_snapshot(client)
    });
    assert_eq!(off, SnapshotResult::Off);
}

#[test]
fn only_the_kept_images_and_their_chunks_are_there() {
    let directory = tempfile::tempdir().unwrap();
    let mut life = Life::new(5);
    run(on_request(directory.path()), |world, client| {
        for _ in 0..6 {
            life.go_on(world, client, 30);
            snapshot(client);
        }
    });
    let images = published(directory.path());
    assert_eq!(images.len(), 3);
    let genesis = genesis(directory.path());
    let dir = snapshots(directory.path());
    let newest = Image::open(&dir, images[0], &genesis).unwrap();
    assert!(newest.chunks().len() > 5);
    for entry in newest.chunks() {
        Chunk::open(&dir, entry, &genesis)
            .unwrap()
            .snapshot
            .verify()
            .unwrap();
    }
    assert_eq!(files(directory.path()).len(), 3 + newest.chunks().len());
}

#[test]
fn what_somebody_removes_is_written_again() {
    let directory = tempfile::tempdir().unwrap();
    let dir = snapshots(directory.path());
    let mut life = Life::new(6);
    let sequence = run(on_request(directory.path()), |world, client| {
        life.go_on(world, client, 60);
        snapshot(client);
        fs::remove_dir_all(&dir).unwrap();
        life.go_on(world, client, 5);
        snapshot(client)
    });
    assert_eq!(published(directory.path()), [sequence]);
    assert!(files(directory.path()).len() > 5);
    assert_images_are_the_journal(directory.path(), &dir, &[sequence], SMALL);
}

/// Starts from the snapshots in a directory; compares a new snapshot with the whole journal, and
/// checks the answer to a repeated order.
fn assert_starts_equal(directory: &Path, config: EngineConfig) {
    let chunking = config.publishing.chunking;
    let sequence = run(config, |world, client| {
        let again = client.ask(world.resting_buy(900_000).place(), b"signed");
        assert!(
            matches!(again.verdict, Verdict::Repeated { .. }),
            "{again:?}"
        );
        snapshot(client)
    });
    let dir = snapshots(directory);
    assert_images_are_the_journal(directory, &dir, &[sequence], chunking);
}

#[test]
fn a_start_from_any_image_is_the_start_from_the_first_frame() {
    let source = tempfile::tempdir().unwrap();
    let mut config = without(source.path());
    config.settings.live_orders_per_account = 5_000;
    let cancelled = run(config, |world, client| {
        Life::new(3).go_on(world, client, 40);
        client.ask(world.resting_buy(900_000).place(), b"signed");
        // More orders than one command may end, so that work stays pending.
        const ORDERS: u64 = 4_200;
        for number in 0..ORDERS {
            let order = world.resting_buy(910_000 + number);
            client.send(order.place(), b"signed").unwrap();
            if number % 100 == 99 {
                (0..100).for_each(|_| drop(client.client.receive().unwrap()));
            }
        }
        let cancel = world.traders[0].cancel_all();
        let reply = client.ask(cancel, &[]);
        assert!(reply.last_sequence > reply.sequence, "{reply:?}");
        Life::new(4).go_on(world, client, 40);
        reply.sequence
    });
    let end = frames(source.path()).last().unwrap().sequence;
    let wanted = [Sequence(3), Sequence(60), cancelled, cancelled.next(), end];
    let mut pending = 0;
    // Each chunk costs one or two syncs.
    let chunking = Chunking::Bits(9);
    replay(source.path(), chunking, |frame, receipt, exchange, view| {
        if !wanted.contains(&frame.sequence) {
            return;
        }
        pending += usize::from(exchange.has_pending_work());
        let directory = tempfile::tempdir().unwrap();
        copy_journal(source.path(), directory.path());
        let attestation = write_image(directory.path(), exchange, Some(view), receipt);
        attest(directory.path(), &attestation);
        let mut config = on_request(directory.path());
        config.publishing.chunking = chunking;
        assert_starts_equal(directory.path(), config);
    });
    assert_eq!(pending, 1);
}

/// Three snapshots of one run, in a stopped engine's directory.
fn three_images(directory: &Path) -> Vec<Sequence> {
    run(on_request(directory), |world, client| {
        let mut life = Life::new(9);
        client.ask(world.resting_buy(900_000).place(), b"signed");
        for _ in 0..3 {
            life.go_on(world, client, 30);
            snapshot(client);
        }
        life.go_on(world, client, 10);
    });
    published(directory)
}

fn spoil(path: &Path) {
    let mut bytes = fs::read(path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::remove_file(path).unwrap();
    fs::write(path, bytes).unwrap();
}

#[test]
fn damaged_images_and_chunks_are_passed_over_for_the_next_older() {
    let source = tempfile::tempdir().unwrap();
    let images = three_images(source.path());
    for damaged in 0..=images.len() {
        let directory = tempfile::tempdir().unwrap();
        copy_journal(source.path(), directory.path());
        link_files(&snapshots(source.path()), &snapshots(directory.path()));
        for image in &images[..damaged] {
            spoil(&image_file(directory.path(), *image));
        }
        assert_starts_equal(directory.path(), on_request(directory.path()));
    }
    // Only the publisher needs a chunk: it starts at the first frame and writes the chunk again.
    let chunk = files(source.path())
        .into_iter()
        .find(|name| name.ends_with(".chunk"))
        .unwrap();
    spoil(&snapshots(source.path()).join(chunk));
    assert_starts_equal(source.path(), on_request(source.path()));
}

#[test]
fn an_image_beyond_the_journal_is_removed_and_one_of_another_history_not_begun_with() {
    let source = tempfile::tempdir().unwrap();
    let early = tempfile::tempdir().unwrap();
    let mut life = Life::new(11);
    run(without(source.path()), |world, client| {
        client.ask(world.resting_buy(900_000).place(), b"signed");
        life.go_on(world, client, 40);
    });
    copy_journal(source.path(), early.path());
    let late = run(on_request(source.path()), |world, client| {
        life.go_on(world, client, 40);
        snapshot(client)
    });
    // The journal was restored from a copy, the snapshots were not.
    let put_back = || {
        fs::create_dir_all(snapshots(early.path())).unwrap();
        let target = image_file(early.path(), late);
        fs::copy(image_file(source.path(), late), target).unwrap();
    };
    put_back();
    let end = run(without(early.path()), |_, client| client.status().durable);
    assert!(end < late);
    assert_eq!(published(early.path()), []);
    // Also when the journal ends one frame before the snapshot.
    run(without(early.path()), |world, client| {
        let mut number = 950_000;
        while client.status().durable.0 < late.0 - 1 {
            client.ask(world.resting_buy(number).place(), b"signed");
            number += 1;
        }
    });
    put_back();
    run(without(early.path()), |_, _| {});
    assert_eq!(published(early.path()), []);
    // Also when another frame has its sequence.
    run(without(early.path()), |world, client| {
        for number in 960_000..960_005 {
            client.ask(world.resting_buy(number).place(), b"signed");
        }
    });
    put_back();
    assert_starts_equal(early.path(), on_request(early.path()));
}

/// A consistent snapshot that no engine published has no effect.
#[test]
fn a_forged_image_is_not_begun_with() {
    let directory = tempfile::tempdir().unwrap();
    let mut life = Life::new(3);
    let image = run(on_request(directory.path()), |world, client| {
        life.go_on(world, client, 60);
        snapshot(client)
    });
    let mut honest = None;
    replay(directory.path(), SMALL, |frame, receipt, exchange, view| {
        if frame.sequence == image {
            let mut state = Vec::new();
            exchange.write_image(&mut state);
            let forged = restored(&stolen(&state));
            fs::remove_file(image_file(directory.path(), image)).unwrap();
            write_image(directory.path(), &forged, Some(view), receipt);
        }
        honest = Some(exchange.digest());
    });
    run(without(directory.path()), |_, _| {});
    let mut after = None;
    replay(directory.path(), SMALL, |_, _, exchange, _| {
        after = Some(exchange.digest());
    });
    assert_eq!(after, honest, "the start added nothing");
    // The engine's state is the journal's: its next snapshot equals a replay.
    let next = run(on_request(directory.path()), |_, client| snapshot(client));
    let dir = snapshots(directory.path());
    assert_images_are_the_journal(directory.path(), &dir, &[next], SMALL);
}

/// The state with one unit of collateral moved from the first account to the second.
fn stolen(state: &[u8]) -> Vec<u8> {
    let (mut rest, mut forged, mut moved) = (state, Vec::new(), 0);
    while let Some(mut record) = StateRecord::take_next(&mut rest).unwrap() {
        if let StateRecord::Account(state::Account { free, .. }) = &mut record {
            match moved {
                0 if free.0 > 0 => {
                    free.0 -= 1;
                    moved = 1;
                }
                1 => {
                    free.0 += 1;
                    moved = 2;
                }
                _ => {}
            }
        }
        record.append(&mut forged);
    }
    assert_eq!(moved, 2);
    forged
}

/// The exchange of an image that was attested.
fn restored(image: &[u8]) -> Exchange {
    let digest = StateDigest::of_image(image);
    Exchange::read_image(Default::default(), 1, image, digest).unwrap()
}

/// The second frame records a larger deposit than its command; everything else is correct.
fn doctored(directory: &Path) -> (Exchange, [u8; 32]) {
    doctored_journal(directory);
    let mut found = None;
    replay(directory, SMALL, |frame, receipt, exchange, _| {
        if frame.sequence == Sequence(3) {
            let mut state = Vec::new();
            exchange.write_image(&mut state);
            found = Some((state, receipt));
        }
    });
    let (state, receipt) = found.unwrap();
    let exchange = restored(&state);
    (exchange, receipt)
}

#[test]
fn a_divergence_that_the_publisher_finds_ends_the_engine_and_is_named() {
    let directory = tempfile::tempdir().unwrap();
    // Recovery starts after the frame. The publisher has no view and starts at the first frame.
    let (exchange, receipt) = doctored(directory.path());
    let attestation = write_image(directory.path(), &exchange, None, receipt);
    attest(directory.path(), &attestation);
    let engine = Engine::start(on_request(directory.path()));
    let ended = engine.end().unwrap_err();
    assert!(
        matches!(
            &ended,
            EngineError::PublisherDiverged {
                sequence: Sequence(2),
                ..
            }
        ),
        "{ended:?}"
    );
    assert_eq!(ended.exit_code(), EXIT_REFUSED);
    assert!(ended.to_string().contains("sequence 2"), "{ended}");

    // A replay of the whole journal finds the same; with the operator's consent both continue.
    let mut config = on_request(directory.path());
    config.ignore_snapshots = true;
    let refused = Engine::try_start(config.clone()).err().unwrap();
    assert!(
        matches!(
            refused,
            EngineError::Diverged {
                sequence: Sequence(2),
                ..
            }
        ),
        "{refused:?}"
    );
    config.accept_divergence = Some(Sequence(2));
    run(config, |_, client| snapshot(client));
    // The acceptance is journalled now, for recovery and for the publisher.
    let mut config = on_request(directory.path());
    config.ignore_snapshots = true;
    run(config, |_, client| snapshot(client));
}
