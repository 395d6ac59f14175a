//! Upstreams of the family: pages by cursor and by offset, what they leave out, and what they say
//! no more.

use std::sync::Arc;

use foretell_catalog_sync::difference::FindingKind;
use foretell_catalog_sync::resource::{List, Resource};
use foretell_catalog_sync::sync::{ListProblem, PullReport};
use parking_lot::Mutex;
use rstest::rstest;
use serde_json::Value;

use crate::exchange::{Markets, exchange, has};
use crate::mock::{Asked, Mock, NoWait};
use crate::run;
use crate::world::{Family, World, event};

const NOW: &str = "2026-02-08T12:00:00Z";

/// An upstream whose events and behaviour a test may change.
struct Upstream {
    mock: Mock,
    events: Arc<Mutex<Vec<Value>>>,
    family: Arc<Mutex<Family>>,
}

impl Upstream {
    async fn new(events: Vec<Value>, family: Family) -> Self {
        let events = Arc::new(Mutex::new(events));
        let family = Arc::new(Mutex::new(family));
        let served = (Arc::clone(&events), Arc::clone(&family));
        let answer = move |asked: &Asked| served.1.lock().page(&served.0.lock(), asked);
        Self {
            mock: Mock::start(answer).await,
            events,
            family,
        }
    }

    fn asked_since(&self, before: usize) -> Vec<Asked> {
        self.mock.asked()[before..].to_vec()
    }
}

/// Open events, each after two closed ones.
fn one_in_three_open(count: u64) -> Vec<Value> {
    let events = (1..=count).map(|id| {
        let mut event = event(id, id % 40_000);
        let is_closed = id % 3 != 0;
        event["closed"] = is_closed.into();
        for market in event["markets"].as_array_mut().into_iter().flatten() {
            market["closed"] = is_closed.into();
        }
        event
    });
    events.collect()
}

fn problems(pulled: &PullReport) -> Vec<String> {
    let problem = |problem: &ListProblem| match problem {
        ListProblem::Unreadable(_) => "unreadable".to_owned(),
        ListProblem::EndsAt { offset, .. } => format!("ends at {offset}"),
        ListProblem::Repeats => "repeats".to_owned(),
        ListProblem::Limit(_) => "limit".to_owned(),
        ListProblem::NotByCondition(_) => "not by condition".to_owned(),
    };
    let finding = |finding: &foretell_catalog_sync::sync::ListFinding| {
        format!("{}: {}", finding.list, problem(&finding.problem))
    };
    pulled.findings.iter().map(finding).collect()
}

/// 3,000 events and 6,000 markets at an upstream that answers 422 past offset 2,000.
#[test]
fn all_of_a_large_upstream_is_read_by_cursor() {
    run(async {
        let family = Family {
            keyset: true,
            last_offset: Some(2_000),
            default_closed: Some(false),
            ..Family::default()
        };
        let upstream = Upstream::new(one_in_three_open(3_000), family).await;
        let world = World::new(&upstream.mock.base, &NoWait::at(NOW));
        let pulled = world.pull().await.unwrap();
        assert!(pulled.full, "{:?}", pulled.findings);
        let added = (pulled.records.events.added, pulled.records.markets.added);
        assert_eq!(added, (3_000, 6_000));
        assert_eq!(world.count_open_markets(), 2_000);
        let asked = upstream.asked_since(0);
        let (open, other): (Vec<_>, Vec<_>) = asked
            .iter()
            .partition(|asked| asked.query.contains("closed=false"));
        let first_other = asked
            .iter()
            .position(|it| !it.query.contains("closed=false"));
        let lists_of_open = |it: &&Asked| it.query.contains("order=id");
        assert_eq!(
            first_other,
            Some(open.iter().copied().filter(lists_of_open).count()),
            "what is open comes first"
        );
        assert!(other.iter().any(|it| it.query.contains("closed=true")));
        assert!(
            asked
                .iter()
                .all(|it| it.path.ends_with("/keyset") || !it.query.contains("closed"))
        );
        assert!(!world.pull().await.unwrap().records.changed_anything());
    });
}

/// Without cursors, what the upstream says no more is a finding.
#[test]
fn an_upstream_that_ends_at_an_offset_is_read_up_to_there() {
    run(async {
        let family = Family {
            last_offset: Some(2_000),
            ..Family::default()
        };
        let mut events = one_in_three_open(3_000);
        for event in &mut events {
            event["closed"] = false.into();
        }
        let upstream = Upstream::new(events, family).await;
        let world = World::new(&upstream.mock.base, &NoWait::at(NOW));
        let pulled = world.pull().await.unwrap();
        assert!(pulled.ended && !pulled.full);
        assert_eq!(
            problems(&pulled),
            ["open events: ends at 2070", "closed markets: ends at 2070"]
        );
        let text = pulled.findings[0].to_string();
        assert!(
            text.starts_with("open events: the list ends at offset 2070, the rest"),
            "{text}"
        );
        assert_eq!(
            world.count_open_markets(),
            2_000,
            "the list of open markets has them"
        );
        let status = world.status();
        assert_eq!(status.failed_lists, ["open events", "closed markets"]);
        assert!(!status.is_complete && status.complete.is_none() && status.round.is_some());

        // Only changes follow, until the next full pass, which asks for cursors again.
        let before = upstream.mock.asked().len();
        let again = world.pull().await.unwrap();
        assert!(!again.ended);
        assert_eq!(problems(&again).len(), 2, "the finding stays");
        let asked = upstream.asked_since(before);
        assert!(asked.iter().all(|it| it.query.contains("order=updatedAt")));
        assert!(
            asked.iter().all(|it| !it.path.ends_with("/keyset")),
            "the probe is remembered"
        );
    });
}

#[rstest]
fn a_list_that_cannot_be_read_stops_no_other(
    #[values(401, 404, 500)] status: u16,
    #[values("/tags", "/series", "/events")] path: &'static str,
) {
    run(async {
        let family = Family {
            failing: vec![(path, status)],
            ..Family::default()
        };
        let upstream = Upstream::new(one_in_three_open(30), family).await;
        let world = World::new(&upstream.mock.base, &NoWait::at(NOW));
        let pulled = world.pull().await.unwrap();
        assert!(pulled.ended && !pulled.full);
        let expected: Vec<String> = match path {
            "/events" => ["open events", "closed events"]
                .map(|it| format!("{it}: unreadable"))
                .into(),
            path => vec![format!("{}: unreadable", &path[1..])],
        };
        assert_eq!(problems(&pulled), expected);
        assert_eq!(world.markets().len(), 60);

        // Each round asks once more, and follows the changes.
        let before = upstream.mock.asked().len();
        upstream.events.lock()[0]["markets"][0]["question"] = "New?".into();
        upstream.events.lock()[0]["markets"][0]["updatedAt"] = "2026-02-08T11:59:00Z".into();
        let again = world.pull().await.unwrap();
        assert_eq!(again.records.markets.changed, 1, "{again:?}");
        let asked = upstream.asked_since(before);
        let tries = asked
            .iter()
            .filter(|it| it.path == path && it.query.contains("order=id"));
        assert_eq!(tries.count(), expected.len());

        upstream.family.lock().failing.clear();
        let last = world.pull().await.unwrap();
        assert_eq!(problems(&last), [""; 0]);
        assert!(world.status().is_complete);
        assert_eq!(world.events().len(), 30);
    });
}

/// 100 of 350 rows are not all.
#[rstest]
fn an_upstream_that_repeats_its_first_page_is_found_out(#[values(false, true)] keyset: bool) {
    run(async {
        let family = Family {
            keyset,
            repeats: true,
            ..Family::default()
        };
        let events = (1..=350).map(|id| event(id, 60)).collect();
        let upstream = Upstream::new(events, family).await;
        let world = World::new(&upstream.mock.base, &NoWait::at(NOW));
        let pulled = world.pull().await.unwrap();
        assert!(pulled.ended && !pulled.full);
        assert_eq!(
            problems(&pulled),
            [
                "open events: repeats",
                "open markets: repeats",
                "tags: repeats"
            ]
        );
        assert!(upstream.mock.asked().len() < 40);
    });
}

/// Pages may be shorter than asked for, by cursor and by offset.
#[rstest]
fn short_pages_are_no_end(#[values(false, true)] keyset: bool, #[values(1, 7, 50)] rows: usize) {
    run(async {
        let family = Family {
            keyset,
            rows: Some(rows),
            ..Family::default()
        };
        let upstream = Upstream::new(one_in_three_open(60), family).await;
        let world = World::new(&upstream.mock.base, &NoWait::at(NOW));
        let pulled = world.pull().await.unwrap();
        assert!(pulled.full, "{:?}", pulled.findings);
        assert_eq!((world.events().len(), world.markets().len()), (60, 120));
    });
}

/// An upstream leaves out open or closed records by default.
#[rstest]
fn open_and_closed_are_asked_for(
    #[values(None, Some(false), Some(true))] default_closed: Option<bool>,
) {
    run(async {
        let family = Family {
            default_closed,
            ..Family::default()
        };
        let upstream = Upstream::new(one_in_three_open(30), family).await;
        let world = World::new(&upstream.mock.base, &NoWait::at(NOW));
        world.pull().await.unwrap();
        assert_eq!((world.events().len(), world.markets().len()), (30, 60));
        let mut closes = event(3, 40_000);
        closes["closed"] = true.into();
        upstream.events.lock()[2] = closes;
        let pulled = world.pull().await.unwrap();
        assert_eq!(pulled.records.events.changed, 1);
    });
}

/// A list whose pages by cursor the upstream declines in the middle is read again from its start.
#[test]
fn a_full_pass_goes_on_at_its_cursor() {
    run(async {
        let family = Family {
            keyset: true,
            ..Family::default()
        };
        let events = (1..=350).map(|id| event(id, 60)).collect();
        let upstream = Upstream::new(events, family).await;
        let clock = NoWait::at(NOW);
        let world =
            World::new(&upstream.mock.base, &clock).limited(|limits| limits.round_pages = 2);
        let first = world.pull().await.unwrap();
        assert!(!first.ended && world.events().len() == 200);
        let before = upstream.mock.asked().len();
        world.pull().await.unwrap();
        assert_eq!(
            upstream.asked_since(before)[0].values("after_cursor"),
            ["200"]
        );
        assert_eq!(world.events().len(), 350);
    });
}

/// What the upstream has now counts in a full pass, whatever its date; in a pass through changes, not.
#[test]
fn a_full_pass_takes_what_is_there() {
    run(async {
        let upstream = Upstream::new(vec![event(1, 3_600)], Family::default()).await;
        let clock = NoWait::at(NOW);
        let world = World::new(&upstream.mock.base, &clock);
        world.pull().await.unwrap();
        let mut back = event(1, 3_500);
        back["title"] = "Before".into();
        upstream.events.lock()[0] = back;
        assert!(!world.pull().await.unwrap().records.changed_anything());
        clock.set("2026-02-08T13:00:00Z");
        let pulled = world.pull().await.unwrap();
        assert!(pulled.full);
        assert_eq!(pulled.records.events.changed, 1);
        clock.set("2026-02-08T14:00:00Z");
        assert!(!world.pull().await.unwrap().records.changed_anything());
    });
}

async fn followed(
    count: u64,
) -> (
    Upstream,
    Arc<NoWait>,
    World,
    Markets,
    foretell_catalog_sync::Service,
) {
    let events = (1..=count).map(|id| event(id, 60)).collect();
    let upstream = Upstream::new(events, Family::default()).await;
    let clock = NoWait::at(NOW);
    let (exchange, markets) = exchange(&clock).await;
    let world = World::new(&upstream.mock.base, &clock);
    let service = world.service(Some(exchange));
    (upstream, clock, world, markets, service)
}

fn condition(market: u64) -> String {
    format!("0x{market:064x}")
}

/// A registered market that the upstream no longer lists is asked for by condition.
#[test]
fn a_registered_market_that_vanishes_is_found_out() {
    run(async {
        let (upstream, clock, world, markets, mut service) = followed(50).await;
        let round = service.round().await;
        assert!(round.is_ok() && round.vanished.is_empty(), "{round:?}");
        assert_eq!(has(&markets, "active"), 100);

        let gone = upstream.events.lock().remove(6);
        assert_eq!(
            service.round().await.vanished,
            [],
            "only a full pass shows it"
        );
        clock.set("2026-02-08T13:00:00Z");
        let before = upstream.mock.asked().len();
        let round = service.round().await;
        let vanished: Vec<String> = round
            .vanished
            .iter()
            .map(|it| it.condition.to_string())
            .collect();
        assert_eq!(vanished, [condition(71), condition(72)]);
        assert_eq!(
            (round.vanished[0].market, &*round.vanished[0].slug),
            (Some(71), "market-71")
        );
        let asked = upstream.asked_since(before);
        let named: Vec<_> = asked
            .iter()
            .filter(|it| !it.values("condition_ids").is_empty())
            .collect();
        assert_eq!(named.len(), 2, "open and closed");
        assert!(
            named
                .iter()
                .all(|it| it.values("condition_ids") == vanished)
        );
        let findings: Vec<String> = round.findings().collect();
        assert!(
            findings[0].starts_with("market 71 market-71: registered here, and"),
            "{findings:?}"
        );
        assert_eq!(round.json()["vanished"].as_array().map(Vec::len), Some(2));
        assert_eq!(world.status().vanished, round.vanished);
        // The finding stays, for those that are not over.
        markets.lock().get_mut(&condition(71)).unwrap()["status"] = "resolved".into();
        assert_eq!(service.round().await.vanished.len(), 1);

        // It comes back under its condition, in no list.
        let only_by_name = Family {
            failing: vec![("/events", 503)],
            ..Family::default()
        };
        *upstream.family.lock() = only_by_name;
        upstream.events.lock().push(gone);
        assert_eq!(service.round().await.vanished, []);
        assert!(world.status().vanished.is_empty());
    });
}

/// What no list has any more and the upstream has by condition is stored like any record.
#[test]
fn a_market_that_only_its_condition_finds_is_followed() {
    run(async {
        let (upstream, clock, _world, markets, mut service) = followed(3).await;
        service.round().await;
        *upstream.family.lock() = Family {
            last_offset: Some(0),
            rows: Some(2),
            ..Family::default()
        };
        {
            let mut events = upstream.events.lock();
            let last = &mut events[2]["markets"][1];
            last["closed"] = true.into();
            last["endDate"] = "2026-01-01T00:00:00Z".into();
            // The lists show the first two events and markets.
            let markets = events[2]["markets"].as_array_mut().unwrap();
            markets.swap(0, 1);
            events.swap(0, 1);
        }
        clock.set("2026-02-08T13:00:00Z");
        let round = service.round().await;
        assert_eq!(round.vanished, []);
        assert_eq!(has(&markets, "closed"), 1, "{round:?}");
    });
}

/// A market keeps its condition under another id: the old record gives way.
#[test]
fn a_market_with_another_id_is_followed() {
    run(async {
        let (upstream, clock, world, markets, mut service) = followed(3).await;
        service.round().await;
        {
            let mut events = upstream.events.lock();
            let market = &mut events[0]["markets"][0];
            market["id"] = "9000".into();
            market["closed"] = true.into();
        }
        clock.set("2026-02-08T13:00:00Z");
        let round = service.round().await;
        assert_eq!(round.vanished, []);
        let compared = round.exchange.unwrap().unwrap();
        assert_eq!(compared.count_of(FindingKind::Error), 0);
        assert_eq!(has(&markets, "closed"), 1);
        assert!(world.markets().contains(&9_000));
        clock.set("2026-02-08T14:00:00Z");
        let round = service.round().await;
        assert_eq!(round.pulled.unwrap().unwrap().records.markets.changed, 0);
        let compared = round.exchange.unwrap().unwrap();
        assert_eq!(compared.count_of(FindingKind::Error), 0, "{compared}");
    });
}

/// The upstream gives the id of a market to another one: no record is left of the first, which trades on.
#[test]
fn a_market_whose_id_another_one_has_is_a_finding() {
    run(async {
        let (upstream, clock, _world, markets, mut service) = followed(3).await;
        service.round().await;
        let first = condition(21);
        assert_eq!(markets.lock()[&first]["status"], "active");
        {
            let mut events = upstream.events.lock();
            let market = &mut events[1]["markets"][0];
            market["conditionId"] = condition(9_000).into();
            market["slug"] = "another".into();
            market["clobTokenIds"] = r#"["90001","90002"]"#.into();
        }
        clock.set("2026-02-08T13:00:00Z");
        let round = service.round().await;
        let vanished: Vec<_> = round.vanished.iter().map(ToString::to_string).collect();
        let text = "registered here, and the upstream no longer has it";
        assert_eq!(vanished, [format!("market market-21: {text}: {first}")]);
        assert_eq!(round.findings().collect::<Vec<_>>(), vanished);
    });
}

/// An upstream that knows no conditions must not make all markets vanish.
#[test]
fn an_upstream_that_ignores_conditions_is_a_finding() {
    run(async {
        let (upstream, clock, _world, _, mut service) = followed(3).await;
        service.round().await;
        upstream.events.lock().remove(0);
        *upstream.family.lock() = Family {
            ignores_conditions: true,
            ..Family::default()
        };
        clock.set("2026-02-08T13:00:00Z");
        let round = service.round().await;
        assert_eq!(round.vanished, []);
        assert_eq!(
            problems(&round.pulled.unwrap().unwrap()),
            ["open markets: not by condition"]
        );
    });
}

#[test]
fn lists_have_names() {
    let names = List::ALL.map(|list| list.to_string());
    let expected = [
        "open events",
        "open markets",
        "tags",
        "series",
        "closed events",
        "closed markets",
    ];
    assert_eq!(names, expected);
    assert_eq!(List::of(Resource::Tags, None), List::ALL[2]);
}
