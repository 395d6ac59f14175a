//! SIGKILL the engine under load, at random moments, many times. After each restart all
//! acknowledged commands are there, none twice, and the money adds up (promises 1, 3, 8, 9, 18).

use foretell_tests::random::Random;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_acknowledged_survives_the_engine() {
    let rounds = crate::crash::busy::rounds(8);
    let mut random = Random::new(Random::seed("FORETELL_KILL_SEED"));
    let mut site = crate::crash::busy::Site::start(&mut random).await;
    for round in 1..=rounds {
        site.shared.wait_answers(20 + random.below(300)).await;
        site.exchange.kill_and_wait("engine");
        site.check().await;
        println!(
            "round {round}: {} acknowledged orders hold",
            site.shared.ledger.lock().orders.len()
        );
    }
    site.finish().await;
}
