//! SIGSTOP each class of process under load, at random moments and for a while. No acknowledged
//! command is lost or executed twice, the money adds up (promises 1, 8, 9, 18, 22), and a resumed
//! process serves all commands of the meantime.

use std::time::Duration;

use foretell_tests::random::Random;
use rustix::process::Signal;

/// One of each class, and both gateways, since each has connections of its own.
const PROCESSES: [&str; 3] = ["engine", "gateway-1", "gateway-2"];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_acknowledged_survives_a_standstill_of_any_process() {
    let rounds = crate::crash::busy::rounds(6);
    let mut random = Random::new(Random::seed("FORETELL_KILL_SEED"));
    let mut site = crate::crash::busy::Site::start(&mut random).await;
    for (round, name) in (1..=rounds).zip(PROCESSES.iter().cycle()) {
        site.shared.wait_answers(20 + random.below(200)).await;
        site.exchange.signal(name, Signal::STOP);
        // The length of the stop is the experiment; nothing is expected by then.
        tokio::time::sleep(Duration::from_millis(50 + random.below(700))).await;
        site.exchange.signal(name, Signal::CONT);
        site.shared.wait_answers(20).await;
        site.check().await;
        println!(
            "round {round}, {name}: {} acknowledged orders hold",
            site.shared.ledger.lock().orders.len()
        );
    }
    assert_eq!(
        site.exchange.restarts(),
        0,
        "nobody had to be started again"
    );
    site.finish().await;
}
