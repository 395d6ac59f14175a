//! A repeated reference returns the first result, also after other commands.

use std::time::Instant;

use foretell_ops::trader::{Answer, Sets, Trader};
use foretell_tests::demo::{neg_risk_event, plain_markets, visitor};
use foretell_tests::exchange::{Exchange, PATIENCE};
use foretell_tests::operator;
use serde_json::{Value, json};

use crate::end_to_end::account_actions::{ok, resolve, sets, settled, shares};

/// The same response, marked as a repeat.
fn again(first: &Value) -> Value {
    let mut answer = first.clone();
    answer["duplicate"] = json!(true);
    answer
}

#[tokio::test]
async fn the_same_content_is_answered_as_before_and_other_content_refused() {
    let exchange = Exchange::demo();
    let (trader, other) = (visitor(&exchange, 0).await, visitor(&exchange, 1).await);
    let (market, event) = (&plain_markets()[0], neg_risk_event());
    let condition = market.condition_id();
    let split = ok(trader.split(&sets(&condition, 100, "a")).await);
    let merge = ok(trader.merge(&sets(&condition, 40, "b")).await);
    let first = event.markets[0].condition_id();
    ok(trader.split(&sets(&first, 100, "d")).await);
    let convert = ok(trader.convert(event.id, 1, 100, "e").await);
    resolve(&exchange, &condition, "yes").await;
    settled(&trader, market).await;
    let redeem = ok(trader.redeem(&condition, "c").await);
    let before = operator::sequence(&exchange).await;

    assert_eq!(
        ok(trader.split(&sets(&condition, 100, "a")).await),
        again(&split)
    );
    assert_eq!(
        ok(trader.merge(&sets(&condition, 40, "b")).await),
        again(&merge)
    );
    // The settlement paid before, so nothing is remembered.
    assert_eq!(ok(trader.redeem(&condition, "c").await), redeem);
    assert_eq!(
        ok(trader.convert(event.id, 1, 100, "e").await),
        again(&convert)
    );
    let conflicts: [Answer; 5] = [
        trader
            .split(&sets(&condition, 101, "a"))
            .await
            .expect("an answer"),
        trader
            .split(&sets(&first, 100, "a"))
            .await
            .expect("an answer"),
        trader
            .merge(&sets(&condition, 100, "a"))
            .await
            .expect("an answer"),
        trader.redeem(&condition, "a").await.expect("an answer"),
        trader
            .convert(event.id, 2, 100, "e")
            .await
            .expect("an answer"),
    ];
    for (status, answer) in conflicts {
        let text = json!({ "error": "reference was already used with other contents" });
        assert_eq!((status, answer), (409, text));
    }
    assert_eq!(operator::sequence(&exchange).await, before);
    // A reference belongs to its account.
    let own = ok(other.split(&sets(&first, 7, "a")).await);
    assert_eq!(own["duplicate"], false);
    assert!(exchange.stop().success());
}

/// Sends a split until its outcome is known.
async fn insist(trader: &Trader, wanted: &Sets<'_>) -> Value {
    let deadline = Instant::now() + PATIENCE;
    loop {
        // The connection may break with the gateway, or the engine may be unavailable: both mean
        // "retry".
        match trader.split(wanted).await {
            Ok((200, answer)) => return answer,
            Ok((status @ (425 | 503), _)) => assert!(Instant::now() < deadline, "still {status}"),
            Ok((status, answer)) => panic!("{status}: {answer}"),
            Err(failure) => assert!(Instant::now() < deadline, "{failure}"),
        }
        tokio::task::yield_now().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_retry_after_a_killed_process_never_acts_twice() {
    let mut exchange = Exchange::demo();
    let trader = visitor(&exchange, 0).await;
    let market = &plain_markets()[0];
    let condition = market.condition_id();
    let mut answers = Vec::new();
    for (round, process) in ["engine", "gateway-1", "engine", "engine"]
        .into_iter()
        .enumerate()
    {
        let reference = format!("r{round}");
        let wanted = sets(&condition, 100, &reference);
        let (answer, ()) = tokio::join!(insist(&trader, &wanted), async {
            exchange.kill(process);
        });
        exchange.wait_restarted(process);
        assert_eq!(
            insist(&trader, &wanted).await,
            again(&answer),
            "round {round}"
        );
        answers.push(answer);
    }
    assert_eq!(shares(&trader, market).await, [4_000_000; 2]);
    for (round, answer) in answers.iter().enumerate() {
        let reference = format!("r{round}");
        let wanted = sets(&condition, 100, &reference);
        assert_eq!(insist(&trader, &wanted).await, again(answer));
    }
    assert!(exchange.stop().success());
}

/// A captured request body, sent again with some of its quotes replaced.
#[tokio::test]
async fn a_captured_action_acts_for_no_other_body() {
    let exchange = Exchange::demo();
    let trader = visitor(&exchange, 0).await;
    let condition = plain_markets()[0].condition_id();
    let path = "/positions/split";
    let body = format!(
        r#"{{"conditionId":"{condition}","amount":"10000","reference":"r1","note":"x","more":"y"}}"#
    );
    let headers = trader.headers("POST", path, body.as_bytes());
    let send = async |body: String| {
        let request = reqwest::Client::new().post(format!("{}{path}", exchange.trading));
        let request = headers.iter().fold(request, |request, (name, value)| {
            request.header(name, value)
        });
        let response = request.body(body).send().await.expect("an answer");
        response.status().as_u16()
    };
    assert_eq!(send(body.clone()).await, 200);
    let before = operator::sequence(&exchange).await;
    for (old, new) in [
        (r#""r1","note":"x""#, r#""r1','note':'x""#),
        (r#""x","more":"y""#, r#""x','more':'y""#),
        (r#""10000","reference":"r1""#, r#""10000","reference":"r1""#),
    ] {
        let status = if old == new { 200 } else { 401 };
        assert_eq!(send(body.replace(old, new)).await, status, "{new}");
    }
    assert_eq!(operator::sequence(&exchange).await, before);

    // A client that signs the quoted form may still name a reference with an apostrophe.
    let body = format!(r#"{{"conditionId":"{condition}","amount":"10000","reference":"it's"}}"#);
    let quoted = body.replace('\'', "\"");
    let request = reqwest::Client::new().post(format!("{}{path}", exchange.trading));
    let headers = trader.headers("POST", path, quoted.as_bytes()).into_iter();
    let request = headers.fold(request, |request, (name, value)| {
        request.header(name, value)
    });
    let response = request.body(body).send().await.expect("an answer");
    assert_eq!(response.status().as_u16(), 200);
    assert!(exchange.stop().success());
}
