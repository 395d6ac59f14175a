//! Gateways return the same bytes after every kind of start: from an image and its chunks, from an
//! older image because files are damaged, or from the whole journal.

mod life;
mod reads;
mod site;

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Instant;

use foretell_gateway::{GatewayConfig, PageConfig};
use foretell_journal::wall_clock;
use foretell_link::ClusterStatus;
use foretell_model::TimeNs;
use foretell_tests::exchange::PATIENCE;
use foretell_tests::in_process::gateway_config;
use life::Life;
use serde_json::Value;
use site::{GatewayProcess, Site};

const BEGAN: &str = "view started from snapshot";
const PASSED_OVER: &str = "unusable snapshot skipped";
const WHOLE: &str = "reading the whole journal";

/// An exchange with two images, a history of many chunks, and a few commands after the newest.
async fn exchange() -> (Site, Life, GatewayProcess) {
    let site = Site::start();
    let first = GatewayProcess::start(&site.show("first")).await;
    let mut life = Life::begin(&first).await;
    life.go_on(&first, 14).await;
    first.snapshot().await;
    life.go_on(&first, 10).await;
    first.snapshot().await;
    life.go_on(&first, 2).await;
    (site, life, first)
}

/// The files of a directory with this ending, in the order of their names.
fn files(data: &Path, ending: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(data.join("snapshots")).expect("the snapshots");
    let paths = entries.map(|entry| entry.expect("a file").path());
    let mut paths: Vec<_> = paths
        .filter(|path| path.extension().is_some_and(|other| other == ending))
        .collect();
    paths.sort();
    paths
}

/// A chunk of trades both images list.
fn chunk_of_trades(data: &Path) -> PathBuf {
    let chunks = files(data, "chunk");
    let named = |path: &&PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str());
        name.is_some_and(|name| name.starts_with("trades-000001"))
    };
    chunks
        .iter()
        .find(named)
        .expect("a chunk of trades")
        .clone()
}

/// Changes one byte; the middle of a chunk's file is in its rows.
fn flip(path: &Path) {
    let mut bytes = fs::read(path).expect("a file");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    write(path, &bytes);
}

fn truncate(path: &Path) {
    let bytes = fs::read(path).expect("a file");
    write(path, &bytes[..bytes.len() - 1]);
}

/// Snapshots are read-only files.
fn write(path: &Path, bytes: &[u8]) {
    fs::remove_file(path).expect("it is there");
    fs::write(path, bytes).expect("it is written");
}

fn passed_over(gateway: &GatewayProcess) -> usize {
    gateway.log().matches(PASSED_OVER).count()
}

#[tokio::test]
async fn an_image_and_the_whole_journal_give_the_same_answers() {
    let (site, life, first) = exchange().await;
    let expected = reads::all(first.surfaces(), &life).await;
    reads::assert_telling(&expected);
    assert!(first.log().contains(WHOLE), "it began before any image");

    let on_image = GatewayProcess::start(&site.share("on-image")).await;
    let whole = GatewayProcess::start(&site.show("whole")).await;
    assert!(on_image.log().contains(BEGAN), "{}", on_image.log());
    assert_eq!(passed_over(&on_image), 0, "{}", on_image.log());
    assert!(whole.log().contains(WHOLE), "{}", whole.log());
    for gateway in [&on_image, &whole] {
        let answers = reads::all(gateway.surfaces(), &life).await;
        assert_eq!(reads::difference(&answers, &expected), None);
    }
}

#[tokio::test]
async fn damaged_files_cost_an_older_image_or_the_whole_journal() {
    type Damage = fn(&Path);
    // damage to a copy of the snapshots, images skipped, whether one remains
    let cases: [(&str, Damage, usize, bool); 7] = [
        (
            "newest-flipped",
            |data| flip(&files(data, "image")[1]),
            1,
            true,
        ),
        (
            "newest-cut",
            |data| truncate(&files(data, "image")[1]),
            1,
            true,
        ),
        (
            "both-flipped",
            |data| files(data, "image").iter().for_each(|image| flip(image)),
            2,
            false,
        ),
        (
            "chunk-flipped",
            |data| flip(&chunk_of_trades(data)),
            2,
            false,
        ),
        (
            "chunk-cut",
            |data| truncate(&chunk_of_trades(data)),
            2,
            false,
        ),
        (
            "chunk-gone",
            |data| fs::remove_file(chunk_of_trades(data)).expect("it was there"),
            2,
            false,
        ),
        (
            "newest-chunk-gone",
            |data| {
                let of_trades = |path: &&PathBuf| path.to_string_lossy().contains("/trades-");
                let chunks = files(data, "chunk");
                let newest = chunks.iter().rfind(of_trades).expect("a chunk");
                fs::remove_file(newest).expect("it was there");
            },
            1,
            true,
        ),
    ];
    let (site, life, first) = exchange().await;
    let expected = reads::all(first.surfaces(), &life).await;
    for (name, damage, passed, image_left) in cases {
        let data = site.copy(name);
        assert_eq!(files(&data, "image").len(), 2, "{name}");
        damage(&data);
        let gateway = GatewayProcess::start(&data).await;
        let log = gateway.log();
        assert_eq!(passed_over(&gateway), passed, "{name}: {log}");
        assert_eq!(log.contains(BEGAN), image_left, "{name}: {log}");
        assert_eq!(log.contains(WHOLE), !image_left, "{name}: {log}");
        let answers = reads::all(gateway.surfaces(), &life).await;
        assert_eq!(reads::difference(&answers, &expected), None, "{name}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn damage_found_behind_the_start_makes_the_view_start_over() {
    let (site, life, first) = exchange().await;
    let expected = reads::all(first.surfaces(), &life).await;
    let data = site.copy("checked-late");
    flip(&chunk_of_trades(&data));
    let gateway = site::checks_nothing_at_start(&data);
    let addresses = gateway.addresses().iter();
    let urls: Vec<_> = addresses
        .map(|(_, address)| format!("http://{address}"))
        .collect();
    let began = Instant::now();
    while reads::all([&urls[0], &urls[1]], &life).await != expected {
        assert!(began.elapsed() < PATIENCE, "it keeps the damaged rows");
    }
    gateway.stop().expect("its threads end in order");
}

#[tokio::test]
async fn a_gateway_that_runs_on_takes_the_publishers_chunks() {
    let (site, mut life, _first) = exchange().await;
    let gateway = GatewayProcess::start(&site.share("runs-on")).await;
    life.go_on(&gateway, 12).await;
    let before = reads::all(gateway.surfaces(), &life).await;
    let began_on = mapped(&gateway, &site);
    gateway.snapshot().await;
    let published = files(&site.snapshots().join(".."), "chunk").len();
    assert!(began_on < published, "{began_on} of {published}");
    let began = Instant::now();
    while mapped(&gateway, &site) < published {
        assert!(began.elapsed() < PATIENCE, "{}", gateway.log());
        tokio::task::yield_now().await;
    }
    let after = reads::all(gateway.surfaces(), &life).await;
    // The attestation of the snapshot took a sequence and changed nothing else.
    let [after, before] = [after, before].map(reads::without_sequences);
    assert_eq!(reads::difference(&after, &before), None);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_gateway_that_recovers_knows_its_journal_and_its_simulated_past() {
    let until = TimeNs(1_700_000_000_000_000_000);
    let site = Site::begin(Some(until));
    let data = site.keep("recovers");
    let first = GatewayProcess::start(&site.show("first")).await;
    Life::begin(&first).await;
    site.promise(&data);
    let gateway = foretell_gateway::start(GatewayConfig {
        page: Some(PageConfig::default()),
        ..gateway_config(&data)
    });
    let gateway = gateway.expect("a gateway");
    let [(_, trading), (_, operator)] = gateway.addresses() else {
        panic!("{:?}", gateway.addresses());
    };
    let get = async |address: &SocketAddr, path: &str| {
        reqwest::get(format!("http://{address}{path}"))
            .await
            .expect("an answer")
    };
    let shown: Value = (get(trading, "/ui/api/site").await.json().await).expect("JSON");
    assert_eq!(
        shown["simulated_until"], "2023-11-14T22:13:20.000Z",
        "{shown}"
    );
    assert_ne!(shown["genesis"], "0".repeat(64), "{shown}");
    assert_eq!(get(operator, "/readyz").await.status(), 503);
    gateway.stop().expect("its threads end in order");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_host_that_is_far_behind_the_log_is_not_ready_for_reads() {
    let site = Site::start();
    let data = site.show("behind");
    let file = data.join("cluster-status");
    let report = |lag: u64, lost_message: u64| {
        let status = ClusterStatus {
            own_sequence: 10,
            stream_sequence: 10 + lag,
            lost_message,
            state: "catching up".to_owned(),
            wall_ms: wall_clock::now().millis().0,
            ..ClusterStatus::default()
        };
        std::fs::write(&file, status.encode()).expect("a file");
    };
    let gateway = foretell_gateway::start(GatewayConfig {
        cluster_status: Some(file.clone()),
        ..gateway_config(&data)
    });
    let gateway = gateway.expect("a gateway");
    let [_, (_, operator)] = gateway.addresses() else {
        panic!("{:?}", gateway.addresses());
    };
    let get = async |path: &str| {
        let answer = reqwest::get(format!("http://{operator}{path}")).await;
        let answer = answer.expect("an answer");
        (
            answer.status().as_u16(),
            answer.text().await.expect("a text"),
        )
    };
    for (lag, lost, code, says) in [
        (1_000, 0, 200, "\"lag\":1000"),
        (1_754, 0, 503, "\"lag\":1754"),
        (0, 0, 200, "\"lag\":0"),
        (3, 1_755, 503, "\"lost_message\":1755"),
    ] {
        let begun = Instant::now();
        loop {
            // A report that is old counts no longer.
            report(lag, lost);
            let (status, body) = get("/readyz?for=reads").await;
            if status == code && body.contains(says) {
                break;
            }
            assert!(begun.elapsed() < PATIENCE, "{status} {body}");
            tokio::task::yield_now().await;
        }
    }
    // What the alert ForetellClusterMessageLost reads.
    let (_, metrics) = get("/metrics").await;
    let line = "foretell_gateway_cluster_lost_message 1755\n";
    assert!(metrics.contains(line), "{metrics}");
    gateway.stop().expect("its threads end in order");
}

/// Number of published chunks that a gateway has mapped.
fn mapped(gateway: &GatewayProcess, site: &Site) -> usize {
    let maps = gateway.maps();
    let chunks = files(&site.snapshots().join(".."), "chunk");
    let is_mapped = |path: &&PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str());
        name.is_some_and(|name| maps.contains(name))
    };
    chunks.iter().filter(is_mapped).count()
}
