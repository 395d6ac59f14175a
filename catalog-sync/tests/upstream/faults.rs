//! Tests with one fault each.

use std::time::Duration;

use foretell_catalog_sync::sync::SyncError;
use foretell_catalog_sync::upstream::UpstreamError;
use rstest::rstest;
use serde_json::{Value, json};

use crate::mock::{Mock, NoWait, Reply};
use crate::run;
use crate::world::{World, event, page};

const NOW: &str = "2026-02-08T12:00:00Z";

fn seconds(pauses: &[Duration]) -> Vec<f64> {
    pauses.iter().map(Duration::as_secs_f64).collect()
}

#[rstest]
#[case::busy(Reply::Status(429, "retry-after", "7".into()), &[7.0])]
#[case::busy_until(Reply::Status(429, "retry-after", "Sun, 08 Feb 2026 12:01:30 GMT".into()), &[90.0])]
#[case::busy_for_days(Reply::Status(503, "retry-after", "999999".into()), &[600.0])]
#[case::internal(Reply::Status(500, "", String::new()), &[0.5])]
#[case::cut_off(Reply::Cut("[]".into()), &[0.5])]
#[case::truncated(Reply::Json("[{\"id\":\"1\",\"title\":\"x".into()), &[0.5])]
#[case::html(Reply::Status(200, "", String::new()), &[0.5])]
#[case::html_that_says_json(Reply::Json("<!doctype html>".into()), &[0.5])]
#[case::an_object(Reply::Json("{\"message\":\"maintenance\"}".into()), &[0.5])]
fn a_fault_that_passes_costs_a_pause(#[case] fault: Reply, #[case] expected: &[f64]) {
    run(async {
        let events = [event(1, 60), event(2, 120)];
        let mock = Mock::start(move |asked| match asked.before {
            2 => fault.clone(),
            _ => page(&events, asked),
        })
        .await;
        let clock = NoWait::at(NOW);
        let world = World::new(&mock.base, &clock);
        let pulled = world.pull().await.unwrap();
        assert_eq!(pulled.retries, 1);
        assert_eq!(seconds(&clock.pauses()), expected);
        assert_eq!(world.events(), [1, 2]);
    });
}

#[test]
fn a_fault_that_stays_ends_the_pass_after_ever_longer_pauses() {
    run(async {
        let mock = Mock::start(|_| Reply::Status(502, "", String::new())).await;
        let clock = NoWait::at(NOW);
        let error = World::new(&mock.base, &clock).pull().await.unwrap_err();
        assert!(
            error.to_string().contains("the upstream returned 502"),
            "{error}"
        );
        assert_eq!(seconds(&clock.pauses()), [0.5, 1.0, 2.0]);
        // Each of the five other lists is tried once.
        assert_eq!(mock.asked().len(), 4 + 5);
    });
}

#[rstest]
#[case::missing(Reply::Status(404, "", String::new()), "returned 404", 1)]
#[case::forbidden(Reply::Status(403, "", String::new()), "returned 403", 1)]
#[case::loops(Reply::Status(302, "location", "/api/tags".into()), "redirected without end", 6)]
#[case::endless(Reply::Endless, "more than 1000000 bytes", 1)]
fn a_fault_of_all_lists_that_will_not_pass_ends_it(
    #[case] fault: Reply,
    #[case] text: &str,
    #[case] requests: usize,
) {
    run(async {
        let mock = Mock::start(move |_| fault.clone()).await;
        let clock = NoWait::at(NOW);
        let world = World::new(&mock.base, &clock).bounded(|bounds| bounds.page_bytes = 1_000_000);
        let error = world.pull().await.unwrap_err();
        assert!(error.to_string().contains(text), "{error}");
        assert!(clock.pauses().is_empty());
        // Events and markets are asked for by cursor, too.
        assert!(
            mock.asked().len() <= (6 + 2) * requests,
            "{}",
            mock.asked().len()
        );
    });
}

/// A body in parts is complete if each part and the whole arrive in time.
#[rstest]
#[case::in_time(10, 60_000, None)]
#[case::all_too_late(10, 15, Some("it took too long"))]
fn a_slow_body_is_waited_for_as_long_as_is_allowed(
    #[case] pause: u64,
    #[case] total: u64,
    #[case] expected: Option<&str>,
) {
    run(async {
        let events = [event(1, 60), event(2, 120)];
        let mock = Mock::start(move |asked| match page(&events, asked) {
            Reply::Json(body) => Reply::Slow(body, Duration::from_millis(pause)),
            other => other,
        })
        .await;
        let clock = NoWait::at(NOW);
        let world = World::new(&mock.base, &clock).bounded(|bounds| {
            bounds.total = Duration::from_millis(total);
            bounds.backoff.attempts = 2;
        });
        match (world.pull().await, expected) {
            (Ok(pulled), None) => assert_eq!((pulled.retries, world.events()), (0, vec![1, 2])),
            (Err(error), Some(text)) => assert!(error.to_string().contains(text), "{error}"),
            (other, _) => panic!("{other:?}"),
        }
    });
}

#[test]
fn an_answer_that_stops_in_the_middle_is_given_up() {
    run(async {
        let mock = Mock::start(|_| Reply::Silence).await;
        let clock = NoWait::at(NOW);
        let world = World::new(&mock.base, &clock).bounded(|bounds| {
            bounds.read = Duration::from_millis(30);
            bounds.backoff.attempts = 2;
        });
        let error = world.pull().await.unwrap_err();
        let SyncError::Upstream(UpstreamError::NoAnswer { reason, .. }) = error else {
            panic!("{error}");
        };
        assert_eq!(reason, "it took too long");
        assert_eq!(clock.pauses().len(), 1);
    });
}

/// A redirect must not lead to another port of this machine or to plain HTTP.
#[rstest]
#[case::another_port("")]
#[case::another_host("http://localhost:1/api/tags")]
#[case::another_scheme("https://127.0.0.1:1/api/tags")]
fn a_redirect_to_another_origin_is_not_followed(#[case] target: &'static str) {
    run(async {
        let other = Mock::start(|_| Reply::Json("[]".into())).await;
        let location = match target {
            "" => format!("{}/tags", other.base),
            target => target.to_owned(),
        };
        let mock = Mock::start(move |_| Reply::Status(302, "location", location.clone())).await;
        let clock = NoWait::at(NOW);
        let error = World::new(&mock.base, &clock).pull().await.unwrap_err();
        assert!(
            error.to_string().contains("redirected to another origin"),
            "{error}"
        );
        assert_eq!((mock.asked().len(), other.asked().len()), (6, 0));
        assert!(clock.pauses().is_empty());
    });
}

#[test]
fn a_redirect_within_the_origin_is_followed() {
    run(async {
        let events = [event(1, 60)];
        let mock = Mock::start(move |asked| match asked.path.strip_prefix("/v2") {
            Some(path) => page(&events, &asked.at(path)),
            None => {
                let target = format!("/api/v2{}?{}", asked.path, asked.query);
                Reply::Status(307, "location", target)
            }
        })
        .await;
        let world = World::new(&mock.base, &NoWait::at(NOW));
        world.pull().await.unwrap();
        assert_eq!(world.events(), [1]);
    });
}

#[test]
fn nobody_there_is_a_fault_too() {
    run(async {
        let clock = NoWait::at(NOW);
        let world = World::new("http://127.0.0.1:1", &clock);
        assert!(matches!(
            world.pull().await,
            Err(SyncError::Upstream(UpstreamError::NoAnswer { .. }))
        ));
        assert_eq!(clock.pauses().len(), 3);
    });
}

#[test]
fn a_record_that_is_an_attack_costs_only_itself() {
    run(async {
        let deep = format!("{}1{}", "[".repeat(10_000), "]".repeat(10_000));
        let long = "x".repeat(10 * 1024 * 1024);
        let mock = Mock::start(move |asked| {
            if asked.path != "/events" || asked.number("offset") > 0 {
                return Reply::Json("[]".into());
            }
            let rows = [
                event(1, 60).to_string(),
                format!("{{\"id\":\"2\",\"slug\":\"deep\",\"title\":{deep}}}"),
                format!("{{\"id\":\"3\",\"slug\":\"long\",\"title\":\"{long}\"}}"),
                "7".to_owned(),
                json!({"id": "-4", "slug": "s", "title": "t"}).to_string(),
                Value::Null.to_string(),
                event(5, 60).to_string(),
            ];
            Reply::Json(format!("[{}]", rows.join(",")))
        })
        .await;
        let world = World::new(&mock.base, &NoWait::at(NOW));
        let pulled = world.pull().await.unwrap();
        assert_eq!(world.events(), [1, 5]);
        assert_eq!(pulled.records.skipped, 5, "{:?}", pulled.records.skips);
    });
}
