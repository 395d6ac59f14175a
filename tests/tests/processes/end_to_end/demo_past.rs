//! What the demo shows at first sight: 30 days of simulated past, which audits sound.

use foretell_model::Sequence;
use foretell_ops::demo::wallets::BOTS;
use foretell_tests::exchange::{Exchange, Options};
use foretell_tests::operator;
use serde_json::Value;

const DAY: u64 = 86_400;

fn start(data: &std::path::Path) -> Exchange {
    let options = Options {
        bots: true,
        gateways: 1,
        ..Options::default()
    };
    Exchange::start_at(&options, data)
}

async fn read(url: &str) -> Value {
    let answer = reqwest::get(url).await.expect("an answer");
    answer
        .json()
        .await
        .unwrap_or_else(|error| panic!("{url}: {error}"))
}

async fn rows(url: &str) -> Vec<Value> {
    let rows = read(url).await;
    let rows = rows.as_array().unwrap_or_else(|| panic!("{url}: {rows}"));
    rows.clone()
}

/// Points of a token's chart: Unix seconds and prices.
async fn chart(exchange: &Exchange, token: &str, interval: &str) -> Vec<(u64, f64)> {
    let url = format!(
        "{}/prices-history?market={token}&interval={interval}&fidelity=30",
        exchange.trading
    );
    let chart = read(&url).await;
    let points = chart["history"]
        .as_array()
        .unwrap_or_else(|| panic!("{chart}"));
    let point = |point: &Value| Some((point["t"].as_u64()?, point["p"].as_f64()?));
    points.iter().filter_map(point).collect()
}

#[tokio::test]
async fn a_demo_has_a_past_that_audits_sound() {
    let directory = tempfile::tempdir().expect("a directory");
    let data = directory.path().join("data");
    let exchange = start(&data);
    let until = everything_is_shown(&exchange).await;
    assert!(exchange.stop().success());

    let journal = data.join("journal");
    let options = foretell_audit::Options {
        signatures: true,
        reference: true,
        ..foretell_audit::Options::default()
    };
    let report = foretell_audit::verify(&journal, &options).expect("a journal");
    assert!(report.sound, "{report}");
    assert!(
        report
            .signatures
            .is_some_and(|counts| counts.sound > 10_000)
    );
    assert!(report.counts.trades > 1_000, "{report}");
    let ended = report.simulated_until.expect("the first frame says it");
    assert_eq!(ended.millis().0, until);
    let text = report.to_string();
    assert!(
        text.contains(&format!("simulated: everything up to {ended}")),
        "{text}"
    );

    // The next start goes on: its past is that of the journal.
    let exchange = start(&data);
    assert!(!data.join("past.tmp").exists());
    assert_eq!(simulated_until(&exchange).await, until);
    assert!(exchange.stop().success());
    let again = foretell_audit::verify(&journal, &foretell_audit::Options::default());
    let again = again.expect("a journal");
    assert!(
        again.sound && again.last_sequence >= report.last_sequence,
        "{again}"
    );
    assert_eq!(again.simulated_until, report.simulated_until);
    assert!(report.last_sequence > Sequence(0));
}

/// When the past ended, as the page's site says, in milliseconds.
async fn simulated_until(exchange: &Exchange) -> u64 {
    let site = read(&format!("{}/ui/api/site", exchange.trading)).await;
    let until = site["simulated_until"].as_str().expect("a time");
    let until: jiff::Timestamp = until.parse().expect("a time");
    u64::try_from(until.as_millisecond()).expect("after 1970")
}

/// Looks at what a visitor sees first. Returns when the past ended.
async fn everything_is_shown(exchange: &Exchange) -> u64 {
    let Exchange {
        trading,
        data_surface: data,
        catalog,
        ..
    } = exchange;
    let markets = rows(&format!("{catalog}/markets?limit=500")).await;
    let (ended, open): (Vec<&Value>, Vec<&Value>) = markets
        .iter()
        .filter(|market| {
            !market["slug"]
                .as_str()
                .is_some_and(|it| it.starts_with("demo-round-"))
        })
        .partition(|market| market["closed"] == true);
    assert_eq!((ended.len(), open.len()), (5, 23));
    for market in &ended {
        let prices = market["outcomePrices"].as_str();
        let is_paid = prices == Some(r#"["1","0"]"#) || prices == Some(r#"["0","1"]"#);
        assert!(is_paid, "{market}");
        let condition = market["conditionId"].as_str().expect("an id");
        let url = format!("{trading}/ui/api/markets/summary?condition_ids={condition}");
        let price = rows(&url).await[0]["price"].clone();
        assert!(price == "0" || price == "1", "{price} of {market}");
    }
    let volume = |market: &&Value| market["volumeNum"].as_f64().expect("a volume");
    let volumes: Vec<f64> = ended.iter().chain(&open).map(volume).collect();
    let most = volumes.iter().copied().fold(0.0, f64::max);
    let least = volumes.iter().copied().fold(f64::MAX, f64::min);
    assert!(least > 0.0 && most / least >= 50.0, "{least} to {most}");

    for market in &open {
        let tokens = market["clobTokenIds"].as_str().expect("a text");
        let tokens: Vec<String> = serde_json::from_str(tokens).expect("tokens");
        let [all, week, day] = [
            chart(exchange, &tokens[0], "max").await,
            chart(exchange, &tokens[0], "1w").await,
            chart(exchange, &tokens[0], "1d").await,
        ];
        let span = all[all.len() - 1].0 - all[0].0;
        assert!(span > 29 * DAY, "{} seconds of {market}", span);
        assert!(
            all.len() > 100 && week.len() > 40 && day.len() > 20,
            "{market}"
        );
        let changes = day
            .windows(2)
            .any(|pair| (pair[0].1 - pair[1].1).abs() > 0.0);
        assert!(changes, "{market}");
        let condition = &market["conditionId"].as_str().expect("an id");
        let holders = rows(&format!("{data}/holders?market={condition}")).await;
        let held = holders
            .iter()
            .any(|it| it["holders"].as_array().is_some_and(|it| !it.is_empty()));
        assert!(held, "{market}");
    }
    assert!(
        rows(&format!("{data}/v1/leaderboard?timePeriod=MONTH"))
            .await
            .len()
            >= 10
    );
    for bot in BOTS {
        let user = bot.address;
        let closed = rows(&format!("{data}/closed-positions?user={user}")).await;
        assert!(!closed.is_empty(), "{user}");
        assert!(
            !rows(&format!("{data}/positions?user={user}"))
                .await
                .is_empty()
        );
    }
    let (_, status) = operator::get(exchange, "/status").await;
    assert!(
        status["exchange"]["live_orders"].as_u64() > Some(0),
        "{status}"
    );
    simulated_until(exchange).await
}

#[tokio::test]
async fn an_exchange_without_a_past_says_nothing_of_one() {
    let exchange = Exchange::start(&Options::demo());
    let site = read(&format!("{}/ui/api/site", exchange.trading)).await;
    assert_eq!(site["demo"], true);
    assert_eq!(site.get("simulated_until"), None, "{site}");
    let journal = exchange.data().join("journal");
    let report = foretell_audit::verify(&journal, &foretell_audit::Options::default());
    let report = report.expect("a journal");
    assert_eq!(report.simulated_until, None);
    assert!(!report.to_string().contains("simulated"), "{report}");
    assert!(exchange.stop().success());
}
