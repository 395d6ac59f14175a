//! SIGKILL gateways under load: no acknowledged command is lost, and the other gateway is
//! unaffected (promises 1, 22).

use foretell_tests::random::Random;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_acknowledged_survives_gateways() {
    let rounds = crate::crash::busy::rounds(4);
    let mut random = Random::new(Random::seed("FORETELL_KILL_SEED"));
    let mut site = crate::crash::busy::Site::start(&mut random).await;
    for round in 1..=rounds {
        site.shared.wait_answers(20 + random.below(300)).await;
        let name = *random.pick(&["gateway-1", "gateway-2"]);
        site.exchange.kill_and_wait(name);
        site.check().await;
        println!(
            "round {round}: {} acknowledged orders hold",
            site.shared.ledger.lock().orders.len()
        );
    }
    site.finish().await;
}
