//! The n-th change of a file fails under a real exchange, for n = 1, 2, …, once and for good. All
//! acknowledged commands are there afterwards, none twice, and the money adds up (promises 1, 3 and
//! 6).

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use foretell_engine::JOURNAL_DIRECTORY;
use foretell_journal::marker_path;
use foretell_tests::exchange::{Exchange, Options, PATIENCE};
use foretell_tests::failing_disk::{Trouble, VARIABLE, failed_file};
use foretell_tests::random::Random;

/// Exit code of the engine after a failed write or sync of the journal.
const IO_ERROR: i64 = 74;

/// Responses after a failure that the engine survived, such as one of an image.
const GOES_ON: u64 = 100;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_acknowledged_survives_a_disk_that_fails() {
    let rounds = crate::crash::busy::rounds(4);
    let mut random = Random::new(Random::seed("FORETELL_KILL_SEED"));
    let directory = tempfile::tempdir().expect("a directory");
    let (data, file) = (directory.path().join("data"), directory.path().join("disk"));
    let options = Options::demo().with(VARIABLE, file.to_str().expect("text"));
    let start = |after_io_error| {
        let options = Options {
            after_io_error,
            ..options.clone()
        };
        Exchange::start_at(&options, &data)
    };
    let mut site = crate::crash::busy::Site::start_on(start(false), &mut random).await;
    let marker = marker_path(&data.join(JOURNAL_DIRECTORY));
    let mut ended_by_one = 0;
    for at in 1..=rounds {
        for for_good in [false, true] {
            site.shared.wait_answers(20 + random.below(100)).await;
            Trouble { at, for_good }.make(&file);
            let has_ended = has_ended(&site, &file);
            fs::remove_file(&file).expect("the trouble is over");
            fs::remove_file(failed_file(&file)).expect("it has come");
            if has_ended {
                assert_eq!(
                    site.exchange.exit_code("engine"),
                    IO_ERROR,
                    "it is told why"
                );
                assert!(for_good || marker.exists(), "the next start must be told");
                ended_by_one += u64::from(!for_good);
                site = site.check_on(|| start(true)).await;
            } else {
                assert!(!for_good, "a disk that takes nothing ends the engine");
                site.check().await;
            }
            let orders = site.shared.ledger.lock().orders.len();
            println!(
                "change {at} fails, for good: {for_good}; ended: {has_ended}; {orders} orders hold"
            );
        }
    }
    assert!(
        2 * ended_by_one > rounds,
        "one failure ends it, unless it is of an image"
    );
    site.finish().await;
}

/// Waits for the failure. Returns true if the engine has ended, false if it continues.
fn has_ended(site: &crate::crash::busy::Site, file: &Path) -> bool {
    let begun = Instant::now();
    let answers = || *site.shared.answers.borrow();
    let mut at_failure = None;
    while begun.elapsed() < PATIENCE {
        if site
            .exchange
            .wait_ended("engine", Duration::from_millis(20))
        {
            return true;
        }
        if failed_file(file).exists()
            && answers() >= *at_failure.get_or_insert_with(answers) + GOES_ON
        {
            return false;
        }
    }
    panic!("the disk did not fail, or the engine does not answer and does not end");
}
