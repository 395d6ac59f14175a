//! SIGKILL backup, restore and archive at random moments, many times: nothing is half done (promise 34).

use std::fs;
use std::path::Path;

use foretell_tests::exchange::Exchange;
use foretell_tests::random::Random;

use crate::backup::site::{
    self, answer, audit, backup, check, duration, kill, on, small_segments, snapshot, text,
};
use crate::crash::busy::{Site, rounds};

/// Kills of each of the three by default.
const KILLS: u64 = 4;

fn seeded() -> Random {
    Random::new(Random::seed("FORETELL_KILL_SEED"))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_killed_backup_leaves_the_one_before() {
    let mut random = seeded();
    let mut site = Site::start_on(Exchange::start(&small_segments()), &mut random).await;
    let directory = tempfile::tempdir().expect("a directory");
    let (data, copy) = (site.exchange.data(), directory.path().join("copy"));
    // A checkpoint to restore: by itself the engine may not have written one yet.
    snapshot(&site.exchange);
    let run = || on(&data, &["backup", text(&copy), "--with-secrets"]);
    let takes = duration(run());
    let mut last = check(&copy)["last_sequence"].as_u64().expect("a sequence");
    for round in 1..=rounds(KILLS) {
        site.shared.wait_answers(20 + random.below(200)).await;
        let has_ended = kill(run(), takes * 2, &mut random);
        let now = check(&copy)["last_sequence"].as_u64().expect("a sequence");
        println!("round {round}: {last} became {now}, ended: {has_ended}");
        assert!(if has_ended { now > last } else { now >= last });
        last = now;
    }
    answer(run());
    assert_eq!(
        unnamed(&copy),
        Vec::<String>::new(),
        "a whole run tidies up"
    );
    // What is in the backup is the beginning of what the exchange has.
    site.check().await;
    let restored = directory.path().join("restored");
    let report = answer(on(&restored, &["restore", text(&copy)]));
    assert!(report["checkpoint_sequence"].is_u64(), "{report}");
    let journals = [restored, data].map(|data| data.join("journal"));
    let [restored, live] = journals.each_ref().map(|journal| text(journal));
    let compared = answer(on(&copy, &["audit", "diff", restored, live]));
    assert_eq!(compared["relation"], "second goes on", "{compared}");
    site.finish().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_killed_restore_leaves_a_whole_directory_or_none() {
    let mut random = seeded();
    let mut site = Site::start_on(Exchange::start(&small_segments()), &mut random).await;
    site.shared.wait_answers(600).await;
    // A checkpoint to restore: by itself the engine may not have written one yet.
    snapshot(&site.exchange);
    site.exchange.kill_and_wait("engine");
    let directory = tempfile::tempdir().expect("a directory");
    let (copy, new) = (directory.path().join("copy"), directory.path().join("new"));
    let last = backup(&site.exchange.data(), &copy, &["--with-secrets"])["last_sequence"].clone();
    site.finish().await;
    let run = || on(&new, &["restore", text(&copy)]);
    let takes = duration(run());
    for round in 1..=rounds(KILLS) {
        if new.exists() {
            fs::remove_dir_all(&new).expect("removed");
        }
        let has_ended = kill(run(), takes * 2, &mut random);
        println!(
            "round {round}: restored: {}, ended: {has_ended}",
            new.exists()
        );
        assert!(new.exists() || !has_ended);
        if new.exists() {
            let report = answer(on(&new, &["audit", "verify"]));
            assert_eq!(report["last_sequence"], last);
            for name in [
                "master.secret",
                "catalog.db",
                "checkpoints",
                "journal/RESTORED",
            ] {
                assert!(new.join(name).exists(), "{name}");
            }
        }
        assert_eq!(check(&copy)["last_sequence"], last);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_killed_archive_loses_no_segment() {
    let mut random = seeded();
    let mut site = Site::start_on(Exchange::start(&small_segments()), &mut random).await;
    let directory = tempfile::tempdir().expect("a directory");
    let (data, copy) = (site.exchange.data(), directory.path().join("copy"));
    let archive = directory.path().join("archive");
    let run = || on(&data, &["journal", "archive", "--to", text(&archive)]);
    let takes = duration(run());
    let mut archived = 0;
    for round in 1..=rounds(KILLS) {
        // A start begins a segment; of snapshots the engine keeps three.
        for _ in 0..3 {
            site.shared.wait_answers(20 + random.below(100)).await;
            site.exchange.kill_and_wait("engine");
            snapshot(&site.exchange);
        }
        let last = backup(&data, &copy, &[])["last_sequence"].as_u64();
        let has_ended = kill(run(), takes * 3, &mut random);
        let report = audit(&data, &archive);
        assert!(report["last_sequence"].as_u64() >= last, "{report}");
        archived = segments(&archive);
        println!("round {round}: {archived} archived, ended: {has_ended}");
        site.check().await;
    }
    let through = site::archive(run)["archived_through"].as_u64();
    assert!(through > Some(0) && segments(&archive) >= archived);
    assert!(!data.join("journal/00000001.segment").exists());
    // Engine and gateways start without the first segments.
    for name in ["engine", "gateway-1"] {
        site.exchange.kill_and_wait(name);
        site.check().await;
    }
    audit(&data, &archive);
    // The backup goes on, and so does a new one with the archive.
    let last = backup(&data, &copy, &[])["last_sequence"].clone();
    assert_eq!(check(&copy)["last_sequence"], last);
    let other = directory.path().join("other");
    backup(&data, &other, &["--archive", text(&archive)]);
    check(&other);
    site.finish().await;
}

fn segments(directory: &Path) -> usize {
    let entries = fs::read_dir(directory).expect("a directory").flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    names.filter(|name| name.ends_with(".segment")).count()
}

/// Files of a backup that its manifest does not name.
fn unnamed(copy: &Path) -> Vec<String> {
    let manifest = fs::read_to_string(copy.join("manifest.json")).expect("a manifest");
    let folders = [copy.to_owned(), copy.join("journal")];
    let entries = folders
        .iter()
        .flat_map(|folder| fs::read_dir(folder).expect("a folder"));
    let names = entries
        .flatten()
        .filter_map(|entry| entry.file_name().into_string().ok());
    let is_named = |name: &str| manifest.contains(name) || name == "manifest.json";
    names
        .filter(|name| !is_named(name) && name != "journal")
        .collect()
}
